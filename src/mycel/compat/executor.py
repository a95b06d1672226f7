# SPDX-License-Identifier: Apache-2.0
"""What programs ask of MindSpore's executor of single operators, `_pynative_executor`."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from mycel.debug import runtime
from mycel.kernel.base import log
from mycel.kernel.base.places import user_place
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.differentiate.api import seeds_of
from mycel.kernel.differentiate.reverse import reverse
from mycel.kernel.record.stream import current_stream, flush
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.transform.no_grad import no_grad

NOT_BEGUN = (
    "_pynative_executor.{name} (at {place}) needs {before} before it. What these three do, "
    "`value_and_grad(function, None, weights)(*inputs)` does in one call."
)


class ParamInfo:
    """What MindSpore's extension keeps of a Parameter; programs that make Tensors their own kind of
    Parameter set it, and nothing here reads it.

    Source: MindSpore's `mindspore._c_expression.ParamInfo`.

    Example:
        >>> from mycel.compat.executor import ParamInfo
        >>> ParamInfo().requires_grad
        True
    """

    def __init__(self):
        self.name = ""
        self.requires_grad = True
        self.layerwise_parallel = False
        self.parallel_optimizer = True
        self.parameter_shape: Any = ()


class _Noted(NamedTuple):
    """A stretch of the record that is to be differentiated: its nodes, hooks and result."""

    nodes: list
    hooks: dict
    output: Any


class PynativeExecutor:
    """What programs ask of MindSpore's executor of single operators.

    Example:
        >>> from mycel.compat.executor import pynative_executor
        >>> weight = Parameter(Tensor([2.0, 3.0]), name="weight")
        >>> forward = lambda: (weight * weight).sum()
        >>> pynative_executor.new_graph(forward)
        >>> loss = forward()
        >>> pynative_executor.end_graph(forward, loss)
        >>> by_weights = ops.GradOperation(get_by_list=True)
        >>> print(loss, *pynative_executor.grad(forward, by_weights, [weight], None))
        13.0 [4. 6.]
    """

    def __init__(self):
        self._own = threading.local()

    def _kept(self, name: str) -> list:
        return self._own.__dict__.setdefault(name, [])

    def new_graph(self, obj: Any, *args: Any, **kwargs: Any) -> None:
        """Note what is computed from here on, in order to differentiate it: until `end_graph`."""
        del obj, args, kwargs
        stream = current_stream()
        stream.boundary()
        before = stream.exchange(stream.scope.differentiating())
        self._kept("begun").append((before, len(stream.scope.tape or ())))

    def end_graph(self, obj: Any, output: Any, *args: Any, **kwargs: Any) -> None:
        """End what `new_graph` began: `grad` differentiates the output."""
        del obj, args, kwargs
        if not self._kept("begun"):
            raise RuntimeError(self._unready("end_graph", "new_graph"))
        before, start = self._kept("begun").pop()
        scope = current_stream().exchange(before)
        noted = _Noted((scope.tape or [])[start:], dict(scope.hooks or {}), output)
        self._kept("ended")[:] = [noted]

    def check_run(self, *args: Any, **kwargs: Any) -> bool:
        """Whether the forward pass must run once more before `grad`: no."""
        del args, kwargs
        return False

    def grad(self, obj: Any, grad: Any, weights: Any, grad_position: Any, *args: Any) -> Any:
        """The gradients of what ended last.

        Args:
            obj: accepted; which function it was.
            grad: a GradOperation: `get_by_list` asks for the weights, `get_all` for every input;
                with `sens_param` the last input is the gradient of the output.
            weights: Parameters, or other Tensors that the function read.
            grad_position: the numbers of inputs, or None.
            args: the inputs.

        Raises:
            RuntimeError: nothing has ended.
        """
        del obj
        if not self._kept("ended"):
            raise RuntimeError(self._unready("grad", "new_graph and end_graph"))
        noted = self._kept("ended").pop()
        inputs, sensitivity = list(args), None
        if grad.sens_param:
            sensitivity = inputs.pop()
        by_input = self._inputs(grad, grad_position, inputs)
        by_weight = list(weights or ()) if grad.get_by_list else []
        stream = current_stream()
        before = stream.scope
        scope = before.differentiating().but(
            tape=before.tape, hooks={**(before.hooks or {}), **noted.hooks}
        )
        leaves = [resolve(each) for each in (*by_input, *by_weight)]
        seeds = seeds_of(noted.output, sensitivity)
        found = stream.within(scope, reverse, stream, noted.nodes, seeds, leaves, False)
        gradients = [new_tensor(value) for value in found]
        of_inputs = tuple(gradients[: len(by_input)])
        of_weights = tuple(gradients[len(by_input) :])
        one = of_inputs if grad.get_all or len(of_inputs) != 1 else of_inputs[0]
        both = (one, of_weights) if by_input else of_weights
        answer = both if grad.get_by_list else one
        self._kept("answer")[:] = [answer]
        return answer

    def __call__(self) -> Any:
        """What `grad` gave last."""
        if not self._kept("answer"):
            raise RuntimeError(self._unready("__call__", "grad"))
        return self._kept("answer").pop()

    @staticmethod
    def _inputs(grad: Any, position: Any, args: list) -> list[Tensor]:
        """The inputs by which is differentiated."""
        if grad.get_all:
            return [leaf for leaf in tree_leaves(args) if isinstance(leaf, Tensor)]
        if position is None:
            return [] if grad.get_by_list else args[:1]
        return [args[at] for at in (position if isinstance(position, tuple) else (position,))]

    @staticmethod
    def _unready(name: str, before: str) -> str:
        return NOT_BEGUN.format(name=name, before=before, place=user_place())

    def sync(self) -> None:
        """Wait until everything that was asked for is computed."""
        runtime.synchronize()

    def enable_grad(self) -> bool:
        """Whether results may be differentiated: outside `_no_grad`, always."""
        scope = current_stream().scope
        return not self._kept("off") and (scope.tape is not None or not scope.depth)

    def set_enable_grad(self, flag: bool) -> None:
        """Let no gradient flow through what follows, until it is called with True."""
        off = self._kept("off")
        if not flag and not off:
            block = no_grad()
            block.__enter__()
            off.append((block, current_stream().scope))
        elif flag and off:
            block, scope = off.pop()
            # The end of a derivative has ended what was begun within it.
            if current_stream().scope is scope:
                block.__exit__(None, None, None)

    def requires_grad(self) -> bool:
        """Whether what is computed now is being differentiated."""
        return current_stream().scope.is_taped

    def grad_flag(self) -> bool:
        """Whether what is computed now is being differentiated."""
        return current_stream().scope.is_taped

    def set_grad_flag(self, flag: bool) -> None:
        """Noted, without effect: what is differentiated is noted by itself."""
        log.note_once(f"_pynative_executor.set_grad_flag({flag!r}) has no effect here")

    def set_async_for_graph(self, flag: bool) -> None:
        """Noted, without effect."""
        log.note_once(f"_pynative_executor.set_async_for_graph({flag!r}) has no effect here")

    def clear_res(self) -> None:
        """Compute what was asked for, and forget what `new_graph` began."""
        while self._kept("begun"):
            current_stream().exchange(self._kept("begun").pop()[0])
        self._kept("ended").clear()
        flush()


pynative_executor = PynativeExecutor()
