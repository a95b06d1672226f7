# SPDX-License-Identifier: Apache-2.0
"""Operators given nothing, one number, NaN and infinities, or what cannot be; in every execution.

Oracle: MindSpore 2.10; where it is wrong or refuses, NumPy and SciPy, as in `edge_oracles`.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special

import mycel as ms
from fixtures import cases, edge_oracles
from fixtures.case import evaluate
from harness import EXECUTIONS, TOLERANCE, as_numpy, execution, run_everywhere
from mycel import Tensor, mint, ops
from support.recorded_operators import agrees, function_of
from support.recorded_operators import cases as recorded_cases

INSTEAD = {name: edge_oracles.by_row(rows) for name, rows in edge_oracles.INSTEAD.items()}
REFUSED = {name: edge_oracles.by_row(rows) for name, rows in edge_oracles.REFUSED.items()}
# Their values are read, they make no Tensor, or they are given none: nothing can be replayed.
UNREPEATED = (
    "unique", "nonzero", "bincount", "item", "tolist", "size", "shape", "len(", "numel", "argwhere",
    "isin", "masked_select", "[x0 > 0]", "bool(", "rank", "numpy()", "rand_like", "float(",
    "histogram", "digitize", "contiguous",
)  # fmt: skip


def repeats(case) -> bool:
    return bool(case.inputs) and not any(word in case.expression for word in UNREPEATED)


def same(actual, expected, what):
    """Equal values; the oracle's type may be wider."""
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), what
        for one, other in zip(actual, expected, strict=True):
            same(one, other, what)
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, what
    np.testing.assert_allclose(actual, expected, *TOLERANCE["float32"], err_msg=what)


@pytest.mark.parametrize("family", INSTEAD)
def test_tables_name_rows(family):
    names = {case.name for case in cases.family(family)}
    assert not (INSTEAD[family].keys() | REFUSED[family].keys()) - names


@pytest.mark.parametrize(("case", "recorded"), list(recorded_cases(*INSTEAD)))
def test_as_recorded(case, recorded, request):
    family = request.node.callspec.id.partition(":")[0]
    kind, oracle = REFUSED[family].get(case.name), INSTEAD[family].get(case.name)
    if kind:
        with pytest.raises(kind):
            evaluate(case, ms)
    elif oracle is None:
        agrees(case, recorded, replayed=repeats(case))
    else:
        names = {"np": np, "special": special}
        names |= {f"x{i}": array for i, array in enumerate(case.inputs)}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of nothing NumPy warns
            expected = eval(oracle, names)
        for mode, actual in answers(case).items():
            same(actual, expected, f"{case.expression or case.program} in {mode}")


def answers(case) -> dict:
    """What mycel gives in each execution."""
    if not case.program:
        return run_everywhere(function_of(case), *case.inputs, replayed=repeats(case))
    found = {}
    for mode in ("direct", "fused", "graph"):
        with execution(mode):
            found[mode] = as_numpy(evaluate(case, ms))
    return found


NOT_FITTING = {
    "Tensor": lambda: Tensor(300, ms.uint8),
    "Tensor of a list": lambda: Tensor([[0, -1]], ms.uint8),
    "Parameter": lambda: ms.Parameter(2**40, name="p"),
    "full": lambda: ops.full((2,), 2**40, dtype=ms.int32),
    "mint.full": lambda: ms.mint.full((2,), -129, dtype=ms.int8),
    "arange": lambda: ops.arange(2**31 - 1, 2**31 + 1, dtype=ms.int32),
    "fill_": lambda: Tensor([1], ms.int32).fill_(2**40),
}


@pytest.mark.parametrize("name", NOT_FITTING)
@pytest.mark.parametrize("mode", EXECUTIONS)
def test_numbers_that_do_not_fit_are_no_other_numbers(name, mode):
    with execution(mode), pytest.raises(OverflowError, match=rf"does not fit .*{__file__}"):
        NOT_FITTING[name]()


