# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mindrecord.filereader means here; written by `python -m tools.stubs`, which see."""


from mycel.mindrecord import *
