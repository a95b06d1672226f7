# SPDX-License-Identifier: Apache-2.0
"""What the checks of the model zoo agree on: image sizes, inputs, and how names are digested.

Only NumPy is imported, because these lines run under mycel and under real MindSpore alike.
"""

from __future__ import annotations

import gc
import hashlib
import json

import numpy as np

CLASSES = 10
BATCH = 2
# What runs with the other tests: its outputs under MindSpore are in `outputs.json`.
TINY = ("mobilenet_v3_small_075", "mobilevit_xx_small", "regnet_x_200mf")
# These bring weights of Float16, and so are made for mixed precision alone.
MIXED = ("volo_d1", "volo_d2", "volo_d3", "volo_d4", "volo_d5")
# At 448 pixels this one alone needs more memory than there is for two images.
ONE_IMAGE = ("cait_m48_448",)
# An architecture is checked at the first of these sizes at which it computes anything.
SIZES = (64, 96, 128, 160, 192, 224, 240, 256, 299, 331, 384, 448)


def parameter_facts(network) -> dict:
    """How many parameters and weights a network has, and a digest of all names.

    Names are the path in the network and the name in a checkpoint; shapes and types belong to it.
    """
    rows = [
        [name, parameter.name, list(parameter.shape), str(parameter.dtype)]
        for name, parameter in network.parameters_and_names()
    ]
    text = json.dumps(rows)
    return {
        "parameters": len(rows),
        "weights": sum(int(np.prod(shape, dtype=np.int64)) for _, _, shape, _ in rows),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
    }


def images(size: int, count: int = BATCH) -> np.ndarray:
    """The images of every check."""
    shape = (count, 3, size, size)
    return np.random.default_rng(size).standard_normal(shape).astype(np.float32)


def labels(count: int = BATCH) -> np.ndarray:
    """The classes of these images."""
    return np.arange(count, dtype=np.int32) * 3 % CLASSES


def moved(name: str, value: np.ndarray) -> np.ndarray:
    """A constant parameter with noise added, so that no zero or one of it hides what it does.

    Many last scales of a block begin as 0; with them whole blocks would not be compared at all.
    Variances stay positive; numbers that are not floating, and what is not constant, stay.
    """
    if value.dtype.kind != "f" or value.size < 2 or np.ptp(value) != 0:
        return value
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
    noise = np.random.default_rng(seed).uniform(-0.2, 0.2, value.shape)
    return (value + noise).astype(value.dtype)


def drawn(name: str, shape: tuple) -> np.ndarray:
    """The weights of a parameter, from its name alone, so that they need not be kept.

    Of the size that keeps a network's numbers within reach; variances are positive.
    """
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
    draw = np.random.default_rng(seed)
    if name.endswith("moving_variance"):
        value = draw.uniform(0.5, 1.5, shape)
    elif len(shape) > 1:
        value = draw.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
    else:
        value = draw.uniform(-0.2, 0.2, shape) + name.endswith("gamma")
    return value.astype(np.float32)


def apart(losses: dict[str, list[float]]) -> float:
    """How far the losses of the two modes are from each other, relative to those of PyNative."""
    pynative, graph = np.array(losses["pynative"]), np.array(losses["graph"])
    return float((np.abs(pynative - graph) / np.abs(pynative)).max())


def first_size(attempt, sizes=SIZES):
    """The first size at which `attempt(size)` returns, and what it returned.

    Raises:
        Exception: if none will do: that of 224, which nearly all are made for, or of the last.
    """
    errors = {}
    for size in sizes:
        try:
            return size, attempt(size)
        except Exception as error:
            # What failed would keep its whole network in memory otherwise.
            error.__cause__ = error.__context__ = None
            errors[size] = error.with_traceback(None)
        gc.collect()
    raise errors.get(224, errors[sizes[-1]])
