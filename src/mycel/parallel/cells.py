# SPDX-License-Identifier: Apache-2.0
"""Cells for several devices and for parts of a batch, as they compute on one device."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base import log
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn import Cell
from mycel.nn.checks import positive_integer
from mycel.nn.reducing import DistributedGradReducer
from mycel.parallel.pipeline import check_parts


class PipelineGradReducer(Cell):
    """The gradients of a `PipelineCell`, divided by the loss scale.

    They are sums over the parts of a batch already, each in the stage of its Parameter: there is
    nothing to collect. To get their mean, give `scale_sense=micro_size`.

    Args:
        parameters: the Parameters that are trained.
        scale_sense: by how much the gradients were enlarged; they are divided by it.
        opt_shard: accepted: gradients lie where the optimiser wants them in any case.

    Source: MindSpore's `mindspore.nn.PipelineGradReducer`.

    Example:
        >>> reducer = nn.PipelineGradReducer(nn.Dense(2, 1).trainable_params(), scale_sense=2.0)
        >>> print(reducer((Tensor([1.0, 2.0]),))[0])
        [0.5 1. ]
    """

    def __init__(self, parameters, scale_sense=1.0, opt_shard=None):
        super().__init__(auto_prefix=False)
        del parameters
        if opt_shard is not None:
            log.note_once(f"PipelineGradReducer(opt_shard={opt_shard!r}) has no effect here")
        self.scale_sense = scale_sense

    def construct(self, grads):
        """The gradients, divided by the scale."""
        if not isinstance(self.scale_sense, Tensor) and self.scale_sense == 1.0:
            return grads
        return tuple(gradient / self.scale_sense for gradient in grads)


class _InParts(Cell):
    """A network called on equal parts of its inputs; the results are added."""

    # Whether stages of a pipeline take the parts one behind the other.
    _marks_parts = False

    def __init__(self, network, parts, what: str):
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise wrong(TypeError, f"{type(self).__name__}: network", "a Cell", repr(network))
        self.network = network
        self.parts = positive_integer(parts, f"{type(self).__name__}: {what}")

    def construct(self, *inputs, **named):
        """The sum of what the network gives for the parts."""
        total: Any = None
        for index in range(self.parts):
            part = [self._part(x, index) for x in inputs]
            result = self.network(
                *part, **{name: self._part(x, index) for name, x in named.items()}
            )
            total = result if index == 0 else _added(total, result)
        return total

    def _part(self, x, index: int):
        if not isinstance(x, Tensor) or not x.shape:
            return x
        length, rest = divmod(x.shape[0], self.parts)
        if rest:
            raise wrong(
                ValueError,
                f"{type(self).__name__}: the first dimension of the inputs",
                f"divisible by {self.parts}",
                x.shape[0],
            )
        part = x[index * length : (index + 1) * length]
        if division.micro is None or not self._marks_parts:
            return part
        return division.micro(index, part)


def _added(total, result):
    if isinstance(total, (tuple, list)):
        return tuple(_added(a, b) for a, b in zip(total, result, strict=True))
    return total + result


class PipelineCell(_InParts):
    """A network called on `micro_size` equal parts of a batch; the results are added.

    So a loss that is a mean over rows is `micro_size` times that of the whole batch, and so are
    its gradients. `Model` divides the gradients by `micro_size` where there are several
    `pipeline_stages`, as MindSpore does; in a step of one's own, `PipelineGradReducer` divides
    by what it is told. With `pipeline_stages`, the parts go through the stages one behind the
    other, and several stages compute at the same time (see docs/scale.md).

    Args:
        network: a Cell, usually one that gives a loss.
        micro_size: into how many parts the first dimension of the inputs, of shape
            `(micro_size * n, ...)`, is divided; at least `pipeline_stages`.
        stage_config: the `pipeline_stage` of Cells, by their names within the network as
            `cells_and_names` has them; that of the network itself by its text.
        segment_config: the same for `pipeline_segment`, which has no effect here.

    Raises:
        TypeError: the network is not a Cell, or a number not an integer.
        ValueError: the batch cannot be divided so, or into fewer parts than there are stages.
        KeyError: there is no Cell of such a name.

    Source: MindSpore's `mindspore.nn.PipelineCell`.

    Example:
        >>> net = nn.SequentialCell(nn.ReLU(), nn.Dense(2, 1, "ones", "zeros"))
        >>> parts = nn.PipelineCell(net, 2, stage_config={"0": 0, "1": 1})
        >>> print(parts(Tensor([[1.0, 2.0], [3.0, 4.0]])), net[1].pipeline_stage)
        [[10.]] 1
    """

    _marks_parts = True

    def __init__(self, network, micro_size, stage_config=None, segment_config=None):
        super().__init__(network, micro_size, "micro_size")
        self.micro_size = micro_size
        self._configure("stage_config", "pipeline_stage", stage_config)
        self._configure("segment_config", "pipeline_segment", segment_config)
        if segment_config is not None:
            log.note_once(f"PipelineCell(segment_config={segment_config!r:.60}) has no effect here")

    def _configure(self, what: str, setting: str, config) -> None:
        """Set a setting of Cells by their names.

        Raises:
            KeyError: there is no Cell of such a name.
        """
        names = {name: cell for name, cell in self.network.cells_and_names() if name}
        for name, number in (config or {}).items():
            cell = names.get(name)
            if cell is None and name == str(self.network):
                cell = self.network
            if cell is None:
                known = ", ".join(names)
                raise wrong(
                    KeyError, f"PipelineCell: a name in {what}", f"among {known}", repr(name)
                )
            setattr(cell, setting, number)

    def construct(self, *inputs, **named):
        """The sum of what the network gives for the parts."""
        check_parts(self.parts)
        return super().construct(*inputs, **named)

    def shard(self, in_strategy, out_strategy=None, parameter_plan=None) -> None:
        """Not possible: Cells inside are divided, as `net.cell.shard`.

        Raises:
            ValueError: always, as in MindSpore.
        """
        del in_strategy, out_strategy, parameter_plan
        raise wrong(ValueError, "PipelineCell.shard", "called on a Cell inside of it", "on itself")


class GradAccumulationCell(_InParts):
    """A network called on `micro_size` equal parts of a batch; the results are added.

    `Model` divides the gradients by `micro_size`, as MindSpore does.

    Source: MindSpore's `mindspore.nn.GradAccumulationCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> print(nn.GradAccumulationCell(net, 2)(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10.]]
    """

    # Steps that are made of it take the mean of the gradients (see `amp.build_train_network`).
    accumulates_gradients = True

    def __init__(self, network, micro_size):
        super().__init__(network, micro_size, "micro_size")
        self.micro_size = micro_size


class MicroBatchInterleaved(_InParts):
    """A network called on `interleave_num` equal parts of a batch; the results are added.

    Source: MindSpore's `mindspore.nn.MicroBatchInterleaved`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> print(nn.MicroBatchInterleaved(net, 2)(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10.]]
    """

    def __init__(self, network, interleave_num=2):
        super().__init__(network, interleave_num, "interleave_num")
        self.interleave_num = interleave_num


# Their names in `mindspore.parallel.nn`.
Pipeline = PipelineCell
GradAccumulation = GradAccumulationCell

__all__ = [
    "DistributedGradReducer",
    "GradAccumulationCell",
    "MicroBatchInterleaved",
    "PipelineCell",
    "PipelineGradReducer",
]
