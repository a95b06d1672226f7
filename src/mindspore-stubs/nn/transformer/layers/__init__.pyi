# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer.layers means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.transformers import args_type_validator_check as __args_type_validator_check  # pyright: ignore
_args_type_validator_check = __args_type_validator_check  # pyright: ignore
from mycel.compat.transformers import check_input_dtype as __check_input_dtype  # pyright: ignore
_check_input_dtype = __check_input_dtype  # pyright: ignore
from mycel.compat.transformers import check_past_none_input_none as __check_past_none_input_none  # pyright: ignore
_check_past_none_input_none = __check_past_none_input_none  # pyright: ignore
from mycel.compat.transformers import LayerInputCheck as __LayerInputCheck  # pyright: ignore
_LayerInputCheck = __LayerInputCheck  # pyright: ignore
from mycel.compat.transformers import LayerNorm as __LayerNorm  # pyright: ignore
_LayerNorm = __LayerNorm  # pyright: ignore
from mycel.compat.transformers import valid_type_checks as __valid_type_checks  # pyright: ignore
_valid_type_checks = __valid_type_checks  # pyright: ignore
from mycel.compat.transformers import valid_value_checks as __valid_value_checks  # pyright: ignore
_valid_value_checks = __valid_value_checks  # pyright: ignore
