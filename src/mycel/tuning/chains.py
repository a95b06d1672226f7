# SPDX-License-Identifier: Apache-2.0
"""Chains of elementwise operators that XLA on CPU would compute anew for each sum that reads them.

XLA joins elementwise operators with whatever reads them, once for each reader that is a loop of its
own (a sum, a product of matrices). Along the residuals of a deep network each layer then computes
anew all layers before it, and their reverse: the program grows with the square of the depth, and so
does the time to compile it (measured: 12 small transformer layers, 29 s; with this, 3 s).
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import NamedTuple

import jax

# What XLA does not join with what reads it: its result is written down.
_LOOPS = frozenset((
    "dot_general", "conv_general_dilated", "sort", "top_k", "gather", "scatter", "scatter-add",
    "scatter_add", "while", "scan", "cond", "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp",
    "select_and_scatter_add", "argmax", "argmin", "ffi_call", "pure_callback", "random_bits",
    "threefry2x32",
))  # fmt: skip
# What only has another program in it.
_CALLS = frozenset(("pjit", "jit", "closed_call", "custom_jvp_call", "custom_vjp_call"))
# So many elementwise operators are worth writing the result down; more where it is large, which
# takes as long as computing some again (measured: a twentieth of a MobileNetV2 step).
LONG, LONG_FOR_LARGE = 24, 200


class Chain(NamedTuple):
    """What one output of an operator is, elementwise: how many operators make it, and the numbers
    of the inputs that they go on from."""

    length: int
    inputs: frozenset[int]


class Form(NamedTuple):
    """An operator as a piece of chains: one for each output, and how many loops read each input."""

    outputs: list[Chain]
    readers: list[int]


# Forms that are known: programs whose shapes change make new ones for ever.
MOST_FORMS = 4096
_NOTHING = Chain(0, frozenset())
_forms: dict[int, Form] = {}


def form_of(signature) -> Form:
    """The form of an operator with these inputs; it is traced once for all uses."""
    form = _forms.get(signature.id)
    if form is None:
        op = signature.op
        if op.can_be_opened:
            given = [jax.ShapeDtypeStruct(aval.shape, aval.numpy) for aval in signature.inputs]
            form = _of_program(jax.make_jaxpr(op.inlined)(*given).jaxpr)
        else:
            form = Form([_NOTHING] * len(signature.outputs), [1] * len(signature.inputs))
        if len(_forms) >= MOST_FORMS:
            _forms.clear()
        _forms[signature.id] = form
    return form


def _is_loop(name: str) -> bool:
    return name in _LOOPS or (name.startswith("reduce") and name != "reduce_precision")


def _of_program(program) -> Form:
    """The form of a traced program."""
    made: dict = {}
    for number, variable in enumerate(program.invars):
        made[variable] = frozenset(), frozenset((number,))
    readers: collections.Counter = collections.Counter()

    def read(variable):
        return made.get(variable, (frozenset(), frozenset()))

    for number, equation in enumerate(program.eqns):
        inputs = [v for v in equation.invars if not hasattr(v, "val")]
        inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
        if inner is not None and equation.primitive.name in _CALLS:
            form = _of_program(getattr(inner, "jaxpr", inner))
            pairs = [
                (
                    {(number, n) for n in range(chain.length)},
                    [equation.invars[i] for i in chain.inputs],
                )
                for chain in form.outputs
            ]
            for variable, times in zip(equation.invars, form.readers, strict=True):
                if not hasattr(variable, "val"):
                    readers.update(dict.fromkeys(read(variable)[1], times))
        elif _is_loop(equation.primitive.name):
            pairs = [(set(), [])] * len(equation.outvars)
            for variable in set(inputs):
                readers.update(dict.fromkeys(read(variable)[1], 1))
        else:
            pairs = [({(number, 0)}, inputs)] * len(equation.outvars)
        for variable, (own, sources) in zip(equation.outvars, pairs, strict=True):
            before = [read(source) for source in sources if not hasattr(source, "val")]
            made[variable] = (
                frozenset(own).union(*[operators for operators, _ in before]),
                frozenset().union(*[reached for _, reached in before]),
            )
    outputs = [
        _NOTHING if hasattr(v, "val") else Chain(len(read(v)[0]), read(v)[1])
        for v in program.outvars
    ]
    return Form(outputs, [readers[number] for number in range(len(program.invars))])


def ends_of_chains(nodes, large: int) -> Iterator[int]:
    """The slots of what several loops would compute anew from a long chain.

    Args:
        nodes: those of `execute.compile.decode`.
        large: how many elements are many.
    """
    forms = [form_of(node.signature) for node in nodes]
    loops = _loops_behind(nodes, forms)
    # By slot: the operators that make it, elementwise, each with its length.
    chains: dict[int, dict[int, int]] = {}
    for node, form in zip(nodes, forms, strict=True):
        avals = node.signature.outputs
        for slot, (chain, aval) in enumerate(zip(form.outputs, avals, strict=True), node.first):
            made = {slot: chain.length} if chain.length else {}
            for number in chain.inputs:
                made.update(chains.get(node.inputs[number], {}))
            is_large = aval.nbytes >= large * aval.numpy.itemsize
            long = LONG_FOR_LARGE if is_large else LONG
            if loops.get(slot, 0) > 1 and sum(made.values()) >= long:
                yield slot
                made = {}
            chains[slot] = made


def _loops_behind(nodes, forms) -> dict[int, int]:
    """How many loops read what is in a slot, themselves or through elementwise operators; 2 are
    many."""
    behind: dict[int, frozenset] = collections.defaultdict(frozenset)
    for index in range(len(nodes) - 1, -1, -1):
        node, form = nodes[index], forms[index]
        for number, slot in enumerate(node.inputs):
            if slot < 0 or len(behind[slot]) > 1:
                continue
            own = {(index, number, n) for n in range(form.readers[number])}
            further = [
                behind[output]
                for output, chain in enumerate(form.outputs, node.first)
                if number in chain.inputs
            ]
            behind[slot] = behind[slot].union(own, *further)
    return {slot: len(found) for slot, found in behind.items()}