def test_numbers_at_the_ends_fit_and_what_is_converted_wraps():
    assert ops.arange(2**31 - 2, 2**31, dtype=ms.int32).asnumpy().tolist() == [2**31 - 2, 2**31 - 1]
    assert Tensor([255, 0], ms.uint8).asnumpy().tolist() == [255, 0]
    assert Tensor([2**64 - 1], ms.uint64).asnumpy().tolist() == [2**64 - 1]
    for full in (ops.full, ms.mint.full, ms.numpy.full):
        assert full((1,), 2**64 - 1, dtype=ms.uint64).asnumpy().tolist() == [2**64 - 1]
    assert Tensor(np.array([300]), ms.uint8).asnumpy().tolist() == [44]
    assert Tensor([300]).astype(ms.uint8).asnumpy().tolist() == [44]


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64])
def test_real_numbers_are_counted(dtype):
    # Oracle: MindSpore 2.10: fractions are cut off, negative numbers left out, Float32.
    made = ops.bincount(Tensor([1.7, 2.2, 2, 5, -1.5], dtype))
    assert (made.dtype, made.asnumpy().tolist()) == (ms.float32, [0, 1, 2, 0, 0, 1])
    with pytest.raises(TypeError, match=r"bincount: input must be of integers, but Float32"):
        mint.bincount(Tensor([1.0]))
    with pytest.raises(TypeError, match=r"bincount: input must be of integers, but Complex64"):
        ops.bincount(Tensor([1.0 + 0j], ms.complex64))
    with pytest.raises(ValueError, match=r"bincount: input must be of numbers from 0 on, but -2"):
        ops.bincount(Tensor([1, -2]))


def test_types_of_sums_and_counts():
    # Oracle: MindSpore 2.10.
    for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        x = Tensor([[1, 2], [3, 4]], getattr(ms, name))
        for nansum in (ops.nansum, mint.nansum, lambda x: x.nansum()):
            assert (nansum(x).dtype, nansum(x).item()) == (x.dtype, 10)
        kept = x.dtype if name in ("uint16", "uint32", "uint64") else ms.int64
        for function in (ops.sum, mint.sum, lambda x: x.sum(), ops.prod, mint.prod):
            assert function(x).dtype == kept, name
    half = Tensor([1.0, 2.0, 4.0], ms.float16)
    assert ops.histc(half, 4).dtype == ops.cov(half).dtype == ms.float32
    large = ops.sum(Tensor([2**63, 5], ms.uint64))
    assert large.asnumpy() == np.uint64(2**63 + 5)


@pytest.mark.parametrize(
    "function",
    [
        ops.cat, ops.concat, ops.stack, ops.hstack, ops.vstack, ops.dstack, ops.column_stack,
        ops.addn, ops.accumulate_n, mint.cat, mint.concat, mint.stack, mint.hstack, mint.dstack,
        ops.Concat(), ops.Stack(), ops.AddN(), ops.ParallelConcat(),
    ],
)  # fmt: skip
def test_one_tensor_is_no_list(function):
    # Oracle: MindSpore 2.10; its ops.stack alone makes one row of it.
    with pytest.raises(TypeError, match="must be a tuple or list of Tensors, but one Tensor was"):
        function(Tensor([[1.0, 2.0], [3.0, 4.0]]))


def test_fix_and_empty():
    # Oracle: MindSpore 2.10.
    for values in ([1.5, -1.5], [1, -1], [True, False]):
        x = Tensor(values)
        assert mint.fix(x).dtype == x.dtype
        assert mint.fix(input=x).asnumpy().tolist() == np.trunc(values).tolist()
    for made in (mint.empty(size=(2, 3)), mint.empty(2, 3), mint.empty([2, 3])):
        assert (made.shape, made.dtype) == ((2, 3), ms.float32)
    assert mint.empty(size=[2], dtype=ms.int32, device="CPU").dtype == ms.int32
