# SPDX-License-Identifier: Apache-2.0
"""Networks that train on several processes and on several devices."""

from __future__ import annotations

from mycel import nn, ops


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init="xavier_uniform")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init="xavier_uniform")
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.dense1 = nn.Dense(256, 120, weight_init="xavier_uniform")
        self.dense2 = nn.Dense(120, 84, weight_init="xavier_uniform")
        self.dense3 = nn.Dense(84, 10, weight_init="xavier_uniform")

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.flatten(self.pool(ops.relu(self.conv2(x))))
        return self.dense3(ops.relu(self.dense2(ops.relu(self.dense1(x)))))


class Block(nn.Cell):
    """One layer of a BERT encoder, and a class for each sequence."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.head = nn.Dense(width, 10)

    def construct(self, x):
        x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
        x = self.norm2(x + self.down(ops.gelu(self.up(x))))
        return self.head(x.mean(1))
