# SPDX-License-Identifier: Apache-2.0
"""Walking a tape backwards: gradients of leaves from cotangents of results, as more nodes."""

from __future__ import annotations

import jax.numpy as jnp

from mycel.kernel.define.op import Op, nothing_flows
from mycel.kernel.differentiate.fire import fire_hooks
from mycel.kernel.record.hooks import tell_where
from mycel.kernel.record.stream import Stream, record
from mycel.kernel.record.value import Value

# The tape entry: op, inputs, outputs, place.
Node = tuple


STOP = Op("stop_gradient", lambda x: x, rule=nothing_flows)


ADD = Op(
    "add_gradients",
    lambda x, y: x + y,
    rule=lambda inputs, outputs, given, mask: [given[0] if wanted else None for wanted in mask],
)
ONES = Op("ones_like", lambda x: jnp.full(x.shape, 1, x.dtype), rule=nothing_flows)
ZEROS = Op("zeros_like", lambda x: jnp.full(x.shape, 0, x.dtype), rule=nothing_flows)


def reverse(
    stream: Stream,
    nodes: list[Node],
    seeds: list[tuple[Value, Value]],
    leaves: list[Value],
    consume: bool,
) -> list[Value]:
    """Gradients of the leaves.

    Args:
        nodes: the slice of the tape to walk; emptied on the way if `consume` is set, so that what
            only the reverse needs is freed as soon as it is used.
        seeds: results and their cotangents.
        leaves: what to differentiate by; a leaf nothing depends on gets zeros.
    """
    needed = _reached(nodes, leaves)
    cotangents: dict[int, Value] = {}
    for result, seed in seeds:
        _accumulate(cotangents, result, seed)
    scope = stream.scope
    hooks, walk = {} if scope.hooks is None else scope.hooks, scope.reversing
    assert walk is not None
    first = nodes[0][3] if nodes else None
    position = len(nodes)
    around = walk.at
    while position:
        position -= 1
        op, inputs, outputs, place = nodes.pop() if consume else nodes[position]
        given = [cotangents.pop(id(output), None) for output in outputs]
        if not any(given) and not op.eager:
            continue
        try:
            if hooks or op.rule is not None:
                walk.at = (op.name, place)
            if hooks:
                given = [
                    fire_hooks(hooks, output, cotangent)
                    for output, cotangent in zip(outputs, given, strict=True)
                ]
            mask = [id(value) in needed for value in inputs]
            if True not in mask and not op.eager:
                continue
            gradients = _gradients(op, inputs, outputs, given, mask, place)
        except Exception as error:
            tell_where(error, op.name, place)
            raise
        finally:
            walk.at = around
        for value, gradient in zip(inputs, gradients, strict=True):
            if gradient is not None and id(value) in needed:
                _accumulate(cotangents, value, gradient, place)
        del given, gradients
    found = []
    for leaf in leaves:
        gradient = cotangents.get(id(leaf))
        if gradient is None:
            gradient = record(ZEROS, (leaf,), first)
        elif hooks and id(leaf) in hooks:
            gradient = fire_hooks(hooks, leaf, gradient)
        found.append(gradient)
    return found


def _reached(nodes, leaves) -> set[int]:
    """Ids of the Values that depend on a leaf and can carry a gradient."""
    reached = {id(leaf) for leaf in leaves}
    for op, inputs, outputs, _ in nodes:
        for source in inputs:
            if id(source) in reached:
                break
        else:
            continue
        for position, output in enumerate(outputs):
            sources = inputs[position : position + 1] if op.pairwise else inputs
            if op.pairwise and id(sources[0]) not in reached:
                continue
            if output.aval.inexact or _from_integers(output, sources, reached):
                reached.add(id(output))
    return reached


def _from_integers(output, inputs, reached) -> bool:
    """Integers carry gradients only from integers that are differentiated: a real number that was
    rounded, or used as an index, passes nothing on."""
    return output.aval.numpy.kind != "b" and any(
        id(source) in reached and not source.aval.inexact for source in inputs
    )


def _gradients(op, inputs, outputs, given, mask, place):
    if op.rule is not None:
        return op.rule(inputs, outputs, given, mask)
    present = tuple([cotangent is not None for cotangent in given])
    backward = op.reverse(tuple(mask), present)
    cotangents = tuple([cotangent for cotangent in given if cotangent is not None])
    made = record(backward, inputs + cotangents, place)
    gradients = iter((made,) if isinstance(made, Value) else made)
    return [next(gradients) if wanted else None for wanted in mask]


def _accumulate(cotangents, value, gradient, place=None):
    before = cotangents.get(id(value))
    if before is not None:
        gradient = record(ADD, (before, gradient), place)
    cotangents[id(value)] = gradient
