# SPDX-License-Identifier: Apache-2.0
"""What mindspore.boost.base means here; written by `python -m tools.stubs`, which see."""


from mycel.train.boost import *
