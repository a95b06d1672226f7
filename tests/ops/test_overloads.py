# SPDX-License-Identifier: Apache-2.0
"""Tensor methods with two lists of parameters, called by the words of the one and the other."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import Tensor
from support.recorded_operators import agrees, cases

# A word that is wrong is a TypeError or a ValueError of ours.
OTHER_ERROR = {"to_bad": TypeError, "trace_of_vector": ValueError}
X = np.array([[3, 1, 2], [6, 5, 4]], np.float32)
Y = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
PLACES = np.array([[0, 1], [1, 0]])


@pytest.mark.parametrize(("case", "recorded"), list(cases("overloads")))
def test_as_recorded(case, recorded, caplog):
    # Oracle: MindSpore 2.10. None of the words is older, so nothing is said.
    caplog.set_level(logging.WARNING, "mycel")
    agrees(case, recorded, OTHER_ERROR.get(case.name))
    assert not caplog.records


def test_values_in_every_execution():
    # Oracle: NumPy.
    matches(
        lambda x: (x.trace(1), x.int().trace(), x.view(ms.int32), x.view(dtype=ms.float16)),
        lambda x: (
            np.trace(x, 1),
            np.trace(x.astype(np.int32), dtype=np.int64),
            x.view(np.int32),
            x.view(np.float16),
        ),
        X,
    )
    slope = ms.grad(lambda x: x.trace() * 2)(Tensor(X))
    assert slope.asnumpy().tolist() == [[2, 0, 0], [0, 2, 0]]


def test_scatter_adds_and_multiplies():
    # Oracle: by hand; MindSpore 2.10 replaces on a CPU, whatever `reduce` says.
    def added(x, places, y):
        return (
            x.scatter(dim=1, index=places, src=y, reduce="add"),
            x.scatter(1, places, y, "multiply"),
            x.scatter(1, places, 7.0),
        )

    x, y = X[:, :2].copy(), Y[:, :2].copy()
    expected = (
        np.float32([[4, 3], [11, 9]]),
        np.float32([[3, 2], [30, 20]]),
        np.float32([[7, 7], [7, 7]]),
    )
    matches(added, lambda *_: expected, x, PLACES, y)


def test_words_without_a_kernel():
    # Oracle: NumPy, for words of which MindSpore 2.10 has no CPU kernel.
    matches(
        lambda x: (
            x.nansum(dim=1, keepdim=True),
            x.narrow(dim=1, start=0, length=2),
            x.transpose(axes=(1, 0)),
            x.repeat_interleave(2, dim=1, output_size=6),
            x.permute(axis=(1, 0)),
        ),
        lambda x: (x.sum(1, keepdims=True), x[:, :2], x.T, x.repeat(2, 1), x.T),
        X,
    )
    with pytest.raises(ValueError, match="output_size is 5"):
        Tensor(X).repeat_interleave(2, dim=1, output_size=5)


def test_a_word_and_its_place_are_one_argument():
    with pytest.raises(TypeError, match=r"Tensor\.matmul: tensor2 must be given"):
        Tensor(X).matmul()
