# SPDX-License-Identifier: Apache-2.0
"""What the classes of mycel.optim.experimental are made with; written by `python -m tools.stubs`, which see."""

from typing import Any as _Any

from mycel.optim.param_groups.adam import Adam as _Adam
from mycel.optim.param_groups.adam import AdamW as _AdamW
from mycel.optim.param_groups.adam import Adamax as _Adamax
from mycel.optim.param_groups.adam import NAdam as _NAdam
from mycel.optim.param_groups.adam import RAdam as _RAdam
from mycel.optim.param_groups.descent import ASGD as _ASGD
from mycel.optim.param_groups.descent import Adadelta as _Adadelta
from mycel.optim.param_groups.descent import Adagrad as _Adagrad
from mycel.optim.param_groups.descent import RMSprop as _RMSprop
from mycel.optim.param_groups.descent import Rprop as _Rprop
from mycel.optim.param_groups.descent import SGD as _SGD
from mycel.signatures.kinds import Bool as _Bool
from mycel.signatures.kinds import Int as _Int
from mycel.signatures.kinds import Rate as _Rate
from mycel.signatures.kinds import Scalar as _Scalar

class ASGD(_ASGD):
    def __init__(self, params: _Any, lr: _Rate = 0.01, lambd: _Scalar = 0.0001, alpha: _Scalar = 0.75, t0: _Scalar = 1000000.0, weight_decay: _Scalar = 0.0, maximize: _Bool = False) -> None: ...
class Adadelta(_Adadelta):
    def __init__(self, params: _Any, lr: _Rate = 1.0, rho: _Scalar = 0.9, eps: _Scalar = 1e-06, weight_decay: _Scalar = 0.0, *, maximize: _Bool = False) -> None: ...
class Adagrad(_Adagrad):
    def __init__(self, params: _Any, lr: _Rate = 0.01, lr_decay: _Scalar = 0.0, weight_decay: _Scalar = 0.0, initial_accumulator_value: _Scalar = 0.0, eps: _Scalar = 1e-10, *, maximize: _Bool = False) -> None: ...
class Adam(_Adam):
    def __init__(self, params: _Any, lr: _Rate = 0.001, betas: _Any = ..., eps: _Scalar = 1e-08, weight_decay: _Scalar = 0.0, amsgrad: _Bool = False, *, maximize: _Bool = False) -> None: ...
class AdamW(_AdamW):
    def __init__(self, params: _Any, lr: _Rate = 0.001, betas: _Any = ..., eps: _Scalar = 1e-08, weight_decay: _Scalar = 0.01, amsgrad: _Bool = False, *, maximize: _Bool = False) -> None: ...
class Adamax(_Adamax):
    def __init__(self, params: _Any, lr: _Rate = 0.002, betas: _Any = ..., eps: _Scalar = 1e-08, weight_decay: _Scalar = 0.0, *, maximize: _Bool = False) -> None: ...
class NAdam(_NAdam):
    def __init__(self, params: _Any, lr: _Rate = 0.002, betas: _Any = ..., eps: _Scalar = 1e-08, weight_decay: _Scalar = 0.0, momentum_decay: _Scalar = 0.004) -> None: ...
class RAdam(_RAdam):
    def __init__(self, params: _Any, lr: _Rate = 0.001, betas: _Any = ..., eps: _Scalar = 1e-08, weight_decay: _Scalar = 0.0) -> None: ...
class RMSprop(_RMSprop):
    def __init__(self, params: _Any, lr: _Rate = 0.01, alpha: _Scalar = 0.99, eps: _Scalar = 1e-08, weight_decay: _Scalar = 0.0, momentum: _Scalar = 0.0, centered: _Bool = False, maximize: _Bool = False) -> None: ...
class Rprop(_Rprop):
    def __init__(self, params: _Any, lr: _Rate = 0.01, etas: _Any = ..., step_sizes: _Any = ..., *, maximize: _Bool = False) -> None: ...
class SGD(_SGD):
    def __init__(self, params: _Any, lr: _Rate, momentum: _Scalar = 0, dampening: _Int = 0, weight_decay: _Scalar = 0.0, nesterov: _Bool = False, *, maximize: _Bool = False) -> None: ...
