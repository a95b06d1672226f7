# SPDX-License-Identifier: Apache-2.0
"""Attention and transformers: as recorded in MindSpore, and by NumPy where it has no CPU kernel."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from check_cell import check_cell
from harness import assert_close, execution, matches, run_everywhere
from mycel import nn, ops
from support import recorded_cells as recorded

RANDOM = np.random.default_rng(5)
DOUBLE = ms.float64


@pytest.mark.parametrize(("case", "answer"), recorded.named("transformer"), ids=recorded.case_name)
def test_as_in_mindspore(case, answer):
    recorded.check(case, answer)


# -- oracles ---------------------------------------------------------------------------------


def softmax(scores, closed=None):
    """Shares of the last dimension; a row of which all is closed has none."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    powers = powers if closed is None else np.where(closed, 0, powers)
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def attention(query, key, value, closed, scale, shift=0.0):
    """For [N, heads, time, D], with keys of as many heads or fewer; one head at a time."""
    made = np.zeros(query.shape)
    group = query.shape[1] // key.shape[1]
    for n in range(query.shape[0]):
        for head in range(query.shape[1]):
            scores = query[n, head] @ key[n, head // group].T
            shifted = scores + np.broadcast_to(shift, (*query.shape[:2], *scores.shape))[n, head]
            mask = np.broadcast_to(closed, (*query.shape[:2], *scores.shape))[n, head]
            made[n, head] = softmax(shifted * scale, mask) @ value[n, head // group]
    return made


def normalised(x, gamma, beta):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta


def encoded(v, x):
    """An encoder layer with two heads and relu, for (time, N, 4)."""
    made = x @ v["self_attn.in_proj_weight"].T + v["self_attn.in_proj_bias"]
    query, key, value = (
        part.reshape(*x.shape[:2], 2, 2).transpose(1, 2, 0, 3) for part in np.split(made, 3, -1)
    )
    mixed = attention(query, key, value, False, 2**-0.5).transpose(2, 0, 1, 3).reshape(x.shape)
    mixed = mixed @ v["self_attn.out_proj.weight"].T + v["self_attn.out_proj.bias"]
    x = normalised(x + mixed, v["norm1.gamma"], v["norm1.beta"])
    inner = np.maximum(x @ v["dense1.weight"].T + v["dense1.bias"], 0)
    made = x + inner @ v["dense2.weight"].T + v["dense2.bias"]
    return normalised(made, v["norm2.gamma"], v["norm2.beta"])


# -- layers ----------------------------------------------------------------------------------


def test_encoder_layer():
    check_cell(
        lambda: nn.TransformerEncoderLayer(4, 2, 3, 0.0, dtype=DOUBLE),
        RANDOM.normal(size=(3, 2, 4)),
        names={
            "self_attn.in_proj_weight": (12, 4),
            "self_attn.in_proj_bias": (12,),
            "self_attn.out_proj.weight": (4, 4),
            "self_attn.out_proj.bias": (4,),
            "dense1.weight": (3, 4),
            "dense1.bias": (3,),
            "dense2.weight": (4, 3),
            "dense2.bias": (4,),
            "norm1.gamma": (4,),
            "norm1.beta": (4,),
            "norm2.gamma": (4,),
            "norm2.beta": (4,),
        },
        oracle=encoded,
    )


@pytest.mark.parametrize("mode", ["direct", "fused", "graph"])
def test_dropout_of_weights(mode):
    """In training a weight is 0 or twice that of prediction (oracle: the definition)."""
    layer = nn.MultiheadAttention(4, 2, dropout=0.5)
    x = ms.Tensor(RANDOM.normal(size=(6, 2, 4)).astype(np.float32))
    with execution(mode):
        expected = layer(x, x, x, average_attn_weights=False)[1].asnumpy()
        weights = layer.set_train()(x, x, x, average_attn_weights=False)[1].asnumpy()
        other = layer(x, x, x, average_attn_weights=False)[1].asnumpy()
    kept = weights != 0
    assert_close(weights[kept], 2 * expected[kept], mode)
    assert 0.2 < kept.mean() < 0.8
    assert (weights != other).any()


def test_initial_values():
    """Within Glorot's bounds, which the largest of many values come near (oracle: the paper)."""
    weight = nn.MultiheadAttention(30, 2).in_proj_weight.asnumpy()
    bound = np.sqrt(6 / 120)
    assert 0.95 * bound < np.abs(weight).max() <= bound
    made = nn.Transformer(30, 2, 1, 1, 30).encoder.layers[0].dense1.weight.asnumpy()
    bound = np.sqrt(6 / 60)
    assert 0.95 * bound < np.abs(made).max() <= bound


def test_copies_begin_with_the_same_values():
    layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 3), 2).layers
    first, second = (layer.dense1.weight for layer in layers)
    assert first is not second
    assert_close(first.asnumpy(), second.asnumpy())


