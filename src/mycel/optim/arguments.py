# SPDX-License-Identifier: Apache-2.0
"""What an optimiser was made with, kept for programs that make another one like it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Keep the arguments of an optimiser's `__init__`; a decorator for it.

    The optimiser then has `init_params`, a dictionary of its Parameters, `init_learning_rate`
    (None for a schedule) and `init_args`, a dictionary of everything else.

    Source: MindSpore's `mindspore.nn.optim.optimizer.opt_init_args_register`.

    Example:
        >>> from mycel.optim import opt_init_args_register
        >>> class Descent(nn.Optimizer):
        ...     @opt_init_args_register
        ...     def __init__(self, params, learning_rate=0.5, beta=0.9):
        ...         super().__init__(learning_rate, params)
        >>> optimizer = Descent([Parameter(Tensor(1.0), name="w")], beta=0.8)
        >>> dict(optimizer.init_args), optimizer.init_learning_rate
        ({'beta': 0.8}, 0.5)
    """
    signature = inspect.signature(fn)
    ours = str(fn.__module__).partition(".")[0] == __name__.partition(".")[0]

    @functools.wraps(fn)
    def registered(self, *args, **kwargs):
        fn(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        # Plain fields: Parameters in them are none of this Cell's own, which it names itself.
        fields, arguments = self.__dict__, dict(bound.arguments)
        arguments.pop(next(iter(signature.parameters)))
        if "params" in arguments:
            fields["init_params"] = {"params": arguments.pop("params")}
        if "optimizer" in arguments:
            fields["init_params"] = dict(getattr(arguments.pop("optimizer"), "init_params", {}))
        if "learning_rate" in arguments:
            rate = arguments.pop("learning_rate")
            rate = rate.asnumpy().tolist() if isinstance(rate, Tensor) else rate
            fields["init_learning_rate"] = None if isinstance(rate, Cell) else rate
        fields["init_args"] = arguments

    if not ours:
        # MindSpore's decorator hides the arguments, and programs ask `inspect.signature` for them
        # to decide what they pass.
        registered.__dict__["__signature__"] = inspect.signature(lambda self, *args, **kwargs: None)
    return registered
