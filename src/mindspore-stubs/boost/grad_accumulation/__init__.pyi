# SPDX-License-Identifier: Apache-2.0
"""What mindspore.boost.grad_accumulation means here; written by `python -m tools.stubs`, which see."""


from mycel.train.accumulation import *
