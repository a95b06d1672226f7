# SPDX-License-Identifier: Apache-2.0
"""What mindspore._c_expression.amp means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.older import AmpLevel as AmpLevel
