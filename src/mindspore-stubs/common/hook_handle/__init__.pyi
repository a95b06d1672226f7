# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.hook_handle means here; written by `python -m tools.stubs`, which see."""


from mycel.kernel.record.hooks import *
