# SPDX-License-Identifier: Apache-2.0
"""A function of operators."""

import mindspore.ops as ops
import numpy as np
from mindspore import Tensor, context

context.set_context(mode=context.PYNATIVE_MODE)


def twice_and_once(x, y):
    total = ops.add(x, y)
    return ops.add(total, x)


ones = Tensor(np.ones([3, 3], dtype=np.float32))
print(twice_and_once(ones, ones).asnumpy())
