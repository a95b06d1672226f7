# SPDX-License-Identifier: Apache-2.0
"""What hooks mean, in NumPy: Tensors, a tape, its reverse, and Cells with hooks.

An oracle for `hook_matrix`, with the names of mycel that its programs use, written without it:
nothing is compiled or remembered, every operator computes at once, and every hook is a plain call.
"""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import numpy as np


class Node:
    """A value that never changes; Tensors are handles on one."""

    def __init__(self, array):
        self.array = np.asarray(array, np.float32)


class Entry(SimpleNamespace):
    """What the tape holds: inputs and outputs (Nodes), and the rule from gradients to gradients.

    `always` says that the rule is called also if nothing arrives.
    """

    always = False


class Derivative:
    """The derivative that is open: its tape, and the hooks on Nodes."""

    open: Derivative | None = None

    def __init__(self):
        self.tape: list[Entry] | None = []
        self.hooks: dict[Node, dict] = {}

    @classmethod
    def note(cls, inputs, outputs, rule, **options):
        if cls.open is not None and cls.open.tape is not None:
            cls.open.tape.append(Entry(inputs=inputs, outputs=outputs, rule=rule, **options))


class Handle:
    """What registering a hook returns."""

    numbers = count()

    def __init__(self, hooks: dict, hook):
        self.hooks, self.number = hooks, next(self.numbers)
        hooks[self.number] = hook

    def remove(self):
        self.hooks.pop(self.number, None)


def computed(array, inputs, *factors) -> Tensor:
    """The result of an operator that is linear in each input, with these factors."""
    made = Node(array)

    def rule(gradient):
        shapes = [source.array.shape for source in inputs]
        return [np.broadcast_to(gradient * f, s) for f, s in zip(factors, shapes, strict=True)]

    Derivative.note(inputs, (made,), rule)
    return Tensor(made)


class Tensor:
    """A handle on a Node, with hooks of its own."""

    dtype = "Float32"

    def __init__(self, data):
        self.node = data if isinstance(data, Node) else Node(data)
        self.hooks: dict = {}

    shape = property(lambda self: self.node.array.shape)

    def asnumpy(self):
        return self.node.array

    def __str__(self):
        return str(self.node.array)

    def __format__(self, spec):
        return format(self.node.array.item(), spec) if spec else str(self)

    def __mul__(self, other):
        mine, theirs = self.node, other.node if isinstance(other, Tensor) else Node(other)
        factors = theirs.array, mine.array
        known = 2 if isinstance(other, Tensor) else 1
        product = mine.array * theirs.array
        return computed(product, (mine, theirs)[:known], *factors[:known])

    def __add__(self, other):
        return computed(self.node.array + other.node.array, (self.node, other.node), 1, 1)

    def sum(self):
        return computed(self.node.array.sum(), (self.node,), 1)

    def register_hook(self, hook):
        if Derivative.open is not None and type(self) is Tensor:
            return Handle(Derivative.open.hooks.setdefault(self.node, {}), hook)
        return Handle(self.hooks, hook)


class Parameter(Tensor):
    def __init__(self, data, name=""):
        super().__init__(data)

    def set_data(self, tensor):
        self.node = tensor.node


def value_and_grad(function, positions, weights):
    """Value, and gradients by the first inputs and by Parameters."""

    def run(*args):
        assert positions == tuple(range(len(args)))
        state = Derivative.open = Derivative()
        try:
            inputs = [Tensor(Node(given.asnumpy())) for given in args]
            leaves = [*inputs, *weights]
            for leaf, owner in zip(leaves, (*args, *weights), strict=True):
                if owner.hooks:
                    state.hooks[leaf.node] = owner.hooks
            nodes = [leaf.node for leaf in leaves]
            value = function(*inputs)
            tape, state.tape = state.tape, None
            gradients = list(map(Tensor, reverse(state, tape, value.node, nodes)))
        finally:
            Derivative.open = None
        return value, (tuple(gradients[: len(args)]), tuple(gradients[len(args) :]))

    return run


def reverse(state, tape, result, leaves):
    """Gradients of the leaves: hooks on a Node see its whole gradient."""
    wanted = set(leaves)
    for entry in tape:
        if wanted.intersection(entry.inputs):
            wanted.update(entry.outputs)
    found = {result: np.ones_like(result.array)}
    for entry in reversed(tape):
        arrived = [fire(state, output, found.pop(output, None)) for output in entry.outputs]
        if not entry.always and all(gradient is None for gradient in arrived):
            continue
        for source, gradient in zip(entry.inputs, entry.rule(*arrived), strict=True):
            if gradient is not None and source in wanted:
                found[source] = found[source] + gradient if source in found else gradient
    arrived = [fire(state, leaf, found.get(leaf)) for leaf in leaves]
    return [
        Node(np.zeros_like(leaf.array) if gradient is None else gradient)
        for leaf, gradient in zip(leaves, arrived, strict=True)
    ]


def fire(state, node, gradient):
    if gradient is not None:
        for hook in list(state.hooks.get(node, {}).values()):
            gradient = _replaced([gradient], hook(Tensor(gradient)))[0]
    return gradient


