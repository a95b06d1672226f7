# SPDX-License-Identifier: Apache-2.0
"""`vjp`, `jvp` and Jacobians: a forward record that is kept and walked backwards more than once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from mycel.kernel.base.places import user_place
from mycel.kernel.base.trees import tree_leaves, tree_map
from mycel.kernel.define.op import Op
from mycel.kernel.differentiate.api import (
    Derivative,
    arranged,
    check_positions,
    one_of,
    seeds_of,
    take_forward,
)
from mycel.kernel.differentiate.reverse import ZEROS, reverse
from mycel.kernel.record.stream import Stream, current_stream, record
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.transform.vmap import vmap


def _recorded(task: Derivative, stream: Stream, args: list) -> tuple:
    """A forward record, its nodes and the hooks on its Values."""
    scope = stream.scope
    assert scope.tape is not None
    taken = take_forward(task, stream, args, {})
    return taken, scope.tape[taken.start :], dict(scope.hooks or {})


class Pullback:
    """A function recorded once; called with gradients of its outputs, it gives those of its inputs.

    Attributes:
        output: what the function returned; `result` is the part that is differentiated.

    Args:
        begins: whether it is a derivative of its own, and none that continues another.
    """

    def __init__(self, task: Derivative, args, begins: bool = True):
        stream = current_stream()
        if begins:
            stream.boundary()
        self.task = task
        scope = stream.scope.differentiating()
        recorded = stream.within(scope, _recorded, task, stream, list(args))
        self.taken, self.nodes, self.hooks = recorded
        self.output: Any = self.taken.output
        self.result = self.taken.result

    def __call__(self, *gradients):
        stream = current_stream()
        seeds = seeds_of(self.result, gradients)
        before = stream.scope
        scope = before.differentiating().but(
            tape=before.tape, hooks={**(before.hooks or {}), **self.hooks}
        )
        reached = stream.within(scope, reverse, stream, self.nodes, seeds, self.taken.leaves, False)
        by_input, by_weight = arranged(self.taken, reached)
        return self.task.shaped(self.output, by_input, by_weight)

    @property
    def others(self) -> tuple:
        """What the function returned besides, as `has_aux` says, ready to be appended."""
        if not self.task.has_aux:
            return ()
        rest = tuple(self.output[1:])
        return (rest[0] if len(rest) == 1 else rest,)


def vjp(
    fn: Callable[..., Any],
    *inputs: Any,
    weights: Sequence[Any] | None = None,
    has_aux: bool = False,
) -> Any:
    """The result of `fn`, and a function from gradients of it to those of its inputs.

    Args:
        fn: a function or Cell.
        inputs: what it is called with.
        weights: Parameters to differentiate by as well, or None.
        has_aux: only the first output is differentiated; the others are returned last.

    Returns:
        `(result, vjp_fn)` or `(result, vjp_fn, others)`. `vjp_fn` takes one gradient for each
        output, of its shape, and returns a tuple with one for each input; with weights, a pair of
        that and the gradients of the weights. `fn` runs once.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: a gradient has another shape than its output, or their number differs.

    Source: MindSpore's `mindspore.vjp`.

    Example:
        >>> import mycel as ms
        >>> result, pull = ms.vjp(lambda x, y: x * y, ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0]))
        >>> print(result, *pull(ms.Tensor([1.0, 10.0])))
        [3. 8.] [ 3. 40.] [ 1. 20.]
    """
    returns = "inputs" if weights is None else "both"
    pull = Pullback(Derivative(fn, "all", weights, returns, has_aux), inputs)
    return (pull.result, pull, *pull.others)


def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> Any:
    """The result of `fn`, and how it changes along a direction of its inputs.

    Two reverses give it: the one of `fn` is linear in the gradient it is given, and its own reverse
    is the forward product. So `bprop` and hooks inside take part as they do in a reverse.

    Args:
        fn: a function or Cell.
        inputs: one input, or a tuple or list of them.
        v: the direction: for each input one of its shape.
        has_aux: only the first output is differentiated; the others are returned last.

    Returns:
        `(result, change)` or `(result, change, others)`.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: the directions have other shapes than the inputs, or their number differs.

    Source: MindSpore's `mindspore.jvp`.

    Example:
        >>> import mycel as ms
        >>> print(*ms.jvp(lambda x: x * x, ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 10.0])))
        [1. 4.] [ 2. 40.]
    """
    pull = _along_inputs(fn, inputs, has_aux)
    along = _directions(pull, v)
    return (pull.result, _changed(pull, _push(pull)(*along)), *pull.others)


def linearize(fn: Callable[..., Any], inputs: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The result of `fn`, and a function that says how it changes along a direction.

    `fn` is run once; every direction after that costs the forward product alone.

    Args:
        fn: a function or Cell.
        inputs: one input, or a tuple or list of them.

    Returns:
        `(result, change_along)`; the function takes for each input a direction of its shape, one
        or a tuple of them.

    Source: MindSpore's `mindspore.ops.linearize`.

    Example:
        >>> result, change_along = ms.ops.linearize(lambda x: x * x, Tensor([1.0, 2.0]))
        >>> print(result, change_along(Tensor([1.0, 10.0])))
        [1. 4.] [ 2. 40.]
    """
    pull = _along_inputs(fn, inputs, False)
    push = _push(pull)
    return pull.result, lambda v: _changed(pull, push(*_directions(pull, v)))


