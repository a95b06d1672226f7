# SPDX-License-Identifier: Apache-2.0
"""Convolutions; how they are lowered for each platform is decided in `lowering`."""

from __future__ import annotations

from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import one_or_more, several
from mycel.tuning.lowering import convolve

CHANNELS_LAST = " If its channels are last, write x.transpose{axes}."


@op(
    "Conv2D(out_channel, kernel_size, mode=1, pad_mode='valid', pad=(padding, 0), stride=1,"
    " dilation=1, group=(groups, 1), data_format='NCHW')(x=x, weight=weight)",
    "Conv3D(out_channel, kernel_size, mode=1, pad_mode='valid', pad=(padding, 0), stride=1,"
    " dilation=1, group=(groups, 1), data_format='NCDHW')(x=x, weight=weight)",
    windows=True,
)
def convolution(
    x,
    weight,
    *,
    out_channel=None,
    kernel_size=None,
    mode=1,
    stride=1,
    pad_mode="valid",
    padding=0,
    dilation=1,
    groups=1,
    data_format="NCHW",
    space=None,
):
    """Slide a kernel over x and sum the products.

    Args:
        x: [N, C, *space], one to three dimensions of space.
        weight: [O, C / groups, *kernel], of the same element type.
        out_channel: the number of output channels, O; None for that of the weight.
        kernel_size: the size of the kernel, one number or one for each dimension; None for that of
            the weight.
        mode: 1, the only one.
        stride: the steps from window to window, one number or one for each dimension; 1 by default.
        pad_mode: 'valid' (no padding, the default), 'same' (as many outputs as inputs / stride,
            rounded up) or 'pad' (`padding` zeros).
        padding: for 'pad', the number of zeros: one for all sides, one for each dimension, or one
            for each end of each dimension; 0 by default.
        dilation: the distance between neighbouring elements of a window, one number or one for each
            dimension; 1 by default.
        groups: the number of groups of channels that are convolved separately, 1 by default.
        data_format: 'NCHW' or 'NCDHW', with the channels in front.
        space: how many dimensions of space there must be; None takes any.

    Raises:
        ValueError: shapes, channels or attributes do not fit together.

    Example:
        >>> x, w = ops.ones((1, 1, 3, 3), mycel.float32), ops.ones((1, 1, 3, 3), mycel.float32)
        >>> print(ops.Conv2D(1, 3)(x, w))
        [[[[9.]]]]
        >>> x, w = ops.ones((1, 1, 2, 2, 2)), ops.ones((1, 1, 2, 2, 2))
        >>> print(ops.Conv3D(1, 2)(x, w).asnumpy().ravel())
        [8.]
    """
    if x.ndim == weight.ndim and space not in (None, weight.ndim - 2):
        raise ValueError(
            f"The weight of conv{space}d has {space + 2} dimensions, not the shape {weight.shape}."
        )
    space = weight.ndim - 2
    stride = several(stride, space, "The stride")
    dilation = several(dilation, space, "The dilation")
    _check(x, weight, stride, dilation, groups, out_channel, kernel_size)
    if mode != 1 or data_format not in ("NCHW", "NCDHW"):
        raise ValueError(f"Only mode 1 and NCHW are supported, not {mode} and {data_format!r}.")
    pads = same_or_given(pad_mode, padding, x.shape[2:], weight.shape[2:], stride, dilation)
    lengths = zip(x.shape[2:], pads, weight.shape[2:], dilation, strict=True)
    if any(n + sum(pad) < (k - 1) * d + 1 for n, pad, k, d in lengths):
        raise ValueError(f"The kernel of a weight {weight.shape} does not fit into an x {x.shape}.")
    return convolve(x, weight, stride, pads, dilation, groups)


