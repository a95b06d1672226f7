# SPDX-License-Identifier: Apache-2.0
"""What the passes over a pipeline share, and what one pass knows."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import NamedTuple

from mycel.dataset import config
from mycel.dataset.engine.workers import Pool, packed
from mycel.dataset.samplers import Chances


class Session:
    """What the passes of one iterator share: the seed, and the worker processes.

    Args:
        seed: None takes the chosen one, or one that nobody chose.
        chosen: whether datasets of one size are to be shuffled alike.
    """

    def __init__(self, root, seed: int | None = None, chosen: bool | None = None):
        known = config.chosen_seed()
        self.chosen = (known is not None) if chosen is None else chosen
        if seed is None:
            seed = secrets.randbits(62) if known is None else known
        self.seed = seed
        self.debug = config.settings.debug_mode
        self.limit = config.settings.worker_timeout
        self._places = {id(node): place for place, node in enumerate(root.nodes())}
        self._pools: dict[int, Pool] = {}
        self._contents: dict[int, bytes | None] = {}
        # How far datasets with callbacks are, by place.
        self.reached: dict[int, tuple] = {}
        self._gates = [node.gate for node in root.nodes() if hasattr(node, "gate")]

    def place(self, node) -> int:
        """The number of a dataset in the pipeline."""
        return self._places.get(id(node), 0)

    def content(self, node, operations: list) -> bytes | None:
        """What workers of a dataset run, as it is when they are started; None if it cannot be sent.

        Args:
            operations: the same in all passes.
        """
        place = self.place(node)
        if place not in self._contents:
            self._contents[place] = packed(operations, node._named())
        return self._contents[place]

    def pool(
        self,
        node,
        content: bytes,
        workers: int,
        name_of: Callable,
        several: tuple = (tuple,),
    ) -> Pool:
        """The worker processes of a dataset, started when they are first needed."""
        place = self.place(node)
        if place not in self._pools:
            count = min(workers, config.limit_of_workers())
            seed = self.seed + place
            self._pools[place] = Pool(content, count, name_of, self.limit, seed, several)
        return self._pools[place]

    def open_gates(self) -> None:
        """Let no thread wait any longer for `sync_update`."""
        for gate in self._gates:
            gate.open()

    def close(self) -> None:
        """End the worker processes."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


class Run(NamedTuple):
    """One pass over a part of the pipeline.

    `number` counts passes, so that random operations differ in each; `order` does the same for
    the order of rows, which a part of a `split` keeps; `epoch` is what a program calls it, and
    `first` and `last` say whether it begins and ends with this pass.
    """

    session: Session
    number: int
    order: int
    epoch: int
    first: bool = True
    last: bool = True

    def chances(self, node) -> Chances:
        """The random numbers that order the rows of a dataset."""
        session = self.session
        if session.chosen:
            return Chances(session.seed, self.order, 0, session.seed)
        return Chances(session.seed, self.order, session.place(node))

    def numbers(self, node) -> Callable[[int], tuple]:
        """What the random numbers of an operation depend on, by the number of the row."""
        common = (self.session.seed, self.number, self.session.place(node))
        return lambda row: (*common, row)

    def passes(self, count: int, made: int) -> Run:
        """The pass with this number among `count` that a `repeat` makes of one."""
        ends = {"first": self.first and made == 0, "last": self.last and made == count - 1}
        count = max(count, 1)
        order = self.order * count + made
        return self._replace(number=self.number * count + made, order=order, **ends)
