# SPDX-License-Identifier: Apache-2.0
"""A compiled function gives what PyNative gives, call by call. Oracle: the other mode."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import copy
import enum
import functools
import io
import pickle
import types
import warnings

import numpy as np
import pytest

import mycel as ms
from harness import as_numpy, execution
from mycel import Parameter, Tensor, nn
from mycel.kernel.execute import replay
from support import remembered_programs


def play(build, mode: str):
    """One row per call: result or exception, state, log and printed text."""
    task = build()
    function, compiled = task.function, None
    if mode == "jit":
        if task.entry is not None:
            task.entry[0] = compiled = ms.jit(task.entry[0])
        if not task.outer:
            own = task.entry is not None and compiled.function is function
            function = compiled = compiled if own else ms.jit(function)
    rows = []
    printed = io.StringIO()
    with execution("direct" if mode == "direct" else "fused"):
        for index, arguments in enumerate(task.calls):
            try:
                with contextlib.redirect_stdout(printed):
                    result = as_numpy(function(*arguments))
            except (KeyError, ValueError) as error:
                result = f"{type(error).__name__}: {error}"
            rows.append(
                (result, as_numpy(task.state), as_numpy(list(task.log)), printed.getvalue())
            )
            task.between(index)
    return rows


def equal(a, b) -> bool:
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.shape == b.shape
            and a.dtype == b.dtype
            and bool(np.allclose(a, b, 1e-5, 1e-6))
        )
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, float):
        return abs(a - b) <= 1e-5 * max(1.0, abs(a))
    return a == b


@functools.lru_cache(maxsize=4)
def in_direct(name: str) -> list:
    """What direct execution gives, for both others."""
    return play(remembered_programs.PROGRAMS[name], "direct")


@pytest.mark.parametrize("mode", ["fused", "jit"])
@pytest.mark.parametrize("name", remembered_programs.PROGRAMS)
def test_every_call_is_as_in_direct(name, mode):
    build, expected = remembered_programs.PROGRAMS[name], in_direct(name)
    with warnings.catch_warnings():
        # Some of these programs never repeat, and are told so once.
        warnings.filterwarnings("ignore", message=".*keeps running in PyNative.*")
        actual = play(build, mode)
    parts = ("result", "state", "log", "printed text")
    for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
        for part, mine, theirs in zip(parts, a, e, strict=True):
            assert equal(mine, theirs), f"{part} of call {index}: {mine} for {theirs}"


# Programs that settle, and how many of their calls are replayed.
REPLAYED = {
    "print_inside": 4,
    "dropout": 4,
    "closure_reread": 4,
    "assigned_twice": 4,
    "returned_and_assigned": 4,
    "returns_old_value_and_handles": 4,
    "argument_is_parameter": 6,
    "argument_changed_in_place": 4,
    "iteration": 4,
    "recursion": 3,
    "hook_made_in_the_function": 4,
    "hook_that_changes_the_gradient": 4,
    "site_appends": 4,
    "site_appends_something_derived": 4,
    "site_looks": 4,
    "site_changes_and_prints": 4,
    "site_uses_fresh_data": 4,
    "state_seen_by_sites": 4,
    "derivative_of_a_compiled_function": 3,
    "containers": 3,
}


@pytest.mark.parametrize("name", REPLAYED)
def test_what_repeats_is_replayed(name):
    play(remembered_programs.PROGRAMS[name], "jit")
    assert ms.debug.ledger().counts.replays == REPLAYED[name]
    assert ms.debug.ledger().counts.misses == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kept_outside", "effect: `box[0]` is another object"),
        ("parameter_made_inside", "a Parameter was created inside"),
        ("cell_attribute_set_inside", "the attribute 'attention' of Net was set inside"),
        ("python_scalar_changes", "effect: `box[0]` went 0.0 -> 1.0"),
        ("float_logged", "effect: `log` went from 0 to 1 elements"),
        ("site_changes_its_mind", "did something new"),
    ],
)
def test_the_ledger_says_why_not(name, reason):
    play(remembered_programs.PROGRAMS[name], "jit")
    lines = [str(line) for line in ms.debug.ledger().lines]
    assert any(reason in line for line in lines), lines


def test_a_function_that_keeps_missing_warns_once_with_its_line():
    box = [0.0]

    @ms.jit
    def counting(x):
        box[0] += 1
        return x * box[0]

    with pytest.warns(UserWarning, match=r"counting is compiled but keeps running") as caught:
        for _ in range(40):
            counting(ms.Tensor(1.0))
    assert len(caught) == 1
    assert "test_remembered.py:" in str(caught[0].message)


def test_no_callback_is_compiled():
    """Sites see real values that come out of the executable; nothing calls back from inside."""
    task = remembered_programs.PROGRAMS["state_seen_by_sites"]()
    compiled = ms.jit(task.function)
    for arguments in task.calls:
        compiled(*arguments)
    (memory,) = compiled.memories
    assert memory.ready
    assert len(memory.sites) == 3
    text = memory.executable.lower(memory.store.inputs([task.calls[0][0]])).as_text()
    assert "callback" not in text
    assert "stablehlo" in text


def test_a_method_and_a_construct():
    class Net(ms.nn.Cell):
        def __init__(self, factor):
            super().__init__()
            self.w = ms.Parameter(np.float32([factor]), name="w")

        @ms.jit
        def construct(self, x):
            return x * self.w

        @ms.jit
        def other(self, x, *, scale=1.0):
            return x * self.w * scale

    first, second = Net(2.0), Net(3.0)
    for _ in range(4):
        assert float(first(ms.Tensor([1.0]))) == 2.0
        assert float(second(ms.Tensor([1.0]))) == 3.0
        assert float(first.other(ms.Tensor([1.0]), scale=5.0)) == 10.0
        assert float(second.other(ms.Tensor([1.0]))) == 3.0
    assert ms.debug.ledger().counts.replays == 8
    # A new value is seen, whoever set it.
    first.w.set_data(ms.Tensor([7.0]))
    assert float(first(ms.Tensor([1.0]))) == 7.0


@ms.jit
def _at_module_level(x, factor=2):
    return x * factor


class _WithMethod:
    @ms.jit
    def double(self, x):
        return x * 2


def test_a_compiled_function_is_pickled_copied_and_looked_at_as_a_function():
    """Oracle: what Python does with functions."""
    for function in (_at_module_level, _WithMethod.double):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy([function])[0] is copy.copy(function) is function
    assert _at_module_level.__defaults__ == (2,)
    assert _at_module_level.__code__.co_varnames == ("x", "factor")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _at_module_level.nothing  # noqa: B018

    def inner(x):
        inner.calls += 1
        return x * inner.calls

    inner.calls = 0
    inner = ms.jit(inner)
    assert copy.deepcopy(inner) is inner
    assert [float(inner(Tensor(1.0))) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert inner.calls == 6
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(inner)


def test_a_compiled_bound_method_is_copied_with_its_object():
    owner = _WithMethod()
    owner.compiled = ms.jit(owner.double.__func__.function.__get__(owner))
    other = copy.deepcopy(owner)
    assert other.compiled.function.__self__ is other


class _Inherits(nn.Dense):
    def construct(self, x):
        return super().construct(x)


WITHOUT_A_CALL = {
    "a bound method": lambda net: ms.jit(net.construct),
    "under a name": lambda net: (lambda method: ms.jit(lambda x: method(x)))(net.construct),
    "a partial": lambda net: ms.jit(functools.partial(type(net).construct, net)),
    "unbound": lambda net: (lambda f: lambda x: f(net, x))(ms.jit(type(net).construct)),
    "super": lambda net: ms.jit(net.construct),
    "its derivative": lambda net: ms.jit(ms.grad(net.construct)),
}


@pytest.mark.parametrize("way", WITHOUT_A_CALL)
def test_settings_of_our_own_cells_are_seen_without_a_call_of_them(way):
    """Oracle: the Cell itself in PyNative, and its derivative. These were frozen."""
    kind = _Inherits if way == "super" else nn.Dense
    net = nn.SequentialCell(kind(2, 2, "ones", Tensor([1.0, -1.0])), nn.Tanh())
    changed = net[0] if way == "super" else net
    plain = ms.grad(changed) if way == "its derivative" else changed
    function = WITHOUT_A_CALL[way](changed)
    x = Tensor([[0.1, -0.3]])
    changes = [
        lambda: setattr(net[0], "weight", Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="new")),
        lambda: setattr(net[0], "activation", nn.ReLU()),
        lambda: setattr(net[0], "bias", Parameter(Tensor([5.0, 5.0]), name="other")),
        lambda: net.__setitem__(1, nn.Sigmoid()),
    ]
    for change in changes:
        for _ in range(4):
            np.testing.assert_allclose(function(x).asnumpy(), plain(x).asnumpy(), 1e-6)
        change()
    np.testing.assert_allclose(function(x).asnumpy(), plain(x).asnumpy(), 1e-6)
    assert ms.debug.ledger().counts.replays


class _Scaled:
    """Stands for a method, as a decorator written as a class does."""

    def __init__(self, function=None):
        self.function, self.scale = function, 1.0

    def __get__(self, cell, kind=None):
        # Not made for being asked of the class.
        return types.MethodType(self, cell)

    def __call__(self, *args):
        return args[-1] * self.scale

    def run(self, x):
        return x * self.scale


def _by_argument(*args):
    (scaled,) = [argument for argument in args if isinstance(argument, _Scaled)]
    return args[-1] * scaled.scale


CALLABLES = {
    "a decorator": lambda scaled: {"construct": scaled},
    "a partial": lambda scaled: {"construct": functools.partial(_by_argument, scaled)},
    "a partial method": lambda scaled: {"construct": functools.partialmethod(_by_argument, scaled)},
    "static": lambda scaled: {"construct": staticmethod(functools.partial(_by_argument, scaled))},
    "a method of another": lambda scaled: {"construct": scaled.run},
    "the call": lambda scaled: {"__call__": scaled},
    "the derivative": lambda scaled: {
        "construct": lambda cell, x: x,
        "bprop": staticmethod(functools.partial(_by_argument, scaled)),
    },
}


@pytest.mark.parametrize("member", CALLABLES)
@pytest.mark.parametrize("whole", [True, False])
def test_methods_of_cells_that_are_no_functions(member, whole):
    """What they read is seen. Oracle: PyNative mode; it was frozen."""

    def play(compiled):
        scaled = _Scaled()
        cell = type("Network", (nn.Cell,), CALLABLES[member](scaled))()
        function = compiled(cell if whole else ms.grad(lambda x: cell(x).sum()))
        results = []
        for number in range(9):
            scaled.scale = 5.0 if number > 4 else 1.0
            results.append(function(Tensor([1.0, 2.0])).asnumpy().tolist())
        return results

    with execution("direct"):
        expected = play(lambda function: function)
    assert play(ms.jit) == expected
    assert ms.debug.ledger().counts.replays


class _Rated(Parameter):
    """A program's own kind of Parameter."""

    def __add__(self, other):
        return other * 2


