# SPDX-License-Identifier: Apache-2.0
"""Normalisation over a batch in C++: its oracles are NumPy in Float64, and XLA's own loops, which
tests/nn holds against MindSpore's."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import mycel as ms
from harness import as_numpy, run_everywhere
from mycel import nn, ops
from mycel.kernel.base.backend import tuning
from mycel.ops.nn.normalization import batch_norm_training
from mycel.tuning.native import cpp

# Rows that are less than a vector, whole vectors, rests of them, more than a block; one image and
# one channel; channels that are taken together; more than two dimensions of space.
SHAPES = [
    (3, 2, 4),
    (2, 3, 7, 7),
    (1, 1, 16),
    (5, 70, 4, 4),
    (2, 1, 70, 71),
    (300, 3, 5),
    (1, 9, 64, 64),
    (2, 5, 3, 4, 5),
]
BOUNDS = [(-np.inf, np.inf), (0.0, np.inf), (0.0, 6.0)]


@pytest.fixture(autouse=True)
def compiled():
    """With a C++ compiler there is a library; the suite is not green because there is none."""
    found, why = cpp.loaded("normalization")
    assert found is not None, why


def drawn(shape, seed=0):
    """x, weight, bias, and gradients of the output, the mean and the variance."""
    draw = np.random.default_rng(seed)
    channels = shape[1]
    arrays = [draw.normal(3, 2, shape), draw.normal(2, 2, channels), draw.normal(1, 2, channels)]
    arrays += [draw.normal(size=shape), draw.normal(size=channels), draw.normal(size=channels)]
    return [array.astype(np.float32) for array in arrays]


def with_gradients(bounds, x, weight, bias, *cotangents):
    """What a batch is made of it, and the gradients of x, weight and bias."""
    definition = batch_norm_training.definition
    function = definition.bind(1e-3, *bounds).function
    outputs, pull = jax.vjp(function, x, weight, bias)
    return *outputs, *pull(cotangents)


def by_numpy(bounds, x, weight, bias, cotangent, of_mean, of_variance):
    """The same in Float64, from the definition of each."""
    axes, count = (0, *range(2, x.ndim)), x.size // x.shape[1]

    def along(vector):
        return vector.reshape(-1, *[1] * (x.ndim - 2))

    mean, variance = x.mean(axes), x.var(axes)
    inverse = (variance + 1e-3) ** -0.5
    normal = (x - along(mean)) * along(inverse)
    output = normal * along(weight) + along(bias)
    inside = (output > bounds[0]) & (output <= bounds[1])
    slope = np.where(inside, cotangent, 0)
    of_normal = slope * along(weight)
    gradient = along(inverse) * (
        of_normal - along(of_normal.mean(axes)) - normal * along((of_normal * normal).mean(axes))
    )
    gradient += along(of_mean) / count + (x - along(mean)) * along(of_variance) * 2 / count
    outputs = np.clip(output, *bounds), mean, variance
    return *outputs, gradient, (slope * normal).sum(axes), slope.sum(axes)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_batch_and_its_reverse_are_those_of_xla(shape, bounds):
    arrays = drawn(shape)
    run = jax.jit(lambda *given: with_gradients(bounds, *given))
    assert run.lower(*arrays).as_text().count("@mycel_batch_norm") == 2
    with cpp.portable():
        plain = jax.jit(lambda *given: with_gradients(bounds, *given))(*arrays)
    true = by_numpy(bounds, *[array.astype(np.float64) for array in arrays])
    for mine, theirs, exact in zip(run(*arrays), plain, true, strict=True):
        allowed = 2 * np.abs(theirs - exact).max() + 1e-6 * np.abs(exact).max()
        np.testing.assert_allclose(mine, exact, rtol=0, atol=allowed)


def test_means_far_from_zero_keep_their_variance():
    """10,000 ± 1: a sum of squares in Float32 would have no digit left; the oracle is NumPy."""
    x = np.random.default_rng(0).normal(1e4, 1, (4, 3, 50, 60)).astype(np.float32)
    ones, zeros = np.ones(3, np.float32), np.zeros(3, np.float32)
    function = batch_norm_training.definition.bind(1e-5, -np.inf, np.inf).function
    _, mean, variance = jax.jit(function)(x, ones, zeros)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(mean, exact.mean((0, 2, 3)), rtol=1e-7)
    np.testing.assert_allclose(variance, exact.var((0, 2, 3)), rtol=1e-6)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_what_is_not_finite_stays_in_its_channel(bounds):
    x, *rest = drawn((2, 5, 5, 7))
    x[0, 1, 2, 2], x[1, 3, 0, 0], rest[2][1, 4, 1, 1] = np.nan, np.inf, np.inf
    found = jax.jit(lambda *given: with_gradients(bounds, *given))(x, *rest)
    with cpp.portable():
        expected = jax.jit(lambda *given: with_gradients(bounds, *given))(x, *rest)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_second_derivatives_and_vmap(bounds):
    x, weight, bias, *_ = drawn((2, 3, 3, 3))
    function = batch_norm_training.definition.bind(1e-3, *bounds).function

    def loss(x, weight, bias):
        output, _, variance = function(x, weight, bias)
        return (output**3).sum() + (variance**2).sum()

    def all_of(x, weight, bias):
        def slope(*given):
            return sum((part**2).sum() for part in jax.grad(loss, (0, 1, 2))(*given))

        rows = jax.vmap(jax.grad(loss), (0, None, None))(jax.numpy.stack([x, 2 * x]), weight, bias)
        return rows, *jax.grad(slope, (0, 1, 2))(x, weight, bias)

    found = jax.jit(all_of)(x, weight, bias)
    with cpp.portable():
        expected = jax.jit(all_of)(x, weight, bias)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-3 * np.abs(theirs).max())


def test_other_types_and_rows_of_channels_are_left_to_xla():
    def text(shape, dtype):
        arrays = [array.astype(dtype) for array in drawn(shape)[:3]]
        function = batch_norm_training.definition.bind(1e-3, -np.inf, np.inf).function
        return jax.jit(function).lower(*arrays).as_text()

    assert "mycel_batch_norm" in text((2, 3, 4), np.float32)
    assert "mycel_" not in text((2, 3, 4), np.float64)
    assert "mycel_" not in text((8, 3), np.float32)


class Block(nn.Cell):
    """Two normalisations and activations; what lies between the first ones may be given back."""

    def __init__(self, activation, gives_back=False, eps=1e-5):
        super().__init__()
        self.first, self.second = nn.BatchNorm2d(4, eps), nn.BatchNorm2d(4, eps)
        self.activation, self.gives_back = activation, gives_back
        self.set_train()

    def construct(self, x):
        between = self.first(x)
        output = self.activation(self.second(self.activation(between) * 2))
        return (output, between) if self.gives_back else output


X = np.random.default_rng(1).normal(1, 3, (6, 4, 5, 9)).astype(np.float32)
# What an activation is, by other operators, with which nothing is computed together.
PLAIN = {
    "relu": lambda x: ops.maximum(x, 0.0),
    "relu6": lambda x: ops.clamp(x, 0.0, 6.0),
}


def gradients_of(net):
    """A function of x: the gradients of the loss of a network by x and all weights."""
    for number, weight in enumerate(net.trainable_params()):
        weight.set_data(ms.Tensor(np.linspace(-1, number + 1, 4).astype(np.float32)))

    def loss(x):
        output = net(x)
        output, seen = output if net.gives_back else (output, 0)
        return (output**3).mean(), seen

    return ms.value_and_grad(loss, 0, net.trainable_params(), has_aux=True)


@pytest.fixture
def joined(monkeypatch):
    """The numbers of slots that each program has of operators that are computed together."""
    numbers, given = [], tuning.together

    def noted(nodes, live):
        found = given(nodes, live)
        numbers.append(len(found))
        return found

    monkeypatch.setattr(tuning, "together", noted)
    return numbers


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("is_layer", [True, False])
def test_what_is_computed_together_is_what_both_give(name, is_layer, joined):
    """The oracle is the same by operators that are not joined."""
    layers = {"relu": nn.ReLU(), "relu6": nn.ReLU6()}
    activation = layers[name] if is_layer else getattr(ops, name)
    eps = 1e-4 if is_layer else 1e-3  # programs that are known are not made again
    found = run_everywhere(gradients_of(Block(activation, eps=eps)), X)
    # Of each of two: mean, variance, the activation, and three gradients.
    assert max(joined) == 2 * 6
    joined.clear()
    expected = run_everywhere(gradients_of(Block(PLAIN[name], eps=eps)), X)
    assert max(joined) == 0
    for mode, results in found.items():
        pairs = zip(*map(jax.tree.leaves, (results, expected[mode])), strict=True)
        for mine, theirs in pairs:
            allowed = 2e-6 * np.abs(theirs).max() + 1e-7
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=allowed, err_msg=mode)


def test_what_others_see_between_is_not_computed_together(joined):
    """The oracle is the normalisation alone, to the last bit."""
    net = Block(nn.ReLU(), gives_back=True)
    results = run_everywhere(gradients_of(net), X)
    assert max(joined) == 6
    for mode, (outputs, _) in results.items():
        expected = as_numpy(net.first(ms.Tensor(X)))
        np.testing.assert_array_equal(outputs[1], expected, err_msg=mode)


def test_a_hook_sees_and_changes_what_lies_between():
    """A hook on the normalisation's output: the activation has what it gives, in each mode."""
    net = Block(nn.ReLU6())
    net.first.register_forward_hook(lambda cell, inputs, output: output - 2)
    found = run_everywhere(gradients_of(net), X)

    class Shifted(Block):
        def construct(self, x):
            return self.activation(self.second(self.activation(self.first(x) - 2) * 2))

    expected = run_everywhere(gradients_of(Shifted(PLAIN["relu6"])), X)
    for mode, results in found.items():
        pairs = zip(*map(jax.tree.leaves, (results, expected[mode])), strict=True)
        for mine, theirs in pairs:
            allowed = 2e-6 * np.abs(theirs).max() + 1e-7
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=allowed, err_msg=mode)
