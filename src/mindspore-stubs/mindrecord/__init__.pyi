# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mindrecord means here; written by `python -m tools.stubs`, which see."""


from mycel.mindrecord import *
from mindspore.mindrecord import common as common
from mindspore.mindrecord import filereader as filereader
from mindspore.mindrecord import filewriter as filewriter
