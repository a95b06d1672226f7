# SPDX-License-Identifier: Apache-2.0
"""Attention as one operator, with the layouts, masks and results of MindSpore's."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.nn.attention import attention_weights, dropped_weights, weighted_values

# "All that came before", as MindSpore's operators write it.
WITHOUT_LIMIT = 2147483647
LAYOUTS = ("BSH", "BNSD", "SBH", "BSND", "TND")
CAUSAL_FROM_TOP, CAUSAL_FROM_BOTTOM, BAND, PREFIX = 2, 3, 4, 5


@op()
def from_layout(x, *, layout, heads):
    """[N, heads, time, length] of a Tensor in one of the layouts.

    Example:
        >>> from mycel.ops.nn.fused_attention import from_layout
        >>> from_layout(ops.ones((5, 2, 6)), "SBH", 3).shape
        (2, 3, 5, 2)
    """
    if layout == "BNSD":
        return x
    if layout == "TND":
        return x.transpose(1, 0, 2)[None]
    if layout == "SBH":
        x = x.transpose(1, 0, 2)
    if layout != "BSND":
        x = x.reshape(*x.shape[:2], heads, -1)
    return x.transpose(0, 2, 1, 3)


@op()
def to_layout(x, *, layout):
    """[N, heads, time, length] in one of the layouts.

    Example:
        >>> from mycel.ops.nn.fused_attention import to_layout
        >>> to_layout(ops.ones((2, 3, 5, 2)), "SBH").shape
        (5, 2, 6)
    """
    if layout == "BNSD":
        return x
    if layout == "TND":
        return x[0].transpose(1, 0, 2)
    x = x.transpose(0, 2, 1, 3)
    if layout == "BSND":
        return x
    x = x.reshape(*x.shape[:2], -1)
    return x.transpose(1, 0, 2) if layout == "SBH" else x


def _places(count, ends):
    """Of each of `count` elements: its sequence, its place in that, and the sequence's length."""
    index = jnp.arange(count, dtype=np.int32)
    if ends is None:
        return jnp.zeros_like(index), index, jnp.full_like(index, count)
    ends = ends.astype(np.int32)
    sequence = jnp.searchsorted(ends, index, side="right").astype(np.int32)
    starts = jnp.concatenate([jnp.zeros(1, np.int32), ends])
    start = starts[sequence]
    return sequence, index - start, jnp.append(ends, count).astype(np.int32)[sequence] - start


