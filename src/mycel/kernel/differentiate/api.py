# SPDX-License-Identifier: Apache-2.0
"""`grad`, `value_and_grad`, `GradOperation`: taking derivatives of functions and Cells alike."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.context import GRAPH_MODE, context
from mycel.kernel.base.division import division
from mycel.kernel.base.places import user_place, warn_at
from mycel.kernel.base.trees import tree_exchange, tree_leaves, tree_map
from mycel.kernel.differentiate.reverse import (
    ONES,
    STOP,
    Forward,
    begin,
    reverse,
    reverse_by_plan,
)
from mycel.kernel.differentiate.used import USED, Usage
from mycel.kernel.record.marker import COPY
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import Stream, local, machine, record
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.record.value import HOOKS, Value

NUMBER_RETURNED = (
    "The function that is differentiated returned {result!r}, a number of Python, so all gradients "
    "are zero (at {place}). Return the Tensor: float(), .item() and .asnumpy() read its number."
)
NO_TENSORS = "Only Tensors can be differentiated; the function returned {kind} at {place}."
NO_RETURN = (
    "Only Tensors can be differentiated; the function returned None at {place}. Is its `return` "
    "missing?"
)
NOTHING_BESIDES = (
    "has_aux=True needs a function that returns its result and something besides, (loss, aux), but "
    "it returned {kind} at {place}."
)


class Derivative:
    """The function that `grad` and its relatives return.

    Attributes:
        function: what is differentiated, a function or a Cell.
        positions: inputs to differentiate by: a number, a tuple, None, or "all".
        weights: Parameters to differentiate by: one, a sequence, None, or `USED`.
        returns: a key of `_SHAPES`: how the gradients are handed back.
    """

    def __init__(
        self, function, positions, weights, returns, has_aux=False, ids=False, sensitivity=False
    ):
        if not callable(function):
            raise errors.wrong(
                TypeError,
                "What is differentiated",
                expected="a function or a Cell",
                actual=f"{type(function).__name__} {function!r:.60}",
            )
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.positions = positions
        self.weights = weights
        self.returns = returns
        self.has_aux = has_aux
        self.ids = ids
        self.sensitivity = sensitivity
        self._remembered = None

    def __call__(self, *args, **kwargs) -> Any:
        stream = local.stream
        scope = stream.scope
        if (
            context.mode == GRAPH_MODE
            and scope.capture is None
            and scope.depth == 0
            and stream.called is None
            and not scope.plain
        ):
            if self._remembered is None:
                self._remembered = _remembered_for(self)
            return self._remembered(*args, **kwargs)
        return self.run(*args, **kwargs)

    def __iter__(self):
        # Only for what it says: `loss, gradients = value_and_grad(...)` would iterate.
        raise TypeError(errors.NOT_CALLED.format(place=user_place(2)))

    def run(self, *args, **kwargs):
        """Take the derivative now, recording on the current stream."""
        stream = local.stream
        stream.boundary()
        if division.take is not None and not stream.scope.depth:
            args, kwargs = division.take(args, kwargs)
        sensitivity = None
        if self.sensitivity:
            if "sens" in kwargs:
                sensitivity = kwargs.pop("sens")
            elif len(args) > 1:
                *args, sensitivity = args
            else:
                raise TypeError(
                    "sens_param=True needs the gradient of the output, as last input or as sens=..."
                )
        scope = stream.scope
        walk, is_inside = self._walk, scope.tape is not None
        taken, gradients = stream.within(
            scope.differentiating(), walk, stream, args, kwargs, sensitivity, is_inside
        )
        if context.check_numerics:
            machine.note_gradients(gradients)
        by_input, by_weight = arranged(taken, gradients)
        if machine.on_gradients is not None:
            machine.on_gradients((by_input, by_weight))
        return self.shaped(taken.output, by_input, by_weight)

    def _walk(self, stream: Stream, args, kwargs, sensitivity, is_inside: bool) -> tuple:
        taken = take_forward(self, stream, list(args), kwargs)
        seeds = seeds_of(taken.result, sensitivity)
        scope = stream.scope
        if scope.tape is None:
            raise RuntimeError(errors.GRADIENTS_OFF.format(place=user_place()))
        nodes = scope.tape[taken.start :]
        if is_inside:
            return taken, reverse(stream, nodes, seeds, taken.leaves, consume=False)
        # Nothing else will look at this tape: the reverse frees it as it goes.
        scope.tape.clear()
        off = scope.but(tape=None)
        forward, leaves = taken.forward, taken.leaves
        return taken, stream.within(off, reverse_by_plan, stream, forward, nodes, seeds, leaves)

    def shaped(self, output, by_input, by_weight):
        """The gradients as they are handed back."""
        return _SHAPES[self.returns](self, output, by_input, by_weight)


class Taken(NamedTuple):
    """The forward half of a derivative: what was recorded, and by what to differentiate it."""

    output: object
    result: object
    args: list
    indices: list[int]
    leaves: list[Value]
    inputs: int
    start: int
    forward: Forward


def take_forward(task: Derivative, stream: Stream, args: list, kwargs: dict) -> Taken:
    """Call what is differentiated, on leaves of its own, and keep what its reverse needs."""
    indices = _indices(task, args)
    leaves: list[Value] = []
    for index in indices:
        args[index] = tree_exchange(functools.partial(leaf_of, stream, leaves), args[index])
    inputs = len(leaves)
    for weight in weights_of(task.weights):
        if not weight._requires_grad:  # not as a call
            # Nothing depends on the copy: its gradient is zero.
            leaves.append(one_of(record(COPY, (resolve(weight),))))
            continue
        if stream.scope.capture is None and not weight._hooks:
            leaves.append(weight._value)
            continue
        value = resolve(weight)
        leaves.append(value)
        take_hooks(stream, weight, value)
    tape = stream.scope.tape
    assert tape is not None
    start, forward = len(tape), begin(stream)
    usage = Usage() if task.weights is USED else None
    try:
        if usage is None:
            output = task.function(*args, **kwargs)
        else:
            output = usage.call(stream, task.function, args, kwargs)
    except TypeError as error:
        machine.report.explain_keyword(error)
        raise
    result = first_of(output) if task.has_aux else output
    if usage is not None:
        returned = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        for weight, value in usage.found(tape[start:], returned):
            leaves.append(value)
            take_hooks(stream, weight, value)
    return Taken(output, result, args, indices, leaves, inputs, start, forward)


def arranged(taken: Taken, values: list[Value]) -> tuple[list, list[Tensor]]:
    """The gradients by input, in the form of each input, and by weight."""
    gradients = [new_tensor(value) for value in values]
    rest = iter(gradients)
    by_input = [
        tree_map(lambda leaf: next(rest) if isinstance(leaf, Tensor) else None, taken.args[index])
        for index in taken.indices
    ]
    return by_input, gradients[taken.inputs :]


def leaf_of(stream, leaves, argument):
    """An input of the differentiated function as a leaf of its own, so that nested derivatives by
    the same Tensor do not mix."""
    if isinstance(argument, (bool, int, float, np.generic)):
        argument = Tensor(argument)
    if not isinstance(argument, Tensor):
        return argument
    value = record(COPY, (resolve(argument),))
    assert isinstance(value, Value)
    take_hooks(stream, argument, value)
    leaves.append(value)
    return new_tensor(value)


def take_hooks(stream, handle, value) -> None:
    if stream.scope.capture is not None:
        stream.scope.capture.event(HOOKS, handle)
    hooks = getattr(handle, "_hooks", None)
    if hooks:
        stream.scope.hooks[id(value)] = (value, hooks)


def _indices(task: Derivative, args) -> list[int]:
    if task.positions is None:
        return []
    if task.positions == "all":
        return [
            index
            for index, argument in enumerate(args)
            if any(isinstance(leaf, Tensor) for leaf in tree_leaves(argument))
        ] or list(range(len(args)))
    positions = task.positions if isinstance(task.positions, tuple) else (task.positions,)
    for index in positions:
        if not 0 <= index < len(args):
            raise errors.wrong(
                ValueError,
                "grad_position",
                expected=f"the number of one of the {len(args)} inputs, from 0",
                actual=index,
            )
    return list(positions)


def weights_of(weights) -> list[Parameter]:
    if weights is None or weights is USED:
        return []
    listed = [weights] if isinstance(weights, Parameter) else list(weights)
    for weight in listed:
        if not isinstance(weight, Parameter):
            raise errors.wrong(
                TypeError, "Each of weights", expected="a Parameter", actual=type(weight).__name__
            )
    return listed


def first_of(output):
    if isinstance(output, (tuple, list)) and output:
        return output[0]
    raise ValueError(NOTHING_BESIDES.format(kind=type(output).__name__, place=user_place()))


def seeds_of(result, sensitivity) -> list[tuple[Value, Value]]:
    leaves = tree_leaves(result)
    outputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if not outputs and not all(isinstance(leaf, (bool, int, float)) for leaf in leaves):
        text = NO_RETURN if result is None else NO_TENSORS
        raise TypeError(text.format(kind=type(result).__name__, place=user_place()))
    if not outputs and any(isinstance(leaf, float) for leaf in leaves):
        place = user_place()
        warn_at(NUMBER_RETURNED.format(result=result, place=place), place)
    if sensitivity is None:
        pairs = [(resolve(output), None) for output in outputs]
        return [(value, one_of(record(ONES, (value,)))) for value, _ in pairs]
    given_seeds = [leaf for leaf in tree_leaves(sensitivity) if leaf is not None]
    if len(given_seeds) != len(outputs):
        raise ValueError(
            f"The function has {len(outputs)} outputs, but {len(given_seeds)} gradients "
            "were given for them."
        )
    return [
        (resolve(output), _matching(output, seed))
        for output, seed in zip(outputs, given_seeds, strict=True)
    ]


def _matching(output, seed) -> Value:
    seed = seed if isinstance(seed, Tensor) else Tensor(seed)
    # One number, such as a loss scale, is for every element.
    if seed.shape == () != output.shape:
        seed = seed.broadcast_to(output.shape)  # type: ignore[attr-defined]
    if seed.shape != output.shape:
        raise ValueError(
            f"The gradient given for an output of shape {output.shape} has shape {seed.shape}."
        )
    if seed.dtype is not output.dtype:
        seed = seed.astype(output.dtype)
    return resolve(seed)


def one_of(output) -> Value:
    assert isinstance(output, Value)
    return output


# The field in which a function keeps what is remembered of its derivatives.
DERIVATIVES = "_derivatives_remembered"


def _remembered_for(task: Derivative):
    """One memory for equal derivatives: `grad(net)` written inside a loop is still remembered."""
    weights = task.weights
    if weights is not None and weights is not USED:
        weights = tuple(id(w) for w in weights_of(weights))
    key = (task.positions, weights, task.returns, task.has_aux, task.ids, task.sensitivity)
    function, remember = task.function, machine.remember
    fields = getattr(function, "__dict__", None)
    if fields is None or hasattr(function, "__func__"):
        return remember(task.run)  # a bound method is made anew at each look
    # Kept by the function itself, and gone with it. `functools.wraps` may have copied the field.
    owner, kept = fields.get(DERIVATIVES, (None, None))
    if owner is not function:
        kept = {}
        fields[DERIVATIVES] = (function, kept)
    # The weights are held by the task that is remembered, so no id is used again.
    return kept.setdefault(key, remember(task.run))


# -- the shapes of what is returned ------------------------------------------------------


def _gradients(task: Derivative, output, by_input, by_weight):
    if task.ids:
        numbers = task.positions if isinstance(task.positions, tuple) else (task.positions,)
        by_input = list(zip(numbers, by_input, strict=False))
        named = weights_of(task.weights)
        by_weight = [(w.name, g) for w, g in zip(named, by_weight, strict=True)]
    inputs = tuple(by_input) if len(by_input) > 1 else (by_input or [None])[0]
    weights = _by_weight(task, by_weight)
    if task.weights is None:
        return inputs
    return weights if task.positions is None else (inputs, weights)


def _by_weight(task, by_weight):
    return by_weight[0] if isinstance(task.weights, Parameter) else tuple(by_weight)


def _with_aux(task, output, by_input, by_weight):
    gradients = _gradients(task, output, by_input, by_weight)
    return (gradients, tuple(output[1:])) if task.has_aux else gradients


_SHAPES = {
    "gradients": _with_aux,
    "value and gradients": lambda *parts: (parts[1], _gradients(*parts)),
    "first": lambda task, output, by_input, by_weight: by_input[0],
    "inputs": lambda task, output, by_input, by_weight: tuple(by_input),
    "weights": lambda task, output, by_input, by_weight: _by_weight(task, by_weight),
    "both": lambda task, output, by_input, by_weight: (
        tuple(by_input),
        _by_weight(task, by_weight),
    ),
}


def grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Parameter | Sequence[Parameter] | None = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Derivative:
    """A function that returns the gradients of `fn`; MindSpore's `mindspore.grad`.

    Args:
        fn: a function or Cell; what it returns is summed.
        grad_position: which inputs: a number, a tuple of numbers, or None.
        weights: Parameters to differentiate by as well, or None. The gradient by one whose
            `requires_grad` is False is zero.
        has_aux: only the first output is differentiated; the others are returned beside.
        return_ids: pair each gradient with its position or its Parameter's name.
        sens_param: the gradient of the output is given, as last input or as `sens=...`.

    Raises:
        ValueError: neither inputs nor weights are asked for, or no such input.
        TypeError: `grad_position` is not a number, tuple or None; `fn` cannot be called.

    Example:
        >>> import mycel as ms
        >>> print(ms.grad(lambda x: x * x)(ms.Tensor(3.0)))
        6.0
    """
    _check(grad_position, weights)

    return Derivative(fn, grad_position, weights, "gradients", has_aux, return_ids, sens_param)


def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Parameter | Sequence[Parameter] | None = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Derivative:
    """A function that returns what `fn` returns, and its gradients; see `grad`.

    Args:
        fn: a function or Cell; what it returns is summed.
        grad_position: the inputs by which it is differentiated: a number, 0 by default, a tuple of
            numbers, or None for none.
        weights: a Parameter or several to differentiate by as well; None, the default, for none.
            The gradient by one whose `requires_grad` is False is zero.
        has_aux: whether only the first output is differentiated; False by default.
        return_ids: whether each gradient is paired with its position or its Parameter's name; False
            by default.
        sens_param: whether the gradient of the output is given, as last input or as `sens=...`;
            False by default.

    Source: MindSpore's `mindspore.value_and_grad`.

    Example:
        >>> import mycel as ms
        >>> value, gradient = ms.value_and_grad(lambda x: x * x)(ms.Tensor(3.0))
        >>> print(value, gradient)
        9.0 6.0
    """
    _check(grad_position, weights)

    returns = "value and gradients"
    return Derivative(fn, grad_position, weights, returns, has_aux, return_ids, sens_param)


def _check(grad_position, weights):
    if grad_position is None and weights is None:
        raise ValueError(
            f"Nothing to differentiate by (at {user_place(2)}): give grad_position or weights."
        )
    check_positions(grad_position)


def check_positions(grad_position) -> None:
    """Raise unless these are positions of inputs."""
    positions = grad_position if isinstance(grad_position, tuple) else (grad_position or 0,)
    if not all(isinstance(index, int) and not isinstance(index, bool) for index in positions):
        raise errors.wrong(
            TypeError,
            "grad_position",
            expected="a number, a tuple of numbers or None",
            actual=repr(grad_position),
        )


def get_grad(gradients: Any, identifier: Any) -> Any:
    """The gradient of one input position or Parameter out of what `return_ids=True` gave.

    Raises:
        RuntimeError: no gradient with this identifier.
    """
    name = identifier.name if isinstance(identifier, Parameter) else identifier

    def find(tree):
        if isinstance(tree, (tuple, list)):
            if len(tree) == 2 and not isinstance(tree[0], (tuple, list)) and tree[0] == name:
                return tree[1]
            for branch in tree:
                gradient = find(branch)
                if gradient is not None:
                    return gradient
        return None

    gradient = find(gradients)
    if gradient is None:
        raise RuntimeError(f"No gradient with the identifier {name!r}.")
    return gradient


class GradOperation:
    """The older way to take gradients; MindSpore's `mindspore.ops.GradOperation`.

    Args:
        get_all: gradients of all Tensor inputs as a tuple; otherwise of the first one.
        get_by_list: gradients of the Parameters given beside the function; if none are given, of
            those with `requires_grad` that the result depends on, in the order of their use.
        sens_param: the last input is the gradient of the output.

    Example:
        >>> import mycel as ms
        >>> both = ms.ops.GradOperation(get_all=True)
        >>> both(lambda x, y: x * y)(ms.Tensor(1, ms.int32), ms.Tensor(2, ms.int32))
        (Tensor(shape=[], dtype=Int32, value= 2), Tensor(shape=[], dtype=Int32, value= 1))
    """

    # Programs may set them, also between two calls of what is compiled.
    fields_are_settings = True

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False):
        for name, value in (
            ("get_all", get_all),
            ("get_by_list", get_by_list),
            ("sens_param", sens_param),
        ):
            if not isinstance(value, bool):
                raise errors.wrong(TypeError, name, expected="True or False", actual=value)
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    def __call__(self, fn, weights=None):
        if not self.get_by_list:
            weights = None
        elif weights is None:
            weights = USED
        elif not isinstance(weights, Parameter):
            weights = tuple(weights)
        positions = "all" if self.get_all else None if self.get_by_list else 0
        returns = _RETURNS[self.get_all, self.get_by_list]
        return Derivative(fn, positions, weights, returns, sensitivity=self.sens_param)


_RETURNS = {
    (False, False): "first",
    (True, False): "inputs",
    (False, True): "weights",
    (True, True): "both",
}


def stop_gradient(value: Any) -> Any:
    """The same values, through which no gradient flows; MindSpore's `ops.stop_gradient`.

    Example:
        >>> import mycel as ms
        >>> print(ms.grad(lambda x: x * ms.ops.stop_gradient(x))(ms.Tensor(3.0)))
        3.0
    """
    return tree_exchange(
        lambda leaf: (
            new_tensor(one_of(record(STOP, (resolve(leaf),)))) if isinstance(leaf, Tensor) else leaf
        ),
        value,
    )
