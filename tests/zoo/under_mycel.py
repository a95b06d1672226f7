# SPDX-License-Identifier: Apache-2.0
"""Run by mycel: what the networks of the zoo are called, compute and learn.

    under_mycel.py names [NAME...]       facts of the parameters, to be equal to MindSpore's
    under_mycel.py forward FOLDER NAME   outputs with MindSpore's weights against its outputs
    under_mycel.py train NAME [SIZE]     prediction and training steps, in both modes
    under_mycel.py tiny                  outputs with weights drawn from the names, in both modes
    under_mycel.py replays [NAME...]     how many calls of four are replayed, and why others are not

Each prints one JSON line for every architecture; `replays` takes the lightest of every family. It
runs operator by operator what would be compiled: whether a call is replayed does not depend on it.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from facts import (
    BATCH,
    CLASSES,
    MIXED,
    ONE_IMAGE,
    SIZES,
    TINY,
    apart,
    drawn,
    first_size,
    images,
    labels,
    parameter_facts,
)

import mycel

sys.path.append(str(Path(__file__).parents[1]))
from support.by_operators import by_operators

mycel.install_as_mindspore()
import mindspore as ms  # noqa: E402
from mindcv import create_loss, create_model, list_models, model_entrypoint  # noqa: E402
from mindspore import nn  # noqa: E402

MODES = {"pynative": ms.PYNATIVE_MODE, "graph": ms.GRAPH_MODE}


def main() -> None:
    """Do what the first argument says."""
    command, *rest = sys.argv[1:]
    if command == "names":
        for name in rest or list_models():
            tell(name, names, name)
    elif command == "forward":
        for name in rest[1:]:
            tell(name, forward, name, Path(rest[0]))
    elif command == "replays":
        for name in rest or lightest():
            tell(name, replays, name)
    elif command == "tiny":
        for name in TINY:
            tell(name, tiny, name)
    else:
        sizes = [int(size) for size in rest[1:]] or SIZES
        tell(rest[0], train, rest[0], sizes)


def tell(name: str, function, *arguments) -> None:
    """Print what the function returns, or its error, as a JSON line."""
    try:
        result = function(*arguments)
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {error}"[:500]}
    print(json.dumps({"name": name, **result}), flush=True)


def names(name: str) -> dict:
    """The facts of its parameters, and the file of mindcv it is from."""
    family = {"family": model_entrypoint(name).__module__.rpartition(".")[2]}
    try:
        with nn.no_init_parameters():
            return family | parameter_facts(create_model(name, num_classes=CLASSES))
    except Exception as error:
        return family | {"error": f"{type(error).__name__}: {error}"[:300]}


def forward(name: str, folder: Path) -> dict:
    """The largest difference from MindSpore's outputs, relative to the largest output."""
    network = create_model(name, num_classes=CLASSES)
    recorded = np.load(folder / f"{name}.npz")
    weights = ms.load_checkpoint(str(folder / f"{name}.ckpt"))
    missing, unknown = ms.load_param_into_net(network, weights, strict_load=True)
    if missing or unknown:
        raise ValueError(f"not loaded: {missing}, {unknown}")
    network.set_train(False)
    expected = [recorded[f"output_{n}"] for n in range(len(recorded.files) - 1)]
    result = {"size": int(recorded["size"])}
    for mode, number in MODES.items():
        ms.set_context(mode=number)
        for _ in range(1 if mode == "pynative" else 3):
            outputs = outputs_of(network, images(result["size"]))
        if [o.shape for o in outputs] != [e.shape for e in expected]:
            raise ValueError(f"shapes {outputs} for {expected}")
        result[mode] = max(map(difference, outputs, expected))
    if max(result["pynative"], result["graph"]) > 1e-5:
        # Which of the two rounds how much: both against the same network in double precision.
        ms.set_context(mode=ms.PYNATIVE_MODE)
        for parameter in network.get_parameters():
            if parameter.dtype == ms.float32:
                parameter.set_dtype(ms.float64)
        exact = outputs_of(network, images(result["size"]).astype(np.float64))
        result["our_rounding"] = max(map(difference, outputs, exact))
        result["rounding_of_mindspore"] = max(map(difference, expected, exact))
    return result


def tiny(name: str) -> dict:
    """The facts of its parameters, and its outputs in both modes."""
    network = create_model(name, num_classes=CLASSES).set_train(False)
    for parameter in network.get_parameters():
        parameter.set_data(ms.Tensor(drawn(parameter.name, parameter.shape)))
    result = parameter_facts(network)
    for mode, number in MODES.items():
        ms.set_context(mode=number)
        for _ in range(1 if mode == "pynative" else 3):
            [outputs] = outputs_of(network, images(SIZES[0]))
        result[mode] = outputs.astype(float).tolist()
    return result


