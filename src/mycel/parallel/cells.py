# SPDX-License-Identifier: Apache-2.0
"""Cells for several devices and for parts of a batch, as they compute on one device."""

from __future__ import annotations

from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn import Cell
from mycel.nn.checks import positive_integer
from mycel.nn.reducing import DistributedGradReducer


class PipelineGradReducer(Cell):
    """Gradients of the stages of a pipeline together; of one stage they are its own.

    Args:
        parameters: the Parameters that are trained.
        scale_sense: by how much the gradients were enlarged; they are divided by it.
        opt_shard: accepted, without effect on one device.

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

    def __init__(self, network, parts, what: str):
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise wrong(TypeError, f"{type(self).__name__}: network", "a Cell", repr(network))
        self.network = network
        self.parts = positive_integer(parts, f"{type(self).__name__}: {what}")

    def construct(self, *inputs):
        """The sum of what the network gives for the parts."""
        results = [self.network(*[self._part(x, i) for x in inputs]) for i in range(self.parts)]
        total = results[0]
        for result in results[1:]:
            total = _added(total, result)
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
        return x[index * length : (index + 1) * length]


def _added(total, result):
    if isinstance(total, (tuple, list)):
        return tuple(_added(a, b) for a, b in zip(total, result, strict=True))
    return total + result


class PipelineCell(_InParts):
    """A network called on `micro_size` equal parts of a batch; the results are added.

    Args:
        network: a Cell, usually one that gives a loss.
        micro_size: into how many parts the first dimension of the inputs is divided.
        stage_config, segment_config: which stage each Cell would belong to; there is one.

    Raises:
        ValueError: the batch cannot be divided so.

    Source: MindSpore's `mindspore.nn.PipelineCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> print(nn.PipelineCell(net, 2)(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10.]]
    """

    def __init__(self, network, micro_size, stage_config=None, segment_config=None):
        super().__init__(network, micro_size, "micro_size")
        for name, given in (("stage_config", stage_config), ("segment_config", segment_config)):
            if given is not None:
                log.note_once(f"PipelineCell({name}={given!r:.60}) has no effect on one device")
        self.micro_size = micro_size


class GradAccumulationCell(_InParts):
    """A network called on `micro_size` equal parts of a batch; the results are added.

    Source: MindSpore's `mindspore.nn.GradAccumulationCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> print(nn.GradAccumulationCell(net, 2)(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[10.]]
    """

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
