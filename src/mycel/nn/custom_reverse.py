# SPDX-License-Identifier: Apache-2.0
"""A Cell's own reverse: `bprop` stands on the tape in place of what `construct` recorded."""

from __future__ import annotations

from mycel.base.trees import tree_leaves, tree_map
from mycel.differentiate.reverse import LEAF, ZEROS
from mycel.record.stream import Stream, find_place, record
from mycel.record.tensor import Tensor, new_tensor, resolve


class CustomReverse:
    """What the tape holds for one call of a Cell with a `bprop`; it is never executed itself."""

    def __init__(self, cell, args, output):
        self.name = f"{type(cell).__name__}.bprop"
        self._cell = cell
        # Handles of their own: what the program assigns to its own handles does not reach them.
        self._args = tree_map(_again, tuple(args))
        self._output = tree_map(_again, output)
        self._internal = list(getattr(cell, "internal_params", None) or ())

    def inputs(self) -> list:
        """The Values that `bprop` gives gradients for: Tensor inputs, then internal Parameters."""
        return [resolve(leaf) for leaf in _tensors(self._args)] + [
            resolve(parameter) for parameter in self._internal
        ]

    def rule(self, inputs, outputs, cotangents, mask) -> list:
        """Call `bprop(*inputs, out, dout)` and order what it returns by the inputs."""
        arriving = iter(
            given if given is not None else record(ZEROS, (output,))
            for given, output in zip(cotangents, outputs, strict=True)
        )
        dout = tree_map(
            lambda leaf: new_tensor(next(arriving)) if isinstance(leaf, Tensor) else None,
            self._output,
        )
        returned = self._cell.bprop(*self._args, self._output, dout)
        by_input, by_parameter = self._split(returned)
        found = []
        for argument, gradient in zip(self._args, by_input, strict=True):
            tensors = _tensors(argument)
            gradients = tree_leaves(gradient)
            if not tensors:
                continue
            if len(gradients) != len(tensors):
                raise self._wrong(f"{len(tensors)} gradients for an input", len(gradients))
            found += [self._fitting(g, t) for g, t in zip(gradients, tensors, strict=True)]
        for parameter in self._internal:
            found.append(self._fitting(by_parameter.get(parameter), parameter))
        return [value if wanted else None for value, wanted in zip(found, mask, strict=True)]

    def _split(self, returned):
        by_parameter = {}
        if self._internal:
            if not (isinstance(returned, tuple) and len(returned) == 2):
                raise self._wrong("(gradients of inputs, {Parameter: gradient})", returned)
            returned, by_parameter = returned
        if not isinstance(returned, tuple):
            returned = (returned,)
        if len(returned) != len(self._args):
            raise self._wrong(f"a tuple of {len(self._args)} gradients, one per input", returned)
        return returned, by_parameter

    def _fitting(self, gradient, of):
        if gradient is None:
            return None
        if not isinstance(gradient, Tensor):
            gradient = Tensor(gradient)
        if gradient.shape != of.shape:
            expected = f"a gradient of shape {of.shape} and type {of.dtype}"
            raise self._wrong(expected, f"one of shape {gradient.shape}")
        if gradient.dtype is not of.dtype:
            gradient = gradient.astype(of.dtype)
        return resolve(gradient)

    def _wrong(self, expected, actual) -> ValueError:
        if isinstance(actual, tuple):
            actual = f"a tuple of {len(actual)}"
        elif not isinstance(actual, (str, int)):
            actual = type(actual).__name__
        return ValueError(f"{self.name} must return {expected}, but it returned {actual}.")


def call_with_reverse(cell, stream: Stream, args, kwargs):
    """Run `construct` off the tape and leave the Cell's own reverse on it."""
    tape, stream.tape = stream.tape, None
    try:
        output = cell.construct(*args, **kwargs)
        # Outputs of their own, also where construct returns an input or a Parameter.
        output = tree_map(_own, output)
    finally:
        stream.tape = tape
    assert tape is not None
    node = CustomReverse(cell, args, output)
    outputs = tuple([leaf._value for leaf in _tensors(output)])
    tape.append((node, tuple(node.inputs()), outputs, find_place(2)))
    return output


def _tensors(tree) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _again(leaf):
    return new_tensor(resolve(leaf)) if isinstance(leaf, Tensor) else leaf


def _own(leaf):
    return new_tensor(record(LEAF, (resolve(leaf),))) if isinstance(leaf, Tensor) else leaf
