# SPDX-License-Identifier: Apache-2.0
"""The faults of material.py in PyTorch, each on a line of its own; a chain of operators."""

import torch

INF = float("inf")

FAULTS = {
    "log of 0": lambda x: torch.log(x),
    "log of a negative number": lambda x: torch.log(x),
    "root of a negative number": lambda x: torch.sqrt(x),
    "one by zero": lambda x: 1.0 / x,
    "zero by zero": lambda x: x / x,
    "overflow of exp": lambda x: torch.exp(x),
    "power of a negative number": lambda x: x**0.5,
    "rsqrt of 0": lambda x: torch.rsqrt(x),
    "arc sine above 1": lambda x: torch.asin(x),
    "arc cosine above 1": lambda x: torch.acos(x),
    "log1p of minus one": lambda x: torch.log1p(x),
    "atanh of 1": lambda x: torch.atanh(x),
    "product": lambda x: x * (x * 1e10),
    "square": lambda x: torch.square(x),
    "matrix product": lambda x: torch.matmul(x, x.T),
    "difference of infinities": lambda x: torch.exp(x) - torch.exp(x + 1),
    "division by a length of 0": lambda x: x / torch.sqrt((x * x).sum(1, keepdim=True)),
    "log of one minus sigmoid": lambda x: torch.log(1 - torch.sigmoid(x)),
    "masked row of a softmax": lambda x: torch.softmax(x.masked_fill(x > 1.9, -INF), -1),
    "variance of equal numbers": lambda x: x / torch.var(x, 1, keepdim=True),
    "root at 0": lambda x: torch.sqrt(x),
    "log behind where": lambda x: torch.where(x > 0, torch.log(x), x),
}


class Chain(torch.nn.Module):
    """Twenty operators, with factors."""

    def __init__(self, factors):
        super().__init__()
        self.factors = factors

    def forward(self, x):
        c = self.factors
        x = torch.tanh(x) * c[0]
        x = torch.exp(x) * c[1]
        x = torch.sqrt(x) * c[2]
        x = torch.log1p(x) * c[3]
        x = torch.sigmoid(x) * c[4]
        x = torch.square(x) * c[5]
        x = torch.sin(x) * c[6]
        x = torch.cos(x) * c[7]
        x = torch.relu(x) * c[8]
        x = torch.rsqrt(x) * c[9]
        x = torch.nn.functional.gelu(x) * c[10]
        x = torch.atan(x) * c[11]
        x = torch.abs(x) * c[12]
        x = torch.exp(x) * c[13]
        x = torch.log(x) * c[14]
        x = torch.nn.functional.softplus(x) * c[15]
        x = torch.sinh(x) * c[16]
        x = torch.asinh(x) * c[17]
        x = torch.expm1(x) * c[18]
        return torch.tanh(x) * c[19]
