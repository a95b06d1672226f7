# SPDX-License-Identifier: Apache-2.0
"""Hints to MindSpore's compiler, and questions about values. Oracle: what MindSpore 2.10 prints,
returns and refuses for the same lines, noted here."""

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, ops


@pytest.mark.parametrize("name", EXECUTIONS)
def test_print_shows_every_input_on_its_line(name, capsys):
    """At every call, also on a replay, with the value of that call."""
    show = ops.Print()
    w = Parameter(Tensor([1.0]), name="w")

    def function(x):
        show("t", x * 2, 3, True, w)
        ops.print_("x", x)
        return x + 1

    with execution(name):
        run = ms.jit(function) if name == "graph" else function
        for number in range(5):
            run(Tensor(float(number)))
    expected = "".join(
        f"t\nTensor(shape=[], dtype=Float32, value= {2 * n})\n3\nTrue\n"
        "Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])\n"
        f"x\nTensor(shape=[], dtype=Float32, value= {n})\n"
        for n in range(5)
    )
    assert capsys.readouterr().out == expected
    if name == "graph":
        assert ms.debug.ledger().counts.replays == 3


def test_print_takes_anything(capsys):
    assert ops.Print()((Tensor([1, 2]), 3), None, {"a": 1}) is None
    shown = "(Tensor(shape=[2], dtype=Int64, value= [1, 2]), 3)\nNone\n{'a': 1}\n"
    assert capsys.readouterr().out == shown


def test_tensor_makes_tensors():
    assert repr(ms.tensor([1, 2])) == "Tensor(shape=[2], dtype=Int64, value= [1, 2])"
    assert ms.tensor(3.0).dtype is ms.float32
    assert ms.tensor(np.float64(2)).dtype is ms.float64
    assert ms.tensor(Tensor([1]), ms.float16).dtype is ms.float16
    assert ms.tensor(shape=(2,), dtype=ms.int32, init="ones").asnumpy().tolist() == [1, 1]
    assert type(ms.tensor(Parameter(Tensor(1.0), name="p"))) is Tensor
    with pytest.raises(TypeError):
        ms.tensor("a")


def test_from_numpy_copies():
    array = np.array([1.5, 2.5])
    made = ms.from_numpy(array)
    array[0] = 0
    assert made.dtype is ms.float64
    assert made.asnumpy().tolist() == [1.5, 2.5]
    with pytest.raises(TypeError, match=r"a NumPy array, but list was given at .*test_hints"):
        ms.from_numpy([1])


def test_functions_and_classes_stay_what_they_are():
    @ms.constexpr
    def double(x):
        return x * 2

    @ops.constexpr(get_instance=False)
    def triple(x):
        return x * 3

    @ms.jit_class
    class Scale:
        factor = 2

    assert double(3) == 6
    assert double([1]) == [1, 1]
    assert triple()(2) == 6
    assert Scale().factor == 2
    with pytest.raises(TypeError, match="must be a class, but 3 was given"):
        ms.jit_class(3)
    with pytest.raises(TypeError, match="must be a function"):
        ms.constexpr(3)


def test_mutable_gives_the_same():
    data = [(1, Tensor(2.0)), {"a": 3.0}]
    assert ms.mutable(data) is data
    assert ms.mutable((1, 2), dynamic_len=True) == (1, 2)
    with pytest.raises(TypeError, match="Tensors and numbers"):
        ms.mutable(["a"])
    with pytest.raises(TypeError, match="a tuple or list, but Tensor was given"):
        ms.mutable(Tensor(1), True)


def test_questions():
    assert ops.DType()(Tensor(1.0)) is ms.float32
    assert isinstance(ms.float32, ms.Type)
    assert ops.is_tensor(Tensor(1)) and not ms.is_tensor(1)
    assert ops.tuple_to_array((1, 2, 3)).dtype is ms.int32
    assert ops.tuple_to_array((1.0, 2.0)).dtype is ms.float32
    with pytest.raises(TypeError, match="a Tensor, but int was given"):
        ops.DType()(1)
    assert ops.tuple_to_array((1.0, 2)).dtype is ms.float32
    with pytest.raises(TypeError, match="of integers and floats, but int, str"):
        ops.tuple_to_array((1, "a"))


@pytest.mark.parametrize("name", EXECUTIONS)
def test_depend_gives_the_value_and_its_gradient(name):
    with execution(name):
        gradient = ms.grad(lambda x: ops.depend(x * x, x * 3) + ops.Depend()(x, x))
        assert float(gradient(Tensor(3.0))) == 7.0
    assert ops.depend(1, 2) == 1
