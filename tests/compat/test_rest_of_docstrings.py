# SPDX-License-Identifier: Apache-2.0
"""Names that examples of MindSpore's docstrings use, and few programs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.linalg

import mycel as ms
from harness import matches
from mycel import Tensor, ops
from mycel.communication import comm_func
from mycel.scipy import linalg

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], np.float32)
Y = np.array([1.0, 2.5, 3.0], np.float32)


def test_morph_is_its_function():
    """Oracle: NumPy, and the formulas of both reverses."""
    square = ops.Morph(lambda x: x * x, None, None)
    own = ops.Morph(lambda x: x * x, None, None, lambda x, out, dout: (dout * 7,))
    matches(square, lambda x: x * x, X)
    matches(ms.grad(square), lambda x: 2 * x, X)
    matches(ms.grad(own), lambda x: np.full_like(x, 7), X)
    matches(ms.grad(lambda x: own(x) * x), lambda x: x * x + 7 * x, X)


def test_linearize_in_every_execution():
    """Oracle: the formulas."""

    def along(x, direction):
        result, change_along = ops.linearize(lambda x: x * x * x, x)
        return result, change_along(direction), change_along(direction * 2)

    def formulas(x, direction):
        change = 3 * x * x * direction
        return x**3, change, 2 * change

    matches(along, formulas, X, X + 1)
    with pytest.raises(ValueError, match="directions of shapes"):
        ops.linearize(ops.sin, Tensor(X))[1](Tensor(Y))


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelss", "gelsd"])
def test_least_squares(driver):
    """Oracle: SciPy, and the table of MindSpore's document for what each driver says."""
    for right in (Y, np.stack((Y, Y * Y), 1)):
        found = linalg.lstsq(Tensor(X), Tensor(right), driver=driver)
        solution, distance, rank, values = (part.asnumpy() for part in found)
        expected = scipy.linalg.lstsq(X, right)
        assert np.allclose(solution, expected[0], 1e-4, 1e-5)
        assert (distance.size > 0) == (driver in ("gels", "gelss", "gelsd"))
        assert (values.size > 0) == (driver in ("gelss", "gelsd"))
        if distance.size:
            far = ((X @ expected[0] - right) ** 2).sum(0)
            assert np.allclose(distance.reshape(far.shape), far, 1e-3, 1e-5)
        if values.size:
            assert np.allclose(values, expected[3], 1e-4)
        assert rank.size == (driver != "gels") and (not rank.size or rank == 2)
    low = linalg.lstsq(Tensor([[1.0, 2.0], [2.0, 4.0]]), Tensor([1.0, 2.0]))
    assert low[2] == 1 and np.allclose(low[0].asnumpy(), [0.2, 0.4], 1e-4)
    with pytest.raises(ValueError, match="lstsq: driver"):
        linalg.lstsq(Tensor(X), Tensor(Y), driver="gel")


def test_numbers_in_a_buffer():
    """Oracle: NumPy."""
    data = bytearray(np.array([1.5, 2.5, 3.5], np.float32).tobytes())
    assert ms.frombuffer(data, ms.float32).asnumpy().tolist() == [1.5, 2.5, 3.5]
    assert ms.frombuffer(data, ms.float32, 1, 4).asnumpy().tolist() == [2.5]
    with pytest.raises(ValueError, match="multiple of element size"):
        ms.frombuffer(data[:5], ms.float32)


def test_messages_between_two_processes():
    """Oracle: the texts."""
    sent = comm_func.P2POp(comm_func.isend, Tensor([1.0]), 1)
    assert (sent.op, sent.peer) == ("isend", 1)
    assert ms.mint.distributed.P2POp is comm_func.P2POp
    with pytest.raises(ValueError, match="'isend' or 'irecv'"):
        comm_func.P2POp("send", Tensor([1.0]), 1)
    with pytest.raises(RuntimeError, match="needs another process"):
        comm_func.batch_isend_irecv([sent])
    with pytest.raises(TypeError, match="a list of P2POp"):
        ms.mint.distributed.batch_isend_irecv(sent)


def test_notes_beside_a_trace(tmp_path):
    """Oracle: the file."""
    traced = ms.Profiler(output_path=str(tmp_path), start_profile=False)
    traced.add_metadata("words", "text")
    traced.add_metadata_json("numbers", json.dumps({"a": 1}))
    kept = json.loads((tmp_path / "metadata.json").read_text())
    assert kept == {"words": "text", "numbers": {"a": 1}}
    with pytest.raises(TypeError, match="add_metadata_json: value must be text"):
        traced.add_metadata_json("numbers", 3)
    ms.Profiler.offline_analyse(str(tmp_path))


def test_arguments_and_functions_of_primitives():
    """Oracle: what was given."""

    class Shift(ops.PrimitiveWithCheck):
        @ops.prim_arg_register
        def __init__(self, offset=1):
            self.init_prim_io_names(inputs=["x"], outputs=["y"])

    assert Shift(3).offset == 3 and "offset" not in Shift(3).attrs
    ops.vm_impl_registry.register("Shift")(lambda prim: lambda x: x + prim.offset)
    assert ops.get_vm_impl_fn(Shift(3))(4) == 7
    assert ops.get_vm_impl_fn("Unknown") is None
    assert ops.set_comm_ops_inplace(False) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: map(ops.neg, (x, y)),
        lambda x, y: zip((x, y), (y, x), strict=True),
        lambda x, y: filter(None, (x, y)),
        lambda x, y: range(3),
        lambda x, y: enumerate((x, y)),
    ],
)
def test_a_compiled_function_returns_what_python_returns(make):
    """Oracle: the other mode."""

    def plain(value):
        return value.tolist() if isinstance(value, Tensor) else value

    def seen(function, number):
        made = function(Tensor([number]), Tensor([2.0]))
        rows = [tuple(map(plain, row)) if isinstance(row, tuple) else plain(row) for row in made]
        return type(made), rows

    compiled = ms.jit(make)
    for number in range(1, 7):
        assert seen(compiled, float(number)) == seen(make, float(number))


def test_sparse_tensor_is_the_coordinate_one():
    """Oracle: MindSpore 2.10, whose SparseTensor makes a COOTensor."""
    ms.install_as_mindspore()
    import mindspore

    made = mindspore.SparseTensor(Tensor([[0, 1]]), Tensor([1.0]), (3, 4))
    assert isinstance(made, ms.COOTensor)


def test_numbers_that_are_not_finite():
    """Oracle: the texts."""
    for value, name in ((np.nan, "NaN"), (np.inf, "infinity")):
        with pytest.raises(RuntimeError, match=f"an element that is {name}"):
            ops.CheckNumerics()(Tensor([1.0, value]))
    with pytest.raises(TypeError, match="of real numbers"):
        ops.CheckNumerics()(Tensor([1]))


def test_cores_that_are_not_there():
    """Oracle: there are none, whatever was asked for."""
    none = {"cube_core_num": 0, "vector_core_num": 0}
    stream = ms.runtime.Stream()
    assert ms.runtime.set_device_limit(0, 8, 8) is None
    assert ms.runtime.set_stream_limit(stream, 8, 8) is None
    assert ms.runtime.get_device_limit(0) == ms.runtime.get_stream_limit(stream) == none
    assert ms.runtime.reset_stream_limit(stream) is None
