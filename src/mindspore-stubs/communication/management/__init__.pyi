# SPDX-License-Identifier: Apache-2.0
"""What mindspore.communication.management means here; written by `python -m tools.stubs`, which see."""


from mycel.ops.collectives import *
from mycel.communication import *
from mindspore.communication.management import context as context
