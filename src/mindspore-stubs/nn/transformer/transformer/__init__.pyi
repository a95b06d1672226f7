# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer.transformer means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.configurations import *
