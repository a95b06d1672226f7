# SPDX-License-Identifier: Apache-2.0
"""Names of MindSpore's own that programs import: some act, some are only looked at."""

from __future__ import annotations

import logging
import os
from typing import Any

import numpy as np

from mycel import ops
from mycel.amp.managers import DynamicLossScaleManager
from mycel.compat.types import Named
from mycel.kernel.base.context import get_context
from mycel.kernel.base.dtypes import float16, float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import note_once
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive
from mycel.nn.cell import Cell
from mycel.ops.user.composite import MultitypeFuncGraph
from mycel.train import folders

# What the levels of mixed precision stand for.
config_level = {
    level: {
        "keep_batchnorm_fp32": level == "O2",
        "cast_model_type": float16 if level in ("O2", "O3") else float32,
        "loss_scale_manager": DynamicLossScaleManager() if level == "O2" else None,
    }
    for level in ("O0", "O1", "O2", "O3", "auto")
}
INT32_MAX = int(np.iinfo(np.int32).max)
NO_REVERSE = (
    "bprop_getters.register({name}): the reverse of an operator cannot be replaced. Call the "
    "operator in the `construct` of a Cell, and give that Cell a `bprop`."
)
WITHOUT_REVERSE = (
    "bprop_getters.register({name}) has no effect here: call the Primitive in the `construct` of a "
    "Cell that has a `bprop`."
)
# What MindSpore's generated code takes for an argument that was not given.
empty_instance = Named("_empty_instance")


def get_mode() -> int:
    """The mode: `mycel.GRAPH_MODE` or `mycel.PYNATIVE_MODE`.

    Source: MindSpore's `mindspore.context._get_mode`.

    Example:
        >>> from mycel.compat.internals import get_mode
        >>> get_mode() == ms.PYNATIVE_MODE
        True
    """
    return get_context("mode")


def reset_op_id() -> None:
    """Accepted: operators are not counted here.

    Source: MindSpore's `mindspore._c_expression.reset_op_id`.

    Example:
        >>> from mycel.compat.internals import reset_op_id
        >>> reset_op_id()
    """


def pyboost_empty(arguments: list[Any]) -> Tensor:
    """A Tensor to be filled: zeros here.

    Args:
        arguments: the shape, the element type and the device; the last is not looked at.

    Source: MindSpore's `mindspore._c_expression.pyboost_empty`.

    Example:
        >>> from mycel.compat.internals import pyboost_empty
        >>> pyboost_empty([(2, 3), ms.float16, None]).shape
        (2, 3)
    """
    size, dtype, *_ = arguments
    return ops.zeros(tuple(size), dtype)


def set_prim_op_user_data(prim: Any, key: str, value: Any) -> Any:
    """The Primitive: what MindSpore's kernels are told besides has no meaning here.

    Source: MindSpore's `mindspore.ops.function.random_func._set_prim_op_user_data`.

    Example:
        >>> from mycel.compat.internals import set_prim_op_user_data
        >>> set_prim_op_user_data(ops.ReLU(), "random_cache", False)(Tensor([-1.0]))
        Tensor(shape=[1], dtype=Float32, value= [ 0.00000000e+00])
    """
    del key, value
    return prim


def make_directory(path: Any, arg_name: str = "path") -> str:
    """The full path of a folder, which is made if nothing is there; a file is left as it is.

    Source: MindSpore's `mindspore.train._utils._make_directory`.

    Example:
        >>> from mycel.compat.internals import make_directory
        >>> place = getfixture("tmp_path") / "a.ckpt"
        >>> place.write_bytes(b"...")
        3
        >>> make_directory(str(place)) == str(place)
        True
    """
    if isinstance(path, (str, os.PathLike)) and os.path.exists(path):
        return os.path.realpath(os.fspath(path))
    return folders.make_directory(path, arg_name)


def raise_value_error(info: str, param: object = None) -> None:
    """Raise a ValueError, with a value behind its text if one is given.

    Source: MindSpore's `mindspore.numpy.utils_const._raise_value_error`.

    Example:
        >>> from mycel.compat.internals import raise_value_error
        >>> raise_value_error("too large: ", 3)
        Traceback (most recent call last):
        ...
        ValueError: too large: 3
    """
    raise ValueError(info if param is None else f"{info}{param}")


