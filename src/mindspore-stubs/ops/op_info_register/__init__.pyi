# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.op_info_register means here; written by `python -m tools.stubs`, which see."""


