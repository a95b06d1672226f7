# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.optim means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.optim import *
from mindspore.nn.optim import ada_grad as ada_grad
from mindspore.nn.optim import adadelta as adadelta
from mindspore.nn.optim import adafactor as adafactor
from mindspore.nn.optim import adagrad as adagrad
from mindspore.nn.optim import adam as adam
from mindspore.nn.optim import adamax as adamax
from mindspore.nn.optim import asgd as asgd
from mindspore.nn.optim import ftrl as ftrl
from mindspore.nn.optim import lamb as lamb
from mindspore.nn.optim import lars as lars
from mindspore.nn.optim import lazyadam as lazyadam
from mindspore.nn.optim import momentum as momentum
from mindspore.nn.optim import optimizer as optimizer
from mindspore.nn.optim import proximal_ada_grad as proximal_ada_grad
from mindspore.nn.optim import rmsprop as rmsprop
from mindspore.nn.optim import rprop as rprop
from mindspore.nn.optim import sgd as sgd
from mindspore.nn.optim import thor as thor
from mycel.nn import thor as thor
