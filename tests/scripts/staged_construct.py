# SPDX-License-Identifier: Apache-2.0
"""The older spelling of jit, on construct; and plain operators on what it returns."""

import mindspore.nn as nn
import mindspore.ops.operations as P
import numpy as np
from mindspore import Tensor, context, ms_function

context.set_context(mode=context.PYNATIVE_MODE)


class Sum(nn.Cell):
    def __init__(self):
        super().__init__()
        self.add = P.Add()

    @ms_function
    def construct(self, x, y):
        return self.add(x, y)


ones = Tensor(np.ones([4, 4]).astype(np.float32))
net = Sum()
for _ in range(3):
    compiled = net(ones, ones)
print(P.Add()(ones, compiled).asnumpy())
