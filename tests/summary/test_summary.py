# SPDX-License-Identifier: Apache-2.0
"""Summary operators in every execution: which values are written at which step.

Oracles: NumPy, Python, and what MindSpore 2.10 wrote for the same calls (named where it is used).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import sys
import threading

import jax
import numpy as np
import pytest
from PIL import Image

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Parameter, SummaryRecord, Tensor, nn, ops
from mycel.compat import alias
from mycel.kernel.spell import op
from mycel.summary import events as event_files
from support.event_reader import read, read_events

STEPS = 6
SETTLED = STEPS - 2  # replays of a function that repeats from the start


def counts():
    """The ledger starts anew with every test."""
    return ms.debug.ledger().counts


class Net(nn.Cell):
    """Names a value of every kind and returns the loss."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(np.float32([1.0, -2.0, 3.0, 0.5]), name="weight")
        self.scalar = ops.ScalarSummary()
        self.tensor = ops.TensorSummary()
        self.histogram = ops.HistogramSummary()
        self.image = ops.ImageSummary()

    def construct(self, x):
        y = x * self.weight
        loss = (y * y).sum()
        self.scalar("loss", loss)
        self.tensor("activations", y)
        self.histogram("weight", self.weight)
        self.image("picture", (x * 8).astype(ms.uint8).reshape((1, 1, 2, 2)))
        return loss


def inputs(step: int) -> np.ndarray:
    return np.float32([step, 1.0, 2.0, step + 0.5])


@pytest.mark.parametrize("how", EXECUTIONS)
def test_every_step_writes_its_own_values(tmp_path, how):
    """Oracle: the training step in NumPy. Replays are counted: they write real values too."""
    net = Net()
    derivative = ms.value_and_grad(net, None, net.trainable_params())

    def step(x):
        loss, (gradient,) = derivative(x)
        net.weight.set_data(net.weight - 0.01 * gradient)
        return loss

    with execution(how), SummaryRecord(tmp_path) as record:
        run = ms.jit(step) if how == "graph" else step
        for number in range(STEPS):
            run(Tensor(inputs(number)))
            assert record.record(number) is True
    assert counts().replays == (SETTLED if how == "graph" else 0)
    found = read(record)
    assert {tag: sorted(steps) for tag, steps in found.items()} == {
        tag: list(range(STEPS)) for tag in ("loss", "activations", "weight", "picture")
    }
    weight = np.float32([1.0, -2.0, 3.0, 0.5])
    for number in range(STEPS):
        x = inputs(number)
        assert_close(found["activations"][number], x * weight, "activations")
        assert_close(np.float32(found["loss"][number]), np.square(x * weight).sum(), "loss")
        shown = found["weight"][number]
        assert_close([shown.min, shown.max], [weight.min(), weight.max()], dtype="float32")
        assert_close(shown.sum, weight.sum(dtype=np.float64), dtype="float32")
        pixels = Image.open(io.BytesIO(found["picture"][number].encoded_image_string))
        np.testing.assert_array_equal(np.asarray(pixels), (x * 8).astype(np.uint8).reshape(2, 2))
        weight = (weight - 0.02 * x * x * weight).astype(np.float32)


def test_a_cell_alone_in_graph_mode(tmp_path):
    """The outermost call of a Cell is replayed; oracle: NumPy."""
    net = Net()
    ms.set_context(mode=ms.GRAPH_MODE)
    with SummaryRecord(tmp_path) as record:
        for number in range(STEPS):
            net(Tensor(inputs(number)))
            record.record(number)
    assert counts().replays == SETTLED
    weight = np.float32([1.0, -2.0, 3.0, 0.5])
    assert_close(
        [np.float32(v) for v in read(record)["loss"].values()],
        [np.square(inputs(number) * weight).sum() for number in range(STEPS)],
    )


def everywhere(function, values, tmp_path):
    """What `function`, called on each value and then recorded, writes in every execution."""
    found = {}
    for how in EXECUTIONS:
        before = counts().replays
        with execution(how), SummaryRecord(tmp_path / how) as record:
            run = ms.jit(function) if how == "graph" else function
            for number, value in enumerate(values):
                run(Tensor(np.float32(value)))
                record.record(number)
        assert counts().replays - before == (len(values) - 2 if how == "graph" else 0)
        found[how] = read(record)
    return found


