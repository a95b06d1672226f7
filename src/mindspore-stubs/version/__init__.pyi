# SPDX-License-Identifier: Apache-2.0
"""What mindspore.version means here; written by `python -m tools.stubs`, which see."""


from mycel.kernel.base.version import *
__version__: str
