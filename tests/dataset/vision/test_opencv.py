# SPDX-License-Identifier: Apache-2.0
"""Resizing by OpenCV. Oracle: our own resizing, which is compared with MindSpore's recorded answers
in test_recorded.py; what stands for OpenCV here is told apart by counts.
"""

from __future__ import annotations

import importlib
import sys
import types

import numpy as np
import pytest

from mycel.dataset.vision import opencv, sampling
from mycel.dataset.vision.names import Inter

DRAW = np.random.default_rng(0)
ARRAY = DRAW.integers(0, 256, (9, 14, 3), np.uint8)
KINDS = {0: Inter.NEAREST, 1: Inter.LINEAR}


@pytest.fixture
def installed(monkeypatch):
    """Makes a module of this name with the function for resizing; both are forgotten later."""

    def install(resize):
        made = types.SimpleNamespace(INTER_NEAREST=0, INTER_LINEAR=1, resize=resize)
        monkeypatch.setitem(sys.modules, "cv2", made)

    forget()
    yield install
    monkeypatch.undo()
    forget()


def forget():
    opencv._library.cache_clear()
    opencv.resize_as.cache_clear()


def like_opencv(calls):
    """Takes width before height, and leaves out a dimension of one channel, as OpenCV does."""

    def resize(array, size, interpolation):
        calls.append(size)
        return np.squeeze(sampling._resized(array, size[::-1], KINDS[interpolation]))

    return resize


@pytest.mark.parametrize("interpolation", KINDS.values())
@pytest.mark.parametrize("channels", [(), (1,), (3,), (4,)])
def test_what_gives_the_same_is_called(installed, interpolation, channels):
    calls = []
    installed(like_opencv(calls))
    array = DRAW.integers(0, 256, (9, 14, *channels), np.uint8)
    made = sampling.resize(array, (5, 20), interpolation)
    assert calls[-1] == (20, 5)
    np.testing.assert_array_equal(made, sampling._resized(array, (5, 20), interpolation))


def test_what_gives_another_level_is_not_called(installed):
    calls = []
    exact = like_opencv(calls)

    def rounded_otherwise(array, size, interpolation):
        made = exact(array, size, interpolation)
        made[-1, -1] ^= 1
        return made

    installed(rounded_otherwise)
    expected = sampling._resized(ARRAY, (5, 20), Inter.LINEAR)
    np.testing.assert_array_equal(sampling.resize(ARRAY, (5, 20), Inter.LINEAR), expected)
    assert len(calls) == 1, "it was asked once, and never called"
    sampling.resize(ARRAY, (6, 21), Inter.LINEAR)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("array", "interpolation"),
    [
        (ARRAY.astype(np.float32), Inter.LINEAR),
        (ARRAY, Inter.BICUBIC),
        (ARRAY, Inter.AREA),
        (ARRAY[..., :2], Inter.LINEAR),
        (np.concatenate([ARRAY, ARRAY], -1), Inter.LINEAR),
    ],
)
def test_what_it_was_not_asked_about_it_does_not_get(installed, array, interpolation):
    calls = []
    installed(like_opencv(calls))
    sampling.resize(array, (5, 20), interpolation)
    assert not calls


def test_without_it_nothing_is_missing(installed, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    expected = sampling._resized(ARRAY, (5, 20), Inter.LINEAR)
    np.testing.assert_array_equal(sampling.resize(ARRAY, (5, 20), Inter.LINEAR), expected)


def test_the_real_one_gives_the_same(installed):
    importlib.import_module("cv2")
    for number in range(400):
        high, wide, *size = DRAW.integers(1, (20, 90, 300)[number % 3], 4).tolist()
        array = DRAW.integers(0, 256, (high, wide, (1, 3, 4)[number % 3]), np.uint8)
        if number % 2:
            array = np.where(array < 128, 0, 255).astype(np.uint8)
        for interpolation in KINDS.values():
            made = sampling.resize(array, tuple(size), interpolation)
            if size == [high, wide]:
                expected = array
            else:
                expected = sampling._resized(array, tuple(size), interpolation)
            np.testing.assert_array_equal(made, expected)
