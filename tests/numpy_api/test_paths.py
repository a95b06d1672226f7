# SPDX-License-Identifier: Apache-2.0
"""Where `mycel.numpy` is found. Oracle: the function itself; functions are never copied."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest

import mycel as ms
import mycel.numpy as mnp

PATHS = ("numpy.array_ops.tile", "numpy.array_creations.zeros", "numpy.math_ops.power",
         "numpy.logic_ops.isnan", "numpy.dtypes.pi", "numpy.utils._to_tensor")  # fmt: skip


@pytest.fixture
def mindspore():
    """The alias for the length of a test; nothing of it stays behind."""
    before = list(sys.meta_path)
    ms.install_as_mindspore()
    yield importlib.import_module("mindspore")
    sys.meta_path[:] = before
    for name in [n for n in sys.modules if n.partition(".")[0] == "mindspore"]:
        del sys.modules[name]


def test_the_paths_of_mindspore(mindspore):
    for path in PATHS:
        module, _, name = path.rpartition(".")
        found = getattr(importlib.import_module(f"mindspore.{module}"), name)
        expected = (
            getattr(mnp, name, None) or importlib.import_module("mycel.numpy.convert").as_tensor
        )
        assert found is expected
    assert mindspore.numpy.arange is mnp.arange
    names: dict = {}
    exec("from mindspore.numpy import *", names)
    assert names["sum"] is mnp.sum
    assert "inf" not in names


def test_a_name_that_is_missing_names_the_nearest(mindspore):
    with pytest.raises(AttributeError, match=r"nearest: mindspore\.numpy\.concatenate"):
        mindspore.numpy.concatenat  # noqa: B018


def test_an_attribute_of_the_package_that_is_loaded_when_asked_for():
    program = (
        "import sys, mycel; assert 'mycel.numpy' not in sys.modules\n"
        "print(mycel.numpy.arange(2)); import numpy; print(numpy.__name__)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == ["[0 1]", np.__name__]


# Signatures of MindSpore 2.10: the names and defaults of parameters.
SIGNATURES = {
    "arange": "(start, stop=None, step=None, dtype=None)",
    "linspace": "(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0)",
    "sum": "(a, axis=None, dtype=None, keepdims=False, initial=None)",
    "amax": "(a, axis=None, keepdims=False, initial=None, where=True)",
    "norm": "(x, ord=None, axis=None, keepdims=False)",
    "full_like": "(a, fill_value, dtype=None, shape=None)",
    "arccos": "(input, dtype=None)",
    "cov": "(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None,"
    " dtype=None)",
    "randint": "(minval, maxval=None, shape=None, dtype=mindspore.int32)",
    "histogram": "(a, bins=10, range=None, weights=None, density=False)",
    "array": "(obj, dtype=None, copy=True, ndmin=0)",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_are_those_of_mindspore(name):
    # Oracle: MindSpore 2.10.
    signature = inspect.signature(getattr(mnp, name))
    assert str(signature.replace(return_annotation=signature.empty)) == SIGNATURES[name]