def scalars(found, tag) -> list[float]:
    return [found[tag][step] for step in sorted(found[tag])]


ONES = [float(number) for number in range(1, STEPS + 1)]


# -- which value is written ---------------------------------------------------------------------


def test_what_was_named_is_kept_when_the_handle_moves_on(tmp_path):
    """A Parameter shows the value it had when it was named; oracle: Python."""
    weight = Parameter(Tensor([0.0]), name="weight")
    summary = ops.ScalarSummary()

    def step(x):
        summary("before", weight)
        weight.set_data(weight + x)
        summary("between", weight)
        weight.set_data(weight * 2)
        x += 100.0
        summary("argument", x)

    for how in EXECUTIONS:
        weight.set_data(Tensor([0.0]))
        found = everywhere_one(step, how, tmp_path, lambda: weight.set_data(Tensor([-7.0])))
        # Every call begins at -7, except for the first.
        starts = [0.0] + [-7.0] * (STEPS - 1)
        assert scalars(found, "before") == starts, how
        assert scalars(found, "between") == [s + x for s, x in zip(starts, ONES, strict=True)], how
        assert scalars(found, "argument") == [x + 100.0 for x in ONES], how


def everywhere_one(step, how, tmp_path, before_record):
    with execution(how), SummaryRecord(tmp_path / how) as record:
        run = ms.jit(step) if how == "graph" else step
        for number, value in enumerate(ONES):
            run(Tensor(np.float32(value)))
            before_record()
            record.record(number)
    if how == "graph":
        assert counts().replays == SETTLED
    return read(record)


def test_of_one_name_the_last_value_is_written(tmp_path):
    """As MindSpore 2.10: within a call, over several calls, and for each plugin by itself."""
    scalar, tensor, histogram = ops.ScalarSummary(), ops.TensorSummary(), ops.HistogramSummary()

    def step(x):
        total = x.sum()
        scalar("same", total)
        scalar("same", total + 1)
        tensor("same", x)
        histogram("h", x)
        return total

    for how in EXECUTIONS:
        with execution(how), SummaryRecord(tmp_path / how) as record:
            run = ms.jit(step) if how == "graph" else step
            for _ in range(3):
                run(Tensor([1.0, 2.0]))
            run(Tensor([3.0, 4.0]))
            record.record(1)
            record.record(2)
        found = read(record)
        # Recorded from MindSpore 2.10; it writes nothing for step 2 either.
        assert found["same"] == {1: 8.0}
        assert found["same/tensor"].keys() == {1}
        assert found["same/tensor"][1].tolist() == [3.0, 4.0]
        shown = found["h"][1]
        assert (shown.min, shown.max, shown.sum, shown.num) == (3.0, 4.0, 7.0, 2.0)
        assert (list(shown.bucket_limit), list(shown.bucket)) == ([3.5, 4.0], [1.0, 1.0])
    assert counts().replays == 2


def test_a_cell_called_twice(tmp_path):
    """Two calls in one network: the second wins; oracle: Python."""

    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.summary = ops.ScalarSummary()

        def construct(self, x):
            self.summary("x", x)
            return x * 3

    inner = Inner()
    for how, found in everywhere(lambda x: inner(inner(x)), ONES, tmp_path).items():
        assert scalars(found, "x") == [x * 3 for x in ONES], how


def test_not_a_number_is_written(tmp_path):
    """Oracle: IEEE arithmetic."""
    summary = ops.ScalarSummary()
    zeros = [np.float32(0.0)] * 4

    def step(x):
        summary("nan", x / x)
        summary("infinite", 1 / x)

    for how, found in everywhere(step, zeros, tmp_path).items():
        assert np.isnan(scalars(found, "nan")).tolist() == [True] * 4, how
        assert scalars(found, "infinite") == [np.inf] * 4, how
    with SummaryRecord(tmp_path / "large") as record:
        summary("large", Tensor(np.float64(1e300)))
        record.record(0)
    assert read(record)["large"][0] == np.inf


