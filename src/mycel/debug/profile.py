# SPDX-License-Identifier: Apache-2.0
"""profile: where the time of a step goes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from mycel.kernel.base.errors import wrong

MODES = ("xla", "direct")


def profile(
    step: Callable[..., Any] | None = None,
    *inputs: Any,
    steps: int = 10,
    warm_up: int = 5,
    data: Iterable | None = None,
    mode: str = "xla",
    folder: str | None = None,
) -> Any:
    """Where the time of a step goes: by Cell and operator, forward and reverse apart.

    `profile(step, x, y)` calls the step some times and gives a Profile: times, floating-point
    operations, bytes and memory for each Cell and each operator; what was spent on compilation, on
    Python and on waiting for data. `with profile() as found:` looks at whatever runs in a block,
    such as `Model.train`. Without a profile nothing is noted and nothing costs anything; in one,
    each program is compiled once more with the names of Cells in it, which are no part of what
    runs.

    Args:
        step: what is called: a function, compiled or not, or a Cell. None for a block.
        inputs: what it is called with.
        steps: how many calls are profiled. Default: 10.
        warm_up: how many calls there are before, so that all is compiled. Default: 5.
        data: a dataset, or an iterable of batches; each call is given the next batch behind
            `inputs`, from the beginning again when they end. Default: None.
        mode: "xla" for XLA's own profile of the compiled programs; "direct" runs the operators one
            by one and times each. Default: "xla".
        folder: where XLA's own profile is kept, for TensorBoard; by default it is not.

    Raises:
        ValueError: `steps` is less than 1, `warm_up` less than 0, or there is no such mode.
        TypeError: `step` cannot be called.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(64, 256), nn.ReLU(), nn.Dense(256, 8))
        >>> x = Tensor(np.ones((32, 64), np.float32))
        >>> found = ms.debug.profile(ms.jit(lambda x: net(x)), x, steps=3)
        >>> [cell.path for cell in found.cells]
        ['SequentialCell', 'SequentialCell.0', 'SequentialCell.1', 'SequentialCell.2']
        >>> dense = found.cells[1]
        >>> dense.flops >= 2 * 32 * 64 * 256, dense.reverse, sorted(found.parts)
        (True, 0.0, ['between operators', 'compilation', 'data', 'operators', 'python'])
    """
    if mode not in MODES:
        raise wrong(ValueError, "profile: mode", " or ".join(map(repr, MODES)), repr(mode))
    # Loaded when it is first asked for: it needs datasets and training.
    session = importlib.import_module("mycel.debug.profiling.session")
    if step is None:
        return session.Profiled(mode, folder)
    if not callable(step):
        raise wrong(TypeError, "profile: step", "a function or a Cell", type(step).__name__)
    for name, value, least in (("steps", steps, 1), ("warm_up", warm_up, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise wrong(ValueError, f"profile: {name}", f"an integer from {least} on", repr(value))
    return session.run(step, inputs, steps, warm_up, data, mode, folder)
