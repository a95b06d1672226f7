# SPDX-License-Identifier: Apache-2.0
"""Layers and stacks of layers of MindSpore's former transformer package.

Source: MindSpore 2.7's `mindspore.parallel._transformer`. Everything is for one device, without
experts and without a memory of past steps; whoever asks for these is told so.
"""

from __future__ import annotations

from mycel import nn, ops
from mycel.compat.transformers import (
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    check_moe_config,
    default_dpmp_config,
    default_moe_config,
    default_transformer_config,
    get_lambda_func,
)
from mycel.init import initializer
from mycel.kernel.base.dtypes import float16, float32
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.parallel.configurations import OpParallelConfig

# Added to the number of places that count, so that none gives no division by zero.
_FEW = 1e-5


class EmbeddingOpParallelConfig(OpParallelConfig):
    """OpParallelConfig for a table of words.

    Example:
        >>> from mycel.compat.transformer_stacks import EmbeddingOpParallelConfig
        >>> EmbeddingOpParallelConfig().vocab_emb_dp
        True
    """

    def __init__(self, data_parallel=1, model_parallel=1, vocab_emb_dp=True):
        super().__init__(data_parallel, model_parallel)
        self.vocab_emb_dp = vocab_emb_dp

    @property
    def dp_mp_config(self) -> OpParallelConfig:
        """The part that other layers have."""
        return OpParallelConfig(self.data_parallel, self.model_parallel)


class AttentionMask(nn.Cell):
    """What each place may see: itself and those before it, but for the padding.

    Args:
        seq_length: the length of the sequences.
        parallel_config: for one device only.

    Example:
        >>> from mycel.compat.transformer_stacks import AttentionMask
        >>> print(AttentionMask(3)(Tensor([[1.0, 1.0, 0.0]])))
        [[[1. 0. 0.]
          [1. 1. 0.]
          [0. 0. 0.]]]
    """

    def __init__(self, seq_length, parallel_config=default_dpmp_config):
        del parallel_config
        super().__init__()
        self.seq_length = seq_length
        self.lower_triangle_mask = ops.ones((seq_length, seq_length), float32).tril()

    def construct(self, input_mask) -> Tensor:
        """From (batch, length), 0 where there is padding, to (batch, length, length)."""
        seen = (input_mask != 0).astype(float32)
        return seen.expand_dims(2) * seen.expand_dims(1) * self.lower_triangle_mask


class VocabEmbedding(nn.Cell):
    """A row of a trained table for each word, together with the table.

    Args:
        vocab_size, embedding_size: rows and columns of the table.
        parallel_config: for one device only.
        param_init: how the table begins.

    Example:
        >>> from mycel.compat.transformer_stacks import VocabEmbedding
        >>> rows, table = VocabEmbedding(5, 2)(Tensor([[1, 4]], mycel.int32))
        >>> rows.shape, table.shape
        ((1, 2, 2), (5, 2))
    """

    def __init__(self, vocab_size, embedding_size, parallel_config=None, param_init="normal"):
        del parallel_config
        super().__init__()
        self.vocab_size, self.embedding_size = vocab_size, embedding_size
        table = initializer(param_init, (vocab_size, embedding_size))
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, input_ids) -> tuple[Tensor, Tensor]:
        """The rows, and the table for the scores at the other end of the network."""
        return ops.gather(self.embedding_table, input_ids, 0), self.embedding_table.value()


