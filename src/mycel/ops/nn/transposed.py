# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions: what the derivative of a convolution does, as operators."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from mycel.kernel.base.backend import on_cpu
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import several
from mycel.ops.nn.convolution import bias_add, convolution, same_or_given

PLAIN = {"NCHW", "NCDHW"}


@op(windows=True)
def transposed_convolution(x, weight, *, stride, cuts, dilation, groups):
    """Every element of x lays a multiple of the kernel, `stride` apart, and all are summed.

    Args:
        x: [N, I, *space].
        weight: [I, O / groups, *kernel].
        cuts: what is taken off the result at both ends, for each dimension of space; a negative
            number adds zeros.

    Raises:
        ValueError: shapes or attributes do not fit together.

    Example:
        >>> from mycel.ops.nn.transposed import transposed_convolution
        >>> x, weight = Tensor([[[1.0, 2.0]]]), Tensor([[[1.0, 10.0, 100.0]]])
        >>> print(transposed_convolution(x, weight, (2,), ((0, 0),), (1,), 1))
        [[[  1.  10. 102.  20. 200.]]]
    """
    _check(x, weight, stride, cuts, dilation, groups)
    kernel = weight.shape[2:]
    if on_cpu() and groups == 1 and _tiles(kernel, stride, cuts, dilation):
        return _blocks(x, weight)
    return _general(*_at_least(x, kernel, stride, cuts), weight, stride, dilation, groups)


def _check(x, weight, stride, cuts, dilation, groups):
    if x.dtype != weight.dtype:
        raise TypeError(f"x and weight must have one element type, not {x.dtype}, {weight.dtype}.")
    if x.shape[1] != weight.shape[0]:
        raise ValueError(
            f"x has {x.shape[1]} channels, but the weight of shape {weight.shape} expects "
            f"{weight.shape[0]} of them."
        )
    if groups < 1 or x.shape[1] % groups:
        raise ValueError(f"{x.shape[1]} channels do not divide into {groups} groups.")
    if min(*stride, *dilation) < 1:
        raise ValueError(f"The stride {stride} and the dilation {dilation} must be positive.")
    sizes = zip(full_lengths(x.shape[2:], weight.shape[2:], stride, dilation), cuts, strict=True)
    if any(n - sum(cut) < 1 for n, cut in sizes):
        raise ValueError(f"Padding takes away all that x {x.shape} gives.")


def _tiles(kernel, stride, cuts, dilation) -> bool:
    """Whether the kernels lie side by side, so that nothing is summed."""
    return kernel == stride and not any(map(any, cuts)) and all(d == 1 for d in dilation)


def _at_least(x, kernel, stride, cuts):
    """x lengthened with zeros to the size of the kernel, and what is then to be cut off.

    XLA 0.10 ends the process when the kernel is longer than x in one dimension and `stride` long,
    without padding, in another: it then exchanges x and kernel in the first dimension only.
    """
    more = [max(0, k - n) for n, k in zip(x.shape[2:], kernel, strict=True)]
    if not any(more):
        return x, cuts
    longer = zip(cuts, more, stride, strict=True)
    cuts = tuple((front, behind + m * s) for (front, behind), m, s in longer)
    return lax.pad(x, jnp.zeros((), x.dtype), [(0, m, 0) for m in (0, 0, *more)]), cuts


def _general(x, cuts, weight, stride, dilation, groups):
    """A convolution of the spread x with the mirrored kernel, inputs and outputs exchanged."""
    kernel = weight.shape[2:]
    reach = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    edges = [(r - front, r - behind) for r, (front, behind) in zip(reach, cuts, strict=True)]
    # The rest by `lax.pad`: XLA's CPU code reads beside x where padding is negative in front and
    # positive behind.
    pads = [
        (min(max(low, 0), r), min(max(high, 0), r))
        for r, (low, high) in zip(reach, edges, strict=True)
    ]
    rest = [(w[0] - p[0], w[1] - p[1], 0) for w, p in zip(edges, pads, strict=True)]
    space = "DHW"[-len(kernel) :]
    output = lax.conv_general_dilated(
        x,
        _mirrored(weight, groups),
        (1,) * len(kernel),
        pads,
        lhs_dilation=stride,
        rhs_dilation=dilation,
        dimension_numbers=("NC" + space, "OI" + space, "NC" + space),
        feature_group_count=groups,
    )
    if not any(map(any, rest)):
        return output
    return lax.pad(output, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *rest])


