# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.optim.experimental; written by `python -m tools.stubs`, which see."""

from mycel.optim import lr_scheduler as lr_scheduler
from mycel.optim.param_groups.optimizer import Optimizer as Optimizer
from mycel.signatures.optim import ASGD as ASGD
from mycel.signatures.optim import Adadelta as Adadelta
from mycel.signatures.optim import Adagrad as Adagrad
from mycel.signatures.optim import Adam as Adam
from mycel.signatures.optim import AdamW as AdamW
from mycel.signatures.optim import Adamax as Adamax
from mycel.signatures.optim import NAdam as NAdam
from mycel.signatures.optim import RAdam as RAdam
from mycel.signatures.optim import RMSprop as RMSprop
from mycel.signatures.optim import Rprop as Rprop
from mycel.signatures.optim import SGD as SGD
