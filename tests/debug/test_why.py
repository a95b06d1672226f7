# SPDX-License-Identifier: Apache-2.0
"""why: each way in which a gradient ends is named, with its line.

Oracle: the line on which the cut was written, told by the code object of the function.
"""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops

X = Tensor(np.float32([1.0, 2.0, 3.0]))


def weight(*values) -> Parameter:
    return Parameter(Tensor(np.float32(values or (1.0, -2.0, 0.5))), "weight")


CASES = {
    "stop_gradient": ("cut", "stop_gradient", (), lambda w, x: ops.stop_gradient(w * x) + x),
    "cast": ("cut", "cast", (), lambda w, x: (w * x).astype(ms.int32).astype(ms.float32)),
    "argmax": ("cut", "argmax", (), lambda w, x: ops.argmax(w * x) * x),
    "comparison": ("cut", "greater", (), lambda w, x: (w * x > 0).astype(ms.float32) * x),
    "dead": ("zero", "relu", (-1, -2, -3), lambda w, x: ops.relu(w * x)),
    "saturated": ("zero", "sigmoid", (200, 300, 400), lambda w, x: ops.sigmoid(w * x)),
    "where": ("zero", "where", (), lambda w, x: ops.where(x > 0, x, w)),
    "times zero": ("zero", "mul", (), lambda w, x: w * (x * 0)),
    "infinite": ("not finite", "sqrt", (0, 0, 0), lambda w, x: ops.sqrt(w * x)),
    "through NumPy": ("not used", "mul", (), lambda w, x: Tensor((w * x).asnumpy()) + x),
    "unused": ("not used", "", (), lambda w, x: x * 2),
    "present": ("present", None, (), lambda w, x: w * x),
}


@pytest.mark.parametrize("name", CASES)
def test_each_way_in_which_a_gradient_ends(name):
    kind, operator, values, function = CASES[name]
    parameter = weight(*values)
    found = ms.debug.why(parameter, lambda x: function(parameter, x).sum(), X)
    assert found.kind == kind, str(found)
    if operator is not None:
        cut = found.cuts[0]
        assert cut.operator == operator, str(found)
        if operator:
            line = (cut.place.code.co_filename, cut.place.line)
            assert line == (__file__, function.__code__.co_firstlineno), str(found)
    assert str(found).startswith("Parameter weight ")
    if kind == "present":
        np.testing.assert_array_equal(found.gradient, X.asnumpy())


def test_of_an_input_and_in_a_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = nn.Dense(3, 4)
            self.gate = nn.ReLU()

        def construct(self, x):
            return self.gate(self.body(x) - 1e3).sum()

    net, x = Net(), Tensor(np.ones((2, 3), np.float32))
    for found in (ms.debug.why(x, net, x), ms.debug.why(net.body.weight, net, x)):
        assert (found.kind, found.cuts[0].operator) == ("zero", "relu")
        assert "100 % of what it is given is negative" in str(found)
        assert "(in Net.gate)" in str(found)
    net.body.weight.requires_grad = False
    assert "requires_grad=False" in str(ms.debug.why(net.body.weight, net, x))


def test_an_assignment_is_told():
    parameter = weight()

    def function(x):
        ops.assign(parameter, x)
        return (parameter * x).sum()

    found = ms.debug.why(parameter, function, X)
    assert found.kind == "not used" and "is assigned by the function" in str(found)


def test_it_works_in_graph_mode_and_leaves_no_hooks():
    parameter = weight()
    compiled = ms.jit(lambda x: ops.relu(parameter * x).sum())
    derivative = ms.jit(ms.grad(compiled, None, [parameter]))
    for _ in range(4):
        derivative(X)
    replays = ms.debug.ledger().counts.replays
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert ms.debug.why(parameter, compiled, X).kind == "present"
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    derivative(X)
    assert ms.debug.ledger().counts.replays == replays + 1


def test_what_cannot_be_explained_is_told():
    with pytest.raises(ValueError, match="of a Parameter or of one of the inputs"):
        ms.debug.why(Tensor([1.0]), lambda x: x, X)
    with pytest.raises(TypeError, match="must return a Tensor, not float"):
        ms.debug.why(X, lambda x: 1.0, X)
