# SPDX-License-Identifier: Apache-2.0
"""What Graph mode remembers of a derivative lives as long as its function. Oracle: weakref."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import weakref

import mycel as ms
from harness import execution
from mycel import Tensor, nn


def test_it_goes_with_the_function():
    alive = []
    with execution("graph"):
        for _ in range(5):
            net = nn.Dense(2, 2)
            alive.append(weakref.ref(net))
            for _ in range(4):
                ms.grad(lambda x, net=net: net(x))(Tensor([[1.0, 2.0]]))
            ms.grad(net)(Tensor([[1.0, 2.0]]))
    del net
    gc.collect()
    assert [found() for found in alive] == [None] * 5


def test_it_is_found_again_and_not_by_a_wrapper():
    def double(x):
        return x * 2

    with execution("graph"):
        for _ in range(4):
            assert float(ms.grad(double)(Tensor(3.0))) == 2.0
        assert ms.debug.ledger().counts.replays == 2

        @functools.wraps(double)
        def squared(x):
            return double(x) * x

        for _ in range(4):
            assert float(ms.grad(squared)(Tensor(3.0))) == 12.0


def test_a_cell_is_copied_and_pickled_without_it():
    net = nn.Dense(2, 1, "ones", "zeros")
    with execution("graph"):
        for _ in range(4):
            ms.grad(net)(Tensor([[1.0, 2.0]]))
        for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            made.weight.set_data(made.weight * 5)
            assert ms.grad(made)(Tensor([[1.0, 2.0]])).asnumpy().tolist() == [[5.0, 5.0]]
        assert ms.grad(net)(Tensor([[1.0, 2.0]])).asnumpy().tolist() == [[1.0, 1.0]]
