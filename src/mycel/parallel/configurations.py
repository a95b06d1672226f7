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


__all__ = ["TransformerOpParallelConfig", "TransformerRecomputeConfig"]
