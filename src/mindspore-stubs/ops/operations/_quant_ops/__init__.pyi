# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.operations._quant_ops means here; written by `python -m tools.stubs`, which see."""


