# SPDX-License-Identifier: Apache-2.0
"""Settings: what can be set can be asked, and what cannot is told. Oracle: the documented values,
and what becomes of an operator under the setting.
"""

from __future__ import annotations

import itertools
import logging
import sys

import jax
import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, ops
from mycel.kernel.base import log
from mycel.kernel.base.context import context, get_context, set_context, without_effect


@pytest.fixture(autouse=True)
def set_back():
    """Every setting is after a test what it was before."""
    device = jax.config.jax_default_device
    names = (
        "device_target",
        "device_id",
        "check_indices",
        "max_call_depth",
        "save_graphs",
        "save_graphs_path",
    )
    before = {name: getattr(context, name) for name in names}
    accepted, limit = dict(context.accepted), sys.getrecursionlimit()
    yield
    for name, value in before.items():
        setattr(context, name, value)
    context.accepted = accepted
    sys.setrecursionlimit(limit)
    jax.config.update("jax_default_device", device)
    set_context(deterministic="OFF")


EVERY = {
    "mode": ms.GRAPH_MODE,
    "device_target": "CPU",
    "device_id": 0,
    "pynative_synchronize": True,
    "deterministic": "ON",
    "check_indices": False,
    "check_numerics": True,
    "save_graphs": 1,
    "save_graphs_path": "elsewhere",
    "compile_cache_path": "cache",
    "enable_graph_kernel": True,
}


@pytest.mark.parametrize("refused", [{"no_such": 1}, {"max_call_depth": -1}])
def test_what_is_refused_changes_nothing(refused):
    """Oracle: MindSpore 2.10 knows all values before it takes the first."""
    asked = {name: get_context(name) for name in EVERY}
    slots = {name: getattr(context, name) for name in type(context).__slots__ if name != "armed"}
    slots["accepted"] = dict(context.accepted)
    folder, device = jax.config.jax_compilation_cache_dir, jax.config.jax_default_device
    with pytest.raises(ValueError, match=next(iter(refused))):
        set_context(**EVERY, **refused)
    assert {name: get_context(name) for name in EVERY} == asked
    assert {name: getattr(context, name) for name in slots} == slots
    assert (jax.config.jax_compilation_cache_dir, jax.config.jax_default_device) == (folder, device)


@pytest.mark.parametrize("given", ["a", 1.5, None])
def test_a_device_number_is_an_integer(given):
    with pytest.raises(TypeError, match=f"^device_id must be an integer, but {given!r} was given"):
        set_context(device_id=given)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("mode", mode) for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE)),
        *itertools.product(("pynative_synchronize", "check_indices"), (True, False)),
        *(("deterministic", word) for word in ("ON", "OFF")),
        *(("save_graphs", number) for number in (0, 1, 2, 3)),
        ("save_graphs_path", "elsewhere"),
        ("max_call_depth", 20),
        ("device_target", "CPU"),
        ("device_id", 0),
    ],
)
def test_what_was_set_is_answered(name, value):
    set_context(**{name: value})
    assert get_context(name) == value


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ({"mode": 2}, ValueError),
        ({"device_target": "Abacus"}, ValueError),
        ({"device_id": -1}, ValueError),
        ({"check_indices": "yes"}, TypeError),
        ({"deterministic": "maybe"}, ValueError),
        ({"save_graphs": 4}, ValueError),
        ({"save_graphs_path": 3}, TypeError),
        ({"max_call_depth": 0}, ValueError),
        ({"max_call_depth": True}, TypeError),
    ],
)
def test_a_value_that_is_none_is_refused_and_changes_nothing(setting, error):
    set_context(device_target="CPU")
    (name,) = setting
    before = get_context(name)
    with pytest.raises(error, match=name) as caught:
        set_context(**setting)
    assert __file__ in str(caught.value), "the error names the user's line"
    assert get_context(name) == before


def test_a_machine_has_one_cpu_whatever_its_number():
    # Oracle: MindSpore 2.7 and 2.10 take any number.
    set_context(device_target="CPU", device_id=4096)
    assert get_context("device_target") == "CPU"
    set_context(device_id=0)


def test_a_misspelled_setting_is_told_its_nearest():
    with pytest.raises(ValueError, match="Nearest: device_target"):
        set_context(device_targe="CPU")
    with pytest.raises(ValueError, match="nearest: device_target"):
        get_context("device_targe")


def test_a_setting_without_effect_is_answered_and_noted_once(caplog, monkeypatch):
    name = "enable_graph_kernel"
    set_context(**{name: without_effect[name]})  # another test may have set it
    monkeypatch.setattr(log, "_noted", set())
    assert get_context(name) == without_effect[name]
    with caplog.at_level(logging.INFO, logger="mycel"):
        set_context(enable_graph_kernel=True)
        set_context(enable_graph_kernel=True)
    assert get_context(name) is True
    assert len([r for r in caplog.records if name in r.getMessage()]) == 1
    set_context(**{name: without_effect[name]})


def test_wrong_indices_are_errors_while_they_are_looked_at():
    x, beyond = Tensor(np.arange(3)), Tensor([7])
    with pytest.raises(IndexError, match="the index 7 is out of range"):
        ops.gather(x, beyond, 0).asnumpy()
    set_context(check_indices=False)
    assert ops.gather(x, beyond, 0).shape == (1,)


def test_the_limit_of_python_is_only_raised():
    limit = sys.getrecursionlimit()
    set_context(max_call_depth=limit + 50)
    assert sys.getrecursionlimit() == limit + 50
    set_context(max_call_depth=10)
    assert sys.getrecursionlimit() == limit + 50
    assert get_context("max_call_depth") == 10
