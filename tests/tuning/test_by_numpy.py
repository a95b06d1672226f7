# SPDX-License-Identifier: Apache-2.0
"""Operators that run by NumPy with open lengths. The oracle is XLA, for the same lengths."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from harness import assert_close
from mycel.kernel.define.pattern import Pattern

NAN, INF = np.nan, np.inf
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e-30, 3e38, INF, -INF, NAN], np.float32)


def floats(*shape, kind: type = np.float32):
    values = np.random.default_rng(5).standard_normal(shape)
    return values.astype(kind)


def integers(*shape, least=-4, most=5, kind: type = np.int32):
    return np.random.default_rng(6).integers(least, most, shape).astype(kind)


def opened(function, length: int, *arrays) -> Pattern:
    """The function with this length open in all inputs."""
    inputs = [(a.dtype, tuple([-1 if n == length else n for n in a.shape])) for a in arrays]
    return Pattern(function, tuple(inputs), 1)


def run(function, length, *arrays) -> list:
    pattern = opened(function, length, *arrays)
    assert pattern.run is not None
    return pattern.run((length,), arrays)


def agrees(function, length, *arrays):
    """It gives what XLA gives, also for another length than it was traced with."""
    found = run(function, length, *arrays)
    expected = jax.tree.leaves(jax.jit(function)(*arrays))
    for one, other in zip(found, expected, strict=True):
        other = np.asarray(other)
        assert one.dtype == other.dtype
        assert_close(one, other, getattr(function, "__name__", "function"))


UNARY = {
    "exp": jnp.exp, "log": jnp.log, "log1p": jnp.log1p, "expm1": jnp.expm1, "tanh": jnp.tanh,
    "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt,
    "logistic": lax.logistic, "sign": jnp.sign, "floor": jnp.floor, "ceil": jnp.ceil,
    "rint": jnp.rint, "abs": jnp.abs, "square": jnp.square, "cube": lambda x: x**3,
    "inverse cube": lambda x: x**-3, "erf": lax.erf, "relu": jax.nn.relu, "gelu": jax.nn.gelu,
    "isfinite": jnp.isfinite, "to int": lambda x: x.astype(np.int32),
    "to double": lambda x: x.astype(np.float64), "to bool": lambda x: x.astype(bool),
    "clip": lambda x: jnp.clip(x, -1, 2), "softmax": jax.nn.softmax, "cumsum": jnp.cumsum,
    "argmax": jnp.argmax, "argmin": jnp.argmin, "max": jnp.max, "min": jnp.min,
    "any": lambda x: jnp.any(x > 1), "all": lambda x: jnp.all(x > -9), "round away": lax.round,
    "select": lambda x: jnp.where(x > 0, x, -2 * x), "power": lambda x: jnp.power(x, 2.5),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_elements_and_edges(name):
    agrees(UNARY[name], len(EDGES), EDGES)


BINARY = {
    "add": jnp.add, "subtract": jnp.subtract, "multiply": jnp.multiply, "divide": lax.div,
    "remainder": lax.rem, "maximum": jnp.maximum, "minimum": jnp.minimum, "equal": jnp.equal,
    "less": jnp.less, "greater equal": jnp.greater_equal, "atan2": jnp.arctan2,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_edges(name):
    first, second = np.meshgrid(EDGES, EDGES)
    agrees(BINARY[name], 144, first.ravel(), second.ravel())


WHOLE = {
    "add": jnp.add, "multiply": jnp.multiply, "divide": lax.div, "remainder": lax.rem,
    "floor divide": jnp.floor_divide, "and": jnp.bitwise_and, "xor": jnp.bitwise_xor,
    "shift": jnp.left_shift, "arithmetic shift": jnp.right_shift, "maximum": jnp.maximum,
}  # fmt: skip


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_wrap_and_divide_as_in_xla(name, kind):
    """Also by zero, and shifted by more bits than there are."""
    held = np.iinfo(kind)
    edges = np.array([0, 1, 2, 3, 7, 40, 100, held.min, held.max], kind)
    first, second = np.meshgrid(edges, edges)
    agrees(WHOLE[name], 81, first.ravel(), second.ravel())


SHAPES = {
    "mean": lambda x: jnp.mean(x, 0),
    "variance": lambda x: jnp.var(x, 0),
    "flatten": lambda x: x.reshape(x.shape[0] * 6, -1),
    "transpose": lambda x: x.transpose(2, 0, 1),
    "slice": lambda x: lax.slice_in_dim(x, 1, 5, 2, 1),
    "take apart": lambda x: x[:, 1:4, ::-1],
    "pad": lambda x: lax.pad(x, np.float32(2), ((0, 1, 2), (-1, 2, 0), (0, -1, 1))),
    "flip": lambda x: jnp.flip(x, 0),
    "concatenate": lambda x: jnp.concatenate([x, x + 1], 0),
    "split": lambda x: jnp.split(x, 2, 1),
    "broadcast": lambda x: jnp.broadcast_to(x[:, None], (x.shape[0], 2, 6, 4)),
    "number": lambda x: x * jnp.arange(x.shape[0], dtype=np.float32)[:, None, None],
    "sum": lambda x: jnp.sum(x, (0, 2)),
    "product": lambda x: jnp.prod(x, 1),
    "running from behind": lambda x: lax.cumsum(x, 1, reverse=True),
    "most": lambda x: jnp.argmax(x, 1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    agrees(SHAPES[name], 5, floats(5, 6, 4))


PRODUCTS = {
    "bm,mn->bn": ((5, 6), (6, 4)), "bm,nm->nb": ((5, 6), (4, 6)), "bm,bn->mn": ((5, 6), (5, 4)),
    "abm,amn->abn": ((3, 5, 6), (3, 6, 4)), "bhqd,bhkd->bhqk": ((5, 2, 3, 4),
    (5, 2, 6, 4)), "abcd,cdb->ab": ((5, 2, 3, 4), (3, 4, 2)), "b,b->": ((5,), (5,)),
}  # fmt: skip


@pytest.mark.parametrize("text", list(PRODUCTS))
def test_products(text):
    left, right = PRODUCTS[text]
    agrees(lambda a, b: jnp.einsum(text, a, b), 5, floats(*left), floats(*right) + 1)


@pytest.mark.parametrize("shapes", [(90, 70, 80), (3, 900, 401), (1030, 300, 2)])
def test_products_that_are_cut(shapes):
    """Those of more multiplications than one thread is given at once; the oracle is NumPy."""
    left, right = floats(*shapes[:2], kind=np.float64), floats(*shapes[1:], kind=np.float64)
    (found,) = run(jnp.matmul, shapes[0], left, right)
    assert_close(found, left @ right, "product")


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows_by_index(mode, axis):
    within = mode == "promise_in_bounds"
    index = integers(5, 2, least=0, most=4) if within else integers(5, 2, least=-9, most=9)

    def taken(table, index):
        return jnp.take(table, index, axis, mode=None if within else mode)

    agrees(taken, 5, floats(7, 6), index)


def test_elements_by_index():
    agrees(lambda x, i: jnp.take_along_axis(x, i, 1), 5, floats(5, 6), integers(5, 1))
    agrees(lambda x, i: x[jnp.arange(x.shape[0]), i], 5, floats(5, 6), integers(5, least=0))
    agrees(lambda x, i: lax.dynamic_slice(x, (i, i), (3, 2)), 5, floats(7, 6), integers())


@pytest.mark.parametrize("start", [0, 2, 9, -4])
def test_parts_by_a_start(start):
    """Also where they would end behind the array, or begin before it."""
    agrees(lambda x: lax.dynamic_slice(x, (start, start), (1, 2)), 7, floats(7, 6))


@pytest.mark.parametrize("mode", ["clip", "drop"])
def test_sums_by_index(mode):
    """The same row twice, and rows that are not there."""
    index = np.array([0, 3, 3, -2, 99], np.int32)

    def added(table, rows, index):
        return table.at[index].add(rows, mode=mode)

    agrees(added, 5, floats(7, 6), floats(5, 6), index)


def test_derivative_of_a_lookup():
    def gradient(table, index, cotangent):
        return jax.vjp(lambda t: t[index], table)[1](cotangent)[0]

    agrees(gradient, 5, floats(7, 6), integers(5, least=0), floats(5, 6))


@pytest.mark.parametrize("length", [2, 3, 7, 64, 300])
def test_one_trace_serves_all_lengths(length):
    def step(x, w):
        return jnp.mean(jax.nn.softmax(x @ w) * x.shape[0], 0), x[1:].sum(), jnp.std(x)

    pattern = opened(step, 5, floats(5, 3), floats(3, 4))
    arrays = floats(length, 3), floats(3, 4)
    assert pattern.run is not None
    for one, other in zip(pattern.run((length,), arrays), jax.jit(step)(*arrays), strict=True):
        assert_close(one, np.asarray(other), "step")


def test_random_bits_are_those_of_jax():
    def drawn(key, x):
        key = jax.random.wrap_key_data(key, impl="threefry2x32")
        uniform = jax.random.uniform(key, x.shape, np.float32)
        return uniform, jax.random.bernoulli(key, 0.3, x.shape), jax.random.normal(key, x.shape)

    agrees(drawn, 5, np.array([3, 9], np.uint32), floats(5, 3))
    agrees(drawn, 777, np.array([3, 9], np.uint32), floats(777, 3))


@pytest.mark.parametrize("kind", [jnp.bfloat16, np.float16, np.complex64])
def test_types_that_numpy_rounds_elsewhere_are_refused(kind):
    assert opened(jnp.exp, 5, np.zeros(5, kind)).run is None


def test_primitives_without_a_rule_are_refused():
    assert opened(jnp.linalg.qr, 5, floats(5, 3)).run is None


def test_a_function_that_lengths_decide_about_has_no_pattern():
    def branches(x):
        return x if x.shape[0] > 4 else -x

    assert opened(branches, 5, floats(5)).match(()) is None
