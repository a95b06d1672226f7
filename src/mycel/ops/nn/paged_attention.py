# SPDX-License-Identifier: Apache-2.0
"""Attention of one token for each sequence to keys and values that lie in blocks of a cache."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import composite, op

UNSUPPORTED = "PagedAttention: {name} is not supported; leave it at {usual!r}."


@op()
def in_slots(cache, rows, slots):
    """The cache with rows in the given slots; a negative slot takes none.

    Args:
        cache: [blocks, block_size, …].
        rows: [tokens, …], as large as the slots.
        slots: [tokens], places counted through the blocks.

    Example:
        >>> from mycel.ops.nn.paged_attention import in_slots
        >>> print(in_slots(Tensor([[[0.0], [0.0]]]), Tensor([[5.0], [7.0]]), Tensor([1, -1])))
        [[[0.]
          [5.]]]
    """
    count = cache.shape[0] * cache.shape[1]
    flat = cache.reshape(count, -1)
    slots = slots.reshape(-1)
    # Beyond the end: dropped.
    places = jnp.where(slots < 0, count, slots)
    rows = rows.reshape(slots.shape[0], -1).astype(cache.dtype)
    return flat.at[places].set(rows, mode="drop").reshape(cache.shape)


@composite(
    "ReshapeAndCache()(key, value=None, key_cache=None, value_cache=None, slot_mapping=None)"
)
def reshape_and_cache(key, value=None, key_cache=None, value_cache=None, slot_mapping=None):
    """Put the keys and values of new tokens into slots of a cache of blocks, in place.

    Args:
        key: the keys of the tokens, [tokens, heads, D], or other shapes with as many elements.
        value: the values, likewise; None, the default, for none.
        key_cache: a Parameter [blocks, block_size, heads, D]; changed in place.
        value_cache: one for the values; None, the default, for none.
        slot_mapping: [tokens], the slot of each token: block · block_size + place in the block;
            tokens with a negative one are left out.

    Returns:
        `key`.

    Source: MindSpore's `ops.ReshapeAndCache`, which it has on Ascend.

    Example:
        >>> cache = Parameter(ops.zeros((1, 2, 1, 1)), name="cache")
        >>> done = ops.ReshapeAndCache()(Tensor([[[5.0]]]), None, cache, None, Tensor([1]))
        >>> print(cache.asnumpy().ravel())
        [0. 5.]
    """
    for cache, rows in ((key_cache, key), (value_cache, value)):
        if cache is not None and rows is not None:
            update(cache, in_slots(cache, rows, slot_mapping))
    return key


@op()
def attention_to_blocks(query, keys, values, tables, lengths, bias, *, heads, shared, scale):
    """Attention of one token for each sequence to what its blocks hold; see `PagedAttention`.

    Example:
        >>> from mycel.ops.nn.paged_attention import attention_to_blocks
        >>> one = ops.ones((1, 1, 2))
        >>> caches = Tensor([[[[1.0, 1.0]], [[3.0, 3.0]]]])
        >>> print(attention_to_blocks(
        ...     one, caches, caches, Tensor([[0]]), Tensor([1]), Tensor(0.0), 1, 1, 1.0))
        [[[1. 1.]]]
    """
    size = keys.shape[-1] if keys.ndim == 4 else keys.shape[-1] // shared
    count = tables.shape[0]
    tokens = query.reshape(count, shared, heads // shared, size).astype(np.float32)
    # Blocks that are not filled have any number; what they hold is beyond the length.
    places = jnp.clip(tables, 0, keys.shape[0] - 1)
    found = (a.reshape(*a.shape[:2], shared, -1)[places] for a in (keys, values))
    keys, values = (a.reshape(count, -1, *a.shape[-2:]).astype(np.float32) for a in found)
    scores = jnp.einsum("bkgd,btkd->bkgt", tokens, keys) * np.float32(scale)
    if bias.ndim:
        bias = bias.reshape(count, -1, bias.shape[-1])[..., : scores.shape[-1]]
        bias = jnp.pad(bias, ((0, 0), (0, 0), (0, scores.shape[-1] - bias.shape[-1])))
        bias = jnp.broadcast_to(bias, (count, heads, scores.shape[-1]))
        scores = scores + bias.reshape(scores.shape).astype(np.float32)
    beyond = np.arange(scores.shape[-1]) >= lengths.reshape(-1, 1)
    scores = jnp.where(beyond[:, None, None], -jnp.inf, scores)
    weights = jax.nn.softmax(scores, axis=-1)
    made = jnp.einsum("bkgt,btkd->bkgd", weights, values)
    return made.reshape(*query.shape[:-1], -1).astype(query.dtype)


@composite(
    "PagedAttention(head_num=heads, scale_value=scale, kv_head_num=shared,"
    " kv_cache_quant_mode=(quantized, 'DEFAULT'), mask_mode=(mask_mode, 'MASK_DEFAULT'),"
    " mla_v_dim=(value_size, 0))"
    "(query, key_cache, value_cache, block_tables, context_lens, antiquant_scale=factors,"
    " antiquant_offset=offsets, attn_mask=mask, q_seq_lens=query_lengths, alibi_mask=bias)",
    "PagedAttentionMask(head_num=heads, scale_value=scale, kv_head_num=shared,"
    " kv_cache_quant_mode=(quantized, 'DEFAULT'))"
    "(query, key_cache, value_cache, block_tables, context_lens, antiquant_scale=factors,"
    " antiquant_offset=offsets, alibi_mask=bias, attn_mask=mask)",
)
def paged_attention(
    query,
    key_cache,
    value_cache,
    block_tables,
    context_lens,
    heads,
    scale,
    shared,
    factors=None,
    offsets=None,
    mask=None,
    query_lengths=None,
    bias=None,
    quantized="DEFAULT",
    mask_mode="MASK_DEFAULT",
    value_size=0,
):
    """Attention of one new token for each sequence to keys and values in blocks of a cache.

    Args:
        query: one token for each sequence: [N, heads, D], or [N, 1, heads · D].
        key_cache, value_cache: [blocks, block_size, kv_heads, D], as `ReshapeAndCache` fills them.
        block_tables: [N, most blocks], the blocks of each sequence in their order.
        context_lens: [N], how many tokens each sequence has, the new one included.
        heads: `head_num`, the heads of the query.
        scale: `scale_value`, the factor of the products.
        shared: `kv_head_num`, the heads of keys and values; a divisor of `heads`.
        factors, offsets: `antiquant_scale`, `antiquant_offset`; must be None.
        mask, bias: `attn_mask` and `alibi_mask`, added to the scaled products: [N, most tokens], or
            for each head [N, heads, 1, most tokens]. None, the default, for nothing.
        query_lengths: `q_seq_lens`; must be None: there is one token for each sequence.
        quantized: `kv_cache_quant_mode`; no effect without quantised caches.
        mask_mode: must be 'MASK_DEFAULT'.
        value_size: `mla_v_dim`; must be 0.

    Raises:
        NotImplementedError: one of the arguments that must keep their values does not.
        ValueError: `kv_head_num` does not divide `head_num`.

    Source: MindSpore's `ops.PagedAttention`, `ops.PagedAttentionMask`, which it has on Ascend.

    Example:
        >>> cache = Tensor([[[[1.0, 1.0]], [[3.0, 3.0]]]])
        >>> tables, lengths = Tensor([[0]]), Tensor([1])
        >>> query = ops.ones((1, 1, 2))
        >>> print(ops.PagedAttention(1, 1.0, 1)(query, cache, cache, tables, lengths))
        [[[1. 1.]]]
        >>> ops.PagedAttentionMask(1, 1.0, 1)(query, cache, cache, tables, lengths).shape
        (1, 1, 2)
    """
    del quantized
    for name, given, usual in (
        ("antiquant_scale", factors, None),
        ("antiquant_offset", offsets, None),
        ("q_seq_lens", query_lengths, None),
        ("mask_mode", mask_mode, "MASK_DEFAULT"),
        ("mla_v_dim", value_size, 0),
    ):
        if given is not usual and not (isinstance(usual, (str, int)) and given == usual):
            raise NotImplementedError(UNSUPPORTED.format(name=name, usual=usual))
    if heads % shared:
        raise wrong(ValueError, "PagedAttention: kv_head_num", f"a divisor of {heads}", shared)
    added = [each for each in (mask, bias) if each is not None]
    if len(added) == 2:
        added = [added[0].reshape(query.shape[0], -1, added[0].shape[-1]) + added[1].reshape(
            query.shape[0], -1, added[1].shape[-1]
        )]  # fmt: skip
    from_mask = added[0] if added else Tensor(np.zeros((), np.float32))
    return attention_to_blocks(
        query, key_cache, value_cache, block_tables, context_lens, from_mask,
        heads=heads, shared=shared, scale=float(scale),
    )  # fmt: skip
