# SPDX-License-Identifier: Apache-2.0
"""The one loop: a network called on every batch of an epoch, with callbacks around each call."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mycel.nn.cell import Cell
from mycel.train.callbacks.base import CallbackManager, InternalCallbackParam, RunContext


class SinkNetwork(Cell):
    """A step of training as callbacks find it in sink mode: the step is its `network`.

    What it does not have itself is looked up in the step.

    Args:
        network: the Cell of one step.

    Example:
        >>> from mycel.train.loop import SinkNetwork
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))
        >>> sunk = SinkNetwork(step)
        >>> sunk.network.optimizer is sunk.optimizer is step.optimizer
        True
    """

    def __init__(self, network: Cell):
        super().__init__(auto_prefix=False)
        self.network = network

    def __getattr__(self, name: str):
        cells = self.__dict__.get("_cells", {})
        if name != "network" and "network" in cells:
            return getattr(cells["network"], name)
        return super().__getattr__(name)

    def construct(self, *inputs):
        """What the step makes of them."""
        return self.network(*inputs)


class Loop:
    """Runs the epochs of a training, or an evaluation, on what a Feed gives.

    Args:
        stage: 'train' or 'eval'; chooses the methods of the callbacks.
        call: computes a step from the columns of a batch.
        told: what callbacks are told; `cur_step_num`, the batch and `net_outputs` are set here.
        callbacks: run around the steps and epochs.
        move: moves a progress bar by one step.
        check: called with each batch before anything else.
        behind: called with the outputs after the callbacks of a step.

    Example:
        >>> from mycel.train.callbacks.base import CallbackManager, InternalCallbackParam
        >>> from mycel.train.loop import Loop
        >>> told = InternalCallbackParam(cur_step_num=0)
        >>> callbacks = CallbackManager(None)
        >>> loop = Loop("eval", lambda x: x * 2, told, callbacks, lambda **changes: None)
        >>> loop.epoch([(1,), (2,)])
        >>> told.cur_step_num, told.net_outputs
        (2, 4)
    """

    def __init__(
        self,
        stage: str,
        call: Callable,
        told: InternalCallbackParam,
        callbacks: CallbackManager,
        move: Callable,
        check: Callable | None = None,
        behind: Callable | None = None,
    ):
        self.stage = stage
        self.call = call
        self.told = told
        self.context = RunContext(told)
        self.callbacks = callbacks
        self.move = move
        self.check = check
        self.behind = behind

    def at(self, point: str) -> None:
        """Run the callbacks of a point: 'begin', 'epoch_begin', 'step_end', …"""
        getattr(self.callbacks, f"on_{self.stage}_{point}")(self.context)

    @property
    def stopped(self) -> bool:
        """Whether a callback asked to stop."""
        return self.context.get_stop_requested()

    def epoch(self, batches: Iterator[tuple]) -> None:
        """The steps of an epoch; it ends early when a callback asks to stop."""
        told, element = self.told, f"{self.stage}_dataset_element"
        self.at("epoch_begin")
        for batch in batches:
            if self.check is not None:
                self.check(batch)
            told.cur_step_num += 1
            told[element] = batch
            self.at("step_begin")
            told.net_outputs = outputs = self.call(*batch)
            self.at("step_end")
            if self.behind is not None:
                self.behind(outputs)
            self.move(advance=1, outputs=outputs if self.stage == "train" else None)
            if self.stopped:
                break
