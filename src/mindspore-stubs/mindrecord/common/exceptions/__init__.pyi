# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mindrecord.common.exceptions means here; written by `python -m tools.stubs`, which see."""


from mycel.mindrecord.errors import *
