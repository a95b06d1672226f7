# SPDX-License-Identifier: Apache-2.0
"""The text of Tensors. Oracle: recorded texts of MindSpore 2.10, character by character."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from fixtures import cases, load
from fixtures.case import evaluate
from mycel import Tensor

KINDS = ("repr_", "str_", "text_tuple_of", "text_list_of", "text_dict_of", "text_format_")
# A format such as `.3f` is refused by MindSpore; here one element is formatted as a number.
ANSWERED = {"text_format_precision_zero_dim", "text_format_precision_one_element"}


def texts():
    """The recorded cases that are about the text of a Tensor."""
    rows = load.rows("printing")
    for case in cases.family("printing"):
        if case.name.startswith(KINDS) and case.name not in ANSWERED:
            yield pytest.param(case, load.recorded(rows[case.name]), id=case.name)


@pytest.mark.parametrize(("case", "recorded"), list(texts()))
def test_text_as_recorded(case, recorded):
    assert evaluate(case, ms) == recorded.output


def test_recorded_texts_are_found():
    assert len(list(texts())) > 100


# Layouts that the fixtures do not reach, recorded by hand in the same release.
LAYOUTS = {
    "a full line of real numbers ends with a line of its own": (
        np.arange(12, dtype=np.float16),
        "Tensor(shape=[12], dtype=Float16, value= [ 0.0000e+00,  1.0000e+00,  2.0000e+00,  "
        "3.0000e+00,  4.0000e+00,  5.0000e+00,  6.0000e+00,  7.0000e+00,  8.0000e+00,  "
        "9.0000e+00,  1.0000e+01,  1.1000e+01\n ])",
    ),
    "a full line of integers": (
        np.arange(24),
        "Tensor(shape=[24], dtype=Int64, value= [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, "
        "12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23\n ])",
    ),
    "six rows and columns are whole": (
        np.arange(6).reshape(1, 6),
        "Tensor(shape=[1, 6], dtype=Int64, value=\n[[0, 1, 2, 3, 4, 5]])",
    ),
    "of seven columns the outer six are shown": (
        np.arange(7).reshape(1, 7),
        "Tensor(shape=[1, 7], dtype=Int64, value=\n[[0, 1, 2 ... 4, 5, 6]])",
    ),
    "of seven rows the outer six are shown": (
        np.arange(14).reshape(7, 2),
        "Tensor(shape=[7, 2], dtype=Int64, value=\n[[ 0,  1],\n [ 2,  3],\n [ 4,  5],\n ...\n"
        " [ 8,  9],\n [10, 11],\n [12, 13]])",
    ),
    "dots in the middle dimension": (
        np.arange(16).reshape(2, 8, 1),
        "Tensor(shape=[2, 8, 1], dtype=Int64, value=\n[[[ 0],\n  [ 1],\n  [ 2],\n  ...\n  [ 5],\n"
        "  [ 6],\n  [ 7]],\n [[ 8],\n  [ 9],\n  [10],\n  ...\n  [13],\n  [14],\n  [15]]])",
    ),
    "infinities and NaN take the width of a number": (
        np.array([[np.nan, 1], [np.inf, -np.inf]], np.float16),
        "Tensor(shape=[2, 2], dtype=Float16, value=\n[[        nan,  1.0000e+00],\n"
        " [        inf,        -inf]])",
    ),
    "complex numbers": (
        np.array([1 + 2j, 3.5 - 1j], np.complex64),
        "Tensor(shape=[2], dtype=Complex64, value= [1+2j, 3.5-1j])",
    ),
    "nothing": (
        np.zeros((2, 0, 3), np.float32),
        "Tensor(shape=[2, 0, 3], dtype=Float32, value=\n)",
    ),
    "six digits of a large number": (
        np.float32(123456789.0),
        "Tensor(shape=[], dtype=Float32, value= 1.23457e+08)",
    ),
}


@pytest.mark.parametrize("what", LAYOUTS)
def test_layout(what):
    array, expected = LAYOUTS[what]
    assert repr(Tensor(array)) == expected


def test_a_long_vector_shows_its_ends():
    """Oracle: MindSpore shows a vector whole up to 1000 elements."""
    assert "..." not in repr(Tensor(np.arange(1000)))
    assert " ... " in repr(Tensor(np.arange(1001)))


def test_bfloat16_has_six_digits():
    """Oracle: recorded by hand in MindSpore 2.10."""
    values = Tensor([1e-3, 123456.789, 1e10], ms.bfloat16)
    assert repr(values).endswith("value= [0.000999451,      123392, 9.99922e+09])")
    assert str(values) == "[0.000999 123392.000000 9999220736.000000]"