def _mirrored(weight, groups):
    """[I, O / groups, *kernel] as [O, I / groups, *kernel], the kernel read backwards."""
    inputs, outputs, *kernel = weight.shape
    mirrored = lax.rev(weight, tuple(range(2, weight.ndim)))
    parted = mirrored.reshape(groups, inputs // groups, outputs, *kernel).swapaxes(1, 2)
    return parted.reshape(groups * outputs, inputs // groups, *kernel)


def _blocks(x, weight):
    """Kernels side by side: one product, without the zeros between the elements of x."""
    kernel = weight.shape[2:]
    space = len(kernel)
    product = jnp.tensordot(x, weight, ((1,), (0,)))
    # [N, *space, O, *kernel] to [N, O, space, kernel, space, kernel, …]
    order = [0, space + 1]
    for i in range(space):
        order += [1 + i, space + 2 + i]
    sizes = [n * k for n, k in zip(x.shape[2:], kernel, strict=True)]
    return product.transpose(order).reshape(x.shape[0], weight.shape[1], *sizes)


def full_lengths(lengths, kernel, stride, dilation) -> tuple[int, ...]:
    """The lengths of a result of which nothing is cut off."""
    spans = zip(lengths, kernel, stride, dilation, strict=True)
    return tuple((n - 1) * s + (k - 1) * d + 1 for n, k, s, d in spans)


def _cuts(x, weight, stride, pad_mode, padding, output_padding, dilation):
    """What a layer of this mode cuts off: MindSpore's rule for the lengths of its result."""
    lengths, kernel = x.shape[2:], weight.shape[2:]
    pads = same_or_given(pad_mode, padding, lengths, kernel, stride, dilation)
    full = full_lengths(lengths, kernel, stride, dilation)
    if pad_mode.lower() == "pad":
        longer = zip(pads, output_padding, strict=True)
        return tuple((front, behind - more) for (front, behind), more in longer)
    if any(output_padding):
        raise ValueError(f"output_padding {output_padding} needs pad_mode='pad'.")
    if pad_mode.lower() == "valid":
        covers = zip(lengths, full, stride, strict=True)
        return tuple((0, min(0, whole - n * s)) for n, whole, s in covers)
    cuts = []
    for n, whole, s in zip(lengths, full, stride, strict=True):
        front = max(0, whole - n * s) // 2
        cuts.append((front, whole - n * s - front))
    return tuple(cuts)


@composite(
    "ops.conv_transpose2d(input=x, weight=weight, bias=bias, stride=1, padding=0,"
    " output_padding=0, groups=1, dilation=1)",
    "mint.nn.functional.conv_transpose2d(input=x, weight=weight, bias=bias, stride=1, padding=0,"
    " output_padding=0, groups=1, dilation=1)",
)
def conv_transpose(
    x,
    weight,
    bias=None,
    stride=1,
    padding=0,
    output_padding=0,
    groups=1,
    dilation=1,
    pad_mode="pad",
):
    """A transposed convolution: every element of x lays a multiple of the kernel.

    Args:
        x: [N, I, *space].
        weight: [I, O / groups, *kernel].
        bias: [O] or None.
        stride: the steps between the kernels in the result, one number or one for each dimension; 1
            by default.
        padding: what is cut off at the edges, one number or one for each dimension.
        output_padding: how much longer the result is at the end.
        groups: the number of groups of channels that are convolved separately, 1 by default.
        dilation: the distance between neighbouring elements of a kernel, one number or one for each
            dimension; 1 by default.
        pad_mode: 'pad', the default (`padding` is cut off), 'valid' (nothing is) or 'same' (as many
            outputs as inputs · stride).

    Raises:
        ValueError: shapes, channels or attributes do not fit together.

    Example:
        >>> x, w = ops.ones((1, 1, 2, 2), mycel.float32), ops.ones((1, 1, 2, 2), mycel.float32)
        >>> print(ops.conv_transpose2d(x, w))
        [[[[1. 2. 1.]
           [2. 4. 2.]
           [1. 2. 1.]]]]
    """
    if x.ndim != weight.ndim:
        raise ValueError(f"x {x.shape} and weight {weight.shape} must have as many dimensions.")
    space = weight.ndim - 2
    stride = several(stride, space, "The stride")
    dilation = several(dilation, space, "The dilation")
    longer = several(output_padding, space, "output_padding")
    limits = zip(longer, stride, dilation, strict=True)
    if any(not 0 <= more < max(s, d) for more, s, d in limits):
        raise ValueError(f"output_padding {longer} must be below the stride or the dilation.")
    cuts = _cuts(x, weight, stride, pad_mode, padding, longer, dilation)
    output = transposed_convolution(x, weight, stride, cuts, dilation, groups)
    return output if bias is None else bias_add(output, bias)


@composite(
    "Conv2DTranspose(out_channel, kernel_size, pad_mode='valid', pad=(padding, 0), pad_list=None,"
    " mode=1, stride=1, dilation=1, group=(groups, 1), data_format='NCHW')"
    "(dout=x, weight=weight, input_size=input_size)",
    "Conv2DBackpropInput(out_channel, kernel_size, pad_mode='valid', pad=(padding, 0),"
    " pad_list=None, mode=1, stride=1, dilation=1, group=(groups, 1), data_format='NCHW')"
    "(dout=x, weight=weight, input_size=input_size)",
)
def conv2d_backprop_input(
    x,
    weight,
    input_size,
    out_channel=None,
    kernel_size=None,
    pad_mode="valid",
    padding=0,
    pad_list=None,
    mode=1,
    stride=1,
    dilation=1,
    groups=1,
    data_format="NCHW",
):
    """The derivative of `Conv2D` by its input, given that by its output.

    Args:
        x: [N, O, H', W'].
        weight: [O, C / groups, *kernel].
        input_size: the shape (N, C, H, W) of the result.
        out_channel: the number of output channels, which the weight must have; None, the default,
            for no check.
        kernel_size: the size of the kernel, which the weight must have; None, the default, for no
            check.
        pad_mode: that of the convolution: 'valid' (the default), 'same' or 'pad'.
        padding: that of the convolution, for 'pad'; 0 by default.
        pad_list: another name for `padding`; None, the default, leaves it to that.
        mode: 1, the only one.
        stride: the steps from window to window, one number or two for (H, W); 1 by default.
        dilation: the distance between neighbouring elements of a window, one number or two; 1 by
            default.
        groups: the number of groups of channels that are convolved separately, 1 by default.
        data_format: 'NCHW', the only one.

    Raises:
        ValueError: a convolution of an `input_size` does not give the shape of x.

    Example:
        >>> x, w = ops.ones((1, 1, 2, 2), mycel.float32), ops.ones((1, 1, 2, 2), mycel.float32)
        >>> print(ops.Conv2DTranspose(1, 2)(x, w, (1, 1, 3, 3))[0, 0])
        [[1. 2. 1.]
         [2. 4. 2.]
         [1. 2. 1.]]
    """
    size = input_size.asnumpy().tolist() if hasattr(input_size, "asnumpy") else input_size
    space = weight.ndim - 2
    stride = several(_without_batch(stride), space, "The stride")
    dilation = several(_without_batch(dilation), space, "The dilation")
    _check_names(weight, kernel_size, mode, data_format)
    if out_channel not in (None, weight.shape[0]):
        raise ValueError(f"out_channel is {out_channel}, but the weight has {weight.shape[0]}.")
    lengths, kernel = tuple(size[2:]), weight.shape[2:]
    pads = same_or_given(pad_mode, pad_list or padding, lengths, kernel, stride, dilation)
    spans = zip(lengths, kernel, pads, stride, dilation, strict=True)
    given = tuple((n + sum(pad) - (k - 1) * d - 1) // s + 1 for n, k, pad, s, d in spans)
    expected = (size[0], weight.shape[0], *given)
    if tuple(x.shape) != expected or size[1] != weight.shape[1] * groups:
        raise ValueError(
            f"A convolution of {tuple(size)} with a weight {weight.shape} gives {expected}, "
            f"not {tuple(x.shape)}."
        )
    full = full_lengths(x.shape[2:], kernel, stride, dilation)
    ends = zip(full, lengths, pads, strict=True)
    cuts = tuple((front, whole - n - front) for whole, n, (front, _) in ends)
    return transposed_convolution(x, weight, stride, cuts, dilation, groups)


def _without_batch(numbers):
    """(1, 1, h, w) as (h, w): an older way to write a stride."""
    return numbers[2:] if isinstance(numbers, (tuple, list)) and len(numbers) == 4 else numbers


def _check_names(weight, kernel_size, mode, data_format):
    if mode != 1 or data_format not in PLAIN:
        raise ValueError(f"Only mode 1 and NCHW are supported, not {mode} and {data_format!r}.")
    if kernel_size is not None:
        sizes = several(kernel_size, weight.ndim - 2, "kernel_size")
        if tuple(sizes) != weight.shape[2:]:
            raise ValueError(f"kernel_size is {sizes}, but the weight has {weight.shape[2:]}.")


@composite(
    "Conv3DTranspose(in_channel, out_channel, kernel_size, mode=1, pad_mode='valid',"
    " pad=(padding, 0), stride=1, dilation=1, group=(groups, 1), output_padding=0,"
    " data_format='NCDHW')(dout=x, weight=weight)"
)
def conv3d_transpose(
    x,
    weight,
    in_channel=None,
    out_channel=None,
    kernel_size=None,
    mode=1,
    pad_mode="valid",
    padding=0,
    stride=1,
    dilation=1,
    groups=1,
    output_padding=0,
    data_format="NCDHW",
):
    """A transposed convolution in three dimensions.

    Args:
        x: [N, I, D, H, W].
        weight: [I, O / groups, *kernel].
        in_channel: the number of input channels, which the weight must have; None, the default, for
            no check.
        out_channel: the number of output channels, which the weight must have; None, the default,
            for no check.
        kernel_size: the size of the kernel, which the weight must have; None, the default, for no
            check.
        mode: 1, the only one.
        pad_mode: 'valid' (nothing is cut off, the default), 'same' (as many outputs as inputs ·
            stride) or 'pad' (`padding` is cut off).
        padding: with pad_mode 'pad' what is cut off: one number, three, or six.
        stride: the steps between the kernels in the result, one number or three; 1 by default.
        dilation: the distance between neighbouring elements of a kernel, one number or three; 1 by
            default.
        groups: the number of groups of channels that are convolved separately, 1 by default.
        output_padding: how much longer the result is at the end, with 'pad'.
        data_format: 'NCDHW', the only one.

    Raises:
        ValueError: shapes, channels or attributes do not fit together.

    Example:
        >>> x, w = ops.ones((1, 1, 1, 1, 2)), ops.ones((1, 1, 1, 1, 2))
        >>> print(ops.Conv3DTranspose(1, 1, (1, 1, 2))(x, w).asnumpy().ravel())
        [1. 2. 1.]
    """
    _check_names(weight, kernel_size, mode, data_format)
    if in_channel not in (None, weight.shape[0]):
        raise ValueError(f"in_channel is {in_channel}, but the weight has {weight.shape[0]}.")
    if out_channel not in (None, weight.shape[1] * groups):
        outputs = weight.shape[1] * groups
        raise ValueError(f"out_channel is {out_channel}, but the weight has {outputs}.")
    settings = stride, padding, output_padding, groups, dilation, pad_mode
    return conv_transpose(x, weight, None, *settings)


@composite(
    "DepthwiseConv2dNative(channel_multiplier, kernel_size, mode=3, pad_mode='valid',"
    " pad=(padding, 0), stride=1, dilation=1, group=1)(x=x, weight=weight)"
)
def depthwise_conv2d(
    x,
    weight,
    channel_multiplier=1,
    kernel_size=None,
    mode=3,
    pad_mode="valid",
    padding=0,
    stride=1,
    dilation=1,
    group=1,
):
    """Each channel of x is convolved by itself, with `channel_multiplier` kernels.

    Args:
        x: [N, C, H, W].
        weight: [channel_multiplier, C, *kernel].
        channel_multiplier: the number of kernels for each channel, 1 by default.
        kernel_size: the size of the kernel, which the weight must have; None, the default, for no
            check.
        mode: no effect.
        pad_mode: 'valid' (no padding, the default), 'same' (as many outputs as inputs / stride,
            rounded up) or 'pad' (`padding` zeros).
        padding: for 'pad', the number of zeros: one for all sides, two for (H, W), or four for
            (top, bottom, left, right); 0 by default.
        stride: the steps from window to window, one number, two for (H, W), or (1, 1, H, W); 1 by
            default.
        dilation: the distance between neighbouring elements of a window, in the same forms; 1 by
            default.
        group: no effect.

    Raises:
        ValueError: shapes or attributes do not fit together.

    Example:
        >>> x, weight = ops.ones((1, 2, 3, 3)), ops.ones((1, 2, 3, 3))
        >>> print(ops.DepthwiseConv2dNative(1, 3)(x, weight).asnumpy().ravel())
        [9. 9.]
    """
    if channel_multiplier != weight.shape[0] or x.shape[1] != weight.shape[1]:
        raise ValueError(
            f"{x.shape[1]} channels with {channel_multiplier} kernels for each need a weight "
            f"({channel_multiplier}, {x.shape[1]}, …), not {weight.shape}."
        )
    channels, kernel = weight.shape[1], weight.shape[2:]
    weight = weight.swapaxes(0, 1).reshape((channels * channel_multiplier, 1, *kernel))
    stride, dilation = _without_batch(stride), _without_batch(dilation)
    settings = 1, stride, pad_mode, padding, dilation, channels
    return convolution(x, weight, None, kernel_size, *settings)
