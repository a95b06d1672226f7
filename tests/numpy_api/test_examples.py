# SPDX-License-Identifier: Apache-2.0
"""Every public name of `mycel.numpy` has a docstring whose example does what it says."""

from __future__ import annotations

import doctest

import pytest

import mycel as ms
import mycel.numpy as mnp


def documented():
    """Every distinct function and object, by its name."""
    seen = set()
    names = sorted({*mnp.__all__, "around", "copy", "matrix_power"})
    found = {name: getattr(mnp, name) for name in names}
    found |= {f"fft.{name}": item for name, item in vars(mnp.fft).items() if "fft" in name}
    for name, item in found.items():
        if isinstance(item, ms.kernel.base.dtypes.DType) or id(item.__doc__) in seen:
            continue
        seen.add(id(item.__doc__))
        yield pytest.param(item, id=name)


@pytest.mark.parametrize("item", list(documented()))
def test_examples_do_what_they_say(item):
    names = {"ms": ms, "Tensor": ms.Tensor}
    example = doctest.DocTestParser().get_doctest(item.__doc__, names, "example", None, 0)
    assert example.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example).failed == 0