def _of_parameters(net, held):
    for parameter in net.get_parameters():
        parameter.rate = 1.0
    return (
        lambda x: x * sum(parameter.rate for parameter in net.trainable_params()),
        lambda: setattr(net[0].weight, "rate", 5.0),
    )


def _behind_a_method(net, held):
    net[0].rate = 1.0
    return lambda x: x * net.name_cells()["0"].rate, lambda: setattr(net[0], "rate", 5.0)


def _loss_object(net, held):
    loss = nn.WithLossCell(net, held)
    return lambda x: loss(x, x), lambda: setattr(held, "scale", 5.0)


def _jacobian(net, held):
    return ms.jacrev(held), lambda: setattr(held, "scale", 5.0)


def _own_parameter(net, held):
    kind = type("Rated", (_Rated,), {"__add__": _Rated.__add__})
    parameter = kind(Tensor([[1.0, 2.0]]), name="own")
    return lambda x: parameter + x, lambda: setattr(kind, "__add__", lambda self, other: other)


def _printed(net, held):
    return lambda x: f"{x * 1.123456}", lambda: np.set_printoptions(precision=2)


@pytest.mark.parametrize(
    "build",
    [_of_parameters, _behind_a_method, _loss_object, _jacobian, _own_parameter, _printed],
)
def test_what_is_reached_through_our_own_code_is_seen(build):
    """Oracle: PyNative mode; each was frozen."""

    def play(compiled):
        net = nn.SequentialCell(nn.Dense(2, 2, "ones", "zeros"))
        function, change = build(net, _Scaled())
        function, results = compiled(function), []
        for number in range(8):
            if number == 5:
                change()
            results.append(str(function(Tensor([[1.0, 2.0]]))))
        return results

    with np.printoptions(), execution("direct"):
        expected = play(lambda function: function)
    with np.printoptions():
        assert play(ms.jit) == expected
    assert expected[4] != expected[5]
    assert ms.debug.ledger().counts.replays


