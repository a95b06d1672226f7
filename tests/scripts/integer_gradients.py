# SPDX-License-Identifier: Apache-2.0
"""The derivative of a product of integers, with respect to all inputs."""

import mindspore.context as context
from mindspore import Tensor
from mindspore import dtype as mstype
from mindspore.ops import GradOperation

context.set_context(mode=context.PYNATIVE_MODE)


def product(x, y):
    return x * y


def derivatives(x, y):
    return GradOperation(get_all=True)(product)(x, y)


for _ in range(3):
    print(derivatives(Tensor(1, mstype.int32), Tensor(2, mstype.int32)))
