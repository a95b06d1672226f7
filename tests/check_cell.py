# SPDX-License-Identifier: Apache-2.0
"""Everything a layer must do, checked by one call."""

from __future__ import annotations

import copy
import pickle

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
        oracle: `oracle(values of Parameters by name, *inputs)`, the output by NumPy or SciPy.
        moved: names of the Parameters that a call in training changes.
        train: whether the oracle speaks of the training state.
    """
    cell = make().set_train(train)
    assert {p.name: p.shape for p in cell.get_parameters()} == names
    values = {p.name: p.asnumpy() for p in cell.get_parameters()}
    expected = oracle(values, *inputs)
    for name, actual in run_everywhere(lambda *xs: cell(*xs), *inputs).items():
        assert_close(actual, expected, name)
        assert actual.dtype == np.asarray(expected).dtype, name
    check_gradients(cell, inputs)
    check_state(cell, inputs, moved)
    check_copies(cell.set_train(False), inputs)
    check_step(cell.set_train(train), inputs)


def weighted(cell, inputs):
    """The sum of the outputs, each with a weight of its own, as a function of the inputs."""
    shape = cell(*inputs).shape
    weights = ms.Tensor(np.cos(np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)))
    return lambda *xs: (cell(*xs) * weights).sum()


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
    expected = cell(*inputs).asnumpy()
    for made in (copy.deepcopy(cell), pickle.loads(pickle.dumps(cell))):
        assert_close(made(*inputs).asnumpy(), expected, "copy")
        for parameter, original in zip(made.get_parameters(), cell.get_parameters(), strict=True):
            assert parameter is not original
            assert parameter.name == original.name


def check_step(cell, inputs) -> None:
    """One step of descent subtracts the gradients; the oracle is NumPy."""
    inputs = as_tensors(inputs)
    if not cell.trainable_params():
        return
    _, handles, gradients = taken_gradients(cell, inputs)
    trained = cell.trainable_params()
    gradients = gradients[len(handles) - len(trained) :]
    expected = [
        p.asnumpy() - np.float32(0.5) * g.asnumpy() for p, g in zip(trained, gradients, strict=True)
    ]
    nn.SGD(trained, 0.5)(gradients)
    assert_close([p.asnumpy() for p in trained], expected, "step")
