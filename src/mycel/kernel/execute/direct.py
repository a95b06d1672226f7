# SPDX-License-Identifier: Apache-2.0
"""The direct executor: one compiled call per operator, run to its end. The oracle of the tests."""

from __future__ import annotations

import jax

from mycel.kernel.base import errors
from mycel.kernel.base.places import Place
from mycel.kernel.base.signals import came_from_outside, undisturbed
from mycel.kernel.define.bounds import check
from mycel.kernel.define.op import Signature
from mycel.kernel.define.reasons import called_at, public_name
from mycel.kernel.execute.communicate import communicate
from mycel.kernel.record.stream import local
from mycel.kernel.record.value import Poison

# Numbers of the signatures that were compiled.
_compiled: set[int] = set()


def run_directly(signature: Signature, arrays: tuple, place: Place) -> list:
    """Run one operator now; its failure is raised here, at the user's line.

    Raises:
        OutOfRangeError: an index is wrong.
        RuntimeError: the operator failed while running.
    """
    results = run_operator(signature, arrays, place)
    jax.block_until_ready(results)
    return results


def poison_of(signature: Signature, place: Place, cause: BaseException, lost=()) -> Poison:
    """What stands for the results of an operator that failed.

    Args:
        lost: for one that needs the result of another that failed, which that was and where.
    """
    name = public_name(signature.op.name, signature.op.names, called_at(place))
    return Poison(name, place, cause, *lost, inputs=errors.describe_inputs(signature.inputs))


def _run_and_wait(function, arrays):
    return jax.block_until_ready(function(*arrays))


def run_operator(signature: Signature, arrays, place: Place) -> list:
    """Run one operator; waits only for one that can fail while running, and for its indices.

    Raises:
        OutOfRangeError: an index is wrong.
        RuntimeError: the operator failed while running.
    """
    op = signature.op
    if signature.bounds and not local.stream.scope.traced:
        check(op.name, signature.bounds, arrays, place)
    try:
        # XLA's options are for whole programs.
        if op.collective:
            return communicate(signature, arrays, place).results or []
        if local.stream.scope.traced:
            results = op.function(*arrays)
        elif op.fallible:  # and may call Python of the user: see Executable
            results = undisturbed(_run_and_wait, op.jitted, arrays)
        elif signature.id in _compiled:
            results = op.jitted(*arrays)
        else:
            results = undisturbed(op.jitted, *arrays)
            _compiled.add(signature.id)
    except Exception as error:
        if came_from_outside(error):
            raise
        raise poison_of(signature, place, error).error() from error
    return [results] if signature.single else list(results)
