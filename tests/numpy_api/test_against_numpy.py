# SPDX-License-Identifier: Apache-2.0
"""`mycel.numpy` where MindSpore has no answer or a wrong one: against NumPy and differences."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
import mycel.numpy as mnp
from harness import assert_close, execution, matches
from mycel import Tensor
from support.recorded_operators import gradients_by_differences

TABLE = np.array([[0.5, -1.5, 2.25, 1.0], [-0.75, 1.0, -2.5, 0.25]], np.float32)
WHOLE = np.array([[3, -2, 5], [0, 4, -6]], np.int32)

ALONG_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
ALONG_SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def single(x):
    """In single precision."""
    return x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)


# Inputs, the function and its oracle; each gives a tuple, so that one program is compiled.
CASES = {
    "odd_values": (
        (np.array([0.0, 8.0, -np.inf, 1000.0], np.float32),),
        lambda x: (mnp.cbrt(x), mnp.sign(x), mnp.logaddexp(x, x), mnp.logaddexp2(x, x)),
        lambda x: (np.cbrt(x), np.sign(x), np.logaddexp(x, x), np.logaddexp2(x, x)),
    ),
    "no_numbers": (
        (np.array([[np.nan, np.nan], [1.0, np.nan]], np.float32),),
        lambda x: (mnp.nanmax(x, 1), mnp.nanmin(x, 0), mnp.nanmean(x, 1)),
        lambda x: (np.float32([np.nan, 1]), np.float32([1, np.nan]), np.float32([np.nan, 1])),
    ),
    "means_of_integers": (
        (WHOLE,),
        lambda x: (mnp.mean(x, dtype=ms.float32), mnp.std(x), mnp.var(x, 0, 1)),
        lambda x: (
            np.mean(x, dtype=np.float32), np.float32(np.std(x)),
            np.var(x, 0, ddof=1).astype(np.float32),
        ),
    ),
    "numbers_and_lists": (
        (WHOLE,),
        lambda x: (mnp.multiply(x, 2), mnp.multiply(1.5, x), mnp.float_power(x, 2),
                   mnp.add(x, np.float32([1, 2, 3])), mnp.sin(1.0), mnp.dot(x, [1.0, 2, 3]),
                   mnp.maximum(x, [1, 2, 3]), mnp.cumsum([1, 2]), mnp.flip([1, 2])),
        lambda x: (x * 2, np.float32(1.5 * x), np.float32(x) ** 2,
                   np.float32(x + [1, 2, 3]), np.float32(np.sin(1)), np.float32(x @ [1, 2, 3]),
                   np.maximum(x, np.int32([1, 2, 3])), np.int32([1, 3]), np.int32([2, 1])),
    ),
    "vectors_in_the_plane": (
        (TABLE,),
        lambda x: (mnp.cross(x[0, :2], x[1, :2]), mnp.cross(x[:, :2], x[:, 2:])),
        lambda x: (x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0], x[:, 0] * x[:, 3] - x[:, 1] * x[:, 2]),
    ),
    "pieces": (
        (TABLE,),
        lambda x: (mnp.piecewise(x, [x < 0], [-1.0, lambda x: x * 2]),
                   mnp.piecewise(x, x < 0, [lambda x, n: x * n], 3.0),
                   mnp.select([x < 0], [x], 5.0)),
        lambda x: (np.piecewise(x, [x < 0], [-1.0, lambda x: x * 2]),
                   np.piecewise(x, [x < 0], [lambda x: x * 3]),
                   np.select([x < 0], [x], 5).astype(np.float32)),
    ),
    "padding_by_a_function": (
        (TABLE,),
        lambda x: mnp.pad(x, ((1, 1), (0, 2)), lambda v, widths, axis, more: v + more["by"], by=2),
        lambda x: np.pad(x, ((1, 1), (0, 2))) + np.float32(4),
    ),
    "matrices": (
        (TABLE[:, :2],),
        lambda x: (mnp.matrix_power(x, -2), mnp.norm(x, "nuc"), mnp.norm(x, 2), mnp.norm(x, -2)),
        lambda x: (np.linalg.matrix_power(x, -2),
                   *(np.linalg.norm(x, order) for order in ("nuc", 2, -2))),
    ),
    "dtype_of_what_is_filled": (
        (WHOLE,),
        lambda x: (mnp.full((2, 3), x, ms.float32), mnp.full_like(x, Tensor(2.5)),
                   mnp.arange(3, 1), mnp.arange(0), mnp.array(np.float64([1, 2])),
                   mnp.randint(3, 4, (2,), ms.int8)),
        lambda x: (x.astype(np.float32), np.full_like(x, 2), np.int32([]), np.int32([]),
                   np.float64([1, 2]), np.int8([3, 3])),
    ),
    "transforms": (
        (TABLE,),
        lambda x: (
            *(getattr(mnp.fft, name)(x, axis=0) for name in ALONG_ONE),
            *(getattr(mnp.fft, name)(x, axes=(0, 1)) for name in ALONG_SEVERAL),
            mnp.fft.fft(x, 3, -1, "ortho"), mnp.fft.fft2(x, (3, 3)),
            mnp.fft.fftshift(x), mnp.fft.ifftshift(x, 1),
            mnp.fft.fftfreq(4), mnp.fft.rfftfreq(5, 0.5),
        ),
        lambda x: (
            *(single(getattr(np.fft, name)(x, axis=0)) for name in ALONG_ONE),
            *(single(getattr(np.fft, name)(x, axes=(0, 1))) for name in ALONG_SEVERAL),
            single(np.fft.fft(x, 3, -1, "ortho")), single(np.fft.fft2(x, (3, 3))),
            np.fft.fftshift(x), np.fft.ifftshift(x, 1),
            single(np.fft.fftfreq(4)), single(np.fft.rfftfreq(5, 0.5)),
        ),
    ),
    "transforms_of_mirrors": (
        (TABLE,),
        lambda x: (mnp.fft.hfftn(mnp.fft.ihfftn(x)), mnp.fft.hfft2(mnp.fft.ihfft2(x))),
        lambda x: (x, x),
    ),
    "dividing_by_zero": (
        (WHOLE,),
        lambda x: (mnp.remainder(x, 0), mnp.fmod(x, 0), mnp.gcd(x, 0), mnp.lcm(x, 4.0)),
        lambda x: (x * 0, x * 0, np.gcd(x, 0), np.lcm(x, 4).astype(np.float32)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    # Oracle: NumPy.
    inputs, function, oracle = CASES[name]
    matches(function, oracle, *inputs)


def test_the_type_of_unsigned_and_real_numbers():
    # Oracle: NumPy; MindSpore has Float32, which cannot hold either.
    assert mnp.promote_types("uint16", "float64") is ms.float64


def test_derivatives_that_mindspore_lacks():
    # Oracle: central differences.
    x, y = TABLE.astype(np.float64), np.array([0.5, -1.0, 2.0])
    weights = np.arange(1.0, 200.0)

    def function(x, y):
        parts = (
            mnp.flip(x), mnp.rot90(x), mnp.pad(x, 1, "reflect"), mnp.pad(x, 2, "edge"),
            mnp.pad(x, 1, "symmetric"), mnp.select([x < 0, x > 2], mnp.stack((x, x * x))),
            mnp.convolve(x[0], y), mnp.correlate(x[1], y, "full"), mnp.choose([0, 1, 1, 0], x * x),
            mnp.multi_dot((x, mnp.transpose(x), x)),
        )  # fmt: skip
        flat = mnp.concatenate([mnp.ravel(part) for part in parts])
        return (flat * Tensor(weights[: flat.size])).sum()

    gradients = ms.grad(function, (0, 1))
    expected = gradients_by_differences(function, [x, y])
    for mode in ("fused", "graph"):
        with execution(mode):
            for _ in range(3):
                found = gradients(Tensor(x), Tensor(y))
        for actual, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(actual.asnumpy(), right, 1e-6)


def test_lists_of_tensors_carry_gradients():
    # Oracle: the derivative by hand.
    def function(x, y):
        return mnp.sum(mnp.square(mnp.array([x, y])))

    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    found = ms.grad(function, (0, 1))(x, y)
    assert_close([part.asnumpy() for part in found], [np.float32([2, 4]), np.float32([6, 8])])


def test_drawn_numbers_follow_their_distributions():
    # Oracle: the moments of the distributions.
    ms.set_seed(3)
    uniform, normal = mnp.rand(2000).asnumpy(), mnp.randn(2000).asnumpy()
    assert uniform.min() >= 0
    assert uniform.max() < 1
    np.testing.assert_allclose([uniform.mean(), normal.mean(), normal.std()], [0.5, 0, 1], 0, 0.06)
    assert set(mnp.randint(2, 5, (200,)).tolist()) == {2, 3, 4}
    ms.set_seed(3)
    assert (mnp.rand(2000).asnumpy() == uniform).all()


TEXTS = {
    "where": (
        lambda x: mnp.where(x > 0), TypeError,
        "x and y must be given both (argwhere finds the positions of what is not zero), but one "
        "value alone was given at ",
    ),
    "axis": (
        lambda x: mnp.roll(x, 1, 5), ValueError,
        "axis must be from -2 to 1, but 5 was given at ",
    ),
    "array": (
        lambda x: mnp.add(x, "1"), TypeError,
        "x2 must be a number, a nested list of numbers or a Tensor, but str was given at ",
    ),
    "mode": (
        lambda x: mnp.take(x, Tensor([0]), mode="raise"), ValueError,
        "mode must be 'clip' or 'wrap' (XLA cannot raise), but 'raise' was given at ",
    ),
    "split": (
        lambda x: mnp.split(x, 3, 1), ValueError,
        "indices_or_sections must be a number of pieces of 4 elements, but 3 was given at ",
    ),
    "shapes": (
        lambda x: mnp.broadcast_arrays(x, x[:, :3]), ValueError,
        "The shapes must be such as can be broadcast, but (2, 4), (2, 3) was given at ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_errors_say_what_was_expected(name):
    function, kind, text = TEXTS[name]
    with pytest.raises(kind) as caught:
        function(Tensor(TABLE))
    assert str(caught.value).startswith(text)
    assert __file__ in str(caught.value)
