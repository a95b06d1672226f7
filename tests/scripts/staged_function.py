# SPDX-License-Identifier: Apache-2.0
"""The older spelling of jit, on a function with an operator made outside."""

import mindspore.context as context
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor, ms_function

context.set_context(mode=context.PYNATIVE_MODE)
add = ops.Add()


@ms_function
def total(x, y):
    return add(x, y)


ones = Tensor(np.ones([4, 4]).astype(np.float32))
for _ in range(3):
    result = total(ones, ones)
print(result.asnumpy())
