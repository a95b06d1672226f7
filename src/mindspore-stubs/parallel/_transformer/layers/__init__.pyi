# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._transformer.layers means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.transformers import args_type_validator_check as __args_type_validator_check
_args_type_validator_check = __args_type_validator_check
from mycel.compat.transformers import check_input_dtype as __check_input_dtype
_check_input_dtype = __check_input_dtype
from mycel.compat.transformers import check_past_none_input_none as __check_past_none_input_none
_check_past_none_input_none = __check_past_none_input_none
from mycel.compat.transformers import LayerInputCheck as __LayerInputCheck
_LayerInputCheck = __LayerInputCheck
from mycel.compat.transformers import LayerNorm as __LayerNorm
_LayerNorm = __LayerNorm
from mycel.compat.transformers import valid_type_checks as __valid_type_checks
_valid_type_checks = __valid_type_checks
from mycel.compat.transformers import valid_value_checks as __valid_value_checks
_valid_value_checks = __valid_value_checks
