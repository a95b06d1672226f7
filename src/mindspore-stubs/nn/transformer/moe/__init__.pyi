# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer.moe means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.transformers import MoE as MoE
from mycel.compat.transformers import MoEConfig as MoEConfig
from mycel.compat.transformers import check_moe_config as __check_moe_config  # pyright: ignore
_check_moe_config = __check_moe_config  # pyright: ignore
from mycel.compat.transformers import default_moe_config as default_moe_config
