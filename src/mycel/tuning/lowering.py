# SPDX-License-Identifier: Apache-2.0
"""How the heavy operators are written for XLA, by platform: the one place of such choices.

XLA's CPU backend has fast matrix products and slow convolutions of few channels; on accelerators
the compiler knows best. Everything here takes NCHW and OIHW, MindSpore's layouts.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.backend import on_cpu
from mycel.tuning.native import cpp

# Up to this many input channels a convolution on CPU is quicker as patches and one product. Such
# inputs are pictures, so that the slow part, the gradient of the patches, is not asked for.
FEW_CHANNELS = 4
# With at most so many weights, the gradient of such a convolution's weight is left to XLA.
FEW_WEIGHTS = 512
# With no more windows than this (in all of a batch), and weights of many channels, one product over
# patches is quicker: XLA's own convolution packs the weight anew at each call.
FEW_WINDOWS, MANY_WEIGHTS = 256, 64 * 64
# Up to this many channels are convolved without packing anything.
MOST_DIRECT = 64
# With fewer channels, or places in all of a batch, pointwise convolutions are left to XLA.
MANY_CHANNELS, MANY_PLACES = 32, 128
# With at least so many windows in each image, pointwise convolutions are products image by image.
MANY_WINDOWS = 512
# A product of whole rows may have so many channels, times windows, for each row of x and element of
# a kernel's row: measured where it is as fast as XLA's own gradient.
SHORT_ROWS = 12
# So many groups are convolved one by one; more of them in products over all groups at once.
FEW_GROUPS = 8
# Functions in C++ keep so many floats near; with ten times as many XLA was faster.
MOST_NEAR = 1 << 20
# Kernels with more elements than this are left to XLA, where the code would grow with them.
MOST_KERNEL = 49


def convolve(x, weight, stride, pads, dilation, groups):
    """The convolution of x [N, C, *space] with a weight [O, C / groups, *kernel].

    Args:
        stride, dilation: one number for each dimension of space.
        pads: (in front, behind) for each of them.
    """
    if not on_cpu() or 0 in x.shape or 0 in weight.shape:
        return _general(x, weight, stride, pads, dilation, groups)
    is_pointwise = groups == 1 and weight.shape[2:] == (1, 1) and not any(map(any, pads))
    if is_pointwise:
        x, stride, dilation = x[:, :, :: stride[0], :: stride[1]], (1, 1), (1, 1)
    elif groups == 1 and _has_few_windows(x, weight, stride, pads, dilation):
        return _product_over_patches(x, weight, stride, pads, dilation)
    window, library = (stride, pads, dilation), _library(x, weight, groups, is_pointwise)
    if library and cpp.serves(library, x, weight):
        return _native(library, x, weight, window)
    return _plain(x, weight, window, groups)


def _plain(x, weight, window, groups):
    """A convolution on a CPU by what XLA has."""
    stride, pads, dilation = window
    if weight.shape[1:] == (x.shape[1], 1, 1) and {*stride} == {1} and not any(map(any, pads)):
        return _pointwise(x, weight)
    if groups > 1:
        return _grouped(x, weight, stride, pads, dilation, groups)
    if weight.ndim == 4 and x.shape[1] <= FEW_CHANNELS:
        if _few_outputs(weight.shape, stride):
            return _by_forms(x, weight, window, _FEW_OUTPUTS)
        return _patches_product(x, weight, *window)
    if _is_long(x, weight, *window) and math.prod(weight.shape[2:]) <= MOST_KERNEL:
        return _product_over_patches(x, weight, *window)
    if _short_rows(x, weight, *window):
        return _by_forms(x, weight, window, _ROWS_BACK)
    return _general(x, weight, *window)


def _library(x, weight, groups, is_pointwise) -> str:
    """Which functions in C++ a convolution is for; none is left to XLA.

    Where there are few channels, packing what windows meet takes longer than it saves. A row of all
    channels of a group, or a picture by channel, is kept near, and may be too large for that.
    """
    places = x.shape[0] * math.prod(x.shape[2:])
    if weight.ndim > 4 or not isinstance(places, int):  # an open number is none
        return ""
    if groups > 1 and weight.shape[1] == 1:
        return "depthwise" if math.prod(x.shape[2:]) <= MOST_NEAR else ""
    channels = max(weight.shape[0] // groups, weight.shape[1])
    if channels * x.shape[-1] > MOST_NEAR:
        return ""
    if is_pointwise:
        return "convolution" if weight.shape[1] >= MANY_CHANNELS and places >= MANY_PLACES else ""
    return "direct" if channels <= MOST_DIRECT else "convolution"


def _native(library, x, weight, window):
    """A convolution by the functions of a library in `native`."""
    if x.ndim == 4:
        return _by_forms(x, weight, (library, window), _NATIVE)
    window = ((1, *window[0]), ((0, 0), *window[1]), (1, *window[2]))
    flat: Any = _by_forms(x[:, :, None], weight[:, :, None], (library, window), _NATIVE)
    return flat[:, :, 0]


def _native_forward(x, weight, library, window):
    stride, pads, dilation = window
    sizes = _sizes(x.shape[2:], weight.shape[2:], stride, dilation, pads)
    shape, groups = (x.shape[0], weight.shape[0], *sizes), x.shape[1] // weight.shape[1]

    def plain(x, weight):
        return _plain(x, weight, window, groups)

    return _called(f"{library}_forward", plain, shape, (x, weight), window, sizes)


def _native_gradient_of_x(x, weight, cotangent, library, window):
    shape, groups = x.shape, x.shape[1] // weight.shape[1]

    def plain(cotangent, weight):
        zeros = jnp.zeros(shape, weight.dtype)  # it is the same for every x
        return jax.vjp(lambda x: _plain(x, weight, window, groups), zeros)[1](cotangent)[0]

    arrays, sizes = (cotangent, weight), cotangent.shape[2:]
    return _called(f"{library}_gradient_of_x", plain, shape, arrays, window, sizes)


def _native_gradient_of_weight(x, weight, cotangent, library, window):
    shape, groups = weight.shape, x.shape[1] // weight.shape[1]

    def plain(x, cotangent):
        zeros = jnp.zeros(shape, x.dtype)
        return jax.vjp(lambda weight: _plain(x, weight, window, groups), zeros)[1](cotangent)[0]

    arrays, sizes = (x, cotangent), cotangent.shape[2:]
    return _called(f"{library}_gradient_of_weight", plain, shape, arrays, window, sizes)


_NATIVE = (_native_forward, _native_gradient_of_x, _native_gradient_of_weight)


def _called(name, plain, shape, arrays, window, sizes):
    """What a function in C++ gives, for windows of so many `sizes`; `plain` is the same in JAX."""
    stride, pads, dilation = window
    # Of one window there is no next one, however far: memory is by strides.
    stride = [1 if n == 1 else s for n, s in zip(sizes, stride, strict=True)]
    numbers = np.array([*stride, *dilation, *(front for front, _ in pads)], np.int64)
    results = [jax.ShapeDtypeStruct(shape, np.float32)]

    return cpp.call(name, lambda *given: [plain(*given)], results, arrays, window=numbers)[0]


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _by_forms(x, weight, window, forms):
    """A convolution whose derivatives are computed in other ways than itself.

    Args:
        forms: the convolution and the gradients of x and of the weight, as functions of
            `(x, weight, *window)` and `(x, weight, cotangent, *window)`.
    """
    return forms[0](x, weight, *window)


def _by_forms_forward(x, weight, window, forms):
    arrays = x.value, weight.value
    # What is kept must be arrays: whether a gradient is asked for is told by what is no array.
    asked = [() if array.perturbed else None for array in (x, weight)]
    return forms[0](*arrays, *window), (arrays, asked)


def _by_forms_reverse(window, forms, kept, cotangent):
    arrays, asked = kept
    if isinstance(cotangent, jax.custom_derivatives.SymbolicZero):
        return None, None
    return tuple(
        None if there is None else gradient(*arrays, cotangent, *window)
        for gradient, there in zip(forms[1:], asked, strict=True)
    )


_by_forms.defvjp(_by_forms_forward, _by_forms_reverse, symbolic_zeros=True)


def _gradients_of(form):
    """The gradients of x and of the weight of a convolution that JAX derives."""

    def of_x(x, weight, cotangent, *window):
        return jax.vjp(lambda x: form(x, weight, *window), x)[1](cotangent)[0]

    def of_weight(x, weight, cotangent, *window):
        return jax.vjp(lambda weight: form(x, weight, *window), weight)[1](cotangent)[0]

    return of_x, of_weight


def _few_outputs(shape, stride) -> bool:
    """Whether there are fewer channels to make than a patch has elements: the product of patches
    and gradients then is slow for the gradient of the weight."""
    outputs, elements = shape[0], math.prod(shape[1:])
    return {*stride} == {1} and outputs < elements and outputs * elements <= FEW_WEIGHTS


def _short_rows(x, weight, stride, pads, dilation) -> bool:
    """Whether the gradient of x is quicker as a product of whole rows, most of which is with
    zeros: for large kernels over small pictures of few channels, so many that there are more rows
    than the matrix of zeros has."""
    if len(stride) != 2 or {*stride, *dilation} != {1}:
        return False
    images, channels, rows, _ = x.shape
    outputs, _, _, across = weight.shape
    height, width = _sizes(x.shape[2:], weight.shape[2:], stride, dilation, pads)
    little = channels * height * width <= SHORT_ROWS * rows * across
    return little and outputs * width <= images * height


def _is_long(x, weight, stride, pads, dilation) -> bool:
    """Whether a kernel is longer than its input or, for the gradient, its output.

    For such a kernel XLA's own convolution has no fast code at all on a CPU (measured 50 times
    slower), and the compiler of JAX 0.10 may even end the process in the gradient.
    """
    kernel, lengths = weight.shape[2:], x.shape[2:]
    sizes = _sizes(lengths, kernel, stride, dilation, pads)
    return any(k > min(n, size) for k, n, size in zip(kernel, lengths, sizes, strict=True))


def _has_few_windows(x, weight, stride, pads, dilation) -> bool:
    """Whether there are few windows for many weights: XLA's own convolution is slow, and so is
    what keeps windows in vectors."""
    if (
        weight.shape[0] * weight.shape[1] < MANY_WEIGHTS
        or math.prod(weight.shape[2:]) > MOST_KERNEL
    ):
        return False
    windows = x.shape[0] * math.prod(_sizes(x.shape[2:], weight.shape[2:], stride, dilation, pads))
    return isinstance(windows, int) and windows <= FEW_WINDOWS  # an open number is none


def _grouped(x, weight, stride, pads, dilation, groups):
    """A convolution in groups; XLA's own is slow on CPU, and its derivatives more so (up to 200
    times)."""
    if math.prod(weight.shape[2:]) > MOST_KERNEL:
        return _general(x, weight, stride, pads, dilation, groups)
    if weight.shape[1] == 1:
        return _by_forms(x, weight, (stride, pads, dilation), _BY_CHANNEL)
    if groups <= FEW_GROUPS:
        parts = zip(jnp.split(x, groups, 1), jnp.split(weight, groups), strict=True)
        return jnp.concatenate(
            [convolve(part, own, stride, pads, dilation, 1) for part, own in parts], 1
        )
    return _products_by_group(x, weight, stride, pads, dilation, groups)


def _by_channel(x, weight, stride, pads, dilation):
    """Every channel by kernels of its own: what each element of the kernel meets, times a number.

    All of it is one loop for XLA.
    """
    repeated = jnp.repeat(_padded(x, pads, 0), weight.shape[0] // x.shape[1], 1)
    met = _elements(repeated.astype(_wide(x.dtype)), weight.shape[2:], stride, dilation)
    parts = [element * factor for element, factor in zip(met, _factors(weight), strict=True)]
    return functools.reduce(jnp.add, parts).astype(x.dtype)


def _factors(weight):
    """For each element of a kernel, its number for every channel of the output."""
    ones = [1] * (weight.ndim - 2)
    rows = weight.astype(_wide(weight.dtype)).reshape(weight.shape[0], -1, *ones)
    return [rows[:, n] for n in range(rows.shape[1])]


def _by_channel_gradient_of_x(x, weight, cotangent, stride, pads, dilation):
    """One loop again, over the cotangent with zeros around it; and one for each remainder by the
    stride. XLA pads once, where it would compute the cotangent anew for each element."""
    kernel, wide = weight.shape[2:], _wide(x.dtype)
    rows = _rows_by_stride(x.shape[2:], stride, pads)
    most = [(k - 1) * d // s for k, d, s in zip(kernel, dilation, stride, strict=True)]
    behind = [max(0, n - m) for n, m in zip(rows, cotangent.shape[2:], strict=True)]
    padded = _padded(cotangent, list(zip(most, behind, strict=True)), 0).astype(wide)
    nothing = jnp.zeros((*cotangent.shape[:2], *rows), wide)
    sums = dict.fromkeys(np.ndindex(*stride), nothing)
    for offset, factor in zip(np.ndindex(*kernel), _factors(weight), strict=True):
        places = [o * d for o, d in zip(offset, dilation, strict=True)]
        starts = [m - p // s for m, p, s in zip(most, places, stride, strict=True)]
        cut = [slice(start, start + n) for start, n in zip(starts, rows, strict=True)]
        remainder = tuple([p % s for p, s in zip(places, stride, strict=True)])
        sums[remainder] += padded[(..., *cut)] * factor
    gradient = _woven(sums, (*cotangent.shape[:2], *x.shape[2:]), stride, pads)
    return gradient.reshape(*x.shape[:2], -1, *x.shape[2:]).sum(2).astype(x.dtype)


_BY_CHANNEL = (_by_channel, _by_channel_gradient_of_x, _gradients_of(_by_channel)[1])


def _products_of_rows(x, weight, stride, pads, dilation):
    """One product of whole rows of x, all that a row of the output meets, with a matrix that has
    the rows of the kernel beside its diagonals. The stride and the dilation are 1."""
    padded, kernel = _padded(x, pads, 0), weight.shape[2:]
    height, width = _sizes(padded.shape[2:], kernel, stride, dilation)
    met = jnp.stack([padded[:, :, row : row + height] for row in range(kernel[0])], 3)
    diagonals = [np.eye(padded.shape[3], width, -column) for column in range(kernel[1])]
    matrix = jnp.einsum("ocyk,kvw->ycvow", weight, np.stack(diagonals).astype(x.dtype))
    product = jnp.einsum("nchyv,ycvow->nohw", met, matrix, preferred_element_type=_wide(x.dtype))
    return product.astype(x.dtype)


def _product_over_patches(x, weight, stride, pads, dilation):
    """One matrix product of the weight, as it lies, with a column for every window; so are both
    derivatives, and neither moves the weight."""
    elements = _elements(_padded(x, pads, 0), weight.shape[2:], stride, dilation)
    columns = jnp.stack(elements, 2).reshape(x.shape[0], math.prod(weight.shape[1:]), -1)
    matrix, wide = weight.reshape(weight.shape[0], -1), _wide(x.dtype)
    product = jnp.einsum("ok,nks->nos", matrix, columns, preferred_element_type=wide)
    return product.reshape(*product.shape[:2], *elements[0].shape[2:]).astype(x.dtype)


def _products_by_group(x, weight, stride, pads, dilation, groups):
    """One matrix product for each element of the kernel, for all groups at once, added up."""
    kernel, wide = weight.shape[2:], _wide(x.dtype)
    padded = _padded(x, pads, 0)
    padded = padded.reshape(x.shape[0], groups, -1, *padded.shape[2:])
    matrices = weight.reshape(groups, -1, weight.shape[1], math.prod(kernel))
    parts = [
        jnp.einsum("ngc...,goc->ngo...", element, matrices[..., n], preferred_element_type=wide)
        for n, element in enumerate(_elements(padded, kernel, stride, dilation))
    ]
    total = functools.reduce(jnp.add, parts)
    return total.reshape(x.shape[0], weight.shape[0], *total.shape[3:]).astype(x.dtype)


def _wide(dtype):
    """The type of sums: Float32 for the short types."""
    return np.promote_types(np.float32, dtype) if dtype.itemsize < 4 else np.dtype(dtype)


def _general(x, weight, stride, pads, dilation, groups=1):
    # More zeros than the kernel reaches are laid around x before: for them the gradient of x would
    # be a convolution with less than no padding in front and some behind, in which XLA's CPU code
    # reads beside its input.
    reach = [(k - 1) * d for k, d in zip(weight.shape[2:], dilation, strict=True)]
    inner = [(min(a, r), min(b, r)) for (a, b), r in zip(pads, reach, strict=True)]
    x = _padded(x, [(a - c, b - d) for (a, b), (c, d) in zip(pads, inner, strict=True)], 0)
    space = "DHW"[-len(stride) :]
    layout = ("NC" + space, "OI" + space, "NC" + space)
    return lax.conv_general_dilated(
        x,
        weight,
        stride,
        inner,
        rhs_dilation=dilation,
        dimension_numbers=layout,
        feature_group_count=groups,
    )


def _pointwise(x, weight):
    matrix = weight[:, :, 0, 0]
    if math.prod(x.shape[2:]) < MANY_WINDOWS:
        return jnp.einsum("nchw,oc->nohw", x, matrix)
    return _product_by_image(matrix, x.reshape(*x.shape[:2], -1), x.shape[2:])


def _product_by_image(matrix, columns, sizes):
    """A matrix times the columns of every image [N, C, H·W]: the result is in NCHW at once, where
    one product for all of them would have to move the channels to the end and back."""
    every = jnp.broadcast_to(matrix, (columns.shape[0], *matrix.shape))
    return jnp.matmul(every, columns).reshape(columns.shape[0], -1, *sizes)


def _patches_product(x, weight, stride, pads, dilation):
    """Every patch as a column, and the weight as a matrix times all of them."""
    outputs, _, *kernel = weight.shape
    x = jnp.pad(x, ((0, 0), (0, 0), *pads))
    sizes = _sizes(x.shape[2:], kernel, stride, dilation)
    patches = [
        _every(x, (i * dilation[0], j * dilation[1]), sizes, stride)
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    columns = jnp.concatenate(patches, 1).reshape(x.shape[0], -1, sizes[0] * sizes[1])
    matrix = weight.transpose(0, 2, 3, 1).reshape(outputs, -1)
    return _product_by_image(matrix, columns, sizes)


def _every(x, starts, sizes, stride):
    ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, stride, strict=True)]
    return x[:, :, starts[0] : ends[0] : stride[0], starts[1] : ends[1] : stride[1]]


_FEW_OUTPUTS = (_patches_product, _gradients_of(_patches_product)[0], _gradients_of(_general)[1])
_ROWS_BACK = (_general, _gradients_of(_products_of_rows)[0], _gradients_of(_general)[1])


# Windows with more elements than this are left to XLA: the code would grow with them.
MOST_ELEMENTS = 36


def maximum_of_windows(x, kernel, stride, pads, dilation):
    """The maximum of every window over the last dimensions of x.

    Args:
        kernel, stride, dilation: one number for each of these dimensions; `pads`: pairs.
    """
    filler = lowest(x.dtype)
    if not on_cpu() or math.prod(kernel) > MOST_ELEMENTS:
        return _reduced(x, filler, lax.max, kernel, stride, pads, dilation)
    if _tiles(x.shape, kernel, stride, pads, dilation):
        blocks, inner = _blocks(x, kernel)
        return _channels_back(blocks.max(inner), x.shape[: x.ndim - len(kernel)])
    padded = _padded(x, pads, filler)
    return functools.reduce(jnp.maximum, _elements(padded, kernel, stride, dilation))


def maximum_of_windows_reverse(x, output, cotangent, kernel, stride, pads, dilation):
    """The gradient of `maximum_of_windows`: it goes to the first maximum of each window.

    XLA's own derivative does so too, but is slow on CPU (measured 3 to 11 times).
    """
    filler = lowest(x.dtype)
    if not on_cpu() or math.prod(kernel) > MOST_ELEMENTS:
        _, pull = jax.vjp(lambda x: _reduced(x, filler, lax.max, kernel, stride, pads, dilation), x)
        return pull(cotangent)[0]
    if _tiles(x.shape, kernel, stride, pads, dilation):
        return _tiled_reverse(x, cotangent, kernel)
    elements = elements_of_windows(x, kernel, stride, pads, dilation, filler)
    first = jnp.full(output.shape, len(elements), np.int32)
    for number, element in reversed(list(enumerate(elements))):
        first = jnp.where(element == output, np.int32(number), first)
    nothing = jnp.zeros((), cotangent.dtype)
    parts = [jnp.where(first == n, cotangent, nothing) for n in range(len(elements))]
    return _laid_back(parts, x.shape, kernel, stride, pads, dilation)


def _laid_back(parts, shape, kernel, stride, pads, dilation):
    """What every element of the kernel has for each window, added up where it was taken from: the
    transpose of `elements_of_windows`.

    Places with the same remainder by the stride are added up apart from the others, and woven
    together at the end. In JAX's own derivative all parts have zeros woven in before they are
    added, and most of what is added is those (measured twice as long).
    """
    front = len(shape) - len(kernel)
    rows = _rows_by_stride(shape[front:], stride, pads)
    nothing, none = jnp.zeros((), parts[0].dtype), [(0, 0, 0)] * front
    sums = dict.fromkeys(np.ndindex(*stride), jnp.zeros((*shape[:front], *rows), nothing.dtype))
    for offset, part in zip(np.ndindex(*kernel), parts, strict=True):
        places = [o * d for o, d in zip(offset, dilation, strict=True)]
        before = [place // s for place, s in zip(places, stride, strict=True)]
        around = zip(before, rows, part.shape[front:], strict=True)
        moved = lax.pad(part, nothing, none + [(b, row - b - n, 0) for b, row, n in around])
        sums[tuple([place % s for place, s in zip(places, stride, strict=True)])] += moved
    return _woven(sums, shape, stride, pads)


def _rows_by_stride(lengths, stride, pads):
    """How many places with one remainder by the stride there are in each padded dimension."""
    padded = [n + sum(pad) for n, pad in zip(lengths, pads, strict=True)]
    return [-(-n // s) for n, s in zip(padded, stride, strict=True)]


def _woven(sums, shape, stride, pads):
    """One Tensor of this shape from those for each remainder by the stride; padding is cut off."""
    front, rows = len(shape) - len(stride), sums[(0,) * len(stride)].shape[-len(stride) :]
    whole = jnp.stack([*sums.values()], -1).reshape(*shape[:front], *rows, *stride)
    space = range(front, front + len(stride))
    woven = [axis for place in space for axis in (place, place + len(stride))]
    ends = [row * s for row, s in zip(rows, stride, strict=True)]
    whole = whole.transpose(*range(front), *woven).reshape(*shape[:front], *ends)
    cut = [slice(low, low + n) for n, (low, _) in zip(shape[front:], pads, strict=True)]
    return whole[(..., *cut)]


def _tiled_reverse(x, cotangent, kernel):
    """Every block compares its elements' positions with that of its first maximum."""
    blocks, inner = _blocks(x, kernel)
    elements = math.prod(kernel)
    shape = [1] * blocks.ndim
    for axis, k in zip(inner, kernel, strict=True):
        shape[axis] = k
    positions = np.arange(elements, dtype=np.int32).reshape(shape)
    top = blocks.max(inner, keepdims=True)
    first = jnp.where(blocks == top, positions, np.int32(elements)).min(inner, keepdims=True)
    gradient = jnp.expand_dims(_channels_last(cotangent, len(kernel)), inner)
    chosen = jnp.where(positions == first, gradient, jnp.zeros((), gradient.dtype))
    front, space = x.shape[: x.ndim - len(kernel)], x.shape[x.ndim - len(kernel) :]
    return _channels_back(chosen.reshape(chosen.shape[0], *space, chosen.shape[-1]), front)


