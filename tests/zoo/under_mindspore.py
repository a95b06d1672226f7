# SPDX-License-Identifier: Apache-2.0
"""Run by real MindSpore, the oracle: what its networks of the zoo are called and compute.

    PYTHONPATH=FOLDER_WITH_MINDCV MINDSPORE_PYTHON under_mindspore.py names
    PYTHONPATH=FOLDER_WITH_MINDCV MINDSPORE_PYTHON under_mindspore.py forward FOLDER NAME...
    PYTHONPATH=FOLDER_WITH_MINDCV MINDSPORE_PYTHON under_mindspore.py tiny > outputs.json

`names` prints a JSON line for every architecture. `forward` leaves in FOLDER, for each NAME, its
weights (`NAME.ckpt`) and its outputs in prediction (`NAME.npz`). `tiny` prints the outputs of a few
architectures whose weights are drawn from their names.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from facts import CLASSES, SIZES, TINY, drawn, first_size, images, moved, parameter_facts
from mindcv import create_model, list_models, model_entrypoint
from mindspore.nn.utils import no_init_parameters


def main() -> None:
    """Do what the first argument says."""
    command, *rest = sys.argv[1:]
    if command == "names":
        for name in rest or list_models():
            print(json.dumps({"name": name, **names(name)}), flush=True)
    elif command == "tiny":
        print(json.dumps({name: tiny(name) for name in TINY}, indent=1))
    else:
        folder = Path(rest[0])
        for name in rest[1:]:
            print(json.dumps({"name": name, **forward(name, folder)}), flush=True)


def names(name: str) -> dict:
    """The facts of its parameters, or the error, and the file of mindcv it is from."""
    family = {"family": model_entrypoint(name).__module__.rpartition(".")[2]}
    try:
        with no_init_parameters():
            return family | parameter_facts(create_model(name, num_classes=CLASSES))
    except Exception as error:
        return family | {"error": f"{type(error).__name__}: {error}"[:300]}


def forward(name: str, folder: Path) -> dict:
    """Save weights, images and outputs of one architecture; returns the size or the error."""
    try:
        ms.set_seed(7)
        np.random.seed(7)
        network = create_model(name, num_classes=CLASSES)
        network.set_train(False)
        for parameter in network.get_parameters():
            value = parameter.asnumpy()
            parameter.set_data(ms.Tensor(moved(parameter.name, value)))
        size, outputs = first_size(lambda size: outputs_of(network, size))
        ms.save_checkpoint(network, str(folder / f"{name}.ckpt"))
        arrays = {f"output_{n}": output for n, output in enumerate(outputs)}
        np.savez(folder / f"{name}.npz", size=size, **arrays)
        return {"size": size}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def tiny(name: str) -> list:
    """The outputs of an architecture whose weights are drawn from their names."""
    network = create_model(name, num_classes=CLASSES).set_train(False)
    for parameter in network.get_parameters():
        parameter.set_data(ms.Tensor(drawn(parameter.name, parameter.shape)))
    return network(ms.Tensor(images(SIZES[0]))).asnumpy().astype(float).tolist()


def outputs_of(network, size: int) -> list[np.ndarray]:
    """What the network computes, whether one Tensor or several."""
    outputs = network(ms.Tensor(images(size)))
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    return [output.asnumpy() for output in outputs]


if __name__ == "__main__":
    main()
