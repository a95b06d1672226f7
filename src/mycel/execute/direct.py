# SPDX-License-Identifier: Apache-2.0
"""The direct executor: one compiled call per operator, run to its end. The oracle of the tests."""

from __future__ import annotations

import jax

from mycel.base import errors
from mycel.base.places import Place
from mycel.define.op import Signature
from mycel.record.stream import local


def run_directly(signature: Signature, arrays: tuple, place: Place) -> list:
    """Run one operator now; its failure is raised here, at the user's line.

    Raises:
        RuntimeError: the operator failed while running.
    """
    results = run_operator(signature, arrays, place)
    jax.block_until_ready(results)
    return results


def run_operator(signature: Signature, arrays, place: Place) -> list:
    """Run one operator; waits only for one that can fail while running."""
    op = signature.op
    try:
        # XLA's options are for whole programs.
        results = (op.function if local.stream.traced else op.jitted)(*arrays)
        if op.fallible:
            jax.block_until_ready(results)
    except Exception as error:
        raise RuntimeError(
            errors.OPERATOR_FAILED.format(
                operator=op.name, place=place, reason=f"{type(error).__name__}: {error}"
            )
        ) from error
    return [results] if signature.single else list(results)
