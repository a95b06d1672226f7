# SPDX-License-Identifier: Apache-2.0
"""Mixed precision and loss scaling."""

from mycel.amp.build import build_train_network
from mycel.amp.lists import get_black_list, get_white_list
from mycel.amp.managers import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from mycel.amp.mixed import auto_mixed_precision, custom_mixed_precision
from mycel.amp.scalers import (
    DynamicLossScaler,
    LossScaler,
    StaticLossScaler,
    all_finite,
    init_status,
)

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
    "init_status",
]
