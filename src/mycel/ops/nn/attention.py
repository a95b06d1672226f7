# SPDX-License-Identifier: Apache-2.0
"""Attention: its weights and sums, and that of several heads.

A mask names what is not looked at. Heads stand as [N, heads, time, length] inside.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import float32
from mycel.kernel.record.generator import default_generator
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.nn.dropout import drop


@op()
def attention_weights(query, key, shift=None, mask=None, *, scale):
    """softmax((query · keyᵀ + shift) · scale) over the keys, 0 where the mask is true.

    A query that may look at no key has only zeros.

    Args:
        query: [N, heads, time, length].
        key: [N, key heads, key time, length], where as many heads after each other share one of the
            keys as it takes.
        shift, mask: broadcast to [N, heads, time, key time].

    Returns:
        The weights, and for each query the maximum of what was exponentiated and the sum of the
        exponentials, in at least Float32.

    Example:
        >>> from mycel.ops.nn.attention import attention_weights
        >>> ones = ops.ones((1, 1, 2, 4), mycel.float32)
        >>> print(attention_weights(ones, ones, None, None, 0.5)[0])
        [[[[0.5 0.5]
           [0.5 0.5]]]]
    """
    batch, heads, time, _ = query.shape
    shared = key.shape[1]
    grouped = query.reshape(batch, shared, heads // shared, time, -1)
    wide = np.promote_types(np.float32, query.dtype)
    scores = jnp.einsum("nhgtd,nhsd->nhgts", grouped, key, preferred_element_type=wide)
    scores = scores.reshape(batch, heads, time, -1)
    if shift is not None:
        scores = scores + shift.astype(wide)
    scores = scores * jnp.array(scale, wide)
    if mask is not None:
        mask = mask.astype(bool)
        scores = jnp.where(mask, jnp.array(jnp.finfo(wide).min, wide), scores)
    highest = lax.stop_gradient(scores.max(-1, keepdims=True))
    powers = jnp.exp(scores - highest)
    if mask is not None:
        powers = jnp.where(mask, jnp.zeros((), wide), powers)
    total = powers.sum(-1, keepdims=True)
    weights = powers / jnp.where(total == 0, jnp.ones((), wide), total)
    return weights.astype(query.dtype), highest, total


@op()
def weighted_values(weights, value):
    """The sums of values with these weights: [N, heads, time, length].

    Example:
        >>> from mycel.ops.nn.attention import weighted_values
        >>> weights, value = Tensor([[[[0.5, 0.5]]]]), Tensor([[[[1.0], [3.0]]]])
        >>> print(weighted_values(weights, value).reshape(-1))
        [2.]
    """
    batch, heads, time, _ = weights.shape
    shared = value.shape[1]
    grouped = weights.reshape(batch, shared, heads // shared, time, -1)
    wide = np.promote_types(np.float32, value.dtype)
    output = jnp.einsum("nhgts,nhsd->nhgtd", grouped, value, preferred_element_type=wide)
    return output.reshape(batch, heads, time, -1).astype(value.dtype)


def dropped_weights(weights, keep, kept=None):
    """Weights of which only some are kept, the rest of them enlarged."""
    if kept is not None:
        return kept_weights(weights, kept, keep)
    return drop(weights, default_generator().next_key(), keep)[0]


@op()
def kept_weights(weights, bits, keep):
    """Weights where a bit is 1, divided by `keep`; 0 elsewhere. Eight bits make one number.

    Example:
        >>> from mycel.ops.nn.attention import kept_weights
        >>> bits = Tensor(np.array([5], np.uint8))
        >>> print(kept_weights(ops.ones(8), bits, 0.5))
        [2. 0. 2. 0. 0. 0. 0. 0.]
    """
    order = np.arange(8, dtype=np.uint8)
    kept = (bits.reshape(-1, 1) >> order & np.uint8(1)).astype(bool).reshape(weights.shape)
    enlarged = weights * (1 / keep.astype(np.float64)).astype(weights.dtype)
    return jnp.where(kept, enlarged, jnp.zeros((), weights.dtype))


# -- several heads, as in PyTorch ------------------------------------------------------------


@op()
def to_heads(x, *, heads):
    """[time, N, heads · length] as [N, heads, time, length].

    Example:
        >>> from mycel.ops.nn.attention import to_heads
        >>> to_heads(ops.ones((5, 2, 6)), 3).shape
        (2, 3, 5, 2)
    """
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2, 0, 3)


@op()
def from_heads(x):
    """[N, heads, time, length] as [time, N, heads · length].

    Example:
        >>> from mycel.ops.nn.attention import from_heads
        >>> from_heads(ops.ones((2, 3, 5, 2))).shape
        (5, 2, 6)
    """
    return x.transpose(2, 0, 1, 3).reshape(x.shape[2], x.shape[0], -1)


@op()
def projected(x, weight, bias=None, *, start=0, end=None):
    """x · weightᵀ + bias with the rows of weight and bias from `start` to `end`.

    Example:
        >>> from mycel.ops.nn.attention import projected
        >>> print(projected(Tensor([1.0]), Tensor([[2.0], [3.0]]), None, 1, 2))
        [3.]
    """
    if x.shape[-1] != weight.shape[1]:
        raise ValueError(f"A Tensor {x.shape} does not end in {weight.shape[1]} features.")
    rows = weight[start:end]
    product = lax.dot_general(x, rows, (((x.ndim - 1,), (1,)), ((), ())))
    return product if bias is None else product + bias[start:end]


@op()
def joined_masks(mask=None, padding=None, *, heads, more):
    """What no query may look at, and what is added to the scores, from two masks of either kind.

    Args:
        mask: [time, key time] or [N · heads, time, key time].
        padding: [N, key time]. Bools are true where nothing is looked at; numbers are added.
        more: how many keys come after those of the masks, open to all.

    Returns:
        Two arrays that broadcast to [N, heads, time, key time]: Bool and Float32.

    Example:
        >>> from mycel.ops.nn.attention import joined_masks
        >>> print(joined_masks(Tensor([[False, True]]), None, 1, 1)[0])
        [[[[False  True False]]]]
    """
    closed, added = jnp.zeros((1, 1, 1, 1), bool), jnp.zeros((1, 1, 1, 1), np.float32)
    if mask is not None:
        mask = mask[None, None] if mask.ndim == 2 else mask.reshape(-1, heads, *mask.shape[1:])
    if padding is not None:
        padding = padding[:, None, None, :]
    for part in (mask, padding):
        if part is None:
            continue
        part = jnp.pad(part, ((0, 0), (0, 0), (0, 0), (0, more)))
        if jnp.issubdtype(part.dtype, jnp.inexact):
            added = added + part.astype(np.float32)
        else:
            closed = closed | part.astype(bool)
    return closed | (added == -jnp.inf), jnp.where(added == -jnp.inf, 0, added)


def _check_heads(query, key, value, width, heads):
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        raise ValueError(
            f"query {query.shape}, key {key.shape} and value {value.shape} must all be "
            "[time, N, features], or all [time, features]."
        )
    if key.shape[:-1] != value.shape[:-1]:
        raise ValueError(f"key {key.shape} and value {value.shape} must be of one time and batch.")
    if query.ndim == 3 and query.shape[1] != key.shape[1]:
        raise ValueError(f"query {query.shape} and key {key.shape} must be of one batch.")
    if query.shape[-1] != width:
        raise ValueError(f"query must have {width} features, not {query.shape[-1]}.")
    if width % heads:
        raise ValueError(f"{width} features do not divide into {heads} heads.")


def _check_masks(mask, padding, batch, heads, time, keys):
    allowed = (time, keys), (batch * heads, time, keys)
    if mask is not None and mask.shape not in allowed:
        raise ValueError(f"attn_mask must be {allowed[0]} or {allowed[1]}, not {mask.shape}.")
    if padding is not None and padding.shape != (batch, keys):
        raise ValueError(f"key_padding_mask must be {(batch, keys)}, not {padding.shape}.")


def _with_more_keys(heads_of, key, value, bias_key, bias_value, zeros):
    """Keys and values with trained ones and zeros behind, for every entry of the batch."""
    batch = key.shape[1]
    if bias_key is not None:
        key = appended_row(key, bias_key.broadcast_to((1, batch, bias_key.shape[-1])))
        value = appended_row(value, bias_value.broadcast_to((1, batch, bias_value.shape[-1])))
    if zeros:
        key = appended_row(key, Tensor(np.zeros((1, batch, key.shape[-1]), key.dtype.numpy)))
        value = appended_row(
            value, Tensor(np.zeros((1, batch, value.shape[-1]), value.dtype.numpy))
        )
    return heads_of(key), heads_of(value)


@op()
def appended_row(x, more):
    """x, and `more` behind it along the first dimension.

    Example:
        >>> from mycel.ops.nn.attention import appended_row
        >>> print(appended_row(Tensor([1.0]), Tensor([2.0])))
        [1. 2.]
    """
    return jnp.concatenate([x, more.astype(x.dtype)], 0)


@composite("ops.multi_head_attention_forward")
def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
    k_is_v=False,
    q_is_k=False,
    dtype=float32,
) -> Any:
    """Attention of several heads: every query looks at all keys and gets a mixture of the values.

    A query that may look at no key gets the output bias alone.

    Args:
        query: [time, N, E] or [time, E].
        key, value: [key time, N, features] or [key time, features].
        embed_dim_to_check, num_heads: E, which the heads share.
        in_proj_weight, in_proj_bias: [3 · E, E] and [3 · E], for query, key and value; with
            `use_separate_proj_weight` the weights are q_proj_weight, k_proj_weight, v_proj_weight.
        bias_k, bias_v: [1, 1, E], one more key and value; None for none.
        add_zero_attn: whether a key and a value of zeros are appended.
        dropout_p: the share of the weights that is put to 0 while `training`.
        out_proj_weight, out_proj_bias: [E, E] and [E].
        training: whether weights are dropped; True by default.
        key_padding_mask: [N, key time].
        attn_mask: [time, key time] or [N · heads, time, key time]: true where nothing is looked at,
            or numbers to add.
        use_separate_proj_weight: whether `q_proj_weight`, `k_proj_weight` and `v_proj_weight` take
            the place of `in_proj_weight`; False by default.
        q_proj_weight, k_proj_weight, v_proj_weight: [E, features of the query, key or value]; read
            with `use_separate_proj_weight`.
        static_k, static_v: [N · heads, key time, E / heads], instead of projected ones.
        average_attn_weights: the weights as the mean over the heads.
        is_causal: without an attn_mask, no query looks at a later key.
        k_is_v, q_is_k, dtype: accepted; everything is computed in the type of the inputs.

    Returns:
        The output, like query, and the weights, [N, time, key time] or [N, heads, time, key time].

    Raises:
        ValueError: the shapes do not fit together.

    Source: MindSpore's `ops.function.nn_func.multi_head_attention_forward`.

    Example:
        >>> x, eye = Tensor([[[1.0]], [[3.0]]]), ops.ones((3, 1), mycel.float32)
        >>> attention = ops.multi_head_attention_forward
        >>> out, weights = attention(
        ...     x * 0, x * 0, x, 1, 1, eye, None, None, None, False, 0.0, eye[:1], None)
        >>> print(out.reshape(-1), weights[0, 0])
        [2. 2.] [0.5 0.5]
    """
    _check_heads(query, key, value, embed_dim_to_check, num_heads)
    width, batched = embed_dim_to_check, query.ndim == 3
    if not batched:
        query, key, value = (x.expand_dims(1) for x in (query, key, value))
        if key_padding_mask is not None and key_padding_mask.ndim == 1:
            key_padding_mask = key_padding_mask.expand_dims(0)
    (time, batch, _), keys = query.shape, key.shape[0]
    if is_causal and attn_mask is None:
        attn_mask = Tensor(np.triu(np.ones((time, keys), bool), 1))
    _check_masks(attn_mask, key_padding_mask, batch, num_heads, time, keys)

    weights = q_proj_weight, k_proj_weight, v_proj_weight
    parts = []
    for number, x in enumerate((query, key, value)):
        rows = number * width, number * width + width
        weight = weights[number] if use_separate_proj_weight else in_proj_weight
        if use_separate_proj_weight and in_proj_bias is not None:
            parts.append(projected(x, weight, None) + in_proj_bias[rows[0] : rows[1]])
        else:
            rows = (0, None) if use_separate_proj_weight else rows
            parts.append(projected(x, weight, in_proj_bias, *rows))
    query, key, value = parts

    def heads_of(x):
        return to_heads(x, num_heads)

    query = heads_of(query)
    key, value = _with_more_keys(heads_of, key, value, bias_k, bias_v, add_zero_attn)
    key = key if static_k is None else static_k.reshape(batch, num_heads, -1, width // num_heads)
    value = value if static_v is None else static_v.reshape(key.shape)
    found, out = attended(
        query, key, value, attn_mask, key_padding_mask, keys, dropout_p if training else 0.0
    )
    out = projected(from_heads(out), out_proj_weight, out_proj_bias)
    found = found.mean(1) if average_attn_weights else found
    return (out, found) if batched else (out.squeeze(1), found.squeeze(0))


def attended(query, key, value, mask, padding, keys, dropped):
    """Weights and sums of heads, with masks for the first `keys` of the keys."""
    closed = added = None
    if mask is not None or padding is not None:
        closed, added = joined_masks(mask, padding, query.shape[1], key.shape[2] - keys)
    scale = query.shape[-1] ** -0.5
    # Numbers of a mask are added to what is scaled already.
    shift = None if added is None or not _adds(mask, padding) else added * (1 / scale)
    weights = attention_weights(query, key, shift, closed, scale)[0]
    if dropped:
        weights = dropped_weights(weights, 1.0 - dropped)
    return weights, weighted_values(weights, value)


def _adds(*masks):
    return any(mask is not None and mask.dtype.is_floating for mask in masks)
