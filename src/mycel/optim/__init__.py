# SPDX-License-Identifier: Apache-2.0
"""Optimisers and learning rates. `PUBLIC` is what the package root adds to `mycel.nn`."""

from mycel.optim.adam import Adam, AdaMax, AdamOffload, AdamWeightDecay, LazyAdam
from mycel.optim.adaptive import FTRL, Adadelta, Adagrad, ProximalAdagrad, RMSProp
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.averaged import ASGD, Rprop
from mycel.optim.factored import AdaFactor
from mycel.optim.layerwise import LARS, Lamb
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
from mycel.optim.second_order import thor
from mycel.optim.sgd import SGD

_NN = (
    ASGD,
    FTRL,
    LARS,
    SGD,
    AdaFactor,
    AdaMax,
    Adadelta,
    Adagrad,
    Adam,
    AdamOffload,
    AdamWeightDecay,
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    Lamb,
    LazyAdam,
    Momentum,
    NaturalExpDecayLR,
    Optimizer,
    PolynomialDecayLR,
    ProximalAdagrad,
    RMSProp,
    Rprop,
    WarmUpLR,
    cosine_decay_lr,
    exponential_decay_lr,
    inverse_decay_lr,
    natural_exp_decay_lr,
    piecewise_constant_lr,
    polynomial_decay_lr,
    thor,
    warmup_lr,
)
# MindSpore has these in `nn`; `nn` itself lies below this package and cannot import it.
PUBLIC = {item.__name__: item for item in _NN}

__all__ = ["PUBLIC", "LearningRateSchedule", "opt_init_args_register"]
__all__ += [*PUBLIC]