def test_numbers_of_every_type(tmp_path):
    """A scalar may have dimensions of length 1, and any real type."""
    with SummaryRecord(tmp_path) as record:
        for dtype in ("bool", "int8", "uint64", "float16", "bfloat16", "float64"):
            ops.ScalarSummary()(dtype, Tensor([[1]]).astype(dtype))
        record.record(np.int64(3))
    assert set(read(record)) == {"bool", "int8", "uint64", "float16", "bfloat16", "float64"}
    assert all(steps == {3: 1.0} for steps in read(record).values())


# -- derivatives and hooks ------------------------------------------------------------------------


def test_inside_a_derivative_the_gradient_is_not_affected(tmp_path):
    """Oracle: the derivatives of x**4 by hand."""
    scalar = ops.ScalarSummary()

    def fourth(x):
        square = x * x
        scalar("square", square)
        return square * square

    def both(x):
        scalar("first", ms.grad(fourth)(x))
        scalar("second", ms.grad(ms.grad(fourth))(x))

    for how, found in everywhere(both, ONES, tmp_path).items():
        assert_close(scalars(found, "square"), [float(x**2) for x in ONES], how)
        assert_close(scalars(found, "first"), [4.0 * x**3 for x in ONES], how)
        assert_close(scalars(found, "second"), [12.0 * x**2 for x in ONES], how)


def test_inside_hooks(tmp_path):
    """A hook that names the gradient, on a Tensor; oracle: the derivative by hand."""
    scalar, tensor = ops.ScalarSummary(), ops.TensorSummary()

    def f(x):
        y = x * 3

        def hook(gradient):
            scalar("gradient", gradient)
            tensor("twice", (gradient * 2).reshape((1,)))

        y.register_hook(hook)
        return y * y

    for how, found in everywhere(lambda x: ms.grad(f)(x), ONES, tmp_path).items():
        assert scalars(found, "gradient") == [6 * x for x in ONES], how
        assert [v.tolist() for v in scalars(found, "twice")] == [[12 * x] for x in ONES], how


def test_inside_hooks_of_a_cell(tmp_path):
    """Around `construct` and in the reverse, each once in a call; oracle: by hand."""
    scalar = ops.ScalarSummary()

    class Square(nn.Cell):
        def construct(self, x):
            scalar("inside", x)
            return x * x

    net = Square()
    net.register_forward_pre_hook(lambda cell, inputs: scalar("before", inputs[0]))
    net.register_forward_hook(lambda cell, inputs, output: scalar("after", output))

    # The gradient that arrives at the output, and the one that leaves towards the input.
    def reverse(cell, arriving, leaving):
        scalar("arriving", arriving[0])
        scalar("leaving", leaving[0])

    net.register_backward_hook(reverse)
    found = everywhere(lambda x: ms.grad(lambda x: net(x) * 5)(x), ONES, tmp_path)
    for how, each in found.items():
        assert scalars(each, "before") == ONES, how
        assert scalars(each, "inside") == ONES, how
        assert scalars(each, "after") == [x * x for x in ONES], how
        assert scalars(each, "arriving") == [5.0] * STEPS, how
        assert scalars(each, "leaving") == [10 * x for x in ONES], how


def test_a_cell_with_its_own_reverse(tmp_path):
    """Summaries in `construct` and in `bprop`; oracle: by hand."""

    class Triple(nn.Cell):
        def __init__(self):
            super().__init__()
            self.summary = ops.ScalarSummary()

        def construct(self, x):
            self.summary("forward", x)
            return x * 3

        def bprop(self, x, out, dout):
            self.summary("reverse", dout)
            return (dout * 3,)

    net = Triple()
    found = everywhere(lambda x: ms.grad(lambda x: net(x) * x)(x), ONES, tmp_path)
    for how, each in found.items():
        assert scalars(each, "forward") == ONES, how
        assert scalars(each, "reverse") == ONES, how


