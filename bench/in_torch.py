# SPDX-License-Identifier: Apache-2.0
"""The work in PyTorch, eager; of what it offers twice, the faster."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from bench import models, work

VARIANTS = ("eager",)


class Primitives:
    """What the networks are made of."""

    relu, gelu, linear = staticmethod(F.relu), staticmethod(F.gelu), staticmethod(F.linear)
    cross_entropy = staticmethod(F.cross_entropy)
    attention = staticmethod(F.scaled_dot_product_attention)

    def __init__(self, training: bool):
        self.training = training
        self.recurrent: torch.nn.LSTM | None = None

    def conv(self, x, weight, stride, pad):
        return F.conv2d(x, weight, None, stride, pad)

    def max_pool(self, x, size, stride, pad):
        return F.max_pool2d(x, size, stride, pad)

    def layer_norm(self, x, scale, shift):
        return F.layer_norm(x, scale.shape, scale, shift, 1e-5)

    def batch_norm(self, x, w, name):
        mean, variance = w[f"{name}.moving_mean"], w[f"{name}.moving_variance"]
        scale, shift = w[f"{name}.gamma"], w[f"{name}.beta"]
        return F.batch_norm(x, mean, variance, scale, shift, self.training, 0.1, 1e-5)

    def lstm(self, x, w, layers):
        if self.recurrent is None:
            self.recurrent = torch.nn.LSTM(x.shape[-1], work.LSTM_WIDTH, layers, batch_first=True)
            for name, weight in w.items():
                setattr(self.recurrent, name.removeprefix("lstm."), torch.nn.Parameter(weight))
                # The Parameter shares the memory and the gradient of what the optimiser has.
                w[name] = getattr(self.recurrent, name.removeprefix("lstm."))
        return self.recurrent(x)[0]


def make(name: str, variant: str):
    """A function that does one call of a piece of work and returns its result."""
    if name.startswith("chain"):
        return _chain(*name.split("_")[1:])
    inference = name.endswith("_inference")
    name = name.removesuffix("_inference")
    w = {
        label: torch.tensor(array, requires_grad=not models.is_statistic(label))
        for label, array in work.weights(name).items()
    }
    f = Primitives(not inference)
    x, target = map(torch.tensor, work.batch(name))
    if inference:

        def infer():
            with torch.no_grad():
                return models.output(name, f, w, x).numpy()

        return infer
    if target.dtype is torch.int32:
        target = target.long()
    recipe = work.RECIPES[name]
    if name == "lstm":
        for label in w:
            w[label] = w[label].detach()
        models.output(name, f, w, x)
    trained = [weight for label, weight in w.items() if not models.is_statistic(label)]
    if recipe.optimizer == "adam":
        optimizer = torch.optim.Adam(trained, recipe.rate, fused=True)
    else:
        optimizer = torch.optim.SGD(trained, recipe.rate, work.MOMENTUM, fused=True)

    def step():
        loss = models.loss(name, f, w, x, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def _chain(function, size, what):
    x, y = map(torch.tensor, work.chain_inputs(size))
    function = {"tanh": torch.tanh, "relu": torch.relu}[function]
    if what == "forward":

        def forward():
            with torch.no_grad():
                return work.chain(x, y, function).numpy()

        return forward
    x.requires_grad_()

    def both():
        made = work.chain(x, y, function)
        return torch.autograd.grad(made, x, torch.ones_like(made))[0].numpy()

    return both


def settings() -> str:
    """What is measured with."""
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"
