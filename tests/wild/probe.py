# SPDX-License-Identifier: Apache-2.0
"""Import, build or compute a program's network, here or in MindSpore: run in a process of its own.

python probe.py NAME STAGE FOLDER runs in the program's folder. In MindSpore it writes what mycel is
held against (weights, outputs, losses) into FOLDER; in mycel it reads that and compares.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
STEPS = 10
RATE = 1e-3
# Of the largest value of an output; of a loss.
APART = {"forward": 1e-3, "steps": 1e-2}


def table():
    """The programs, under a name that no program's own modules have."""
    spec = importlib.util.spec_from_file_location("_wild_programs", HERE / "programs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.PROGRAMS


def main() -> None:
    """Do one stage; an exception says what stopped it."""
    name, stage, folder = sys.argv[1:4]
    program = table()[name]
    sys.path[0] = str(pathlib.Path(program.train[0]).parent.resolve())
    sys.path.insert(1, str(pathlib.Path.cwd()))
    if "--mindspore" not in sys.argv:
        import mycel

        mycel.install_as_mindspore()
    here = "--mindspore" not in sys.argv
    sys.argv[:] = [word.format(data="data") for word in program.train]
    if stage == "imports":
        import_all(program.train[0])
        return
    names = build(program)
    if stage == "builds":
        print("parameters:", sum(p.size for p in names["net"].get_parameters()))
        return
    (compare if here else record)(names, stage, pathlib.Path(folder))


def import_all(script: str) -> None:
    """What the training script imports, without its running."""
    tree = ast.parse(pathlib.Path(script).read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = ast.Module([node], [])
            exec(compile(module, script, "exec"), {"__name__": "wild_imports"})


def build(program) -> dict:
    """The names that the row's text leaves: `net`, `inputs` and perhaps `loss`."""
    import mindspore as ms
    from mindspore import nn, ops

    random = np.random.RandomState(0)
    ms.set_seed(0)
    names = {
        "ms": ms,
        "np": np,
        "nn": nn,
        "ops": ops,
        "x": lambda *shape: random.normal(size=shape).astype(np.float32),
        "n": lambda high, *shape: random.randint(0, high, shape).astype(np.int32),
        "__name__": "wild_build",
    }
    exec(program.build, names)
    return names


def arrays(value) -> list:
    """Every array among the outputs, in their order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [array for entry in value for array in arrays(entry)]
    return [value.asnumpy()] if hasattr(value, "asnumpy") else []


def forward(names: dict) -> list:
    """The outputs in prediction."""
    names["net"].set_train(False)
    return arrays(names["net"](*tensors(names["inputs"])))


def tensors(values):
    """Arrays as Tensors; what is no array stays."""
    import mindspore as ms

    return [ms.Tensor(value) if isinstance(value, np.ndarray) else value for value in values]


def losses(names: dict) -> list[float]:
    """The losses of ten steps of Momentum on one batch."""
    import mindspore as ms
    from mindspore import nn

    net, inputs = names["net"], tensors(names["inputs"])
    # Dropped values are random: a network that drops any learns as it predicts.
    drops = any("Drop" in type(cell).__name__ for _, cell in net.cells_and_names())
    net.set_train(not drops)
    loss_of = names.get("loss", mean_square)
    optimizer = nn.Momentum(net.trainable_params(), RATE, 0.9)
    step = ms.value_and_grad(lambda: loss_of(net(*inputs)), None, optimizer.parameters)
    found = []
    for _ in range(STEPS):
        loss, gradients = step()
        optimizer(gradients)
        found.append(float(loss.asnumpy()))
    return found


def mean_square(outputs):
    """The mean square of all floating outputs together."""
    import mindspore as ms

    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    if isinstance(outputs, (tuple, list)):
        found = [value for entry in outputs for value in [mean_square(entry)] if value is not None]
        return sum(found) if found else None
    if not isinstance(outputs, ms.Tensor) or not outputs.is_floating_point():
        return None
    return outputs.astype(ms.float32).square().mean()


def record(names: dict, stage: str, folder: pathlib.Path) -> None:
    """In MindSpore: keep the weights and what comes of them."""
    import mindspore as ms

    folder.mkdir(parents=True, exist_ok=True)
    if stage == "forward":
        ms.save_checkpoint(names["net"], str(folder / "net.ckpt"))
        np.savez(folder / "forward.npz", *forward(names))
    else:
        load(names, folder)
        (folder / "steps.json").write_text(json.dumps(losses(names)), "utf-8")


def load(names: dict, folder: pathlib.Path) -> None:
    """MindSpore's weights into the network; every name and shape must be there."""
    import mindspore as ms

    saved = ms.load_checkpoint(str(folder / "net.ckpt"))
    here = {p.name: tuple(p.shape) for p in names["net"].get_parameters()}
    there = {name: tuple(p.shape) for name, p in saved.items()}
    if here != there:
        odd = sorted(set(here.items()) ^ set(there.items()))[:6]
        raise AssertionError(f"parameters differ: {odd}")
    ms.load_param_into_net(names["net"], saved, strict_load=True)


def compare(names: dict, stage: str, folder: pathlib.Path) -> None:
    """In mycel: the same weights, and how far the answers are apart."""
    load(names, folder)
    if stage == "forward":
        found, expected = forward(names), list(np.load(folder / "forward.npz").values())
        assert [a.shape for a in found] == [a.shape for a in expected], "shapes differ"
        assert [a.dtype for a in found] == [a.dtype for a in expected], "dtypes differ"
    else:
        found = [np.array(losses(names))]
        expected = [np.array(json.loads((folder / "steps.json").read_text("utf-8")))]
    apart = max((distance(a, b) for a, b in zip(found, expected, strict=True)), default=0.0)
    half = any(a.dtype == np.float16 for a in expected)
    print(f"apart: {apart:.2e}")
    if not apart <= APART[stage] * (10 if half else 1):
        raise AssertionError(f"{stage}: apart by {apart:.2e} of the largest value")


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, of the largest value that was expected."""
    if not found.size:
        return 0.0
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    difference = np.where(same, 0, np.abs(found - expected))
    top = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    return float(difference.max() / max(top, 1e-6))


if __name__ == "__main__":
    main()
