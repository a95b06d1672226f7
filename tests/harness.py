# SPDX-License-Identifier: Apache-2.0
"""Running one program in every execution: direct (operator by operator), fused, and graph.

Every numeric test goes through `run_everywhere`; each execution is then compared with the oracle.
"""

from __future__ import annotations

import contextlib

import numpy as np

import mycel as ms
from mycel.kernel.base.trees import tree_map
from mycel.kernel.execute import changing

EXECUTIONS = ("direct", "fused", "graph")

# By element type: how far two correct results may lie apart, relative and absolute.
TOLERANCE = {
    "float64": (1e-7, 1e-9),
    "float32": (2e-5, 1e-6),
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-2),
    "complex64": (2e-5, 1e-6),
    "complex128": (1e-7, 1e-9),
}


@contextlib.contextmanager
def execution(name: str):
    """Run a block directly, fused, or in Graph mode (where Cells and derivatives remember).

    Directly, XLA compiles every operator for its shapes, as many as there are.
    """
    ms.flush()
    at_once = changing.ALONE_AT_ONCE
    changing.ALONE_AT_ONCE = 1 << 60 if name == "direct" else at_once
    before = ms.get_context("mode"), ms.get_context("pynative_synchronize")
    ms.set_context(
        mode=ms.GRAPH_MODE if name == "graph" else ms.PYNATIVE_MODE,
        pynative_synchronize=name == "direct",
    )
    try:
        yield
    finally:
        ms.flush()
        ms.set_context(mode=before[0], pynative_synchronize=before[1])
        changing.ALONE_AT_ONCE = at_once


def as_numpy(tree):
    """A tree of Tensors as one of NumPy arrays; other leaves stay."""
    return tree_map(lambda leaf: leaf.asnumpy() if isinstance(leaf, ms.Tensor) else leaf, tree)


def as_tensors(tree):
    """A tree of NumPy arrays as one of Tensors; other leaves stay."""
    return tree_map(lambda leaf: ms.Tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, tree)


def run_everywhere(function, *inputs, replayed: bool = True) -> dict[str, object]:
    """The result of `function(*inputs)` in each execution, as NumPy trees.

    NumPy inputs become Tensors. In graph the function is a `jit` one, called until it is replayed;
    the result of the replay is returned, and `replayed=False` allows a function that never repeats.
    """
    results = {}
    for name in ("direct", "fused"):
        with execution(name):
            results[name] = as_numpy(function(*as_tensors(inputs)))
    compiled = ms.jit(function)
    before = ms.debug.ledger().counts.replays
    for _ in range(4):
        results["graph"] = as_numpy(compiled(*as_tensors(inputs)))
    if replayed:
        reason = f"the function was never replayed: {ms.debug.ledger().lines[-1:]}"
        assert ms.debug.ledger().counts.replays > before, reason
    return results


def assert_close(actual, expected, what: str = "", dtype: str | None = None) -> None:
    """Equal structure, shape and type, and values within the tolerance of the type."""
    if isinstance(expected, (tuple, list)):
        assert isinstance(actual, (tuple, list)), f"{what}: {type(actual)} is no sequence"
        assert len(actual) == len(expected), f"{what}: {len(actual)} for {len(expected)} results"
        for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
            assert_close(a, e, f"{what}[{index}]", dtype)
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape} for {expected.shape}"
    if dtype is None and actual.dtype.kind in "biufc" and expected.dtype.kind in "biufc":
        assert actual.dtype == expected.dtype, f"{what}: {actual.dtype} for {expected.dtype}"
    relative, absolute = TOLERANCE.get(dtype or actual.dtype.name, (0, 0))
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        actual.astype(wide), expected.astype(wide), relative, absolute, err_msg=what
    )


def matches(function, oracle, *inputs, **options) -> None:
    """Compare a function of Tensors with its oracle, a function of NumPy arrays, everywhere."""
    expected = oracle(*inputs)
    for name, actual in run_everywhere(function, *inputs, **options).items():
        assert_close(actual, expected, name)
