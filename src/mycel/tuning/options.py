# SPDX-License-Identifier: Apache-2.0
"""Options of XLA's compiler, by platform."""

from __future__ import annotations

import functools

import jax
import numpy as np

from mycel.kernel.base.backend import on_cpu

_ON_CPU: dict[str, bool | str] = {
    # XLA gives products, reductions and convolutions to a library of kernels, YNNPACK; its
    # convolutions are slower than XLA's own (measured 1.1 to 1.8 times, see docs/performance.md).
    "xla_cpu_experimental_ynn_fusion_type": (
        "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"
    ),
    # Each operator rounds to BFloat16. XLA leaves that out between operators of one program, whose
    # numbers would then depend on where the record is cut, that is on who looks.
    "xla_allow_excess_precision": False,
}


def compiler_options() -> dict[str, bool | str]:
    """The options for the platform that programs run on now, those that this version of XLA has."""
    return _known_on_cpu() if on_cpu() else {}


@functools.cache
def _known_on_cpu() -> dict[str, bool | str]:
    return {name: value for name, value in _ON_CPU.items() if accepts(((name, value),))}


@functools.cache
def accepts(options: tuple[tuple[str, bool | str], ...]) -> bool:
    """Whether this version of XLA knows these options, and their values: it compiles with them."""
    try:
        jax.jit(lambda: np.int32(0), compiler_options=dict(options))()
    except jax.errors.JaxRuntimeError:
        return False
    return True
