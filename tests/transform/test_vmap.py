# SPDX-License-Identifier: Apache-2.0
"""Python inside vmap, of calls that are compiled. Oracle: the call that is not."""

from __future__ import annotations

import pytest

import mycel as ms
from harness import execution
from mycel import Tensor, nn


class Scaling:
    """A hook that is an object."""

    factor = 1.0

    def __call__(self, cell, inputs, output):
        return output * self.factor

    def method(self, cell, inputs, output):
        return output * self.factor


@pytest.mark.parametrize("kind", ["object", "method", "function"])
@pytest.mark.parametrize("mode", ["pynative", "jit", "graph"])
def test_hooks_inside_read_what_they_have_at_each_call(kind, mode):
    hook = Scaling()
    functions = {"object": hook, "method": hook.method, "function": lambda c, i, o: o * hook.factor}
    net = nn.SequentialCell(nn.ReLU())
    net[0].register_forward_hook(functions[kind])

    def rows(x):
        return ms.vmap(lambda row: net(row))(x)

    with execution("graph" if mode == "graph" else "fused"):
        call, found = ms.jit(rows) if mode == "jit" else rows, []
        for number in range(8):
            hook.factor = 3.0 if number > 4 else 1.0
            found.append(call(Tensor([[1.0], [2.0]])).asnumpy().sum())
    assert found == [3.0] * 5 + [9.0] * 3


def test_what_is_printed_inside_is_printed_at_each_call(capsys):
    def row(x):
        print("row", x.shape)
        return x * 2

    call = ms.jit(lambda x: ms.vmap(row)(x))
    for _ in range(6):
        call(Tensor([[1.0], [2.0]]))
    assert capsys.readouterr().out == "row (1,)\n" * 6
    assert any("inside vmap" in str(line) for line in ms.debug.ledger().lines)
