# SPDX-License-Identifier: Apache-2.0
"""Operations on images, arrays and texts; the oracle is real MindSpore 2.10 (see record.py)."""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pytest

import mycel as ms
from mycel.dataset import text, transforms, vision

HERE = pathlib.Path(__file__).parent


def load(name: str):
    described = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


cases = load("cases")
with np.load(HERE / "recorded.npz") as file:
    RECORDED = dict(file)
GIVEN = {key[3:]: array for key, array in RECORDED.items() if key.startswith("in:")}

# Where results are not equal to the last grey level.
LEVELS_APART = {"Rotate(-77.5, Inter.BICUBIC, fill_value=9)@smooth": 1}


def check(line: str, result: tuple) -> None:
    expected = [array for key, array in RECORDED.items() if key.startswith(f"out:{line}:")]
    assert len(result) == len(expected)
    for own, theirs in zip(result, expected, strict=True):
        assert (own.shape, own.dtype) == (theirs.shape, theirs.dtype)
        if own.dtype.kind == "f":
            limit = 1e-3 if own.dtype == np.float16 else 1e-5  # MindSpore computes in float32
            np.testing.assert_allclose(own, theirs, limit, limit)
        elif line in LEVELS_APART:
            assert np.abs(own.astype(int) - theirs.astype(int)).max() <= LEVELS_APART[line]
        else:
            np.testing.assert_array_equal(own, theirs)


@pytest.mark.parametrize("line", cases.ARRAYS.strip().splitlines())
def test_images(line):
    check(line, cases.run(line, vision, GIVEN))


@pytest.mark.parametrize("line", cases.TEXTS.strip().splitlines())
def test_texts(line):
    check(line, cases.apply(line, text, ms))


@pytest.mark.parametrize("line", cases.TRANSFORMS.strip().splitlines())
def test_transforms(line):
    check(line, cases.apply(line, transforms, ms))


def test_operations_leave_what_they_are_given():
    """Oracle: the inputs as they were recorded."""
    for line in cases.ARRAYS.strip().splitlines():
        given = {name: array.copy() for name, array in GIVEN.items()}
        cases.run(line, vision, given)
        name = cases.split(line)[1].removesuffix("!")
        np.testing.assert_array_equal(given[name], GIVEN[name], err_msg=line)


def test_nearest_pixels_are_those_of_opencv():
    """The oracle is OpenCV 4.14: the scale is rounded twice, which decides at whole places."""
    row = np.arange(33, dtype=np.uint8).reshape(1, 33, 1)
    made = vision.Resize((1, 75), vision.Inter.NEAREST)(row).ravel()
    once = np.floor(np.arange(75) * (33 / 75))
    assert np.flatnonzero(made != once).tolist() == [25, 50]
    np.testing.assert_array_equal(made[[24, 25, 26, 49, 50, 51]], [10, 10, 11, 21, 21, 22])
