# SPDX-License-Identifier: Apache-2.0
"""Rearranging, joining, picking, placing and sorting, against MindSpore 2.10 and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import Parameter, Tensor, ops
from mycel.kernel.spell import namespaces
from support.recorded_operators import agrees, cases

# What stands in other tests, or is not there.
WITHOUT = {
    "ops.adjoint(x0)": "linear algebra",
    "x0.resize(2, 2)": "writes into the memory of a Tensor",
}
# These give Python numbers, or make a Parameter inside: nothing is left to be replayed.
NOT_REPLAYED = ("ops.shape", "ops.rank", "ops.size", "ops.Shape", "ops.Rank", "ops.Size",
                "ops.dyn_shape", "ops.index_add", "ops.scatter_div")  # fmt: skip


def numbers(*shape, seed=0, dtype=np.float32):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def mint(name):
    """A function of `mint` by its name."""
    return namespaces["mint"][name]


@pytest.mark.parametrize(("case", "recorded"), list(cases("shapes", "gathering", without=WITHOUT)))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded, replayed=not case.expression.startswith(NOT_REPLAYED))


# Function of Tensors -> the same in NumPy, for x of shape (2, 3, 4).
AGAINST_NUMPY = {
    "roll_all": (lambda x: ops.roll(x, 5), lambda x: np.roll(x, 5)),
    "roll_two": (lambda x: ops.roll(x, (1, -2), (0, 2)), lambda x: np.roll(x, (1, -2), (0, 2))),
    "repeat": (lambda x: x.repeat(2, 1, 3), lambda x: np.tile(x, (2, 1, 3))),
    "repeat_longer": (lambda x: x.repeat((2, 1, 1, 3)), lambda x: np.tile(x, (2, 1, 1, 3))),
    "interleave": (
        lambda x: x.repeat_interleave([2, 0, 3], 1), lambda x: np.repeat(x, [2, 0, 3], 1),
    ),
    "rot90": (lambda x: ops.rot90(x, 3, (1, 2)), lambda x: np.rot90(x, 3, (1, 2))),
    "fliplr": (ops.fliplr, np.fliplr),
    "flipud": (ops.flipud, np.flipud),
    "dstack": (lambda x: ops.dstack((x, x)), lambda x: np.dstack((x, x))),
    "column_stack": (
        lambda x: ops.column_stack((x[0, 0], x[1, 0])),
        lambda x: np.column_stack((x[0, 0], x[1, 0])),
    ),
    "cat_promotes": (
        lambda x: ops.cat((x, x.astype(ms.float64))),
        lambda x: np.concatenate((x, x.astype(np.float64))),
    ),
    "tensor_split": (
        lambda x: x.tensor_split([1, -1], axis=2), lambda x: np.array_split(x, [1, 3], 2),
    ),
    "hsplit": (lambda x: ops.hsplit(x, 3), lambda x: np.hsplit(x, 3)),
    "vsplit": (lambda x: ops.vsplit(x, 2), lambda x: np.vsplit(x, 2)),
    "dsplit": (lambda x: ops.dsplit(x, (1,)), lambda x: np.dsplit(x, (1,))),
    "diag_embed": (lambda x: ops.diag_embed(x[0, 0], 1), lambda x: np.diag(x[0, 0], 1)),
    "diagflat": (lambda x: ops.diagflat(x[0], -2), lambda x: np.diagflat(x[0], -2)),
    "diagonal": (
        lambda x: x.diagonal(1, 2, 1), lambda x: np.diagonal(x, 1, 2, 1),
    ),
    "diag_part": (
        lambda x: ops.DiagPart()(x.reshape(2, 2, 6)[:, :, :4].reshape(2, 2, 2, 2)),
        lambda x: np.einsum("abab->ab", x.reshape(2, 2, 6)[:, :, :4].reshape(2, 2, 2, 2)),
    ),
    "mint_diag": (lambda x: mint("diag")(x[0], 1), lambda x: np.diag(x[0], 1)),
    "mint_t": (lambda x: mint("t")(x[0]), lambda x: x[0].T),
    "mint_transpose": (lambda x: mint("transpose")(x, 0, -1), lambda x: np.swapaxes(x, 0, -1)),
    "pad_symmetric": (
        lambda x: ops.MirrorPad("SYMMETRIC")(x, ((1, 2), (0, 0), (3, 1))),
        lambda x: np.pad(x, ((1, 2), (0, 0), (3, 1)), "symmetric"),
    ),
    "strided_slice_masks": (
        lambda x: ops.strided_slice(x, (0, 1, 1), (1, 2, 4), (1, 1, 2), 1, 2, 0, 0, 4),
        lambda x: x[:1, 1:, 1],
    ),
    "msort": (ops.msort, lambda x: np.sort(x, 0)),
    "nonzero_tuple": (
        lambda x: ops.nonzero(x > 0, as_tuple=True), lambda x: np.nonzero(x > 0),
    ),
    "take_flat": (lambda x: ops.take(x, Tensor([[3, -1]])), lambda x: np.take(x, [[3, -1]])),
    "masked_fill_number": (
        lambda x: ops.masked_fill(x, x > 0, 7), lambda x: np.where(x > 0, np.float32(7), x),
    ),
    "gather_batch_grid": (
        lambda x: ops.gather(x, Tensor([[[0, 1], [2, 2]], [[1, 1], [0, 0]]]), 1, 1),
        lambda x: np.stack([x[0][[[0, 1], [2, 2]]], x[1][[[1, 1], [0, 0]]]]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AGAINST_NUMPY)
def test_as_numpy(name):
    # Oracle: NumPy.
    function, oracle = AGAINST_NUMPY[name]
    matches(function, lambda x: _plain(oracle(x)), numbers(2, 3, 4))


def _plain(result):
    return tuple(result) if isinstance(result, (list, tuple)) else result


def test_sorting_keeps_the_order_of_equal_elements():
    x = np.array([2, 1, 2, 1, 3], np.int32)
    order = np.argsort(x, kind="stable").astype(np.int32)
    matches(lambda x: ops.sort(x), lambda x: (x[order], order), x)
    down = np.array([4, 0, 2, 1, 3], np.int32)
    matches(lambda x: x.argsort(descending=True), lambda x: down, x)


def test_unsigned_and_smallest_topk():
    x = np.array([3, 200, 7], np.uint8)
    values, places = ops.topk(Tensor(x), 2, largest=False)
    assert values.asnumpy().tolist() == [3, 7]
    assert places.asnumpy().tolist() == [0, 2]


def test_gradients_flow_through_scatter_to_both():
    # Oracle: the derivative by hand.
    def function(x, updates):
        y = ops.tensor_scatter_update(x, Tensor([[1], [0]]), updates)
        return (y * y).sum()

    x, updates = numbers(3, 2), numbers(2, 2, seed=1)
    expected = np.concatenate([np.zeros((2, 2)), 2 * x[2:]]), 2 * updates
    matches(ms.grad(function, (0, 1)), lambda *_: tuple(e.astype(np.float32) for e in expected),
            x, updates)  # fmt: skip


def test_positions_may_be_differentiated_beside_values():
    # An integer input of a derivative leaves the gradient of the others alone.
    both = ms.ops.GradOperation(get_all=True)
    for function in (
        lambda x, i: ops.gather(x, i, 0).sum(),
        lambda x, i: x[i].sum(),
        lambda x, i: ops.index_select(x, 0, i).sum(),
        lambda x, i: ops.gather_nd(x, i.expand_dims(-1)).sum(),
        lambda x, i: ops.tensor_scatter_add(x * 0, i.expand_dims(-1), x[:2]).sum(),
    ):
        slope, zero = both(function)(Tensor(numbers(3, 2)), Tensor([0, 1]))
        assert slope.asnumpy().tolist() == [[1, 1], [1, 1], [0, 0]]
        assert zero.asnumpy().tolist() == [0, 0]


def test_in_place_updates_of_a_parameter():
    parameter = Parameter(Tensor([1.0, 2.0, 3.0]), name="p")
    made = ops.scatter_update(parameter, Tensor([0]), Tensor([7.0]))
    assert made.asnumpy().tolist() == parameter.asnumpy().tolist()
    ops.scatter_add(parameter, Tensor([1]), Tensor([1.0]))
    ops.ScatterNdUpdate()(parameter, Tensor([[2]]), Tensor([5.0]))
    assert parameter.asnumpy().tolist() == [7, 3, 5]


def test_shapes_one_after_another_or_by_name():
    """Oracle: NumPy's shapes."""
    x = Tensor(numbers(2, 3))
    for call, shape in (
        (lambda: x.reshape(3, 2), (3, 2)),
        (lambda: x.reshape((3, -1)), (3, 2)),
        (lambda: x.reshape(shape=[3, 2]), (3, 2)),
        (lambda: x.broadcast_to(shape=(4, 2, 3)), (4, 2, 3)),
        (lambda: x.expand(4, -1, 3), (4, 2, 3)),
    ):
        assert call().shape == shape
    with pytest.raises(TypeError, match=r"\(3, 2, \(3, 2\)\) was given"):
        x.reshape(3, 2, shape=(3, 2))


