# SPDX-License-Identifier: Apache-2.0
"""Attention of several heads, and the layers and networks that transformers are built of."""

from __future__ import annotations

import copy

from mycel import ops
from mycel.init import XavierNormal, XavierUniform, initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, number, one_of, positive_integer
from mycel.nn.containers import CellList
from mycel.nn.layers.basic import Dropout
from mycel.nn.layers.linear import Dense
from mycel.nn.layers.normalization import LayerNorm


def _share(value, what: str) -> float:
    return number(value, what, "from 0 and below 1", lambda n: 0 <= n < 1)


class MultiheadAttention(Cell):
    """Every query looks at all keys, with several heads, and gets a mixture of the values.

    Args:
        embed_dim: the features E of queries and outputs.
        num_heads: the heads that share E.
        dropout: the share of the attention weights that is put to 0 in training.
        has_bias: whether the projections have a bias.
        add_bias_kv: whether there is one more trained key and value.
        add_zero_attn: whether zeros stand behind keys and values.
        kdim, vdim: the features of keys and values; None is E.
        batch_first: inputs are (N, time, E) instead of (time, N, E).
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size is not positive, or the heads do not divide it.

    Source: MindSpore's `mindspore.nn.MultiheadAttention`; Vaswani et al., "Attention Is All You
    Need", 2017.

    Example:
        >>> x = ops.ones((3, 2, 4), mycel.float32)
        >>> out, weights = nn.MultiheadAttention(4, 2)(x, x, x)
        >>> print(out.shape, weights.shape)
        (3, 2, 4) (2, 3, 3)
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        has_bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        dtype=float32,
    ):
        super().__init__()
        self.embed_dim = positive_integer(embed_dim, "MultiheadAttention.embed_dim")
        self.num_heads = positive_integer(num_heads, "MultiheadAttention.num_heads")
        if embed_dim % num_heads:
            expected = f"a divisor of embed_dim={embed_dim}"
            raise wrong(ValueError, "MultiheadAttention.num_heads", expected, num_heads)
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.head_dim = embed_dim // num_heads
        self.dropout = _share(dropout, "MultiheadAttention.dropout")
        self.batch_first = boolean(batch_first, "MultiheadAttention.batch_first")
        self.add_zero_attn = boolean(add_zero_attn, "MultiheadAttention.add_zero_attn")
        self.dtype = dtype
        self._make_projections(has_bias)
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, dtype=dtype)
        self.bias_k = self.bias_v = None
        if boolean(add_bias_kv, "MultiheadAttention.add_bias_kv"):
            self.bias_k = self._drawn("bias_k", XavierNormal(), (1, 1, embed_dim))
            self.bias_v = self._drawn("bias_v", XavierNormal(), (1, 1, embed_dim))

    def _drawn(self, name, start, shape):
        return Parameter(initializer(start, shape, self.dtype), name=name)

    def _make_projections(self, has_bias):
        width = self.embed_dim
        self.in_proj_weight = self.in_proj_bias = None
        self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        if self.kdim == self.vdim == width:
            self.in_proj_weight = self._drawn("in_proj_weight", XavierUniform(), (3 * width, width))
        else:
            lengths = {"q": width, "k": self.kdim, "v": self.vdim}
            for letter, length in lengths.items():
                name = f"{letter}_proj_weight"
                setattr(self, name, self._drawn(name, XavierUniform(), (width, length)))
        if has_bias:
            self.in_proj_bias = self._drawn("in_proj_bias", "zeros", (3 * width,))

    def construct(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
    ) -> tuple[Tensor, ...]:
        """The mixtures, and on request the weights.

        Args:
            query: (time, N, E), key, value: (key time, N, …), or all without N.
            key_padding_mask: (N, key time), true for keys that nothing looks at, or numbers that
                are added to the scores.
            need_weights: whether the weights are returned too.
            attn_mask: (time, key time) or (N · num_heads, time, key time), in the same way.
            average_attn_weights: the weights as the mean over the heads.

        Returns:
            A tuple of the output, like query, and the weights if they are needed: (N, time, key
            time), or (N, num_heads, time, key time).
        """
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (x.swapaxes(0, 1) for x in (query, key, value))
        out, weights = ops.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            attn_mask,
            self.in_proj_weight is None,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights=average_attn_weights,
        )
        out = out.swapaxes(0, 1) if turned else out
        return (out, weights) if need_weights else (out,)


class _Layer(Cell):
    """What the two kinds of layers share: the feed-forward part and the order of normalisation."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        dtype=float32,
    ):
        super().__init__()
        owner = type(self).__name__
        self.norm_first = boolean(norm_first, f"{owner}.norm_first")
        self.activation = _activation(activation, f"{owner}.activation")
        self.d_model = d_model
        self.nhead = nhead
        self.dim_feedforward = dim_feedforward
        self.dropout_num = _share(dropout, f"{owner}.dropout")
        self.layernorm_eps = layer_norm_eps
        self.batch_first = batch_first
        self.dtype = dtype
        self.self_attn = self._attention()

    def _attention(self):
        settings = {"batch_first": self.batch_first, "dtype": self.dtype}
        return MultiheadAttention(self.d_model, self.nhead, self.dropout_num, **settings)

    def _make_feed_forward(self):
        self.dense1 = Dense(self.d_model, self.dim_feedforward, dtype=self.dtype)
        self.dropout = Dropout(p=self.dropout_num)
        self.dense2 = Dense(self.dim_feedforward, self.d_model, dtype=self.dtype)

    def _norm(self):
        return LayerNorm((self.d_model,), epsilon=self.layernorm_eps, dtype=self.dtype)

    def _fed_forward(self, x):
        return self.dense2(self.dropout(self.activation(self.dense1(x))))

    def _with(self, x, norm, part):
        """x and what a part makes of it, normalised before or after."""
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def _looked(self, x, mask, padding):
        return self.self_attn(x, x, x, padding, False, mask)[0]


