# SPDX-License-Identifier: Apache-2.0
"""What operators refuse names the line of the user. Oracle: the file and line of the call."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Tensor, mint, nn, ops

X = Tensor(np.ones((2, 3), np.float32))
REAL = Tensor([1.5, 2.5])

SPACE = {"ms": ms, "nn": nn, "ops": ops, "mint": mint, "Tensor": Tensor, "X": X, "REAL": REAL}

WRONG = {
    "ops.one_hot(X, 3)": "one_hot needs integers, but its input is Float32",
    "ops.OneHot()(X, 3, REAL, REAL)": "one_hot needs integers, but its input is Float32",
    "mint.meshgrid(X, X)": "What meshgrid takes must be vectors, but Tensors of shape",
    "ops.arange(1, 5, 0)": "step",
    "ops.tensor_split(X, 0)": "",
    "ops.nonzero('a')": "'str' object has no attribute",
    "ops.narrow(X, 0, 1, 9)": "9 elements from 1 on reach beyond axis 0",
    "ops.stft(X, 2)": "",
    "X[1.5]": "booleans, not by 1.5",
    "X[REAL]": "booleans, not by Tensor(shape=[2]",
    "X[0, 0, 0]": "3 indices are too many",
    "X['a']": "booleans, not by 'a'",
    "X[..., ...]": "one Ellipsis",
    "X[::0]": "slice step cannot be zero",
    "X.__setitem__('a', 1)": "booleans, not by 'a'",
    "X.__setitem__(0, 'a')": "can be written into a Tensor",
    "len(REAL[0])": "What has a length must be a Tensor with dimensions",
    "X.astype('zz')": "'zz' is not an element type",
    "Tensor([1], dtype='zz')": "'zz' is not an element type",
    "nn.get_activation('zz')": "No activation is named 'zz'",
    "ms.jit(1)": "What jit is given must be a function or a Cell, but int was given",
    "ms.set_seed('a')": "A seed must be an integer, but 'a' was given",
}


@pytest.mark.parametrize("way", ["fused", "graph"])
@pytest.mark.parametrize("call", WRONG)
def test_the_line_is_named(call, way):
    code = compile(f"\n\n{call}", "train_here.py", "eval")
    with execution(way), pytest.raises(Exception) as caught:
        eval(code, SPACE)
    assert WRONG[call] in str(caught.value)
    assert str(caught.value).count("train_here.py:3") == 1


def test_what_the_user_raises_stays_as_it_is():
    def wrong(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        ops.vmap(wrong)(X)
    with pytest.raises(ValueError, match=r"^mine$"):
        ops.Map()(wrong, [1])


def test_recompute_takes_keywords():
    # MindSpore 2.10 takes no such argument either; the words were Python's on `Settings.recompute`.
    text = r"^What recompute is given must be keywords, as use_reentrant=True, but 'yes' was given"
    with pytest.raises(TypeError, match=text):
        nn.Dense(2, 3).recompute("yes")
