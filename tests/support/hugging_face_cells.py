# SPDX-License-Identifier: Apache-2.0
"""Five networks of Hugging Face as Cells with the attributes of its modules, small and plain."""

from __future__ import annotations

import numpy as np

import mycel as ms
from mycel import nn, ops


def attention(query, key, value, mask=None):
    """Softmax of the scaled products of (batch, heads, length, size), and the values by it."""
    scores = ops.matmul(query, key.swapaxes(-1, -2)) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = ops.where(mask, scores, -1e9)
    return ops.matmul(ops.softmax(scores, -1), value)


def split_heads(x, heads):
    batch, length, size = x.shape
    return x.reshape(batch, length, heads, size // heads).swapaxes(1, 2)


def join_heads(x):
    batch, heads, length, size = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, heads * size)


def causal(length):
    return ms.Tensor(np.tril(np.ones((length, length), np.bool_)))


def gelu(x):
    return ops.gelu(x, approximate="none")


# -- BERT ------------------------------------------------------------------------------------------


class Residual(nn.Cell):
    """A dense layer, an addition and a normalisation behind it."""

    def __init__(self, inputs, outputs, epsilon):
        super().__init__()
        self.dense = nn.Dense(inputs, outputs)
        self.LayerNorm = nn.LayerNorm((outputs,), epsilon=epsilon)

    def construct(self, x, kept):
        return self.LayerNorm(self.dense(x) + kept)


class BertSelfAttention(nn.Cell):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Dense(size, size) for _ in range(3))

    def construct(self, x):
        parts = (split_heads(part(x), self.heads) for part in (self.query, self.key, self.value))
        return join_heads(attention(*parts))


class FusedSelfAttention(nn.Cell):
    """The same with one product."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Dense(size, 3 * size)

    def construct(self, x):
        parts = ops.split(self.qkv(x), x.shape[-1], -1)
        return join_heads(attention(*(split_heads(part, self.heads) for part in parts)))


class BertAttention(nn.Cell):
    def __init__(self, config, kind):
        super().__init__()
        size = config["hidden_size"]
        self.self = kind(size, config["num_attention_heads"])
        self.output = Residual(size, size, config["layer_norm_eps"])

    def construct(self, x):
        return self.output(self.self(x), x)


class BertIntermediate(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Dense(config["hidden_size"], config["intermediate_size"])

    def construct(self, x):
        return gelu(self.dense(x))


class BertLayer(nn.Cell):
    def __init__(self, config, kind):
        super().__init__()
        size, inner = config["hidden_size"], config["intermediate_size"]
        self.attention = BertAttention(config, kind)
        self.intermediate = BertIntermediate(config)
        self.output = Residual(inner, size, config["layer_norm_eps"])

    def construct(self, x):
        x = self.attention(x)
        return self.output(self.intermediate(x), x)


class BertEncoder(nn.Cell):
    def __init__(self, config, kind):
        super().__init__()
        self.layer = nn.CellList(
            [BertLayer(config, kind) for _ in range(config["num_hidden_layers"])]
        )

    def construct(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class BertEmbeddings(nn.Cell):
    def __init__(self, config):
        super().__init__()
        size = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], size)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], size)
        self.token_type_embeddings = nn.Embedding(config["type_vocab_size"], size)
        self.LayerNorm = nn.LayerNorm((size,), epsilon=config["layer_norm_eps"])

    def construct(self, ids):
        places = ops.arange(ids.shape[1])
        x = self.word_embeddings(ids) + self.position_embeddings(places)
        return self.LayerNorm(x + self.token_type_embeddings(ops.zeros_like(ids)))


class BertPooler(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.dense = nn.Dense(size, size)

    def construct(self, x):
        return ops.tanh(self.dense(x[:, 0]))


class Bert(nn.Cell):
    """BertModel: hidden states and the pooled output."""

    def __init__(self, config, kind=BertSelfAttention):
        super().__init__()
        self.embeddings = BertEmbeddings(config)
        self.encoder = BertEncoder(config, kind)
        self.pooler = BertPooler(config["hidden_size"])

    def construct(self, ids):
        x = self.encoder(self.embeddings(ids))
        return x, self.pooler(x)


# -- GPT-2 -----------------------------------------------------------------------------------------


class FusedCausal(nn.Cell):
    """Attention with one product, as in Hugging Face; its weight lies as (outputs, inputs) here."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Dense(size, 3 * size)
        self.c_proj = nn.Dense(size, size)

    def construct(self, x):
        parts = (split_heads(p, self.heads) for p in ops.split(self.c_attn(x), x.shape[-1], -1))
        return self.c_proj(join_heads(attention(*parts, causal(x.shape[1]))))