class _Counted(dict):
    """A dict of a program's own kind, with an attribute beside its items."""

    rate = 1.0


class _Plain:
    rate = 1.0


_VARIABLE = contextvars.ContextVar("rates")
_Pair = collections.namedtuple("_Pair", "first second")


def _configured(held):
    return held


UNSEEN = {
    "an element": lambda held: list([held][:1])[0].rate,
    "by name": lambda held: getattr(_Pair(held, 0), "first").rate,  # noqa: B009
    "what a function gives": lambda held: _configured(held).rate,
    "of a tuple with names": lambda held: _Pair(held, 0).first.rate,
    "of a namespace": lambda held: types.SimpleNamespace(a=held).a.rate,
    "of an iterator": lambda held: next(iter([held])).rate,
}


def _parameter():
    parameter = Parameter(Tensor([1.0]), name="held")
    parameter.rate = 1.0
    return parameter


def _function():
    def function():
        return 0

    function.rate = 1.0
    return function


HELD = {"Parameter": _parameter, "dict": _Counted, "object": _Plain, "function": _function}


@pytest.mark.parametrize("kind", HELD)
@pytest.mark.parametrize("way", UNSEEN)
def test_an_attribute_of_what_cannot_be_told_before_it_is_computed(kind, way):
    """Oracle: PyNative mode; many were frozen."""
    held, read = HELD[kind](), UNSEEN[way]
    function = ms.jit(lambda x: x * read(held))
    for number in range(8):
        held.rate = 5.0 if number > 4 else 1.0
        assert float(function(Tensor(1.0))) == held.rate
    assert ms.debug.ledger().counts.replays


