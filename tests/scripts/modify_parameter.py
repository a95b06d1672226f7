# SPDX-License-Identifier: Apache-2.0
"""Three ways to change a Parameter: an element, all its data, and inside a compiled function."""

import mindspore
import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)


class Shift(nn.Cell):
    def __init__(self):
        super().__init__()
        self.b = Parameter(Tensor(np.array([0.5, -0.25, 0.75]), mindspore.float32), name="b")

    def construct(self, x):
        return x + self.b


net = Shift()
net.b[0] = 1.0
print(net.b.asnumpy())
net.b.set_data(Tensor([3, 4, 5]))
print(net.b.asnumpy(), net.b.dtype)


@ms.jit
def overwrite():
    ops.assign(net.b, ms.Tensor([7, 8, 9]))
    return True


for _ in range(4):
    net.b.set_data(Tensor([0, 0, 0]))
    overwrite()
    print(net.b.asnumpy(), net(Tensor([1.0, 1.0, 1.0])).asnumpy())
