# SPDX-License-Identifier: Apache-2.0
"""`x.max(1)` is a pair for what takes pairs, and its values for all else. Oracle: the same with
`x.max(1)[0]`, in every execution; NumPy.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, run_everywhere
from mycel import Tensor, mint, ops

X = np.float32([[1.5, -2.0, 0.25], [3.0, 4.0, -1.0]])
USES = {
    "an operator": ops.exp,
    "an operator of two": lambda p: ops.mul(p, Tensor([2.0, 3.0])),
    "second": lambda p: ops.sub(Tensor([2.0, 3.0]), p),
    "both": lambda p: ops.add(p, p),
    "a Primitive": lambda p: ops.ReLU()(p),
    "mint": mint.sigmoid,
    "cast": lambda p: ops.cast(p, ms.float64),
    "made a Tensor": lambda p: Tensor(p) * 2,
    "softmax": lambda p: ops.softmax(p),
    "several": lambda p: ops.stack((p, p)),
    "concatenated": lambda p: ops.concat((p, Tensor([7.0]))),
    "chosen": lambda p: ops.where(p > 2, p, p * 0),
    "matmul": lambda p: ops.matmul(p, Tensor([1.0, 2.0])),
    "arithmetic": lambda p: -p + 2 * p / 3 - (1 - p) ** 2,
    "a method": lambda p: p.expand_dims(1),
    "an index": lambda p: p[Tensor([1, 0])],
    "a slice of both": lambda p: p.mean() + p.sum(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("extreme", ["max", "min"])
def test_it_is_the_values_for_operators(extreme, use):
    def of_pair(x):
        return USES[use](getattr(x, extreme)(1))

    def of_values(x):
        return USES[use](getattr(x, extreme)(1)[0])

    for function in (lambda f: f, ms.grad):
        wanted = run_everywhere(function(of_values), X)
        # More than once: the quick way of an operator is another than that of its first call.
        for found in (run_everywhere(function(of_pair), X) for _ in range(2)):
            for mode in wanted:
                assert_close(found[mode], wanted[mode])


def test_it_is_a_pair_for_what_takes_pairs():
    pair = Tensor(X).max(1)
    values, indices = pair
    assert isinstance(pair, tuple) and len(pair) == 2
    assert pair[0] is values and pair[1] is indices is pair.indices
    np.testing.assert_array_equal(np.asarray(pair), X.max(1))
    np.testing.assert_array_equal(indices.asnumpy(), X.argmax(1))
    for again in (pickle.loads(pickle.dumps(pair)), copy.deepcopy(pair), copy.copy(pair)):
        assert type(again) is type(pair)
        np.testing.assert_array_equal(again[1].asnumpy(), X.argmax(1))
    assert not hasattr(pair, "_value")
