# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn means here; written by `python -m tools.stubs`, which see."""


from mycel.train.metrics import *
from mycel.init.later import *
from mycel.parallel.configurations import *
from mycel.parallel.cells import *
from mycel.optim import *
from mycel.nn import *
from mindspore.nn import cell as cell
from mindspore.nn import dynamic_lr as dynamic_lr
from mindspore.nn import functional as functional
from mindspore.nn import grad as grad
from mindspore.nn import layer as layer
from mindspore.nn import learning_rate_schedule as learning_rate_schedule
from mindspore.nn import loss as loss
from mindspore.nn import metrics as metrics
from mindspore.nn import optim as optim
from mindspore.nn import optim_ex as optim_ex
from mindspore.nn import probability as probability
from mindspore.nn import reinforcement as reinforcement
from mindspore.nn import transformer as transformer
from mindspore.nn import utils as utils
from mindspore.nn import wrap as wrap
from mycel.train.metrics import EvaluationBase as EvaluationBase
from mycel.train.metrics import get_metrics as get_metrics
from mycel.checkpoint import GraphCell as GraphCell
from mycel.train import ParameterUpdate as ParameterUpdate
from mycel.mint.nn import Linear as Linear
from mycel.mint.nn import Embedding as _EmbeddingExt
EmbeddingExt = _EmbeddingExt
from mycel.mint.nn import Dropout as _DropoutExt
DropoutExt = _DropoutExt
from mycel.mint.nn import Dropout2d as _Dropout2dExt
Dropout2dExt = _Dropout2dExt
from mycel.mint.nn import LayerNorm as _LayerNormExt
LayerNormExt = _LayerNormExt
from mycel.mint.nn import PReLU as _PReLUExt
PReLUExt = _PReLUExt
from mycel.mint.nn import LogSoftmax as _LogSoftmaxExt
LogSoftmaxExt = _LogSoftmaxExt
from mycel.mint.nn import AvgPool1d as _AvgPool1dExt
AvgPool1dExt = _AvgPool1dExt
from mycel.mint.nn import AvgPool2d as _AvgPool2dExt
AvgPool2dExt = _AvgPool2dExt
from mycel.mint.nn import AvgPool3d as _AvgPool3dExt
AvgPool3dExt = _AvgPool3dExt
from mycel.mint.nn import MaxPool2d as _MaxPool2dExt
MaxPool2dExt = _MaxPool2dExt
from mycel.mint.nn import L1Loss as _L1LossExt
L1LossExt = _L1LossExt
from mycel.compat.layers import VirtualDatasetCellTriple as VirtualDatasetCellTriple
