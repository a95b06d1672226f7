# SPDX-License-Identifier: Apache-2.0
"""Short-time Fourier transforms: those of overlapping frames of a signal."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.math.fourier import transformable


@op("STFT(n_fft=size, hop_length=hop, win_length=length, normalized=normalized, onesided=half,"
    " return_complex=as_complex)(x, window)")  # fmt: skip
def stft_primitive(x, window, *, size, hop, length, normalized, half, as_complex):
    """Short-time Fourier transforms: those of overlapping frames of a signal; see `ops.stft`.

    Args:
        x: [L] or [N, L].
        window: [length]: the factors of the samples of a frame.
        size: the number of samples of a frame, at most L.
        hop: the number of samples from frame to frame.
        length: the length of the window, at most `size`; it stands in the middle of the frame,
            between zeros.
        normalized: whether to divide by the root of `size`.
        half: whether only the first half of the frequencies is kept.
        as_complex: whether the result is complex, [..., frequencies, frames]; otherwise the real
            and the imaginary part stand in a new last dimension.

    Example:
        >>> short = ops.STFT(4, 4, 4, False, True, True)
        >>> short(ops.ones((2, 8)), ops.ones(4)).shape
        (2, 3, 2)
    """
    if not 0 < length <= size or not 0 < size <= x.shape[-1] or window.shape != (length,):
        raise ValueError(
            f"Stretches of {size}, and a window {window.shape} of length {length}, do not fit a "
            f"signal {x.shape}."
        )
    before = (size - length) // 2
    window = jnp.pad(window, (before, size - length - before))
    starts = np.arange(0, x.shape[-1] - size + 1, hop)
    stretches = transformable(x)[..., starts[:, None] + np.arange(size)] * window
    norm = "ortho" if normalized else "backward"
    if half:
        made = jnp.fft.rfft(stretches, norm=norm)
    else:
        made = jnp.fft.fft(stretches, norm=norm)
    made = jnp.swapaxes(made, -1, -2)
    return made if as_complex else jnp.stack([jnp.real(made), jnp.imag(made)], -1)


@op()
def padded_signal(x, *, count, mode):
    """A signal with so many more samples at both ends; see `stft`."""
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(count, count)], mode)


_PADDINGS = {"REFLECT": "reflect", "SYMMETRIC": "symmetric", "CONSTANT": "constant"}


@composite(
    "ops.stft(x, n_fft=size, hop_length=hop, win_length=length, window=window, center=center,"
    " pad_mode=mode, normalized=normalized, onesided=half, return_complex=as_complex)"
)
def stft(
    x,
    size,
    hop=None,
    length=None,
    window=None,
    center=True,
    mode="REFLECT",
    normalized=False,
    half=None,
    as_complex=None,
):
    """Fourier transforms of stretches of a signal (length) or of several (batch, length).

    Args:
        x: [L] or [N, L].
        size: the number of samples of a frame.
        hop: the number of samples from frame to frame; None, the default, for a quarter of `size`.
        length: the length of the window; None, the default, for `size`.
        window: [length]: the factors of the samples of a frame; None, the default, for ones.
        center: whether the signal is first continued by half a frame at both ends, as `mode` says,
            so that frames are centred; True by default.
        mode: 'REFLECT' (the default) or 'SYMMETRIC' for a mirror image without and with the sample
            at the end, or 'CONSTANT' for zeros.
        normalized: whether to divide by the root of `size`; False by default.
        half: whether only the first half of the frequencies is kept; None, the default, for real
            signals.
        as_complex: whether the result is complex; otherwise, as for real signals by default, the
            real and the imaginary part stand in a new last dimension.

    Raises:
        ValueError: the lengths do not fit the signal, or the mode is unknown.

    Example:
        >>> ops.stft(ops.ones(8), 4).shape
        (3, 9, 2)
    """
    length = size if length is None else length
    window = Tensor(np.ones(length, np.float32)) if window is None else window
    real = not (x.dtype.name.startswith("complex") or window.dtype.name.startswith("complex"))
    if center:
        if x.ndim not in (1, 2) or mode.upper() not in _PADDINGS:
            raise ValueError(
                f"A signal of 1 or 2 dimensions and one of {', '.join(_PADDINGS)} are needed, "
                f"not {x.shape} and {mode!r}."
            )
        x = padded_signal(x, size // 2, _PADDINGS[mode.upper()])
    return stft_primitive(
        x,
        window,
        size,
        size // 4 if hop is None else hop,
        length,
        normalized,
        real if half is None else half,
        (not real) if as_complex is None else as_complex,
    )
