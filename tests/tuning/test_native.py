# SPDX-License-Identifier: Apache-2.0
"""The functions in C++: their oracle is XLA's own loops, which tests/nn holds against NumPy."""

from __future__ import annotations

import functools
import os
import subprocess

import jax
import numpy as np
import pytest
from jax import export

from harness import run_everywhere
from mycel import nn
from mycel.ops.nn import recurrent_scans as scans
from mycel.ops.nn.recurrent_kinds import KINDS
from mycel.ops.nn.recurrent_scans import Form
from mycel.tuning import lowering
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
    for library in cpp.LIBRARIES:
        found, why = cpp.loaded(library)
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


# Shapes of x and of the weight, stride, padding, dilation.
WINDOWS = [
    ((2, 3, 9, 11), (3, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((1, 2, 40, 70), (2, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((3, 2, 17, 16), (4, 1, 3, 3), (2, 2), ((0, 1), (1, 0)), (1, 1)),
    ((2, 2, 4, 4), (2, 1, 5, 5), (2, 2), ((2, 2), (2, 2)), (1, 1)),
    ((1, 3, 20, 19), (9, 1, 2, 4), (3, 2), ((4, 0), (2, 5)), (1, 2)),
    ((2, 2, 15, 9), (2, 1, 7, 1), (1, 4), ((3, 3), (0, 0)), (2, 3)),
    ((1, 2, 12, 12), (2, 1, 1, 1), (5, 7), ((0, 0), (6, 0)), (1, 1)),
    ((1, 2, 25, 25), (2, 1, 13, 13), (1, 1), ((6, 6), (6, 6)), (1, 1)),
    ((2, 3, 30), (6, 1, 5), (2,), ((2, 1),), (3,)),
    # All channels, and groups of some: one and several tiles of outputs, rests of tiles, rows in
    # several blocks, one image and several.
    ((2, 3, 20, 17), (40, 3, 7, 7), (2, 2), ((3, 3), (3, 3)), (1, 1)),
    ((3, 18, 9, 10), (6, 18, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((1, 70, 33, 40), (13, 70, 3, 3), (1, 1), ((0, 2), (3, 0)), (1, 1)),
    ((5, 1, 14, 14), (1, 1, 5, 5), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((2, 12, 11, 13), (21, 4, 2, 3), (3, 2), ((2, 2), (4, 1)), (2, 1)),
    ((1, 2, 9, 9), (3, 2, 1, 1), (2, 4), ((1, 1), (1, 3)), (1, 1)),
    ((2, 5, 41), (7, 5, 4), (3,), ((5, 0),), (2,)),
    # Pointwise ones; more than is added up at once; what is packed once and by each unit; stacks of
    # windows; no padding; more between two rows than a panel has.
    ((4, 40, 9, 8), (11, 40, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((3, 300, 15, 14), (70, 300, 1, 1), (2, 1), ((0, 0), (0, 0)), (1, 1)),
    ((4, 33, 20, 20), (70, 33, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((2, 3, 64, 48), (8, 3, 3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((1, 2, 5, 148), (3, 2, 1, 2), (1, 1), ((0, 0), (0, 0)), (1, 48)),
    # Strides beyond the picture: memory is not by them.
    ((2, 3, 9, 8), (4, 3, 3, 3), (10**12, 5), ((1, 1), (1, 1)), (1, 1)),
    ((2, 3, 9, 8), (3, 1, 3, 3), (40, 50), ((1, 1), (1, 1)), (1, 1)),
]


def convolved(x, weight, window):
    return lowering.convolve(x, weight, *window, x.shape[1] // weight.shape[1])


def with_gradients(x, weight, cotangent, window):
    """A convolution and its gradients."""
    y, pull = jax.vjp(lambda *xw: convolved(*xw, window), x, weight)
    return (y, *pull(cotangent))


def drawn(shapes, window, seed=0):
    """x, a weight, and a cotangent."""
    draw = np.random.default_rng(seed)
    x, weight = [draw.normal(size=shape).astype(np.float32) for shape in shapes]
    y = jax.eval_shape(lambda *xw: convolved(*xw, window), x, weight)
    return x, weight, draw.normal(size=y.shape).astype(np.float32)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("x, weight, stride, pads, dilation", WINDOWS)
def test_convolutions_are_those_of_xla(x, weight, stride, pads, dilation, packed, monkeypatch):
    if packed:
        monkeypatch.setattr(lowering, "MOST_DIRECT", 0)
    window = (stride, pads, dilation)
    arrays = drawn((x, weight), window)
    run = jax.jit(lambda *given: with_gradients(*given, window))
    groups = x[1] // weight[1]
    library = "direct" if max(weight[0] // groups, weight[1]) <= 64 else "convolution"
    if packed or (x[1] >= 32 and set(weight[2:]) == {1}):
        library = "convolution"
    library = "depthwise" if weight[1] == 1 < x[1] else library
    assert run.lower(*arrays).as_text().count(f"@mycel_{library}") == 3
    with cpp.portable():
        plain = jax.jit(lambda *given: with_gradients(*given, window))(*arrays)
        true = with_gradients(*in_float64(arrays), window)
    for mine, theirs, exact in zip(run(*arrays), plain, true, strict=True):
        allowed = 2 * np.abs(theirs - exact).max() + 1e-6 * np.abs(exact).max()
        np.testing.assert_allclose(mine, exact, rtol=0, atol=allowed)


@pytest.mark.parametrize("channels, most_direct", [(1, 64), (2, 64), (2, 0)])
def test_what_a_kernel_does_not_meet_is_not_multiplied(channels, most_direct, monkeypatch):
    """Infinities of x and of the cotangent reach what XLA's loops bring them to, nothing else."""
    monkeypatch.setattr(lowering, "MOST_DIRECT", most_direct)
    window = ((2, 2), ((1, 0), (0, 1)), (1, 1))
    x, weight, cotangent = drawn(((2, 2, 9, 9), (2, channels, 3, 3)), window)
    x[0, 0, 1, 8], x[1, 1, 0, 0], cotangent[0, 1, 1, 1] = np.inf, np.nan, -np.inf
    found = jax.jit(lambda *given: with_gradients(*given, window))(x, weight, cotangent)
    with cpp.portable():
        expected = jax.jit(lambda *given: with_gradients(*given, window))(x, weight, cotangent)
    assert 0 < np.isfinite(expected[2]).sum() < expected[2].size
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "shape, weight", [((1, 64, 20000), (8, 64, 3)), ((1, 2, 1200, 1000), (2, 1, 3, 3))]
)
def test_rows_that_are_too_long_are_left_to_xla(shape, weight):
    window = ((1,) * (len(shape) - 2), ((1, 1),) * (len(shape) - 2), (1,) * (len(shape) - 2))
    shapes = [jax.ShapeDtypeStruct(size, np.float32) for size in (shape, weight)]
    text = jax.jit(lambda x, weight: convolved(x, weight, window)).lower(*shapes).as_text()
    assert "mycel_" not in text


@pytest.mark.parametrize("channels, most_direct", [(1, 64), (2, 64), (2, 0)])
def test_second_derivatives_and_vmap_of_convolutions(channels, most_direct, monkeypatch):
    monkeypatch.setattr(lowering, "MOST_DIRECT", most_direct)
    window = ((1, 1), ((1, 1), (1, 1)), (1, 1))
    x, weight, _ = drawn(((1, 2, 5, 5), (2, channels, 3, 3)), window)

    def loss(x, weight):
        return (convolved(x, weight, window) ** 3).sum()

    def all_of(x, weight):
        def slope(x, weight):
            return sum((part**2).sum() for part in jax.grad(loss, (0, 1))(x, weight))

        samples = jax.vmap(jax.grad(loss, 1), (0, None))(jax.numpy.stack([x, 2 * x]), weight)
        return samples, *jax.grad(slope, (0, 1))(x, weight)

    found = jax.jit(all_of)(x, weight)
    with cpp.portable():
        expected = jax.jit(all_of)(x, weight)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-4)


def test_layers_whose_kernels_are_as_large_as_pictures():
    """31 by 31, as in networks of large kernels; the oracle is NumPy, by shifted pictures."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(1, 2, 32, 32)).astype(np.float32)
    layer = nn.Conv2d(2, 2, 31, pad_mode="same", group=2, weight_init="normal")
    weight, padded = layer.weight.asnumpy(), np.pad(x, ((0, 0), (0, 0), (15, 15), (15, 15)))
    expected = sum(
        padded[:, :, i : i + 32, j : j + 32] * weight[:, 0, i, j, None, None]
        for i in range(31)
        for j in range(31)
    )
    for name, found in run_everywhere(layer, x).items():
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=name)


def without(monkeypatch):
    """A process that has not looked for a library yet."""
    return functools.partial(cpp._load.__wrapped__, "recurrent")


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
