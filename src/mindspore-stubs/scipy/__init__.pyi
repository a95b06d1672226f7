# SPDX-License-Identifier: Apache-2.0
"""What mindspore.scipy means here; written by `python -m tools.stubs`, which see."""


from mycel.scipy import *
from mindspore.scipy import linalg as linalg
from mindspore.scipy import optimize as optimize
from mindspore.scipy import sparse as sparse
