# SPDX-License-Identifier: Apache-2.0
"""The Parameters that a function uses: what `get_by_list` means where no weights are given."""

from __future__ import annotations

from collections.abc import Callable

from mycel.kernel.differentiate.reverse import STOP
from mycel.kernel.record.marker import Marker
from mycel.kernel.record.parameter import Parameter, parameters_alive
from mycel.kernel.record.stream import Stream
from mycel.kernel.record.tensor import Tensor, resolve
from mycel.kernel.record.value import Value

# Stands where weights are given.
USED = "the Parameters used"

# Within an operator MindSpore comes to the last input first. Of these operators it makes several;
# the places of inputs in the order in which they then come.
_WEIGHT_THEN_BIAS = (1, 2)
_ORDERS = {
    "affine": _WEIGHT_THEN_BIAS,
    "projected": _WEIGHT_THEN_BIAS,
    "bidense": (2, 3),
    "LSTM": (3, 4, 1, 2),
    "GRU": (1, 3, 2, 4),
    "RNN tanh": (1, 3, 2, 4),
    "RNN relu": (1, 3, 2, 4),
}


class Usage:
    """Watches a function that is called, for the Parameters that its result depends on.

    Their order is that of MindSpore's PyNative mode (its Graph mode gives no gradients at all): of
    the record, whatever the order of definition. As with weights that are given, the gradient is
    that by the value which a Parameter had before the function assigned another to it.
    """

    def __init__(self):
        self._had: list[tuple] = list(parameters_alive())

    def call(self, stream: Stream, function: Callable, args, kwargs):
        """Call the function."""
        scope, replaced = stream.scope, []
        try:
            return stream.within(scope.but(replaced=replaced), function, *args, **kwargs)
        finally:
            self._had += replaced
            if scope.replaced is not None:
                scope.replaced.extend(replaced)

    def found(self, nodes, returned: list[Tensor]) -> list[tuple[Parameter, Value]]:
        """The Parameters with `requires_grad` that what is returned depends on, and the Values they
        had."""
        owner, results = {}, [resolve(handle) for handle in returned]
        handed_on = list(zip(returned, results, strict=True))
        for parameter, value in self._had + parameters_alive() + handed_on:
            if isinstance(parameter, Parameter) and parameter.requires_grad:
                owner[id(value)] = (parameter, value)
        for _, _, outputs, _ in nodes:
            for value in outputs:
                owner.pop(id(value), None)  # assigned by the function
        used: dict[int, tuple[Parameter, Value]] = {}
        for value in _values_reached(nodes, results):
            if id(value) in owner:
                parameter = owner[id(value)][0]
                used.setdefault(id(parameter), owner[id(value)])
        return list(used.values())


def _values_reached(nodes, results: list[Value]) -> list[Value]:
    """What the results depend on, in the order of MindSpore's PyNative mode."""
    needed, reached = {id(value) for value in results}, [results[::-1]]
    for op, inputs, outputs, _ in reversed(nodes):
        reaching = [id(output) in needed for output in outputs]
        if True not in reaching or op is STOP:
            continue
        if op.pairwise:
            inputs = [value for value, there in zip(inputs, reaching, strict=True) if there]
        needed.update(map(id, inputs))
        reached.append(_in_order(op, inputs))
    return [value for values in reversed(reached) for value in values]


def _in_order(op, inputs) -> list[Value]:
    if isinstance(op, Marker):
        return list(inputs)
    first = [inputs[position] for position in _ORDERS.get(op.name, ()) if position < len(inputs)]
    return [*first, *reversed(inputs)]
