# SPDX-License-Identifier: Apache-2.0
"""capture: what Cells are given, what they and their operators give, and the gradients of that."""

from __future__ import annotations

from typing import Any

from mycel.debug.operators import begin, check_met, watched
from mycel.debug.paths import Calls, Target, check_called, targets_of
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.base.trees import tree_map
from mycel.kernel.record.stream import current_stream
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.nn.cell import Cell


class Kept(dict):
    """Values by path; one that is not there is an error that says what is."""

    def __missing__(self, path):
        there = ", ".join(map(repr, self)) or "nothing"
        raise KeyError(
            f"{path!r} was not captured (at {user_place(2)}): it was not called, or not asked for. "
            f"There is {there}."
        )


class Captured(Kept):
    """What was captured in the latest call, by the paths of the Cells.

    The items are the outputs, or, where these were not asked for, the inputs or the gradients.

    Attributes:
        inputs: what each Cell was given: its one argument, or a tuple of them.
        outputs: what each Cell, or operator, gave.
        gradients: the gradients of what each Cell, or operator, gave.
    """

    def __init__(self, net: Cell, patterns: tuple, inputs: bool, outputs: bool, gradients: bool):
        super().__init__()
        asked = {"inputs": inputs, "outputs": outputs, "gradients": gradients}
        for name, value in asked.items():
            if not isinstance(value, bool):
                raise wrong(TypeError, f"{name} of capture", "True or False", repr(value))
        if True not in asked.values():
            raise ValueError(
                "capture has nothing to capture: one of inputs, outputs and gradients must be True "
                f"(at {user_place(3)})."
            )
        self._targets = targets_of(net, patterns or ("**",))
        operators = [target.pattern for target in self._targets if target.operator]
        if inputs and operators:
            raise ValueError(
                f"inputs=True is for Cells, not for operators as {operators[0]!r} (at "
                f"{user_place(3)}): capture what gives them."
            )
        self._net = net
        self._asked = inputs, outputs, gradients
        self.outputs: dict[str, Any] = self if outputs else Kept()
        self.inputs: dict[str, Any] = Kept() if outputs or not inputs else self
        self.gradients: dict[str, Any] = Kept() if outputs or inputs else self
        self._handles: list = []
        self._calls = Calls()
        self._called = False
        self._watches = watched(self._targets, self._calls, self._operator)

    def __enter__(self) -> Captured:
        if self._handles:
            raise RuntimeError(f"This capture has begun already (at {user_place(2)}).")
        try:
            self._handles += self._calls.follow(self._net, lambda: self._begin(True))
            by_path: dict[str, list[Target]] = {}
            for target in self._targets:
                if not target.operator:
                    by_path.setdefault(target.path, []).append(target)
            for path, cell in self._net.cells_and_names():
                if path in by_path:
                    hook = self._hook(by_path[path])
                    self._handles.append(cell.register_forward_hook(hook))
            self._handles += begin(self._watches)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind, *_) -> None:
        self._end()
        if kind is None and self._called:
            check_called(self._targets, self._calls.most)
            check_met(self._watches)

    def _end(self) -> None:
        while self._handles:
            self._handles.pop().remove()
        self._calls.forget()

    def _begin(self, outermost: bool = False) -> None:
        """Forget the call before, unless this is still the same."""
        self._called = True
        if self._calls.begins(outermost):
            for kept in (self.inputs, self.outputs, self.gradients):
                kept.clear()

    def _hook(self, targets: list[Target]):
        path = targets[0].path

        def captured(cell, args, output):
            self._begin()
            call = self._calls.number(path)
            if any(target.is_at(call) for target in targets):
                self._keep(_numbered(path, call), output, args)

        return captured

    def _operator(self, target: Target, call: int, name: str, number: int, output) -> None:
        self._keep(f"{_numbered(target.path, call)}:{_numbered(name, number)}", output)

    def _keep(self, name: str, output, args: tuple = ()) -> None:
        inputs, outputs, gradients = self._asked
        if inputs:
            self.inputs[name] = _as_now(args[0] if len(args) == 1 else args)
        if outputs:
            self.outputs[name] = _as_now(output)
        if gradients and current_stream().of_rows:
            raise TypeError(
                f"capture(gradients=True) meets {name!r} inside vmap (at {user_place(2)}), where a "
                "gradient stands for many rows and has no values. Return what is looked for from "
                "the mapped function, as vmap(grad(f)) does, or loop over the rows."
            )
        if gradients and current_stream().scope.depth:
            self._hook_gradients(name, output)

    def _hook_gradients(self, name: str, output) -> None:
        """Keep the gradient of a Tensor, or those of the Tensors in a tuple or list."""
        if isinstance(output, Tensor):
            output.register_hook(self._gradient_hook(name, 0, 0))
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                if isinstance(part, Tensor):
                    part.register_hook(self._gradient_hook(name, index, len(output)))

    def _gradient_hook(self, name: str, index: int, several: int):
        gradients = self.gradients

        def captured(gradient):
            gradient = _as_now(gradient)
            if several:
                parts = list(gradients.get(name, [None] * several))
                parts[index] = gradient
                gradients[name] = tuple(parts)
            else:
                gradients[name] = gradient

        return captured


def _as_now(values):
    """Values as they are now: the program may change its Tensors in place."""
    return tree_map(lambda x: new_tensor(resolve(x)) if isinstance(x, Tensor) else x, values)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}#{number}"


def capture(
    net: Cell,
    *paths: str,
    inputs: bool = False,
    outputs: bool = True,
    gradients: bool = False,
) -> Captured:
    """Keep what Cells are given, and what they and their operators give, while a block runs.

    It works in PyNative, in `@jit` and in `GRAPH_MODE`, and compiled functions stay compiled: the
    values are those of the compiled program. Each call of the network, or of the derivative or the
    compiled function around it, starts anew. Inside `vmap` what is kept is a row without values:
    to look at it is an error.

    Args:
        net: the network.
        paths: paths of Cells as of `cells_and_names()`, with `*` for any part of one name and `**`
            for any number of names; all Cells if there is none. The network itself is `""`.
            `path:relu` are the operators of that name that a Cell itself runs; `#2` behind a path
            or an operator is the second of them in one call of the network or of the Cell.
        inputs: whether to keep what each Cell was given. Default: False.
        outputs: whether to keep what each Cell gave. Default: True.
        gradients: whether to keep the gradients of what each Cell gave. Default: False.

    Returns:
        A context manager that gives a dict by path, with the further dicts `inputs`, `outputs` and
        `gradients`. A second call of one Cell is at `path#2`, what operators gave at
        `path:matmul`, `path:matmul#2` and so on.

    Raises:
        ValueError: no Cell has such a path, or nothing is to be kept. At the end of a
            block in which something was called: a Cell, a call `#2` of it, or an operator that a
            path means never came.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1))
        >>> with ms.debug.capture(net, "*", gradients=True) as kept:
        ...     gradient = ms.grad(lambda x: net(x).sum())(Tensor([[1.0, 2.0]]))
        >>> {path: value.shape for path, value in kept.items()}
        {'0': (1, 3), '1': (1, 3), '2': (1, 1)}
        >>> kept.gradients["2"]
        Tensor(shape=[1, 1], dtype=Float32, value=
        [[ 1.00000000e+00]])
        >>> with ms.debug.capture(net, "**:relu") as kept:
        ...     result = net(Tensor([[1.0, 2.0]]))
        >>> list(kept)
        ['1:relu']
    """
    return Captured(net, paths, inputs, outputs, gradients)