def _activation(activation, what: str):
    if isinstance(activation, str):
        one_of(activation, what, ("relu", "gelu"))
        return ops.relu if activation == "relu" else ops.gelu
    if not callable(activation):
        actual = f"{type(activation).__name__} {activation!r}"
        raise wrong(TypeError, what, "'relu', 'gelu', a Cell or a function", actual)
    return activation


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then two dense layers; each adds to its normalised input.

    Args:
        d_model: the features E.
        nhead: the heads of the attention.
        dim_feedforward: the features between the dense layers.
        dropout: the share put to 0 in training, in all parts.
        activation: 'relu', 'gelu', a Cell or a function, between the dense layers.
        layer_norm_eps: added to the variance.
        batch_first: inputs are (N, time, E) instead of (time, N, E).
        norm_first: normalise before each part, not after.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the activation is unknown, or the sizes do not fit together.

    Source: MindSpore's `mindspore.nn.TransformerEncoderLayer`.

    Example:
        >>> nn.TransformerEncoderLayer(4, 2, 8)(ops.ones((3, 2, 4), mycel.float32)).shape
        (3, 2, 4)
    """

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        dtype=float32,
    ):
        settings = dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        super().__init__(d_model, nhead, dim_feedforward, *settings)
        self._make_feed_forward()
        self.norm1, self.norm2 = self._norm(), self._norm()
        self.dropout1, self.dropout2 = Dropout(p=dropout), Dropout(p=dropout)

    def construct(self, src, src_mask=None, src_key_padding_mask=None) -> Tensor:
        """The sequence, worked on; for the masks see MultiheadAttention."""

        def look(x):
            return self.dropout1(self._looked(x, src_mask, src_key_padding_mask))

        x = self._with(src, self.norm1, look)
        return self._with(x, self.norm2, lambda x: self.dropout2(self._fed_forward(x)))


class TransformerDecoderLayer(_Layer):
    """As TransformerEncoderLayer, with attention to another sequence, `memory`, in between.

    Args:
        see TransformerEncoderLayer.

    Source: MindSpore's `mindspore.nn.TransformerDecoderLayer`.

    Example:
        >>> x, memory = ops.ones((3, 2, 4), mycel.float32), ops.ones((5, 2, 4), mycel.float32)
        >>> nn.TransformerDecoderLayer(4, 2, 8)(x, memory).shape
        (3, 2, 4)
    """

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        dtype=float32,
    ):
        settings = dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        super().__init__(d_model, nhead, dim_feedforward, *settings)
        self.multihead_attn = self._attention()
        self._make_feed_forward()
        self.norm1, self.norm2, self.norm3 = self._norm(), self._norm(), self._norm()
        self.dropout1, self.dropout2 = Dropout(p=dropout), Dropout(p=dropout)
        self.dropout3 = Dropout(p=dropout)

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ) -> Tensor:
        """The sequence `tgt`, worked on; for the masks see MultiheadAttention."""

        def look(x):
            return self.dropout1(self._looked(x, tgt_mask, tgt_key_padding_mask))

        def look_across(x):
            masks = memory_key_padding_mask, False, memory_mask
            return self.dropout2(self.multihead_attn(x, memory, memory, *masks)[0])

        x = self._with(tgt, self.norm1, look)
        x = self._with(x, self.norm2, look_across)
        return self._with(x, self.norm3, lambda x: self.dropout3(self._fed_forward(x)))


class TransformerEncoder(Cell):
    """Several copies of one encoder layer, one after the other.

    Args:
        encoder_layer: the layer; the copies begin with its values.
        num_layers: how many.
        norm: a Cell applied to the result.

    Source: MindSpore's `mindspore.nn.TransformerEncoder`.

    Example:
        >>> encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
        >>> encoder(ops.ones((3, 2, 4), mycel.float32)).shape
        (3, 2, 4)
    """

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__()
        self.num_layers = positive_integer(num_layers, "TransformerEncoder.num_layers")
        self.layers = CellList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.norm = norm

    def construct(self, src, src_mask=None, src_key_padding_mask=None) -> Tensor:
        """The sequence, worked on by all layers."""
        for layer in self.layers:
            src = layer(src, src_mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """Several copies of one decoder layer, one after the other.

    Args:
        decoder_layer: the layer; the copies begin with its values.
        num_layers: how many.
        norm: a Cell applied to the result.

    Source: MindSpore's `mindspore.nn.TransformerDecoder`.

    Example:
        >>> decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2)
        >>> x = ops.ones((3, 2, 4), mycel.float32)
        >>> decoder(x, x).shape
        (3, 2, 4)
    """

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.num_layers = positive_integer(num_layers, "TransformerDecoder.num_layers")
        self.layers = CellList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.norm = norm

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ) -> Tensor:
        """The sequence `tgt`, worked on by all layers."""
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """An encoder whose result a decoder looks at.

    All Parameters of several dimensions start evenly spread, after Glorot.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, dtype: see TransformerEncoderLayer.
        num_encoder_layers, num_decoder_layers: how many layers each has.
        custom_encoder, custom_decoder: Cells in their place.

    Raises:
        ValueError: the sequences do not have d_model features, or their batches differ.

    Source: MindSpore's `mindspore.nn.Transformer`; Vaswani et al., "Attention Is All You Need",
    2017.

    Example:
        >>> x = ops.ones((3, 2, 4), mycel.float32)
        >>> nn.Transformer(4, 2, 1, 1, 8)(x, x).shape
        (3, 2, 4)
    """

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        dtype=float32,
    ):
        super().__init__()
        settings = dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        shared = d_model, nhead, dim_feedforward, *settings

        def norm():
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        if custom_encoder is None:
            layer = TransformerEncoderLayer(*shared)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*shared)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        self.encoder, self.decoder = custom_encoder, custom_decoder
        for parameter in self.get_parameters():
            if parameter.ndim > 1:
                drawn = initializer(XavierUniform(), parameter.shape, parameter.dtype)
                parameter.set_data(drawn)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = boolean(batch_first, "Transformer.batch_first")

    def construct(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ) -> Tensor:
        """`tgt`, worked on while looking at what the encoder makes of `src`."""
        batch = 0 if self.batch_first else 1
        shapes = f"shapes {src.shape} and {tgt.shape}"
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise wrong(ValueError, "Transformer: src and tgt", "of one batch", shapes)
        if not src.shape[-1] == tgt.shape[-1] == self.d_model:
            expected = f"of d_model={self.d_model} features"
            raise wrong(ValueError, "Transformer: src and tgt", expected, shapes)
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self.decoder(tgt, memory, *masks)


class FlashAttention(Cell):
    """softmax(query · keyᵀ / √head_dim) · value for inputs (N, head_num, time, head_dim).

    Args:
        head_dim, head_num: the length and the number of the heads.
        dropout_rate: the share of the weights that is put to 0 in training.
        prev_block_num, next_block_num: how many tokens before and after itself a query looks at.
        dp, mp, high_precision, have_attention_mask_batch: accepted; they are about the hardware of
            MindSpore.
        alibi: whether `alibi_mask` is added to the scores.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size is not positive, or dropout is out of range.

    Source: MindSpore's `mindspore.nn.layer.flash_attention.FlashAttention`, of its version 2.2.

    Example:
        >>> x = ops.ones((1, 2, 3, 4), mycel.float32)
        >>> nn.FlashAttention(4, 2)(x, x, x).shape
        (1, 2, 3, 4)
    """

    def __init__(
        self,
        head_dim,
        head_num,
        dropout_rate=0.0,
        prev_block_num=65536,
        next_block_num=65536,
        dp=1,
        mp=1,
        high_precision=False,
        have_attention_mask_batch=True,
        alibi=False,
    ):
        super().__init__()
        del dp, mp, high_precision, have_attention_mask_batch
        self.head_dim = positive_integer(head_dim, "FlashAttention.head_dim")
        self.head_num = positive_integer(head_num, "FlashAttention.head_num")
        self.dropout_rate = _share(dropout_rate, "FlashAttention.dropout_rate")
        self.prev_block_num = prev_block_num
        self.next_block_num = next_block_num
        self.alibi = boolean(alibi, "FlashAttention.alibi")

    def construct(self, query, key, value, attn_mask=None, alibi_mask=None) -> Tensor:
        """The mixtures; `attn_mask` (N, time, key time) is 1 where nothing is looked at."""
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.expand_dims(1)
        scale = self.head_dim**-0.5
        # What is added comes before the scale in the operator.
        shift = alibi_mask * (1 / scale) if self.alibi and alibi_mask is not None else None
        return ops.flash_attention_score(
            query,
            key,
            value,
            self.head_num,
            real_shift=shift,
            attn_mask=attn_mask,
            keep_prob=1.0 - self.dropout_rate if self.training else 1.0,
            scalar_value=scale,
            pre_tokens=self.prev_block_num,
            next_tokens=self.next_block_num,
            input_layout="BNSD",
        )
