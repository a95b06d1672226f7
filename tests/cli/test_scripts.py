# SPDX-License-Identifier: Apache-2.0
"""Whole training programs of ten styles through `mycel run`, in both modes.

Oracles: what a program must have learned, by bounds that chance does not reach and that real
MindSpore 2.10 reaches with the same program on a CPU; and the other mode, from the same seed.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from mycel.compat.alias import find
from support import prepared

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "tests" / "scripts"
DIGITS = ROOT / "src" / "mycel" / "cli" / "digits.npz"
GRAPH, PYNATIVE = "0", "1"
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"

# The command itself, which then tells how many calls of the program were replayed.
COUNTED = (
    "import atexit, sys, mycel; from mycel.cli.main import main\n"
    "atexit.register(lambda: print(mycel.debug.ledger().counts.replays, file=sys.stderr))\n"
    "sys.exit(main(['run', *sys.argv[1:]]))"
)


class Program(NamedTuple):
    """What a program is given, what its figures must be, and what else it must print."""

    figures: dict
    replays: int
    # How far the two modes may be apart: rounding grows where a small change decides much.
    apart: float = 1e-3
    lines: tuple = ()
    arguments: tuple = ()


PROGRAMS = {
    "learn_custom_bprop": Program(
        {"accuracy": (0.8, 1), "train_loss": (0, 0.6)},
        replays=170,
        apart=0.05,
        lines=("values of a weight: [-1.  1.]",),
        arguments=("--data", str(DIGITS)),
    ),
    "learn_digits_functional": Program(
        {"accuracy": (0.82, 1), "avg_loss": (0, 0.5)},
        replays=190,
        apart=0.05,
        lines=("parameters: 1378",),
        arguments=("--data_path", str(DIGITS)),
    ),
    "learn_digits_model": Program(
        {"acc": (0.82, 1), "last": (0.82, 1), "loss": (0, 0.7)},
        replays=150,
        lines=("saved: ['digits-4_30.ckpt', 'digits-5_30.ckpt']",),
        arguments=("--data_path", str(DIGITS)),
    ),
    "learn_gan": Program(
        {"distance before": (1.2, 3), "distance after": (0, 0.7), "discriminator loss": (0.5, 0.8)},
        replays=1590,
        apart=0.3,
        lines=("parameters of: ['discriminator', 'generator']",),
    ),
    "learn_line_one_step": Program(
        {
            "mse weight": (1.99, 2.01),
            "mse bias": (2.95, 3.05),
            "mae weight": (1.98, 2.02),
            "mae bias": (2.9, 3.1),
        },
        replays=230,
    ),
    "learn_mixed_precision": Program(
        {
            "functional accuracy": (0.95, 1),
            "model accuracy": (0.95, 1),
            "skipped": (3, 8),
            "scale": (2.0**18, 2.0**22),
        },
        replays=140,
        apart=0.01,
        lines=("dtypes: ['Float32']",),
    ),
    "learn_text_lstm": Program({"accuracy": (0.9, 1), "padding": (0, 0)}, replays=160),
    "learn_transfer": Program(
        {"pretrained accuracy": (0.8, 1), "transfer accuracy": (0.7, 1)},
        replays=120,
        lines=(
            "not loaded: ['head.bias', 'head.weight'] unused: []",
            "trained: ['head.weight', 'head.bias']",
            "backbone unchanged: True 6",
        ),
        arguments=("--data_dir", str(DIGITS.parent)),
    ),
    "learn_transformer": Program(
        {"token accuracy": (0.8, 1), "loss": (0.2, 0.8)}, replays=198, apart=0.2
    ),
    "learn_with_hooks": Program(
        {"last loss": (0, 0.2), "largest gradient of the head": (0.05, 0.05)},
        replays=290,
        lines=tuple(f"block{i} calls: (76, 76)" for i in range(3)),
    ),
}


def run(name: str, mode: str, *arguments: str) -> subprocess.CompletedProcess:
    """A program in a process of its own, on the CPU."""
    return prepared.run(
        ["-c", COUNTED, str(SCRIPTS / f"{name}.py"), "--mode", mode, *arguments],
        env={**os.environ, "MYCEL_DEVICE": "CPU"},
    )


def last_figures(text: str) -> dict[str, float]:
    """The last number printed after each `name: `."""
    found = re.findall(rf"([A-Za-z_ ]*[A-Za-z])'?: ({NUMBER})", text)
    return {name.strip(): float(number) for name, number in found}


def check_learned(text: str, program: Program) -> None:
    found = last_figures(text)
    for figure, (low, high) in program.figures.items():
        assert low <= found[figure] <= high, f"{figure}: {found[figure]}\n{text}"
    for line in program.lines:
        assert line in text


def check_alike(texts: list[str], apart: float) -> None:
    """The same words, and numbers no further apart than that; what took how long is left out.

    The first third of the numbers is alike in any case: rounding has not grown yet.
    """
    kept = ["\n".join(li for li in t.splitlines() if " time: " not in li) for t in texts]
    words, numbers = zip(
        *((re.sub(NUMBER, "#", t), [float(n) for n in re.findall(NUMBER, t)]) for t in kept),
        strict=True,
    )
    assert words[0] == words[1]
    early = len(numbers[0]) // 3
    np.testing.assert_allclose(numbers[1][:early], numbers[0][:early], 1e-3, 1e-6)
    np.testing.assert_allclose(numbers[1], numbers[0], apart, apart if apart > 1e-3 else 1e-6)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program_learns_alike_in_both_modes(name):
    program = PROGRAMS[name]
    named = {"learn_transformer": ("PYNATIVE_MODE", "GRAPH_MODE")}
    texts = []
    for mode in named.get(name, (PYNATIVE, GRAPH)):
        done = run(name, mode, *program.arguments)
        assert done.returncode == 0, done.stderr
        check_learned(done.stdout, program)
        texts.append(done.stdout)
    # The last mode is Graph: it must have been more than PyNative under another name.
    assert int(done.stderr.split()[-1]) >= program.replays
    check_alike(texts, program.apart)


@pytest.mark.parametrize("name", ["learn_gan", "learn_line_one_step"])
def test_bounds_are_not_reached_without_training(name):
    steps = {"learn_gan": "--n_steps", "learn_line_one_step": "--steps"}[name]
    done = run(name, PYNATIVE, steps, "4")
    assert done.returncode == 0, done.stderr
    with pytest.raises(AssertionError):
        check_learned(done.stdout, PROGRAMS[name])


def test_a_hook_that_raises_ends_both_modes_alike():
    """Oracle: the losses and the last line that MindSpore 2.10 prints for this program."""
    runs = [run("fail_in_hook", mode) for mode in (PYNATIVE, GRAPH)]
    for done in runs:
        assert done.returncode == 1
        losses = [float(line.split()[-1]) for line in done.stdout.splitlines()]
        expected = [5.594, 580.7, 6.028e4, 6.257e6, 6.495e8, 6.742e10]
        np.testing.assert_allclose(losses, expected, 1e-3)
        frames = re.findall(r'File "(.*)", line (\d+), in (\S+)', done.stderr)
        assert [function for _, _, function in frames] == ["<module>", "train", "check"]
        assert {Path(file).name for file, _, _ in frames} == {"fail_in_hook.py"}
        assert "DivergedError: gradient of size 3.1e+06" in done.stderr
    # But for the last line, which counts the replays.
    shown = [done.stderr.rstrip().rpartition("\n") for done in runs]
    assert shown[0][0] == shown[1][0]
    assert int(shown[0][2]) == 0 < int(shown[1][2])


@pytest.mark.parametrize(
    "name", ["get_grad", "grad", "jacfwd", "jacrev", "jvp", "value_and_grad", "vjp", "vmap"]
)
def test_derivatives_are_among_the_operators(name):
    """Oracle: MindSpore 2.10, in which `ops.grad is mindspore.grad`, and so on."""
    assert find("mindspore.ops", name) is find("mindspore", name)
