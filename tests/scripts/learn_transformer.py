# SPDX-License-Identifier: Apache-2.0
"""A transformer with one encoder layer learns to sort digits; warm-up, label masks, jit."""

import argparse
import math

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.nn.learning_rate_schedule import LearningRateSchedule


class MultiHeadAttention(nn.Cell):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.query = nn.Dense(d_model, d_model)
        self.key = nn.Dense(d_model, d_model)
        self.value = nn.Dense(d_model, d_model)
        self.output = nn.Dense(d_model, d_model)
        self.matmul_trans = ops.BatchMatMul(transpose_b=True)
        self.matmul = ops.BatchMatMul()
        self.softmax = nn.Softmax(axis=-1)

    def split_heads(self, x):
        batch, length, _ = x.shape
        return x.reshape(batch, length, self.n_heads, self.d_head).transpose(0, 2, 1, 3)

    def construct(self, x):
        batch, length, width = x.shape
        query, key, value = (
            self.split_heads(self.query(x)),
            self.split_heads(self.key(x)),
            self.split_heads(self.value(x)),
        )
        scores = self.matmul_trans(query, key) / math.sqrt(self.d_head)
        context = self.matmul(self.softmax(scores), value)
        context = context.transpose(0, 2, 1, 3).view(batch, length, width)
        return self.output(context)


class EncoderLayer(nn.Cell):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.norm1 = nn.LayerNorm([d_model], epsilon=1e-5)
        self.norm2 = nn.LayerNorm([d_model], epsilon=1e-5)
        self.ffn = nn.SequentialCell(
            nn.Dense(d_model, d_ff), nn.GELU(approximate=False), nn.Dense(d_ff, d_model)
        )

    def construct(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class Sorter(nn.Cell):
    def __init__(self, vocab, length, d_model=24, n_heads=2, n_layers=1):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = Parameter(initializer(Normal(0.1), (1, length, d_model)), name="position")
        self.layers = nn.CellList([EncoderLayer(d_model, n_heads, 48) for _ in range(n_layers)])
        self.norm = nn.LayerNorm([d_model])
        self.head = nn.Dense(d_model, vocab, has_bias=False)

    def construct(self, tokens):
        x = self.embedding(tokens) * math.sqrt(24) * 0.2 + self.position
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class WarmUpInverseSqrt(LearningRateSchedule):
    def __init__(self, peak, warmup):
        super().__init__()
        self.peak = peak
        self.warmup = Tensor(warmup, ms.float32)
        self.min = ops.Minimum()

    def construct(self, global_step):
        step = ops.cast(global_step, ms.float32) + 1
        return self.peak * self.min(step / self.warmup, ops.sqrt(self.warmup / step))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="PYNATIVE_MODE")
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    ms.set_context(mode=getattr(ms, args.mode))
    ms.set_seed(5)

    vocab, length, generator = 8, 6, np.random.default_rng(11)
    net = Sorter(vocab, length)
    decayed = [p for p in net.trainable_params() if "norm" not in p.name and "bias" not in p.name]
    other = [p for p in net.trainable_params() if "norm" in p.name or "bias" in p.name]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": other}]
    optimizer = nn.AdamWeightDecay(groups, learning_rate=WarmUpInverseSqrt(0.015, 20))

    def forward(tokens, target):
        logits = net(tokens)
        return ops.cross_entropy(logits.view(-1, vocab), target.view(-1), label_smoothing=0.05)

    grad_fn = ops.value_and_grad(forward, grad_position=None, weights=optimizer.parameters)

    @ms.jit
    def step(tokens, target):
        loss, grads = grad_fn(tokens, target)
        return ops.depend(loss, optimizer(grads))

    net.set_train(True)
    for i in range(args.steps):
        tokens = generator.integers(0, vocab, (32, length))
        loss = step(Tensor(tokens, ms.int32), Tensor(np.sort(tokens, 1), ms.int32))
        if i % 50 == 0 or i == args.steps - 1:
            print(f"step {i}, loss: {float(loss):.5f}")

    net.set_train(False)
    tokens = generator.integers(0, vocab, (128, length))
    answers = ops.argmax(net(Tensor(tokens, ms.int32)), dim=-1).asnumpy()
    print(f"token accuracy: {(answers == np.sort(tokens, 1)).mean():.4f}")


if __name__ == "__main__":
    main()
