# SPDX-License-Identifier: Apache-2.0
"""Rows that wait until the program lets them pass."""

from __future__ import annotations

import threading

from mycel.dataset import config
from mycel.dataset.engine.dataset import Dataset, UnionBaseDataset
from mycel.dataset.engine.machinery import Flow, Row, Steps
from mycel.dataset.engine.nodes import integer
from mycel.dataset.engine.session import Run
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import logger

TIMED_OUT = (
    "Rows waited for {seconds} s behind sync_wait({name!r}); from now on none waits. Call "
    "sync_update({name!r}) of the last data set of the pipeline for each batch."
)


class Gate:
    """How many rows may still pass; shared by the program and the thread that reads."""

    def __init__(self, rows: int):
        self.rows = rows  # how many pass at the beginning of an epoch, and at an update
        self._changed = threading.Condition()
        self._left = rows
        self._open = False

    def begin(self) -> None:
        """An epoch begins."""
        with self._changed:
            self._left, self._open = self.rows, False

    def release(self, rows: int | None) -> None:
        """Let so many rows more pass."""
        with self._changed:
            self._left += self.rows if rows is None else rows
            self._changed.notify_all()

    def open(self) -> None:
        """Let all rows pass, until the next epoch."""
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def wait(self, name: str, seconds: float) -> None:
        """Wait until a row may pass."""
        with self._changed:
            passed = self._changed.wait_for(lambda: self._left > 0 or self._open, seconds)
            self._left -= 1
            if not passed:
                self._open = True
                logger.warning(TIMED_OUT.format(seconds=seconds, name=name))


class SyncWaitDataset(UnionBaseDataset):
    """Rows that wait for `sync_update`; made by `Dataset.sync_wait`."""

    def __init__(self, input_dataset, condition_name, num_batch=1, callback=None):
        super().__init__(input_dataset)
        if not isinstance(condition_name, str):
            what = "sync_wait: condition_name"
            raise wrong(TypeError, what, "a text", repr(condition_name))
        integer(num_batch, "sync_wait: num_batch", 1)
        if callback is not None and not callable(callback):
            raise wrong(TypeError, "sync_wait: callback", "a function", repr(callback))
        if condition_name in (node.condition_name for node in waiting(self.children[0])):
            what = "sync_wait: condition_name"
            raise wrong(RuntimeError, what, "a name that is not used yet", repr(condition_name))
        self.condition_name, self.callback = condition_name, callback
        self.gate = Gate(num_batch)

    def _batched(self, size) -> None:
        if not callable(size):
            self.gate.rows *= size

    def _flow(self, run: Run) -> Flow:
        return self.children[0]._flow(run).then(lambda parent: _Waiting(self, parent))


class _Waiting(Steps):
    def __init__(self, dataset: SyncWaitDataset, parent):
        self._dataset, self._parent = dataset, parent
        dataset.gate.begin()

    def __next__(self) -> Row:
        row = next(self._parent)
        self._dataset.gate.wait(self._dataset.condition_name, config.get_callback_timeout())
        return row

    def get_state(self) -> dict:
        return {"parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._parent.set_state(state["parent"])


def waiting(dataset: Dataset) -> list[SyncWaitDataset]:
    """The data sets in a pipeline whose rows wait."""
    return [node for node in dataset.nodes() if isinstance(node, SyncWaitDataset)]


def update(dataset: Dataset, condition_name, num_batch, data) -> None:
    """See `Dataset.sync_update`."""
    nodes = {node.condition_name: node for node in waiting(dataset)}
    try:
        if not isinstance(condition_name, str):
            what = "sync_update: condition_name"
            raise wrong(TypeError, what, "a text", repr(condition_name))
        if condition_name not in nodes:
            expected = f"one of {sorted(nodes)}, which sync_wait has"
            raise wrong(RuntimeError, "sync_update: condition_name", expected, repr(condition_name))
        given = isinstance(num_batch, int) and not isinstance(num_batch, bool) and num_batch > 0
        if num_batch is not None and not given:
            what = "sync_update: num_batch"
            raise wrong(RuntimeError, what, "an integer of at least 1", repr(num_batch))
    except (TypeError, RuntimeError):
        # Nobody will release them any more.
        for node in nodes.values():
            node.gate.open()
        raise
    node = nodes[condition_name]
    if node.callback is not None:
        node.callback(data)
    node.gate.release(None if num_batch is None else num_batch * max(dataset.get_batch_size(), 1))
