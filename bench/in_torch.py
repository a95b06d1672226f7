# SPDX-License-Identifier: Apache-2.0
"""The work in PyTorch, eager and compiled; of what it offers twice, the faster."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from bench import models, work

# How a network is compiled; and whether its images lie channels last.
MODES = {"compiled": None, "compiled autotuned": "max-autotune", "compiled channels last": None}
VARIANTS = ("eager", *MODES)
IMAGES = ("lenet", "resnet18", "resnet50", "mobilenet")


class Primitives:
    """What the networks are made of."""

    relu, gelu, linear = staticmethod(F.relu), staticmethod(F.gelu), staticmethod(F.linear)
    cross_entropy = staticmethod(F.cross_entropy)
    relu6 = staticmethod(F.relu6)

    def __init__(self, training: bool):
        self.training = training
        self.rnn: torch.nn.LSTM | torch.nn.GRU | None = None
        self.known: tuple | None = None

    def constants(self, *arrays):
        if self.known is None:
            self.known = tuple(map(torch.tensor, arrays))
        return self.known

    def embedding(self, table, words):
        return F.embedding(words, table)

    def segment_sum(self, x, ends, count):
        return x.new_zeros((count, x.shape[1])).index_add(0, ends, x)

    def attention(self, query, key, value, causal):
        return F.scaled_dot_product_attention(query, key, value, is_causal=causal)

    def conv(self, x, weight, stride, pad, groups=1):
        return F.conv2d(x, weight, None, stride, pad, 1, groups)

    def max_pool(self, x, size, stride, pad):
        return F.max_pool2d(x, size, stride, pad)

    def layer_norm(self, x, scale, shift):
        return F.layer_norm(x, scale.shape, scale, shift, 1e-5)

    def batch_norm(self, x, w, name):
        mean, variance = w[f"{name}.moving_mean"], w[f"{name}.moving_variance"]
        scale, shift = w[f"{name}.gamma"], w[f"{name}.beta"]
        return F.batch_norm(x, mean, variance, scale, shift, self.training, 0.1, 1e-5)

    def recurrent(self, x, w, name):
        if self.rnn is None:
            layers, width, gates, directions = work.RECURRENT[name]
            kind = torch.nn.LSTM if gates == 4 else torch.nn.GRU
            both = {"batch_first": True, "bidirectional": directions == 2}
            self.rnn = kind(x.shape[-1], width, layers, **both)
            for label in [label for label in w if label.startswith("rnn.")]:
                weight = torch.nn.Parameter(w[label])
                setattr(self.rnn, label.removeprefix("rnn."), weight)
                # The Parameter shares the memory and the gradient of what the optimiser has.
                w[label] = weight
        return self.rnn(x)[0]


def make(name: str, variant: str):
    """A function that does one call of a piece of work and returns its result."""
    if name.startswith("chain"):
        return _chain(*name.split("_")[1:], variant)
    inference = name.endswith("_inference")
    name = name.removesuffix("_inference")
    last = variant.endswith("channels last")
    if last and name not in IMAGES:
        raise ValueError("it has no images")
    w = {label: torch.tensor(array) for label, array in work.weights(name).items()}
    x, target = map(torch.tensor, work.batch(name))
    if last:
        every = {"memory_format": torch.channels_last}
        w = {k: array.to(**every) if array.ndim == 4 else array for k, array in w.items()}
        x = x.to(**every)
    f = Primitives(not inference)
    if inference:

        def output(x):
            return models.output(name, f, w, x)

        run = _compiled(output, variant)

        def infer():
            with torch.no_grad():
                return run(x).numpy()

        return infer
    if target.dtype is torch.int32:
        target = target.long()
    recipe = work.RECIPES[name]
    for label, weight in w.items():
        weight.requires_grad_(not models.is_statistic(label) and not label.startswith("rnn."))
    if name in work.RECURRENT:
        models.output(name, f, w, x)
    trained = [weight for label, weight in w.items() if not models.is_statistic(label)]
    if recipe.optimizer == "adam":
        optimizer = torch.optim.Adam(trained, recipe.rate, fused=True)
    else:
        optimizer = torch.optim.SGD(trained, recipe.rate, work.MOMENTUM, fused=True)

    def loss_of(x, target):
        return models.loss(name, f, w, x, target)

    run = _compiled(loss_of, variant)

    def step():
        loss = run(x, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def _compiled(function, variant: str):
    if variant == "eager":
        return function
    return torch.compile(function, mode=MODES[variant], dynamic=False)


def _chain(function, size, what, variant):
    if variant.endswith("channels last"):
        raise ValueError("it has no images")
    x, y = map(torch.tensor, work.chain_inputs(size))
    function = {"tanh": torch.tanh, "relu": torch.relu}[function]
    run = _compiled(lambda x, y: work.chain(x, y, function), variant)
    if what == "forward":

        def forward():
            with torch.no_grad():
                return run(x, y).numpy()

        return forward
    x.requires_grad_()

    def both():
        made = run(x, y)
        return torch.autograd.grad(made, x, torch.ones_like(made))[0].numpy()

    return both


def settings() -> str:
    """What is measured with."""
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"
