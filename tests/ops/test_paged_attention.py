# SPDX-License-Identifier: Apache-2.0
"""Caches of blocks and attention to them; the oracle is NumPy: MindSpore has these on Ascend."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from harness import EXECUTIONS, assert_close, execution, matches
from mycel import Parameter, Tensor, ops

RANDOM = np.random.default_rng(3)


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


KEYS, VALUES = normal(6, 4, 2, 8), normal(6, 4, 2, 8)
TABLES = np.array([[5, 0, -1], [2, 3, 1]], np.int32)
LENGTHS = np.array([6, 9], np.int32)
QUERY = normal(2, 4, 8)


def attended(query, bias=None):
    """The attention of each token, sequence by sequence and head by head."""
    found = np.zeros_like(query)
    for n, (table, length) in enumerate(zip(TABLES, LENGTHS, strict=True)):
        keys, values = (cache[table].reshape(-1, 2, 8)[:length] for cache in (KEYS, VALUES))
        for head in range(4):
            scores = keys[:, head // 2] @ query[n, head] * 0.5
            if bias is not None:
                scores = scores + bias[n, head, 0, :length]
            found[n, head] = scipy.special.softmax(scores) @ values[:, head // 2]
    return found


def test_attention():
    attend = ops.PagedAttention(4, 0.5, 2)
    caches = Tensor(KEYS), Tensor(VALUES), Tensor(TABLES), Tensor(LENGTHS)
    matches(lambda query: attend(query, *caches), attended, QUERY)
    rows = QUERY.reshape(2, 1, 32)
    matches(lambda query: attend(query, *caches), lambda _: attended(QUERY).reshape(2, 1, 32), rows)
    flat = [Tensor(cache.reshape(6, 4, 16)) for cache in (KEYS, VALUES)]
    matches(lambda query: attend(query, *flat, *caches[2:]), attended, QUERY)


def test_masks_are_added():
    bias, mask = normal(2, 4, 1, 9), normal(2, 9)
    caches = Tensor(KEYS), Tensor(VALUES), Tensor(TABLES), Tensor(LENGTHS)
    masked = ops.PagedAttentionMask(4, 0.5, 2)
    matches(
        lambda query, bias: masked(query, *caches, None, None, bias),
        attended,
        *(QUERY, bias),
    )
    both = bias + mask[:, None, None]
    matches(
        lambda query, bias, mask: masked(query, *caches, None, None, bias, mask),
        lambda query, *_: attended(query, both),
        *(QUERY, bias, mask),
    )


@pytest.mark.parametrize("name", EXECUTIONS)
def test_tokens_go_into_slots(name):
    key, value, slots = normal(3, 2, 8), normal(3, 2, 8), np.array([9, -1, 23], np.int32)
    with execution(name):
        caches = [Parameter(KEYS, name="keys"), Parameter(VALUES, name="values")]
        given = ops.ReshapeAndCache()(Tensor(key), Tensor(value), *caches, Tensor(slots))
        assert_close(given.asnumpy(), key, name)
        for cache, before, rows in zip(caches, (KEYS, VALUES), (key, value), strict=True):
            expected = before.reshape(24, 2, 8).copy()
            expected[[9, 23]] = rows[[0, 2]]
            assert_close(cache.asnumpy(), expected.reshape(before.shape), name)


def test_what_is_not_supported():
    caches = Tensor(KEYS), Tensor(VALUES), Tensor(TABLES), Tensor(LENGTHS)
    with pytest.raises(NotImplementedError, match="antiquant_scale"):
        ops.PagedAttention(4, 0.5, 2)(Tensor(QUERY), *caches, Tensor([1.0]))
    with pytest.raises(NotImplementedError, match="mask_mode"):
        ops.PagedAttention(4, 0.5, 2, mask_mode="TRAPEZOIDAL")(Tensor(QUERY), *caches)
    with pytest.raises(ValueError, match="kv_head_num"):
        ops.PagedAttention(4, 0.5, 3)(Tensor(QUERY), *caches)
