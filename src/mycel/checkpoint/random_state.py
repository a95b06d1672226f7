# SPDX-License-Identifier: Apache-2.0
"""All random state, as arrays for a file: of operators, initialisers, NumPy and Python."""

from __future__ import annotations

import random

import numpy as np

from mycel.checkpoint.contents import Contents
from mycel.kernel.record.generator import default_generator, get_seed, restore_seed
from mycel.kernel.record.tensor import Tensor, update
from mycel.ops.random import drawing as draws

# What the names of the arrays begin with.
PREFIX = "random/"
_PYTHON, _NUMPY, _THREAD = f"{PREFIX}python", f"{PREFIX}numpy", f"{PREFIX}thread"
_SEEDED = f"{PREFIX}seed/"


def random_state() -> tuple[Contents, dict]:
    """The state of this thread's generators, of NumPy and of Python: arrays, and the rest."""
    version, words, normal = random.getstate()
    kind, keys, position, has_normal, cached = np.random.get_state()
    states: Contents = {
        _THREAD: np.asarray(default_generator().state),
        _PYTHON: np.array(words, np.uint32),
        _NUMPY: np.asarray(keys),
    }
    states |= {
        f"{_SEEDED}{seed}": np.asarray(g.state) for seed, g in draws.seeded_generators().items()
    }
    told = {
        "seed": get_seed(),
        "python": [version, normal],
        "numpy": [kind, int(position), int(has_normal), float(cached)],
    }
    return states, told


def set_random_state(states: Contents, told: dict) -> None:
    """Set what `random_state` gave."""
    restore_seed(told["seed"])
    update(default_generator().state, Tensor(states[_THREAD]))
    for name, state in states.items():
        if name.startswith(_SEEDED):
            generator = draws.generator_of(int(name.removeprefix(_SEEDED)))
            update(generator.state, Tensor(state))
    version, normal = told["python"]
    random.setstate((version, tuple(map(int, states[_PYTHON])), normal))
    kind, position, has_normal, cached = told["numpy"]
    np.random.set_state((kind, states[_NUMPY], position, has_normal, cached))
