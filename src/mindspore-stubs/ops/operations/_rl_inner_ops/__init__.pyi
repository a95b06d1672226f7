# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.operations._rl_inner_ops means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.internals import DiscountedReturn as DiscountedReturn