def _along_inputs(fn, inputs, has_aux: bool) -> Pullback:
    given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    return Pullback(Derivative(fn, "all", None, "inputs", has_aux), given)


def _directions(pull: Pullback, v) -> Sequence:
    along = v if isinstance(v, (tuple, list)) else (v,)
    shapes = [[leaf.shape for leaf in _tensors(list(part))] for part in (pull.taken.args, along)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"jvp got directions of shapes {shapes[1]} for inputs of shapes {shapes[0]} "
            f"(at {user_place(2)})."
        )
    return along


def _changed(pull: Pullback, changes):
    """The result with changes in the place of its Tensors."""
    found = iter(changes)
    return tree_map(lambda leaf: next(found) if isinstance(leaf, Tensor) else leaf, pull.result)


def _push(pull: Pullback) -> Pullback:
    """From directions of the inputs to changes of the outputs, a tuple."""
    start = [_zeros(leaf) for leaf in _tensors(pull.result)]
    return Pullback(Derivative(lambda *seeds: pull(*seeds), "all", None, "inputs"), start, False)


def jacrev(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `fn`, by one reverse for all elements of an output.

    Args:
        fn: a function or Cell.
        grad_position: by which inputs: a number, or a tuple of numbers.
        has_aux: only the first output is differentiated; the others are returned beside.

    Returns:
        A function with the inputs of `fn`. Its result has the shape of the output followed by that
        of the input; a tuple by input if `grad_position` is one, and around it a tuple by output if
        `fn` has several. With `has_aux` a pair of that and the other outputs.

    Raises:
        TypeError: `grad_position` is not a number or tuple of them; `fn` cannot be called.
        ValueError: no such input.

    Source: MindSpore's `mindspore.jacrev`.

    Example:
        >>> import mycel as ms
        >>> print(ms.jacrev(lambda x: x * x.sum())(ms.Tensor([1.0, 2.0])))
        [[4. 1.]
         [2. 5.]]
    """
    return _Jacobian(fn, grad_position, has_aux, _by_outputs)


def jacfwd(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `fn`, computed in forward mode.

    It gives what `jacrev` gives, and is cheaper where there are more outputs than inputs.

    Args:
        fn: a function or Cell.
        grad_position: the inputs by which it is differentiated: a number, 0 by default, or a tuple
            of numbers.
        has_aux: whether only the first output is differentiated and the others are returned with
            it; False by default.

    Source: MindSpore's `mindspore.jacfwd`.

    Example:
        >>> import mycel as ms
        >>> print(ms.jacfwd(lambda x: ms.ops.stack((x.sum(), x.prod())))(ms.Tensor([3.0, 2.0])))
        [[1. 1.]
         [2. 3.]]
    """
    return _Jacobian(fn, grad_position, has_aux, _by_inputs)


class _Jacobian:
    """The function that `jacrev` and `jacfwd` return."""

    def __init__(self, fn, grad_position, has_aux: bool, compute: Callable):
        check_positions(grad_position)
        if grad_position is None:
            raise TypeError("grad_position of a Jacobian must name inputs: a number or a tuple.")
        self.single = not isinstance(grad_position, tuple)
        positions = (grad_position,) if self.single else grad_position
        self.task = Derivative(fn, positions, None, "inputs", has_aux)
        self.compute = compute
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, *args):
        pull = Pullback(self.task, args)
        inputs = [args[position] for position in self.task.positions]
        inputs = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
        rows = self.compute(pull, inputs, _tensors(pull.result))
        entries = iter([row[0] if self.single else tuple(row) for row in rows])
        jacobian = tree_map(
            lambda leaf: next(entries) if isinstance(leaf, Tensor) else leaf, pull.result
        )
        return (jacobian, *pull.others) if self.task.has_aux else jacobian


def _by_outputs(pull: Pullback, inputs, outputs) -> list[list[Tensor]]:
    zeros = [_zeros(output) for output in outputs]

    def jacobians(number, output):
        def row(seed):
            return pull(*[seed if n == number else zero for n, zero in enumerate(zeros)])

        rows: Any = vmap(row)(_basis(output))
        return [r.reshape(output.shape + x.shape) for r, x in zip(rows, inputs, strict=True)]

    return [jacobians(number, output) for number, output in enumerate(outputs)]


def _by_inputs(pull: Pullback, inputs, outputs) -> list[list[Tensor]]:
    push = _push(pull)
    zeros = [_zeros(x) for x in inputs]

    def jacobians(number, x):
        def row(direction):
            return push(*[direction if n == number else zero for n, zero in enumerate(zeros)])

        # The rows go behind the axes of the output.
        columns: Any = vmap(row, out_axes=-1)(_basis(x))
        return [c.reshape(y.shape + x.shape) for c, y in zip(columns, outputs, strict=True)]

    by_input = [jacobians(number, x) for number, x in enumerate(inputs)]
    return [list(row) for row in zip(*by_input, strict=True)]


def _tensors(tree) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _zeros(like: Tensor) -> Tensor:
    return new_tensor(one_of(record(ZEROS, (resolve(like),))))


def _basis(like: Tensor) -> Tensor:
    """The unit vectors of all elements, one behind the other."""
    return new_tensor(one_of(record(_units(like.shape, like.dtype.numpy), ())))


@functools.cache
def _units(shape: tuple[int, ...], dtype) -> Op:
    size = 1
    for length in shape:
        size *= length
    return Op("units", lambda: jnp.eye(size, dtype=dtype).reshape(size, *shape))