def test_a_replay_that_is_broken_off_writes_once_and_right(tmp_path):
    """A later site changes its mind at the fifth call. Oracle: Python."""
    scalar = ops.ScalarSummary()

    def program(how):
        seen = []

        @ms.every_call
        def sometimes(x):
            seen.append(1)
            return x * 0 if len(seen) == 5 else None

        def step(x):
            scalar("before", x * 2)
            changed = sometimes(x)
            x = x if changed is None else changed
            scalar("after", x + 1)
            return x

        with execution(how), SummaryRecord(tmp_path / how) as record:
            run = ms.jit(step) if how == "graph" else step
            for number in range(1, 9):
                run(Tensor(float(number)))
                record.record(number)
        return read(record)

    for how in EXECUTIONS:
        found = program(how)
        assert scalars(found, "before") == [2.0 * n for n in range(1, 9)], how
        assert scalars(found, "after") == [1.0 if n == 5 else n + 1.0 for n in range(1, 9)], how
    assert counts().misses == 1


def test_a_call_that_raises_writes_what_came_before(tmp_path):
    """Oracle: Python."""
    scalar = ops.ScalarSummary()
    for how in EXECUTIONS:

        def step(x):
            scalar("reached", x)
            if x > 4:
                raise KeyError("large")
            scalar("passed", x)
            return x

        with execution(how), SummaryRecord(tmp_path / how) as record:
            run = ms.jit(step) if how == "graph" else step
            for number in range(6):
                with contextlib.suppress(KeyError):
                    run(Tensor(float(number)))
                record.record(number)
        assert scalars(read(record), "reached") == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], how
        assert scalars(read(record), "passed") == [0.0, 1.0, 2.0, 3.0, 4.0], how


# -- records --------------------------------------------------------------------------------------


def test_without_an_open_record_nothing_is_kept(tmp_path):
    """A record that is opened later, or again, is seen by a call that is already replayed."""
    scalar = ops.ScalarSummary()

    @ms.jit
    def step(x):
        scalar("x", x * 2)
        return x

    for number in range(4):
        step(Tensor(float(number)))
    assert counts().replays == 2
    for turn in range(2):
        with SummaryRecord(tmp_path / str(turn)) as record:
            record.record(0)
            step(Tensor(10.0 + turn))
            record.record(1)
        step(Tensor(99.0))
        assert read(record) == {"x": {1: 20.0 + 2 * turn}}
    assert counts().replays == 6


def test_naming_a_value_runs_nothing(tmp_path):
    """In PyNative the value stays pending until it is recorded; oracle: the count of segments."""
    with SummaryRecord(tmp_path) as record:
        x = Tensor([1.0, 2.0]) * 2
        before = counts().segments
        ops.TensorSummary()("x", x)
        ops.ScalarSummary()("total", x.sum())
        assert counts().segments == before
        record.record(0)
        assert counts().segments == before + 1


@pytest.mark.parametrize("how", EXECUTIONS)
def test_what_waits_is_bounded(tmp_path, how):
    """Of many calls without a record one value per name is held; none after it; oracle: gc."""
    scalar = ops.TensorSummary()

    def alive():
        ms.flush()
        gc.collect()
        return sum(isinstance(o, Tensor) and o.shape == (7, 11) for o in gc.get_objects())

    def step(x):
        scalar("x", ops.zeros((7, 11), ms.float32) + x)
        return x

    with execution(how), SummaryRecord(tmp_path) as record:
        run = ms.jit(step) if how == "graph" else step
        start = alive()
        for number in range(20):
            run(Tensor(float(number)))
        assert alive() - start == 1
        record.record(0)
        assert alive() == start
        run(Tensor(0.0))
    assert alive() == start


def test_several_records_take_everything(tmp_path):
    with SummaryRecord(tmp_path / "a") as first, SummaryRecord(tmp_path / "b") as second:
        ops.ScalarSummary()("x", Tensor(1.0))
        first.record(1)
        ops.ScalarSummary()("x", Tensor(2.0))
        first.record(2)
        second.record(3)
    assert read(first) == {"x": {1: 1.0, 2: 2.0}}
    assert read(second) == {"x": {3: 2.0}}


def test_two_records_of_one_folder_have_files_of_their_own(tmp_path):
    with SummaryRecord(tmp_path) as first, SummaryRecord(tmp_path) as second:
        assert first.log_dir != second.log_dir
    assert len(list(tmp_path.iterdir())) == 2


