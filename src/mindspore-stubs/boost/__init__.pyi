# SPDX-License-Identifier: Apache-2.0
"""What mindspore.boost means here; written by `python -m tools.stubs`, which see."""


from mycel.train.boost import *
from mycel.train.accumulation import *
from mindspore.boost import base as base
from mindspore.boost import boost as boost
from mindspore.boost import grad_accumulation as grad_accumulation
