# SPDX-License-Identifier: Apache-2.0
"""A compiled function that uses a layer, with its Parameters, from outside."""

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, context, ms_function

context.set_context(mode=context.PYNATIVE_MODE)

layer = nn.Conv2d(
    in_channels=3, out_channels=4, kernel_size=3, stride=2, padding=0, weight_init="ones"
)
layer.init_parameters_data()


@ms_function
def convolve(x):
    return layer(x)


ones = Tensor(np.ones((2, 3, 6, 6), np.float32))
for _ in range(3):
    result = convolve(ones)
print(result.shape)
print(result.asnumpy()[1, 2])
layer.weight.set_data(layer.weight * 2)
print(convolve(ones).asnumpy()[0, 0])
