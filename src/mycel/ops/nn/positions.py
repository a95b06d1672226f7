# SPDX-License-Identifier: Apache-2.0
"""What language models have beside attention: turned positions and gated halves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.nn.normalization import rms_norm


@op(
    "ops.rotary_position_embedding(x, cos, sin, mode=mode)",
    "RotaryPositionEmbedding()(x, cos, sin, mode=mode)",
)
def rotary_position_embedding(x, cos, sin, *, mode=0):
    """Pairs of elements of the last dimension, turned by an angle: x · cos + turned(x) · sin.

    Args:
        x: any shape with an even last length.
        cos, sin: broadcast to x.
        mode: 0 pairs element i of the first half with that of the second, 1 neighbours.

    Raises:
        ValueError: the mode is unknown, or the length is odd.

    Source: MindSpore's `ops.rotary_position_embedding`; Su et al., "RoFormer: Enhanced
    Transformer with Rotary Position Embedding", 2021.

    Example:
        >>> x, one = Tensor([1.0, 2.0]), Tensor([1.0, 1.0])
        >>> print(ops.rotary_position_embedding(x, one * 0, one))
        [-2.  1.]
    """
    if mode not in (0, 1):
        raise ValueError(f"mode must be 0 (halves) or 1 (neighbours), not {mode!r}.")
    if x.shape[-1] % 2:
        raise ValueError(f"The last length must be even, but the shape is {x.shape}.")
    if mode == 0:
        first, second = jnp.split(x, 2, -1)
        turned = jnp.concatenate([-second, first], -1)
    else:
        turned = jnp.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    return (x * cos + turned * sin).astype(x.dtype)


def _rows(x, cos, sin, place, *, gathered):
    return [Bounds(3, 0, cos.shape[0])] if gathered else []


@op(indices=_rows)
def rotated_heads(x, cos, sin, place, *, gathered):
    """[N, S, heads · D] with every head turned, by the angles of its row; see ApplyRotaryPosEmb.

    Example:
        >>> from mycel.ops.nn.positions import rotated_heads
        >>> x, one = Tensor([[[1.0, 2.0]]]), Tensor([[1.0, 1.0]])
        >>> print(rotated_heads(x, one * 0, one, Tensor([0]), False))
        [[[-2.  1.]]]
    """
    batch, time, _ = x.shape
    if gathered:
        # One place for each entry of the batch, or for each of its tokens.
        place = place.reshape(batch, -1).astype(np.int64)
        cos, sin = (jnp.take(table, place, 0, mode="clip") for table in (cos, sin))
    else:
        shape = (1, time, -1) if cos.shape[0] == time and cos.shape[0] != batch * time else None
        cos, sin = (part.reshape(shape or (batch, time, -1)) for part in (cos, sin))
    heads = x.reshape(batch, time, -1, cos.shape[-1])
    first, second = jnp.split(heads, 2, -1)
    turned = jnp.concatenate([-second, first], -1)
    return (heads * cos[:, :, None] + turned * sin[:, :, None]).astype(x.dtype).reshape(x.shape)


@composite(
    "ApplyRotaryPosEmb(cos_format=0)(query, key, cos, sin, position_ids=place)",
    "ops.apply_rotary_pos_emb_(query, key, cos, sin, position_ids=place, cos_format=0)",
)
def apply_rotary_pos_emb(query, key, cos, sin, place, cos_format=0) -> tuple[Tensor, Tensor]:
    """Every head of query and key [N, S, heads · D], its halves turned by the angles of its token.

    Args:
        query, key: [N, S, heads · D].
        cos, sin: for cos_format 0 tables [positions, D], of which `position_ids` names the rows,
            one for each entry of the batch or for each of its tokens; for cos_format 2 the rows
            themselves, [N · S, D] or [S, D].
        place: `position_ids`, integers: the rows of the tables, [N] or [N, S]; not read for
            cos_format 2.
        cos_format: 0, the default, for tables, or 2 for rows.

    Raises:
        ValueError: `cos_format` has another value, whose meaning MindSpore does not document.

    Example:
        >>> x, one = Tensor([[[1.0, 2.0]]]), Tensor([[1.0, 1.0]])
        >>> query, key = ops.ApplyRotaryPosEmb(2)(x, x, one * 0, one, Tensor([1]))
        >>> print(query)
        [[[-2.  1.]]]
    """
    if cos_format not in (0, 2):
        raise ValueError(f"cos_format must be 0 (a table) or 2 (rows), not {cos_format!r}.")
    return tuple(rotated_heads(x, cos, sin, place, cos_format == 0) for x in (query, key))


@op("ops.swiglu(input=x, dim=axis)", "Swiglu()(input=x, dim=axis)")
def swiglu(x, *, axis=-1):
    """silu of the first half of x along `dim`, times the second half.

    Raises:
        ValueError: the length is odd.

    Source: MindSpore's `ops.swiglu`, `ops.auto_generate.Swiglu`.

    Example:
        >>> print(ops.swiglu(Tensor([0.0, 100.0, 5.0, 2.0])))
        [  0. 200.]
    """
    if x.shape[axis] % 2:
        raise ValueError(f"Halves need an even length, not {x.shape[axis]} of {x.shape}.")
    first, second = jnp.split(x, 2, axis)
    return jax.nn.silu(first) * second


@composite(
    "ops.add_rms_norm(x1=x, x2=y, gamma=weight, epsilon=1e-6)",
    "AddRmsNorm()(x1=x, x2=y, gamma=weight, epsilon=1e-6)",
)
def add_rms_norm(x, y, weight, epsilon=1e-6) -> tuple[Tensor, Tensor, Tensor]:
    """`ops.rms_norm` of x + y, and that sum.

    Args:
        x: any shape.
        y: of the same shape.
        weight: the factors of the normalised elements, of the shape of x's last dimensions.
        epsilon: what is added to the mean square, 1e-6 by default.

    Returns:
        The output, 1 / root of the mean square, and x + y.

    Example:
        >>> one = Tensor([1.0, 1.0])
        >>> print(ops.add_rms_norm(one, one, one)[2])
        [2. 2.]
    """
    total = x + y
    return *rms_norm(total, weight, epsilon), total
