# SPDX-License-Identifier: Apache-2.0
"""How older MindSpore divides a transformer among devices, written down: on one device, all 1; on
several XLA divides it, and the ledger says so."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.parallel.effects import XLA_DECIDES
from mycel.report.ledger import ledger


@dataclass
class TransformerRecomputeConfig:
    """Which results of a transformer are computed again in the reverse.

    Example:
        >>> from mycel.parallel.configurations import TransformerRecomputeConfig
        >>> TransformerRecomputeConfig(recompute=True).recompute
        True
    """

    recompute: bool = False
    parallel_optimizer_comm_recompute: bool = False
    mp_comm_recompute: bool = True
    recompute_slice_activation: bool = False


def _check_parts(owner: object, name: str, parts: object) -> None:
    """Raise unless there are devices for so many parts; tell that XLA makes them.

    Raises:
        ValueError: there are not.
    """
    there = division.grid.size if division.enter is not None and division.grid is not None else 1
    what = f"{type(owner).__name__}: {name}"
    if type(parts) is not int or not 1 <= parts <= there:
        expected = f"from 1 to {there}, the number of devices" if there > 1 else "1, for one device"
        raise wrong(ValueError, what, expected, parts)
    if parts > 1:
        ledger.accepted(f"{type(owner).__name__}({name}={parts})", XLA_DECIDES)


class OpParallelConfig:
    """Into how many parts the batch and the weights are divided.

    Raises:
        ValueError: more parts than devices.

    Example:
        >>> from mycel.parallel.configurations import OpParallelConfig
        >>> OpParallelConfig().data_parallel
        1
    """

    def __init__(self, data_parallel=1, model_parallel=1):
        self.data_parallel, self.model_parallel = data_parallel, model_parallel
        for name, parts in vars(self).items():
            _check_parts(self, name, parts)


class MoEParallelConfig(OpParallelConfig):
    """OpParallelConfig with a number of parts for the experts.

    Example:
        >>> from mycel.parallel.configurations import MoEParallelConfig
        >>> MoEParallelConfig().expert_parallel
        1
    """

    def __init__(self, data_parallel=1, model_parallel=1, expert_parallel=1):
        super().__init__(data_parallel, model_parallel)
        self.expert_parallel = expert_parallel
        _check_parts(self, "expert_parallel", expert_parallel)

    @property
    def dpmp(self) -> OpParallelConfig:
        """The part without experts."""
        return OpParallelConfig(self.data_parallel, self.model_parallel)


_SETTINGS = (
    "micro_batch_num", "use_seq_parallel", "optimizer_shard", "gradient_aggregation_group",
    "vocab_emb_dp",
)  # fmt: skip


@dataclass
class TransformerOpParallelConfig:
    """Into how many parts the batch, the weights and the layers of a transformer are divided.

    Raises:
        ValueError: more parts than devices, or more stages than `pipeline_stages`.

    Example:
        >>> from mycel.parallel.configurations import TransformerOpParallelConfig
        >>> TransformerOpParallelConfig(data_parallel=1, vocab_emb_dp=False).model_parallel
        1
    """

    data_parallel: int = 1
    model_parallel: int = 1
    expert_parallel: int = 1
    pipeline_stage: int = 1
    micro_batch_num: int = 1
    recompute: TransformerRecomputeConfig | bool = field(default_factory=TransformerRecomputeConfig)
    use_seq_parallel: bool = False
    optimizer_shard: bool = False
    gradient_aggregation_group: int = 4
    vocab_emb_dp: bool = True

    def __post_init__(self):
        for name in ("data_parallel", "model_parallel", "expert_parallel"):
            _check_parts(self, name, getattr(self, name))
        stages, there = self.pipeline_stage, division.stage_count
        if type(stages) is not int or not 1 <= stages <= there:
            expected = f"from 1 to {there}, pipeline_stages of set_auto_parallel_context"
            raise wrong(ValueError, f"{type(self).__name__}: pipeline_stage", expected, stages)
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in _SETTINGS and value != one.default and division.enter is not None:
                ledger.accepted(f"{type(self).__name__}({one.name}={value!r})", XLA_DECIDES)

    @property
    def dp_mp_config(self) -> OpParallelConfig:
        """The part for layers without experts."""
        return OpParallelConfig(self.data_parallel, self.model_parallel)

    @property
    def moe_parallel_config(self) -> MoEParallelConfig:
        """The part for layers with experts."""
        return MoEParallelConfig(self.data_parallel, self.model_parallel, self.expert_parallel)


__all__ = ["TransformerOpParallelConfig", "TransformerRecomputeConfig"]