class TransformerEncoderLayer(nn.Cell):
    """Attention and two dense layers, each added to what came in; products are in Float16.

    Args:
        batch_size, seq_length: kept; the inputs' own count.
        hidden_size, ffn_hidden_size: features outside and inside of the dense layers.
        num_heads: heads of the attention.
        attention_dropout_rate, hidden_dropout_rate: of the weights, and of the results.
        post_layernorm_residual: normalise after the additions instead of before the layers.
        layernorm_compute_type, softmax_compute_type, param_init_type: element types.
        hidden_act: the activation between the dense layers.
        use_past, moe_config, parallel_config: no past, no experts, one device.

    Example:
        >>> from mycel.compat.transformer_stacks import TransformerEncoderLayer
        >>> layer, x = TransformerEncoderLayer(2, 4, 8, 2, 3), ops.ones((2, 3, 4))
        >>> layer(x, ops.ones((2, 3, 3)))[0].shape
        (2, 3, 4)
    """

    def __init__(
        self, batch_size, hidden_size, ffn_hidden_size, num_heads, seq_length,
        attention_dropout_rate=0.1, hidden_dropout_rate=0.1, post_layernorm_residual=False,
        layernorm_compute_type=float32, softmax_compute_type=float32, param_init_type=float32,
        hidden_act="gelu", use_past=False, moe_config=default_moe_config,
        parallel_config=default_dpmp_config,
    ):  # fmt: skip
        del parallel_config
        super().__init__()
        check_moe_config(moe_config)
        self.layernorm1 = LayerNorm((hidden_size,)).to_float(layernorm_compute_type)
        self.layernorm2 = LayerNorm((hidden_size,)).to_float(layernorm_compute_type)
        self.attention = MultiHeadAttention(
            batch_size, seq_length, seq_length, hidden_size, num_heads, hidden_dropout_rate,
            attention_dropout_rate, softmax_compute_type, param_init_type, use_past,
        )  # fmt: skip
        self.output = FeedForward(
            hidden_size, ffn_hidden_size, hidden_dropout_rate, hidden_act,
            param_init_type=param_init_type,
        )  # fmt: skip
        self.post_layernorm_residual = post_layernorm_residual

    def construct(self, x, input_mask=None, init_reset=True, batch_valid_length=None) -> tuple:
        """The result with the shape of x, and the heads' keys and values."""
        del init_reset, batch_valid_length
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        after = self.post_layernorm_residual
        inner = (x if after else self.layernorm1(x)).astype(float16)
        attended, present = self.attention(inner, inner, inner, input_mask)
        x = (inner if after else x) + attended
        inner = self.layernorm2(x).astype(float16)
        made = self.output(inner)
        made = self.layernorm1(inner + made) if after else x + made
        return made.reshape(shape), present


