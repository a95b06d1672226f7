# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common._stub_tensor means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.older import *
from mycel.compat.older import StubTensor as StubTensor
