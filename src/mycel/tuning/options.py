# SPDX-License-Identifier: Apache-2.0
"""Options of XLA's compiler, by platform."""

from __future__ import annotations

import functools

import jax
import numpy as np

from mycel.kernel.base.backend import on_cpu

# On CPU, XLA gives products, reductions and convolutions to a library of kernels, YNNPACK; its
# convolutions are slower than XLA's own (measured 1.1 to 1.8 times, see docs/performance.md).
_ON_CPU = {
    "xla_cpu_experimental_ynn_fusion_type": (
        "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"
    )
}


def compiler_options() -> dict[str, str]:
    """The options for the platform that programs run on now, if this version of XLA has them."""
    return _ON_CPU if on_cpu() and accepts(tuple(_ON_CPU.items())) else {}


@functools.cache
def accepts(options: tuple[tuple[str, bool | str], ...]) -> bool:
    """Whether this version of XLA knows these options, and their values: it compiles with them."""
    try:
        jax.jit(lambda: np.int32(0), compiler_options=dict(options))()
    except jax.errors.JaxRuntimeError:
        return False
    return True