class TransformerDecoderLayer(nn.Cell):
    """An encoder layer that also attends to what an encoder made.

    Args:
        hidden_size, ffn_hidden_size, num_heads: as of TransformerEncoderLayer.
        batch_size, src_seq_length, tgt_seq_length: kept; the inputs' own count.
        attention_dropout_rate, hidden_dropout_rate, post_layernorm_residual: as there.
        use_past, layernorm_compute_type, softmax_compute_type, param_init_type: as there.
        hidden_act, moe_config, parallel_config: as there.

    Example:
        >>> from mycel.compat.transformer_stacks import TransformerDecoderLayer
        >>> layer, x = TransformerDecoderLayer(4, 8, 2, 2, 3, 3), ops.ones((2, 3, 4))
        >>> layer(x, ops.ones((2, 3, 3)), x, ops.ones((2, 3, 3)))[0].shape
        (2, 3, 4)
    """

    def __init__(
        self, hidden_size, ffn_hidden_size, num_heads, batch_size, src_seq_length,
        tgt_seq_length, attention_dropout_rate=0.1, hidden_dropout_rate=0.1,
        post_layernorm_residual=False, use_past=False, layernorm_compute_type=float32,
        softmax_compute_type=float32, param_init_type=float32, hidden_act="gelu",
        moe_config=default_moe_config, parallel_config=default_dpmp_config,
    ):  # fmt: skip
        del parallel_config
        super().__init__()
        check_moe_config(moe_config)
        self.layernorm1 = LayerNorm((hidden_size,)).to_float(layernorm_compute_type)
        self.layernorm2 = LayerNorm((hidden_size,)).to_float(layernorm_compute_type)

        def attention(source):
            return MultiHeadAttention(
                batch_size, tgt_seq_length, source, hidden_size, num_heads, hidden_dropout_rate,
                attention_dropout_rate, softmax_compute_type, param_init_type, use_past,
            )  # fmt: skip

        self.attention = attention(tgt_seq_length)
        self.cross_attention = attention(src_seq_length)
        self.cross_attention_layernorm = LayerNorm((hidden_size,)).to_float(layernorm_compute_type)
        self.output = FeedForward(
            hidden_size, ffn_hidden_size, hidden_dropout_rate, hidden_act,
            param_init_type=param_init_type,
        )  # fmt: skip
        self.post_layernorm_residual = post_layernorm_residual

    def construct(
        self, hidden_stats, decoder_mask, encoder_output=None, memory_mask=None,
        init_reset=True, batch_valid_length=None,
    ) -> tuple:  # fmt: skip
        """The result with the shape of the input, and the heads' keys and values."""
        del init_reset, batch_valid_length
        shape = hidden_stats.shape
        x = hidden_stats.reshape(-1, shape[-1])
        after = self.post_layernorm_residual
        inner = self.layernorm1(x).astype(float16)
        attended, present = self.attention(inner, inner, inner, decoder_mask)
        x = (inner if after else x) + attended
        if encoder_output is not None:
            inner = self.cross_attention_layernorm(x).astype(float16)
            memory = encoder_output.astype(float16)
            attended, further = self.cross_attention(inner, memory, memory, memory_mask)
            present = (*present, *further)
            x = (inner if after else x) + attended
        inner = self.layernorm2(x).astype(float16)
        return ((inner if after else x) + self.output(inner)).reshape(shape), present


class TransformerEncoder(nn.Cell):
    """Encoder layers one after another.

    Args:
        batch_size, num_layers, hidden_size, ffn_hidden_size, seq_length, num_heads: as of
            TransformerEncoderLayer, and how many layers.
        attention_dropout_rate, hidden_dropout_rate, hidden_act, post_layernorm_residual: as there.
        layernorm_compute_type, softmax_compute_type, param_init_type: as there.
        lambda_func, offset: called with each layer, its number and that offset.
        use_past, moe_config, parallel_config: no past, no experts, one device.

    Example:
        >>> from mycel.compat.transformer_stacks import TransformerEncoder
        >>> x = ops.ones((2, 3, 4))
        >>> TransformerEncoder(2, 2, 4, 8, 3, 2)(x, ops.ones((2, 3, 3)))[0].shape
        (2, 3, 4)
    """

    def __init__(
        self, batch_size, num_layers, hidden_size, ffn_hidden_size, seq_length, num_heads,
        attention_dropout_rate=0.1, hidden_dropout_rate=0.1, hidden_act="gelu",
        post_layernorm_residual=False, layernorm_compute_type=float32,
        softmax_compute_type=float32, param_init_type=float32, lambda_func=None, offset=0,
        use_past=False, moe_config=default_moe_config,
        parallel_config=default_transformer_config,
    ):  # fmt: skip
        super().__init__()
        self.num_layers, self.blocks = num_layers, nn.CellList()
        placed = lambda_func or get_lambda_func()
        for number in range(num_layers):
            block = TransformerEncoderLayer(
                batch_size, hidden_size, ffn_hidden_size, num_heads, seq_length,
                attention_dropout_rate, hidden_dropout_rate, post_layernorm_residual,
                layernorm_compute_type, softmax_compute_type, param_init_type, hidden_act,
                use_past, moe_config,
            )  # fmt: skip
            placed(
                block,
                layer_id=number,
                layers=num_layers,
                offset=offset,
                parallel_config=parallel_config,
            )
            self.blocks.append(block)

    def construct(
        self, hidden_states, attention_mask, init_reset=True, batch_valid_length=None
    ) -> tuple:
        """The result, and the keys and values of every layer."""
        present = ()
        for block in self.blocks:
            hidden_states, made = block(
                hidden_states, attention_mask, init_reset, batch_valid_length
            )
            present = (*present, made)
        return hidden_states, present


