# SPDX-License-Identifier: Apache-2.0
"""Element types: one object for each, found by every name it has. Oracle: NumPy's own dtypes."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import mycel as ms
from mycel.kernel.base import dtypes
from mycel.kernel.base.dtypes import ALIASES, ALL, as_dtype, numpy_dtype

NUMPY = {dtype.name: np.dtype(dtype.name) for dtype in ALL if dtype.name != "bfloat16"}
NUMPY["bfloat16"] = np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_a_type_is_found_by_all_that_means_it(dtype):
    numpy = NUMPY[dtype.name]
    for spec in (dtype, numpy, numpy.type, dtype.name, dtype.name.upper(), str(dtype)):
        assert as_dtype(spec) is dtype
        assert numpy_dtype(spec) == numpy
    assert dtype.itemsize == numpy.itemsize
    assert dtype.is_floating == (numpy.kind in "f" or dtype.name == "bfloat16")
    assert dtype.is_inexact == (dtype.is_floating or numpy.kind == "c")


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_a_type_stays_one_object(dtype):
    assert copy.copy(dtype) is copy.deepcopy([dtype])[0] is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert (
        eval(repr(dtype).replace("mindspore.bool", "mindspore.bool_"), {"mindspore": ms}) is dtype
    )


def test_classes_of_python_mean_what_tensors_of_their_numbers_have():
    for number in (True, 3, 2.5):
        assert as_dtype(type(number)) is ms.Tensor(number).dtype


def test_older_names_are_those_of_numpy():
    # In C a long has the size of the platform; here it is 64 bits wide, as in MindSpore.
    for name in ("half", "single", "double", "byte", "short", "ubyte"):
        assert ALIASES[name].numpy == np.dtype(name)
    assert ALIASES["long"] is dtypes.int64


def test_the_printed_words_are_those_of_mindspore():
    assert [str(dtype) for dtype in ALL] == [
        *("Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
        *("Float16", "Float32", "Float64", "BFloat16", "Complex64", "Complex128"),
    ]


@pytest.mark.parametrize("spec", [None, "floaty", object, np.dtype("U3"), "datetime64[s]", 3])
def test_what_is_no_element_type_is_refused(spec):
    with pytest.raises(TypeError, match=r"element type"):
        as_dtype(spec)
