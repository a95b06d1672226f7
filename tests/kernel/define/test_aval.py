# SPDX-License-Identifier: Apache-2.0
"""Shape and element type as one object. Oracle: NumPy arrays of that shape and type."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from mycel.kernel.base import dtypes
from mycel.kernel.define.aval import aval_of

SHAPES = [(), (1,), (0, 3), (2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_it_says_what_an_array_would(shape, dtype):
    aval, array = aval_of(shape, dtype.numpy), np.zeros(shape, dtype.numpy)
    assert (aval.shape, aval.numpy, aval.nbytes) == (array.shape, array.dtype, array.nbytes)
    assert (aval.struct.shape, aval.struct.dtype) == (array.shape, array.dtype)
    assert aval.dtype is dtype
    assert aval.inexact is dtype.is_inexact
    assert str(aval) == f"{dtype}{list(shape)}"


def test_there_is_one_of_each_whatever_the_type_was_called():
    assert aval_of((2,), np.float32) is aval_of((2,), np.dtype("float32"))
    different = [aval_of(s, d.numpy) for s, d in itertools.product(SHAPES, dtypes.ALL)]
    assert len(set(different)) == len(SHAPES) * len(dtypes.ALL)


def test_threads_that_ask_at_once_get_one():
    shape, found = (3, 1, 4, 1, 5), []
    together = threading.Barrier(8)

    def ask():
        together.wait()
        found.append(aval_of(shape, np.dtype(np.float64)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
