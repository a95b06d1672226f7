# SPDX-License-Identifier: Apache-2.0
"""Programs with open lengths, run for longer arrays. The oracle is the same function of the arrays
as they are, by JAX. What lies behind the lengths is made NaN first, so that nothing may read it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from mycel.kernel.define.pattern import symbols_of
from mycel.tuning import padding
from mycel.tuning.numpy_rules import lengths

NAMES = ("n0", "n1")
SYMBOLS = symbols_of(2)
SIZES, ROOM = (5, 11), (8, 12)


def poisoned(x):
    """The same numbers, and NaN in place of the zeros behind them."""
    return (x - x) / x + x if jnp.issubdtype(x.dtype, jnp.inexact) else x


def arrays_of(*shapes, kinds=()):
    """Numbers other than zero, for shapes in which "n" and "m" are open lengths."""
    chance = np.random.default_rng(len(shapes))
    known = {"n": SIZES[0], "m": SIZES[1], "n-1": SIZES[0] - 1, "2n": 2 * SIZES[0]}
    arrays = []
    for number, shape in enumerate(shapes):
        sizes = [known.get(length, length) for length in shape]
        kind = kinds[number] if number < len(kinds) else "f"
        if kind == "f":
            array = chance.uniform(0.5, 2, sizes) * chance.choice([-1, 1], sizes)
            arrays.append(array.astype(np.float32))
        else:
            arrays.append(chance.integers(0, int(kind), sizes).astype(np.int32))
    return arrays


def run_padded(function, shapes, arrays, room=ROOM, sizes=SIZES):
    open_lengths = dict(zip(("n", "m"), SYMBOLS, strict=True))
    open_lengths |= {"n-1": SYMBOLS[0] - 1, "2n": 2 * SYMBOLS[0]}
    open_shapes = [[open_lengths.get(length, length) for length in shape] for shape in shapes]
    structs = [
        jax.ShapeDtypeStruct(tuple(shape), array.dtype)
        for shape, array in zip(open_shapes, arrays, strict=True)
    ]

    def listed(*given):
        made = function(*map(poisoned, given))
        return made if isinstance(made, (tuple, list)) else [made]

    program = padding.written(jax.make_jaxpr(listed)(*structs), NAMES, room)
    longer = [
        padding.lengthened(array, lengths(tuple(struct.shape), NAMES)(room))
        for array, struct in zip(arrays, structs, strict=True)
    ]
    results = jax.jit(program.run)(np.array(sizes, np.int32), *longer)
    return [
        padding.cut(result, axes, NAMES, room, sizes)
        for result, axes in zip(results, program.axes, strict=True)
    ]


def softmax_of_rows(x):
    return jax.nn.softmax(x, 1)


def shifted(x):
    return jnp.concatenate([x[:, 1:], x[:, :1]], 1)


def attention(q, k, v):
    scores = jnp.einsum("bnd,bmd->bnm", q, k)
    later = jnp.arange(q.shape[1])[:, None] < jnp.arange(k.shape[1])[None]
    return jnp.einsum("bnm,bmd->bnd", jax.nn.softmax(jnp.where(later, -1e9, scores), -1), v)


def recurrent(x, weight):
    def step(state, row):
        state = jnp.tanh(state @ weight + row)
        return state, state * 2

    start = jnp.zeros((x.shape[0], weight.shape[0]), x.dtype)
    last, rows = lax.scan(step, start, jnp.moveaxis(x, 1, 0))
    back, others = lax.scan(step, last, jnp.moveaxis(x, 1, 0), reverse=True)
    return last, rows, back, others


def convolved(x, weight, **more):
    numbers = ("NHC", "HIO", "NHC")
    settings = {"window_strides": (1,), "padding": ((1, 1),), "dimension_numbers": numbers}
    return lax.conv_general_dilated(x, weight, **(settings | more))


def gradient_of(function, *positions):
    def gradients(*arrays):
        def total(*given):
            made = function(*given)
            listed = made if isinstance(made, (tuple, list)) else [made]
            return sum((array * jnp.cos(array)).sum() for array in listed)

        return jax.grad(total, positions or tuple(range(len(arrays))))(*arrays)

    return gradients


def cross_entropy(logits, labels):
    logs = jax.nn.log_softmax(logits.reshape(-1, logits.shape[-1]))
    return -jnp.take_along_axis(logs, labels.reshape(-1, 1), 1).mean()


def layer_norm(x, scale):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale


def batch_norm(x, scale):
    mean, variance = x.mean((0, 1)), x.var((0, 1))
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale


ROWS = (2, "n", 3)
CASES = {
    "elementwise": (lambda x, y: jnp.tanh(x) * y + jnp.where(x > y, x, 1), ROWS, ROWS),
    "a row for all": (lambda x, y: x + y, (2, "n", 3), ("n", 1)),
    "one for all": (lambda x, y: x / y, ("n",), (1,)),
    "sum": (lambda x: (x.sum(), x.sum(1), x.sum((0, 2))), ROWS),
    "mean": (lambda x: (x.mean(), x.mean(1), x.std(1)), ROWS),
    "extremes": (lambda x: (x.max(1), x.min(1), x.max(), jnp.abs(x).min()), ROWS),
    "product": (lambda x: x.prod(1), ROWS),
    "any, all": (lambda x: ((x > 1.9).any(1), (x < 3).all(1)), ROWS),
    "places": (lambda x: (x.argmax(1), x.argmin(1), x.argmax(2)), ROWS),
    "running": (lambda x: (x.cumsum(1), lax.cummax(x, 1), x.cumprod(2)), ROWS),
    "running backwards": (lambda x: lax.cumsum(x, 1, reverse=True), ROWS),
    "running minimum back": (lambda x: lax.cummin(x, 1, reverse=True), ROWS),
    "softmax": (softmax_of_rows, ROWS),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, 1), ROWS),
    "sorted": (lambda x: (jnp.sort(x, 1), jnp.sort(x, 2), -jnp.sort(-x, 1)), ROWS),
    "argsort": (lambda x: jnp.argsort(x, 1), ROWS),
    "median": (lambda x: jnp.sort(x, 2)[:, :, 1], ROWS),
    "top": (lambda x: lax.top_k(jnp.moveaxis(x, 1, 2), 2), ROWS),
    "product of matrices": (lambda x, y: x @ y, ROWS, (3, 4)),
    "sum over open": (lambda x, y: jnp.einsum("bnd,bne->de", x, y), ROWS, (2, "n", 4)),
    "open by open": (lambda x, y: jnp.einsum("bnd,bmd->bnm", x, y), ROWS, (2, "m", 3)),
    "attention": (attention, ROWS, ROWS, ROWS),
    "attention to others": (attention, ROWS, (2, "m", 3), (2, "m", 3)),
    "flattened": (lambda x: x.reshape(-1, 3) @ jnp.ones((3, 2), x.dtype), ROWS),
    "flattened and back": (lambda x: (x.reshape(-1, 3) * 2).reshape(x.shape).sum(1), ROWS),
    "heads": (lambda x: x.reshape(2, -1, 3, 2).transpose(0, 2, 1, 3).sum(2), (2, "n", 6)),
    "heads together": (lambda x: x.transpose(0, 2, 1, 3).reshape(2, -1, 6), (2, 3, "n", 2)),
    "flat sum": (lambda x: (x.ravel().sum(), x.ravel().max()), ROWS),
    "flat rows": (lambda x: x.reshape(2, -1).mean(1), ROWS),
    "open rows flat": (lambda x: x.ravel()[:3], ("n", 3)),
    "groups of two": (lambda x: x.reshape(-1, 2, 3).sum(1), ("2n", 3)),
    "one before": (lambda x, y: (x[:, :-1] * y).sum(1), ROWS, (2, "n-1", 3)),
    "the last": (lambda x: (x[:, -1], x[:, -2:], x[:, 0], x[:, 1:3]), ROWS),
    "all but the first": (lambda x: (x[:, 1:].sum(1), x[:, :-1].max(1)), ROWS),
    "differences": (lambda x: jnp.diff(x, axis=1), ROWS),
    "turned around": (lambda x: (x[:, ::-1], jnp.flip(x, 2)), ROWS),
    "put together": (lambda x, y: jnp.concatenate([x, y, x], 1), ROWS, (2, "m", 3)),
    "with a fixed one": (lambda x, y: jnp.concatenate([x, y], 1).sum(1), ROWS, (2, 4, 3)),
    "beside": (lambda x, y: jnp.concatenate([x, y], 2).sum(1), ROWS, (2, "n", 1)),
    "stacked": (lambda x, y: jnp.stack([x, y], 1).mean(2), ROWS, ROWS),
    "shifted": (shifted, ROWS),
    "zeros around": (lambda x: jnp.pad(x, ((0, 0), (2, 1), (0, 0))), ROWS),
    "ones around": (lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 0)), constant_values=1), ROWS),
    "split": (lambda x: jnp.split(x, 3, 2), ROWS),
    "repeated": (lambda x: jnp.tile(x, (1, 3, 2)).sum(1), ROWS),
    "rolled": (lambda x: (jnp.roll(x, 2, 1), jnp.roll(x, -3, 1)), ROWS),
    "the middle": (lambda x: x[:, 1:-1].sum(1), ROWS),
    "a part written": (
        lambda x, y: lax.dynamic_update_slice(x, y, (0, 1, 0)).sum(1), ROWS, (2, "n-1", 3)
    ),
    "fixed rows written": (lambda x, y: lax.dynamic_update_slice(x, y, (0, 9, 0)), ROWS, (2, 2, 3)),
    "place in all": (lambda x: (x.argmax(), x.reshape(-1, 3).argmin(0)), ROWS),
    "numbered": (lambda x: x * jnp.arange(x.shape[1])[:, None], ROWS),
    "triangle": (lambda x: jnp.tril(x).sum(-1), (2, "n", "n")),
    "eye": (lambda x: x @ jnp.eye(x.shape[1]), (2, "n")),
    "lengths": (lambda x: x * x.shape[1] / (x.shape[0] + 1), ROWS),
    "layer norm": (layer_norm, ROWS, (3,)),
    "norm along open": (lambda x: layer_norm(x, 1.0), (2, 3, "n")),
    "batch norm": (batch_norm, ROWS, (3,)),
    "recurrent": (recurrent, ROWS, (3, 3)),
    "recurrent, open rows": (recurrent, ("n", 4, 3), (3, 3)),
    "recurrent, both open": (recurrent, ("m", "n", 3), (3, 3)),
    "convolution": (convolved, ROWS, (3, 3, 4)),
    "strides": (lambda x, w: convolved(x, w, window_strides=(2,)), ROWS, (3, 3, 4)),
    "dilated": (lambda x, w: convolved(x, w, rhs_dilation=(2,)), ROWS, (3, 3, 4)),
    "transposed": (lambda x, w: convolved(x, w, lhs_dilation=(2,)), ROWS, (3, 3, 4)),
    "causal": (lambda x, w: convolved(x, w, padding=((2, 0),)), ROWS, (3, 3, 4)),
    "open batch": (convolved, ("n", 6, 3), (3, 3, 4)),
    "in groups": (lambda x, w: convolved(x, w, feature_group_count=3), ("n", 6, 3), (3, 1, 6)),
    "pooled": (
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 1), (1, 2, 1), "VALID"),
        ("n", 6, 3),
    ),
}  # fmt: skip


def assert_same(function, shapes, arrays):
    expected = function(*map(jnp.asarray, arrays))
    expected = expected if isinstance(expected, (tuple, list)) else [expected]
    found = run_padded(function, shapes, arrays)
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, np.asarray(theirs), 2e-5, 2e-5)


@pytest.mark.parametrize("name", CASES)
def test_what_lies_behind_is_not_read(name):
    function, *shapes = CASES[name]
    assert_same(function, shapes, arrays_of(*shapes))


SMOOTH = [
    "elementwise", "a row for all", "sum", "mean", "extremes", "running backwards", "softmax",
    "logsumexp", "product of matrices", "sum over open", "open by open", "attention",
    "attention to others", "flattened", "flattened and back", "heads", "heads together", "flat sum",
    "flat rows", "groups of two", "one before", "all but the first", "differences", "beside",
    "stacked", "repeated", "the middle", "a part written", "with a fixed one", "put together",
    "zeros around", "ones around", "split", "numbered", "triangle", "eye", "lengths", "layer norm",
    "norm along open", "batch norm", "recurrent", "recurrent, open rows", "recurrent, both open",
    "convolution", "dilated", "causal", "open batch", "pooled",
]  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_do_not_read_it_either(name):
    function, *shapes = CASES[name]
    assert_same(gradient_of(function), shapes, arrays_of(*shapes))


INDEXED = {
    "rows of a table": (lambda t, i: t[i], [(7, 3), (2, "n")], ("f", "7")),
    "rows of an open one": (lambda x, i: x[i], [("n", 3), (4,)], ("f", "5")),
    "one of each": (
        lambda x, i: jnp.take_along_axis(x, i[..., None], 2)[..., 0],
        [(2, "n", 6), (2, "n")],
        ("f", "6"),
    ),
    "one along open": (
        lambda x, i: jnp.take_along_axis(x, i[:, None, None], 1),
        [(2, "n", 6), (2,)],
        ("f", "5"),
    ),
    "cross-entropy": (cross_entropy, [(2, "n", 6), (2, "n")], ("f", "6")),
    "one hot": (lambda i: jax.nn.one_hot(i, 6).sum(1), [(2, "n")], ("6",)),
    "counted": (
        lambda x, i: jnp.zeros((6, 3), x.dtype).at[i].add(x),
        [("n", 3), ("n",)],
        ("f", "6"),
    ),
    "behind the end": (
        lambda x, i: (x.at[i + 3].get(mode="clip"), x.at[i + 3].get(mode="fill", fill_value=7.0)),
        [("n", 3), (4,)],
        ("f", "5"),
    ),
    "added behind the end": (
        lambda x, i: (x.at[i + 3].add(1.0, mode="drop"), x.at[i + 3].add(1.0, mode="clip")),
        [("n", 3), (4,)],
        ("f", "5"),
    ),
    "the greatest of each": (
        lambda x, i: jnp.full((6, 3), -1e3, x.dtype).at[i].max(x),
        [("n", 3), ("n",)],
        ("f", "6"),
    ),
    "from the end": (lambda x, i: x[-i], [("n", 3), (4,)], ("f", "5")),
    "moving window": (
        lambda x, i: lax.dynamic_slice(x, (i[0] + 2, i[0] * 0), (2, 3)),
        [("n", 3), (1,)],
        ("f", "5"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXED)
def test_indices_reach_what_they_reach_without(name):
    function, shapes, kinds = INDEXED[name]
    assert_same(function, shapes, arrays_of(*shapes, kinds=kinds))
    if kinds[0] == "f":

        def by_first(*given):
            return gradient_of(lambda x: function(x, *given[1:]), 0)(given[0])

        assert_same(by_first, shapes, arrays_of(*shapes, kinds=kinds))


def test_random_bits_are_the_very_same():
    def drawn(x):
        key = jax.random.wrap_key_data(np.array([3, 9], np.uint32), impl="threefry2x32")
        bits = jax.random.bits(key, x.shape, "uint32")
        return bits, jnp.where(jax.random.uniform(key, x.shape) < 0.5, x, 0)

    arrays = arrays_of(ROWS)
    for mine, theirs in zip(run_padded(drawn, [ROWS], arrays), drawn(*arrays), strict=True):
        np.testing.assert_array_equal(mine, theirs)


REFUSED = {
    "loops": lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, x)),
    "sums of what is interleaved": lambda x: x.reshape(-1, 3).cumsum(0),
    "other rows": lambda x: x.reshape(x.shape[1], -1),
    "windows": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 1), (1, 1, 1), "VALID"),
    "callbacks": lambda x: jax.pure_callback(
        lambda a: a, jax.ShapeDtypeStruct(x.shape, x.dtype), x
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name):
    with pytest.raises(padding.Refused):
        run_padded(REFUSED[name], [ROWS], arrays_of(ROWS))


def test_a_zero_behind_is_kept_track_of():
    """Masks that change nothing are not computed: inputs have zeros behind them."""
    weights = jax.ShapeDtypeStruct((3, SYMBOLS[0]), np.float32)
    rows = jax.ShapeDtypeStruct((SYMBOLS[0], 3), np.float32)

    def selects(function):
        run = padding.written(jax.make_jaxpr(function)(weights, rows), NAMES, ROOM).run
        shapes = jnp.zeros((3, 8), np.float32), jnp.zeros((8, 3), np.float32)
        return str(jax.make_jaxpr(run)(np.array(SIZES), *shapes)).count("select_n")

    assert not selects(lambda w, x: w @ x)
    assert not selects(lambda w, x: jnp.tanh(w) @ (2 * x))
    assert selects(lambda w, x: jnp.exp(w) @ x) == 1
    assert selects(lambda w, x: w[:, :-1] @ x[1:]) == 2
