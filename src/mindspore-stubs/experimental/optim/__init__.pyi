# SPDX-License-Identifier: Apache-2.0
"""What mindspore.experimental.optim means here; written by `python -m tools.stubs`, which see."""


from mycel.optim.experimental import *
from mindspore.experimental.optim import adadelta as adadelta
from mindspore.experimental.optim import adagrad as adagrad
from mindspore.experimental.optim import adam as adam
from mindspore.experimental.optim import adamax as adamax
from mindspore.experimental.optim import adamw as adamw
from mindspore.experimental.optim import asgd as asgd
from mindspore.experimental.optim import lr_scheduler as lr_scheduler
from mindspore.experimental.optim import nadam as nadam
from mindspore.experimental.optim import optimizer as optimizer
from mindspore.experimental.optim import radam as radam
from mindspore.experimental.optim import rmsprop as rmsprop
from mindspore.experimental.optim import rprop as rprop
from mindspore.experimental.optim import sgd as sgd
