# SPDX-License-Identifier: Apache-2.0
"""What users pickled before modules of ours moved can be loaded.

Oracle: the objects that were pickled at commit 1da3b03, made again here; the module of today.
"""

from __future__ import annotations

import base64
import importlib
import pickle
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import mycel as ms
from mycel import nn, ops
from mycel.compat import moved

PICKLED = Path(__file__).parents[1] / "fixtures" / "pickled_before_kernel.b85"


def test_pickles_of_former_modules():
    lines = "".join(PICKLED.read_text().split())
    loaded = pickle.loads(zlib.decompress(base64.b85decode(lines)))
    expected = np.arange(4, dtype=np.float32).reshape(2, 2)
    assert type(loaded["tensor"]) is ms.Tensor
    np.testing.assert_array_equal(loaded["tensor"].asnumpy(), expected)
    assert type(loaded["parameter"]) is ms.Parameter and loaded["parameter"].name == "w"
    np.testing.assert_array_equal(loaded["parameter"].asnumpy(), expected)
    assert loaded["dtype"] is ms.float16
    assert isinstance(loaded["cell"], nn.SequentialCell)
    assert loaded["cell"](loaded["tensor"]).shape == (2, 3)
    assert type(loaded["generator"]) is ms.Generator
    assert type(loaded["grad"]) is ops.GradOperation and loaded["grad"].get_all
    assert type(loaded["error"]) is ms.OutOfRangeError
    assert isinstance(loaded["optimizer"], nn.Momentum)


@pytest.mark.parametrize("former", moved.MOVED)
def test_a_former_path_is_the_module_of_today(former):
    for name in [name for name in sys.modules if f"{name}.".startswith(f"mycel.{former}.")]:
        del sys.modules[name]
    present = moved.present_path(f"mycel.{former}")
    today = importlib.import_module(present)
    if not hasattr(today, "__path__"):
        assert importlib.import_module(f"mycel.{former}") is today
        return
    for path in Path(today.__file__).parent.glob("[!_]*.py"):
        if f"{former}.{path.stem}" in moved.MOVED:
            continue  # a module of that name stood there, and is elsewhere now
        again = importlib.import_module(f"mycel.{former}.{path.stem}")
        assert again is importlib.import_module(f"{present}.{path.stem}")


def test_a_former_path_takes_no_operators_place():
    public = [name for name in dir(ops) if callable(getattr(ops, name))]
    assert not {f"ops.{name}" for name in public} & moved.MOVED.keys()


@pytest.mark.parametrize("name", ["mycel.record.nothing", "mycel.recorded", "mycel.execute.a.b"])
def test_what_never_was_is_not_found(name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)
