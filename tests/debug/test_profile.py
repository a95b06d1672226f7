# SPDX-License-Identifier: Apache-2.0
"""profile: times, operations and memory by Cell and by operator.

Oracles: operations by hand; networks of which one Cell has twenty times the work of the others;
time that the test itself spends in Python, in the data or in a compilation; XLA's own sums of the
memory of a program; the same steps without a profile, bit for bit.
"""

from __future__ import annotations

import csv
import doctest
import html.parser
import importlib
import io
import json
import re
import time

import jax
import numpy as np
import pytest
from rich.console import Console

import mycel as ms
from mycel import Tensor, nn, ops
from mycel.dataset.engine.iterators import Iterator
from mycel.debug import costs, profiler
from mycel.debug.profiling import hlo, page, result, timeline
from mycel.debug.profiling.timeline import Span
from mycel.kernel.base import backend
from mycel.kernel.execute.compile import executables
from mycel.kernel.record.stream import machine

BATCH, LIGHT, HEAVY = 64, 128, 2560
X = Tensor(np.random.RandomState(0).randn(BATCH, LIGHT).astype(np.float32))


class Net(nn.Cell):
    """Three layers; the one in the middle has twenty times the products of the others."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(LIGHT, LIGHT)
        self.heavy = nn.SequentialCell(nn.Dense(LIGHT, HEAVY), nn.Tanh(), nn.Dense(HEAVY, LIGHT))
        self.last = nn.Dense(LIGHT, LIGHT)

    def construct(self, x):
        return self.last(self.heavy(self.first(x)))


def trainer(net):
    optimizer = nn.Momentum(net.trainable_params(), 1e-3, 0.9)
    derivative = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    return step


WAYS = {
    "pynative": lambda step: step,
    "jit": ms.jit,
}


@pytest.mark.parametrize("mode", ("xla", "direct"))
@pytest.mark.parametrize("way", WAYS)
def test_the_heavy_cell_comes_first_forward_and_reverse_apart(way, mode):
    found = ms.debug.profile(WAYS[way](trainer(Net())), X, steps=3, mode=mode)
    cells = {cell.path: cell for cell in found.cells}
    assert list(cells)[:2] == ["Net", "Net.first"]
    assert {"Net.heavy.0", "Net.heavy.1", "Net.heavy.2", "Net.last", "Momentum"} <= set(cells)
    heavy, light = cells["Net.heavy"], cells["Net.last"]
    # How long each took is for the machine to say, on which others run too; the work is not.
    assert heavy.forward > 0 < light.forward
    assert heavy.reverse > 0 < light.reverse
    assert heavy.flops > 20 * light.flops > 0
    assert heavy.reverse_flops > 20 * light.reverse_flops > 0
    assert heavy.update == light.update == 0 < cells["Momentum"].update
    assert cells["Momentum"].forward == cells["Momentum"].reverse == 0
    total = sum(row.seconds for row in found.operators)
    assert total == pytest.approx(found.parts["operators"], rel=1e-6)
    parts = heavy.seconds + light.seconds + cells["Net.first"].seconds
    assert cells["Net"].seconds == pytest.approx(parts, rel=1e-6)


@pytest.mark.parametrize("mode", ("xla", "direct"))
def test_operations_are_those_by_hand_and_of_summary(mode):
    net = Net()
    found = ms.debug.profile(ms.jit(trainer(net)), X, steps=2, mode=mode)
    cells = {cell.path: cell for cell in found.cells}
    products = 2 * BATCH * LIGHT * HEAVY
    forward = cells["Net.heavy.0"].flops
    assert products <= forward <= 1.01 * products
    # The gradients of the input and of the weights are a product each.
    assert 2 * products <= cells["Net.heavy.0"].reverse_flops <= 2.02 * products
    rows = {row.path: row for row in ms.debug.summary(net, X).rows}
    for path in ("first", "heavy", "heavy.0", "heavy.1", "last"):
        assert cells[f"Net.{path}"].flops == rows[path].flops
    row = next(row for row in found.operators if row.path == "Net.last" and row.phase == "forward")
    assert (row.operator, row.calls) == ("dense", 1)
    assert re.fullmatch(r"test_profile\.py:\d+", row.line)


def test_a_forward_has_no_reverse_and_graph_mode_has_the_same_names():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        found = ms.debug.profile(Net(), X, steps=2)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    names = ["Net", "Net.first", "Net.heavy", "Net.heavy.0", "Net.heavy.1", "Net.heavy.2"]
    assert [cell.path for cell in found.cells if cell.path] == [*names, "Net.last"]
    assert all(cell.reverse == cell.update == cell.reverse_flops == 0 for cell in found.cells)
    assert {row.phase for row in found.operators} <= {"forward", "other"}


# -- the parts of a step ------------------------------------------------------------------------


def adds_up(found):
    assert all(seconds >= 0 for seconds in found.parts.values())
    assert sum(found.parts.values()) == pytest.approx(found.seconds, rel=0.15)


@pytest.mark.parametrize("mode", ("xla", "direct"))
def test_parts_add_up_to_the_step(mode):
    net = Net()
    step = ms.jit(trainer(net))

    def slow(x):
        time.sleep(0.02)
        return step(x)

    plain = ms.debug.profile(step, X, steps=4, mode=mode)
    found = ms.debug.profile(slow, X, steps=4, mode=mode)
    for one in (plain, found):
        adds_up(one)
        assert one.parts["data"] == one.parts["compilation"] == 0
    assert found.parts["python"] >= 0.02


def test_waiting_for_data_is_told():
    def batches():
        for _ in range(20):
            time.sleep(0.01)
            yield (X,)

    class Slow:
        def __getitem__(self, index):
            time.sleep(0.01)
            return np.ones(LIGHT, np.float32)

        def __len__(self):
            return 24

    step = ms.jit(trainer(Net()))
    found = ms.debug.profile(step, data=batches(), steps=8)
    adds_up(found)
    assert 0.01 <= found.parts["data"] <= found.seconds
    given = Iterator.__next__
    data = ms.dataset.GeneratorDataset(Slow(), ["x"], shuffle=False).batch(1)
    with ms.debug.profile() as block:
        for (x,) in data.create_tuple_iterator(num_epochs=1):
            step(x)
    adds_up(block)
    assert block.steps == 24
    # The rows are read by another thread, while the steps run.
    assert 0.002 <= block.parts["data"] <= block.seconds
    assert Iterator.__next__ is given


def test_a_compilation_in_a_step_is_told():
    shapes = iter(range(100, 200))

    def step():
        return ops.tanh(Tensor(np.ones((next(shapes), 7), np.float32))).sum()

    found = ms.debug.profile(step, steps=2, warm_up=1)
    adds_up(found)
    assert 0 < found.parts["compilation"] < found.seconds
    assert found.compiled > 0


def test_model_train_in_a_block():
    net = Net()
    model = ms.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-3))
    rows = [(X, Tensor(np.zeros((BATCH, LIGHT), np.float32)))] * 6
    model.train(1, rows, dataset_sink_mode=False)
    with ms.debug.profile() as found:
        model.train(1, rows, dataset_sink_mode=False)
    assert found.steps == 6
    cells = {cell.path: cell for cell in found.cells}
    heavy = "TrainOneStepCell.network._backbone.heavy"
    assert cells[heavy].forward > 0 < cells[heavy].reverse
    assert cells["TrainOneStepCell.optimizer"].update > 0


# -- it costs nothing when it is not used ---------------------------------------------------------


def plain_text(compiled) -> str:
    """The text of a compiled program without metadata."""
    text = compiled.as_text()
    text = re.sub(r", metadata=\{[^}]*\}", "", text)
    text = re.sub(r"\n(FileNames|FunctionNames|FileLocations|StackFrames)\n(\d.*\n)*", "\n", text)
    return re.sub(r"jit_\w+", "jit", text)


def test_names_leave_the_program_as_it_is():
    step = ms.jit(trainer(Net()))
    for _ in range(4):
        step(X)
    found = []

    def note(executable, key, places, arrays, live):
        found.append((executable, executable.lower(arrays).compile()))

    machine.on_record, before = note, machine.on_record
    try:
        step(X)
    finally:
        machine.on_record = before
    ((executable, plain),) = found
    function = executable.function
    profiled = ms.debug.profile(step, X, steps=1, warm_up=1)
    assert executable.function is function
    assert executable.compiled
    (program,) = profiled._programs.values()
    assert "Net.heavy.0/reverse/" in program.compiled.as_text()
    assert "Net.heavy" not in plain.as_text()
    assert plain_text(program.compiled) == plain_text(plain)


def test_programs_on_disk_are_found_again(tmp_path):
    before = jax.config.jax_compilation_cache_dir
    backend.keep_programs_in(str(tmp_path))
    try:

        def entries(run):
            executables.clear()
            jax.clear_caches()
            run()
            return {path.name for path in tmp_path.iterdir() if path.name.endswith("-cache")}

        def train():
            step = ms.jit(trainer(Net()))
            for _ in range(4):
                step(X).asnumpy()

        def run_profile():
            ms.debug.profile(ms.jit(trainer(Net())), X, steps=1)

        plain = entries(train)
        assert plain
        named = entries(run_profile)
        assert named > plain  # those with names have keys of their own
        assert entries(train) == named
    finally:
        backend.keep_programs_in(before)


@pytest.mark.parametrize("mode", ("xla", "direct"))
@pytest.mark.parametrize("way", WAYS)
def test_a_profile_changes_no_bits_and_leaves_nothing_behind(way, mode):
    def train(profiled: bool):
        ms.set_seed(3)
        net = Net()
        step = WAYS[way](trainer(net))
        for _ in range(4):
            step(X)
        if profiled:
            ms.debug.profile(step, X, steps=2, warm_up=1, mode=mode)
        else:
            for _ in range(3):
                step(X)
        before = ms.debug.ledger().counts.compilations
        step(X)
        assert ms.debug.ledger().counts.compilations == before
        return [parameter.asnumpy() for parameter in net.get_parameters()]

    for plain, profiled in zip(train(False), train(True), strict=True):
        if mode == "xla":
            assert np.array_equal(plain, profiled)
        else:  # operators one by one round otherwise than fused ones
            np.testing.assert_allclose(plain, profiled, rtol=1e-4, atol=1e-6)
    assert machine.on_record is None


def test_a_step_that_fails_leaves_nothing_behind():
    given = Iterator.__next__

    def step():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ms.debug.profile(step)
    with pytest.raises(KeyError, match="mine"), ms.debug.profile():
        step()
    assert machine.on_record is None
    assert Iterator.__next__ is given
    assert ms.debug.profile(lambda: ops.ones(3), steps=1).steps == 1


def test_what_cannot_be_profiled():
    with pytest.raises(TypeError, match="a function or a Cell"):
        ms.debug.profile(3)
    with pytest.raises(ValueError, match="steps must be an integer from 1 on"):
        ms.debug.profile(Net(), X, steps=0)
    with pytest.raises(ValueError, match="'xla' or 'direct'"):
        ms.debug.profile(Net(), X, mode="fast")
    with pytest.raises(AttributeError, match="when its block has ended"):
        _ = ms.debug.profile().cells


# -- memory ---------------------------------------------------------------------------------------


class Wide(nn.Cell):
    """`wide` makes 16 MiB that its reverse needs; all else is small."""

    def __init__(self):
        super().__init__()
        self.wide = nn.SequentialCell(nn.Dense(LIGHT, 1 << 16, has_bias=False), nn.Tanh())
        self.small = nn.Dense(LIGHT, LIGHT)

    def construct(self, x):
        return self.wide(self.small(x)).mean()


@pytest.mark.parametrize("mode", ("xla", "direct"))
def test_what_is_alive_at_the_peak(mode):
    net = Wide()
    weights = [net.small.weight, net.small.bias]
    derivative = ms.jit(ms.value_and_grad(lambda x: net(x), None, weights))
    found = ms.debug.profile(derivative, X, steps=1, mode=mode)
    wide = 4 * BATCH << 16
    cells = {cell.path: cell for cell in found.cells}
    assert wide <= cells["Wide.wide"].memory <= 3.1 * wide
    assert cells["Wide.small"].memory <= 1 << 20
    assert cells["Wide"].memory >= cells["Wide.wide"].memory
    assert sum(row.bytes for row in found.peak.rows) == found.peak.bytes
    given = sum(row.bytes for row in found.peak.rows if row.operator == "input")
    parameters = sum(4 * parameter.size for parameter in net.get_parameters())
    assert parameters <= given <= parameters + 8 * X.size
    if mode == "xla":
        (program,) = found._programs.values()
        stats = program.compiled.memory_analysis()
        whole = stats.argument_size_in_bytes + stats.output_size_in_bytes
        whole += stats.temp_size_in_bytes
        assert 0.8 * whole <= found.peak.bytes <= whole


# -- what people see ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained():
    return ms.debug.profile(ms.jit(trainer(Net())), X, steps=2)


class Checked(html.parser.HTMLParser):
    """Notes tags that stay open, and attributes that would load something."""

    def __init__(self):
        super().__init__()
        self.open, self.loads = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        self.loads += [pair for pair in attrs if pair[0] in ("src", "href", "srcset")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_opens_without_a_network(trained, tmp_path):
    path = trained.html(tmp_path / "page.html")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    seen = Checked()
    seen.feed(text)
    assert (seen.open, seen.loads) == ([], [])
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<script|<link", text)
    assert "width=device-width" in text
    for told in ("Flame graph", "Timeline", "heavy", "Momentum", "dense", "Alive at the peak"):
        assert told in text
    inside = trained._repr_html_()
    assert "<!doctype" not in inside
    assert "heavy" in inside


def test_a_trace_for_perfetto(trained, tmp_path):
    """Oracle: the format: complete events with times, on tracks where they nest or follow."""
    with open(trained.trace(tmp_path / "trace.json"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert {event["ph"] for event in events} == {"X", "M"}
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in spans)
    assert sum(event["name"] == "step" for event in spans) == 2
    cells = {event["args"]["Cell"] for event in spans if "args" in event}
    assert {"Net.heavy.0", "Net.heavy.2", "Momentum"} <= cells
    phases = {event["cat"] for event in spans}
    assert {"forward", "reverse", "update", "step"} <= phases
    by_track = {}
    for event in sorted(spans, key=lambda event: (event["ts"], -event["dur"])):
        ends = by_track.setdefault((event["pid"], event["tid"]), [])
        while ends and ends[-1] <= event["ts"] + 1e-3:
            ends.pop()
        assert not ends or event["ts"] + event["dur"] <= ends[-1] + 1e-3
        ends.append(event["ts"] + event["dur"])


def test_tables(trained, tmp_path):
    written = io.StringIO()
    Console(width=160, file=written).print(trained)
    for text in (str(trained), written.getvalue()):
        assert "heavy" in text
        assert "XLA's own profile" in text
        assert "dense" in text
    heads, *rows = trained.table
    assert heads[:4] == ["Cell", "forward", "reverse", "update"]
    assert [row[0].strip() for row in rows if row[0].strip() == "heavy"] == ["heavy"]
    with open(trained.csv(tmp_path / "table.csv"), newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(trained.operators)
    assert float(written[0]["seconds"]) == trained.operators[0].seconds


def test_the_profiler_of_mindspore_gives_the_same(tmp_path):
    step = ms.jit(trainer(Net()))
    for _ in range(4):
        step(X)
    profiler = ms.Profiler(output_path=str(tmp_path))
    for _ in range(3):
        step(X)
        profiler.step()
    profiler.analyse()
    assert profiler.result.steps == 3
    cells = {cell.path: cell for cell in profiler.result.cells}
    assert cells["Net.heavy"].forward > cells["Net.last"].forward > 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "operators.csv",
        "plugins",
        "profile.html",
        "trace.json",
    }
    assert list(tmp_path.rglob("*.xplane.pb"))


# -- how time is shared ---------------------------------------------------------------------------


def test_time_is_shared_by_what_runs_at_once():
    # Oracle: by hand. `loop` holds `body`; `other` runs at the same time for 4 of its 6.
    spans = [
        Span(0, 10, "a", "p", "loop", 1),
        Span(2, 6, "a", "p", "body", 1),
        Span(4, 12, "b", "p", "other", 1),
        Span(6, 8, "a", "p", "aside", 1, aside=True),
    ]
    times = timeline.shared(spans, [(0, 20)])
    loop, body, other, aside = (times[number] for number in range(4))
    assert body == pytest.approx(2 + 2 / 2)
    assert aside == pytest.approx(2 / 3)
    assert loop == pytest.approx(2 + 2 / 3 + 2 / 2)
    assert other == pytest.approx(2 / 2 + 2 / 3 + 2 / 2 + 2)
    assert sum(times.values()) == pytest.approx(12)
    clipped = timeline.shared(spans, [(0, 1), (11, 20)])
    assert clipped == pytest.approx({0: 1, 1: 0, 2: 1, 3: 0})


def test_an_instruction_belongs_to_what_it_computes():
    """Oracle: the operations by hand, of a program that XLA fuses into one loop."""

    def run(x):
        with jax.named_scope("A/forward/n0:add"):
            y = x + 1
        with jax.named_scope("B/forward/n1:exp"):
            return jax.numpy.exp(y) * 2

    compiled = jax.jit(run).lower(np.zeros((64, 64), np.float32)).compile()
    (made,) = compiled.runtime_executable().hlo_modules()
    module = hlo.Module(made.as_serialized_hlo_module_proto())
    fusion = next(one for one in module.instructions.values() if one.opcode == "fusion")
    weights = {one.opcode: weight for one, weight in module.weights(fusion) if weight}
    size, byte = 64 * 64, hlo.OPERATIONS_OF_BYTE
    assert weights == {
        "add": size + byte * 4 * size,  # it reads the input
        "exponential": hlo.OPERATIONS_OF_TRANSCENDENTAL * size,
        "multiply": size + byte * 4 * size,  # it writes the result
    }
    assert [one.opcode for one in module.inside(fusion)][-1] == "multiply"


# The function of this name hides the module.
profile = importlib.import_module("mycel.debug.profile")
MODULES = [costs, hlo, page, profile, result, timeline]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples(module):
    names = {"np": np, "nn": nn, "ops": ops, "ms": ms, "Tensor": Tensor}
    outcome = doctest.testmod(module, extraglobs=names)
    assert outcome.attempted
    assert not outcome.failed


def test_one_profile_at_a_time(tmp_path, caplog):
    """Oracle: MindSpore 2.10 logs an error for the second Profiler and goes on."""
    first = ms.Profiler(output_path=str(tmp_path / "first"))
    try:
        with caplog.at_level("ERROR", logger="mycel"):
            second = ms.Profiler(output_path=str(tmp_path / "second"))
        line = test_one_profile_at_a_time.__code__.co_firstlineno + 5
        assert f"A profile was begun at {__file__}:{line} while one runs" in caplog.text
        second.stop()
        assert second.result is None
        with pytest.raises(RuntimeError, match=r"^A profile was begun at"), ms.debug.profile():
            pass
        assert ops.ones(2).asnumpy().sum() == 2
    finally:
        first.stop()
    assert first.result is not None
    second.start()
    second.stop()
    assert second.result is not None


def test_wrong_arguments_name_the_user_s_line():
    line = test_wrong_arguments_name_the_user_s_line.__code__.co_firstlineno
    with pytest.raises(ValueError, match=rf"^schedule: wait must .* at {__file__}:{line + 3}\.$"):
        profiler.schedule(wait=-1, active=1)
    with pytest.raises(TypeError, match=r"^Profiler: output_path must be a folder, but 3 was"):
        ms.Profiler(output_path=3)
    for given in (ms.jit(ops.relu), 3):
        with pytest.raises(TypeError, match=r"^layouts must be given a Cell or Parameters, but"):
            ms.debug.layouts(given)
