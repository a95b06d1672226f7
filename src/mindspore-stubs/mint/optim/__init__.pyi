# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mint.optim means here; written by `python -m tools.stubs`, which see."""


from mycel.mint.optim import *
from mindspore.mint.optim import adam as adam
from mindspore.mint.optim import adamw as adamw
from mindspore.mint.optim import sgd as sgd
