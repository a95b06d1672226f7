# SPDX-License-Identifier: Apache-2.0
"""What one operator costs: the definition that summary and profile share."""

from __future__ import annotations

from functools import lru_cache

import jax

from mycel.tuning.native.cpp import portable


@lru_cache(4096)
def cost_of(op, avals) -> tuple[float, float]:
    """Floating-point operations of one operator, and the bytes it reads and writes, by XLA's own
    analysis of its program. An exponential or another transcendental function counts as none.

    Example:
        >>> from mycel.debug.costs import cost_of
        >>> from mycel.kernel.define.aval import aval_of
        >>> from mycel.kernel.define.op import Op
        >>> matrix = aval_of((4, 4), np.float32)
        >>> cost_of(Op("matmul", lambda a, b: a @ b), (matrix, matrix))
        (128.0, 192.0)
    """
    with portable():  # XLA knows nothing of what it only calls
        lowered = jax.jit(op.function).lower(*[aval.struct for aval in avals])
    found = lowered.cost_analysis() or {}
    return float(found.get("flops", 0.0)), float(found.get("bytes accessed", 0.0))


def short(number: float) -> str:
    """A count as people write it.

    Example:
        >>> from mycel.debug.costs import short
        >>> short(1500000)
        '1.5M'
    """
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g}{unit}"
    return f"{number:.3g}"
