# SPDX-License-Identifier: Apache-2.0
"""vjp, jvp, Jacobians and vmap. Oracle: JAX on the same function in jax.numpy; the form of the
results as MindSpore 2.10 returns them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, as_numpy, execution, run_everywhere
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.record import dispatch, stream
from mycel.transform import vmap as vmap_module

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]], np.float32)
Y = np.array([1.0, 2.0, 3.0], np.float32)


def agree(made: dict, expected) -> None:
    """Every execution gives the same tree as the oracle."""
    leaves, form = jax.tree.flatten(jax.tree.map(np.asarray, expected))
    for name, tree in made.items():
        found, their_form = jax.tree.flatten(tree)
        assert their_form == form, name
        for mine, theirs in zip(found, leaves, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6, err_msg=name)


def curve(a, b):
    return ops.sin(a) * b + a.sum()


def curve_of_jax(a, b):
    return jnp.sin(a) * b + a.sum()


def pair(a, b):
    return ops.tanh(a * b), (a * a).sum(axis=0)


def pair_of_jax(a, b):
    return jnp.tanh(a * b), (a * a).sum(axis=0)


# -- products --------------------------------------------------------------------------------


def test_vjp():
    def product(a, b, v):
        result, pull = ms.vjp(curve, a, b)
        return result, pull(v), pull(v * 2)

    result, pull = jax.vjp(curve_of_jax, X, Y)
    agree(run_everywhere(product, X, Y, X), (result, pull(X), pull(X * 2)))


def test_vjp_of_several_outputs_and_others():
    def product(a, b, v, w):
        both = ms.vjp(pair, a, b)[1](v, w)
        return both, ms.vjp(pair, a, b, has_aux=True)[1](v), ms.vjp(pair, a, b, has_aux=True)[2]

    _, pull = jax.vjp(pair_of_jax, X, Y)
    expected = pull((X, Y)), pull((X, Y * 0)), pair_of_jax(X, Y)[1]
    agree(run_everywhere(product, X, Y, X, Y), expected)


def test_vjp_with_weights_has_the_form_of_mindspore():
    p = Parameter(Tensor(2.0), name="p")
    x = Tensor(X)
    by_input, by_weight = ms.vjp(lambda a: a * p, x, weights=p)[1](x)
    assert isinstance(by_input, tuple) and len(by_input) == 1
    np.testing.assert_allclose(by_input[0].asnumpy(), X * 2)
    np.testing.assert_allclose(by_weight.asnumpy(), (X * X).sum())
    _, by_weights = ms.vjp(lambda a: a * p, x, weights=[p])[1](x)
    assert isinstance(by_weights, tuple) and by_weights[0].shape == ()


def test_vjp_runs_the_function_once():
    seen = []

    def function(x):
        seen.append(1)
        return x * 2

    _, pull = ms.vjp(function, Tensor(X))
    pull(Tensor(X)), pull(Tensor(X))
    assert len(seen) == 1


def test_jvp():
    def product(a, b, v, w):
        return ms.jvp(pair, (a, b), (v, w))

    value, change = jax.jvp(pair_of_jax, (X, Y), (X + 1, Y - 2))
    agree(run_everywhere(product, X, Y, X + 1, Y - 2), (value, change))
    out = ms.jvp(pair, [Tensor(X), Tensor(Y)], [Tensor(X), Tensor(Y)], has_aux=True)
    assert [leaf.shape for leaf in out] == [(2, 3), (2, 3), (3,)]
    assert [leaf.shape for leaf in ms.jvp(ops.relu, Tensor(X), Tensor(X))] == [(2, 3), (2, 3)]


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x, y: x * x + y, [3, 5]),
        (lambda x, y: x.astype(ms.float32) * 2 + y, [3.0, 3.0]),
        (lambda x, y: ops.square(x) * y, [3, 12]),
    ],
)
def test_directions_of_integers(function, expected):
    """Oracle: MindSpore 2.10, and by hand."""

    def change(x, v):
        return ms.jvp(function, (x, x), (v, v))[1]

    x, v = np.array([1, 2], np.int32), np.array([1, 1], np.int32)
    agree(run_everywhere(change, x, v), np.array(expected))


def test_a_derivative_by_what_a_reverse_of_integers_is_given():
    """Oracle: MindSpore 2.10. What closes over an argument is made inside, and replayed."""

    def by_seed(x, v):
        along = ms.grad(lambda seed: ms.vjp(lambda a: a * a, x)[1](seed))
        return along(v)

    x, v = np.array([1, 2], np.int32), np.array([1, 1], np.int32)
    agree(run_everywhere(by_seed, x, v), np.array([2, 4]))


def test_products_inside_products():
    """A Hessian in both orders, and a gradient through jvp."""

    def scalar(a):
        return (ops.sin(a) * a * a).sum()

    def scalar_of_jax(a):
        return (jnp.sin(a) * a * a).sum()

    def all_of_them(a):
        steep = ms.grad(lambda x: ms.jvp(scalar, x, x)[1])(a)
        return ms.jacfwd(ms.jacrev(scalar))(a), ms.jacrev(ms.jacfwd(scalar))(a), steep

    hessian = jax.hessian(scalar_of_jax)(Y)
    steep = jax.grad(lambda x: jax.jvp(scalar_of_jax, (x,), (x,))[1])(Y)
    agree(run_everywhere(all_of_them, Y), (hessian, hessian, steep))


@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
def test_jacobians(name):
    ours, theirs = getattr(ms, name), getattr(jax, name)

    def everything(a, b):
        return ours(curve)(a, b), ours(pair, (0, 1))(a, b), ours(pair, 1, has_aux=True)(a, b)

    both = theirs(pair_of_jax, (0, 1))(X, Y)
    by_second = theirs(pair_of_jax, 1)(X, Y)[0], pair_of_jax(X, Y)[1]
    expected = theirs(curve_of_jax)(X, Y), both, by_second
    agree(run_everywhere(everything, X, Y), expected)


def test_a_jacobian_of_a_function_that_decides():
    """The function itself runs on values: only its reverse is mapped."""

    def chosen(x):
        return x * x if x.sum() > 0 else -x

    for name in EXECUTIONS:
        with execution(name):
            np.testing.assert_allclose(ms.jacrev(chosen)(Tensor(Y)).asnumpy(), np.diag(2 * Y))
            np.testing.assert_allclose(ms.jacfwd(chosen)(Tensor(-Y)).asnumpy(), -np.eye(3))


def test_a_reverse_of_ones_own_takes_part():
    class Tripled(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 3,)

    net = Tripled()
    for name in EXECUTIONS:
        with execution(name):
            y = Tensor(Y)
            made = ms.vjp(net, y)[1](y)[0], ms.jvp(net, y, y)[1], ms.jacrev(net)(y)
            for mine, expected in zip(made, (Y * 3, Y * 3, np.eye(3) * 3), strict=True):
                np.testing.assert_allclose(mine.asnumpy(), expected)


def test_bad_products_are_refused():
    x, y = Tensor(X), Tensor(Y)
    with pytest.raises(ValueError, match=r"directions of shapes .*test_jacobian.py:\d+"):
        ms.jvp(ops.relu, x, y)
    with pytest.raises(ValueError, match="1 outputs, but 2 gradients"):
        ms.vjp(ops.relu, x)[1](x, x)
    with pytest.raises(ValueError, match="number of one of the 1 inputs"):
        ms.jacrev(ops.relu, 4)(x)
    with pytest.raises(TypeError, match="grad_position"):
        ms.jacfwd(ops.relu, 0.5)
    with pytest.raises(TypeError, match="must name inputs"):
        ms.jacfwd(ops.relu, None)
    with pytest.raises(TypeError, match="function or a Cell"):
        ms.vjp(3, x)


# -- vmap ------------------------------------------------------------------------------------


def test_axes_of_inputs_and_outputs():
    def everything(x, y):
        return (
            ms.vmap(lambda a, b: a * b, (0, None))(x, y),
            ms.vmap(lambda a: a * 2, 1, 1)(x),
            ms.vmap(lambda a: a.sum(), -1)(x),
            ms.vmap(lambda a: (a * 2, a.sum(), y, 3.0), 0, (1, 0, None, 0))(x),
            ms.vmap(lambda a: (a, y))(x),
            ms.vmap(lambda pair: pair[0] * pair[1], ((0, None),))((x, y)),
            ms.vmap(ms.vmap(lambda a, b: a * b, (0, None)), (None, 0))(y, y),
        )

    expected = (
        X * Y,
        X * 2,
        X.sum(0),
        ((X * 2).T, X.sum(1), Y, np.full(2, 3.0, np.float32)),
        (X, np.stack((Y, Y))),
        X * Y,
        np.outer(Y, Y),
    )
    agree(run_everywhere(everything, X, Y), expected)


def test_vmap_and_gradients_in_both_orders():
    def steep(a):
        return (ops.tanh(a) ** 2).sum()

    def steep_of_jax(a):
        return (jnp.tanh(a) ** 2).sum()

    def everything(x, y):
        rows = ms.vmap(ms.grad(steep))(x)
        through = ms.grad(lambda x, y: ms.vmap(lambda a: steep(a * y))(x).sum(), (0, 1))(x, y)
        per_row = ms.vmap(ms.value_and_grad(lambda a, b: steep(a * b), (0, 1)), (0, None))(x, y)
        return rows, through, per_row

    expected = (
        jax.vmap(jax.grad(steep_of_jax))(X),
        jax.grad(lambda x, y: jax.vmap(lambda a: steep_of_jax(a * y))(x).sum(), (0, 1))(X, Y),
        jax.vmap(jax.value_and_grad(lambda a, b: steep_of_jax(a * b), (0, 1)), (0, None))(X, Y),
    )
    agree(run_everywhere(everything, X, Y), expected)


def test_a_cell_and_its_parameters():
    """Per-example gradients of a network, against a loop over the examples."""
    net = nn.SequentialCell([nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 1)])
    weights = net.trainable_params()
    gradient = ms.grad(lambda x: net(x).sum(), None, weights)
    images = np.random.RandomState(3).randn(3, 2, 1, 6, 6).astype(np.float32)
    layer = nn.Conv2d(1, 2, 3)

    def rows(x, images):
        return ms.vmap(gradient)(x), ms.vmap(layer)(images)

    each = [as_numpy(gradient(Tensor(row))) for row in X]
    expected = tuple(np.stack(parts) for parts in zip(*each, strict=True))
    convolved = np.stack([layer(Tensor(image)).asnumpy() for image in images])
    agree(run_everywhere(rows, X, images), (expected, convolved))


def test_a_list_of_cells_is_mapped_member_by_member():
    cells = nn.CellList([nn.Dense(3, 2) for _ in range(2)])
    own = np.stack([cell(Tensor(row)).asnumpy() for cell, row in zip(cells, X, strict=True)])
    same = np.stack([cell(Tensor(Y)).asnumpy() for cell in cells])

    def both(x, y):
        return ms.vmap(cells)(x), ms.vmap(cells, None)(y)

    agree(run_everywhere(both, X, Y), (own, same))
    by_weights = ms.grad(lambda x: ms.vmap(cells)(x).sum(), None, cells.trainable_params())
    for number, gradient in enumerate(by_weights(Tensor(X))[::2]):
        np.testing.assert_allclose(gradient.asnumpy(), np.stack((X[number], X[number])), rtol=1e-6)


class _Step(nn.Cell):
    """A network with its own optimiser."""

    def __init__(self, number):
        super().__init__(auto_prefix=False)
        ms.set_seed(number)
        self.net = nn.SequentialCell([nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 1)])
        self.optimizer = nn.Adam(self.net.trainable_params(), 0.05)
        self.gradient = ms.value_and_grad(self.loss, None, self.optimizer.parameters)

    def loss(self, x):
        return (self.net(x) ** 2).mean()

    def construct(self, x):
        loss, slopes = self.gradient(x)
        self.optimizer(slopes)
        return loss


@pytest.mark.parametrize("mode", ["pynative", "jit"])
def test_an_ensemble_with_optimisers_is_trained_at_once(mode):
    """Oracle: each network trained by itself."""
    x = Tensor(np.random.RandomState(1).randn(5, 3).astype(np.float32))
    alone, together = ([_Step(number) for number in range(3)] for _ in range(2))
    mapped = ms.vmap(nn.CellList(together), None)
    train = ms.jit(mapped) if mode == "jit" else mapped
    for _ in range(5):
        expected = [float(step(x)) for step in alone]
        np.testing.assert_allclose(train(x).asnumpy(), expected, rtol=1e-5)
    for one, other in zip(alone, together, strict=True):
        for p, q in zip(one.get_parameters(), other.get_parameters(), strict=True):
            np.testing.assert_allclose(p.asnumpy(), q.asnumpy(), rtol=1e-4, atol=1e-6)


def test_what_an_ensemble_assigns_is_each_ones_own():
    """Oracle: NumPy."""

    class Keep(nn.Cell):
        def __init__(self, shared=None):
            super().__init__()
            self.kept = Parameter(Tensor([0.0, 1.0, 2.0]), name="kept")
            self.shared = shared

        def construct(self, x):
            ops.assign(self.kept, x)
            self.kept += 1.0
            return self.kept * 2

    cells = [Keep() for _ in range(3)]

    def everything(x):
        doubled = ms.vmap(cells)(x)
        return (doubled, *[cell.kept for cell in cells])

    x = np.arange(9, dtype=np.float32).reshape(3, 3)
    agree(run_everywhere(everything, x), (2 * (x + 1), *(x + 1)))
    shared = Parameter(Tensor([1.0]), name="shared")
    with pytest.raises(ValueError, match="share Parameter"):
        ms.vmap([Keep(shared), Keep(shared), Keep(Parameter(Tensor([2.0]), name="own"))])(Tensor(x))
    with pytest.raises(ValueError, match="the list is empty"):
        ms.vmap([])


def test_a_mapped_function_is_remembered():
    p = Parameter(Tensor(Y), name="p")
    step = ms.jit(lambda x: ms.vmap(lambda a: (a * p).sum())(x))
    for number in range(5):
        p.set_data(Tensor(Y + number))
        np.testing.assert_allclose(step(Tensor(X)).asnumpy(), X @ (Y + number), rtol=1e-5)
    assert ms.debug.ledger().counts.replays >= 2


def test_state_inside():
    """What is assigned must be the same for all rows; random numbers are."""
    p = Parameter(Tensor(1.0), name="p")

    def counted(a):
        p.set_data(p + 1)
        return a * p

    for name in EXECUTIONS:
        with execution(name):
            p.set_data(Tensor(1.0))
            np.testing.assert_allclose(ms.vmap(counted)(Tensor(X)).asnumpy(), X * 2)
            assert float(p) == 2.0
            ms.set_seed(3)
            drawn = ms.vmap(lambda a: a * 0 + ops.rand(3))(Tensor(X)).asnumpy()
            np.testing.assert_array_equal(drawn[0], drawn[1])
            assert len(set(drawn[0])) == 3
            again = ops.rand(3).asnumpy()
            assert not np.array_equal(again, drawn[0])
            with pytest.raises(TypeError, match="Parameter 'p' was assigned values that differ"):
                ms.vmap(lambda a: p.set_data(a.sum()))(Tensor(X))
            assert float(p) == 2.0


def test_values_of_rows_cannot_be_seen():
    outside = Tensor(2.0)
    for name in EXECUTIONS:
        with execution(name):
            with pytest.raises(TypeError, match=r"stands for many rows.*test_jacobian.py:\d+"):
                ms.vmap(lambda a: a if a.sum() > 0 else -a)(Tensor(X))
            with pytest.raises(TypeError, match="stands for many rows"):
                ms.vmap(lambda a: print(a))(Tensor(X))
            # What does not depend on a row can.
            made = ms.vmap(lambda a: a * float(outside))(Tensor(X))
            np.testing.assert_allclose(made.asnumpy(), X * 2)


def test_many_operators_of_a_row(monkeypatch):
    """More than a segment takes: what is recorded of a row is not run for it."""
    for module in (stream, dispatch, vmap_module):
        monkeypatch.setattr(module, "MOST_OUTPUTS", 100)

    def long(a):
        for _ in range(120):
            a = ops.sin(a) + a * 0.5
        return a

    expected = X[0]
    for _ in range(120):
        expected = np.sin(expected) + expected * np.float32(0.5)
    made = ms.vmap(long)(Tensor(X[:1])).asnumpy()[0]
    np.testing.assert_allclose(made, expected, rtol=1e-4)
    with pytest.raises(TypeError, match="stands for many rows"):
        ms.vmap(lambda a: float(long(a).sum()))(Tensor(X[:1]))


def test_a_reverse_written_for_one_row():
    class Tripled(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 3,)

    net = Tripled()
    inside = ms.vmap(ms.grad(net))(Tensor(X))
    np.testing.assert_allclose(inside.asnumpy(), np.full((2, 3), 3.0))
    with pytest.raises(NotImplementedError, match=r"vmap\(grad\(f\)\)"):
        ms.grad(lambda x: ms.vmap(net)(x).sum())(Tensor(X))
    # Nothing is left behind.
    np.testing.assert_allclose(ms.grad(net)(Tensor(Y)).asnumpy(), np.full(3, 3.0))


def test_bad_maps_are_refused():
    x, y = Tensor(X), Tensor(Y)
    with pytest.raises(ValueError, match=r"1 in_axes for 2 inputs \(at .*test_jacobian.py"):
        ms.vmap(ops.mul, (0,))(x, y)
    with pytest.raises(ValueError, match="they have 2 and 3"):
        ms.vmap(ops.mul)(x, y)
    with pytest.raises(ValueError, match="they have none"):
        ms.vmap(ops.mul, (None, None))(x, y)
    with pytest.raises(ValueError, match="out of bounds for input 0"):
        ms.vmap(ops.relu, 5)(x)
    with pytest.raises(ValueError, match="in_axes of vmap is None"):
        ms.vmap(ops.relu, None)
    with pytest.raises(ValueError, match="differs by row"):
        ms.vmap(lambda a: (a, a), 0, (0, None))(x)
    with pytest.raises(TypeError, match="An axis in out_axes"):
        ms.vmap(ops.relu, 0, 0.5)
    with pytest.raises(TypeError, match="function, a Cell or a CellList"):
        ms.vmap(3)


def test_the_gradient_of_the_output_may_be_given():
    """Oracle: what MindSpore 2.10 returns for these, and JAX."""

    def everything(x, v):
        square = lambda a: a * a  # noqa: E731
        return (
            ms.grad(square, sens_param=True)(x, v),
            ms.grad(square, sens_param=True)(x, sens=v),
            ms.value_and_grad(square, sens_param=True)(x, v),
            ms.grad(lambda a: (a * a, a), sens_param=True)(x, (v, v)),
        )

    expected = 2 * Y * X, 2 * Y * X, (Y * Y + 0 * X, 2 * Y * X), 2 * Y * X + X
    y = np.broadcast_to(Y, X.shape)
    agree(run_everywhere(everything, np.array(y), X), expected)
    with pytest.raises(TypeError, match="as last input or as sens="):
        ms.grad(lambda a: a, sens_param=True)(Tensor(X))