class _Mode(enum.Enum):
    SMALL = {"rate": 1.0}
    LARGE = {"rate": 9.0}

    def __init__(self, settings):
        self.rate = settings["rate"]

    def itself(self):
        return self


MEMBERS = {
    "by name": lambda: _Mode["SMALL"].rate,
    "called": lambda: _Mode({"rate": 1.0}).rate,
    "of all": lambda: list(_Mode)[0].rate,
    "of a method": lambda: _Mode.SMALL.itself().rate,
    "what is in its value": lambda: _Mode["SMALL"].value["rate"],
}


@pytest.mark.parametrize("way", MEMBERS)
def test_what_members_of_an_enum_hold(way):
    """Oracle: PyNative mode; it was frozen."""
    read = MEMBERS[way]
    function = ms.jit(lambda x: x * read())
    try:
        for number in range(8):
            if number == 5 and way != "called":
                _Mode.SMALL.value["rate"] = 5.0
            if number == 5:
                _Mode.SMALL.rate = 5.0
            assert float(function(Tensor(1.0))) == read() == (5.0 if number > 4 else 1.0)
    finally:
        _Mode.SMALL.value["rate"] = _Mode.SMALL.rate = 1.0
    assert ms.debug.ledger().counts.replays


class _Other(_Plain):
    rate = 5.0


@pytest.mark.parametrize(
    "read", [lambda one: type(one).rate, lambda one: one.__class__.rate], ids=["type", "__class__"]
)
def test_another_class_of_an_object(read):
    """Oracle: PyNative mode; it was frozen."""
    held = _Plain()
    function = ms.jit(lambda x: x * read(held))
    for number in range(8):
        if number == 5:
            held.__class__ = _Other
        assert float(function(Tensor(1.0))) == read(held) == (5.0 if number > 4 else 1.0)
    assert ms.debug.ledger().counts.replays


def test_what_a_context_variable_holds_is_seen():
    """Oracle: PyNative mode."""
    _VARIABLE.set({"rate": 1.0})
    function = ms.jit(lambda x: x * _VARIABLE.get()["rate"])
    for number in range(8):
        _VARIABLE.get()["rate"] = 5.0 if number > 4 else 1.0
        assert float(function(Tensor(1.0))) == _VARIABLE.get()["rate"]
    assert ms.debug.ledger().counts.replays


def test_an_attribute_of_an_object_in_a_list_that_is_passed():
    """Oracle: PyNative mode; it was frozen."""
    held = _Plain()
    function = ms.jit(lambda x, passed: x * list(passed)[0].rate)
    for number in range(8):
        held.rate = 5.0 if number > 4 else 1.0
        assert float(function(Tensor(1.0), [held])) == held.rate
    assert ms.debug.ledger().counts.replays


