# SPDX-License-Identifier: Apache-2.0
"""Tensors and Cells for JAX and NumPy. Oracle: the Cell itself, NumPy, where the memory lies."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Tensor, nn, ops
from mycel.checkpoint import pure_function, to_jax


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x, factors=None):
        y = self.drop(self.norm(self.dense(x)))
        return y if factors is None else (y * factors[0], factors[1])


X = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_cell_is_a_pure_function(name):
    with execution(name):
        net = Net().set_train(False)
        function, params = pure_function(net)
        assert set(params) == {"dense.weight", "dense.bias", "norm.gamma", "norm.beta"}
        expected = net(Tensor(X)).asnumpy()
        for actual in (function(params, X), jax.jit(function)(params, X)):
            assert isinstance(actual, jax.Array)
            assert_close(actual, expected)
        single = jax.vmap(lambda x: function(params, x[None])[0])(X)
        assert_close(single, expected)
        scaled, kept = jax.jit(function)(params, X, (jnp.float32(2.0), X))
        assert_close(scaled, expected * 2)
        assert_close(kept, X)
        doubled = params | {"dense.bias": params["dense.bias"] + 1.0}
        assert not np.allclose(function(doubled, X), expected)
        assert_close(net(Tensor(X)).asnumpy(), expected)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_its_derivative_is_that_of_the_cell(name):
    with execution(name):
        net = Net().set_train(False)
        function, params = pure_function(net)

        def loss(x):
            return (net(x) ** 2).sum()

        expected = ms.grad(loss, None, net.trainable_params())(Tensor(X))
        actual = jax.jit(jax.grad(lambda p: (function(p, X) ** 2).sum()))(params)
        for parameter, gradient in zip(net.trainable_params(), expected, strict=True):
            assert_close(actual[parameter.name], gradient.asnumpy(), parameter.name)


def test_what_it_assigns_comes_out():
    net = Net().set_train()
    net.drop.set_train(False)
    function, params = pure_function(net, changes=True)
    before = net.norm.moving_mean.asnumpy()
    result, changed = jax.jit(function)(params, X)
    np.testing.assert_array_equal(net.norm.moving_mean.asnumpy(), before)
    assert_close(net(Tensor(X)).asnumpy(), result)
    assert set(changed) == {"norm.moving_mean", "norm.moving_variance"}
    assert_close(changed["norm.moving_mean"], net.norm.moving_mean.asnumpy())
    again, _ = jax.jit(function)(params | changed, X)
    assert_close(again, result)


def test_random_numbers_need_a_key():
    net = Net().set_train()
    function, params = pure_function(net)
    state = ms.get_rng_state().asnumpy()
    with pytest.raises(TypeError, match=r"key=jax.random.key\(0\)"):
        jax.jit(function)(params, X)
    draw = jax.jit(lambda key: function(params, X, key=key))
    first, second, same = (draw(jax.random.key(n)) for n in (1, 2, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, same)
    np.testing.assert_array_equal(ms.get_rng_state().asnumpy(), state)


def test_operators_with_seeds_of_their_own():
    class Noisy(nn.Cell):
        def construct(self, x):
            return x + ops.normal((3,), Tensor(0.0), Tensor(1.0), seed=11)

    function, params = pure_function(Noisy())
    with pytest.raises(TypeError, match="key=jax"):
        jax.jit(function)(params, X)
    first, second = (jax.jit(function)(params, X, key=jax.random.key(n)) for n in (1, 2))
    assert not np.array_equal(first, second)
    assert np.isfinite(Noisy()(Tensor(X)).asnumpy()).all()


def test_errors_of_a_pure_function():
    class Decides(nn.Cell):
        def construct(self, x):
            return x if x.sum() > 0 else -x

    function, params = pure_function(Decides())
    assert function(params, np.float32([-1.0])).tolist() == [1.0]  # values are there
    with pytest.raises(TypeError, match="reads the value of a Tensor"):
        jax.jit(function)(params, np.float32([-1.0]))
    with pytest.raises(KeyError, match="no Parameter or buffer"):
        function({"weight": X}, X)
    with pytest.raises(TypeError, match="a Cell"):
        pure_function(lambda x: x)
    # What went wrong leaves nothing behind.
    assert ms.grad(lambda x: x * x)(Tensor(3.0)).item() == 6.0


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "int32", "bool_"])
def test_jax_arrays_both_ways_without_a_copy(kind):
    tensor = Tensor(np.arange(40).reshape(4, 10), getattr(ms, kind)).reshape(10, 4)
    array = to_jax(tensor)
    assert array.shape == (10, 4)
    back = Tensor(array)
    assert back.dtype is tensor.dtype
    assert to_jax(back).unsafe_buffer_pointer() == array.unsafe_buffer_pointer()


def test_dlpack_shares_memory_with_numpy():
    tensor = ops.exp(Tensor(np.zeros((32, 32), np.float32)))
    shared = np.from_dlpack(to_jax(tensor))
    assert shared.ctypes.data == to_jax(tensor).unsafe_buffer_pointer()
    assert_close(shared, np.ones((32, 32), np.float32))
    # JAX shares memory that lies at a multiple of 64 bytes, and copies other.
    memory = np.zeros(1024 + 16, np.float32)
    start = -memory.ctypes.data % 64 // 4
    array = memory[start : start + 1024]
    array[:] = 3
    made = ms.from_dlpack(array)
    assert to_jax(made).unsafe_buffer_pointer() == array.ctypes.data
    assert_close((made + 1).asnumpy(), np.full(1024, 4, np.float32))


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_tensor_is_taken_by_other_libraries_as_it_is(name):
    """Also one that is still pending, and inside a call that is remembered."""
    with execution(name):
        doubled = Tensor([1.0, 2.0]) * 2
        np.testing.assert_array_equal(np.from_dlpack(doubled), [2.0, 4.0])
        shifted = ms.jit(lambda x: x + np.from_dlpack(x * 2).sum())
        for number in range(5):
            made = shifted(Tensor([float(number)]))
            np.testing.assert_array_equal(made.asnumpy(), [3.0 * number])


def test_dlpack_capsules_and_errors():
    tensor = Tensor([[1.0, 2.0]])
    back = ms.from_dlpack(ms.to_dlpack(tensor))
    assert_close(back.asnumpy(), tensor.asnumpy())
    assert ms.from_dlpack(to_jax(tensor)).shape == (1, 2)
    fixed = np.ones(2, np.float32)
    fixed.flags.writeable = False
    assert ms.from_dlpack(fixed).asnumpy().tolist() == [1.0, 1.0]
    for apart in (np.arange(10.0)[::2], np.arange(6).reshape(2, 3)[:, :2], np.ones((2, 3)).T):
        np.testing.assert_array_equal(ms.from_dlpack(apart).asnumpy(), apart)
    assert ms.from_dlpack(tensor).shape == (1, 2)
    for call in (ms.to_dlpack, ms.from_dlpack, to_jax):
        with pytest.raises(TypeError, match=r"a Tensor|__dlpack__"):
            call([1.0])


def test_a_value_handed_out_is_of_its_call():
    kept = []

    @ms.jit
    def step(x):
        y = x * 2
        kept.append(to_jax(y).sum())
        return y

    for number in (1.0, 2.0, 3.0):
        step(Tensor([number]))
    assert [float(value) for value in kept] == [2.0, 4.0, 6.0]