class Reverses:
    """Where MindSpore's Primitives have their reverse: a program's own may be named here too.

    Example:
        >>> from mycel.compat.internals import reverses
        >>> @reverses.register(ops.Sin)
        ... def reverse(self):
        ...     return lambda x, out, dout: (dout * ops.cos(x),)
        Traceback (most recent call last):
        ...
        NotImplementedError: bprop_getters.register(Sin): the reverse of an operator cannot be ...
    """

    def register(self, prim: Any) -> Any:
        """A decorator that gives its function back; the reverse of our own operators stays.

        Args:
            prim: a class of Primitives, or a name.
        """
        kind = getattr(ops, prim, None) if isinstance(prim, str) else prim
        name = prim if isinstance(prim, str) else prim.__name__
        if kind is not None and kind.__module__.partition(".")[0] == "mycel":
            raise NotImplementedError(NO_REVERSE.format(name=name))
        note_once(WITHOUT_REVERSE.format(name=name), logging.WARNING)
        return lambda function: function


reverses = Reverses()


def inner_log_softmax(inputs: Tensor, axis: int) -> Tensor:
    """`ops.log_softmax`.

    Source: MindSpore's `mindspore.ops.function.nn_func._innner_log_softmax`.

    Example:
        >>> from mycel.compat.internals import inner_log_softmax
        >>> print(inner_log_softmax(Tensor([0.0, 0.0]), 0))
        [-0.6931472 -0.6931472]
    """
    return ops.log_softmax(inputs, axis)


def check_input_3d(input_shape: tuple[int, ...], op_name: str) -> None:
    """Raise a ValueError unless there are three dimensions.

    Source: MindSpore's `mindspore.nn.layer.conv._check_input_3d`.

    Example:
        >>> from mycel.compat.internals import check_input_3d
        >>> check_input_3d((2, 3), "Conv1d")
        Traceback (most recent call last):
        ...
        ValueError: Conv1d: the input must have 3 dimensions, but shape (2, 3) was given.
    """
    if len(input_shape) != 3:
        given = f"shape {tuple(input_shape)} was given"
        raise ValueError(f"{op_name}: the input must have 3 dimensions, but {given}.")


class DiscountedReturn(Primitive):
    """What is still to come at each step, later rewards counting less: `r + gamma * next`, and
    nothing of what follows where an episode is done. MindSpore has it on GPUs.

    Args:
        gamma: above 0 and up to 1.

    Source: MindSpore's `mindspore.ops.operations._rl_inner_ops.DiscountedReturn`.

    Example:
        >>> from mycel.compat.internals import DiscountedReturn
        >>> reward, done = Tensor([[1.0], [1.0], [1.0]]), Tensor([[False], [True], [False]])
        >>> print(DiscountedReturn(0.5)(reward, done, Tensor([8.0])).T)
        [[1.5 1.  5. ]]
    """

    def __init__(self, gamma: float):
        super().__init__("DiscountedReturn")
        if not 0 < gamma <= 1:
            raise wrong(ValueError, "DiscountedReturn: gamma", "above 0 and up to 1", gamma)
        self.gamma = gamma

    def __call__(self, reward: Tensor, done: Tensor, last_state_value: Tensor) -> Tensor:
        """Rewards and ends by step and row, and the value of the state after the last step."""
        goes_on = ops.logical_not(done).astype(reward.dtype)
        goes_on = goes_on.reshape(goes_on.shape + (1,) * (reward.ndim - goes_on.ndim))
        found, value = [], last_state_value
        for step in reversed(range(reward.shape[0])):
            value = reward[step] + goes_on[step] * self.gamma * value
            found.append(value)
        return ops.stack(found[::-1])


class VirtualDataset:
    """An operator that gives its inputs as they are: on one device they need no other layout.

    Source: MindSpore's `mindspore.ops.operations._VirtualDataset`.

    Example:
        >>> from mycel.compat.internals import VirtualDataset
        >>> VirtualDataset()(1, 2)
        (1, 2)
    """

    def __call__(self, *inputs: Any) -> Any:
        """The inputs."""
        return inputs

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> VirtualDataset:
        """Accepted: there is one device."""
        del in_strategy, out_strategy
        return self


def _unscaled(scale: Any, gradient: Tensor) -> Tensor:
    return gradient * (1 / Tensor(scale)).astype(gradient.dtype)


