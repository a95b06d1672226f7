# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.mint.linalg; written by `python -m tools.stubs`, which see."""

from mycel.signatures.mint_linalg import *
import mycel as _mycel
mycel = _mycel
