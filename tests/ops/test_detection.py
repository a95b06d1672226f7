# SPDX-License-Identifier: Apache-2.0
"""Boxes, regions, deformed convolution, blocks and patches."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, ops
from support.recorded_operators import agrees, cases, gradients_by_differences


def numbers(*shape, seed=0, dtype=np.float32):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("detection")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10. Regions that choose the number of samples are read.
    agrees(case, recorded)


# -- boxes -------------------------------------------------------------------------------------


def corners(count, seed):
    """Boxes within 30 pixels with scores that all differ."""
    random = np.random.RandomState(seed)
    low = random.uniform(0, 20, (count, 2))
    high = low + random.uniform(2, 10, (count, 2))
    scores = random.permutation(count)[:, None] / count
    return np.concatenate([low, high, scores], 1).astype(np.float32)


def greedy(boxes, threshold):
    """From the best box down: it goes if one that stayed overlaps it."""
    boxes = boxes[np.argsort(-boxes[:, 4])]
    kept = []
    for i, box in enumerate(boxes):
        others = boxes[kept]
        low = np.maximum(box[:2], others[:, :2])
        shared = np.maximum(np.minimum(box[2:4], others[:, 2:4]) - low, 0).prod(1)
        areas = [(b[..., 2:4] - b[..., :2]).prod(-1) for b in (box, others)]
        if not (shared > threshold * (areas[0] + areas[1] - shared)).any():
            kept.append(i)
    mask = np.isin(np.arange(len(boxes)), kept)
    return boxes, np.arange(len(boxes), dtype=np.int32), mask


@pytest.mark.parametrize("threshold", [0.1, 0.4])
def test_suppression(threshold):
    # Oracle: the greedy definition in NumPy.
    boxes = corners(60, 3)
    assert 5 < greedy(boxes, threshold)[2].sum() < 55
    matches(ops.NMSWithMask(threshold), lambda x: greedy(x, threshold), boxes)


def test_gradient_of_sorted_boxes():
    # Oracle: NumPy; the gradient goes where the box came from.
    boxes = corners(6, 1)

    def weighted(x):
        found = ops.NMSWithMask(0.5)(x)[0]
        return (found * ops.arange(1, 31).reshape(6, 5)).sum()

    expected = np.zeros((6, 5), np.float32)
    expected[np.argsort(-boxes[:, 4])] = np.arange(1, 31).reshape(6, 5)
    for execution, actual in run_everywhere(ms.grad(weighted), boxes).items():
        assert_close(actual, expected, execution)


def test_codes_of_boxes():
    # Oracle: one undoes the other; gradients by finite differences.
    anchors, truths = (corners(5, seed)[:, :4].astype(np.float64) for seed in (1, 2))
    code = ops.BoundingBoxEncode((0.1, 0, 0, 0.2), (0.5, 1, 2, 1))
    back = ops.BoundingBoxDecode((99, 99), (0.1, 0, 0, 0.2), (0.5, 1, 2, 1), 0.01)
    matches(lambda a, t: back(a, code(a, t)), lambda a, t: t, anchors, truths)
    for function, inputs in ((code, (anchors, truths)), (back, (anchors, truths / 50))):
        expected = gradients_by_differences(function, inputs)
        for execution, actual in run_everywhere(ms.grad(function, (0, 1)), *inputs).items():
            assert_close(actual, expected, execution, "float32")


def test_random_choice():
    # Oracle: counting. No place is drawn twice, each is drawn as often as another.
    ms.set_seed(7)
    mask = np.arange(20).reshape(4, 5) % 3 == 0
    assert mask.sum() == 7
    for places, there in run_everywhere(lambda x: ops.choice_with_mask(x, 4), mask).values():
        assert places.dtype == np.int32
        assert there.all()
        assert mask[tuple(places.T)].all()
        assert len({tuple(place) for place in places}) == 4
    counts = np.zeros(mask.shape, int)
    draw = ms.jit(lambda x: ops.RandomChoiceWithMask(4)(x)[0])
    for _ in range(350):
        np.add.at(counts, tuple(draw(Tensor(mask)).asnumpy().T), 1)
    assert (abs(counts[mask] - 200) < 60).all()
    places, there = ops.RandomChoiceWithMask(9)(Tensor(mask))
    np.testing.assert_array_equal(there.asnumpy(), [True] * 7 + [False] * 2)
    np.testing.assert_array_equal(places.asnumpy()[7:], 0)
    assert ops.RandomChoiceWithMask(30)(Tensor(mask))[0].shape == (30, 2)


# -- regions -----------------------------------------------------------------------------------


def pooled_by_position(x, regions, scale, group, channels):
    """The mean of every bin, each in channels of its own, element by element."""
    made = np.zeros((len(regions), channels, group, group), x.dtype)
    for r, (number, *box) in enumerate(regions):
        left, top = (np.round(n) * scale for n in box[:2])
        right, bottom = ((np.round(n) + 1) * scale for n in box[2:])
        for c, i, j in np.ndindex(channels, group, group):
            plane = x[int(number), (c * group + i) * group + j]
            height, width = max(bottom - top, 0.1) / group, max(right - left, 0.1) / group
            rows = slice(*np.clip([np.floor(top + i * height), np.ceil(top + (i + 1) * height)],
                                  0, plane.shape[0]).astype(int))  # fmt: skip
            columns = slice(*np.clip([np.floor(left + j * width), np.ceil(left + (j + 1) * width)],
                                     0, plane.shape[1]).astype(int))  # fmt: skip
            part = plane[rows, columns]
            made[r, c, i, j] = part.mean() if part.size else 0
    return made


def test_position_sensitive_pooling():
    # Oracle: the definition of the paper, in NumPy.
    x = numbers(2, 8, 6, 5)
    regions = np.array([[0, 0, 2, 9, 11], [1, 3, 1, 3, 4], [1, 30, 30, 40, 40]], np.float32)
    matches(
        ops.PSROIPooling(0.5, 2, 2),
        lambda x, r: pooled_by_position(x, r, 0.5, 2, 2),
        x,
        regions,
    )
    inner = ops.PsROIPooling(
        pooled_height=2, pooled_width=2, num_rois=3, spatial_scale=0.5, out_dim=2, group_size=2
    )
    assert_close(
        inner(Tensor(x), Tensor(regions)).asnumpy(), pooled_by_position(x, regions, 0.5, 2, 2)
    )


def test_gradient_of_regions():
    # Oracle: finite differences; MindSpore's reverse does not heed roi_end_mode.
    regions = Tensor(np.array([[0, 1, 1, 3, 3], [0, 0, 0, 7, 6]], np.float32))

    def pooled(x):
        return ops.ROIAlign(2, 2, 1.0, 2, 0)(x, regions)

    x = numbers(1, 2, 8, 9, dtype=np.float64)
    expected = gradients_by_differences(pooled, (x,))[0]
    for name, actual in run_everywhere(ms.grad(pooled), x).items():
        assert_close(actual, expected, name, "float32")


def test_deformed_convolution_without_shifts():
    # Oracle: the plain convolution; factors of one are no factors.
    x, weight = numbers(2, 4, 5, 6), numbers(3, 4, 3, 3, seed=1)
    settings = (3, 3), (1, 1, 2, 1), (1, 0, 1, 1)
    still = np.zeros((2, 36, 2, 6), np.float32)
    matches(
        lambda x, o, w: ops.deformable_conv2d(
            x, w, o, *settings, deformable_groups=2, modulated=False
        ),
        lambda x, o, w: ops.conv2d(
            Tensor(x), Tensor(w), None, (2, 1), "pad", (1, 0, 1, 1)
        ).asnumpy(),
        x,
        still,
        weight,
    )
    shifts = numbers(2, 36, 2, 6, seed=2)
    ones = np.ones((2, 18, 2, 6), np.float32)
    first = ops.deformable_conv2d(
        Tensor(x), Tensor(weight), Tensor(np.concatenate([shifts, ones], 1)), *settings,
        deformable_groups=2,
    )  # fmt: skip
    second = ops.deformable_conv2d(
        Tensor(x), Tensor(weight), Tensor(shifts), *settings, deformable_groups=2, modulated=False
    )
    assert_close(first.asnumpy(), second.asnumpy())


# -- blocks ------------------------------------------------------------------------------------


def test_blocks_as_batches():
    # Oracle: the definition in NumPy.
    x = numbers(2, 3, 4, 6)
    expected = np.stack([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)])
    expected = expected.reshape(8, 3, 2, 3)
    matches(ops.SpaceToBatch(2, [[0, 0], [0, 0]]), lambda x: expected, x)
    matches(ops.BatchToSpace(2, [[0, 0], [1, 2]]), lambda y: x[:, :, :, 1:4], expected)


def test_patches():
    # Oracle: windows by NumPy; the channels of a window are innermost.
    x = numbers(2, 3, 4, 6)
    seen = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (2, 3))[:, :, ::2]
    expected = seen.transpose(0, 4, 5, 1, 2, 3).reshape(2, 18, 2, 4)
    matches(
        ops.ExtractImagePatches((1, 1, 2, 3), (1, 1, 2, 1), (1, 1, 1, 1)), lambda x: expected, x
    )


def test_rows_under_an_older_name():
    # Oracle: NumPy.
    x, index = numbers(3, 4), np.array([3, 0])
    matches(lambda x, i: ops.SparseGatherV2()(x, i, 1), lambda x, i: x[:, i], x, index)
    matches(lambda x: ops.ChannelShuffle(2)(x), lambda x: x[:, [0, 2, 1, 3]], numbers(2, 4, 3))


def test_errors():
    x = Tensor(numbers(2, 4, 5, 6))
    with pytest.raises(ValueError, match=r"bboxes must be of shape \[N, 5\], not \(2, 4\)"):
        ops.NMSWithMask()(Tensor(numbers(2, 4)))
    with pytest.raises(ValueError, match="do not divide the padded lengths"):
        ops.SpaceToBatch(2, [[0, 0], [0, 0]])(x)
    with pytest.raises(ValueError, match="roi_end_mode must be 0 or 1, but 3 was given"):
        ops.ROIAlign(1, 1, 1.0, 2, 3)(x, Tensor(numbers(1, 5)))
    with pytest.raises(ValueError, match=r"Offsets for x \(2, 4, 5, 6\) are \(2, 27, 3, 4\)"):
        ops.DeformableOffsets((1, 1, 1, 1), (0, 0, 0, 0), (3, 3))(x, Tensor(numbers(2, 18, 3, 4)))
    with pytest.raises(TypeError, match="Places are chosen in a Tensor of Bool, not of int64"):
        ops.choice_with_mask(Tensor([1, 2]))
    with pytest.raises(ValueError, match="3 groups do not divide the channels"):
        ops.channel_shuffle(x, 3)