# Blocks are reduced with the channels last, where XLA's loops over them are vectors: measured
# 1.3 times faster in a LeNet step than in NCHW, and the transposes join their neighbours.


def _channels_last(x, space):
    """[N, C, *space] as [N, *space, C]; what has fewer dimensions in front gets channels of 1."""
    x = x if x.ndim == space + 2 else x.reshape(-1, 1, *x.shape[x.ndim - space :])
    return jnp.moveaxis(x, 1, -1)


def _channels_back(x, front):
    """The inverse; `front` has the lengths in front of space."""
    x = jnp.moveaxis(x, -1, 1)
    return x.reshape(*front, *x.shape[2:])


def _blocks(x, kernel):
    """x as blocks of the shape of a kernel, and the dimensions inside of blocks."""
    space = len(kernel)
    x = _channels_last(x, space)
    cut = [n for length, k in zip(x.shape[1:-1], kernel, strict=True) for n in (length // k, k)]
    return x.reshape(x.shape[0], *cut, x.shape[-1]), tuple(2 + 2 * i for i in range(space))


def elements_of_windows(x, kernel, stride, pads, dilation, filler):
    """For each element of the kernel, what it meets in every window."""
    return _elements(_padded(x, pads, filler), kernel, stride, dilation)


def sum_of_windows(x, kernel, stride, pads, dilation):
    """The sum of every window over the last dimensions of x; padding adds nothing."""
    if _tiles(x.shape, kernel, stride, pads, dilation):
        # A plain reduction, whose derivative is a broadcast.
        front = x.ndim - len(kernel)
        cut = [(n // k, k) for n, k in zip(x.shape[front:], kernel, strict=True)]
        inner = tuple(front + 2 * i + 1 for i in range(len(kernel)))
        return x.reshape(*x.shape[:front], *[n for pair in cut for n in pair]).sum(inner, x.dtype)
    return _reduced(x, np.zeros((), x.dtype), lax.add, kernel, stride, pads, dilation)


def _tiles(shape, kernel, stride, pads, dilation) -> bool:
    """Whether the windows cover x exactly once."""
    lengths = shape[len(shape) - len(kernel) :]
    return (
        kernel == stride
        and not any(map(any, pads))
        and all(d == 1 for d in dilation)
        and all(n % k == 0 for n, k in zip(lengths, kernel, strict=True))
    )


def lowest(dtype):
    """The number below all others of an element type."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return np.array(-np.inf, dtype)
    return np.array(jnp.iinfo(dtype).min, dtype)


def _padded(x, pads, filler):
    if not any(map(any, pads)):
        return x
    front = x.ndim - len(pads)
    widths = [(0, 0, 0)] * front + [(low, high, 0) for low, high in pads]
    return lax.pad(x, jnp.array(filler, x.dtype), widths)


def _sizes(lengths, kernel, stride, dilation, pads=None):
    """How many windows there are in each dimension."""
    if pads is not None:
        lengths = [n + sum(pad) for n, pad in zip(lengths, pads, strict=True)]
    spans = zip(lengths, kernel, stride, dilation, strict=True)
    return [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in spans]


def _elements(x, kernel, stride, dilation, behind=0):
    """For each element of the kernel, where it meets x: every window's share, as a Tensor.

    Args:
        behind: how many dimensions of x stand behind those of the windows.
    """
    front = x.ndim - len(kernel) - behind
    rest = x.shape[x.ndim - behind :]
    sizes = _sizes(x.shape[front : x.ndim - behind], kernel, stride, dilation)
    elements = []
    for offset in np.ndindex(*kernel):
        starts = [o * d for o, d in zip(offset, dilation, strict=True)]
        ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, stride, strict=True)]
        begin, end = (0,) * front + tuple(starts), (*x.shape[:front], *ends)
        steps = (1,) * front + tuple(stride) + (1,) * behind
        elements.append(lax.slice(x, begin + (0,) * behind, end + rest, steps))
    return elements


def _reduced(x, start, reduce, kernel, stride, pads, dilation):
    front = x.ndim - len(kernel)
    ones = (1,) * front
    return lax.reduce_window(
        x,
        start,
        reduce,
        ones + kernel,
        ones + stride,
        ((0, 0),) * front + tuple(pads),
        window_dilation=ones + dilation,
    )
