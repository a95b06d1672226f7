# SPDX-License-Identifier: Apache-2.0
"""Resizing, sampling at positions and rearranging pixels."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, ops
from mycel.ops.nn.resizing import resized
from support.recorded_operators import agrees, cases, gradients_by_differences

FUNCTIONAL = ms.mint.nn.functional


def numbers(*shape, seed=0, dtype=np.float32):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("resizing")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


# -- interpolation ----------------------------------------------------------------------------


def along(x, axis, size, corners, step=None):
    """Linear interpolation of one dimension by NumPy."""
    n = x.shape[axis]
    step = n / size if step is None else step
    places = np.linspace(0, n - 1, size) if corners else (np.arange(size) + 0.5) * step - 0.5
    return np.apply_along_axis(lambda line: np.interp(places, np.arange(n), line), axis, x)


@pytest.mark.parametrize("corners", [True, False])
@pytest.mark.parametrize("size", [(3, 4), (12, 10), (40, 9), (6, 5), (2, 90)])
def test_linear(size, corners):
    # Oracle: numpy.interp; gradients by finite differences.
    x = numbers(2, 3, 6, 5)
    matches(
        lambda x: ops.interpolate(x, size, mode="bilinear", align_corners=corners),
        lambda x: along(along(x, 2, size[0], corners), 3, size[1], corners).astype(x.dtype),
        x,
    )
    matches(
        lambda x: ops.interpolate(x, size[0], mode="linear", align_corners=corners),
        lambda x: along(x, 2, size[0], corners).astype(x.dtype),
        numbers(2, 3, 7),
    )


@pytest.mark.parametrize("factor", [2.0, 2.3, 0.6, (1.5, 3.0)])
def test_scale_factors(factor):
    # Oracle: NumPy; the factor itself says how far to go, unless it is recomputed.
    x = numbers(1, 2, 6, 5)
    factors = factor if isinstance(factor, tuple) else (factor, factor)
    size = tuple(int(n * f) for n, f in zip((6, 5), factors, strict=True))
    rows, columns = (
        np.minimum((np.arange(s) / f).astype(int), n - 1)
        for n, s, f in zip((6, 5), size, factors, strict=True)
    )
    for function in (ops.interpolate, ops.upsample, FUNCTIONAL.interpolate):
        matches(
            lambda x, f=function: f(x, scale_factor=factor),
            lambda x: x[:, :, rows][..., columns],
            x,
        )
    for again in (False, True):
        steps = (None, None) if again else tuple(1 / f for f in factors)

        def oracle(x, steps=steps):
            made = along(x, 2, size[0], False, steps[0])
            return along(made, 3, size[1], False, steps[1]).astype(x.dtype)

        matches(
            lambda x, again=again: ops.interpolate(
                x, scale_factor=factor, mode="bilinear", recompute_scale_factor=again
            ),
            oracle,
            x,
        )


def test_areas():
    # Oracle: means of the parts in NumPy.
    def regions(n, size):
        return [slice(i * n // size, -(-(i + 1) * n // size)) for i in range(size)]

    def oracle(x):
        return np.stack([x[..., part].mean(-1) for part in regions(23, size)], -1)

    for size in (1, 2, 5, 23, 30):
        matches(lambda x, s=size: ops.interpolate(x, s, mode="area"), oracle, numbers(2, 1, 23))


def test_bicubic_of_mint():
    # Oracle: PyTorch 2.13, for the line 1, 4, 2.
    x = np.array([[[[1, 4, 2]]]], np.float64)
    expected = {
        True: [1, 2.6875, 4, 3.28125, 2],
        False: [0.712, 2.308, 4, 2.992, 1.808],
    }
    for corners, values in expected.items():
        matches(
            lambda x, c=corners: FUNCTIONAL.interpolate(x, (1, 5), None, "bicubic", c),
            lambda _, v=values: np.array(v).reshape(1, 1, 1, 5),
            x,
        )


RESIZINGS = {
    "twice, nearest": ((8, 6), "nearest", "edges", (None, None)),
    "half, nearest": ((2, 1), "nearest", "edges", (None, None)),
    "nearest corner": ((7, 2), "nearest", "corners", (None, None)),
    "more than taps": ((90, 40), "linear", "halves", (None, None)),
    "uneven": ((7, 2), "linear", "edges", (None, None)),
    "cubic": ((7, 2), "cubic", "halves", (None, None)),
    "cubic corner": ((7, 2), "cubic-exact", "corners", (None, None)),
    "area": ((3, 5), "area", "halves", (None, None)),
    "same": ((4, 3), "linear", "halves", (None, None)),
}


@pytest.mark.parametrize("name", RESIZINGS)
def test_derivatives(name):
    # Oracle: finite differences, to second order.
    x = numbers(1, 1, 4, 3, dtype=np.float64)

    def squared(x):
        made = resized(x, *RESIZINGS[name])
        return made * made

    expected = gradients_by_differences(squared, (x,))[0]
    for execution, actual in run_everywhere(ms.grad(squared), x).items():
        assert_close(actual, expected, execution, "float32")
    expected = gradients_by_differences(lambda x: ms.grad(squared)(x), (x,))[0]
    second = ms.grad(lambda x: ms.grad(squared)(x))
    for execution, actual in run_everywhere(second, x).items():
        assert_close(actual, expected, execution, "float32")


def test_derivative_has_no_scatter():
    """Oracle: the program; scattering is slow wherever it runs."""
    x = numbers(1, 2, 6, 5)
    for name in ("uneven", "twice, nearest", "nearest corner", "cubic", "more than taps"):
        sizes, method, centers, steps = RESIZINGS[name]
        op = resized.definition.bind(sizes, method, centers, steps)
        made, pull = jax.vjp(op.function, x)
        assert "scatter" not in str(jax.make_jaxpr(pull)(made)), name


def test_element_types():
    # Oracle: NumPy; halves are summed in Float32.
    whole = np.arange(6, dtype=np.int32).reshape(1, 1, 2, 3)
    matches(
        lambda x: ops.ResizeNearestNeighbor((4, 6))(x),
        lambda x: x.repeat(2, 2).repeat(2, 3),
        whole,
    )
    half = numbers(1, 1, 4, 3).astype(np.float16)
    wide = along(along(half.astype(np.float32), 2, 9, False), 3, 7, False)
    matches(
        lambda x: ops.interpolate(x, (9, 7), mode="bilinear"),
        lambda _: wide.astype(np.float16),
        half,
    )
    with pytest.raises(TypeError, match="needs real numbers, not int32"):
        ops.interpolate(Tensor(whole), (4, 6), mode="bilinear")


def test_the_words_of_mindspore_1():
    # Oracle: numpy.interp, and the present words.
    x = numbers(1, 2, 4, 5)
    corners = along(along(x, 2, 7, True), 3, 9, True).astype(np.float32)
    calls = (
        lambda x: ops.interpolate(x, sizes=(7, 9), mode="bilinear"),
        lambda x: ops.interpolate(x, None, None, (7, 9), "align_corners", "bilinear"),
        lambda x: ops.ResizeBilinear((7, 9), align_corners=True)(x),
        lambda x: ops.ResizeBilinear((7, 9), True)(x),
    )
    for call in calls:
        matches(call, lambda _: corners, x)
    middles = along(along(x, 2, 7, False), 3, 9, False).astype(np.float32)
    matches(
        lambda x: ops.interpolate(
            x, sizes=(7, 9), coordinate_transformation_mode="half_pixel", mode="bilinear"
        ),
        lambda _: middles,
        x,
    )
    scaled = along(numbers(1, 2, 5), 2, 10, True).astype(np.float32)
    matches(
        lambda x: ops.interpolate(x, scales=(1.0, 1.0, 2.0), mode="linear"),
        lambda _: scaled,
        numbers(1, 2, 5),
    )
    steps = np.minimum(np.arange(10) / 2, 4)
    edges = np.apply_along_axis(lambda v: np.interp(steps, np.arange(5), v), 2, numbers(1, 2, 5))
    matches(
        lambda x: ops.interpolate(x, sizes=(10,), coordinate_transformation_mode="asymmetric"),
        lambda _: edges.astype(np.float32),
        numbers(1, 2, 5),
    )


def test_size_as_a_tensor():
    # Oracle: the same size as numbers.
    x = numbers(1, 2, 4, 5)
    expected = ops.ResizeBilinearV2()(Tensor(x), (7, 9)).asnumpy()
    size = Tensor([7, 9], ms.int32)
    np.testing.assert_array_equal(ops.ResizeBilinearV2()(Tensor(x), size).asnumpy(), expected)


ERRORS = {
    "Give either a size or a scale_factor": {},
    "mode must be one of 'nearest'": {"size": 3, "mode": "cubic"},
    "align_corners is not for mode 'area'": {"size": 3, "mode": "area", "align_corners": False},
    "mode 'linear' needs 3 dimensions": {"size": 3, "mode": "linear"},
    "size must be one number or 2": {"size": (1, 2, 3)},
    "size must be of positive numbers": {"size": (0, 2)},
    "leaves nothing of": {"scale_factor": 0.1},
    "coordinate_transformation_mode must be one of": {
        "sizes": 3, "coordinate_transformation_mode": "middle",
    },
    "the mode must be 'linear' or 'bilinear', not 'area'": {"sizes": 3, "mode": "area"},
}  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text):
    with pytest.raises(ValueError) as caught:
        ops.interpolate(Tensor(numbers(1, 2, 4, 5)), **ERRORS[text])
    assert text in str(caught.value)


def test_errors_of_image_sizes():
    with pytest.raises(ValueError, match="cannot both be True"):
        ops.ResizeBilinearV2(True, True)(Tensor(numbers(1, 2, 4, 5)), (2, 2))
    with pytest.raises(ValueError, match=r"Images are \[N, C, H, W\]"):
        ops.ResizeNearestNeighbor((2, 2))(Tensor(numbers(2, 4, 5)))


# -- sampling ---------------------------------------------------------------------------------


def test_bicubic_sampling():
    # Oracle: PyTorch 2.13, two positions in the picture 0 … 11 of 3 by 4.
    x = np.arange(12, dtype=np.float64).reshape(1, 1, 3, 4)
    grid = np.array([[[[0.25, -0.5], [1.5, 0.75]]]])
    expected = {
        ("zeros", True): [3.63092041015625, 2.6204376220703125],
        ("zeros", False): [2.9765625, -0.950408935546875],
        ("border", True): [3.458984375, 10.26953125],
        ("border", False): [2.765625, 11.287109375],
        ("reflection", True): [3.083984375, 10.0234375],
        ("reflection", False): [2.765625, 10.921875],
    }
    for (padding, corners), values in expected.items():
        matches(
            lambda x, g, p=padding, c=corners: ops.grid_sample(x, g, "bicubic", p, c),
            lambda *_, v=values: np.array(v).reshape(1, 1, 1, 2),
            x,
            grid,
        )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [True, False])
def test_derivatives_of_sampling(mode, padding, corners):
    # Oracle: finite differences.
    inputs = numbers(2, 2, 4, 3, dtype=np.float64), numbers(2, 2, 2, 2, seed=1, dtype=np.float64)

    def squared(x, grid):
        made = ops.grid_sample(x, grid, mode, padding, corners)
        return made * made

    expected = gradients_by_differences(squared, inputs)
    for execution, actual in run_everywhere(ms.grad(squared, (0, 1)), *inputs).items():
        assert_close(list(actual), expected, execution, "float32")


def test_identity_grid():
    # Oracle: the picture itself.
    x = numbers(2, 3, 4, 5)
    same = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32).repeat(2, 0)
    for corners in (True, False):

        def call(x, theta, corners=corners):
            grid = ops.affine_grid(theta, (2, 3, 4, 5), corners)
            return ops.grid_sample(x, grid, align_corners=corners)

        for actual in run_everywhere(call, x, same).values():
            np.testing.assert_allclose(actual, x, 1e-5, 1e-5)


def test_at_the_edge_the_position_has_no_derivative():
    # Oracle: PyTorch 2.13.
    x = Tensor(np.arange(4.0).reshape(1, 1, 2, 2))
    edge = Tensor(np.array([[[[1.0, -1.0], [0.5, 0.0]]]]))
    gradient = ms.grad(lambda g: ops.grid_sample(x, g, "bilinear", "border", True))(edge)
    np.testing.assert_allclose(gradient.asnumpy(), [[[[0, 0], [0.5, 1]]]])


def test_errors_of_sampling():
    x, grid = Tensor(numbers(1, 1, 3, 3)), Tensor(numbers(1, 2, 2, 2))
    with pytest.raises(ValueError, match="mode must be one of"):
        ops.grid_sample(x, grid, "linear")
    with pytest.raises(ValueError, match=r"A grid for x \(1, 1, 3, 3\)"):
        ops.grid_sample(x, Tensor(numbers(1, 2, 2, 3)))
    with pytest.raises(ValueError, match="does not read from"):
        ops.grid_sample(Tensor(numbers(1, 1, 2, 2, 2)), Tensor(numbers(1, 1, 1, 1, 3)), "bicubic")
    with pytest.raises(ValueError, match="theta for a size"):
        ops.affine_grid(Tensor(numbers(1, 2, 3)), (2, 1, 2, 2))


# -- pixels and patches -----------------------------------------------------------------------


def test_pixels_and_back():
    # Oracle: each undoes the other.
    x = numbers(2, 3, 4, 6)
    for call in (
        lambda x: ops.pixel_shuffle(ops.pixel_unshuffle(x, 2), 2),
        lambda x: ops.DepthToSpace(2)(ops.SpaceToDepth(2)(x)),
        lambda x: FUNCTIONAL.pixel_shuffle(ops.pixel_unshuffle(x, 2), 2),
    ):
        matches(call, lambda x: x, x)
        for slope in run_everywhere(ms.grad(lambda x, c=call: c(x) * c(x)), x).values():
            np.testing.assert_allclose(slope, 2 * x)


def test_depth_and_channels():
    # Oracle: NumPy; the block is the outer part of depth, the inner one of shuffled channels.
    x = np.arange(8, dtype=np.int32).reshape(1, 8, 1, 1)
    matches(lambda x: ops.DepthToSpace(2)(x), lambda x: x.reshape(4, 2).T.reshape(1, 2, 2, 2), x)
    matches(lambda x: ops.pixel_shuffle(x, 2), lambda x: x.reshape(1, 2, 2, 2), x)


@pytest.mark.parametrize(
    "settings",
    [{"kernel_size": 2}, {"kernel_size": (2, 3), "stride": 2, "padding": 1},
     {"kernel_size": 2, "dilation": (2, 1), "padding": (1, 0), "stride": (1, 2)}],
)  # fmt: skip
def test_fold_is_the_derivative_of_unfold(settings):
    # Oracle: the derivative of unfold, and a sum over both sides.
    x = numbers(2, 3, 6, 7, dtype=np.float64)
    columns = numbers(*ops.unfold(Tensor(x), **settings).shape, seed=1, dtype=np.float64)
    weighted = ms.grad(lambda x: ops.unfold(x, **settings) * Tensor(columns))
    expected = weighted(Tensor(x)).asnumpy()
    for function in (ops.fold, FUNCTIONAL.fold):
        matches(lambda c, f=function: f(c, (6, 7), **settings), lambda _: expected, columns)
    # And back: <fold(c), x> is <c, unfold(x)>.
    slope = ms.grad(lambda c: ops.fold(c, (6, 7), **settings) * Tensor(x))(Tensor(columns))
    np.testing.assert_allclose(slope.asnumpy(), ops.unfold(Tensor(x), **settings).asnumpy())


def test_errors_of_pixels_and_patches():
    x = Tensor(numbers(1, 3, 5, 5))
    for call in (
        lambda: ops.pixel_shuffle(x, 2),
        lambda: ops.pixel_unshuffle(x, 2),
        lambda: ops.DepthToSpace(2)(x),
        lambda: ops.SpaceToDepth(2)(x),
    ):
        with pytest.raises(ValueError, match=r"\(1, 3, 5, 5\) has no"):
            call()
    with pytest.raises(ValueError, match="are columns"):
        ops.fold(Tensor(numbers(1, 4, 5)), (3, 3), 2)
