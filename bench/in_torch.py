# SPDX-License-Identifier: Apache-2.0
"""The work in PyTorch, eager and compiled; of what it offers twice, the faster."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from bench import models, work

# How a network is compiled; and whether its images lie channels last.
MODES = {"compiled": None, "compiled autotuned": "max-autotune", "compiled channels last": None}
VARIANTS = ("eager", *MODES)
DEVICE = "cuda" if work.DEVICE == "gpu" else "cpu"
IMAGES = ("lenet", "unet", *work.RESNETS, *work.INVERTED)


class Primitives:
    """What the networks are made of."""

    relu, gelu, linear = staticmethod(F.relu), staticmethod(F.gelu), staticmethod(F.linear)
    cross_entropy = staticmethod(F.cross_entropy)
    binary_cross_entropy = staticmethod(F.binary_cross_entropy_with_logits)
    relu6, silu, sigmoid = staticmethod(F.relu6), staticmethod(F.silu), staticmethod(torch.sigmoid)

    def __init__(self, training: bool):
        self.training = training
        self.rnn: torch.nn.LSTM | torch.nn.GRU | None = None
        self.known: tuple | None = None

    def constants(self, *arrays):
        if self.known is None:
            self.known = tuple(map(_tensor, arrays))
        return self.known

    def embedding(self, table, words):
        return F.embedding(words, table)

    def sparse_embedding(self, table, rows):
        return F.embedding(rows, table, sparse=True)

    def valid(self, lengths, length):
        return torch.arange(length, device=lengths.device) < lengths[:, None]

    def segment_sum(self, x, ends, count):
        return x.new_zeros((count, x.shape[1])).index_add(0, ends, x)

    def attention(self, query, key, value, causal, valid=None):
        mask = None if valid is None else valid[:, None, None]
        return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)

    def concatenate(self, arrays):
        return torch.cat(arrays, 1)

    def lift(self, x, weight):
        return F.conv_transpose2d(x, weight, None, 2)

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
            self.rnn = kind(x.shape[-1], width, layers, device=DEVICE, **both)
            for label in [label for label in w if label.startswith("rnn.")]:
                weight = torch.nn.Parameter(w[label])
                setattr(self.rnn, label.removeprefix("rnn."), weight)
                # The Parameter shares the memory and the gradient of what the optimiser has.
                w[label] = weight
            self.rnn.flatten_parameters()
        return self.rnn(x)[0]


def _tensor(array) -> torch.Tensor:
    return torch.tensor(array, device=DEVICE)


def _mixed():
    """Where operators that gain by it compute in low precision, if that is asked for."""
    return torch.autocast(DEVICE, torch.bfloat16, enabled=work.MIXED)


def make(name: str, variant: str):
    """A function that does one call of a piece of work and returns its result."""
    if name.startswith("chain"):
        return _chain(*name.split("_")[1:], variant)
    inference = name.endswith("_inference")
    name = name.removesuffix("_inference")
    last = variant.endswith("channels last")
    if last and name not in IMAGES:
        raise ValueError("it has no images")
    w = {label: _tensor(array) for label, array in work.weights(name).items()}
    *inputs, target = map(_tensor, work.batch(name))
    if last:
        every = {"memory_format": torch.channels_last}
        w = {k: array.to(**every) if array.ndim == 4 else array for k, array in w.items()}
        inputs = [array.to(**every) for array in inputs]
    f = Primitives(not inference)
    if inference:

        def output(*inputs):
            with _mixed():
                return models.output(name, f, w, *inputs)

        run = _compiled(output, variant)

        def infer():
            with torch.no_grad():
                return run(*inputs).float().cpu().numpy()

        return infer
    if target.dtype is torch.int32:
        target = target.long()
    for label, weight in w.items():
        weight.requires_grad_(not models.is_statistic(label) and not label.startswith("rnn."))
    if name in work.RECURRENT:
        models.output(name, f, w, *inputs)
    optimizers = _optimizers(name, w)

    def loss_of(*batch):
        with _mixed():
            return models.loss(name, f, w, *batch)

    run = _compiled(loss_of, variant)

    def step():
        loss = run(*inputs, target)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return float(loss.detach())

    return step


def _optimizers(name: str, w) -> list[torch.optim.Optimizer]:
    """What changes the weights; tables whose gradients are rows have an optimiser of their own."""
    recipe = work.RECIPES[name]
    trained = {label: weight for label, weight in w.items() if not models.is_statistic(label)}
    if recipe.optimizer == "momentum":
        return [torch.optim.SGD(trained.values(), recipe.rate, work.MOMENTUM, fused=True)]
    tables = []
    if recipe.optimizer == "lazy adam":
        tables = [trained.pop(label) for label in list(trained) if label.endswith("table")]
    dense = torch.optim.Adam(trained.values(), recipe.rate, fused=True)
    return [dense, torch.optim.SparseAdam(tables, recipe.rate)] if tables else [dense]


def _compiled(function, variant: str):
    if variant == "eager":
        return function
    return torch.compile(function, mode=MODES[variant], dynamic=False)


def _chain(function, size, what, variant):
    if variant.endswith("channels last"):
        raise ValueError("it has no images")
    x, y = map(_tensor, work.chain_inputs(size))
    function = {"tanh": torch.tanh, "relu": torch.relu}[function]
    run = _compiled(lambda x, y: work.chain(x, y, function), variant)
    if what == "forward":

        def forward():
            with torch.no_grad():
                return run(x, y).cpu().numpy()

        return forward
    x.requires_grad_()

    def both():
        made = run(x, y)
        return torch.autograd.grad(made, x, torch.ones_like(made))[0].cpu().numpy()

    return both


def device_memory(what: str) -> int | None:
    """Bytes of tensors on the device: now, forgetting the peak, or the peak; None on a CPU."""
    if DEVICE == "cpu":
        return None
    if what == "reset":
        torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory_allocated()
    return torch.cuda.max_memory_allocated()


def settings() -> str:
    """What is measured with."""
    if DEVICE == "cuda":
        # As XLA does by itself: products of Float32 by TensorFloat32.
        torch.set_float32_matmul_precision("high")
        return f"torch {torch.__version__} on {torch.cuda.get_device_name()}"
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"