class TransformerDecoder(nn.Cell):
    """Decoder layers one after another.

    Args:
        num_layers, batch_size, hidden_size, ffn_hidden_size: as of TransformerDecoderLayer, and
            how many layers.
        src_seq_length, tgt_seq_length, num_heads, attention_dropout_rate, hidden_dropout_rate,
            post_layernorm_residual: as there.
        layernorm_compute_type, softmax_compute_type, param_init_type, hidden_act: as there.
        lambda_func, use_past, offset, moe_config, parallel_config: as of TransformerEncoder.

    Example:
        >>> from mycel.compat.transformer_stacks import TransformerDecoder
        >>> x, seen = ops.ones((2, 3, 4)), ops.ones((2, 3, 3))
        >>> TransformerDecoder(2, 2, 4, 8, 3, 3, 2)(x, seen, x, seen)[0].shape
        (2, 3, 4)
    """

    def __init__(
        self, num_layers, batch_size, hidden_size, ffn_hidden_size, src_seq_length,
        tgt_seq_length, num_heads, attention_dropout_rate=0.1, hidden_dropout_rate=0.1,
        post_layernorm_residual=False, layernorm_compute_type=float32,
        softmax_compute_type=float32, param_init_type=float32, hidden_act="gelu",
        lambda_func=None, use_past=False, offset=0, moe_config=default_moe_config,
        parallel_config=default_transformer_config,
    ):  # fmt: skip
        super().__init__()
        self.num_layers, self.blocks = num_layers, nn.CellList()
        placed = lambda_func or get_lambda_func()
        for number in range(num_layers):
            block = TransformerDecoderLayer(
                hidden_size, ffn_hidden_size, num_heads, batch_size, src_seq_length,
                tgt_seq_length, attention_dropout_rate, hidden_dropout_rate,
                post_layernorm_residual, use_past, layernorm_compute_type,
                softmax_compute_type, param_init_type, hidden_act, moe_config,
            )  # fmt: skip
            placed(
                block,
                layer_id=number,
                layers=num_layers,
                offset=offset,
                parallel_config=parallel_config,
            )
            self.blocks.append(block)

    def construct(
        self, hidden_states, attention_mask, encoder_output=None, memory_mask=None,
        init_reset=True, batch_valid_length=None,
    ) -> tuple:  # fmt: skip
        """The result, and the keys and values of every layer."""
        present = ()
        for block in self.blocks:
            hidden_states, made = block(
                hidden_states, attention_mask, encoder_output, memory_mask, init_reset,
                batch_valid_length,
            )  # fmt: skip
            present = (*present, made)
        return hidden_states, present


class CrossEntropyLoss(nn.Cell):
    """The mean over the places that count of -log of the right class's part.

    Args:
        parallel_config: for one device only.

    Example:
        >>> from mycel.compat.transformer_stacks import CrossEntropyLoss
        >>> label, counted = Tensor([1, 0], mycel.int32), Tensor([1.0, 0.0])
        >>> print(CrossEntropyLoss()(Tensor([[0.0, 0.0], [1.0, 0.0]]), label, counted))
        [0.69314...]
    """

    def __init__(self, parallel_config=default_dpmp_config):
        del parallel_config
        super().__init__()

    def construct(self, logits, label, input_mask) -> Tensor:
        """From (places, classes), (places,) and (places,) to one number, of shape (1,)."""
        chances = ops.log_softmax(logits.astype(float32), -1)
        found = -ops.gather_elements(chances, 1, label.reshape(-1, 1)).reshape(-1)
        counted = input_mask.reshape(-1)
        return (found * counted).sum(keepdims=True) / (counted.sum(keepdims=True) + _FEW)
