# SPDX-License-Identifier: Apache-2.0
"""Random operations: what they may do at all, how often, and that a generator fixes them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mycel as ms
from mycel.dataset import transforms, vision
from mycel.dataset.transforms import randomness

IMAGE = np.random.default_rng(1).integers(0, 256, (8, 9, 3), dtype=np.uint8)
GREY = np.arange(16, dtype=np.uint8).reshape(4, 4)
BATCH = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)
LABELS = np.eye(4, dtype=np.float32)


def pil(array):
    return vision.ToPIL()(array)


RANDOM = [
    vision.RandomCrop(4, padding=2),
    vision.RandomResizedCrop((4, 5)),
    vision.RandomResize(5),
    vision.RandomHorizontalFlip(),
    vision.RandomVerticalFlip(),
    vision.RandomRotation(40),
    vision.RandomAffine(20, (0.3, 0.3), (0.5, 1.5), (-10, 10, -5, 5)),
    vision.RandomColorAdjust(0.5, 0.5, 0.5, 0.2),
    vision.RandomColor(),
    vision.RandomSharpness(),
    vision.RandomAdjustSharpness(3.0),
    vision.RandomAutoContrast(),
    vision.RandomEqualize(),
    vision.RandomInvert(),
    vision.RandomPosterize((1, 8)),
    vision.RandomSolarize(),
    vision.RandomLighting(30.0),
    vision.CutOut(3),
    vision.RandomErasing(1.0),
    vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5)], [(vision.HorizontalFlip(), 0.5)]]),
    vision.UniformAugment([vision.Invert(), vision.HorizontalFlip(), vision.VerticalFlip()]),
    vision.AutoAugment(),
    vision.AutoAugment(vision.AutoAugmentPolicy.CIFAR10),
    vision.AutoAugment(vision.AutoAugmentPolicy.SVHN, vision.Inter.BILINEAR),
    vision.RandAugment(),
    vision.TrivialAugmentWide(),
    transforms.RandomApply([vision.Invert()]),
    transforms.RandomChoice([vision.Invert(), vision.HorizontalFlip()]),
    transforms.RandomOrder([vision.Invert(), vision.Posterize(3)]),
]


@pytest.mark.parametrize("operation", RANDOM, ids=lambda one: type(one).__name__)
def test_a_generator_fixes_the_result(operation):
    """Oracle: the same operation, pickled, with a generator of the same seed."""
    again = pickle.loads(pickle.dumps(operation))
    seen = set()
    for seed in range(30):
        with randomness.use(np.random.default_rng(seed)):
            first = operation(IMAGE)
        with randomness.use(np.random.default_rng(seed)):
            second = again(IMAGE)
        np.testing.assert_array_equal(first, second)
        seen.add(first.tobytes())
    assert len(seen) > 1


def test_the_seed_of_mycel_fixes_results_outside():
    """Oracle: the same operations after the same seed."""
    drawn = []
    for _ in range(2):
        ms.set_seed(5)
        drawn.append([vision.RandomLighting(30.0)(IMAGE) for _ in range(3)])
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0][0] != drawn[0][1]).any()


def test_how_often():
    """Oracle: the mean of 2,000 draws of probability 0.3 is within 5 standard deviations."""
    flip = vision.RandomHorizontalFlip(0.3)
    with randomness.use(np.random.default_rng(1)):
        flipped = [flip(GREY)[0, 0] == 3 for _ in range(2000)]
    assert abs(np.mean(flipped) - 0.3) < 5 * (0.3 * 0.7 / 2000) ** 0.5


def test_crops_come_from_everywhere():
    """Oracle: the nine places of a 2x2 window in a 4x4 image."""
    crop = vision.RandomCrop(2)
    with randomness.use(np.random.default_rng(1)):
        corners = {int(crop(GREY)[0, 0]) for _ in range(300)}
    assert corners == {0, 1, 2, 4, 5, 6, 8, 9, 10}


def test_images_of_a_call_are_treated_alike():
    """Oracle: arithmetic: the second image is the negative of the first, and stays it."""
    crop = vision.RandomResizedCrop((4, 5), interpolation=vision.Inter.NEAREST)
    first, second = crop(IMAGE, 255 - IMAGE)
    np.testing.assert_array_equal(first, 255 - second)


def test_cut_out():
    """Oracle: the definition: squares that overlap the image, cut off at its border."""
    ones = np.ones((6, 5, 3), np.uint8)
    with randomness.use(np.random.default_rng(2)):
        areas = {int((vision.CutOut(3)(ones) == 0).all(2).sum()) for _ in range(300)}
    assert areas == {0, 1, 2, 3, 4, 6, 9}


def test_random_erasing():
    """Oracle: the definition; one value per channel, noise, and nothing where it does not fit."""
    ones = np.ones((3, 10, 10), np.float32)
    erased = vision.RandomErasing(1.0, (0.25, 0.25), (1.0, 1.0), (2, 3, 4))(ones)
    assert [(erased[c] == c + 2).sum() for c in range(3)] == [25, 25, 25]
    noise = vision.RandomErasing(1.0, (0.25, 0.25), (1.0, 1.0), "random")(ones)
    assert (noise != 1).sum() == 75
    np.testing.assert_array_equal(vision.RandomErasing(1.0, (1.0, 1.0), (1.0, 1.0))(ones), ones)


def test_mix_up():
    """Oracle: labels tell the shares of the images; shares of each row sum to one."""
    for mix in (vision.MixUpBatch(1.0), vision.MixUp(4, 1.0)):
        images, labels = mix(BATCH, LABELS)
        expected = np.einsum("ij,jhwc->ihwc", labels, BATCH.astype(float))
        assert np.abs(images - expected).max() <= 1  # whole grey levels in MixUpBatch
        np.testing.assert_allclose(labels.sum(1), 1, rtol=1e-6)
    before = vision.MixUp(4, 1.0, is_single=False)
    np.testing.assert_allclose(before(BATCH, LABELS)[0], BATCH)
    _, labels = before(BATCH, LABELS[::-1])
    assert ((labels > 0).sum(1) == 2).all()


@pytest.mark.parametrize("form", list(vision.ImageBatchFormat))
def test_cut_mix(form):
    """Oracle: labels tell how many pixels came from which image."""
    paint = np.broadcast_to(np.arange(1, 5, dtype=np.uint8)[:, None, None, None], (4, 6, 5, 3))
    last = form is vision.ImageBatchFormat.NHWC
    images = paint if last else paint.transpose(0, 3, 1, 2)
    with randomness.use(np.random.default_rng(3)):
        mixed, labels = vision.CutMixBatch(form)(images, LABELS)
    plane = mixed[..., 0] if last else mixed[:, 0]
    shares = np.stack([(plane == number).mean((1, 2)) for number in range(1, 5)], 1)
    np.testing.assert_allclose(labels, shares, atol=1e-6)
    assert (shares > 0).sum() > 4
    kept = vision.CutMixBatch(form, prob=0.0)(images, LABELS)
    np.testing.assert_array_equal(kept[0], images)


def test_random_operations_on_pil_images():
    """Oracle: sizes and modes of the definition."""
    image = pil(IMAGE)
    assert vision.RandomPerspective(0.5, 1.0)(image).size == (9, 8)
    assert vision.RandomGrayscale(0.0)(image) is image
    assert vision.RandomGrayscale(1.0)(pil(GREY)).mode == "L"
    assert vision.RandomCrop(12, pad_if_needed=True)(image).size == (12, 12)
    assert vision.RandomColorAdjust(0.5, 0.5, 0.5, 0.2)(image).mode == "RGB"
    assert vision.RandomAffine(30, (0.2, 0.2), (0.5, 2), 10)(image).size == (9, 8)


def test_boxes_follow_their_image():
    """Oracle: a box around the only bright pixels is around them afterwards."""
    image = np.zeros((12, 10, 3), np.uint8)
    image[3:6, 2:8] = 255
    box = np.array([[2, 3, 6, 3, 9]], np.float32)
    for operation in (
        vision.RandomHorizontalFlipWithBBox(1.0),
        vision.RandomVerticalFlipWithBBox(1.0),
        vision.ResizeWithBBox((24, 20), vision.Inter.NEAREST),
        vision.RandomCropWithBBox((9, 8), padding=1),
        vision.BoundingBoxAugment(vision.HorizontalFlip(), 1.0),
    ):
        made, boxes = operation(image, box)
        rows, columns = np.nonzero(made[..., 0])
        found = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1, 9]
        np.testing.assert_array_equal(boxes[0], found, err_msg=type(operation).__name__)
    assert box[0].tolist() == [2, 3, 6, 3, 9]
