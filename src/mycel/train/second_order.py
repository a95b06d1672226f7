# SPDX-License-Identifier: Apache-2.0
"""The helper with which MindSpore programs choose between a plain Model and one for THOR."""

from __future__ import annotations

_THOR = ("ThorAscend", "ThorGpu")


class ConvertModelUtils:
    """Makes a Model ready for its optimiser.

    Source: MindSpore's `mindspore.train.ConvertModelUtils`. Optimisers other than THOR need
    nothing; THOR is not there.

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
        """The model as it is.

        Raises:
            NotImplementedError: the optimiser is THOR.
        """
        if type(optimizer).__name__ in _THOR:
            raise NotImplementedError(
                "There is no Model for the optimiser THOR; nn.Momentum, nn.Adam or nn.LAMB train "
                "the same networks."
            )
        return model
