# SPDX-License-Identifier: Apache-2.0
"""Callbacks of `map`. Oracle: what MindSpore 2.10 called, recorded here; the rows themselves.

MindSpore makes several rows at once, so that calls of one kind are in order, but not those of two.
"""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds


class Recorder(ds.DSCallback):
    def __init__(self, step_size=1):
        super().__init__(step_size)
        self.log = []

    def note(self, what, context):
        place = context.cur_epoch_num, context.cur_step_num, context.cur_step_num_in_epoch
        self.log.append((what, *place))

    def ds_begin(self, ds_run_context):
        self.note("begin", ds_run_context)

    def ds_epoch_begin(self, ds_run_context):
        self.note("epoch_begin", ds_run_context)

    def ds_epoch_end(self, ds_run_context):
        self.note("epoch_end", ds_run_context)

    def ds_step_begin(self, ds_run_context):
        self.note("step_begin", ds_run_context)

    def ds_step_end(self, ds_run_context):
        self.note("step_end", ds_run_context)


def numbers(count=4):
    return ds.NumpySlicesDataset(np.arange(count), ["x"], shuffle=False)


def epochs(data, count):
    iterator = data.create_dict_iterator(num_epochs=count, output_numpy=True)
    return [[row["x"].tolist() for row in iterator] for _ in range(count)]


# By the size of steps, the places of the steps of two epochs of four rows.
STEPS = {
    1: [(1, 1, 1), (1, 2, 2), (1, 3, 3), (1, 4, 4), (2, 5, 1), (2, 6, 2), (2, 7, 3), (2, 8, 4)],
    2: [(1, 1, 1), (1, 3, 3), (2, 5, 1), (2, 7, 3)],
    3: [(1, 1, 1), (1, 4, 4), (2, 5, 1), (2, 8, 4)],
}


@pytest.mark.parametrize("size", STEPS)
@pytest.mark.parametrize("processes", [False, True])
def test_calls_are_those_of_mindspore(size, processes):
    recorder = Recorder(size)
    data = numbers().map(
        lambda x: x + 1,
        ["x"],
        callbacks=recorder,
        num_parallel_workers=2,
        python_multiprocessing=processes,
    )
    assert epochs(data, 2) == [[1, 2, 3, 4]] * 2
    of = {
        kind: [place for what, *place in recorder.log if what == kind] for kind, *_ in recorder.log
    }
    assert of["begin"] == [[0, 0, 0]]
    assert of["epoch_begin"] == [[1, 0, 0], [2, 4, 0]]
    assert of["epoch_end"] == [[1, 4, 4], [2, 8, 4]]
    assert of["step_begin"] == of["step_end"] == [list(place) for place in STEPS[size]]
    assert [what for what, *_ in recorder.log][:3] == ["begin", "epoch_begin", "step_begin"]


def test_an_epoch_is_what_the_program_goes_through():
    """Recorded: a repetition behind is part of it, and a batch in front is one step."""
    for change, end in (
        (lambda data: data.repeat(2), ("epoch_end", 1, 8, 8)),
        (lambda data: data.batch(2), ("epoch_end", 1, 4, 4)),
    ):
        recorder = Recorder()
        epochs(change(numbers().map(lambda x: x + 1, ["x"], callbacks=[recorder])), 1)
        kinds = [what for what, *_ in recorder.log]
        assert kinds.count("begin") == kinds.count("epoch_begin") == 1
        assert recorder.log[-1] == end and kinds.count("epoch_end") == 1
    recorder = Recorder()
    epochs(numbers().batch(2).map(lambda x: x + 1, ["x"], callbacks=[recorder]), 1)
    assert recorder.log[-1] == ("epoch_end", 1, 2, 2)


def test_calls_stand_around_their_row():
    recorder = Recorder()
    data = numbers(2).map(
        lambda x: (recorder.log.append("row"), x)[1], ["x"], callbacks=[recorder, ds.DSCallback()]
    )
    assert epochs(data, 1) == [[0, 1]]
    steps = [entry if entry == "row" else entry[0] for entry in recorder.log]
    one = ["step_begin", "row", "step_end"]
    assert steps == ["begin", "epoch_begin", *one, *one, "epoch_end"]


def test_a_callback_may_change_what_the_rows_become():
    """Oracle: the epochs by hand."""

    class Grow(ds.DSCallback):
        factor = 0

        def ds_epoch_begin(self, ds_run_context):
            self.factor = ds_run_context.cur_epoch_num * 10

    grow = Grow()
    data = numbers(3).map(lambda x: x * grow.factor, ["x"], callbacks=grow).batch(3)
    assert epochs(data, 2) == [[[0, 10, 20]], [[0, 20, 40]]]


def test_an_error_of_a_callback_reaches_the_program():
    class Broken(ds.DSCallback):
        def ds_step_end(self, ds_run_context):
            raise KeyError("mine")

    data = numbers().map(lambda x: x, ["x"], callbacks=Broken())
    with pytest.raises(KeyError, match="mine"):
        epochs(data, 1)


def test_an_interrupted_epoch_goes_on_with_its_counts():
    def made():
        recorder = Recorder()
        return recorder, numbers().map(lambda x: x + 1, ["x"], callbacks=recorder)

    whole, data = made()
    epochs(data, 1)
    _, data = made()
    iterator = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    rows = [next(iterator)["x"].tolist() for _ in range(2)]
    state = iterator.get_state()
    second, data = made()
    iterator = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    iterator.set_state(state)
    rows += [row["x"].tolist() for row in iterator]
    assert rows == [1, 2, 3, 4]
    assert second.log == whole.log[-5:]


@pytest.mark.parametrize("size", ["a", True, 1.5])
def test_a_step_size_of_another_type(size):
    with pytest.raises(TypeError, match="DSCallback: step_size must be an integer"):
        ds.DSCallback(size)


@pytest.mark.parametrize("size", [0, -1])
def test_a_step_size_below_one(size):
    with pytest.raises(ValueError, match="at least 1"):
        ds.DSCallback(size)


@pytest.mark.parametrize("callbacks", [3, [3], len, [ms.train.LossMonitor()]])
def test_what_is_no_callback(callbacks):
    with pytest.raises(TypeError, match="a DSCallback or a list of them"):
        numbers().map(lambda x: x, ["x"], callbacks=callbacks)
