# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.generator means here; written by `python -m tools.stubs`, which see."""


from mycel.kernel.record.generator import *
