# SPDX-License-Identifier: Apache-2.0
"""why: why a gradient is zero, missing or not finite, told from the record of the forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mycel.kernel.base.division import fetched
from mycel.kernel.base.places import Place, user_place
from mycel.kernel.define.op import Op, nothing_flows
from mycel.kernel.differentiate.api import grad
from mycel.kernel.record.marker import Marker
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import current_stream, demand
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.record.value import Value

# So many places are told.
MOST_TOLD = 5
_RECTIFIERS = frozenset(("relu", "relu6", "relu_v2", "leaky_relu", "prelu", "hardtanh"))
_SATURATING = frozenset(("sigmoid", "tanh", "hsigmoid", "hard_sigmoid", "softsign", "erf"))
_CHOOSING = frozenset(("where", "masked_fill", "select", "maximum", "minimum", "clamp", "clip"))


class Cut(NamedTuple):
    """One place at which a gradient ends, or becomes something that is not finite.

    Attributes:
        operator: what stands there; empty where nothing does.
        reason: why.
        place: where.
    """

    operator: str
    reason: str
    place: Place | None

    def __str__(self):
        where = "" if self.place is None else f" at {self.place}"
        return f"{self.operator}{where}: {self.reason}" if self.operator else self.reason + where


class Explanation:
    """Why a gradient is what it is; `print` shows it.

    Attributes:
        kind: "present", "zero", "not finite", "cut" (no gradient can flow) or "not used".
        cuts: the places at which the gradient ends.
        gradient: the gradient itself, an array, or None.
    """

    def __init__(self, name: str, kind: str, cuts: list[Cut], gradient, more: list[str]):
        self.name, self.kind, self.cuts, self.gradient = name, kind, cuts, gradient
        self._more = more

    def __str__(self):
        words = {
            "present": "has a gradient",
            "zero": "has a gradient that is 0 throughout",
            "not finite": "has a gradient that is not finite",
            "cut": "gets no gradient: on every way to the result it is cut",
            "not used": "gets no gradient: the result does not depend on it",
        }
        lines = [f"{self.name} {words[self.kind]}."]
        lines += [f"  {cut}" for cut in self.cuts[:MOST_TOLD]]
        if len(self.cuts) > MOST_TOLD:
            lines.append(f"  … and {len(self.cuts) - MOST_TOLD} more")
        return "\n".join(lines + self._more)

    __repr__ = __str__


class _Walk:
    """The record of a forward, and the gradients of all that depends on one Value."""

    def __init__(self):
        self.nodes: list[tuple] = []
        self.start: Value | None = None
        self.result: Value | None = None
        self.gradients: dict[int, Tensor] = {}

    def watch(self, value: Value, result, nodes) -> None:
        """Ask for the gradient of everything that depends on a Value."""
        self.nodes, self.start = list(nodes), value
        self.result = resolve(result)
        for reached in self.reached().values():
            if reached.aval.inexact:
                self._ask(reached)

    def _ask(self, value: Value) -> None:
        def found(gradient):
            self.gradients[id(value)] = gradient

        new_tensor(value).register_hook(found)

    def reached(self) -> dict[int, Value]:
        """All Values that depend on the start, by id, itself included."""
        assert self.start is not None
        reached = {id(self.start): self.start}
        for _, inputs, outputs, _ in self.nodes:
            if any(id(value) in reached for value in inputs):
                reached.update((id(value), value) for value in outputs)
        return reached

    def needed(self) -> set[int]:
        """The ids of all Values that the result depends on, itself included."""
        needed = {id(self.result)}
        for _, inputs, outputs, _ in reversed(self.nodes):
            if any(id(value) in needed for value in outputs):
                needed.update(id(value) for value in inputs)
        return needed

    def gradient(self, value: Value) -> np.ndarray | None:
        """The gradient of a Value; None if none flows."""
        found = self.gradients.get(id(value))
        return None if found is None else found.asnumpy()


def why(tensor: Tensor, loss_fn: Callable, *inputs: Any) -> Explanation:
    """Why the gradient by a Parameter or an input is zero, missing or not finite.

    The function is called once, in PyNative, and its record is walked from the result: the
    explanation names each place at which the gradient ends, with its line: `stop_gradient`, an
    integer, a rectifier that passes nothing with its share, saturated sigmoids, what `where` does
    not choose, a value that left through NumPy, a Parameter that was assigned, or that nothing
    uses.

    Args:
        tensor: a Parameter, or one of the inputs.
        loss_fn: the function, or the Cell, whose result is differentiated.
        inputs: what it is called with.

    Raises:
        TypeError: the result is no Tensor.
        ValueError: a Tensor that is neither a Parameter nor one of the inputs.

    Example:
        >>> weight = Parameter(Tensor([1.0, -2.0]), "weight")
        >>> found = ms.debug.why(weight, lambda x: ops.stop_gradient(weight * x).sum(), Tensor(3.0))
        >>> found.kind, found.cuts[0].operator
        ('cut', 'stop_gradient')
    """
    position = next((i for i, value in enumerate(inputs) if value is tensor), None)
    if not isinstance(tensor, Parameter) and position is None:
        raise ValueError(
            f"why explains the gradient of a Parameter or of one of the inputs (at {user_place(2)})"
            ": pass the Tensor to the function."
        )
    name = f"Parameter {tensor.name}" if isinstance(tensor, Parameter) else f"input {position}"
    walk, stream = _Walk(), current_stream()

    def watched(*arguments):
        handle = tensor if position is None else arguments[position]
        value = resolve(handle)
        result = loss_fn(*arguments)
        if not isinstance(result, Tensor):
            raise TypeError(f"The function must return a Tensor, not {type(result).__name__}.")
        walk.watch(value, result, stream.scope.tape)
        if isinstance(handle, Parameter) and resolve(handle) is not value:
            more.append(f"  {name} is assigned by the function: what is used may be that value.")
        return result.sum()

    more: list[str] = []
    if isinstance(tensor, Parameter) and position is None:
        derivative = grad(watched, None, [tensor])
    else:
        derivative = grad(watched, position)
    frozen = tensor if isinstance(tensor, Parameter) and not tensor.requires_grad else None
    try:
        if frozen is not None:
            frozen._requires_grad = True  # what it would be
        found = stream.within(stream.scope.but(plain=True), derivative, *inputs)
    finally:
        if frozen is not None:
            frozen._requires_grad = False
    gradient = (found[0] if isinstance(found, tuple) else found).asnumpy()
    if frozen is not None:
        meant = "derivatives give zero for it; what follows is as if it were trained."
        more.append(f"  {name} has requires_grad=False: {meant}")
    kind, cuts = _explain(walk, gradient)
    return Explanation(name, kind, cuts, gradient, more)


def _explain(walk: _Walk, gradient: np.ndarray) -> tuple[str, list[Cut]]:
    reached, needed = walk.reached(), walk.needed()
    if id(walk.result) not in reached:
        return "not used", _dead_ends(walk, reached)
    carried, cuts = _carried(walk, needed)
    if id(walk.result) not in carried:
        return "cut", cuts
    if not np.isfinite(gradient).all():
        return "not finite", _first_cuts(walk, reached, needed, _makes_not_finite, _of_infinite)
    if gradient.any():
        return "present", []
    return "zero", _first_cuts(walk, reached, needed, _makes_zero, _of_zero) or cuts


def _carried(walk: _Walk, needed) -> tuple[set[int], list[Cut]]:
    """The ids of all Values through which a gradient can flow to the start, and the nodes on the
    way to the result through which none can."""
    carried, cuts = {id(walk.start)}, []
    for op, inputs, outputs, place in walk.nodes:
        if not any(id(value) in carried for value in inputs):
            continue
        passing = [v for v in outputs if v.aval.inexact and op.rule is not nothing_flows]
        carried.update(map(id, passing))
        if not passing and any(id(value) in needed for value in outputs):
            cuts.append(_cut_of(op, place))
    return carried, cuts


def _cut_of(op, place) -> Cut:
    if op.name == "stop_gradient":
        reason = "stop_gradient passes no gradient on"
    elif op.name in (
        "convert",
        "cast",
        "astype",
        "argmax",
        "argmin",
        "floor",
        "ceil",
        "round",
        "sign",
    ):
        reason = "integers, and numbers that are rounded, have no derivative"
    else:
        reason = "passes no gradient on: its result is an integer, a condition or constant"
        reason = f"{op.public} {reason}"
    return Cut(op.public, reason, Place(*place))


def _dead_ends(walk: _Walk, reached) -> list[Cut]:
    """Where what depends on the start is used no more."""
    used = {id(value) for _, inputs, _, _ in walk.nodes for value in inputs}
    if id(walk.start) not in used:
        return [Cut("", "no operator of the function uses it", None)]
    return [
        Cut(
            op.public,
            "nothing that the result depends on uses what it gives: it left the record here, as "
            "through asnumpy(), float() or Tensor(...), or is not used",
            Place(*place),
        )
        for op, _, outputs, place in walk.nodes
        if any(id(v) in reached for v in outputs) and not any(id(v) in used for v in outputs)
    ]


def _first_cuts(walk: _Walk, reached, needed, happens, reason_of) -> list[Cut]:
    """The nodes whose outputs have a gradient as it should be and whose inputs have not."""
    cuts = []
    for op, inputs, outputs, place in reversed(walk.nodes):
        if not any(id(v) in needed for v in outputs):
            continue
        behind = [g for v in outputs if (g := walk.gradient(v)) is not None]
        for value in inputs:
            if id(value) not in reached:
                continue
            before = walk.gradient(value)
            if before is not None and happens(behind, before):
                cuts.append(Cut(op.public, reason_of(op, inputs, value), Place(*place)))
                break
    return cuts


def _makes_zero(behind, before) -> bool:
    return any(g.any() for g in behind) and not before.any()


def _makes_not_finite(behind, before) -> bool:
    return all(np.isfinite(g).all() for g in behind) and not np.isfinite(before).all()


def _of_infinite(op: Op | Marker, inputs, value: Value) -> str:
    numbers = fetched(demand(value)).astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return "its derivative is not finite: what it is given is not finite"
    low, high = finite.min(), finite.max()
    return f"its derivative is not finite for what it is given, from {low:.6g} to {high:.6g}"


def _of_zero(op: Op | Marker, inputs, value: Value) -> str:
    numbers = fetched(demand(value)).astype(np.float64)
    share = f"{100 * float(np.mean(numbers <= 0)):.0f} %"
    if op.name in _RECTIFIERS:
        return f"{share} of what it is given is negative or 0: dead units pass nothing on"
    if op.name in _SATURATING:
        return (
            f"it is saturated: what it is given lies between {numbers.min():.6g} and "
            f"{numbers.max():.6g}, where its derivative is 0"
        )
    if op.name in _CHOOSING:
        return "it chooses other values throughout: what is not chosen has no gradient"
    zero = any(not fetched(demand(v)).any() for v in inputs if v is not value)
    if zero:
        return "what it is combined with is 0 throughout"
    return f"the derivative of {op.public} is 0 for what it is given"
