# SPDX-License-Identifier: Apache-2.0
"""What MindSpore has as `experimental.optim`: optimisers with groups, and their schedulers."""

from mycel.optim import lr_scheduler
from mycel.optim.grouped import Optimizer
from mycel.optim.grouped_adam import Adam, Adamax, AdamW, NAdam, RAdam
from mycel.optim.grouped_descent import ASGD, SGD, Adadelta, Adagrad, RMSprop, Rprop

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
