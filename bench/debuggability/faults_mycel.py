# SPDX-License-Identifier: Apache-2.0
"""The faults of material.py in mycel, each on a line of its own; a chain of operators."""

from mycel import ops

INF = float("inf")

FAULTS = {
    "log of 0": lambda x: ops.log(x),
    "log of a negative number": lambda x: ops.log(x),
    "root of a negative number": lambda x: ops.sqrt(x),
    "one by zero": lambda x: 1.0 / x,
    "zero by zero": lambda x: x / x,
    "overflow of exp": lambda x: ops.exp(x),
    "power of a negative number": lambda x: x**0.5,
    "rsqrt of 0": lambda x: ops.rsqrt(x),
    "arc sine above 1": lambda x: ops.asin(x),
    "arc cosine above 1": lambda x: ops.acos(x),
    "log1p of minus one": lambda x: ops.log1p(x),
    "atanh of 1": lambda x: ops.atanh(x),
    "product": lambda x: x * (x * 1e10),
    "square": lambda x: ops.square(x),
    "matrix product": lambda x: ops.matmul(x, x.T),
    "difference of infinities": lambda x: ops.exp(x) - ops.exp(x + 1),
    "division by a length of 0": lambda x: x / ops.sqrt((x * x).sum(1, keepdims=True)),
    "log of one minus sigmoid": lambda x: ops.log(1 - ops.sigmoid(x)),
    "masked row of a softmax": lambda x: ops.softmax(ops.masked_fill(x, x > 1.9, -INF), -1),
    "variance of equal numbers": lambda x: x / ops.var(x, 1, keepdims=True),
    "root at 0": lambda x: ops.sqrt(x),
    "log behind where": lambda x: ops.where(x > 0, ops.log(x), x),
}


def chain(x, c):
    """Twenty operators."""
    x = ops.tanh(x) * c[0]
    x = ops.exp(x) * c[1]
    x = ops.sqrt(x) * c[2]
    x = ops.log1p(x) * c[3]
    x = ops.sigmoid(x) * c[4]
    x = ops.square(x) * c[5]
    x = ops.sin(x) * c[6]
    x = ops.cos(x) * c[7]
    x = ops.relu(x) * c[8]
    x = ops.rsqrt(x) * c[9]
    x = ops.gelu(x) * c[10]
    x = ops.atan(x) * c[11]
    x = ops.abs(x) * c[12]
    x = ops.exp(x) * c[13]
    x = ops.log(x) * c[14]
    x = ops.softplus(x) * c[15]
    x = ops.sinh(x) * c[16]
    x = ops.asinh(x) * c[17]
    x = ops.expm1(x) * c[18]
    return ops.tanh(x) * c[19]