def _check(x, weight, stride, dilation, groups, out_channel, kernel_size):
    if x.ndim != weight.ndim:
        space = ("depth", "height", "width")[5 - weight.ndim :]
        axes = ", ".join(("batch", "channels", *space))
        raise ValueError(
            f"x {x.shape} and weight {weight.shape} must have as many dimensions: {axes} of x. "
            "Add those that are missing with expand_dims(0)."
        )
    if x.dtype != weight.dtype:
        raise TypeError(f"x and weight must have one element type, not {x.dtype}, {weight.dtype}.")
    if x.shape[1] != weight.shape[1] * groups:
        raise ValueError(
            f"x has {x.shape[1]} channels, but the weight of shape {weight.shape} expects "
            f"{weight.shape[1] * groups} of them in {groups} group(s)."
            + CHANNELS_LAST.format(axes=(0, x.ndim - 1, *range(1, x.ndim - 1)))
            * (x.shape[-1] == weight.shape[1] * groups)
        )
    if weight.shape[0] % groups:
        raise ValueError(f"{weight.shape[0]} output channels do not divide into {groups} groups.")
    if min(stride) < 1:
        raise ValueError(f"The stride must be positive, not {stride}.")
    if min(dilation) < 1:
        raise ValueError(f"The dilation must be positive, not {dilation}.")
    if out_channel not in (None, weight.shape[0]):
        raise ValueError(f"out_channel is {out_channel}, but the weight has {weight.shape[0]}.")
    if kernel_size is not None:
        sizes = several(kernel_size, weight.ndim - 2, "kernel_size")
        if sizes != weight.shape[2:]:
            raise ValueError(f"kernel_size is {sizes}, but the weight has {weight.shape[2:]}.")


