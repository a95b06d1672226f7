# SPDX-License-Identifier: Apache-2.0
"""Boxes in images, as corners x1, y1, x2, y2: overlaps, codes, selection.

Corners name pixels, both of which belong to the box: a box from 2 to 5 is 4 wide.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.common import promoted
from mycel.ops.random.drawing import as_key, draw_key

NO_SHIFT = (0.0, 0.0, 0.0, 0.0)
NO_SCALE = (1.0, 1.0, 1.0, 1.0)


def _boxes(x, what: str, columns: int = 4):
    if x.ndim != 2 or x.shape[1] != columns:
        raise ValueError(f"{what} must be of shape [N, {columns}], not {x.shape}.")


def _sides(low, high):
    """The length between two corners, in pixels."""
    return high - low + jnp.ones((), low.dtype)


def _overlaps(rows, columns, length):
    """The shared area of every box of `rows` with every one of `columns`, and both areas."""
    shared = 1
    for axis in (0, 1):
        low = jnp.maximum(rows[:, None, axis], columns[None, :, axis])
        high = jnp.minimum(rows[:, None, axis + 2], columns[None, :, axis + 2])
        shared = shared * jnp.maximum(length(low, high), 0)
    areas = [length(b[:, 0], b[:, 2]) * length(b[:, 1], b[:, 3]) for b in (rows, columns)]
    return shared, *areas


@op("ops.iou(anchor_boxes=anchors, gt_boxes=truths, mode=mode)",
    "IOU(mode=mode)(anchor_boxes=anchors, gt_boxes=truths)")  # fmt: skip
def iou(anchors, truths, *, mode="iou"):
    """How much boxes overlap: the shared area over that of both together, or of the truth.

    Args:
        anchors: corners, [N, 4].
        truths: corners, [M, 4].
        mode: 'iou' divides by the area of the union, 'iof' by that of the truth.

    Returns:
        [M, N]; its derivative is zero.

    Raises:
        KeyError: the mode is unknown.
        ValueError: the shapes do not fit.

    Example:
        >>> print(ops.iou(Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([[1.0, 0.0, 2.0, 1.0]])))
        [[0.33333334]]
    """
    if mode not in ("iou", "iof"):
        raise KeyError(f"The mode of iou must be 'iou' or 'iof', not {mode!r}.")
    _boxes(anchors, "anchor_boxes")
    _boxes(truths, "gt_boxes")
    anchors, truths = map(lax.stop_gradient, promoted(anchors, truths))
    # Areas do not fit into half precision.
    wide = np.promote_types(anchors.dtype, np.float32)
    boxes = truths.astype(wide), anchors.astype(wide)
    shared, truth_areas, anchor_areas = _overlaps(*boxes, _sides)
    whole = truth_areas[:, None]
    if mode == "iou":
        whole = whole + anchor_areas[None, :] - shared
    # Boxes without an area share nothing.
    return (shared / jnp.where(whole == 0, 1, whole)).astype(anchors.dtype)


def _centred(boxes):
    """The middle and the side of each box, each [N, 2]."""
    low, high = boxes[:, :2], boxes[:, 2:]
    return (low + high) * jnp.array(0.5, boxes.dtype), _sides(low, high)


def _code_settings(means, stds, dtype):
    if len(means) != 4 or len(stds) != 4:
        raise ValueError(f"means and stds have 4 numbers each, not {means} and {stds}.")
    return jnp.array(means, dtype), jnp.array(stds, dtype)


@op("ops.bounding_box_encode(anchor_box=anchors, groundtruth_box=truths, means=means, stds=stds)",
    "BoundingBoxEncode(means=means, stds=stds)(anchor_box=anchors, groundtruth_box=truths)",
)  # fmt: skip
def bounding_box_encode(anchors, truths, *, means=NO_SHIFT, stds=NO_SCALE):
    """How to move and stretch anchors into boxes: what a detector learns.

    Args:
        anchors, truths: corners, [N, 4] each.
        means, stds: subtracted from the four numbers of a code, and what they are divided by.

    Returns:
        Shifts of the middle over the side of the anchor, and logarithms of the ratios of the
        sides: dx, dy, dw, dh in [N, 4].

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> anchor, truth = Tensor([[0.0, 0.0, 3.0, 3.0]]), Tensor([[2.0, 0.0, 5.0, 3.0]])
        >>> print(ops.bounding_box_encode(anchor, truth))
        [[0.5 0.  0.  0. ]]
    """
    _boxes(anchors, "anchor_box")
    _boxes(truths, "groundtruth_box")
    if anchors.shape != truths.shape:
        raise ValueError(f"{anchors.shape} anchors do not fit {truths.shape} boxes.")
    anchors, truths = promoted(anchors, truths)
    means, stds = _code_settings(means, stds, anchors.dtype)
    (from_middle, from_side), (to_middle, to_side) = _centred(anchors), _centred(truths)
    shifts = (to_middle - from_middle) / from_side
    return (jnp.concatenate([shifts, jnp.log(to_side / from_side)], 1) - means) / stds


@op("ops.bounding_box_decode(anchor_box=anchors, deltas=codes, max_shape=shape, means=means,"
    " stds=stds, wh_ratio_clip=ratio)",
    "BoundingBoxDecode(max_shape=shape, means=means, stds=stds, wh_ratio_clip=ratio)"
    "(anchor_box=anchors, deltas=codes)",
)  # fmt: skip
def bounding_box_decode(anchors, codes, *, shape, means=NO_SHIFT, stds=NO_SCALE, ratio=0.016):
    """Anchors moved and stretched by codes of `bounding_box_encode`.

    Args:
        anchors: corners, [N, 4].
        codes: dx, dy, dw, dh, [N, 4].
        shape: height and width of the image; corners are kept inside.
        means: what is added to the codes after they are multiplied by `stds`, four numbers; 0 by
            default.
        stds: the factors of the codes, four numbers; 1 by default.
        ratio: sides change by this factor or its inverse at most.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> anchor, code = Tensor([[0.0, 0.0, 3.0, 3.0]]), Tensor([[0.5, 0.0, 0.0, 0.0]])
        >>> print(ops.bounding_box_decode(anchor, code, (8, 8)))
        [[2. 0. 5. 3.]]
    """
    _boxes(anchors, "anchor_box")
    _boxes(codes, "deltas")
    if anchors.shape != codes.shape or len(shape) != 2:
        raise ValueError(
            f"{anchors.shape} anchors, codes {codes.shape} and a max_shape {shape} do not fit."
        )
    anchors, codes = promoted(anchors, codes)
    means, stds = _code_settings(means, stds, anchors.dtype)
    codes = codes * stds + means
    limit = abs(math.log(ratio))
    from_middle, from_side = _centred(anchors)
    side = from_side * jnp.exp(jnp.clip(codes[:, 2:], -limit, limit))
    middle = from_middle + from_side * codes[:, :2]
    half = jnp.array(0.5, anchors.dtype)
    reach = (side - jnp.ones((), side.dtype)) * half
    corners = jnp.concatenate([middle - reach, middle + reach], 1)
    height, width = shape
    most = jnp.array([width, height, width, height], anchors.dtype)
    return jnp.clip(corners, jnp.zeros((), anchors.dtype), most)


@op("ops.check_valid(bboxes=boxes, img_metas=size)", "CheckValid()(bboxes=boxes, img_metas=size)")
def check_valid(boxes, size):
    """Whether both corners of each box lie in the image.

    Args:
        boxes: corners, [N, 4].
        size: height, width and the ratio both are multiplied by, [3].

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> boxes = Tensor([[0.0, 0.0, 7.0, 3.0], [0.0, 0.0, 8.0, 3.0]])
        >>> print(ops.check_valid(boxes, Tensor([4.0, 8.0, 1.0])))
        [ True False]
    """
    _boxes(boxes, "bboxes")
    if size.shape != (3,):
        raise ValueError(f"img_metas has height, width and ratio, not a shape {size.shape}.")
    boxes, size = promoted(boxes, size)
    inside = (size[:2] * size[2])[::-1] - jnp.ones((), size.dtype)
    return (boxes[:, :2] >= 0).all(1) & (boxes[:, 2:] <= inside).all(1)


def _extent(low, high):
    return high - low


@op("NMSWithMask(iou_threshold=threshold)(bboxes=x)")
def nms_with_mask(x, *, threshold=0.5) -> tuple[Array, Array, Array]:
    """Boxes by falling score, and which of them no better one that stays overlaps.

    Here a box from 2 to 5 is 3 wide.

    Args:
        x: corners and score, [N, 5].
        threshold: boxes whose shared area over that of both is more than this overlap.

    Returns:
        The sorted boxes, their numbers 0 … N - 1 in Int32, and a mask, Bool: True stays.

    Raises:
        ValueError: the shape is not [N, 5].

    Example:
        >>> boxes = [[0, 0, 9, 9, 0.5], [0, 1, 9, 9, 0.75], [20, 0, 29, 9, 0.25]]
        >>> found, numbers, mask = ops.NMSWithMask(0.5)(Tensor(boxes))
        >>> print(found.asnumpy()[mask.asnumpy(), 4])
        [0.75 0.25]
    """
    _boxes(x, "bboxes", 5)
    x = x[jnp.argsort(-x[:, 4], stable=True)]
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    shared, areas, _ = _overlaps(wide, wide, _extent)
    near = shared > jnp.array(threshold, wide.dtype) * (areas[:, None] + areas[None, :] - shared)
    numbers = jnp.arange(x.shape[0], dtype=np.int32)
    better = near & (numbers[:, None] < numbers[None, :])

    # A box stays if no better one that stays overlaps it: the answer is the one mask that says
    # so of itself, and it is right from the front after every turn.
    def turn(state):
        kept, _ = state
        following = ~jnp.any(better & kept[:, None], 0)
        return following, jnp.any(following != kept)

    start = jnp.ones(x.shape[0], bool), jnp.array(True)
    return x, numbers, lax.while_loop(lambda state: state[1], turn, start)[0]


@nms_with_mask.reverse
def _(x, outputs, cotangents, *, threshold):
    # The scores order the boxes; nothing flows through the choice.
    order = jnp.argsort(-x[:, 4], stable=True)
    return jnp.zeros(x.shape, x.dtype).at[order].set(cotangents[0])


@op()
def chosen_places(x, key, *, count):
    """Places of True in random order; see `choice_with_mask`.

    Example:
        >>> from mycel.ops.nn.detection import chosen_places
        >>> key = Tensor(np.array([0, 1], np.uint32))
        >>> print(chosen_places(Tensor([False, True]), key, 2)[1])
        [ True False]
    """
    if x.dtype != np.bool_:
        raise TypeError(f"Places are chosen in a Tensor of Bool, not of {x.dtype}.")
    flat = x.reshape(-1)
    bits = jax.random.bits(as_key(key), flat.shape, np.uint32).astype(np.int64)
    # True in front of False, in random order.
    order = jnp.argsort(jnp.where(flat, bits, 2**32))[:count]
    there = flat[order]
    missing = count - order.shape[0]
    order, there = jnp.pad(jnp.where(there, order, 0), (0, missing)), jnp.pad(there, (0, missing))
    places = jnp.stack(jnp.unravel_index(order, x.shape), -1)
    return places.astype(np.int32), there


@composite(
    "ops.choice_with_mask(input_x=x, count=256, seed=seed)",
    "RandomChoiceWithMask(count=256, seed=(seed, 0), seed2=(seed2, 0))(input_x=x)",
)
def choice_with_mask(x, count=256, seed=None, seed2=0) -> tuple[Tensor, Tensor]:
    """`count` places of x that are True, drawn without repetition.

    Args:
        x: Bool.
        count: how many places are drawn, 256 by default.
        seed, seed2: an integer that makes the draw repeat from run to run; the second counts if the
            first is None or 0.

    Returns:
        Their indices, Int32 [count, dimensions of x], and a mask, Bool [count]: where it is False
        there were not enough, and the index is of zeros.

    Raises:
        TypeError: x is not Bool.
        ValueError: x has no dimensions, or count is not positive.

    Example:
        >>> places, there = ops.choice_with_mask(Tensor([False, True]), 2)
        >>> print(places.asnumpy().tolist(), there)
        [[1], [0]] [ True False]
    """
    if not x.ndim or not isinstance(count, int) or count < 1:
        raise ValueError(f"{count} places cannot be chosen in a Tensor of shape {x.shape}.")
    return chosen_places(x, draw_key(seed or seed2), count)
