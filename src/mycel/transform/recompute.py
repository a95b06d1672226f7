# SPDX-License-Identifier: Apache-2.0
"""Recomputing: the reverse records a part of the forward pass again instead of keeping it.

Python does not run again, so hooks, random numbers and assignments happen once, as ever. The
record of the part is kept without the Values inside it; a barrier keeps XLA from recognising what
is computed again and merging it with the first time.

Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.define.op import Op
from mycel.kernel.differentiate.reverse import reverse
from mycel.kernel.record.hooks import Hooks
from mycel.kernel.record.marker import Inside, Marker, flattened, record_again
from mycel.kernel.record.stream import Stream, find_place, local, record
from mycel.kernel.record.tensor import Tensor, resolve
from mycel.kernel.record.value import Value


def _kept_apart(*arrays):
    """The arrays, which XLA cannot tell to be what they were, and not before the last is there."""
    source = next((a for a in reversed(arrays) if a.size and _has_bits(a)), None)
    if source is None:
        return jax.lax.optimization_barrier(arrays)
    return jax.lax.platform_dependent(
        *arrays,
        cpu=lambda *operands: _flipped(operands, source),
        default=lambda *operands: jax.lax.optimization_barrier(operands),
    )


def _flipped(arrays, source):
    """For CPU, where XLA removes barriers before it looks for what is computed twice: the bits are
    exchanged with a zero that it cannot see through, made of a number that comes last."""
    bits = _bits(source[(0,) * source.ndim]).astype(np.uint32)
    zero = (bits * (bits + 1)) & 1
    return tuple(
        jax.lax.bitcast_convert_type(_bits(array) ^ zero.astype(_bits(array).dtype), array.dtype)
        if _has_bits(array)
        else array
        for array in arrays
    )


def _has_bits(array) -> bool:
    return array.dtype.kind in "iuf" or array.dtype == jnp.bfloat16


def _bits(array):
    return jax.lax.bitcast_convert_type(array, np.dtype(f"uint{8 * array.dtype.itemsize}"))


BARRIER = Op(
    "barrier",
    _kept_apart,
    rule=lambda inputs, outputs, cotangents, mask: list(cotangents),
)


class Recomputed(Marker):
    """A part of the forward pass that is recorded again when its gradient is wanted.

    Args:
        nodes: its record, with `Inside` for the Values made in it.
        outputs: what of it is an output.
        hooks: hooks registered on Values inside.
    """

    name = "a recomputed Cell"

    def __init__(self, nodes: list[tuple], outputs: list, hooks: list[tuple[Inside, Hooks]]):
        super().__init__()
        self._nodes = nodes
        self._outputs = outputs
        self._hooks = hooks

    def rule(self, inputs, outputs, cotangents, mask):
        """Record the part again behind a barrier, and walk it backwards."""
        stream = local.stream
        arrived = [cotangent for cotangent in cotangents if cotangent is not None]
        behind = record(BARRIER, (*inputs, *arrived))
        assert isinstance(behind, tuple)
        now: dict = dict(zip(map(_key, inputs), behind, strict=False))
        arriving = iter(behind[len(inputs) :])

        def present(value):
            return now.get(_key(value), value)

        def keep(before, after):
            now[_key(before)] = after

        scope = stream.scope
        owner = scope.tape is None
        tape = [] if scope.tape is None else scope.tape
        start = len(tape)
        stream.within(scope.but(tape=tape), record_again, self._nodes, present, keep)
        for inside, hooks in self._hooks:
            value = present(inside)
            assert scope.hooks is not None
            scope.hooks[id(value)] = (value, hooks)
        seeds = [
            (present(output), next(arriving))
            for output, cotangent in zip(self._outputs, cotangents, strict=True)
            if cotangent is not None
        ]
        targets = [value for value, asked in zip(behind, mask, strict=False) if asked]
        gradients = iter(reverse(stream, tape[start:], seeds, targets, consume=owner))
        return [next(gradients) if asked else None for asked in mask]

    def renewed(self, present):
        """The same part on other Values from outside."""
        nodes = [_exchanged(node, present) for node in self._nodes]
        return Recomputed(nodes, self._outputs, self._hooks)

    def described(self, name):
        """Its nodes."""
        numbers: dict[Inside, int] = {}
        listed = []
        for op, inputs, outputs, _ in flattened(self._nodes):
            known = op if isinstance(op, Op) else type(op)
            listed.append((known, [numbers[v] if v in numbers else name(v) for v in inputs]))
            for value in outputs:
                numbers.setdefault(value, len(numbers))
        return tuple(listed)


def _key(value):
    return value if isinstance(value, Inside) else id(value)


def _exchanged(node, exchange: Callable) -> tuple:
    """A node of a record with other Values."""
    op, inputs, outputs, place = node
    if isinstance(op, Marker):
        inner = [_exchanged(part, exchange) for part in op.inner]
        op = op.renewed(exchange)
        op.inner = inner
    return (op, tuple(map(exchange, inputs)), tuple(map(exchange, outputs)), place)


def call_recomputed(stream: Stream, function: Callable, args, kwargs):
    """Call a function whose inner results are not kept for the reverse."""
    scope, nodes = stream.scope, []
    assert scope.tape is not None
    output = stream.within(scope.but(tape=nodes, complete=True), function, *args, **kwargs)
    inside: dict[int, Inside] = {}
    hooks: list[tuple[Inside, Hooks]] = []
    kept: list[Value] = []
    inner = list(flattened(nodes))
    for _, inputs, outputs, _ in inner:
        kept += [v for v in inputs if id(v) not in inside]
        for value in outputs:
            if id(value) not in inside:
                inside[id(value)] = Inside()
    outside = list({id(value): value for value in kept}.values())
    results = [resolve(leaf) for leaf in tree_leaves(output) if isinstance(leaf, Tensor)]
    results = [value for value in {id(v): v for v in results}.values() if id(value) in inside]
    for value, registered in (scope.hooks or {}).values():
        if id(value) in inside and not any(value is result for result in results):
            hooks.append((inside[id(value)], registered))
    if not results:
        return output

    def exchange(value):
        return inside.get(id(value), value)

    record_of = [_exchanged(node, exchange) for node in nodes]
    marker = Recomputed(record_of, [inside[id(value)] for value in results], hooks)
    if scope.complete:
        marker.inner = nodes
    scope.tape.append((marker, tuple(outside), tuple(results), find_place(2)))
    return output
