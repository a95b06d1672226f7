# SPDX-License-Identifier: Apache-2.0
"""Everything a layer must do, checked by one call."""

from __future__ import annotations

import copy
import os
import pickle
import tempfile

import numpy as np

import mycel as ms
from harness import as_numpy, as_tensors, assert_close, run_everywhere
from mycel import nn

# The step and the tolerance of central differences in Float64.
STEP, RELATIVE, ABSOLUTE = 1e-6, 2e-6, 1e-7


def check_cell(make, *inputs, names: dict, oracle, moved: tuple = (), train: bool = False) -> None:
    """Names, three executions, gradients, state, copies and one step of training.

    Args:
        make: makes the Cell, with Float64 Parameters so that differences are exact enough.
        inputs: NumPy arrays; Float64 ones are differentiated by.
        names: MindSpore's names of its Parameters, with their shapes.
        oracle: `oracle(values of Parameters by name, *inputs)`, the output by NumPy or SciPy;
            a tuple of them for a Cell with several.
        moved: names of the Parameters that a call in training changes.
        train: whether the oracle speaks of the training state.
    """
    cell = make().set_train(train)
    assert {p.name: p.shape for p in cell.get_parameters()} == names
    values = {p.name: p.asnumpy() for p in cell.get_parameters()}
    expected = oracle(values, *inputs)
    for name, actual in run_everywhere(lambda *xs: cell(*xs), *inputs).items():
        assert_close(actual, expected, name)
    check_gradients(cell, inputs)
    check_state(cell, inputs, moved)
    check_copies(cell.set_train(False), inputs)
    check_saved(make, cell, inputs)
    check_step(cell.set_train(train), inputs)


def weighted(cell, inputs):
    """The sum of the real outputs, each with a weight of its own, as a function of the inputs."""
    weights = [wave(part.shape) for part in real(cell(*inputs))]
    return lambda *xs: sum(
        (part * weight).sum() for part, weight in zip(real(cell(*xs)), weights, strict=True)
    )


def real(outputs) -> list:
    """The Tensors of real numbers among the outputs of a Cell."""
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    flat = [part for item in outputs for part in (item if isinstance(item, tuple) else (item,))]
    return [part for part in flat if part.dtype.is_floating]


def wave(shape):
    return ms.Tensor(np.cos(np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)))


def taken_gradients(cell, inputs):
    """Handles of the real inputs and of the trained Parameters, and the gradients by them."""
    function = weighted(cell, inputs)
    positions = tuple(i for i, x in enumerate(inputs) if x.dtype.is_floating)
    trained = cell.trainable_params()
    handles = [inputs[i] for i in positions] + trained
    if not handles:
        return function, [], []
    # One position gives its gradient alone, several give a tuple.
    wanted = positions[0] if len(positions) == 1 else positions or None
    made = ms.grad(function, wanted, trained or None)(*inputs)
    by_input, by_weight = made if positions and trained else (made, ()) if positions else ((), made)
    by_input = by_input if isinstance(by_input, tuple) else (by_input,)
    return function, handles, [*by_input, *by_weight]


def check_gradients(cell, inputs) -> None:
    """Gradients along one direction for each input and Parameter, by central differences."""
    inputs = as_tensors(inputs)
    function, handles, gradients = taken_gradients(cell, inputs)
    for number, (handle, gradient) in enumerate(zip(handles, gradients, strict=True)):
        assert gradient.shape == handle.shape
        assert gradient.dtype is handle.dtype
        start = handle.asnumpy()
        assert start.dtype == np.float64, "differences need Float64"
        direction = np.sin(np.arange(1.0, 1 + start.size) * (number + 1.3)).reshape(start.shape)
        ends = []
        for sign in (1, -1):
            ms.ops.assign(handle, ms.Tensor(start + sign * STEP * direction))
            ends.append(float(function(*inputs)))
        ms.ops.assign(handle, ms.Tensor(start))
        difference = (ends[0] - ends[1]) / (2 * STEP)
        along = float((gradient.asnumpy() * direction).sum())
        np.testing.assert_allclose(along, difference, RELATIVE, ABSOLUTE, err_msg=f"{number}")


def check_state(cell, inputs, moved) -> None:
    """A call in training changes the Parameters `moved`; one in prediction changes none."""
    inputs = as_tensors(inputs)
    for mode, phase, expected in ((True, "train", set(moved)), (False, "predict", set())):
        before = {p.name: p.asnumpy() for p in cell.get_parameters()}
        assert cell.set_train(mode).phase == phase
        as_numpy(cell(*inputs))
        changed = {p.name for p in cell.get_parameters() if (p.asnumpy() != before[p.name]).any()}
        assert changed == expected, phase


def check_copies(cell, inputs) -> None:
    """A deep copy and a pickled Cell give the same, and have Parameters of their own."""
    inputs = as_tensors(inputs)
    expected = as_numpy(cell(*inputs))
    for made in (copy.deepcopy(cell), pickle.loads(pickle.dumps(cell))):
        assert_close(as_numpy(made(*inputs)), expected, "copy")
        for parameter, original in zip(made.get_parameters(), cell.get_parameters(), strict=True):
            assert parameter is not original
            assert parameter.name == original.name


def check_saved(make, cell, inputs) -> None:
    """What is saved and loaded into another Cell makes it the same."""
    kept = list(cell.get_parameters())
    if not kept:
        return
    other = make()
    for parameter in other.get_parameters():
        parameter.set_data(ms.Tensor(np.zeros(parameter.shape, parameter.dtype.numpy)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cell.ckpt")
        ms.save_checkpoint(cell, path)
        assert ms.load_param_into_net(other, ms.load_checkpoint(path)) == ([], [])
    for parameter, original in zip(other.get_parameters(), kept, strict=True):
        np.testing.assert_array_equal(parameter.asnumpy(), original.asnumpy(), parameter.name)
    assert_close(as_numpy(other(*as_tensors(inputs))), as_numpy(cell(*as_tensors(inputs))), "saved")


def check_step(cell, inputs) -> None:
    """One step of descent subtracts the gradients; the oracle is NumPy."""
    inputs = as_tensors(inputs)
    if not cell.trainable_params():
        return
    # All of them are kept, so that the program is the one of `check_gradients`.
    _, handles, taken = taken_gradients(cell, inputs)
    trained = cell.trainable_params()
    gradients = taken[len(handles) - len(trained) :]
    expected = [
        p.asnumpy() - np.float32(0.5) * g.asnumpy() for p, g in zip(trained, gradients, strict=True)
    ]
    nn.SGD(trained, 0.5)(gradients)
    assert_close([p.asnumpy() for p in trained], expected, "step")
