# SPDX-License-Identifier: Apache-2.0
"""Operators inside layers, under the names that MindSpore gives them: `net.dense.matmul`.

Programs divide them (`net.dense.matmul.shard(((2, 1), (1, 4)))`), and subclasses call them. A layer
here is one function, so an operator is made when it is asked for; from then on the layer computes
step by step, so that what was said of each holds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from types import MethodType
from typing import Any

from mycel.kernel.base.division import division
from mycel.nn.cell import Cell


class Inside:
    """An operator of a layer, as an attribute of its class.

    Args:
        make: makes it, `make(cell)`.
        construct: what the layer computes step by step, `construct(cell, *inputs)`; by default the
            operator is all of the layer, whose inputs are its own.

    Example:
        >>> layer = nn.Dense(2, 1, "ones", "zeros")
        >>> layer.matmul.shard(((1, 1), (1, 1)))
        MatMul(transpose_a=False, transpose_b=True)
        >>> print(layer(Tensor([[1.0, 2.0]])))
        [[3.]]
    """

    def __init__(self, make: Callable[[Any], Any], construct: Callable[..., Any] | None = None):
        self._make, self._construct = make, construct

    def __set_name__(self, owner: type[Cell], name: str) -> None:
        self._owner, self._name = owner, name
        self.__qualname__ = f"{owner.__name__}.{name}"

    def __get__(self, cell: Any, kind: type | None = None) -> Any:
        if cell is None:
            return self
        fields = cell.__dict__
        operator = fields[self._name] = self._make(cell)
        whole = type(cell).construct
        if whole is self._owner.construct:  # a subclass with steps of its own takes them
            by_steps = self._construct or partial(_alone, whole=whole, name=self._name)
            fields["_by_steps"] = update_wrapper(partial(by_steps), whole)
            fields.setdefault("construct", MethodType(fields["_by_steps"], cell))
        return operator


class Beside(cached_property):
    """What a layer of MindSpore's keeps for its own steps, and subclasses with steps of their own
    call: made when it is asked for. The layer here does not compute with it.

    Example:
        >>> class Distance(nn.LossBase):
        ...     def construct(self, logits, labels):
        ...         return self.reduce_mean(ops.abs(logits - labels))
        >>> print(Distance()(Tensor([1.0, 2.0]), Tensor([3.0, 3.0])))
        1.5
    """


def _alone(cell: Any, *inputs: Any, whole: Callable, name: str, **named: Any) -> Any:
    return in_parts(cell, name, partial(whole, cell, **named), *inputs)


def in_parts(cell: Any, name: str, function: Callable, *inputs: Any) -> Any:
    """What a function gives, its inputs and results divided as the operator inside was told."""
    operator = cell.__dict__.get(name)
    attributes = {} if operator is None else operator.attrs
    strategy = attributes.get("in_strategy")
    if division.call is None or not strategy:
        return function(*inputs)
    strategy = strategy[: len(inputs)]
    return division.call(function, inputs, strategy, attributes.get("out_strategy"), operator)


__all__ = ["Beside", "Inside", "in_parts"]
