# SPDX-License-Identifier: Apache-2.0
"""Predictions in ONNX Runtime, of networks that PyTorch exports."""

from __future__ import annotations

import io

import onnxruntime
import torch

from bench import in_torch, models, work

VARIANTS = ("prediction",)


class Network(torch.nn.Module):
    """A network of `models` as a module, which is what PyTorch exports."""

    def __init__(self, name: str):
        super().__init__()
        self.name, self.primitives = name, in_torch.Primitives(training=False)
        self.labels = {}
        for number, (label, array) in enumerate(work.weights(name).items()):
            self.labels[label] = f"weight{number}"
            self.register_buffer(f"weight{number}", torch.tensor(array))

    def forward(self, *inputs):
        weights = {label: getattr(self, buffer) for label, buffer in self.labels.items()}
        return models.output(self.name, self.primitives, weights, *inputs)


def make(name: str, variant: str):
    """A function that does one call of a piece of work and returns its result.

    Raises:
        ValueError: it is no prediction.
    """
    del variant
    if not name.endswith("_inference"):
        raise ValueError("ONNX Runtime predicts only")
    name = name.removesuffix("_inference")
    *inputs, _ = work.batch(name)
    file = io.BytesIO()
    torch.onnx.export(Network(name).eval(), tuple(map(torch.tensor, inputs)), file, dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(
        file.getvalue(), options, providers=["CPUExecutionProvider"]
    )
    labels = [given.name for given in session.get_inputs()]
    given = dict(zip(labels, inputs, strict=True))
    return lambda: session.run(None, given)[0]


def settings() -> str:
    """What is measured with."""
    return f"onnxruntime {onnxruntime.__version__}, {torch.get_num_threads()} threads"
