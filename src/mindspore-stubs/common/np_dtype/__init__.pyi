# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.np_dtype means here; written by `python -m tools.stubs`, which see."""


from ml_dtypes import bfloat16 as bfloat16
