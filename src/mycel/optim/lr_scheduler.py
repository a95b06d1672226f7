# SPDX-License-Identifier: Apache-2.0
"""What MindSpore has as `experimental.optim.lr_scheduler`: schedulers of groups."""

from mycel.optim.group_schedulers import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    SequentialLR,
    StepLR,
)
from mycel.optim.plateau_scheduler import ReduceLROnPlateau
from mycel.optim.wave_schedulers import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
