# SPDX-License-Identifier: Apache-2.0
"""A dataset whose rows a data queue gives to `ops.GetNext`; made by `Dataset.device_que`."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator

from mycel.dataset.engine.dataset import UnionBaseDataset
from mycel.dataset.engine.session import Run
from mycel.kernel.base.errors import wrong
from mycel.ops.data_queue import feed_queue


class TransferDataset(UnionBaseDataset):
    """The same rows, and a data queue for them.

    Attributes:
        queue_name: the name that `ops.GetNext` asks with.
    """

    def __init__(
        self, input_dataset, send_epoch_end=True, create_data_info_queue=False, queue_name=""
    ):
        super().__init__(input_dataset)
        for name, value in {
            "send_epoch_end": send_epoch_end,
            "create_data_info_queue": create_data_info_queue,
        }.items():
            if not isinstance(value, bool):
                raise wrong(TypeError, f"device_que: {name}", "True or False", repr(value))
        if not isinstance(queue_name, str):
            raise wrong(TypeError, "device_que: queue_name", "a string", repr(queue_name))
        self.queue_name = queue_name or str(uuid.uuid1())

    def _flow(self, run: Run):
        return self.children[0]._flow(run)

    def send(self, num_epochs: int = -1) -> None:
        """Let the queue have the rows of so many passes; -1 for ever. They are read as they are
        asked for."""
        feed_queue(self.queue_name, self._rows(num_epochs))

    def _rows(self, num_epochs: int) -> Iterator[tuple]:
        iterator = self.create_tuple_iterator(num_epochs=num_epochs, output_numpy=True)
        passes = itertools.count() if num_epochs < 0 else range(num_epochs)
        for _ in passes:
            yield from map(tuple, iterator)

    def stop_send(self) -> None:
        """Accepted: no row is read before it is asked for."""

    def continue_send(self) -> None:
        """Accepted, as `stop_send` is."""

    def release(self) -> None:
        """Take the queue away."""
        feed_queue(self.queue_name, None)
