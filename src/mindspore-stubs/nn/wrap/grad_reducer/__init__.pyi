# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.wrap.grad_reducer means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.cells import *
