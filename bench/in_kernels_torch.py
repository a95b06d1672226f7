# SPDX-License-Identifier: Apache-2.0
"""The operators of `device_kernels` in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from bench import device_kernels
from bench.in_torch import DEVICE, settings

__all__ = ["VARIANTS", "make", "settings"]
VARIANTS = ("scaled_dot_product", "nn.LSTM", "NCHW", "NHWC")


def make(work: str, variant: str) -> Callable[[], list[float]]:
    """A function that runs an operator forward and backward: mean square, and of the gradients."""
    name, _, detail = work.partition(", ")
    function, arrays, weights = MADE[name](detail, variant)
    for array in arrays:
        array.requires_grad_()

    def both() -> list[float]:
        loss = function(*arrays).float().square().mean()
        first, *_ = torch.autograd.grad(loss, [*arrays, *weights])
        return torch.stack([loss.detach(), first.float().square().sum()]).tolist()

    return both


def _attention(detail: str, variant: str):
    *arrays, lengths = device_kernels.attention()
    kind = {"device": DEVICE, "dtype": torch.bfloat16}
    arrays = [torch.tensor(array, **kind) for array in arrays]
    mask = None
    if detail == "lengths":
        places = torch.arange(arrays[0].shape[1], device=DEVICE)
        mask = (places < torch.tensor(lengths, device=DEVICE)[:, None])[:, None, None]

    def attention(*arrays):
        query, key, value = (array.swapaxes(1, 2) for array in arrays)
        return F.scaled_dot_product_attention(query, key, value, mask, is_causal=mask is None)

    return attention, arrays, ()


def _lstm(detail: str, variant: str):
    x, weights = device_kernels.lstm()
    _, _, width, layers = device_kernels.SIZES.lstm
    net = torch.nn.LSTM(width, width, layers, batch_first=True, device=DEVICE)
    net.load_state_dict({label: torch.tensor(array) for label, array in weights.items()})
    return lambda x: net(x)[0], [torch.tensor(x, device=DEVICE)], tuple(net.parameters())


def _convolution(detail: str, variant: str):
    x, weight = device_kernels.images()
    order = torch.channels_last if variant == "NHWC" else torch.contiguous_format
    kind = {"device": DEVICE, "dtype": getattr(torch, detail)}
    arrays = [torch.tensor(array, **kind).to(memory_format=order) for array in (x, weight)]
    return lambda x, weight: F.conv2d(x, weight, padding=1), arrays, ()


MADE = {"attention": _attention, "LSTM": _lstm, "convolution": _convolution}
