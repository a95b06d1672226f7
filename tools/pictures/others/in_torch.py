# SPDX-License-Identifier: Apache-2.0
"""The program of the picture in PyTorch, compiled, with its search for NaN.

detect_anomaly looks at backward passes only, so there is one.
"""

import torch
from torch import nn


class Unit(nn.Module):
    def forward(self, x):
        return x / torch.sqrt((x * x).sum())


net = nn.Sequential(nn.ReLU(), Unit())
net[0].register_forward_hook(lambda module, x, y: print("hook", y))
step = torch.compile(lambda x: (net(x) - 1).abs().sum())
with torch.autograd.detect_anomaly():
    step(torch.tensor([0.0, 0.0], requires_grad=True)).backward()
