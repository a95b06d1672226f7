# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel.auto_parallel means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.layouts import *
