# SPDX-License-Identifier: Apache-2.0
"""The training state of a Cell, and what follows it: Dropout and BatchNorm."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.PYNATIVE_MODE)

net = nn.SequentialCell(nn.Dense(3, 2), nn.Dropout(p=0.5), nn.BatchNorm1d(2))
print(net.training)
net.set_train()
print(net.phase, net[1].training)
net.set_train(False)
print(net.phase, net[2].training)

ones = Tensor(np.ones((4, 6), np.float32))
dropout = nn.Dropout(p=0.5)
print((dropout(ones) == ones).all())
dropout.set_train()
print(sorted(set(dropout(Tensor(np.ones(64, np.float32))).asnumpy().tolist())))

norm = nn.BatchNorm1d(6)
norm.set_train(False)
norm(ones)
print(norm.moving_mean.asnumpy())
norm.set_train()
norm(ones)
print(norm.moving_mean.asnumpy())
