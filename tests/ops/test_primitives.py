# SPDX-License-Identifier: Apache-2.0
"""Operators as objects: what each Primitive class takes at creation and at the call.

Every class has an answer that MindSpore 2.10 recorded, or, where its CPU build has no kernel, an
oracle here or in another test; a new class without one fails `test_every_class_is_called`.
"""

from __future__ import annotations

import inspect
import pathlib
import re

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import mycel as ms
from fixtures import cases as families
from fixtures import load
from fixtures.case import evaluate
from fixtures.families import primitives as given
from harness import as_numpy, assert_close, matches
from mycel import Parameter, Tensor, ops
from support.recorded_operators import agrees, cases

# What chance gives is not the same here: as far from the recorded moments as chance allows.
FAR = 0.05
CALLED = re.compile(r"\b(?:ops|P|operations|auto_generate)\.([A-Z]\w*)\(")


@pytest.mark.parametrize(("case", "recorded"), list(cases("primitives")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    if recorded.statistics is None:
        agrees(case, recorded)
        return
    ms.set_seed(3)
    found = evaluate(case, ms)
    assert list(found.shape) == recorded.statistics["shape"]
    assert str(found.dtype).lower() == recorded.statistics["dtype"]
    values = found.asnumpy().astype(np.float64)
    figures = recorded.statistics["statistics"]
    wide = max(figures["std"], 1.0)
    assert abs(values.mean() - figures["mean"]) < FAR * wide
    assert abs(values.std() - figures["std"]) < FAR * wide


def turned(x):
    """(a, b) to (-b, a), for neighbours."""
    pairs = x.reshape(-1, 2)
    return np.stack([-pairs[:, 1], pairs[:, 0]], 1).reshape(x.shape)


def added_and_scaled(x, y, weight):
    total = (x + y).astype(np.float64)
    factor = 1 / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-5)
    return (total * factor * weight).astype("f"), factor.astype("f"), (x + y)


def order(x, axis, descending):
    found = np.argsort(-x if descending else x, axis, kind="stable")
    return np.take_along_axis(x, found, axis), found


def reflected(factors, scales, other):
    """The product of the reflectors below the diagonal, transposed, times a matrix; by SciPy."""
    return scipy.linalg.lapack.sormqr("L", "T", factors, scales, other, 64)[0]


X, Y, ROWS, SQUARE, VECTOR = given.X, given.Y, given.ROWS, given.SQUARE, given.VECTOR
IMAGE, WHOLE = given.IMAGE, given.WHOLE
HALVES = np.split(IMAGE, 2, -1)
# Classes for which MindSpore's CPU build has no kernel: the call, its inputs, and NumPy's answer.
AGAINST_NUMPY = {
    "MatrixExp": (lambda x: ops.MatrixExp()(x), (SQUARE,), scipy.linalg.expm),
    "Fmin": (lambda x, y: ops.Fmin()(x, y), (X, Y), np.fmin),
    "AccumulateNV2": (lambda x, y: ops.AccumulateNV2()((x, y)), (X, Y), np.add),
    "CountNonZero": (
        lambda x: (ops.CountNonZero()(x), ops.CountNonZero([1])(x)),
        (WHOLE,),
        lambda x: (np.int32(5), np.int32([3, 2])),
    ),
    "Einsum": (lambda x, y: ops.Einsum("ij,jk->ik")((x, y)), (X, SQUARE), np.matmul),
    "EuclideanNorm": (
        lambda x: (ops.EuclideanNorm()(x, Tensor([1])), ops.EuclideanNorm(True)(x, (0,))),
        (X,),
        lambda x: (np.linalg.norm(x, axis=1), np.linalg.norm(x, axis=0, keepdims=True)),
    ),
    "GatherV2": (lambda x, i: ops.GatherV2()(x, i, 0), (X, ROWS), lambda x, i: x[i]),
    "LerpScalar": (
        lambda x, y: ops.auto_generate.LerpScalar()(x, y, 0.25),
        (X, Y),
        lambda x, y: x + np.float32(0.25) * (y - x),
    ),
    "Ormqr": (
        lambda *inputs: ops.Ormqr(True, True)(*inputs),
        (given.FACTORS, VECTOR, SQUARE),
        reflected,
    ),
    "Roll": (
        lambda x: (ops.Roll(1, 1)(x), ops.Roll(2)(x)),
        (X,),
        lambda x: (np.roll(x, 1, 1), np.roll(x, 2)),
    ),
    "ScalarToArray": (lambda: ops.ScalarToArray()(3.5), (), lambda: np.float32(3.5)),
    "Swiglu": (
        lambda x: ops.Swiglu()(x, -1),
        (IMAGE,),
        lambda x: HALVES[0] * scipy.special.expit(HALVES[0]) * HALVES[1],
    ),
    "FmodScalar": (
        lambda x: ops.FmodScalar()(x, 0.75), (X,), lambda x: np.fmod(x, np.float32(0.75)),
    ),
    "ArgMaxExt": (
        lambda x: (ops.ArgMaxExt()(x), ops.ArgMaxExt()(x, 1, True)),
        (X,),
        lambda x: (x.argmax(), x.argmax(1, keepdims=True)),
    ),
    "ArgMinExt": (
        lambda x: (ops.ArgMinExt()(x), ops.ArgMinExt()(x, 1, True)),
        (X,),
        lambda x: (x.argmin(), x.argmin(1, keepdims=True)),
    ),
    "CumsumExt": (
        lambda x: (ops.CumsumExt()(x, 1), ops.CumsumExt()(x, 0, ms.float64)),
        (X,),
        lambda x: (x.cumsum(1), x.cumsum(0, np.float64)),
    ),
    "SortExt": (
        lambda x: (ops.SortExt()(x), ops.SortExt()(x, 0, True, True)),
        (X,),
        lambda x: (order(x, -1, False), order(x, 0, True)),
    ),
    "TopkExt": (
        lambda x: (ops.TopkExt()(x, 2), ops.TopkExt()(x, 1, 0, False, True)),
        (X,),
        lambda x: (
            tuple(part[:, :2] for part in order(x, -1, True)),
            tuple(part[:1] for part in order(x, 0, False)),
        ),
    ),
    "StackExt": (
        lambda x, y: ops.StackExt(1)((x, y)), (X, Y), lambda x, y: np.stack((x, y), 1),
    ),
    "OnesLikeExt": (
        lambda x: (ops.OnesLikeExt()(x), ops.OnesLikeExt()(x, ms.int32)),
        (X,),
        lambda x: (np.ones_like(x), np.ones_like(x, np.int32)),
    ),
    "ZerosLikeExt": (
        lambda x: (ops.ZerosLikeExt()(x), ops.ZerosLikeExt()(x, ms.int32)),
        (X,),
        lambda x: (np.zeros_like(x), np.zeros_like(x, np.int32)),
    ),
    "Clone": (lambda x: ops.Clone()(x), (X,), np.copy),
    "Outer": (lambda x, y: ops.Outer()(x, y), (VECTOR, X[0]), np.outer),
    "IndexSelect": (
        lambda x, i: ops.IndexSelect()(x, 0, i), (X, ROWS), lambda x, i: np.take(x, i, 0),
    ),
    "AddRmsNorm": (
        lambda *inputs: ops.AddRmsNorm()(*inputs, 1e-5), (X, Y, VECTOR), added_and_scaled,
    ),
    "RotaryPositionEmbedding": (
        lambda x, c, s: ops.RotaryPositionEmbedding()(x, c, s, 1),
        (IMAGE, np.cos(IMAGE), np.sin(IMAGE)),
        lambda x, c, s: x * c + turned(x) * s,
    ),
    "SparseSegmentMean": (
        lambda x, rows, segments: ops.SparseSegmentMean()(x, rows, segments),
        (X, np.int32([0, 1, 0]), np.int32([0, 0, 1])),
        lambda x, *_: np.stack([x.mean(0), x[0]]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AGAINST_NUMPY)
def test_against_numpy(name):
    call, inputs, oracle = AGAINST_NUMPY[name]
    assert_close(as_numpy(call(*map(Tensor, inputs))), oracle(*inputs), name)


def stepped(operator, names, *rest):
    """Parameters after one step of an optimiser: of twos, ones and fours, as far as named."""
    start = {"w": X, "a": np.abs(Y), "u": np.abs(X) + 1}
    held = [Parameter(Tensor(start[name]), name=name) for name in names]
    operator(*held, *rest)
    return [parameter.asnumpy() for parameter in held]


def test_steps_of_optimisers_without_a_kernel():
    # Oracle: the documented formulas in NumPy.
    w, a, u, g = X, np.abs(Y), np.abs(X) + 1, Y
    speed = np.float32(0.5) * a - np.float32(0.1) * g
    nesterov = ops.ApplyKerasMomentum(use_nesterov=True)
    found = stepped(nesterov, "wa", 0.1, Tensor(g), 0.5)
    assert_close(found, [w + np.float32(0.5) * speed - np.float32(0.1) * g, speed])

    mean = 0.9 * a + 0.1 * g * g
    change = np.sqrt(u + 1e-6) / np.sqrt(mean + 1e-6) * g
    rows = Tensor(np.int32([0, 1]))
    found = stepped(ops.SparseApplyAdadelta(1e-6), "wau", 0.1, 0.9, Tensor(g), rows)
    assert_close(found, [w - 0.1 * change, mean, 0.9 * u + 0.1 * change**2], dtype="float32")

    squares = a + g * g
    rate = 0.1 / np.sqrt(squares)
    moved = w - rate * g
    shrunk = np.sign(moved) * np.maximum(np.abs(moved) - rate * 0.2, 0) / (1 + rate * 0.3)
    found = stepped(ops.SparseApplyProximalAdagrad(), "wa", 0.1, 0.2, 0.3, Tensor(g), rows)
    assert_close(found, [shrunk, squares], dtype="float32")

    norms = [Tensor(np.float32((part**2).sum())) for part in (w, g)]
    scaled = ops.LARSUpdate(1e-3, 0.1)(Tensor(w), Tensor(g), *norms, 0.5, 0.2)
    of_weight, of_gradient = np.linalg.norm(w), np.linalg.norm(g)
    trust = 0.1 * of_weight / (of_gradient + 0.5 * of_weight + 1e-3)
    assert_close(scaled.asnumpy(), np.float32(trust * (g + 0.5 * w)))


def test_distributions_without_a_kernel():
    # Oracle: the moments of the distributions; fifty thousand numbers each.
    drawn = ops.Gamma(seed=3)((50000,), Tensor([2.0]), Tensor([4.0])).asnumpy()
    assert drawn.shape == (50000, 1)
    assert abs(drawn.mean() - 2 / 4) < 0.01
    assert abs(drawn.var() - 2 / 16) < 0.01
    drawn = ops.Poisson(seed=3)((50000,), Tensor([4.0])).asnumpy()
    assert drawn.dtype == np.int32
    assert abs(drawn.mean() - 4) < 0.05
    assert abs(drawn.var() - 4) < 0.2


def test_classes_that_leave_everything_as_it_is():
    # Oracle: the documentation of MindSpore; alone, a process talks to itself.
    first, second = ops.ReLU(), ops.Sqrt()
    assert ops.ControlDepend()(first, second) is None
    assert ops.Barrier()() is None
    x = Tensor(X)
    for found in (ops.Reduce(0)(x), ops.CollectiveGather(0)(x), ops.CollectiveScatter(0)(x)):
        assert_close(found.asnumpy(), X)


def test_what_needs_another_process_says_so():
    for call in (
        lambda: ops.Send(0, 1)(Tensor(X)),
        lambda: ops.Receive(0, 1, (1,), ms.float32)(),
    ):
        with pytest.raises(RuntimeError, match=r"needs another process.*get_group_size\(\) > 1"):
            call()


# -- that all of them are called -----------------------------------------------------------------

# Bases, which are no operators: tested by what is derived from them.
BASES = {"Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer"}


def classes():
    found = {name: getattr(ops, name) for name in dir(ops)}
    return {n for n, c in found.items() if inspect.isclass(c) and issubclass(c, ops.Primitive)}


def called():
    """Names of classes that a recorded case or another test calls."""
    texts = [path.read_text() for path in pathlib.Path(__file__).parents[1].rglob("test_*.py")]
    for family in families.NAMES:
        pairs = load.pairs(family)
        texts += [case.expression + case.program for case, found in pairs if not found.error]
    return set(CALLED.findall("\n".join(texts)))


def test_every_class_is_called():
    assert classes() - called() - BASES == set()


def test_primitives_are_printed_with_what_they_were_made_with():
    # Oracle: MindSpore 2.10, but for arguments that have other names there.
    assert str(ops.Add()) == "Prim[Add]"
    assert ops.DynamicShape()(ms.Tensor([[1, 2]])).asnumpy().tolist() == [1, 2]
    assert str(ops.Add().set_stage(0)) == "Prim[Add]<stage=0>"
    add = ops.Add().add_prim_attr("x", (1, 2)).add_prim_attr("b", True).add_prim_attr("s", "t")
    assert f"{add}" == "Prim[Add]<x=(1, 2), b=True, s=t>"
    assert str(ops.ReduceAll(True)) == "Prim[ReduceAll]<keep_dims=True>"
    assert str(ops.Add().set_device("CPU")) == "Prim[Add]<primitive_target=CPU>"


def test_a_view_with_its_dimensions_in_another_order():
    """Oracle: NumPy."""
    x = np.arange(6.0).reshape(1, 2, 3).astype(np.float32)
    order = (2, 0, 1)
    matches(lambda x: ops.TransposeView()(x, input_perm=order), lambda x: x.transpose(order), x)