def _replaced(gradients, returned):
    """The gradients after a hook: arrays, or None where there is none."""
    if returned is None:
        return gradients
    if isinstance(returned, Tensor):
        returned = (returned,)
    assert len(returned) == len(gradients)
    return [None if given is None else given.asnumpy() for given in returned]


def _given(gradients):
    return tuple([None if gradient is None else Tensor(gradient) for gradient in gradients])


def leaves_of(tree) -> list:
    """The Tensors of nested tuples."""
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves_of(part)]
    return [tree] if isinstance(tree, Tensor) else []


def rebuilt(tree, leaves):
    """The same nested tuples with other Tensors, taken from an iterator."""
    if isinstance(tree, tuple):
        return tuple([rebuilt(part, leaves) for part in tree])
    return next(leaves) if isinstance(tree, Tensor) else tree


def passed(tree, rule, always=False):
    """The same Tensors behind a point of the tape whose rule sees their gradients."""
    inputs = [leaf.node for leaf in leaves_of(tree)]
    outputs = [Node(node.array) for node in inputs]
    Derivative.note(inputs, outputs, rule, always=always)
    return rebuilt(tree, map(Tensor, outputs))


class Cell:
    """Calls `construct` with hooks around it."""

    def __init__(self):
        self.before, self.after, self.arriving, self.leaving = {}, {}, {}, {}

    def register_forward_pre_hook(self, hook, with_kwargs=False):
        return Handle(self.before, (hook, with_kwargs))

    def register_forward_hook(self, hook, with_kwargs=False):
        return Handle(self.after, (hook, with_kwargs))

    def register_backward_pre_hook(self, hook):
        return Handle(self.arriving, hook)

    def register_backward_hook(self, hook):
        return Handle(self.leaving, hook)

    def register_full_backward_hook(self, hook):
        return Handle(self.leaving, lambda cell, arrived, left: hook(cell, left, arrived))

    def recompute(self):
        """When something is computed changes nothing that is seen."""

    def __call__(self, *args, **kwargs):
        for hook, with_kwargs in list(self.before.values()):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is not None and with_kwargs:
                args, kwargs = changed
            elif changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        output = self._between_markers(args, kwargs)
        for hook, with_kwargs in list(self.after.values()):
            given = (args, kwargs, output) if with_kwargs else (args, output)
            changed = hook(self, *given)
            output = output if changed is None else changed
        return output

    def _between_markers(self, args, kwargs):
        if Derivative.open is None or not (self.arriving or self.leaving):
            return self._compute(args, kwargs)
        arrived = None

        def on_leaving(*gradients):
            for hook in list(self.leaving.values()) if arrived is not None else ():
                gradients = _replaced(gradients, hook(self, _given(arrived), _given(gradients)))
            return gradients

        def on_arriving(*gradients):
            nonlocal arrived
            for hook in list(self.arriving.values()):
                gradients = _replaced(gradients, hook(self, _given(gradients)))
            arrived = gradients
            return gradients

        args = passed(args, on_leaving, always=True)
        return passed(self._compute(args, kwargs), on_arriving)

    def _compute(self, args, kwargs):
        if Derivative.open is None or not hasattr(self, "bprop"):
            return self.construct(*args, **kwargs)
        args = (*args, *kwargs.values())
        tape, Derivative.open.tape = Derivative.open.tape, None
        try:
            output = self.construct(*args)
        finally:
            Derivative.open.tape = tape
        inner = self.internal_params

        def rule(*gradients):
            filled = [
                np.zeros_like(node.array) if gradient is None else gradient
                for node, gradient in zip(outputs, gradients, strict=True)
            ]
            by_input, by_parameter = self.bprop(*args, output, rebuilt(output, map(Tensor, filled)))
            return _replaced(sources, (*by_input, *map(by_parameter.get, inner)))

        sources = [leaf.node for leaf in (*leaves_of(args), *inner)]
        outputs = [leaf.node for leaf in leaves_of(output)]
        Derivative.note(sources, outputs, rule)
        return output


class SequentialCell(Cell):
    def __init__(self, *cells):
        super().__init__()
        self.cells = cells

    def construct(self, x):
        for cell in self.cells:
            x = cell(x)
        return x


class CellList(Cell, list):
    def __init__(self, cells):
        super().__init__()
        self.extend(cells)


class HookBackward:
    def __init__(self, hook):
        self.hook = hook

    def __call__(self, *tensors):
        rule = lambda *gradients: _replaced(gradients, self.hook(_given(gradients)))  # noqa: E731
        made = passed(tensors, rule)
        return made[0] if len(made) == 1 else made


def assign(target, data):
    target.node = data.node


def unchanged(function):
    """What marks a function for compiled calls means nothing here."""
    return function


jit = every_call = unchanged
nn = SimpleNamespace(Cell=Cell, SequentialCell=SequentialCell, CellList=CellList)
ops = SimpleNamespace(
    assign=assign, HookBackward=HookBackward, sign=lambda tensor: Tensor(np.sign(tensor.asnumpy()))
)