def test_in_mode_eval_the_operators_are_not_written(tmp_path):
    """As in MindSpore; but what was named meanwhile does not come up in a later step either."""
    scalar = ops.ScalarSummary()
    with SummaryRecord(tmp_path) as record:
        scalar("train", Tensor(1.0))
        record.set_mode("eval")
        scalar("eval", Tensor(2.0))
        record.add_value("scalar", "accuracy", Tensor(3.0))
        record.record(1)
        scalar("eval", Tensor(2.0))
        record.set_mode("train")
        record.record(2)
        scalar("train", Tensor(4.0))
        record.record(3)
    assert read(record) == {"accuracy": {1: 3.0}, "train": {3: 4.0}}


def test_add_value_keeps_the_value_of_its_call(tmp_path):
    weight = Parameter(Tensor([1.0, 2.0]), name="weight")
    with SummaryRecord(tmp_path) as record:
        record.add_value("tensor", "weight", weight)
        weight.set_data(Tensor([8.0, 9.0]))
        record.add_value("scalar", "n", Tensor(1.0))
        record.add_value("scalar", "n", Tensor(2.0))
        record.record(0)
    assert read(record)["weight"][0].tolist() == [1.0, 2.0]
    assert read(record)["n"] == {0: 2.0}


def test_the_filter_chooses_plugins(tmp_path):
    """What is filtered out is forgotten, as in MindSpore."""
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "f", Tensor(1.0))
        record.add_value("tensor", "g", Tensor([1.0]))
        record.record(8, plugin_filter=lambda plugin: plugin == "scalar")
        record.record(9)
    assert read(record) == {"f": {8: 1.0}}


def test_recording_inside_a_compiled_function(tmp_path):
    """`record` and `add_value` run at every call; oracle: Python."""
    with SummaryRecord(tmp_path) as record:

        @ms.jit
        def step(x, number):
            record.add_value("scalar", "added", x * 3)
            ops.ScalarSummary()("x", x)
            record.record(number)
            return x * 2

        for number in (1, 1, 1, 1):
            with SummaryRecord(tmp_path / "other") as other:
                step(Tensor(float(number)), number)
                other.record(0)
            assert read(other) == {"x": {0: 1.0}}
        for number in range(2, 6):
            step(Tensor(float(number)), number)
    assert counts().replays == 2
    events = [event for event in read_events(record.log_dir) if event.summary.value]
    assert [event.step for event in events] == [1, 1, 1, 1, 2, 3, 4, 5]
    for event in events:
        assert [(v.tag, v.simple_value) for v in event.summary.value] == [
            ("x", event.step),
            ("added", 3.0 * event.step),
        ]


@pytest.mark.filterwarnings("ignore:.*keeps running in PyNative")
@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "jit"])
def test_values_of_other_threads(tmp_path, compiled):
    """Four threads name values that may still be pending; one thread records. Oracle: NumPy."""
    scalar = ops.ScalarSummary()
    failed = []

    def work(name):
        def step(x):
            scalar(name, (x * x).sum())

        try:
            run = ms.jit(step) if compiled else step
            for number in range(20):
                run(Tensor(np.arange(number, dtype=np.float32)))
        except BaseException as error:
            failed.append(error)

    with SummaryRecord(tmp_path) as record:
        threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for step in range(10):
            record.record(step)
        for thread in threads:
            thread.join()
        record.record(10)
        work("mine")
        record.record(11)
    assert not failed
    found = read(record)
    allowed = {float(np.square(np.arange(n)).sum()) for n in range(20)}
    assert {found[f"t{n}"][max(found[f"t{n}"])] for n in range(4)} == {max(allowed)}
    assert all(set(steps.values()) <= allowed for steps in found.values())
    assert found["mine"] == {11: max(allowed)}


def _refuse_zeros(x):
    if (np.asarray(x) == 0).any():
        raise ZeroDivisionError("a zero on the host")
    return np.asarray(x)


