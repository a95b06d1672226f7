# SPDX-License-Identifier: Apache-2.0
"""capture: what Cells are given, what they give, and the gradients of that, in a dict by path."""

from __future__ import annotations

from typing import Any

from mycel.debug.paths import cells_at
from mycel.kernel.base.places import user_place
from mycel.kernel.record.stream import current_stream
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell


class Captured(dict):
    """What was captured in the latest call, by the paths of the Cells.

    The items are the outputs, or, where these were not asked for, the inputs or the gradients.

    Attributes:
        inputs: what each Cell was given: its one argument, or a tuple of them.
        outputs: what each Cell gave.
        gradients: the gradients of what each Cell gave.
    """

    def __init__(self, net: Cell, patterns: tuple, inputs: bool, outputs: bool, gradients: bool):
        super().__init__()
        if not (inputs or outputs or gradients):
            raise ValueError(
                "capture has nothing to capture: one of inputs, outputs and gradients must be True "
                f"(at {user_place(3)})."
            )
        self._cells = cells_at(net, patterns or ("**",))
        self._net = net
        self._asked = inputs, outputs, gradients
        self.outputs: dict[str, Any] = self if outputs else {}
        self.inputs: dict[str, Any] = {} if outputs or not inputs else self
        self.gradients: dict[str, Any] = {} if outputs or inputs else self
        self._handles: list = []
        self._calls: dict[str, int] = {}
        self._within: object = None

    def __enter__(self) -> Captured:
        first = self._net.register_forward_pre_hook(lambda cell, args: self._begin(True))
        self._handles.append(first)
        for path, cell in self._cells.items():
            self._handles.append(cell.register_forward_hook(self._hook(path)))
        return self

    def __exit__(self, *_) -> None:
        while self._handles:
            self._handles.pop().remove()
        self._within = None

    def _begin(self, outermost: bool) -> None:
        """Forget the call before, unless this is still the same: one derivative, or one call of a
        compiled function."""
        scope = current_stream().scope
        within = scope.capture or scope.reversing
        if (within is None and outermost) or (within is not None and within is not self._within):
            for kept in (self.inputs, self.outputs, self.gradients, self._calls):
                kept.clear()
        self._within = within

    def _hook(self, path: str):
        inputs, outputs, gradients = self._asked

        def captured(cell, args, output):
            self._begin(False)
            number = self._calls[path] = self._calls.get(path, 0) + 1
            name = path if number == 1 else f"{path}#{number}"
            if inputs:
                self.inputs[name] = args[0] if len(args) == 1 else args
            if outputs:
                self.outputs[name] = output
            if gradients and current_stream().scope.depth:
                self._hook_gradients(name, output)

        return captured

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
            if several:
                parts = list(gradients.get(name, [None] * several))
                parts[index] = gradient
                gradients[name] = tuple(parts)
            else:
                gradients[name] = gradient

        return captured


def capture(
    net: Cell,
    *paths: str,
    inputs: bool = False,
    outputs: bool = True,
    gradients: bool = False,
) -> Captured:
    """Keep what Cells are given and give, by their paths, while a block runs.

    It works in PyNative, in `@jit` and in `GRAPH_MODE`, and compiled functions stay compiled: the
    values are those of the compiled program. Each call of the network, or of the derivative or the
    compiled function around it, starts anew.

    Args:
        net: the network.
        paths: paths of Cells as of `cells_and_names()`, with `*` for any part of one name and `**`
            for any number of names; all Cells if there is none. The network itself is `""`.
        inputs: whether to keep what each Cell was given. Default: False.
        outputs: whether to keep what each Cell gave. Default: True.
        gradients: whether to keep the gradients of what each Cell gave. Default: False.

    Returns:
        A context manager that gives a dict by path, with the further dicts `inputs`, `outputs` and
        `gradients`. A second call of one Cell is at `path#2`.

    Raises:
        ValueError: no Cell has such a path, or nothing is to be kept.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1))
        >>> with ms.debug.capture(net, "*", gradients=True) as kept:
        ...     gradient = ms.grad(lambda x: net(x).sum())(Tensor([[1.0, 2.0]]))
        >>> {path: value.shape for path, value in kept.items()}
        {'0': (1, 3), '1': (1, 3), '2': (1, 1)}
        >>> kept.gradients["2"]
        Tensor(shape=[1, 1], dtype=Float32, value=
        [[ 1.00000000e+00]])
    """
    return Captured(net, paths, inputs, outputs, gradients)
