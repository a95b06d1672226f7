# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mindrecord.filewriter means here; written by `python -m tools.stubs`, which see."""


from mycel.mindrecord import *
