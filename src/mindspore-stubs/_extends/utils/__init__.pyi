# SPDX-License-Identifier: Apache-2.0
"""What mindspore._extends.utils means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.older import *
