# SPDX-License-Identifier: Apache-2.0
"""Hooks as operators: what is passed through them is unchanged, its gradient can be seen."""

from __future__ import annotations

from collections.abc import Callable

from mycel.kernel.differentiate.fire import watch_gradients
from mycel.kernel.record.hooks import check_hook
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive


class HookBackward(Primitive):
    """The inputs unchanged; in the reverse `hook_fn(gradients)` is called with a tuple.

    A Tensor or tuple that the hook returns replaces the gradients. It is called at every run, also
    in compiled code.

    Args:
        hook_fn: called with a tuple of one gradient per input.
        cell_id: kept as an attribute; nothing depends on it.

    Raises:
        TypeError: the hook cannot be called, or an input is not a Tensor.
        ValueError: the hook returns a gradient of another shape or type.

    Source: MindSpore's `mindspore.ops.HookBackward`.

    Example:
        >>> hook = ops.HookBackward(print)
        >>> gradient = ms.grad(lambda x: hook(x * x) * 3)(Tensor(2.0))
        (Tensor(shape=[], dtype=Float32, value= 3),)
        >>> print(gradient)
        12.0
    """

    def __init__(self, hook_fn: Callable, cell_id: str = ""):
        super().__init__("HookBackward")
        check_hook(hook_fn)
        self.hook_fn = hook_fn
        self.cell_id = cell_id

    def __call__(self, *inputs):
        """The inputs: one as it is, several as a tuple."""
        _check_tensors(self.name, inputs)
        passed = watch_gradients(inputs, self.hook_fn, "HookBackward hook")
        return passed[0] if len(passed) == 1 else passed


class InsertGradientOf(Primitive):
    """The input unchanged; in the reverse its gradient is what `f(gradient)` returns.

    Args:
        f: called with the gradient; None keeps it.

    Raises:
        TypeError: `f` cannot be called, or the input is not a Tensor.
        ValueError: `f` returns a gradient of another shape or type.

    Source: MindSpore's `mindspore.ops.InsertGradientOf`.

    Example:
        >>> clip = ops.InsertGradientOf(lambda gradient: ops.clip(gradient, -1.0, 1.0))
        >>> print(ms.grad(lambda x: clip(x) * 5)(Tensor(2.0)))
        1.0
    """

    def __init__(self, f: Callable):
        super().__init__("InsertGradientOf")
        check_hook(f)
        self.f = f

    def __call__(self, x):
        """x itself."""
        _check_tensors(self.name, (x,))
        return watch_gradients((x,), self.f, "InsertGradientOf hook", alone=True)[0]


def _check_tensors(name: str, inputs) -> None:
    for given in inputs:
        if not isinstance(given, Tensor):
            raise TypeError(f"{name} passes Tensors on, but {type(given).__name__} was given.")