def test_of_a_long_list_only_the_length_is_compared_where_that_is_read():
    """As of a replay buffer. Oracle: Python."""
    rows = [{"n": number} for number in range(2000)]
    function = ms.jit(lambda x: x * len(rows))
    for number in range(8):
        rows[0]["n"] = number  # nobody reads it
        assert float(function(Tensor(1.0))) == 2000
    assert ms.debug.ledger().counts.replays >= 4
    rows.append({"n": 7})
    assert float(function(Tensor(1.0))) == 2001


def test_what_a_program_writes_over_in_a_cell_is_not_run_to_look_at_it():
    """Oracle: the other mode. The watch asked the Cell for its members, and met this method."""

    class Stack(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = nn.Dense(2, 2, "ones", Tensor([1.0, -1.0]))

        def cells(self):
            raise RuntimeError("nobody called it")

        def construct(self, x):
            return self.inner(x)

    net = Stack()
    function, x = ms.jit(net.construct), Tensor([[0.1, -0.3]])
    for number in range(4):
        for _ in range(4):
            np.testing.assert_allclose(function(x).asnumpy(), net(x).asnumpy(), 1e-6)
        net.inner.bias = Parameter(Tensor([number, 2.0]), name=f"bias{number}")
    assert ms.debug.ledger().counts.replays


@pytest.mark.parametrize("text", [repr, str, "{}".format, lambda p: f"{p}", lambda p: str([p])])
def test_the_name_in_the_text_of_a_parameter_is_seen(text):
    """Oracle: the other mode."""
    parameter = Parameter(Tensor([1.0]), name="before")
    function = ms.jit(lambda x: (x * 2, text(parameter)))
    for name in ("before", "after"):
        parameter.name = name
        for _ in range(4):
            assert function(Tensor(1.0))[1] == text(parameter)
    assert ms.debug.ledger().counts.replays


def test_graph_mode_remembers_cells_derivatives_and_optimisers():
    net = ms.nn.Dense(3, 1)
    optimizer = ms.nn.SGD(net.trainable_params(), 0.1)
    x = ms.Tensor(np.ones((2, 3), np.float32))
    ms.set_context(mode=ms.GRAPH_MODE)
    counts = ms.debug.ledger().counts
    for index in range(6):
        before = counts.replays
        net(x)
        # A derivative written anew in each turn is remembered as well.
        gradients = ms.grad(net, None, net.trainable_params())(x)
        optimizer(gradients)
        assert counts.replays - before == (0 if index < 2 else 3)


def test_switching_modes_and_structure_is_seen():
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.dropout = ms.nn.Dropout(p=0.5)
            self.factor = 2.0

        def construct(self, x):
            return self.dropout(x) * self.factor

    net = Net()
    x = ms.Tensor(np.ones(64, np.float32))
    ms.set_context(mode=ms.GRAPH_MODE)
    for _ in range(4):
        assert (net(x).asnumpy() == 2.0).all()
    net.factor = 3.0
    for _ in range(4):
        assert (net(x).asnumpy() == 3.0).all()
    net.set_train()
    results = [net(x).asnumpy() for _ in range(4)]
    assert all(set(np.unique(result)) == {0.0, 6.0} for result in results)
    assert not (results[2] == results[3]).all()
    net.set_train(False)
    assert (net(x).asnumpy() == 3.0).all()


def test_parameter_flags_are_seen():
    w = ms.Parameter(np.float32([2.0]), name="w")
    v = ms.Parameter(np.float32([3.0]), name="v")

    @ms.jit
    def f(x):
        chosen = [p for p in (w, v) if p.requires_grad]
        return len(chosen), ms.grad(lambda x: x * w * v, None, chosen)(x)

    x = ms.Tensor([1.0])
    for _ in range(4):
        assert f(x)[0] == 2
    v.requires_grad = False
    for _ in range(4):
        assert f(x)[0] == 1


def test_an_argument_that_always_changes_is_soon_not_recorded():
    """Oracle: the other mode. A recorded call takes several times as long as a plain one."""
    function = ms.jit(lambda x, number: x * number)
    before = ms.debug.ledger().counts.captures
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [float(function(Tensor(2.0), n)) for n in range(400)] == [2 * n for n in range(400)]
    assert ms.debug.ledger().counts.captures - before <= 24
    assert [float(function(Tensor(n), 3)) for n in range(300)] == [3.0 * n for n in range(300)]
    assert ms.debug.ledger().counts.replays


def test_an_array_from_outside_is_not_looked_at_byte_by_byte(monkeypatch):
    """Oracle: a count. A megabyte took 0.15 s at each recording."""
    asked = []
    is_compared = replay._is_compared
    monkeypatch.setattr(replay, "_is_compared", lambda part: asked.append(0) or is_compared(part))
    data = np.zeros((1000, 200), np.float32)
    function = ms.jit(lambda x: x + float(data[3, 4]))
    assert [float(function(Tensor(1.0))) for _ in range(4)] == [1.0] * 4
    data[3, 4] = 2
    assert [float(function(Tensor(1.0))) for _ in range(4)] == [3.0] * 4
    assert len(asked) < 1000


def test_many_keys_are_bounded():
    @ms.jit
    def f(x, number):
        return x * number

    with pytest.warns(UserWarning, match=r"argument `number` went 10.0 -> 11.0.*Pass a Tensor"):
        for number in range(200):
            f(ms.Tensor([1.0]), float(number))
    assert len(f.ways) <= 64


def test_the_ledger_names_the_cell_and_the_line():
    class Inner(ms.nn.Cell):
        def construct(self, x):
            return x * 2 if x.sum() > 3.0 else x * 3

    class Outer(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def construct(self, x):
            return self.inner(x) + 1

    net = Outer()
    ms.set_context(mode=ms.GRAPH_MODE)
    for number in (1.0, 1.0, 1.0, 5.0):
        net(ms.Tensor([number]))
    missed = [line for line in ms.debug.ledger().lines if line.kind == "read"]
    assert [(line.name, line.cell, line.count) for line in missed] == [("Outer", "Outer.inner", 1)]
    assert missed[0].what == "a Tensor read (bool) changed"
    line = Inner.construct.__code__.co_firstlineno + 1
    assert missed[0].place == f"{__file__}:{line}"


def test_a_parameter_that_gets_another_shape_is_seen():
    """Oracle: the other mode, and NumPy."""
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    double = ms.jit(lambda: p * 2)
    for _ in range(4):
        double()
    p.set_data(Tensor([1.0, 2.0, 3.0]), slice_shape=True)
    for _ in range(4):
        made = double()
        assert made.shape == (3,)
        assert made.asnumpy().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("where", ["body", "site"])
def test_a_call_that_leaves_another_shape_is_seen(where):
    """Set back between the calls until once it is not; another function takes turns with it.
    Oracle: NumPy."""
    p = Parameter(Tensor([1.0, 2.0]), name="p")

    def set_wide():
        p.set_data(Tensor([1.0, 2.0, 3.0]), slice_shape=True)

    set_wide = ms.every_call(set_wide) if where == "site" else set_wide

    @ms.jit
    def widen():
        before = p * 2
        set_wide()
        return before

    narrow = ms.jit(lambda: p.set_data(Tensor([1.0, 2.0]), slice_shape=True).sum())
    total = ms.jit(lambda: p.sum())
    for number in range(8):
        assert widen().asnumpy().tolist() == [2.0, 4.0]
        assert float(total()) == 6.0
        if number < 4:
            p.set_data(Tensor([1.0, 2.0]), slice_shape=True)
        elif number < 7:
            narrow()
    for _ in range(4):
        made = widen()
        assert made.shape == (3,)
        assert made.asnumpy().tolist() == [2.0, 4.0, 6.0]
        assert float(total()) == 6.0


def test_values_that_are_kept_do_not_change():
    """A replay writes into the Values that handles own alone; another handle on one keeps it.
    Oracle: NumPy."""
    p, q = (Parameter(Tensor([1.0, 2.0]), name=name) for name in "pq")

    @ms.jit
    def step():
        p.set_data(p + 1)
        q.set_data(q * 2)
        return p.sum()

    kept = []
    for number in range(8):
        step()
        if number % 2:
            kept.append((p.value(), q.value(), number))
    assert ms.debug.ledger().counts.replays
    for first, second, number in kept:
        np.testing.assert_array_equal(first.asnumpy(), np.array([2.0, 3.0]) + number)
        np.testing.assert_array_equal(second.asnumpy(), np.array([1.0, 2.0]) * 2 ** (number + 1))