def same_or_given(pad_mode, padding, lengths, kernel, stride, dilation):
    """Pairs of padding, before and after, for each dimension of space.

    Raises:
        ValueError: `pad_mode` is unknown, or padding is given for a mode that takes none.
    """
    mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
    if mode not in ("valid", "same", "pad"):
        raise ValueError(f"pad_mode must be 'valid', 'same' or 'pad', not {pad_mode!r}.")
    if mode != "pad":
        if any(one_or_more(padding)):
            raise ValueError(f"padding {padding} needs pad_mode='pad', not {pad_mode!r}.")
        if mode == "valid":
            return tuple((0, 0) for _ in lengths)
        spans = zip(lengths, kernel, stride, dilation, strict=True)
        missing = [max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n) for n, k, s, d in spans]
        return tuple((m // 2, m - m // 2) for m in missing)
    widths = one_or_more(padding)
    space = len(lengths)
    if min(widths) < 0:
        raise ValueError(f"padding must not be negative, but {padding} was given.")
    if len(widths) == 2 * space and space > 1:
        return tuple(zip(widths[::2], widths[1::2], strict=True))
    return tuple((n, n) for n in several(widths, space, "padding"))


@composite(
    "ops.conv1d(input=x, weight=weight, bias=bias, stride=1, pad_mode='valid', padding=0,"
    " dilation=1, groups=1) with space=1",
    "ops.conv2d(input=x, weight=weight, bias=bias, stride=1, pad_mode='valid', padding=0,"
    " dilation=1, groups=1) with space=2",
    "ops.conv3d(input=x, weight=weight, bias=bias, stride=1, pad_mode='valid', padding=0,"
    " dilation=1, groups=1) with space=3",
)
def conv(
    x,
    weight,
    bias=None,
    stride=1,
    pad_mode="valid",
    padding=0,
    dilation=1,
    groups=1,
    space: int | None = 2,
):
    """The convolution of sequences, images or volumes, with a bias for each output channel.

    Args:
        x: [N, C, *space], with one, two or three dimensions of space, as the name says.
        weight: [O, C / groups, *kernel], of the same element type.
        bias: [O]; None, the default, for none.
        stride: the steps from window to window, one number or one for each dimension; 1 by default.
        pad_mode: 'valid' (no padding, the default), 'same' (as many outputs as inputs / stride,
            rounded up) or 'pad' (`padding` zeros).
        padding: for 'pad', the number of zeros: one for all sides, one for each dimension, or one
            for each end of each dimension; 0 by default.
        dilation: the distance between neighbouring elements of a window, one number or one for each
            dimension; 1 by default.
        groups: the number of groups of channels that are convolved separately, 1 by default.

    Raises:
        ValueError: shapes, channels or attributes do not fit together.

    Example:
        >>> x, w = ops.ones((1, 1, 4, 4), mycel.float32), ops.ones((2, 1, 3, 3), mycel.float32)
        >>> ops.conv2d(x, w, pad_mode="same").shape
        (1, 2, 4, 4)
        >>> ops.conv1d(ops.ones((1, 1, 4)), ops.ones((2, 1, 3))).shape
        (1, 2, 2)
        >>> ops.conv3d(ops.ones((1, 1, 2, 3, 4)), ops.ones((2, 1, 2, 2, 2))).shape
        (1, 2, 1, 2, 3)
    """
    # A number of dimensions that fits no weight is reported by the operator itself.
    if isinstance(padding, str):
        pad_mode, padding = padding, 0
    settings = stride, pad_mode, padding, dilation, groups, "NCHW", space
    output = convolution(x, weight, None, None, 1, *settings)
    return output if bias is None else bias_add(output, bias)


@composite(
    "mint.conv2d(input=x, weight=weight, bias=bias, stride=1, padding=0, dilation=1, groups=1)",
    "mint.nn.functional.conv2d(input=x, weight=weight, bias=bias, stride=1, padding=0, dilation=1,"
    " groups=1)",
    "mint.nn.functional.conv1d(input=x, weight=weight, bias=bias, stride=1, padding=0, dilation=1,"
    " groups=1)",
    "mint.nn.functional.conv3d(input=x, weight=weight, bias=bias, stride=1, padding=0, dilation=1,"
    " groups=1)",
)
def mint_conv(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """The convolution over one to three dimensions of space, with a bias for each output channel.

    Args:
        x: [N, C, *space].
        weight: [O, C / groups, *kernel], of the same element type.
        bias: [O]; None, the default, for none.
        stride: the steps from window to window, one number or one for each dimension; 1 by default.
        padding: the number of zeros on both sides, one number or one for each dimension, 0 by
            default; or 'valid' (none) or 'same' (as many outputs as inputs / stride, rounded up).
        dilation: the distance between neighbouring elements of a window, one number or one for each
            dimension; 1 by default.
        groups: the number of groups of channels that are convolved separately, 1 by default.

    Example:
        >>> x, w = ops.ones((1, 1, 4, 4), mycel.float32), ops.ones((2, 1, 3, 3), mycel.float32)
        >>> mint.nn.functional.conv2d(x, w, padding=1).shape
        (1, 2, 4, 4)
    """
    return conv(x, weight, bias, stride, "pad", padding, dilation, groups, None)


@op("ops.bias_add(input_x=x, bias=bias)", "BiasAdd(data_format='NCHW')(input_x=x, bias=bias)")
def bias_add(x, bias, *, data_format="NCHW"):
    """x plus one number for each channel.

    Args:
        x: [N, C, ...]; [N, ..., C] for 'NHWC'.
        bias: [C].
        data_format: where the channels stand: 'NCHW' (the default) or 'NHWC'.

    Raises:
        ValueError: the bias does not fit the channels, or x has one dimension.

    Example:
        >>> print(ops.bias_add(Tensor([[1.0, 2.0]]), Tensor([1.0, 1.0])))
        [[2. 3.]]
    """
    channels = x.ndim - 1 if data_format == "NHWC" else 1
    if x.ndim < 2 or bias.shape != (x.shape[channels],):
        raise ValueError(f"A bias of shape {bias.shape} does not fit the channels of {x.shape}.")
    shape = [1] * x.ndim
    shape[channels] = bias.shape[0]
    return x + bias.reshape(shape)
