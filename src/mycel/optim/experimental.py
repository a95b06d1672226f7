# SPDX-License-Identifier: Apache-2.0
"""What MindSpore has as `experimental.optim`: optimisers with groups, and their schedulers."""

from mycel.optim import lr_scheduler
from mycel.optim.param_groups.adam import Adam, Adamax, AdamW, NAdam, RAdam
from mycel.optim.param_groups.descent import ASGD, SGD, Adadelta, Adagrad, RMSprop, Rprop
from mycel.optim.param_groups.optimizer import Optimizer

__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]
