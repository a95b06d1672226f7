# SPDX-License-Identifier: Apache-2.0
"""Names of the root that tables answer. Oracle: the types that NumPy has under the same names."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms


@pytest.mark.parametrize("name", ["cdouble", "cfloat", "intc", "intp", "uintc", "uintp", "ushort"])
def test_types_under_names_of_c(name):
    # NumPy has no cfloat any more: PyTorch's word, half of a cdouble.
    wanted = np.complex64 if name == "cfloat" else getattr(np, name)
    assert getattr(ms, name).numpy == np.dtype(wanted)
    assert name in dir(ms)


def test_the_log_answers_at_the_root():
    assert ms.get_level() in {f"{level}" for level in range(5)}
    assert isinstance(ms.get_log_config(), dict)


def test_ms_class_is_jit_class():
    assert ms.ms_class is ms.jit_class