def test_activation_may_be_a_cell_or_a_function():
    x = ms.Tensor(RANDOM.normal(size=(3, 2, 4)).astype(np.float32))
    layer = nn.TransformerEncoderLayer(4, 2, 3, 0.0, nn.Tanh())
    expected = layer(x).asnumpy()
    layer.activation = ops.tanh
    assert_close(layer(x).asnumpy(), expected)
    with pytest.raises(TypeError, match=r"TransformerEncoderLayer\.activation must be 'relu'"):
        nn.TransformerEncoderLayer(4, 2, 3, activation=3)


def test_all_masked_gives_the_output_bias():
    """Where MindSpore's CPU kernel divides by zero (oracle: an empty sum)."""
    layer = nn.MultiheadAttention(4, 2)
    mask = ms.Tensor(np.array([[True, True], [False, False]]))
    x = ms.Tensor(RANDOM.normal(size=(2, 1, 4)).astype(np.float32))
    out, weights = layer(x, x, x, attn_mask=mask)
    assert_close(out[0, 0].asnumpy(), layer.out_proj.bias.asnumpy())
    assert_close(weights[0, 0].asnumpy(), np.zeros(2, np.float32))


# -- fused attention: MindSpore has no CPU kernel, the oracle is NumPy -------------------------

HEADS = RANDOM.normal(size=(2, 4, 3, 2)).astype(np.float32)
KEYS = RANDOM.normal(size=(2, 2, 5, 2)).astype(np.float32)
ROW, COLUMN = np.arange(3)[:, None], np.arange(5)[None]
OPEN = np.zeros((3, 5), bool)
MASK = RANDOM.random((2, 1, 3, 5)) < 0.4
PREFIXES = np.array([3, 5])

