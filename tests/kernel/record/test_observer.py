# SPDX-License-Identifier: Apache-2.0
"""What the record tells an observer: each border that is crossed, once, and nothing else.

The oracle is a list of what the program under it does; numbers are NumPy's.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.base.structure import structure
from mycel.kernel.execute.capture import Capture
from mycel.kernel.execute.sites import Watch
from mycel.kernel.execute.trace import Trace
from mycel.kernel.record.stream import Machine, current_stream, demand, flush, refuse, seen
from mycel.kernel.record.tensor import update
from mycel.kernel.record.value import CALLED, CHANGED, HOOKS, MADE, Observer, Value
from mycel.transform.vmap import _Mapping

ASKED = [name for name, part in vars(Observer).items() if inspect.isfunction(part)]
METHODS = [name for name in ASKED if not name.startswith("_")]


class Noting:
    """An observer that lists what it is told."""

    formatted = None

    def __init__(self):
        self.told: list[tuple] = []

    def lift(self, value, handle=None):
        if handle is None:
            self.told.append(("data", np.asarray(value.array).item()))
            value.capture = self
            return value
        self.told.append(("lift", handle))
        fresh = Value(demand(value), value.aval)
        fresh.capture = self
        handle._value = fresh
        return fresh

    def write(self, handle):
        self.told.append(("write", handle))

    def read(self, handle, value, kind, text):
        self.told.append(("read", handle, kind))
        return seen(value)

    def close(self, segment, held):
        self.told.append(("close", segment.nodes, len(held)))

    def site(self, function, args, kwargs=None, label=None):
        self.told.append(("site", function))
        return function(*args, **(kwargs or {}))

    def event(self, kind, subject=None, what="", remedy="", place=None):
        self.told.append(("event", kind, subject, what))
        return False


@pytest.fixture
def observed():
    """Calls a function under an observer, and returns what that was told."""

    def run(function):
        flush()
        stream, observer = current_stream(), Noting()
        stream.within(stream.scope.but(capture=observer), function)
        flush()
        return observer.told

    return run


def same(told: list[tuple], expected: list[tuple]) -> bool:
    return len(told) == len(expected) and all(
        len(a) == len(b) and all(x is y or x == y for x, y in zip(a, b, strict=True))
        for a, b in zip(told, expected, strict=True)
    )


def test_handles_data_assignments_and_reads(observed):
    x, weight, made = Tensor(2.0), Parameter(3.0, name="w"), []

    def program():
        made.append(x * weight)
        made.append(x + Tensor(5.0))
        ops.assign(weight, made[0])
        made.append(float(made[1]))

    told = observed(program)
    assert made[2] == 7.0 and float(weight) == 6.0
    # A result that was just made is what the Parameter has from then on.
    expected = [
        ("lift", x),
        ("lift", weight),
        ("data", 5.0),
        ("write", weight),
        ("read", made[1], "float"),
        ("close", 2, 2),
    ]
    assert same(told, expected), told


def test_cells_are_called_made_and_changed(observed):
    net, x, made = nn.ReLU(), Tensor(2.0), []

    def program():
        net(x)
        net.scale = 3
        made.append(nn.Tanh())

    told = [entry for entry in observed(program) if entry[0] == "event"]
    changes = [entry for entry in told if entry[1] == CHANGED and entry[2] is net]
    assert [entry[3] for entry in changes] == ["the attribute 'scale' of ReLU was set inside"]
    assert ("event", CALLED, net, "") in told and ("event", MADE, made[0], "") in told


def test_hooks_of_tensors_are_asked_for_and_changed(observed):
    weight = Parameter(3.0, name="w")
    before = structure.tensor_hooks
    told = observed(lambda: weight.register_hook(lambda gradient: None))
    what = "a hook on the Parameter 'w' was registered inside"
    assert same(told, [("event", HOOKS, weight, ""), ("event", CHANGED, weight, what)]), told
    assert structure.tensor_hooks == before + 1


def test_what_no_replay_could_do_is_told_and_nothing_is_outside_a_call(observed):
    changes, everything = structure.changes, structure.flags
    told = observed(lambda: refuse("this happened", "do that"))
    assert told == [("event", CHANGED, None, "this happened")]
    refuse("this happened", "do that")
    assert (structure.changes, structure.flags) == (changes, everything)
    weight = Parameter(3.0, name="w")
    told = observed(lambda: setattr(weight, "requires_grad", False))
    assert told == [("event", CHANGED, None, "requires_grad was set inside")]
    assert structure.flags == everything + 1 and structure.changes > changes


def test_sites_are_called_by_the_observer(observed):
    @ms.every_call
    def note(value):
        return value

    told = observed(lambda: note(1))
    assert [entry[0] for entry in told] == ["site"]


def test_a_cell_that_changes_counts_it_and_is_looked_at():
    net = nn.ReLU()
    version, changes = net._cell_version, structure.changes
    net.scale = 3
    assert net._cell_version == version + 1 and structure.changes == changes + 1


def test_every_observer_answers_all_that_is_asked():
    assert METHODS == ["lift", "write", "read", "close", "site", "event"]
    for kind in (Capture, Watch, _Mapping, Noting):
        for name in METHODS:
            owner = next(base for base in kind.__mro__ if name in vars(base))
            assert owner is not Observer, f"{kind.__name__} has no {name} of its own"
    assert issubclass(Capture, Trace) and issubclass(Watch, Trace)


def test_a_program_updates_a_handle_and_what_it_is_the_data_of():
    x = Tensor([1.0, 2.0])
    data = x.data
    update(data, Tensor([3.0, 4.0]))
    np.testing.assert_array_equal(x.asnumpy(), [3.0, 4.0])
    update(x, (Tensor([5.0, 6.0]) * 1.0)._value)
    np.testing.assert_array_equal(x.asnumpy(), [5.0, 6.0])
    np.testing.assert_array_equal(data.asnumpy(), [3.0, 4.0])


def test_a_machine_that_is_not_wired_says_so():
    machine = Machine()
    for ask in (machine.run_segment, machine.run_by_operator, machine.remember):
        with pytest.raises(RuntimeError, match="import the package mycel itself"):
            ask()
    assert machine.on_gradients is None