grad_scale = MultitypeFuncGraph("grad_scale")
grad_scale.register("Tensor", "Tensor")(_unscaled)
shard_grad_scale = MultitypeFuncGraph("shard_grad_scale")


@shard_grad_scale.register("Tensor", "Tensor", "Tensor")
def _unscaled_sum(scale: Tensor, gradient: Tensor, accumulated: Tensor) -> Tensor:
    return _unscaled(scale, gradient + accumulated)


class FunctionContext:
    """What a `Function` keeps from its forward pass for the reverse.

    Example:
        >>> from mycel.compat.internals import FunctionContext
        >>> context = FunctionContext((True, False))
        >>> context.save_for_backward(Tensor([1.0]))
        >>> print(context.saved_tensors[0], context.needs_input_grad)
        [1.] (True, False)
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()
        self.materialize_grads = True
        self._without_gradient: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep Tensors: `saved_tensors` has them in the reverse."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Of these results `backward` is given zeros."""
        self._without_gradient = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Accepted: values that are changed in place are seen here."""

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` is given zeros, and not None, of results that nothing depends on."""
        self.materialize_grads = value


class Function:
    """A function with a reverse of its own: subclasses have static `forward` and `backward`.

    `forward(ctx, *inputs)` computes; `backward(ctx, *gradients)` gives a gradient for each input,
    None for zeros; of a tuple among the inputs, one for each Tensor in it. With a static
    `setup_context(ctx, inputs, output)`, `forward(*inputs)` has no `ctx`. The reverse computes the
    forward pass once more, so that what `ctx` keeps belongs to it.

    Source: MindSpore's `mindspore._Function`.

    Example:
        >>> class Cube(ms._Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x * x
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         (x,) = ctx.saved_tensors
        ...         return 3 * x * x * gradient
        >>> print(ms.grad(Cube.apply)(Tensor(2.0)))
        12.0
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """What is computed; subclasses say it."""
        raise NotImplementedError("A Function needs a static forward(ctx, *inputs).")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs; subclasses say it."""
        raise NotImplementedError("A Function needs a static backward(ctx, *gradients).")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call it."""
        return _Applied(cls)(*args)


class _Applied(Cell):
    """A call of a Function, whose reverse is that of the Function."""

    # What nothing depends on is None in `bprop`.
    _knows_unused = True

    def __init__(self, kind: type[Function]):
        super().__init__(auto_prefix=False)
        self._kind = kind
        self._reverse_name = f"{kind.__name__}.backward"

    def _forward(self, inputs: tuple[Any, ...]) -> tuple[FunctionContext, Any]:
        kind, context = self._kind, FunctionContext(tuple([isinstance(x, Tensor) for x in inputs]))
        set_up = getattr(kind, "setup_context", None)
        if set_up is None:
            return context, kind.forward(context, *inputs)
        output = kind.forward(*inputs)
        set_up(context, inputs, output)
        return context, output

    def construct(self, *inputs):
        """The forward pass."""
        return self._forward(inputs)[1]

    def bprop(self, *given):
        """The gradients of the inputs."""
        *inputs, _, dout = given
        context, outputs = self._forward(tuple(inputs))
        pairs = zip(_in_tuple(outputs), _in_tuple(dout), strict=True)
        arriving = [_gradient_of(output, one, context) for output, one in pairs]
        gradients = _in_tuple(self._kind.backward(context, *arriving))
        leaves = tree_leaves(tuple(inputs))
        if len(gradients) < len(leaves) or any(g is not None for g in gradients[len(leaves) :]):
            actual = f"{len(gradients)}"
            raise wrong(
                ValueError, f"What {self._reverse_name} returns", f"{len(leaves)} gradients", actual
            )
        pairs = zip(leaves, gradients, strict=False)
        fitting = iter([
            ops.zeros_like(x) if gradient is None else gradient
            for x, gradient in pairs
            if isinstance(x, Tensor)
        ])  # fmt: skip
        return tuple([
            [next(fitting) for leaf in tree_leaves(x) if isinstance(leaf, Tensor)] for x in inputs
        ])  # fmt: skip


def _in_tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def _gradient_of(output: Any, given: Any, context: FunctionContext) -> Any:
    """The gradient of a result, as `backward` is given it."""
    if any(output is one for one in context._without_gradient):
        return ops.zeros_like(output)
    if given is None and context.materialize_grads and isinstance(output, Tensor):
        return ops.zeros_like(output)
    return given
