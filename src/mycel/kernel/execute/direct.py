# SPDX-License-Identifier: Apache-2.0
"""The direct executor: one compiled call per operator, run to its end. The oracle of the tests."""

from __future__ import annotations

from functools import cache, partial

import jax

from mycel.kernel.base import errors
from mycel.kernel.base.division import division, own_of
from mycel.kernel.base.places import Place
from mycel.kernel.base.signals import came_from_outside, undisturbed
from mycel.kernel.base.stages import Stages
from mycel.kernel.define.aval import aval_of
from mycel.kernel.define.bounds import check
from mycel.kernel.define.constraint import Constraint
from mycel.kernel.define.names import makes_gradients
from mycel.kernel.define.op import Signature
from mycel.kernel.define.reasons import called_at
from mycel.kernel.execute.communicate import communicate
from mycel.kernel.execute.stage_plan import stage_for
from mycel.kernel.record.stream import local
from mycel.kernel.record.value import Poison

# Numbers of the signatures that were compiled.
_compiled: set[int] = set()


def is_compiled(signature: Signature) -> bool:
    """Whether an operator was compiled for these inputs."""
    return signature.id in _compiled


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
    name = signature.op.called(called_at(place))
    return Poison(name, place, cause, *lost, inputs=errors.describe_inputs(signature.inputs))


def _run_and_wait(function, arrays):
    return jax.block_until_ready(function(*arrays))


def _run_divided(op, arrays):
    """Run an operator on the grid if one of its inputs lies there, and `shard` in any case."""
    grid = division.grid
    assert grid is not None
    if isinstance(grid, Stages):
        return _run_in_stage(grid, op, arrays)
    lies_there = any(map(grid.has, arrays))
    if grid.meet is not None and not lies_there and not isinstance(op, Constraint):
        return op.jitted(*arrays)
    if lies_there or grid.meet is not None:
        arrays = [grid.lifted(array) for array in arrays]
    return grid.run(op.jitted, *arrays, told=op.name)


def _run_in_stage(grid: Stages, op, arrays):
    """Run an operator on the devices of a stage of a pipeline, if an input lies in one, or it says
    in which."""
    stages = [grid.stage_of(array) for array in arrays]
    avals = [aval_of(array.shape, array.dtype) for array in arrays]
    stage = stage_for(op, stages, avals, makes_gradients(op.name))
    if stage is None and isinstance(op, Constraint):
        stage = 0
    if stage is None:
        return op.jitted(*arrays)
    own = grid.stages[stage]
    moved = [grid.moved(array, stage) for array in arrays]
    function = _jitted_on(op, own) if isinstance(op, Constraint) else op.jitted
    return jax.tree.map(partial(_on, own), own.run(function, *moved))


@cache
def _jitted_on(op: Constraint, grid):
    return jax.jit(op.on(grid))


def _on(grid, array):
    """A result of an operator of a stage: JAX forgets of a single device which grid it is."""
    return array if grid.size > 1 else jax.device_put(array, grid.whole)


def run_operator(signature: Signature, arrays, place: Place) -> list:
    """Run one operator; waits only for one that can fail while running, and for its indices.

    Raises:
        OutOfRangeError: an index is wrong.
        RuntimeError: the operator failed while running.
    """
    op = signature.op
    if signature.bounds and not local.stream.scope.traced:
        check(op, signature.bounds, arrays, place)
    try:
        # XLA's options are for whole programs.
        if op.collective:
            own = [own_of(array) for array in arrays]
            return communicate(signature, own, place).results or []
        if local.stream.scope.traced:
            results = op.function(*arrays)
        elif division.grid is not None:
            results = undisturbed(_run_divided, op, arrays)
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
