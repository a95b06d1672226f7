# SPDX-License-Identifier: Apache-2.0
"""How older MindSpore divides a transformer among devices, written down: on one device, all 1."""

from __future__ import annotations

from dataclasses import dataclass, field

from mycel.kernel.base.errors import wrong


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


class OpParallelConfig:
    """Into how many parts the batch and the weights are divided; here there is one of each.

    Example:
        >>> from mycel.parallel.configurations import OpParallelConfig
        >>> OpParallelConfig().data_parallel
        1
    """

    def __init__(self, data_parallel=1, model_parallel=1):
        self.data_parallel, self.model_parallel = data_parallel, model_parallel


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

    @property
    def dpmp(self) -> OpParallelConfig:
        """The part without experts."""
        return OpParallelConfig(self.data_parallel, self.model_parallel)


@dataclass
class TransformerOpParallelConfig:
    """Into how many parts the batch, the weights and the layers of a transformer are divided.

    Raises:
        ValueError: more than one part: there is one device.

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
        for name in ("data_parallel", "model_parallel", "expert_parallel", "pipeline_stage"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value != 1:
                raise wrong(
                    ValueError, f"{type(self).__name__}: {name}", "1, for one device", value
                )

    @property
    def dp_mp_config(self) -> OpParallelConfig:
        """The part for layers without experts."""
        return OpParallelConfig(self.data_parallel, self.model_parallel)

    @property
    def moe_parallel_config(self) -> MoEParallelConfig:
        """The part for layers with experts."""
        return MoEParallelConfig(self.data_parallel, self.model_parallel, self.expert_parallel)


__all__ = ["TransformerOpParallelConfig", "TransformerRecomputeConfig"]
