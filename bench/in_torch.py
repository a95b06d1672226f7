# SPDX-License-Identifier: Apache-2.0
"""The work in PyTorch, eager."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from bench import work

VARIANTS = ("eager",)


def lenet(variant: str):
    """One training step with SGD and momentum, the faster of its implementations."""
    weights = {
        name: torch.tensor(array, requires_grad=True)
        for name, array in work.lenet_weights().items()
    }
    optimizer = torch.optim.SGD(list(weights.values()), work.RATE, work.MOMENTUM, foreach=True)
    images, labels = work.lenet_batch()
    x, y = torch.tensor(images), torch.tensor(labels, dtype=torch.int64)
    w = weights

    def once():
        h = F.max_pool2d(F.relu(F.conv2d(x, w["conv1"])), 2)
        h = F.max_pool2d(F.relu(F.conv2d(h, w["conv2"])), 2).flatten(1)
        h = F.relu(F.linear(h, w["fc1"], w["b1"]))
        h = F.relu(F.linear(h, w["fc2"], w["b2"]))
        loss = F.cross_entropy(F.linear(h, w["fc3"], w["b3"]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return once


def chain_forward(variant: str):
    """40 operators on 4 x 4."""
    x, y = map(torch.tensor, work.chain_inputs())

    def once():
        with torch.no_grad():
            return work.chain(x, y, torch.tanh).numpy()

    return once


def chain_both(variant: str):
    """40 operators on 4 x 4, forward and backward."""
    x, y = map(torch.tensor, work.chain_inputs())
    x.requires_grad_()

    def once():
        made = work.chain(x, y, torch.tanh)
        return torch.autograd.grad(made, x, torch.ones_like(made))[0].numpy()

    return once


def settings() -> str:
    """What is measured with."""
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"
