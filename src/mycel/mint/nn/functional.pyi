# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.mint.nn.functional; written by `python -m tools.stubs`, which see."""

from mycel.signatures.mint_functional import *
import mycel as _mycel
mycel = _mycel
