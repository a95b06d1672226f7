# SPDX-License-Identifier: Apache-2.0
"""Square brackets, read and written: MindSpore 2.10, NumPy, and counts of compilations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution, matches, run_everywhere
from mycel import Parameter, Tensor, ops
from support.recorded_operators import agrees, cases, gradients_by_differences

# MindSpore raises, mycel answers as NumPy does.
ANSWERED = {
    "read False", "read np.array([2, 0])", "read np.int64(1)",
    "read np.array([True, False, True])", "write x0[0] = np.ones(4, np.float32)",
}  # fmt: skip
# Another class of error for the same mistake.
OTHER_ERROR = {"read 1.5:": IndexError, "write x0[0] = 'a'": TypeError}
# MindSpore 2.10 loses these gradients; finite differences are the oracle below.
LOST_GRADIENTS = {"read ::-1", "read ::-2", "read ms.Tensor(-1)", "read at x1"}
# A part of a Tensor is a Tensor of its own here: writing to it leaves the whole alone.
VIEWS = {
    "write x0[0][1] = 99", "write x0[1][...] = 0", "program alias_by_row",
    "program alias_by_slice", "program alias_by_step_slice", "program alias_by_view",
    "program alias_by_reshape", "program alias_by_transpose", "program alias_by_ops_reshape",
    "program alias_write_base", "program alias_none_index", "program alias_ellipsis",
    "program alias_tensor_of_tensor",
}  # fmt: skip
# About assigning Parameters, which is tested with them.
ELSEWHERE = {
    "program parameter_assign_function", "program parameter_assign_add",
    "program parameter_assign_sub", "program parameter_set_data_float_to_int",
}  # fmt: skip

CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def all_cases():
    return list(cases("indexing", without=VIEWS | ELSEWHERE | ANSWERED))


@pytest.mark.parametrize(("case", "recorded"), all_cases())
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    gradient = case.name not in LOST_GRADIENTS
    agrees(case, recorded, OTHER_ERROR.get(case.name), gradient)


# One entry for each dimension; every combination of three is compared with NumPy.
ENTRIES = (
    ":", "1", "-1", "np.int64(0)", "1:", "0:2", "-2:", "1:1", "::2", "::-1", "None", "...",
    "[0, 1]", "np.array([[1], [0]])", "[True, False]", "[False, False, True]", "True",
)  # fmt: skip


def indices():
    """Every index of one to three entries that NumPy accepts for CUBE."""
    for count in (1, 2, 3):
        for entries in itertools.product(ENTRIES, repeat=count):
            source = ", ".join(entries) + ("," if count == 1 else "")
            try:
                CUBE[eval(f"np.index_exp[{source}]")]
            except IndexError:
                continue
            yield entries, source


def _plain(entries):
    """NumPy counts a lone True beside integers and arrays as an array; here it is a dimension."""
    others = [entry for entry in entries if entry not in ("True", ":", "...")]
    return "True" not in entries or (entries.count("True") == 1 and not others)


# Every combination was compared once; a part of them is, every time. A new index is a new program.
SHARES = {1: 1, 2: 4, 3: 211}


def test_reads_and_writes_as_numpy():
    # Oracle: NumPy, for a number or for a full value.
    checked = 0
    with execution("direct"):
        tensor = Tensor(CUBE)
        for number, (entries, source) in enumerate(indices()):
            if number % SHARES[len(entries)] or not _plain(entries):
                continue
            index = eval(f"np.index_exp[{source}]")
            part = CUBE[index]
            np.testing.assert_array_equal(tensor[index].asnumpy(), part, source)
            value = (
                -1 if checked % 2 else np.arange(part.size, dtype=np.float32).reshape(part.shape)
            )
            expected, written = CUBE.copy(), Tensor(CUBE)
            expected[index] = value
            written[index] = value if checked % 2 else Tensor(value)
            np.testing.assert_array_equal(written.asnumpy(), expected, source)
            checked += 1
    assert checked > 80


@pytest.mark.parametrize(
    "source",
    ["0", ":, 1", "1:, 0:2", "..., -1", ":, ::-1", "[0, 1], :, [1, 2]", "0, :, [1, 2]", "::2, None",
     "x > 4", ":, x[0, :, 0] > 3", "(x > 4)[0], 1", "ops.arange(2)", "Tensor(-1)"],
)  # fmt: skip
def test_read_everywhere(source):
    if "ops" in source or "Tensor" in source:
        numpy_source = source.replace("ops.arange(2)", "[0, 1]").replace("Tensor(-1)", "-1")
    else:
        numpy_source = source
    if source.startswith("(x > 4)[0]"):
        source = numpy_source = "0, x[0] > 4"

    def oracle(x):
        return eval(f"x[{numpy_source}]")

    matches(lambda x: eval(f"x[{source}]"), oracle, CUBE)


def test_gradients_of_reads_and_writes():
    # Oracle: finite differences in Float64.
    def read(x):
        return (x[::-1] * x[1] + x[:, Tensor(-1)].sum() * x[..., [0, 0, 2]]) * x[x > 4].sum()

    def write(x, v):
        y = x * x
        y[0] = v[0]
        y[:, 1:] = y[:, :2] * v[1]
        y[[1, 0], [2, 2]] = v * 3
        y[y > 20] = v[1, 2]
        y[0, ::2] = y[1, ::2]
        return y * y

    x = CUBE[:, :, :3].astype(np.float64) / 5 + 0.123
    v = x[0, :2].copy() - 1
    for function, inputs in ((read, (x,)), (write, (x, v))):
        expected = gradients_by_differences(function, inputs)
        gradient = ms.grad(function, 0 if len(inputs) == 1 else (0, 1))
        for name, actual in run_everywhere(gradient, *inputs).items():
            found = list(actual) if isinstance(actual, tuple) else [actual]
            assert_close(found, expected, name, "float32")


def test_second_derivative_through_indexing():
    # Oracle: by hand, d²(x0² x1³) / dx0 dx1.
    def function(x):
        y = x * 1
        y[0] = x[0] * x[0]
        return y[0] * x[1] ** 3

    mixed = ms.grad(lambda x: ms.grad(function)(x)[0])
    matches(mixed, lambda x: np.array([2 * x[1] ** 3, 6 * x[0] * x[1] ** 2]), np.array([3.0, 2.0]))


def compiled(function, count):
    """Compilations from the third call on."""
    for i in range(2):
        function(i).asnumpy()
    before = ms.debug.ledger().counts.compilations
    for i in range(2, count):
        function(i).asnumpy()
    return ms.debug.ledger().counts.compilations - before


@pytest.mark.parametrize("name", ["direct", "fused"])
def test_moving_positions_compile_nothing(name):
    x, y = Tensor(np.arange(80.0, dtype=np.float32).reshape(20, 4)), Tensor(np.zeros((20, 4)))
    positions = np.arange(20)

    def write(i):
        y[i : i + 2] = 1
        y[-i - 1, 2] = 5
        return y

    with execution(name):
        assert compiled(lambda i: x[i], 20) == 0
        assert compiled(lambda i: x[-i - 1], 20) == 0
        assert compiled(lambda i: x[i : i + 4], 16) == 0
        assert compiled(lambda i: x[i, i % 4], 16) == 0
        assert compiled(lambda i: x[i : i + 4, 1 : 2 + 1][0], 16) == 0
        assert compiled(lambda i: x[positions[i : i + 3]], 16) == 0
        assert compiled(lambda i: x[Tensor(i)], 16) == 0
        assert compiled(write, 18) == 0


def test_moving_positions_are_one_graph_program():
    x = Tensor(np.arange(20.0, dtype=np.float32))
    step = ms.jit(lambda i: x[i] * 2)
    for i in range(4):
        step(Tensor(i)).asnumpy()
    before = ms.debug.ledger().counts.compilations
    assert [step(Tensor(i)).item() for i in range(4, 20)] == [2.0 * i for i in range(4, 20)]
    assert ms.debug.ledger().counts.compilations == before


def test_rows_in_a_loop():
    for name in EXECUTIONS:
        with execution(name):
            assert [row.asnumpy().sum() for row in Tensor(CUBE)] == [66, 210]
    assert list(Tensor(np.zeros((0, 3)))) == []


def test_writing_into_a_parameter():
    for name in EXECUTIONS:
        with execution(name):
            parameter = Parameter(Tensor([1.0, 2.0, 3.0]), name="p")
            before = parameter.value()
            parameter[0] = 9
            parameter[parameter > 2.5] += 1
            assert isinstance(parameter, Parameter)
            assert parameter.asnumpy().tolist() == [10, 2, 4]
            assert before.asnumpy().tolist() == [1, 2, 3]


def test_writing_into_a_parameter_inside_a_compiled_function():
    parameter = Parameter(Tensor([0.0, 0.0]), name="p")

    @ms.jit
    def step(v):
        parameter[1] = parameter[1] + v
        return parameter[1] * 2

    for i in range(1, 7):
        assert step(Tensor(1.0)).item() == 2 * i
    assert parameter.asnumpy().tolist() == [0, 6]


def test_a_mask_is_not_read_where_one_value_is_written():
    x = Tensor(CUBE)
    step = ms.jit(lambda m, v: write_masked(x * 1, m, v))
    before = ms.debug.ledger().counts.misses
    for bound in range(8):
        expected = np.where(bound < CUBE, np.float32(bound), CUBE)
        found = step(Tensor(bound < CUBE), Tensor(float(bound)))
        np.testing.assert_array_equal(found.asnumpy(), expected)
    assert ms.debug.ledger().counts.misses == before


def write_masked(x, mask, value):
    x[mask] = value
    return x


def test_masks_in_any_place():
    # Oracle: NumPy.
    mask = np.array([True, False, True])
    for source, value in {
        ":, mask": 7, "mask_all": 7, "..., mask4": [1.5], ":, mask ": np.ones(4, np.float32),
        "0, mask": 3, ":, mask, 1": 3, "mask2": np.ones((3, 4)), "mask2 ": np.ones((1, 3, 4)),
        ":, mask  ": np.arange(8.0).reshape(2, 4), "mask_all ": np.arange(12.0),
    }.items():  # fmt: skip
        names = {
            "mask": mask, "mask_all": CUBE > 11, "mask2": np.array([False, True]),
            "mask4": np.array([True, True, False, False]),
        }  # fmt: skip
        expected, written, tensor = CUBE.copy(), Tensor(CUBE), Tensor(CUBE)
        index = eval(f"np.index_exp[{source}]", {"np": np, **names})
        expected[index] = value
        written[index] = value
        tensor[tuple(Tensor(i) if isinstance(i, np.ndarray) else i for i in index)] = value
        np.testing.assert_array_equal(written.asnumpy(), expected, source)
        np.testing.assert_array_equal(tensor.asnumpy(), expected, source)


ERRORS = {
    "Index 2 is out of range for dimension 0 of length 2": lambda x: x[2],
    "Index -4 is out of range for dimension 1 of length 3": lambda x: x[0, -4],
    "Index 5 is out of range for dimension 0": lambda x: x[[0, 5]],
    "4 indices are too many for a Tensor of shape (2, 3, 4)": lambda x: x[0, 0, 0, 0],
    "one Ellipsis": lambda x: x[..., ...],
    "A mask of shape (3,) does not fit dimensions of the lengths (2,)": lambda x: x[
        Tensor([True, False, True])
    ],
    "not by 1.0": lambda x: x[1.0],
    "not by 'a'": lambda x: x["a"],
    "The bounds of a slice must be integers or None": lambda x: x[1.5:],
}


@pytest.mark.parametrize("text", ERRORS)
def test_wrong_indices(text):
    x = Tensor(CUBE)
    for function in (ERRORS[text], ms.jit(ERRORS[text])):
        with pytest.raises(IndexError) as caught:
            function(x)
        assert text in str(caught.value)
    assert (x[0, 0] + 1).asnumpy().tolist() == [1, 2, 3, 4]


def test_wrong_values():
    x = Tensor(CUBE)
    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit the part of shape \(3, 4\)"):
        x[0] = Tensor([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="does not fit the part"):
        x[x > 3] = Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match="can be written into a Tensor, not None"):
        x[0] = None
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        x[::0]
    np.testing.assert_array_equal(x.asnumpy(), CUBE)


def test_values_are_converted():
    # Oracle: NumPy, which converts to the type of what is written to.
    for dtype, value in ((np.int32, 2.9), (np.float16, 7), (np.bool_, 3), (np.float64, [0.1])):
        expected, written = np.zeros(2, dtype), Tensor(np.zeros(2, dtype))
        expected[0:1] = value
        written[0:1] = value
        assert written.asnumpy().dtype == dtype
        np.testing.assert_array_equal(written.asnumpy(), expected)


def test_writing_the_same_row_twice_keeps_the_last():
    x = Tensor(np.zeros((2, 2), np.float32))
    x[[1, 1]] = Tensor([[1.0], [2.0]])
    assert ops.sum(x).item() == 4
