# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks over arrays: one scan over time for each layer and direction, and its
derivative; by XLA's own loop, or in C++ (`tuning.native`).

Everything that does not depend on the step before stands outside of the scan: the inputs are
projected by one product for all times, and the gradients of the weights are one product each,
after the scan that runs backwards in time. A step is one product for all gates.

Arrays are [time, batch, features]; weights are [gates · hidden, features].
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.ops.nn.recurrent_kinds import KINDS, toward_hidden, toward_input, whole
from mycel.tuning.native import cpp


class Form(NamedTuple):
    """Which code a scan is: its kind, its direction, and which optional inputs there are."""

    kind: str
    backwards: bool
    biased: bool
    started: bool
    limited: bool

    def names(self) -> tuple[str, ...]:
        """The inputs in their order."""
        names = ("x", "w_ih", "w_hh") + ("b_ih", "b_hh") * self.biased
        names += ("hidden", "cell")[: KINDS[self.kind].states] * self.started
        return names + ("lengths",) * self.limited


def wide_type(dtype):
    """The type of sums and of the cell: Float32 for the short types."""
    return np.promote_types(np.float32, dtype) if dtype.itemsize < 4 else np.dtype(dtype)


def product(x, weight, axis, dtype):
    """x · weight over the last dimension of x and an axis of the weight, summed in `dtype`."""
    dimensions = (((x.ndim - 1,), (axis,)), ((), ()))
    return lax.dot_general(x, weight.astype(x.dtype), dimensions, preferred_element_type=dtype)


def _start(form, given, x, hidden_size):
    """The states before the first step; the cell is kept in the wide type."""
    dtypes = (x.dtype, wide_type(x.dtype))[: KINDS[form.kind].states]
    if not form.started:
        return tuple(jnp.zeros((x.shape[1], hidden_size), dtype) for dtype in dtypes)
    states = (given["hidden"], given.get("cell"))
    return tuple(s.astype(dtype) for s, dtype in zip(states, dtypes, strict=False))


def _inside(lengths, steps):
    """Which steps of each sequence count, [time, batch, 1]; None for all."""
    if lengths is None:
        return None
    times = jnp.arange(steps, dtype=lengths.dtype)
    return times[:, None, None] < lengths[None, :, None]


def _select(inside, new, old):
    return new if inside is None else jnp.where(inside, new, old)


def _counting(named):
    """The inputs by their names, with zeros in x where no step counts: NaN times nothing is NaN."""
    given = dict(named)
    inside = _inside(given.get("lengths"), given["x"].shape[0])
    given["x"] = _select(inside, given["x"], jnp.zeros((), given["x"].dtype))
    return given


def forward(form, *arrays):
    """Outputs at all times, the last states, and what the reverse keeps."""
    given, kind = _counting(zip(form.names(), arrays, strict=True)), KINDS[form.kind]
    x, w_hh, wide = given["x"], given["w_hh"].astype(given["x"].dtype), wide_type(given["x"].dtype)
    projected = product(x, given["w_ih"], 1, wide)
    inner = None
    if form.biased:
        inner = given["b_hh"].astype(wide)
        projected += given["b_ih"].astype(wide) + (0 if kind.apart else inner)
    start, lengths = _start(form, given, x, w_hh.shape[1]), given.get("lengths")
    run = _native_forward if _is_native(form, x, w_hh, lengths) else _scan_forward
    return run(form, projected, w_hh, inner, start, lengths)


def _scan_forward(form, projected, w_hh, inner, start, lengths):
    """All steps as a loop of XLA's.

    Args:
        projected: the products with the inputs, of all times, and what is added to them.
        inner: what is added to the products with the hidden state, if that is not the same.
        start: the states before the first step.
    """
    kind, dtype, wide = KINDS[form.kind], w_hh.dtype, projected.dtype
    inside = _inside(lengths, projected.shape[0])
    # Lying transposed before the scan, not by the product of each step.
    w_hh = whole(w_hh.T)

    def step(state, now):
        projected, inside = now
        recurrent = product(state[0], w_hh, 0, wide)
        if kind.apart and inner is not None:
            recurrent += inner
        (hidden, *cell), kept = kind.step(projected, recurrent, state)
        new = (hidden.astype(dtype), *cell)
        output = _select(inside, new[0], jnp.zeros((), dtype))
        new = tuple(_select(inside, n, old) for n, old in zip(new, state, strict=True))
        return new, (output, kept, new[1:])

    last, (outputs, kept, cells) = lax.scan(
        step, start, (projected, inside), reverse=form.backwards
    )
    return outputs, *[state.astype(dtype) for state in last], *kept, *cells