MASKS = {
    "open": ({}, OPEN),
    "mask": ({"attn_mask": MASK}, MASK),
    "mask_band": (
        {"attn_mask": OPEN, "pre_tokens": 1, "next_tokens": 1},
        (COLUMN > ROW + 1) | (COLUMN < ROW - 1),
    ),
    "all": ({"attn_mask": MASK, "sparse_mode": 1, "next_tokens": 0}, MASK),
    "causal": ({"sparse_mode": 2}, COLUMN > ROW),
    "causal_from_last": ({"sparse_mode": 3}, COLUMN > ROW + 2),
    "band": (
        {"sparse_mode": 4, "pre_tokens": 1, "next_tokens": 0},
        (COLUMN > ROW + 2) | (COLUMN < ROW + 1),
    ),
    "prefix": (
        {"sparse_mode": 5, "prefix": (3, 5)},
        (COLUMN > ROW + 2) & (PREFIXES[:, None, None, None] <= COLUMN),
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_flash_attention_masks(name):
    given, closed = MASKS[name]
    given = {k: ms.Tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    expected = attention(HEADS, KEYS, KEYS + 1, closed, 0.7).astype(np.float32)
    for mode, actual in run_everywhere(
        lambda q, k, v: ops.flash_attention_score(
            q, k, v, 4, scalar_value=0.7, input_layout="BNSD", **given
        ),
        HEADS,
        KEYS,
        KEYS + 1,
    ).items():
        assert_close(actual, expected, mode)


LAYOUTS = {
    "BSH": lambda x: x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1),
    "SBH": lambda x: x.transpose(2, 0, 1, 3).reshape(x.shape[2], x.shape[0], -1),
    "BSND": lambda x: x.transpose(0, 2, 1, 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_flash_attention_layouts(layout):
    shift = RANDOM.normal(size=(1, 4, 3, 5)).astype(np.float32)
    turn = LAYOUTS[layout]
    expected = turn(attention(HEADS, KEYS, KEYS, False, 0.7, shift)).astype(np.float32)
    operator = ops.FlashAttentionScore(4, scale_value=0.7, input_layout=layout)
    for mode, actual in run_everywhere(
        lambda q, k, s: operator(q, k, k, s), turn(HEADS), turn(KEYS), shift
    ).items():
        highest, total, empty, out = actual
        assert_close(out, expected, mode)
        assert highest.shape == total.shape == (2, 4, 3, 8)
        assert empty.shape == ()


def test_flash_attention_of_sequences_behind_each_other():
    query = RANDOM.normal(size=(5, 4, 2)).astype(np.float32)
    key = RANDOM.normal(size=(6, 2, 2)).astype(np.float32)
    parts = []
    for rows, columns in ((slice(0, 2), slice(0, 4)), (slice(2, 5), slice(4, 6))):
        q, k = (x.transpose(1, 0, 2)[None] for x in (query[rows], key[columns]))
        row, column = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None]
        closed = column > row + (k.shape[2] - q.shape[2])
        parts.append(attention(q, k, k, closed, 1.0)[0].transpose(1, 0, 2))
    matches(
        lambda q, k: ops.flash_attention_score(
            q, k, k, 4, actual_seq_qlen=(2, 5), actual_seq_kvlen=[4, 6],
            input_layout="TND", sparse_mode=3,
        ),
        lambda q, k: np.concatenate(parts).astype(np.float32),
        query,
        key,
    )  # fmt: skip


def test_flash_attention_drops_by_bits():
    """A bit of 1 keeps a weight (oracle: NumPy's own unpacking)."""
    query = RANDOM.normal(size=(1, 1, 2, 2)).astype(np.float32)
    key = RANDOM.normal(size=(1, 1, 8, 2)).astype(np.float32)
    bits = np.array([[[[0b10110001], [0b00001111]]]], np.uint8)
    kept = np.unpackbits(bits, axis=-1, bitorder="little")[0, 0]
    weights = softmax(query[0, 0] @ key[0, 0].T) * kept / 0.5
    matches(
        lambda q, k, b: ops.flash_attention_score(
            q, k, k, 1, drop_mask=b, keep_prob=0.5, input_layout="BNSD"
        ),
        lambda q, k, b: (weights @ key[0, 0])[None, None].astype(np.float32),
        query,
        key,
        bits,
    )


def test_flash_attention_gradient():
    """Central differences, through a mask that closes a whole row."""
    mask = ms.Tensor(np.array([[True, True], [False, True], [False, False]]))
    inputs = [RANDOM.normal(size=(1, n, 2)) for n in (3, 2, 2)]

    def function(q, k, v):
        made = ops.flash_attention_score(q, k, v, 1, attn_mask=mask)
        return (made * ops.cos(made)).sum()

    tensors = [ms.Tensor(x) for x in inputs]
    for mode in ("fused", "graph"):
        with execution(mode):
            gradients = ms.grad(function, (0, 1, 2))(*tensors)
        for position, gradient in enumerate(gradients):
            direction = np.cos(np.arange(inputs[position].size)).reshape(inputs[position].shape)
            ends = []
            for step in (1e-6, -1e-6):
                moved = list(tensors)
                moved[position] = ms.Tensor(inputs[position] + step * direction)
                ends.append(float(function(*moved)))
            along = float((gradient.asnumpy() * direction).sum())
            np.testing.assert_allclose(along, (ends[0] - ends[1]) / 2e-6, 1e-6, 1e-8)


def test_flash_attention_cell():
    mask = (RANDOM.random((2, 3, 5)) < 0.4).astype(np.float32)
    layer = nn.FlashAttention(head_dim=2, head_num=4, high_precision=True)
    expected = attention(HEADS, KEYS, KEYS, mask[:, None] > 0, 2**-0.5)
    made = layer(ms.Tensor(HEADS), ms.Tensor(KEYS), ms.Tensor(KEYS), ms.Tensor(mask))
    assert_close(made.asnumpy(), expected.astype(np.float32))


def test_what_flash_attention_refuses():
    x = ops.ones((2, 3, 4), ms.float32)
    with pytest.raises(ValueError, match="input_layout must be one of"):
        ops.flash_attention_score(x, x, x, 1, input_layout="SH")
    with pytest.raises(ValueError, match="sparse_mode must be from 0 to 5"):
        ops.flash_attention_score(x, x, x, 1, sparse_mode=7)
    with pytest.raises(ValueError, match="head_num=3 does not divide"):
        ops.flash_attention_score(x, x, x, 3)


# -- positions and gates -----------------------------------------------------------------------


def turned(x, cos, sin):
    first, second = np.split(x, 2, -1)
    return x * cos + np.concatenate([-second, first], -1) * sin


def test_rotary_positions():
    """Halves as in GPT-NeoX, neighbours as in GPT-J: a turn of complex numbers."""
    x = RANDOM.normal(size=(2, 3, 5, 4)).astype(np.float32)
    angle = RANDOM.normal(size=(5, 2)).astype(np.float32)
    turn = np.exp(1j * angle)
    for mode, pairs in (
        (0, lambda x: (x[..., :2], x[..., 2:])),
        (1, lambda x: (x[..., ::2], x[..., 1::2])),
    ):
        first, second = pairs(x)
        spread = np.tile(angle, 2) if mode == 0 else np.repeat(angle, 2, -1)
        cos, sin = np.cos(spread)[None, None], np.sin(spread)[None, None]
        found = run_everywhere(
            lambda x, c, s, mode=mode: ops.rotary_position_embedding(x, c, s, mode), x, cos, sin
        )
        for actual in found.values():
            one, other = pairs(actual)
            expected = (first + 1j * second) * turn
            assert_close(one, expected.real.astype(np.float32))
            assert_close(other, expected.imag.astype(np.float32))


def test_rotary_positions_of_heads():
    x = RANDOM.normal(size=(2, 1, 6)).astype(np.float32)
    cos, sin = (RANDOM.normal(size=(4, 2)).astype(np.float32) for _ in range(2))
    place = np.array([3, 1])

    def expected(x, cos, sin, place):
        heads = x.reshape(2, 1, 3, 2)
        rows = cos[place][:, None, None], sin[place][:, None, None]
        made = turned(heads, *rows).reshape(x.shape)
        return made, made

    matches(lambda *given: ops.ApplyRotaryPosEmb()(given[0], *given), expected, x, cos, sin, place)


def test_gates_and_root_mean_square():
    x = RANDOM.normal(size=(3, 4)).astype(np.float32)
    weight = RANDOM.normal(size=4).astype(np.float32)

    def expected(x, weight):
        gate, inner = np.split(x, 2, -1)
        total = 2 * x
        inverse = 1 / np.sqrt((total**2).mean(-1, keepdims=True) + np.float32(1e-6))
        return gate / (1 + np.exp(-gate)) * inner, total * inverse * weight, inverse, total

    matches(lambda x, w: (ops.swiglu(x), *ops.add_rms_norm(x, x, w)), expected, x, weight)
    assert_close(
        ops.RmsNorm()(ms.Tensor(2 * x), ms.Tensor(weight))[0].asnumpy(), expected(x, weight)[1]
    )


def test_other_names_of_fused_attention():
    shift = RANDOM.normal(size=(1, 4, 3, 5)).astype(np.float32)
    plain = attention(HEADS, KEYS, KEYS, MASK, 0.7, shift / 0.7).astype(np.float32)
    matches(
        lambda q, k, s, m: ops.speed_fusion_attention(
            q, k, k, 4, "BNSD", pse=s, atten_mask=m, scale=0.7, pse_type=0
        )[0],
        lambda q, k, s, m: plain,
        HEADS, KEYS, shift, MASK,
    )  # fmt: skip
    closed = (COLUMN > ROW) | (np.array([2, 4])[:, None, None, None] <= COLUMN)
    expected = attention(HEADS, KEYS, KEYS, closed, 0.7, shift / 0.7).astype(np.float32)
    operator = ops.PromptFlashAttention(4, 0.7, input_layout="BNSD", sparse_mode=2)
    matches(
        lambda q, k, s: operator(q, k, k, actual_seq_lengths_kv=(2, 4), pse_shift=s),
        lambda q, k, s: expected,
        HEADS, KEYS, shift,
    )  # fmt: skip
