# SPDX-License-Identifier: Apache-2.0
"""Parameters of a Cell: made from arrays, listed, named and printed."""

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

mindspore.set_context(mode=mindspore.PYNATIVE_MODE)


class Affine(nn.Cell):
    def __init__(self):
        super().__init__()
        weights = np.random.default_rng(0).standard_normal((5, 3))
        self.w = Parameter(Tensor(weights, mindspore.float32), name="w")
        self.b = Parameter(Tensor(np.arange(3), mindspore.float32), name="b")

    def construct(self, x):
        return ops.matmul(x, self.w) + self.b


net = Affine()
print(net.w)
print(repr(net.b))
print(net.b.asnumpy())
print(net.trainable_params())
print(type(net.get_parameters()))
for name, parameter in net.parameters_and_names():
    print(name, parameter.shape, parameter.dtype, parameter.requires_grad)
print(net(Tensor(np.zeros((2, 5)), mindspore.float32)))
print(net.untrainable_params())
