# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: how one is declared, and small data of one shape."""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mycel import Parameter, Tensor, nn, ops

# Calls of each program.
CALLS = 14
# Calls that are recorded before one is replayed, for each state that a program goes through.
RECORDINGS = 2

PROGRAMS: dict[str, Natural] = {}

log = logging.getLogger("natural")


@dataclass(frozen=True)
class Natural:
    """A program: `build(jit)` gives `loop(i)`, the body of its training loop, and `state()`.

    Attributes:
        build: makes the program anew. `jit.step` and `jit.construct` decorate what is compiled.
        replays: how many of its calls must be replayed; 0 where the program has effects.
        rounded: its Python state holds numbers that were read of Tensors.
    """

    build: Callable
    replays: int = 0
    rounded: bool = False

    @property
    def effect_free(self) -> bool:
        return self.replays > 0

    @functools.cached_property
    def body(self) -> str:
        return inspect.getsource(self.build).split("(jit):", 1)[1]

    @property
    def has_cell(self) -> bool:
        """Whether it has a `construct` of its own that can be compiled."""
        return re.search(r"jit\.construct|\(jit\b", self.body) is not None

    def least_replays(self, way: str) -> int:
        """How many calls must be replayed.

        Graph mode compiles Cells, derivatives and optimisers only; a compiled `construct` is just
        a method where something around it is differentiated.
        """
        derived = re.search(r"grad\(", self.body) is not None
        compiled = {
            "graph": self.has_cell or derived or "nn." in self.body,
            "construct": not derived,
        }
        return self.replays if compiled.get(way, True) else 0


def program(build: Callable | None = None, *, rounded: bool = False):
    """A program that may have effects: nothing is asked of its replays."""
    if build is None:
        return lambda build: program(build, rounded=rounded)
    return _declared(Natural(build, rounded=rounded))


def effect_free(build: Callable | None = None, *, states: int = 1, lost: int = 0):
    """A program without effects, which goes through so many states, and must be replayed.

    `lost` counts calls that cannot be replayed for a reason the program states.
    """
    if build is None:
        return lambda build: effect_free(build, states=states, lost=lost)
    return _declared(Natural(build, CALLS - RECORDINGS * states - lost))


def _declared(natural: Natural) -> Callable:
    name = natural.build.__name__
    assert name not in PROGRAMS, name
    PROGRAMS[name] = natural
    return natural.build


# -- data -------------------------------------------------------------------------------------

_DRAW = np.random.RandomState(7)
# Quarters: sums and products of few of them are exact, whatever the order.
BATCHES = [(_DRAW.randint(-4, 5, (2, 3)) / 4).astype(np.float32) for _ in range(3)]
WEIGHT = (_DRAW.randint(-4, 5, (3, 3)) / 4).astype(np.float32)


def batch(i: int) -> Tensor:
    """A new Tensor of shape (2, 3), as a loader gives; three of them in turn."""
    return Tensor(BATCHES[i % 3])


def weight(scale: float = 1.0) -> np.ndarray:
    """An array of shape (3, 3) to start from."""
    return WEIGHT * np.float32(scale)


def vector(*numbers) -> np.ndarray:
    return np.array(numbers or (1.0, 0.5, -0.5), np.float32)


def linear(jit, scale: float = 1.0):
    """A layer of the user's own: `x @ weight`."""

    class Linear(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(weight(scale), name="weight")

        @jit.construct
        def construct(self, x):
            return ops.matmul(x, self.weight)

    return Linear()


class Box:
    """Fields, as an options object has."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def after(i, when, change):
    """Change something before a call."""
    if i == when:
        change()
