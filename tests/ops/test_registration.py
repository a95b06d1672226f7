# SPDX-License-Identifier: Apache-2.0
"""Descriptions of operators, and Randperm. Oracle: what MindSpore 2.10 answered, written here, and
the definition of a permutation; Randperm has no CPU kernel there."""

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Tensor, ops


def test_a_description_is_that_of_mindspore():
    made = ops.DataType.F32_Default
    described = ops.CustomRegOp("add").input(0, "x").output(0, "y").attr("n", "required", "int")
    described = described.dtype_format(made, made).target("CPU").get_op_info()
    assert described == {
        "op_name": "add",
        "inputs": [{"index": 0, "name": "x", "paramType": "required"}],
        "outputs": [{"index": 0, "name": "y", "paramType": "required"}],
        "attr": [{"name": "n", "paramType": "required", "type": "int"}],
        "fusion_type": "",
        "dtype_format": [(("float32", "DefaultFormat"), ("float32", "DefaultFormat"))],
        "target": "CPU",
    }
    assert ops.DataType.BF16_Default_List == ("bfloat16", "DefaultFormat", "list")
    assert ops.DataType.None_None == ("", "")
    assert ops.DataType.I8_5HD == ("int8", "NC1HWC0")
    assert ops.DataType.BOOL_FracNZ == ("bool", "FRACTAL_NZ")


def test_bad_descriptions_are_refused():
    with pytest.raises(AttributeError, match="DataType has no 'F31_Default'"):
        ops.DataType.F31_Default  # noqa: B018 - looking it up is the test
    with pytest.raises(TypeError, match="op_name"):
        ops.CustomRegOp(3)
    with pytest.raises(ValueError, match="one for each of the 1 inputs and outputs"):
        ops.CustomRegOp("f").input(0, "x").dtype_format()
    with pytest.raises(TypeError, match="get_op_info"):
        ops.custom_info_register(3)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_randperm(name):
    with execution(name):
        ms.set_seed(1)
        operator = ops.Randperm(max_length=6, pad=-1, dtype=ms.int64)
        first = [operator(Tensor([4], ms.int32)) for _ in range(400)]
        assert first[0].dtype is ms.int64
        rows = np.stack([row.asnumpy() for row in first])
        assert (rows[:, 4:] == -1).all()
        assert (np.sort(rows[:, :4], 1) == np.arange(4)).all()
        # Each number is as often in each place: 100 times of 400, give or take four deviations.
        counts = [(rows[:, place] == number).sum() for place in range(4) for number in range(4)]
        assert max(abs(np.array(counts) - 100)) < 4 * np.sqrt(400 * 0.25 * 0.75)
    with pytest.raises(ValueError, match="at least 1"):
        ops.Randperm(0)(Tensor([1]))
    with pytest.raises(ValueError, match="one integer"):
        ops.Randperm(3)(Tensor([1, 2]))