# -- the same in C++ -----------------------------------------------------------------------------


NATIVE = ("LSTM", "GRU")
# What the reverse keeps of a step: four gates, or three and a product.
KEPT = 4


def _is_native(form, x, w_hh, lengths):
    counts = lengths is None or jnp.issubdtype(lengths.dtype, jnp.integer)
    return form.kind in NATIVE and counts and cpp.serves("recurrent", x, w_hh)


def _float32(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


def _counted(lengths, steps, batch):
    """How many steps of each sequence count, as the functions in C++ take it."""
    if lengths is None:
        return jnp.full(batch, steps, np.int32)
    return jnp.clip(lengths, 0, steps).astype(np.int32)


def _native_forward(form, projected, w_hh, inner, start, lengths):
    steps, batch, hidden = *projected.shape[:2], w_hh.shape[1]
    kind = KINDS[form.kind]
    results = [_float32(steps, batch, hidden), _float32(steps, batch, KEPT * hidden)]
    results += [_float32(steps, batch, hidden)] * (kind.states - 1)
    results += [_float32(batch, hidden)] * kind.states
    apart = []
    if kind.apart:
        apart = [jnp.zeros(w_hh.shape[0], np.float32) if inner is None else inner]

    def plain(projected, w_hh, *rest):
        inner, *start = rest[:-1] if kind.apart else (None, *rest[:-1])
        made = _scan_forward(form, projected, w_hh, inner, tuple(start), rest[-1])
        return made[0], *made[1 + kind.states :], *made[1 : 1 + kind.states]

    inputs = (projected, w_hh, *apart, *start, _counted(lengths, steps, batch))
    name = f"{form.kind.lower()}_forward"
    made = cpp.call(name, plain, results, inputs, backwards=form.backwards)
    return made[0], *made[-kind.states :], *made[1 : -kind.states]


def _before(form, sequence, first):
    """What stood before each step."""
    ends = (sequence[1:], first) if form.backwards else (first, sequence[:-1])
    return jnp.concatenate(ends)


def gradients(form, present, mask, *arrays):
    """The gradients of the inputs that `mask` names.

    Args:
        arrays: the inputs, the outputs at all times, what was kept, and the cotangents that are
            `present` of the outputs and the last states.
    """
    names, kind = form.names(), KINDS[form.kind]
    given = _counting(zip(names, arrays, strict=False))
    outputs, *kept = arrays[len(names) : len(arrays) - sum(present)]
    rest = iter(arrays[len(arrays) - sum(present) :])
    x, wide = given["x"], wide_type(given["x"].dtype)
    cotangent, *ends = [next(rest).astype(wide) if there else None for there in present]
    ends = [jnp.zeros(outputs.shape[1:], wide) if end is None else end for end in ends]
    w_hh, lengths = given["w_hh"].astype(x.dtype), given.get("lengths")
    cells = kept.pop() if kind.states == 2 else None
    start = _start(form, given, x, outputs.shape[2])
    states = (outputs, *([] if cells is None else [cells]))
    run = _native_reverse if _is_native(form, x, w_hh, lengths) else _scan_reverse
    slopes, starts = run(form, cotangent, kept[:1], states, w_hh, start, lengths, tuple(ends))
    before = _states_before(form, states, start, lengths, wide)
    made = _after_scan(kind, given, slopes, before[0], wide)
    made |= dict(zip(("hidden", "cell"), (lambda s=s: s for s in starts), strict=False))
    return tuple(
        made[name]().astype(given[name].dtype)
        for name, asked in zip(names, mask, strict=True)
        if asked
    )


def _scan_reverse(form, cotangent, kept, states, w_hh, start, lengths, ends):
    """The slopes of all steps and the cotangents of the first states, by a loop of XLA's.

    Args:
        cotangent: of the outputs; None if there is none.
        kept: what the steps kept besides their states.
        states: after each step: outputs, and the cells of an LSTM.
        start: the states before the first step.
        ends: the cotangents of the last states.
    """
    kind, wide = KINDS[form.kind], ends[0].dtype
    before = _states_before(form, states, start, lengths, wide)
    after = (states[0].astype(wide), *states[1:])
    factors = whole(kind.factors(tuple(kept), before, after))

    def step(carry, now):
        cotangent, factors, inside = now
        arrived = carry if cotangent is None else (carry[0] + cotangent, *carry[1:])
        arrived = tuple(_select(inside, c, jnp.zeros((), wide)) for c in arrived)
        slopes, straight = kind.back(arrived, factors)
        toward = toward_hidden(kind, slopes).astype(w_hh.dtype)
        hidden = product(toward, w_hh, 0, wide)
        hidden = hidden if straight[0] is None else hidden + straight[0]
        new = (hidden, *straight[1:])
        return tuple(_select(inside, n, c) for n, c in zip(new, carry, strict=True)), slopes

    times = (cotangent, factors, _inside(lengths, states[0].shape[0]))
    starts, slopes = lax.scan(step, ends, times, reverse=not form.backwards)
    return slopes, starts


def _native_reverse(form, cotangent, kept, states, w_hh, start, lengths, ends):
    steps, batch, hidden = states[0].shape
    count = len(states)
    if cotangent is None:
        cotangent = jnp.zeros(states[0].shape, np.float32)

    def plain(cotangent, kept, state, w_hh, first, lengths, *ends):
        # What the scan reads of the states besides: it is the same for every value of them.
        whole_states = (state,) if count == 1 else (jnp.zeros_like(state), state)
        whole_start = (first,) if count == 1 else (jnp.zeros_like(first), first)
        slopes, starts = _scan_reverse(
            form, cotangent, (kept,), whole_states, w_hh, whole_start, lengths, ends
        )
        return slopes, *starts

    results = [_float32(steps, batch, KEPT * hidden), *[_float32(batch, hidden)] * count]
    lengths = _counted(lengths, steps, batch)
    inputs = (cotangent, *kept, states[-1], w_hh, start[-1], lengths, *ends)
    name = f"{form.kind.lower()}_reverse"
    slopes, *starts = cpp.call(name, plain, results, inputs, backwards=form.backwards)
    return slopes, tuple(starts)


def _states_before(form, states, start, lengths, wide):
    """The states before each step, in the wide type."""
    hidden = _before(form, states[0], start[0][None])
    inside = _inside(lengths, states[0].shape[0])
    if inside is not None:
        # Outside of a sequence the outputs are 0, and the state is still the first one.
        edge = jnp.ones((1, *inside.shape[1:]), bool)
        hidden = jnp.where(_before(form, inside, edge), hidden, start[0][None])
    cells = [
        _before(form, state, first[None])
        for state, first in zip(states[1:], start[1:], strict=True)
    ]
    return hidden.astype(wide), *cells


def _after_scan(kind, given, slopes, before, wide):
    """Gradients of what stands outside of the scan, each made when it is asked for."""
    x = given["x"]
    inputs = toward_input(kind, slopes)
    hidden = toward_hidden(kind, slopes)

    def outer(slopes, other):
        dimensions = (((0, 1), (0, 1)), ((), ()))
        slopes, other = slopes.astype(x.dtype), other.astype(x.dtype)
        return lax.dot_general(slopes, other, dimensions, preferred_element_type=wide)

    return {
        "x": lambda: product(inputs.astype(x.dtype), given["w_ih"], 0, wide),
        "w_ih": lambda: outer(inputs, x),
        "w_hh": lambda: outer(hidden, before),
        "b_ih": lambda: jnp.sum(inputs, (0, 1), dtype=wide),
        "b_hh": lambda: jnp.sum(hidden, (0, 1), dtype=wide),
    }