def outputs_of(network, pictures: np.ndarray) -> list[np.ndarray]:
    """What the network computes, whether one Tensor or several."""
    outputs = network(ms.Tensor(pictures))
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    return [output.asnumpy() for output in outputs]


def difference(actual: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest expected number."""
    if not np.isfinite(actual).all() or not np.isfinite(expected).all():
        return float("inf")
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def train(name: str, sizes) -> dict:
    """Prediction and training at the first size at which both are possible."""
    return first_size(lambda size: train_at(name, size), sizes)[1]


def train_at(name: str, size: int) -> dict:
    """Prediction and training steps in both modes, from the same weights and seed."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(7)
    network = create_model(name, num_classes=CLASSES)
    if name in MIXED:
        network = ms.amp.auto_mixed_precision(network, "O2")
    begin = Weights(network)
    network.set_train(False)
    count = 1 if name in ONE_IMAGE else BATCH
    predicted = outputs_of(network, images(size, count))
    result = {"size": size, "losses": {}}
    ms.set_context(mode=ms.GRAPH_MODE)
    for _ in range(3):
        outputs = outputs_of(network, images(size, count))
    result["prediction"] = max(map(difference, outputs, predicted))
    for mode, number in MODES.items():
        gc.collect()  # the optimiser of the other mode holds as much as the network
        ms.set_context(mode=number)
        result["losses"][mode] = steps(network, begin, images(size, count))
        changed = [(p.asnumpy() != begin[p.name]).any() for p in network.trainable_params()]
        result.setdefault("changed", {})[mode] = sum(map(int, changed))
    if apart(result["losses"]) > 1e-5:
        # Rounding, or another computation: in double precision only the second stays.
        exact = {}
        for mode, number in MODES.items():
            ms.set_context(mode=number)
            exact[mode] = steps(network, begin, images(size, count).astype(np.float64))
        result["apart_in_double"] = apart(exact)
    result["trainable"] = len(network.trainable_params())
    result["replays"] = mycel.debug.ledger().counts.replays
    return result


def lightest() -> list[str]:
    """The architecture with the fewest weights of every family."""
    recorded = json.loads((Path(__file__).parent / "names.json").read_text())
    rows = [(f["family"], f["weights"], name) for name, f in recorded.items() if "weights" in f]
    return sorted({family: name for family, _, name in sorted(rows, reverse=True)}.values())


def replays(name: str) -> dict:
    """How many of four predictions, and of four training steps, are replayed."""
    return first_size(lambda size: replays_at(name, size), SIZES)[1]


def replays_at(name: str, size: int) -> dict:
    """The same with images of one size."""
    network = create_model(name, num_classes=CLASSES)
    if name in MIXED:
        network = ms.amp.auto_mixed_precision(network, "O2")
    optimizer = nn.Momentum(network.trainable_params(), 1e-3, 0.9)
    trained = nn.WithLossCell(network, create_loss("CE", aux_factor=0.1))
    train_step = nn.TrainOneStepCell(trained, optimizer)
    pictures, classes = ms.Tensor(images(size)), ms.Tensor(labels())
    calls = {"prediction": (network, (pictures,)), "training": (train_step, (pictures, classes))}
    ms.set_context(mode=ms.GRAPH_MODE)
    result: dict = {"size": size}
    try:
        for what, (cell, arguments) in calls.items():
            cell.set_train(what == "training")
            mycel.debug.ledger().reset()
            with by_operators():
                for _ in range(4):
                    cell(*arguments)
            result[what] = mycel.debug.ledger().counts.replays
            if result[what] != 2:
                result["ledger"] = str(mycel.debug.ledger())[:2000]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    return result


class Weights:
    """The weights of a network by name, kept in files: the largest networks fill the memory."""

    def __init__(self, network):
        self._folder = tempfile.TemporaryDirectory()
        self._files = {}
        for number, parameter in enumerate(network.get_parameters()):
            self._files[parameter.name] = Path(self._folder.name, f"{number}.npy")
            np.save(self._files[parameter.name], parameter.asnumpy())

    def __getitem__(self, name: str) -> np.ndarray:
        return np.load(self._files[name])


def steps(network, begin: Weights, pictures: np.ndarray) -> list[float]:
    """The losses of three training steps that begin with these weights."""
    ms.set_seed(7)
    for parameter in network.get_parameters():
        if pictures.dtype == np.float64 and parameter.dtype == ms.float32:
            parameter.set_dtype(ms.float64)
        parameter.set_data(ms.Tensor(begin[parameter.name]).astype(parameter.dtype))
    loss = create_loss("CE", aux_factor=0.1)
    optimizer = nn.Momentum(network.trainable_params(), 1e-3, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer).set_train()
    data, label = ms.Tensor(pictures), ms.Tensor(labels(len(pictures)))
    return [float(step(data, label).asnumpy()) for _ in range(3)]


if __name__ == "__main__":
    main()