class SeparateCausal(nn.Cell):
    """The same with three products."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Dense(size, size) for _ in range(3))
        self.c_proj = nn.Dense(size, size)

    def construct(self, x):
        parts = (split_heads(part(x), self.heads) for part in (self.q, self.k, self.v))
        return self.c_proj(join_heads(attention(*parts, causal(x.shape[1]))))


class Gpt2Mlp(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.c_fc = nn.Dense(size, 4 * size)
        self.c_proj = nn.Dense(4 * size, size)

    def construct(self, x):
        return self.c_proj(ops.gelu(self.c_fc(x), approximate="tanh"))


class Gpt2Block(nn.Cell):
    def __init__(self, config, kind):
        super().__init__()
        size, epsilon = config["n_embd"], config["layer_norm_epsilon"]
        self.ln_1 = nn.LayerNorm((size,), epsilon=epsilon)
        self.attn = kind(size, config["n_head"])
        self.ln_2 = nn.LayerNorm((size,), epsilon=epsilon)
        self.mlp = Gpt2Mlp(size)

    def construct(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2Model(nn.Cell):
    def __init__(self, config, kind):
        super().__init__()
        size = config["n_embd"]
        self.wte = nn.Embedding(config["vocab_size"], size)
        self.wpe = nn.Embedding(config["n_positions"], size)
        self.h = nn.CellList([Gpt2Block(config, kind) for _ in range(config["n_layer"])])
        self.ln_f = nn.LayerNorm((size,), epsilon=config["layer_norm_epsilon"])

    def construct(self, ids):
        x = self.wte(ids) + self.wpe(ops.arange(ids.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x)


class Gpt2(nn.Cell):
    """GPT2LMHeadModel: scores of the next token.

    Args:
        tied: whether the head has the Parameter of the embedding, or one of its own.
    """

    def __init__(self, config, kind=FusedCausal, tied=True):
        super().__init__()
        self.transformer = Gpt2Model(config, kind)
        self.lm_head = nn.Dense(config["n_embd"], config["vocab_size"], has_bias=False)
        if tied:
            self.lm_head.weight = self.transformer.wte.embedding_table

    def construct(self, ids):
        return self.lm_head(self.transformer(ids))


# -- LLaMA -----------------------------------------------------------------------------------------


class RmsNorm(nn.Cell):
    def __init__(self, size, epsilon):
        super().__init__()
        self.weight = ms.Parameter(ops.ones((size,)))
        self.epsilon = epsilon

    def construct(self, x):
        return self.weight * (x * ops.rsqrt((x * x).mean(-1, keep_dims=True) + self.epsilon))


def rotated(x, theta):
    """x with rotary positions: pairs from both halves, turned by their place."""
    length, size = x.shape[-2:]
    angles = np.arange(length)[:, None] / theta ** (np.arange(0, size, 2) / size)
    angles = np.concatenate([angles, angles], -1).astype(np.float32)
    first, second = ops.split(x, size // 2, -1)
    turned = ops.concat([-second, first], -1)
    return x * ms.Tensor(np.cos(angles)) + turned * ms.Tensor(np.sin(angles))


class LlamaAttention(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.heads, self.groups = config["num_attention_heads"], config["num_key_value_heads"]
        self.theta = config["rope_parameters"]["rope_theta"]
        size = config["hidden_size"]
        inner = size // self.heads * self.groups
        self.q_proj = nn.Dense(size, size, has_bias=False)
        self.k_proj = nn.Dense(size, inner, has_bias=False)
        self.v_proj = nn.Dense(size, inner, has_bias=False)
        self.o_proj = nn.Dense(size, size, has_bias=False)

    def parts(self, x):
        return self.q_proj(x), self.k_proj(x), self.v_proj(x)

    def construct(self, x):
        query, key, value = self.parts(x)
        query = rotated(split_heads(query, self.heads), self.theta)
        key = rotated(split_heads(key, self.groups), self.theta)
        again = self.heads // self.groups
        key = ops.repeat_interleave(key, again, 1)
        value = ops.repeat_interleave(split_heads(value, self.groups), again, 1)
        return self.o_proj(join_heads(attention(query, key, value, causal(x.shape[1]))))


class FusedLlamaAttention(LlamaAttention):
    """The same with one product of unequal parts."""

    def __init__(self, config):
        super().__init__(config)
        size = config["hidden_size"]
        self.inner = size // self.heads * self.groups
        del self.q_proj, self.k_proj, self.v_proj
        self.qkv_proj = nn.Dense(size, size + 2 * self.inner, has_bias=False)

    def parts(self, x):
        return ops.split(self.qkv_proj(x), [x.shape[-1], self.inner, self.inner], -1)


class LlamaMlp(nn.Cell):
    def __init__(self, config):
        super().__init__()
        size, inner = config["hidden_size"], config["intermediate_size"]
        self.gate_proj = nn.Dense(size, inner, has_bias=False)
        self.up_proj = nn.Dense(size, inner, has_bias=False)
        self.down_proj = nn.Dense(inner, size, has_bias=False)

    def construct(self, x):
        return self.down_proj(ops.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaLayer(nn.Cell):
    def __init__(self, config, kind):
        super().__init__()
        size, epsilon = config["hidden_size"], config["rms_norm_eps"]
        self.self_attn = kind(config)
        self.mlp = LlamaMlp(config)
        self.input_layernorm = RmsNorm(size, epsilon)
        self.post_attention_layernorm = RmsNorm(size, epsilon)

    def construct(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaModel(nn.Cell):
    def __init__(self, config, kind):
        super().__init__()
        self.embed_tokens = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.layers = nn.CellList(
            [LlamaLayer(config, kind) for _ in range(config["num_hidden_layers"])]
        )
        self.norm = RmsNorm(config["hidden_size"], config["rms_norm_eps"])

    def construct(self, ids):
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Llama(nn.Cell):
    """LlamaForCausalLM: scores of the next token."""

    def __init__(self, config, kind=LlamaAttention):
        super().__init__()
        self.model = LlamaModel(config, kind)
        self.lm_head = nn.Dense(config["hidden_size"], config["vocab_size"], has_bias=False)

    def construct(self, ids):
        return self.lm_head(self.model(ids))


# -- ViT -------------------------------------------------------------------------------------------


class Projection(nn.Cell):
    def __init__(self, config):
        super().__init__()
        patch = config["patch_size"]
        self.projection = nn.Conv2d(
            config["num_channels"], config["hidden_size"], patch, patch, pad_mode="valid",
            has_bias=True,
        )  # fmt: skip

    def construct(self, x):
        return self.projection(x).flatten(start_dim=2).swapaxes(1, 2)


class VitEmbeddings(nn.Cell):
    def __init__(self, config):
        super().__init__()
        size = config["hidden_size"]
        patches = (config["image_size"] // config["patch_size"]) ** 2
        self.cls_token = ms.Parameter(ops.zeros((1, 1, size)))
        self.position_embeddings = ms.Parameter(ops.zeros((1, patches + 1, size)))
        self.patch_embeddings = Projection(config)

    def construct(self, x):
        x = self.patch_embeddings(x)
        first = ops.broadcast_to(self.cls_token, (x.shape[0], 1, x.shape[2]))
        return ops.concat([first, x], 1) + self.position_embeddings


class VitOutput(nn.Cell):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.dense = nn.Dense(inputs, outputs)

    def construct(self, x):
        return self.dense(x)


class VitAttention(nn.Cell):
    def __init__(self, size, heads):
        super().__init__()
        self.attention = BertSelfAttention(size, heads)
        self.output = VitOutput(size, size)

    def construct(self, x):
        return self.output(self.attention(x))


class VitLayer(nn.Cell):
    def __init__(self, config):
        super().__init__()
        size, epsilon = config["hidden_size"], config["layer_norm_eps"]
        self.layernorm_before = nn.LayerNorm((size,), epsilon=epsilon)
        self.attention = VitAttention(size, config["num_attention_heads"])
        self.layernorm_after = nn.LayerNorm((size,), epsilon=epsilon)
        self.intermediate = BertIntermediate(config)
        self.output = VitOutput(config["intermediate_size"], size)

    def construct(self, x):
        x = x + self.attention(self.layernorm_before(x))
        return x + self.output(self.intermediate(self.layernorm_after(x)))


class VitEncoder(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.CellList([VitLayer(config) for _ in range(config["num_hidden_layers"])])

    def construct(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class VitModel(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.embeddings = VitEmbeddings(config)
        self.encoder = VitEncoder(config)
        self.layernorm = nn.LayerNorm((config["hidden_size"],), epsilon=config["layer_norm_eps"])

    def construct(self, x):
        return self.layernorm(self.encoder(self.embeddings(x)))


class Vit(nn.Cell):
    """ViTForImageClassification: scores of the classes."""

    def __init__(self, config):
        super().__init__()
        self.vit = VitModel(config)
        self.classifier = nn.Dense(config["hidden_size"], len(config["id2label"]))

    def construct(self, x):
        return self.classifier(self.vit(x)[:, 0])


# -- ResNet ----------------------------------------------------------------------------------------


class ConvLayer(nn.Cell):
    def __init__(self, inputs, outputs, kernel=3, stride=1, active=True):
        super().__init__()
        self.convolution = nn.Conv2d(
            inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2
        )
        self.normalization = nn.BatchNorm2d(outputs)
        self.active = active

    def construct(self, x):
        x = self.normalization(self.convolution(x))
        return ops.relu(x) if self.active else x


class BasicBlock(nn.Cell):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.shortcut = None
        if inputs != outputs or stride != 1:
            self.shortcut = ConvLayer(inputs, outputs, 1, stride, active=False)
        self.layer = nn.SequentialCell(
            ConvLayer(inputs, outputs, stride=stride), ConvLayer(outputs, outputs, active=False)
        )

    def construct(self, x):
        kept = x if self.shortcut is None else self.shortcut(x)
        return ops.relu(self.layer(x) + kept)


class Stage(nn.Cell):
    def __init__(self, inputs, outputs, stride, depth):
        super().__init__()
        blocks = [BasicBlock(inputs, outputs, stride)]
        blocks += [BasicBlock(outputs, outputs, 1) for _ in range(depth - 1)]
        self.layers = nn.SequentialCell(*blocks)

    def construct(self, x):
        return self.layers(x)


class ResNetEncoder(nn.Cell):
    def __init__(self, config):
        super().__init__()
        sizes = [config["embedding_size"], *config["hidden_sizes"]]
        strides = [2 if config["downsample_in_first_stage"] else 1] + [2] * (len(sizes) - 2)
        self.stages = nn.CellList(
            [
                Stage(*parts)
                for parts in zip(sizes[:-1], sizes[1:], strides, config["depths"], strict=True)
            ]
        )

    def construct(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class ResNetEmbeddings(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.embedder = ConvLayer(config["num_channels"], config["embedding_size"], 7, 2)
        self.pooler = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)

    def construct(self, x):
        return self.pooler(self.embedder(x))


class ResNetModel(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.embedder = ResNetEmbeddings(config)
        self.encoder = ResNetEncoder(config)

    def construct(self, x):
        return self.encoder(self.embedder(x)).mean((2, 3))


class ResNet(nn.Cell):
    """ResNetForImageClassification: scores of the classes."""

    def __init__(self, config):
        super().__init__()
        self.resnet = ResNetModel(config)
        sizes = config["hidden_sizes"]
        self.classifier = nn.SequentialCell(
            nn.Flatten(), nn.Dense(sizes[-1], len(config["id2label"]))
        )

    def construct(self, x):
        return self.classifier(self.resnet(x))


CELLS = {"bert": Bert, "gpt2": Gpt2, "llama": Llama, "vit": Vit, "resnet": ResNet}
