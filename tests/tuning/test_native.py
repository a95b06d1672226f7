# SPDX-License-Identifier: Apache-2.0
"""The functions in C++: their oracle is XLA's own loops, which tests/nn holds against NumPy."""

from __future__ import annotations

import os
import subprocess

import jax
import numpy as np
import pytest
from jax import export

from mycel.ops.nn import recurrent_scans as scans
from mycel.ops.nn.recurrent_kinds import KINDS
from mycel.ops.nn.recurrent_scans import Form
from mycel.tuning.native import cpp

# Backwards, biased, started, limited: every two of these in all four ways but one.
WAYS = ((0, 1, 1, 0), (1, 0, 1, 1), (0, 1, 0, 1), (1, 1, 0, 0))
FORMS = [Form(kind, *map(bool, way)) for kind in ("LSTM", "GRU") for way in WAYS]
# Times, batch, features, hidden size: one row and one column, whole vectors and rests of them,
# several panels, parts of one thread and of two.
SHAPES = [(1, 1, 1, 1), (5, 3, 2, 5), (3, 19, 4, 24), (4, 40, 3, 48)]


@pytest.fixture(autouse=True)
def compiled():
    """With a C++ compiler there is a library; the suite is not green because there is none."""
    found, why = cpp.loaded()
    assert found is not None, why


def arrays_of(form, shape, seed=0):
    """Inputs of a scan, and its function."""
    draw = np.random.default_rng(seed)
    times, batch, features, hidden = shape
    gates = KINDS[form.kind].gates * hidden
    shapes = {
        "x": (times, batch, features),
        "w_ih": (gates, features),
        "w_hh": (gates, hidden),
        "b_ih": (gates,),
        "b_hh": (gates,),
        "hidden": (batch, hidden),
        "cell": (batch, hidden),
    }
    made = {name: draw.normal(size=size).astype(np.float32) for name, size in shapes.items()}
    made["w_hh"] /= np.float32(hidden**0.5)
    made["lengths"] = draw.integers(0, times + 1, batch).astype(np.int32)
    return [made[name] for name in form.names()]


def run(form, arrays, seed=1):
    """What a scan gives that others see, and the gradients of all its inputs."""
    names, shown = form.names(), 1 + KINDS[form.kind].states
    outputs = jax.jit(lambda *given: scans.forward(form, *given))(*arrays)
    draw = np.random.default_rng(seed)
    cotangents = [draw.normal(size=out.shape).astype(np.float32) for out in outputs[:shown]]
    mask = tuple(name != "lengths" for name in names)
    inputs = (*arrays, outputs[0], *outputs[shown:], *cotangents)
    present = (True,) * shown
    gradients = jax.jit(lambda *given: scans.gradients(form, present, mask, *given))(*inputs)
    return [*outputs[:shown], *gradients]


def in_float64(arrays):
    return [array.astype(np.float64) if array.dtype == np.float32 else array for array in arrays]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form)))
def test_they_give_what_xlas_loops_give(form):
    number = FORMS.index(form)
    for shape in (SHAPES[number % 2], SHAPES[2 + number // 2 % 2]):
        arrays = arrays_of(form, shape)
        with cpp.portable():
            loops = run(form, arrays)
        for mine, theirs, true in zip(
            run(form, arrays), loops, run(form, in_float64(arrays)), strict=True
        ):
            error = np.abs(theirs - true).max(initial=0)
            allowed = 2 * error + 1e-6 * np.abs(true).max(initial=0)
            np.testing.assert_allclose(mine, true, rtol=0, atol=allowed)


def test_what_lies_outside_of_numbers_stays_there():
    """Infinities and NaN, in sums of any size."""
    form = Form("LSTM", False, True, True, False)
    arrays = arrays_of(form, (3, 4, 2, 3))
    arrays[0][1, 0, 0], arrays[0][1, 1, 0], arrays[0][1, 2] = np.nan, np.inf, 1e30
    with cpp.portable():
        expected = jax.jit(lambda *given: scans.forward(form, *given))(*arrays)
    for mine, theirs in zip(
        jax.jit(lambda *a: scans.forward(form, *a))(*arrays), expected, strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_derivatives_of_second_order_and_rows_of_vmap_are_those_of_xlas_loops(kind):
    form = Form(kind, False, True, True, True)
    arrays = arrays_of(form, (3, 2, 2, 3))

    def loss(w_hh, x):
        return (scans.forward(form, x, arrays[1], w_hh, *arrays[3:])[0] ** 2).sum()

    def all_of(w_hh, x):
        def slope(w_hh):
            return (jax.grad(loss)(w_hh, x) ** 2).sum()

        rows = jax.vmap(loss, (None, 0))(w_hh, jax.numpy.stack([x, 2 * x]))
        return rows, jax.grad(slope)(w_hh), jax.jvp(lambda w: loss(w, x), (w_hh,), (w_hh,))[1]

    found = jax.jit(all_of)(arrays[2], arrays[0])
    with cpp.portable():
        expected = jax.jit(all_of)(arrays[2], arrays[0])
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5)


def test_programs_for_other_processes_do_not_call_them():
    form = Form("LSTM", False, True, False, False)
    arrays = arrays_of(form, (3, 2, 2, 3))
    function = jax.jit(lambda *given: scans.forward(form, *given)[0])
    assert "mycel_lstm_forward" in function.lower(*arrays).as_text()
    with cpp.portable():
        exported = export.export(function)(*arrays)
    assert "mycel_lstm" not in exported.mlir_module()


def test_other_types_are_left_to_xla():
    form = Form("GRU", False, True, False, False)
    arrays = [array.astype(np.float64) for array in arrays_of(form, (3, 2, 2, 3))]
    assert "mycel_gru" not in jax.jit(lambda *a: scans.forward(form, *a)).lower(*arrays).as_text()


def without(monkeypatch):
    """A process that has not looked for a library yet."""
    return cpp._load.__wrapped__


def test_why_there_is_no_library(monkeypatch, tmp_path):
    look = without(monkeypatch)
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert look() == (None, "there is no C++ compiler (no-such-compiler)")
    monkeypatch.setenv("CXX", "false")
    monkeypatch.setattr(cpp, "cache_folder", lambda: tmp_path)
    found, why = look()
    assert found is None and why.endswith("false ended with exit code 1")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(cpp, "cache_folder", lambda: None)
    assert look()[1] == "there is no folder to keep it in (MYCEL_CACHE)"
    monkeypatch.setenv("MYCEL_NATIVE", "off")
    assert look() == (None, "MYCEL_NATIVE=off")


def test_a_library_that_is_no_library_is_compiled_again(monkeypatch, tmp_path):
    """A file that was cut short, as by a full disk."""
    monkeypatch.setattr(cpp, "cache_folder", lambda: tmp_path)
    commands = []

    def compiles(command, **options):
        commands.append(command)
        made = command[command.index("-o") + 1]
        with open(made, "wb") as file:
            file.write(b"nothing")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", compiles)
    look = without(monkeypatch)
    for count in (1, 2):
        found, why = look()
        assert found is None and "could not be loaded" in why
        assert len(commands) == count
        assert os.listdir(tmp_path) == []