@op("ops.refuse_zeros_for_tests", fallible=True)
def refuse_zeros_for_tests(x):
    """x, by way of the host; raises for zeros."""
    return jax.pure_callback(_refuse_zeros, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_a_value_that_could_not_be_computed_raises_where_it_is_recorded(tmp_path):
    """The error names the operator; the next step is recorded."""
    with SummaryRecord(tmp_path) as record:
        for step, number in enumerate([1.0, 0.0, 2.0]):
            ops.TensorSummary()("x", refuse_zeros_for_tests(Tensor([number])))
            if number:
                assert record.record(step)
                continue
            with pytest.raises(RuntimeError, match="refuse_zeros_for_tests"):
                record.record(step)
    assert {step: x.tolist() for step, x in read(record)["x"].items()} == {0: [1.0], 2: [2.0]}


# -- errors ---------------------------------------------------------------------------------------


OPERATOR_ERRORS = {
    "name is a number": (
        lambda: ops.ScalarSummary()(3, Tensor(1.0)),
        TypeError,
        "The name of ScalarSummary must be a string, but 3 (int) was given",
    ),
    "name is empty": (
        lambda: ops.ScalarSummary()("", Tensor(1.0)),
        ValueError,
        "The name of ScalarSummary must be a word, as in 'loss', but '' was given",
    ),
    "value is a number": (
        lambda: ops.ScalarSummary()("x", 1.0),
        TypeError,
        "The value of ScalarSummary 'x' must be a Tensor; write Tensor(value), "
        "but 1.0 (float) was given",
    ),
    "scalar of two": (
        lambda: ops.ScalarSummary()("x", Tensor([1.0, 2.0])),
        ValueError,
        "The value of ScalarSummary 'x' must be a Tensor with one element, "
        "but one of shape (2,) was given",
    ),
    "tensor without dimensions": (
        lambda: ops.TensorSummary()("x", Tensor(1.0)),
        ValueError,
        "The value of TensorSummary 'x' must be a Tensor with at least one dimension, "
        "but one of shape () was given",
    ),
    "histogram without dimensions": (
        lambda: ops.HistogramSummary()("x", Tensor(1.0)),
        ValueError,
        "The value of HistogramSummary 'x' must be a Tensor with at least one dimension, "
        "but one of shape () was given",
    ),
    "image of two channels": (
        lambda: ops.ImageSummary()("x", ops.zeros((1, 2, 4, 4), ms.float32)),
        ValueError,
        "The value of ImageSummary 'x' must be a Tensor with shape (N, C, H, W), with C = 1 or 3 "
        "and no length 0, but one of shape (1, 2, 4, 4) was given",
    ),
    "image of three dimensions": (
        lambda: ops.ImageSummary()("x", ops.zeros((3, 4, 4), ms.float32)),
        ValueError,
        "but one of shape (3, 4, 4) was given",
    ),
    "no image": (
        lambda: ops.ImageSummary()("x", ops.zeros((0, 3, 4, 4), ms.float32)),
        ValueError,
        "but one of shape (0, 3, 4, 4) was given",
    ),
    "complex": (
        lambda: ops.HistogramSummary()("x", Tensor(np.complex64([1j]))),
        TypeError,
        "The value of HistogramSummary 'x' must be real; summarise value.real() and "
        "value.imag(), but Complex64 was given",
    ),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "jit"])
@pytest.mark.parametrize("name", OPERATOR_ERRORS)
def test_errors_of_operators(name, compiled):
    """At the call, with the user's line, whether or not a record is open."""
    call, kind, text = OPERATOR_ERRORS[name]
    run = ms.jit(call) if compiled else call
    for _ in range(3):
        with pytest.raises(kind) as caught:
            run()
        assert text in str(caught.value)
        assert f"{__file__}:" in str(caught.value)


