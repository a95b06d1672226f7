# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer.op_parallel_config means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.configurations import MoEParallelConfig as MoEParallelConfig
from mycel.parallel.configurations import OpParallelConfig as OpParallelConfig
from mycel.compat.transformers import check_config as __check_config  # pyright: ignore
_check_config = __check_config  # pyright: ignore
from mycel.compat.transformers import default_dpmp_config as default_dpmp_config
