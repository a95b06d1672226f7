# SPDX-License-Identifier: Apache-2.0
"""Known surprises, pinned: where we depart from MindSpore or from plain Python, and how."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops


def test_a_slice_shares_what_is_written_into_it():
    """MindSpore 2.10 gives views that share storage both ways. Here what is written into the part
    reaches the whole, and the part does not see what is written into the whole later."""
    x = Tensor([1.0, 2.0, 3.0])
    part = x[1:]
    part[0] = 9.0
    assert x.asnumpy().tolist() == [1.0, 9.0, 3.0]
    x[2] = 7.0
    assert part.asnumpy().tolist() == [9.0, 3.0]


def test_asnumpy_is_a_copy():
    """MindSpore shares memory with the array; a change of it does not reach the Tensor here."""
    x = Tensor([1.0, 2.0])
    array = x.asnumpy()
    array[0] = 5.0
    assert x.asnumpy().tolist() == [1.0, 2.0]


def test_set_data_refuses_another_shape():
    """MindSpore 2.10 accepts it; CONTRACT makes it an error unless slice_shape is given."""
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    with pytest.raises(ValueError, match="slice_shape=True"):
        p.set_data(Tensor([1.0]))
    p.set_data(Tensor([1.0]), slice_shape=True)
    assert p.shape == (1,)


def test_a_real_number_that_became_an_integer_passes_no_gradient():
    """MindSpore sends the gradient through the cast as if it were the identity."""
    gradient = ms.grad(lambda x: x.astype(ms.int32).astype(ms.float32) * 3.0)(Tensor([1.5]))
    assert gradient.asnumpy().tolist() == [0.0]


def test_a_fresh_cell_is_in_prediction():
    """MindSpore 2.10 says phase 'train' beside training == False; CONTRACT settles 'predict'."""
    cell = nn.ReLU()
    assert (cell.training, cell.phase) == (False, "predict")


def test_differently_cut_programs_may_differ_in_the_last_bit():
    """A read in the middle makes two executables of one; XLA then rounds differently."""
    x = np.random.RandomState(0).randn(64).astype(np.float32)

    def f(x, look):
        y = ops.exp(x) * 0.1 + x
        if look:
            y.asnumpy()
        return (y / (1.0 + ops.exp(-y))).sum()

    whole, cut = (float(f(Tensor(x), look)) for look in (False, True))
    assert whole == pytest.approx(cut, rel=2e-6)


def test_lengths_and_spreads_have_the_derivative_0_at_0():
    """MindSpore has NaN for some of them and 0 for others; 0 is a subgradient of every norm."""
    functions = [ops.norm, ops.std, lambda x: ops.vector_norm(x, 3), lambda x: ops.norm(x, 1)]
    for function in (
        *functions,
        lambda x: ops.hypot(x, x).sum(),
        lambda x: nn.RMSELoss()(x, x * 0),
    ):
        assert ms.grad(function)(Tensor([0.0, 0.0])).asnumpy().tolist() == [0.0, 0.0]


def test_a_power_of_0_has_the_derivative_0():
    """MindSpore has NaN at 0 for x ** 0 and ops.pow(x, 0.0), and 0 for mint.pow(x, 0.0)."""
    for function in (lambda x: x**0, lambda x: x**0.0, lambda x: ops.pow(x, Tensor(0.0))):
        assert ms.grad(function)(Tensor([0.0, 2.0])).asnumpy().tolist() == [0.0, 0.0]


def test_running_products_have_derivatives_beside_zeros():
    """MindSpore divides by the zero: NaN."""
    slope = ms.grad(lambda x: ops.cumprod(x, 0))(Tensor([2.0, 0.0, 3.0]))
    assert slope.asnumpy().tolist() == [1.0, 8.0, 0.0]


def test_zero_infinity_makes_an_infinite_ctc_loss_0():
    """MindSpore's CPU build ignores it; without it both have infinity, and NaN for slopes."""
    logs, ones = ops.log_softmax(ops.zeros((2, 1, 3), ms.float32)), Tensor([[1, 1]])

    def loss(x, zero):
        return ops.ctc_loss(x, ones, Tensor([2]), Tensor([2]), 0, "sum", zero)[0]

    for zero, value, slope in ((True, 0.0, 0.0), (False, np.inf, np.nan)):
        found = ms.value_and_grad(loss)(logs, zero)
        assert float(found[0]) == value
        np.testing.assert_array_equal(found[1].asnumpy(), np.full((2, 1, 3), slope))


def test_a_row_without_labels_teaches_nothing():
    """MindSpore's derivative is softmax(x) there, though the loss is 0 whatever x is."""
    x, labels = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[0.0, 0.0], [0.0, 1.0]])
    slope = ms.grad(lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, labels)[0])(x).asnumpy()
    assert slope[0].tolist() == [0.0, 0.0]
    assert slope[1].any()


def test_what_changes_rows_in_place_returns_a_snapshot():
    """MindSpore's result shares its memory with the Parameter; values never change here."""
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    made = ops.scatter_add(p, Tensor([0]), Tensor([9.0]))
    ops.assign_add(p, Tensor([1.0, 1.0]))
    assert (made.asnumpy().tolist(), p.asnumpy().tolist()) == ([10.0, 2.0], [11.0, 3.0])


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_is_a_number_with_every_numpy(shape):
    """From NumPy 2.4 on an array with dimensions is no number; a Tensor of one element is, as in
    MindSpore. The array that `asnumpy` gives is NumPy's own."""
    x = Tensor(np.full(shape, 3.0, np.float32))
    assert (int(x), float(x), complex(x)) == (3, 3.0, 3 + 0j)
    assert [10, 11, 12, 13][x.astype(ms.int32)] == 13
    assert type(x.asnumpy()) is np.ndarray
    if shape and np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        with pytest.raises(TypeError, match="0-dimensional"):
            int(x.asnumpy())


def test_jax_asks_for_numpy_2():
    """Why NumPy 1.26 cannot be used (docs/from_mindspore.md)."""
    for name in ("jax", "jaxlib"):
        asked = [text for text in metadata.requires(name) if text.startswith("numpy")]
        assert asked and all(">=2" in text for text in asked)