RECORD_ERRORS = {
    "plugin": (
        lambda r: r.add_value("foo", "x", Tensor(1.0)),
        ValueError,
        "The plugin of add_value must be one of 'scalar', 'tensor', 'histogram', 'image', "
        "'graph', but 'foo' was given",
    ),
    "lineage": (
        lambda r: r.add_value("train_lineage", "x", Tensor(1.0)),
        ValueError,
        "'graph'; MindInsight's own data is not written, but 'train_lineage' was given",
    ),
    "graph": (
        lambda r: r.add_value("graph", "x", Tensor(1.0)),
        TypeError,
        "The value of add_value('graph', ...) must be a Cell, but",
    ),
    "value": (
        lambda r: r.add_value("scalar", "x", 1.0),
        TypeError,
        "The value of add_value('scalar', ...) 'x' must be a Tensor; write Tensor(value)",
    ),
    "mode": (
        lambda r: r.set_mode("test"),
        ValueError,
        "The mode of a SummaryRecord must be 'train' or 'eval', but 'test' was given",
    ),
    "step is a float": (
        lambda r: r.record(1.5),
        TypeError,
        "The step of SummaryRecord.record must be an integer, but 1.5 was given",
    ),
    "step is a bool": (lambda r: r.record(True), TypeError, "but True was given"),
    "network": (
        lambda r: r.record(1, train_network=3),
        TypeError,
        "train_network must be a Cell or None, but 3 was given",
    ),
}


@pytest.mark.parametrize("name", RECORD_ERRORS)
def test_errors_of_a_record(tmp_path, name):
    call, kind, text = RECORD_ERRORS[name]
    with SummaryRecord(tmp_path) as record, pytest.raises(kind) as caught:
        call(record)
    assert text in str(caught.value)
    assert f"{__file__}:" in str(caught.value)


CREATION_ERRORS = [
    ({"file_prefix": 3}, TypeError, "file_prefix must be a string, but 3 was given"),
    ({"file_suffix": "a/b"}, ValueError, "file_suffix must be made of letters, digits"),
    ({"network": 3}, TypeError, "network must be a Cell or None, but 3 was given"),
    ({"max_file_size": 1.5}, TypeError, "max_file_size must be a number of bytes or None"),
    ({"raise_exception": 1}, TypeError, "raise_exception must be a bool, but 1 was given"),
    ({"export_options": "npy"}, TypeError, "export_options must be a dict or None"),
    (
        {"export_options": {"tensor_format": "txt"}},
        ValueError,
        "export_options must be {'tensor_format': 'npy'}",
    ),
]


@pytest.mark.parametrize(("arguments", "kind", "text"), CREATION_ERRORS)
def test_errors_of_creation(tmp_path, arguments, kind, text):
    with pytest.raises(kind) as caught:
        SummaryRecord(tmp_path / "made", **arguments)
    assert text in str(caught.value)
    assert not (tmp_path / "made").exists()


def test_a_negative_size_has_no_effect(tmp_path):
    with pytest.warns(UserWarning, match="max_file_size=-1 is negative") as caught:
        record = SummaryRecord(tmp_path, max_file_size=-1)
    assert caught[0].filename == __file__
    with record:
        ops.ScalarSummary()("x", Tensor(1.0))
        assert record.record(0)


def test_without_tensorboardx_the_error_says_what_to_install(tmp_path, monkeypatch):
    """Operators go on without it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboardX"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    ops.ScalarSummary()("x", Tensor(1.0))
    with pytest.raises(ImportError) as caught:
        SummaryRecord(tmp_path / "made")
    assert str(caught.value) == event_files.MISSING
    assert "pip install 'mycel[summary]'" in str(caught.value)
    assert not (tmp_path / "made").exists()
    ops.ScalarSummary()("x", Tensor(1.0))


def test_names():
    """The operators return None, are Primitives, and are found where MindSpore has them."""
    for name in ("Scalar", "Tensor", "Histogram", "Image"):
        kind = getattr(ops, f"{name}Summary")
        assert issubclass(kind, ops.Primitive)
        assert repr(kind()) == f"{name}Summary()"
        assert getattr(ms.ops.operations, f"{name}Summary") is kind
    assert ops.ScalarSummary()("x", Tensor(1.0)) is None
    for path in ("train", "train.summary", "train.summary.summary_record"):
        assert alias.find(f"mindspore.{path}", "SummaryRecord") is SummaryRecord
    assert importlib.import_module("mycel.train.summary").SummaryRecord is SummaryRecord


def test_the_folder_is_a_path():
    with pytest.raises(TypeError, match=r"^SummaryRecord: log_dir must be a folder, but Dense\("):
        SummaryRecord(nn.Dense(2, 2), "x")