@op()
def sparse_mask(mask=None, prefix=None, query_ends=None, key_ends=None, *, shape, mode, band):
    """True where a fused attention does not look: the mask, other sequences, later keys.

    Args:
        mask: broadcasts to [N, heads, time, key time]; not read where `mode` says it all.
        prefix: [N], how many keys all queries look at, for mode 5.
        query_ends, key_ends: where concatenated sequences end.
        shape: (time, key time).
        band: (pre_tokens, next_tokens).

    Example:
        >>> from mycel.ops.nn.fused_attention import sparse_mask
        >>> limits = (2147483647, 2147483647)
        >>> made = sparse_mask(None, None, None, None, shape=(2, 2), mode=2, band=limits)
        >>> print(made[0, 0])
        [[False  True]
         [False False]]
    """
    own, row, rows = (part[:, None] for part in _places(shape[0], query_ends))
    other, column, columns = (part[None, :] for part in _places(shape[1], key_ends))
    before, after = (min(limit, WITHOUT_LIMIT // 2) for limit in band)
    last = row + (columns - rows if mode in (CAUSAL_FROM_BOTTOM, BAND, PREFIX) else 0)
    closed = jnp.zeros(shape, bool)
    if mode in (CAUSAL_FROM_TOP, CAUSAL_FROM_BOTTOM, PREFIX):
        closed = column > last
    elif mode == BAND or (mode == 0 and mask is not None):
        closed = (column > last + after) | (column < last - before)
    closed = (closed | (own != other))[None, None]
    if mode == PREFIX and prefix is not None:
        closed = closed & (column >= prefix.astype(np.int32)[:, None, None, None])
    return closed if mask is None or mode >= CAUSAL_FROM_TOP else closed | mask.astype(bool)


def _ends(lengths):
    if lengths is None or isinstance(lengths, Tensor):
        return lengths
    return Tensor(np.array(lengths, np.int64))


def _check_layout(query, key, value, layout, heads, mode):
    if layout not in LAYOUTS:
        raise ValueError(f"input_layout must be one of {', '.join(LAYOUTS)}, not {layout!r}.")
    if not 0 <= mode <= PREFIX:
        raise ValueError(f"sparse_mode must be from 0 to {PREFIX}, not {mode}.")
    rank = 4 if layout in ("BNSD", "BSND") else 3
    if not query.ndim == key.ndim == value.ndim == rank:
        raise ValueError(
            f"query {query.shape}, key {key.shape}, value {value.shape} are not all {layout}."
        )
    if heads < 1 or (rank == 3 and layout != "TND" and query.shape[-1] % heads):
        raise ValueError(f"head_num={heads} does not divide the length {query.shape[-1]}.")


def _key_heads(query, key, layout, heads):
    """How many heads the keys have, which may be fewer than those of the queries."""
    if layout in ("BSH", "SBH"):
        count, rest = divmod(key.shape[-1], query.shape[-1] // heads)
    else:
        count, rest = key.shape[1 if layout in ("BNSD", "TND") else 2], 0
    if rest or not count or heads % count:
        raise ValueError(f"key {key.shape} does not hold heads that {heads} heads can share.")
    return count


@composite(
    "FlashAttentionScore(head_num=heads, keep_prob=1.0, scale_value=(scale, 1.0),"
    " pre_tokens=2147483647, next_tokens=2147483647, inner_precise=0, input_layout=(layout, 'BSH'),"
    " sparse_mode=(mode, 0))"
    "(query, key, value, real_shift=shift, drop_mask=bits, padding_mask=padding_mask,"
    " attn_mask=mask, prefix=prefix, actual_seq_qlen=query_ends, actual_seq_kvlen=key_ends)"
)
def flash_attention(
    query,
    key,
    value,
    heads,
    shift=None,
    bits=None,
    padding_mask=None,
    mask=None,
    prefix=None,
    query_ends=None,
    key_ends=None,
    keep_prob=1.0,
    scale=1.0,
    pre_tokens=WITHOUT_LIMIT,
    next_tokens=WITHOUT_LIMIT,
    inner_precise=0,
    layout="BSH",
    mode=0,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`ops.flash_attention_score` with the statistics of its softmax.

    Args:
        query: as `input_layout` says, [N, S, heads · D] by default; see
            `ops.flash_attention_score`.
        key, value: as the query, also with fewer heads.
        heads: `head_num`, the number of heads of the query.
        shift: `real_shift`, added to the products before they are scaled: [N or 1, heads, S, S2];
            None, the default, for nothing.
        bits: `drop_mask`, UInt8 with a bit for each weight that is kept; None, the default, draws
            them if `keep_prob` is below 1.
        padding_mask: no effect.
        mask: `attn_mask`, true where a query must not look; it broadcasts to [N, heads, S, S2].
            None, the default, for none.
        prefix: [N], for sparse_mode 5: the number of keys at which all queries look.
        query_ends, key_ends: `actual_seq_qlen` and `actual_seq_kvlen`, for 'TND': where each
            sequence ends.
        keep_prob: the probability that a weight is kept; 1, the default, keeps all.
        scale: `scale_value`, the factor of the products; 1 by default.
        pre_tokens, next_tokens: how many positions before and after its own a query looks, for
            sparse_mode 4, and for 0 with a mask; without limit by default.
        inner_precise: no effect.
        layout: `input_layout`: 'BSH' (the default), 'BNSD', 'SBH', 'BSND' or 'TND'.
        mode: `sparse_mode`, 0 (the default) to 5; see `ops.flash_attention_score`.

    Returns:
        The maximum and the sum of each softmax, [N, heads, time, 8] (eight times the same; [T,
        heads, 8] for TND), an empty result, and the output.

    Source: MindSpore's `ops.auto_generate.FlashAttentionScore`.

    Example:
        >>> x = ops.ones((1, 2, 4), mycel.float32)
        >>> [part.shape for part in ops.FlashAttentionScore(2)(x, x, x)]
        [(1, 2, 2, 8), (1, 2, 2, 8), (), (1, 2, 4)]
    """
    del padding_mask, inner_precise
    _check_layout(query, key, value, layout, heads, mode)
    shared = _key_heads(query, key, layout, heads)
    if layout == "TND" and (query_ends is None or key_ends is None):
        raise ValueError("input_layout 'TND' needs actual_seq_qlen and actual_seq_kvlen.")
    if layout == "TND" and shift is not None:
        raise ValueError("input_layout 'TND' takes no real_shift here; use another layout.")
    if not 0 < keep_prob <= 1:
        raise ValueError(f"keep_prob must be above 0 and at most 1, not {keep_prob}.")
    query = from_layout(query, layout, heads)
    key, value = (from_layout(x, layout, shared) for x in (key, value))
    shape = query.shape[2], key.shape[2]
    if query_ends is not None or mode >= CAUSAL_FROM_TOP or mask is not None:
        # A mask that has the size of a compressed one only says what the mode says.
        mask = None if mode in (CAUSAL_FROM_TOP, CAUSAL_FROM_BOTTOM, BAND) else mask
        arrays = mask, _ends(prefix), _ends(query_ends), _ends(key_ends)
        mask = sparse_mask(*arrays, shape=shape, mode=mode, band=(pre_tokens, next_tokens))
    weights, highest, total = attention_weights(query, key, shift, mask, float(scale))
    if keep_prob < 1:
        weights = dropped_weights(weights, float(keep_prob), bits)
    out = to_layout(weighted_values(weights, value), layout)
    statistics = softmax_statistics(highest, layout), softmax_statistics(total, layout)
    return *statistics, Tensor(np.zeros((), query.dtype.numpy)), out


@op()
def softmax_statistics(x, *, layout):
    """The statistics of a softmax in the shape of MindSpore's operator.

    Example:
        >>> from mycel.ops.nn.fused_attention import softmax_statistics
        >>> softmax_statistics(ops.ones((2, 3, 5, 1)), "BSH").shape
        (2, 3, 5, 8)
    """
    wide = jnp.broadcast_to(x, (*x.shape[:-1], 8))
    return wide[0].transpose(1, 0, 2) if layout == "TND" else wide


@composite(
    "ops.flash_attention_score(query, key, value, head_num=heads, real_shift=shift, drop_mask=bits,"
    " padding_mask=padding_mask, attn_mask=mask, prefix=prefix, actual_seq_qlen=query_ends,"
    " actual_seq_kvlen=key_ends, keep_prob=1.0, scalar_value=(scale, 1.0), pre_tokens=2147483647,"
    " next_tokens=2147483647, inner_precise=0, input_layout=(layout, 'BSH'), sparse_mode=(mode, 0))"
)
def flash_attention_score(
    query,
    key,
    value,
    heads,
    shift=None,
    bits=None,
    padding_mask=None,
    mask=None,
    prefix=None,
    query_ends=None,
    key_ends=None,
    keep_prob=1.0,
    scale=1.0,
    pre_tokens=WITHOUT_LIMIT,
    next_tokens=WITHOUT_LIMIT,
    inner_precise=0,
    layout="BSH",
    mode=0,
):
    """dropout(softmax(mask((query · keyᵀ + shift) · scale))) · value, for several heads at once.

    A query that may look at no key gets zeros.

    Args:
        query: [N, S, heads · D] for 'BSH', [N, heads, S, D] for 'BNSD', [S, N, heads · D] for
            'SBH', [N, S, heads, D] for 'BSND', or concatenated sequences, [T, heads, D], for 'TND'.
        key, value: as the query, also with fewer heads that several queries share.
        heads: `head_num`, the number of heads of the query.
        shift: `real_shift`, added to the products before they are scaled: [N or 1, heads, S, S2].
        bits: `drop_mask`, UInt8 with a bit for each weight that is kept; without it and with a
            `keep_prob` below 1 they are drawn.
        padding_mask, inner_precise: accepted; MindSpore does not use them either.
        mask: `attn_mask`, true where nothing is looked at; broadcast to [N, heads, S, S2].
        prefix: how many keys all queries of an entry of the batch look at, for sparse_mode 5.
        query_ends, key_ends: `actual_seq_qlen`, `actual_seq_kvlen`: where sequences end, for 'TND'.
        keep_prob: the probability that a weight is kept; 1, the default, keeps all.
        scale: `scalar_value`, the factor of the products; 1 by default.
        pre_tokens, next_tokens: how far before and after itself a query looks, where there is a
            mask and sparse_mode is 0, or where that is 4.
        layout: `input_layout`: 'BSH' (the default), 'BNSD', 'SBH', 'BSND' or 'TND'.
        mode: `sparse_mode`: 0 and 1 the mask, 2 no later keys, 3 the same counted from the last
            ones, 4 a band counted from the last ones, 5 as 3 beside the prefix. With 2, 3 and 4 the
            mask itself is not read.

    Raises:
        ValueError: the layout or the mode is unknown, or the shapes do not fit together.

    Example:
        >>> x = Tensor([[[0.0], [2.0]]])
        >>> print(ops.flash_attention_score(x * 0, x, x, 1, sparse_mode=2).reshape(-1))
        [0. 1.]
    """
    return flash_attention(
        query, key, value, heads, shift, bits, padding_mask, mask, prefix, query_ends, key_ends,
        keep_prob, scale, pre_tokens, next_tokens, inner_precise, layout, mode,
    )[3]  # fmt: skip


@composite(
    "ops.speed_fusion_attention(query, key, value, head_num=heads, input_layout=layout,"
    " pse=(shift, None), padding_mask=None, atten_mask=(mask, None), scale=1.0, keep_prob=1.0,"
    " pre_tokens=2147483647, next_tokens=2147483647, inner_precise=0, prefix=None,"
    " actual_seq_qlen=(query_ends, None), actual_seq_kvlen=(key_ends, None), sparse_mode=(mode, 0),"
    " gen_mask_parallel=True, sync=False, pse_type=1, q_start_idx=None, kv_start_idx=None)"
)
def speed_fusion_attention(
    query,
    key,
    value,
    heads,
    layout,
    shift=None,
    padding_mask=None,
    mask=None,
    scale=1.0,
    keep_prob=1.0,
    pre_tokens=WITHOUT_LIMIT,
    next_tokens=WITHOUT_LIMIT,
    inner_precise=0,
    prefix=None,
    query_ends=None,
    key_ends=None,
    mode=0,
    gen_mask_parallel=True,
    sync=False,
    pse_type=1,
    q_start_idx=None,
    kv_start_idx=None,
) -> Any:
    """`ops.flash_attention_score` with more results and other names for its arguments.

    Args:
        query, key, value: as for `ops.flash_attention_score`.
        heads: `head_num`, the number of heads of the query.
        layout: `input_layout`: 'BSH', 'BNSD', 'SBH', 'BSND' or 'TND'.
        shift: `pse`, added to the products before they are scaled, or after for pse_type 0.
        padding_mask: no effect.
        mask: `atten_mask`, true where a query must not look; None, the default, for none.
        scale: the factor of the products, 1 by default.
        keep_prob: the probability that a weight is kept; 1, the default, keeps all.
        pre_tokens, next_tokens: how many positions before and after its own a query looks, for
            sparse_mode 4, and for 0 with a mask; without limit by default.
        inner_precise: no effect.
        prefix: [N], for sparse_mode 5: the number of keys at which all queries look.
        query_ends, key_ends: `actual_seq_qlen` and `actual_seq_kvlen`, for 'TND': where each
            sequence ends.
        mode: `sparse_mode`, 0 (the default) to 5; see `ops.flash_attention_score`.
        gen_mask_parallel, sync, q_start_idx, kv_start_idx: accepted; they are about the hardware of
            MindSpore and about shifts that it makes itself.
        pse_type: 1, the default, adds `pse` before the products are scaled, 0 after.

    Returns:
        The output, the maximum and the sum of each softmax, an empty result, and three integers
        that only MindSpore's own generator has a use for.

    Raises:
        ValueError: `pse_type` is neither 0 nor 1.

    Example:
        >>> x = ops.ones((1, 2, 4), mycel.float32)
        >>> ops.speed_fusion_attention(x, x, x, 2, "BSH")[0].shape
        (1, 2, 4)
    """
    del gen_mask_parallel, sync, q_start_idx, kv_start_idx
    if pse_type not in (0, 1):
        raise ValueError(f"pse_type must be 0 or 1, not {pse_type}.")
    if shift is not None and pse_type == 0:
        shift = shift * (1 / scale)
    *statistics, empty, out = flash_attention(
        query, key, value, heads, shift, None, padding_mask, mask, prefix, query_ends, key_ends,
        keep_prob, scale, pre_tokens, next_tokens, inner_precise, layout, mode,
    )  # fmt: skip
    return out, *statistics, empty, 0, 0, 0


@op()
def mask_beyond_lengths(mask=None, lengths=None, *, count):
    """A mask that is also true for keys beyond the length of their entry of the batch.

    Example:
        >>> from mycel.ops.nn.fused_attention import mask_beyond_lengths
        >>> print(mask_beyond_lengths(None, Tensor([1]), 2)[0, 0, 0])
        [False  True]
    """
    closed = jnp.zeros((1, 1, 1, 1), bool) if mask is None else mask.astype(bool)
    if lengths is None:
        return closed
    return closed | (jnp.arange(count) >= lengths.reshape(-1, 1, 1, 1))


@composite(
    "PromptFlashAttention(num_heads=(heads, 1), scale_value=(scale, 1.0), pre_tokens=2147483647,"
    " next_tokens=0, input_layout=(layout, 'BSH'), num_key_value_heads=0, sparse_mode=(mode, 0),"
    " inner_precise=1)"
    "(query, key, value, attn_mask=mask, actual_seq_lengths=None, actual_seq_lengths_kv=lengths,"
    " pse_shift=shift, deq_scale1=None, quant_scale1=None, deq_scale2=None, quant_scale2=None,"
    " quant_offset2=None)"
)
def prompt_flash_attention(
    query,
    key,
    value,
    mask=None,
    actual_seq_lengths=None,
    lengths=None,
    shift=None,
    deq_scale1=None,
    quant_scale1=None,
    deq_scale2=None,
    quant_scale2=None,
    quant_offset2=None,
    heads=1,
    scale=1.0,
    pre_tokens=WITHOUT_LIMIT,
    next_tokens=0,
    layout="BSH",
    num_key_value_heads=0,
    mode=0,
    inner_precise=1,
):
    """`ops.flash_attention_score` for inference: keys may end early in each entry of the batch.

    Args:
        query, key, value: as for `ops.flash_attention_score`, in one of the layouts 'BSH', 'BSND',
            'BNSD' and 'SBH'.
        mask: `attn_mask`, true where nothing is looked at.
        actual_seq_lengths: accepted; what lies beyond is computed, and means nothing.
        lengths: `actual_seq_lengths_kv`, how many keys each entry has.
        shift: `pse_shift`, added to the scaled products.
        deq_scale1, quant_scale1, deq_scale2, quant_scale2, quant_offset2: None; quantised numbers
            are not supported.
        heads: `num_heads`, the number of heads of the query; 1 by default.
        scale: the factor of the products, 1 by default.
        pre_tokens, next_tokens: how many positions before and after its own a query looks, for
            sparse_mode 4, and for 0 with a mask; by default without limit before, and 0 after.
        layout: `input_layout`, 'BSH' by default.
        num_key_value_heads: accepted; the shapes say it.
        mode: `sparse_mode`, 0 (the default) to 5; see `ops.flash_attention_score`.
        inner_precise: no effect.

    Raises:
        ValueError: scales of quantised numbers are given, which are not supported.

    Source: MindSpore's `ops.auto_generate.PromptFlashAttention`.

    Example:
        >>> x = ops.ones((1, 2, 4), mycel.float32)
        >>> ops.PromptFlashAttention(2)(x, x, x).shape
        (1, 2, 4)
    """
    del actual_seq_lengths, num_key_value_heads
    quantised = deq_scale1, quant_scale1, deq_scale2, quant_scale2, quant_offset2
    if any(number is not None for number in quantised):
        raise ValueError("PromptFlashAttention takes real numbers only: leave out quant and deq.")
    places = {"BSH": 1, "BSND": 1, "BNSD": 2, "SBH": 0}
    if layout not in places:
        raise ValueError(f"input_layout must be one of {', '.join(places)}, not {layout!r}.")
    shape = query.shape[places[layout]], key.shape[places[layout]]
    if mask is not None or mode >= CAUSAL_FROM_TOP:
        band = pre_tokens, next_tokens
        mask = sparse_mask(mask, None, None, None, shape=shape, mode=mode, band=band)
    if lengths is not None:
        mask = mask_beyond_lengths(mask, _ends(lengths), count=shape[1])
    shift = None if shift is None else shift * (1 / scale)
    return flash_attention(
        query, key, value, heads, shift, None, None, mask, scale=scale, layout=layout, mode=1
    )[3]
