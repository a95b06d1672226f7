# SPDX-License-Identifier: Apache-2.0
"""Models and networks for the optimiser THOR."""

from __future__ import annotations

from typing import Any

from mycel.nn.cell import Cell
from mycel.nn.layers.second_order import to_second_order
from mycel.nn.wrap import TrainOneStepCell
from mycel.optim.second_order import Thor
from mycel.train.model import Model


class ModelThor(Model):
    """A Model whose optimiser is THOR: the matrices are computed in every `frequency`-th step.

    Args:
        network: the network, or a TrainOneStepCell with the optimiser.
        others: as in `Model`.

    Source: MindSpore's `mindspore.train.train_thor.ModelThor`; the steps in between are as there in
    sink mode, in both modes of data.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 1))
        >>> rate = Tensor([0.1], mycel.float32)
        >>> optimizer = nn.thor(net, rate, rate, 0.9, batch_size=1, frequency=2)
        >>> model = ms.train.train_thor.ModelThor(net, nn.MSELoss(), optimizer)
        >>> model.train(1, [(ops.ones((1, 2)), ops.zeros((1, 1)))] * 3)
        >>> optimizer.thor
        True
    """

    def __init__(self, network, loss_fn=None, optimizer=None, *args, **kwargs):
        super().__init__(network, loss_fn, optimizer, *args, **kwargs)
        within = isinstance(network, TrainOneStepCell)
        thor: Any = network.optimizer if within else optimizer
        self._frequency = thor.get_frequency()
        self._steps_done = 0

    def _step(self, *batch):
        anew = self._steps_done % self._frequency == 0
        if anew or self._steps_done % self._frequency == 1:
            self._train_network.add_flags_recursive(thor=anew)
        self._steps_done += 1
        return super()._step(*batch)


class ConvertNetUtils:
    """Replaces layers of a network by those that keep what THOR needs.

    Source: MindSpore's `mindspore.train.ConvertNetUtils`.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 1))
        >>> ms.train.ConvertNetUtils().convert_to_thor_net(net)
        >>> type(net[0]).__name__
        'DenseThor'
    """

    def convert_to_thor_net(self, net: Cell) -> None:
        """Replace the layers; `nn.thor` does so by itself."""
        to_second_order(net)


class ConvertModelUtils:
    """Makes a Model ready for its optimiser.

    Source: MindSpore's `mindspore.train.ConvertModelUtils`.

    Example:
        >>> model = ms.Model(nn.ReLU())
        >>> ms.train.ConvertModelUtils.convert_to_thor_model(model, nn.ReLU()) is model
        True
    """

    @staticmethod
    def convert_to_thor_model(
        model,
        network,
        loss_fn=None,
        optimizer=None,
        metrics=None,
        amp_level="O0",
        loss_scale_manager=None,
        keep_batchnorm_fp32=False,
    ):
        """The model as it is, or with THOR another one made of the other arguments."""
        if not isinstance(optimizer, Thor):
            return model
        if isinstance(network, TrainOneStepCell):
            return ModelThor(network)
        return ModelThor(
            network,
            loss_fn,
            optimizer,
            metrics,
            amp_level=amp_level,
            loss_scale_manager=loss_scale_manager,
            keep_batchnorm_fp32=keep_batchnorm_fp32,
        )
