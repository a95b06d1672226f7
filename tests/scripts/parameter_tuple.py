# SPDX-License-Identifier: Apache-2.0
"""A ParameterTuple of three kinds of Parameters, and its clone under another name."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple
from mindspore.common.initializer import initializer

ms.set_context(mode=ms.PYNATIVE_MODE)

counted = Parameter(default_input=ms.Tensor(np.arange(6).reshape((2, 3))), name="x")
made = Parameter(default_input=initializer("ones", [1, 2, 3], ms.float32), name="y")
number = Parameter(default_input=2.0, name="z")
originals = ParameterTuple((counted, made, number))
copies = originals.clone("params_copy")

print(originals)
print(copies)
print(isinstance(copies, tuple), len(copies))
print(copies[0].asnumpy())
print(copies[1].asnumpy(), copies[2].asnumpy())
