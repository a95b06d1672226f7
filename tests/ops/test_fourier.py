# SPDX-License-Identifier: Apache-2.0
"""Complex numbers, Fourier transforms and windows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, ops
from support.recorded_operators import agrees, cases, gradients_by_differences

# Computed in Float32 by MindSpore.
COARSE = {"hamming_window_whole": "float32"}
X = np.sin(np.arange(24) * 1.7).reshape(2, 3, 4)
Z = X + 1j * X[::-1]


@pytest.mark.parametrize(("case", "recorded"), list(cases("fourier")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded, tolerance=COARSE.get(case.name))


def test_many_dimensions():
    # Oracle: SciPy. XLA transforms three dimensions at once.
    x = np.sin(np.arange(48.0)).reshape(2, 3, 2, 4)
    matches(lambda x: ops.fftn(x, norm="ortho"), lambda x: scipy.fft.fftn(x, norm="ortho"), x)
    matches(lambda x: ops.rfftn(x), scipy.fft.rfftn, x)
    matches(lambda x: ops.hfftn(x, (3, 4), (0, 1)), lambda x: scipy.fft.hfftn(x, (3, 4), (0, 1)), Z)
    matches(
        lambda x: ops.ihfftn(x, norm="forward"), lambda x: scipy.fft.ihfftn(x, norm="forward"), X
    )


DIFFERENTIABLE = {
    "ihfft": ops.ihfft,
    "ihfft2": ops.ihfft2,
    "rfft": lambda x: ops.rfft(x, 5, 1, "ortho"),
    "irfft": lambda x: ops.irfft(ops.rfft(x) * 2, 5),
    "hfft": lambda x: ops.hfft(ops.Complex()(x, x * 2)),
    "polar": lambda x: ops.polar(x, x * x),
    "angle": lambda x: ops.angle(ops.Complex()(x, x + 1)),
    "size": lambda x: ops.ComplexAbs()(ops.Complex()(x, x * x)),
    "stft": lambda x: ops.stft(x[0], 4, 2, return_complex=True),
    "with_size": lambda x: ops.FFTWithSize(2, True, True, signal_sizes=(3, 4))(
        ops.FFTWithSize(2, False, True)(x)
    ),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name):
    # Oracle: finite differences in Float64.
    function = DIFFERENTIABLE[name]

    def squared(x):
        y = function(x)
        y = y if y.dtype == ms.float64 else ops.view_as_real(y)
        return (y * y * y).sum()

    expected = gradients_by_differences(squared, (X,))[0]
    for execution_name, actual in run_everywhere(ms.grad(squared), X).items():
        assert_close(actual, expected, execution_name, "float32")


def test_short_transforms():
    # Oracle: PyTorch's definition in NumPy.
    signal = X.reshape(2, 12)
    window = np.array([0.5, 1.0, 0.25])
    wide = np.pad(signal, ((0, 0), (2, 2)), "reflect")
    stretches = np.stack([wide[:, n : n + 4] * [0.5, 1.0, 0.25, 0] for n in range(0, 13, 3)], -1)
    matches(
        lambda x: ops.stft(x, 4, 3, 3, Tensor(window), onesided=False, return_complex=True),
        lambda _: np.fft.fft(stretches, axis=1),
        signal,
    )
    with pytest.raises(ValueError, match="Stretches of 16"):
        ops.stft(Tensor(signal), 16, center=False)
    with pytest.raises(ValueError, match="REFLECT, SYMMETRIC, CONSTANT"):
        ops.stft(Tensor(signal), 4, pad_mode="edge")


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann"])
def test_windows(name):
    # Oracle: SciPy.
    make = getattr(ops, name + "_window")
    for length in (1, 2, 7):
        for periodic in (True, False):
            found = make(length, periodic, dtype=ms.float64).asnumpy()
            expected = scipy.signal.get_window(name, length, fftbins=periodic)
            np.testing.assert_allclose(found, expected, atol=1e-9)
    assert make(0).shape == (0,)
    with pytest.raises(TypeError, match="window_length must be an integer"):
        make(2.5)
    with pytest.raises(TypeError, match="The dtype of a window must be a real one"):
        make(4, dtype=ms.int32)


def test_parts_of_real_numbers():
    # Oracle: NumPy; MindSpore's CPU has no kernels for them.
    x = np.array([-1.5, 0.0, 2.0], np.float32)
    matches(ops.angle, np.angle, x)
    matches(ops.real, np.real, x)
    assert ops.angle(Tensor([-1, 2])).dtype == ms.float32
    with pytest.raises(TypeError, match="needs two Tensors of Float32, or of Float64"):
        ops.Complex()(Tensor([1.0]), Tensor([1]))
    with pytest.raises(TypeError, match="needs complex numbers"):
        ops.ComplexAbs()(Tensor([1.0]))
    with pytest.raises(TypeError, match="needs real numbers"):
        ops.rfft(Tensor(Z))
    with pytest.raises(ValueError, match="norm must be 'backward', 'ortho' or 'forward'"):
        ops.hfft(Tensor(X), norm="half")
    with pytest.raises(ValueError, match="2 lengths do not fit 1 dimensions"):
        ops.fftn(Tensor(X), (2, 2), (1,))