ERRORS = {
    "cannot take the shape (4, 2)": lambda x: x.reshape(4, 2),
    "is not a permutation of the dimensions": lambda x: ops.transpose(x, (0, 0)),
    "There is no axis 5 in 2 dimensions; use -2 to 1": lambda x: ops.squeeze(x, 5),
    "cannot be broadcast to (3, 2)": lambda x: x.broadcast_to((3, 2)),
    "needs shapes that agree elsewhere, not (2, 3), (3,)": lambda x: ops.cat((x, x[0])),
    "stack needs equal shapes": lambda x: ops.stack((x, x[0])),
    "do not add up to 3": lambda x: ops.split(x, [1, 1], 1),
    "k must be from 0 to 3": lambda x: ops.topk(x, 9),
    "at most 4, not (1, 2, 3)": lambda x: ops.pad(x, (1, 2, 3)),
    "is too wide for a length 3": lambda x: ops.pad(x, (3, 0), mode="reflect"),
    "Updates for rows (1, 1) into (2, 3) have the shape (1, 3)": lambda x: (
        ops.tensor_scatter_update(x, Tensor([[0]]), Tensor([1.0]))
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_say_what_is_wrong(text):
    with pytest.raises(ValueError) as caught:
        ERRORS[text](Tensor(numbers(2, 3)))
    assert text in str(caught.value)


def test_padding_of_the_last_dimension():
    """Oracle: NumPy; MindSpore 2.10 refuses the same inputs with the same kind of error."""
    x = np.array([[8.0], [10.0]], np.float32)
    matches(
        lambda t: (ops.padding(t, 3), ops.Padding(4)(t)),
        lambda a: (np.pad(a, ((0, 0), (0, 2))), np.pad(a, ((0, 0), (0, 3)))),
        x,
    )
    for bad, size in (([[1.0, 2.0]], 3), ([1.0], 3), ([[1.0]], 0)):
        with pytest.raises(ValueError, match="padding"):
            ops.padding(Tensor(bad), size)


def test_differences_with_ends():
    """Oracle: NumPy."""
    x, end = np.array([[1, 4, 9]], np.int32), np.array([[0]], np.int32)
    matches(
        lambda t, e: (ops.diff(t, prepend=e), t.diff(n=2, append=e), ops.diff(t, 1, 1, e, e)),
        lambda a, b: (
            np.diff(a, prepend=b),
            np.diff(a, 2, append=b),
            np.diff(a, 1, 1, prepend=b, append=b),
        ),
        x,
        end,
    )
