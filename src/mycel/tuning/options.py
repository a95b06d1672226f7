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
    """The options for the platform that programs run on now."""
    return _for_cpu() if on_cpu() else {}


@functools.cache
def _for_cpu() -> dict[str, str]:
    """The options for CPU, if this version of XLA has them."""
    try:
        jax.jit(lambda: np.int32(0), compiler_options=_ON_CPU)()
    except jax.errors.JaxRuntimeError:
        return {}
    return _ON_CPU
