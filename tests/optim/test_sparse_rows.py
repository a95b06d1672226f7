# SPDX-License-Identifier: Apache-2.0
"""Rows that a batch does not look up, in a table with sparse gradients.

Oracle: recorded MindSpore 2.10, compiled (its PyNative mode takes no sparse gradients).
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mycel as ms
from fixtures.case import decode, encode, evaluate
from fixtures.load import pairs
from harness import EXECUTIONS, assert_close, execution
from mycel import Parameter, Tensor, nn

RECORDED = [pytest.param(case, row, id=case.name) for case, row in pairs("sparse_rows")]
TABLE = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
GRADIENT = np.array([[1, 0], [0, 0], [0, 2]], np.float32)


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(("case", "answer"), RECORDED)
def test_recorded(case, answer, mode):
    with execution(mode):
        tables = decode(encode(evaluate(case, ms)))
    for mine, theirs in zip(tables, answer.output, strict=True):
        assert_close(mine.values, theirs.values, case.name)


def moved(optimizer_of, table):
    """Which rows a second step without gradients moves."""
    optimizer = optimizer_of([table])
    optimizer((Tensor(GRADIENT),))
    before = table.asnumpy()
    optimizer((Tensor(np.zeros_like(GRADIENT)),))
    return (table.asnumpy() != before).any(1).tolist()


def lazy(weights):
    return nn.LazyAdam(weights, 0.1, weight_decay=0.1)


def test_other_parameters_and_layers_have_all_rows_moved():
    dense = nn.EmbeddingLookup(3, 2, Tensor(TABLE), target="DEVICE", sparse=False)
    for table in (Parameter(Tensor(TABLE), name="w"), dense.embedding_table):
        assert moved(lazy, table) == [True] * 3
    assert moved(nn.AdamOffload, nn.EmbeddingLookup(3, 2, Tensor(TABLE)).embedding_table) == [
        True, False, True
    ]  # fmt: skip


def test_a_copy_of_a_table_is_one():
    layer = nn.EmbeddingLookup(3, 2, Tensor(TABLE))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert moved(lazy, other.embedding_table) == [False] * 3


def test_a_gradient_that_is_not_a_number_is_not_hidden():
    table = nn.EmbeddingLookup(3, 2, Tensor(TABLE)).embedding_table
    lazy([table])((Tensor(np.where(GRADIENT == 1, np.nan, GRADIENT).astype(np.float32)),))
    assert np.isnan(table.asnumpy()).any(1).tolist() == [True, False, False]
