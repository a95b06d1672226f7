# SPDX-License-Identifier: Apache-2.0
"""A layer of one's own from operators: values up to a threshold are replaced."""

import mindspore
from mindspore import nn, ops

mindspore.set_context(mode=mindspore.PYNATIVE_MODE)


class ReplaceSmall(nn.Cell):
    def __init__(self, threshold, value):
        super().__init__()
        self.threshold = threshold
        self.value = value

    def construct(self, inputs):
        large = ops.gt(inputs, self.threshold)
        filled = ops.fill(inputs.dtype, inputs.shape, self.value)
        return ops.select(large, inputs, filled)


layer = ReplaceSmall(0.1, 20)
for _ in range(3):
    print(repr(layer(mindspore.Tensor([0.1, 0.2, 0.3], mindspore.float32))))
