# SPDX-License-Identifier: Apache-2.0
"""One operator by itself: a convolution, padded so that the size stays."""

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, context

context.set_context(mode=context.PYNATIVE_MODE, device_target="CPU")

convolution = nn.Conv2d(3, 4, 3, has_bias=True, weight_init="ones", bias_init="zeros")
image = Tensor(np.ones([1, 3, 5, 5]).astype(np.float32))
for _ in range(3):
    output = convolution(image)
print(output.shape, output.dtype)
print(output.asnumpy()[0, 3])
