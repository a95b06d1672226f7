# SPDX-License-Identifier: Apache-2.0
"""A Cell's own reverse: `bprop` stands on the tape in place of what `construct` recorded."""

from __future__ import annotations

import inspect

from mycel.kernel.base.trees import tree_leaves, tree_map
from mycel.kernel.define.op import Op
from mycel.kernel.differentiate.reverse import ZEROS
from mycel.kernel.record.marker import COPY, Inside, Marker
from mycel.kernel.record.stream import Stream, find_place, record
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.record.value import Value


class CustomReverse(Marker):
    """What the tape holds for one call of a Cell with a `bprop`.

    Args:
        args, output: trees of the inputs and of what `construct` returned, with Values in place of
            Tensors: what the program assigns to its handles later does not reach them.
    """

    def __init__(self, cell, args: tuple, output):
        super().__init__()
        self.name = getattr(cell, "_reverse_name", f"{type(cell).__name__}.bprop")
        self._cell = cell
        self._args = args
        self._output = output
        self._internal = tuple(getattr(cell, "internal_params", None) or ())

    def inputs(self) -> tuple[Value, ...]:
        """The Values that `bprop` gives gradients for: Tensor inputs, then internal Parameters."""
        return (*_values(self._args), *map(resolve, self._internal))

    def rule(self, inputs, outputs, cotangents, mask):
        """Call `bprop(*inputs, out, dout)` and order what it returns by the inputs. What nothing
        depends on has zeros in `dout`; None for a Cell that says `_knows_unused`."""
        if not getattr(self._cell, "_knows_unused", False):
            cotangents = [
                given if given is not None else _recorded(ZEROS, output)
                for given, output in zip(cotangents, outputs, strict=True)
            ]
        arriving = iter([given if given is None else new_tensor(given) for given in cotangents])
        dout = tree_map(
            lambda leaf: next(arriving) if isinstance(leaf, Value) else None, self._output
        )
        returned = self._cell.bprop(*_shown(self._args), _shown(self._output), dout)
        by_input, by_parameter = self._split(returned)
        fitting = []
        for argument, gradient in zip(self._args, by_input, strict=True):
            values = _values(argument)
            gradients = tree_leaves(gradient)
            if not values:
                continue
            if len(gradients) != len(values):
                raise self._wrong(f"{len(values)} gradients for an input", gradient)
            fitting += [self._fitting(g, v) for g, v in zip(gradients, values, strict=True)]
        for parameter in self._internal:
            fitting.append(self._fitting(by_parameter.get(parameter), resolve(parameter)))
        return [value if asked else None for value, asked in zip(fitting, mask, strict=True)]

    def renewed(self, present):
        """The same call on other Values."""

        def exchange(leaf):
            return present(leaf) if isinstance(leaf, (Value, Inside)) else leaf

        return CustomReverse(
            self._cell, tree_map(exchange, self._args), tree_map(exchange, self._output)
        )

    def described(self, name):
        """The Cell, and where in its inputs and outputs which Values are."""

        def named(leaf):
            return ("value", name(leaf)) if isinstance(leaf, Value) else leaf

        return (self._cell, tree_map(named, self._args), tree_map(named, self._output))

    def _split(self, returned):
        by_parameter = {}
        if self._internal:
            if not (isinstance(returned, (tuple, list)) and len(returned) == 2):
                raise self._wrong("(gradients of inputs, {Parameter: gradient})", returned)
            returned, by_parameter = returned
            if not isinstance(by_parameter, dict):
                raise self._wrong("{Parameter: gradient} as its second part", by_parameter)
        if returned is None and len(self._args) == 1:
            raise self._wrong("its gradient, or (None,) for none; is a `return` missing?", None)
        if not isinstance(returned, (tuple, list)):
            returned = (returned,)
        if len(returned) != len(self._args):
            raise self._wrong(f"a tuple of {len(self._args)} gradients, one per input", returned)
        return returned, by_parameter

    def _fitting(self, gradient, of: Value) -> Value | None:
        if gradient is None:
            return None
        shape, dtype = of.aval.shape, of.aval.dtype
        expected = f"a gradient of shape {shape} and type {dtype}"
        if not isinstance(gradient, Tensor):
            if isinstance(gradient, bool) or not isinstance(gradient, (int, float)):
                raise self._wrong(expected, gradient)
            gradient = Tensor(gradient)
        if gradient.shape != shape:
            raise self._wrong(expected, f"one of shape {gradient.shape}")
        if gradient.dtype is not dtype:
            if gradient.dtype.name.startswith("complex") and dtype.is_floating:
                raise self._wrong(expected, f"one of type {gradient.dtype}")
            gradient = gradient.astype(dtype)
        return resolve(gradient)

    def _wrong(self, expected, actual) -> ValueError:
        if isinstance(actual, (tuple, list)):
            actual = f"a {type(actual).__name__} of {len(actual)}"
        elif not isinstance(actual, str) or not actual.startswith("one of"):
            actual = f"{type(actual).__name__} {actual!r:.60}"
        return ValueError(f"{self.name} must return {expected}, but it returned {actual}.")


def has_reverse(cell) -> bool:
    """Whether a Cell or its class was given a reverse; attributes that it makes up do not count."""
    return "bprop" in cell.__dict__ or hasattr(type(cell), "bprop")


def call_with_reverse(cell, stream: Stream, args: tuple, kwargs: dict):
    """Run `construct` off the tape and leave the Cell's own reverse on it."""
    if kwargs:
        args = _positional(cell, args, kwargs)
    args = tuple(args)
    # Its inputs as they are before construct may assign to them.
    values = tree_map(_value, args)
    scope = stream.scope
    assert scope.tape is not None
    inner = [] if scope.complete else None
    output = stream.within(scope.but(tape=inner), _constructed, cell, args)
    node = CustomReverse(cell, values, tree_map(_value, output))
    node.inner = inner or []
    scope.tape.append((node, node.inputs(), _values(node._output), find_place(2)))
    return output


def _constructed(cell, args):
    """Outputs of their own, also where construct returns an input or a Parameter."""
    return tree_map(_own, cell.construct(*args))


def _positional(cell, args, kwargs) -> tuple:
    """The inputs in the order of `construct`, which is the order of what `bprop` returns."""
    bound = inspect.signature(cell.construct).bind(*args, **kwargs)
    if bound.kwargs:
        raise TypeError(
            f"{type(cell).__name__} has a bprop, which knows its inputs by position; "
            f"{', '.join(bound.kwargs)} can only be given by name."
        )
    return bound.args


def _values(tree) -> tuple[Value, ...]:
    return tuple([leaf for leaf in tree_leaves(tree) if isinstance(leaf, Value)])


def _value(leaf):
    return resolve(leaf) if isinstance(leaf, Tensor) else leaf


def _shown(tree):
    return tree_map(lambda leaf: new_tensor(leaf) if isinstance(leaf, Value) else leaf, tree)


def _own(leaf):
    return new_tensor(_recorded(COPY, resolve(leaf))) if isinstance(leaf, Tensor) else leaf


def _recorded(op: Op, value: Value) -> Value:
    result = record(op, (value,))
    assert isinstance(result, Value)
    return result
