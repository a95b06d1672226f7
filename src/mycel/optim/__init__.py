# SPDX-License-Identifier: Apache-2.0
"""Optimisers and learning rates. `PUBLIC` is what the package root adds to `mycel.nn`."""

from mycel.optim.adam import Adam, AdamWeightDecay
from mycel.optim.adaptive import Adagrad, RMSProp
from mycel.optim.momentum import Momentum
from mycel.optim.optimizer import Optimizer
from mycel.optim.schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    LearningRateSchedule,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
    cosine_decay_lr,
    exponential_decay_lr,
    inverse_decay_lr,
    natural_exp_decay_lr,
    piecewise_constant_lr,
    polynomial_decay_lr,
    warmup_lr,
)
from mycel.optim.sgd import SGD

_NN = (
    SGD,
    Adagrad,
    Adam,
    AdamWeightDecay,
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    Momentum,
    NaturalExpDecayLR,
    Optimizer,
    PolynomialDecayLR,
    RMSProp,
    WarmUpLR,
    cosine_decay_lr,
    exponential_decay_lr,
    inverse_decay_lr,
    natural_exp_decay_lr,
    piecewise_constant_lr,
    polynomial_decay_lr,
    warmup_lr,
)
# MindSpore has these in `nn`; `nn` itself lies below this package and cannot import it.
PUBLIC = {item.__name__: item for item in _NN}

__all__ = [*PUBLIC, "LearningRateSchedule", "PUBLIC"]
