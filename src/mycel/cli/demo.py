# SPDX-License-Identifier: Apache-2.0
"""`mycel demo`: LeNet-5 learns real handwritten digits, in PyNative and then in Graph mode."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import mycel as ms
from mycel import nn
from mycel.cli.digits import CLASSES, Digits, load_digits
from mycel.cli.picture import draw

MODES = {"pynative": ("PyNative", ms.PYNATIVE_MODE), "graph": ("Graph", ms.GRAPH_MODE)}
EPOCHS, BATCH, SEED = 20, 32, 1
# The learning rate falls along a cosine; a rate that changes at every step compiles nothing anew.
LEARNING_RATE, LAST_LEARNING_RATE = 2e-3, 1e-5
# The loss is read this often: a read waits for the device, so one at every step costs speed.
READ_EVERY = 10
# Steps before this one compile; the speed is measured after them.
WARM = 20
# What LeNet-5 reaches on these digits in the default number of epochs, with a margin.
EXPECTED_ACCURACY = 0.97
PICTURE, WEIGHTS = "lenet_digits.png", "lenet_digits.safetensors"


class LeNet5(nn.Cell):
    """LeNet-5 for images (n, 1, 32, 32); returns the logits (n, classes).

    Example:
        >>> from mycel.cli.demo import LeNet5
        >>> LeNet5()(Tensor(np.zeros((2, 1, 32, 32), np.float32))).shape
        (2, 10)
    """

    def __init__(self, classes: int = CLASSES):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, classes)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


@dataclass
class Result:
    """What training in one mode gave."""

    mode: str
    losses: list[float] = field(default_factory=list)
    # (steps done, seconds since the start) at every read of the loss.
    reads: list[tuple[int, float]] = field(default_factory=list)
    predictions: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    accuracy: float = 0.0
    # How many programs were compiled. Graph mode after PyNative finds them compiled already.
    compilations: int = 0

    @property
    def first_step(self) -> float:
        """Seconds until the loss of the first step was there: compilation mostly."""
        return self.reads[0][1]

    @property
    def step_seconds(self) -> float:
        """The median time of a step between two reads, after the first steps."""
        late = [r for r in self.reads if r[0] >= WARM]
        reads = late if len(late) > 1 else [(0, 0.0), *self.reads]
        return median((t2 - t1) / (n2 - n1) for (n1, t1), (n2, t2) in pairwise(reads))


def add_command(commands) -> None:
    """Add `demo` to the subcommands."""
    parser = commands.add_parser(
        "demo",
        help="train LeNet-5 on real handwritten digits in both modes",
        description="Train LeNet-5 on 1,797 real handwritten digits, first in PyNative and then "
        "in Graph mode from the same seed; print the test accuracy and speed of both, draw "
        f"{PICTURE} and save the weights as {WEIGHTS}.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--mode", choices=("both", *MODES), default="both", help="what to train in")
    parser.add_argument("--epochs", type=_positive, default=EPOCHS, help="passes over the data")
    parser.add_argument("--batch", type=_positive, default=BATCH, help="images in a step")
    parser.add_argument("--seed", type=int, default=SEED, help="of initial weights and batches")
    parser.add_argument("--device", help="CPU, GPU or TPU (default: the best one here)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the files written")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Train, report and save; 1 if the default training did not learn what it should."""
    console = Console()
    digits = load_digits()
    options.batch = min(options.batch, len(digits.train_labels))
    if options.device:
        try:
            ms.set_context(device_target=options.device)
        except ValueError as error:
            console.print(f"mycel demo: {error}", highlight=False, markup=False)
            return 2
    console.print(
        f"LeNet-5 on {len(digits.train_labels)} handwritten digits, tested on "
        f"{len(digits.test_labels)} others; {options.epochs} epochs of batches of "
        f"{options.batch} on {ms.get_context('device_target')}."
    )
    modes = list(MODES) if options.mode == "both" else [options.mode]
    results = []
    with _progress(console) as progress:
        for mode in modes:
            net, result = train(mode, digits, options, progress)
            results.append(result)
    console.print(_table(results, options.batch))
    _say_difference(console, results)
    options.out.mkdir(parents=True, exist_ok=True)
    _save(console, net, results, digits, options)
    learned = all(r.accuracy >= EXPECTED_ACCURACY for r in results)
    return 0 if learned or options.epochs < EPOCHS else 1


def train(mode: str, digits: Digits, options, progress: Progress) -> tuple[LeNet5, Result]:
    """Train a new LeNet-5 in one mode, and test it; the program is the same in both modes."""
    name, number = MODES[mode]
    compiled_before = ms.debug.ledger().counts.compilations
    ms.set_context(mode=number)
    ms.set_seed(options.seed)
    net = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    total = options.epochs * (len(digits.train_labels) // options.batch)
    rate = nn.CosineDecayLR(LAST_LEARNING_RATE, LEARNING_RATE, total)
    optimizer = nn.Adam(net.trainable_params(), rate)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    result = Result(name)
    bar = progress.add_task(name, total=total, loss="", speed="")
    pending: list[ms.Tensor] = []
    start = time.perf_counter()
    for count, (images, labels) in enumerate(batches(digits, options), 1):
        pending.append(step(images, labels))
        if count == 1 or count % READ_EVERY == 0 or count == total:
            result.losses += [float(value) for value in pending]
            pending.clear()
            result.reads.append((count, time.perf_counter() - start))
            shown = f"loss {result.losses[-1]:.4f}"
            speed = f"{options.batch / result.step_seconds:,.0f} images/s"
            progress.update(bar, completed=count, loss=shown, speed=speed)
    net.set_train(False)
    result.predictions = net(ms.Tensor(digits.test_images)).asnumpy().argmax(1)
    result.compilations = ms.debug.ledger().counts.compilations - compiled_before
    result.accuracy = float((result.predictions == digits.test_labels).mean())
    return net, result


def batches(digits: Digits, options) -> Iterator[tuple[ms.Tensor, ms.Tensor]]:
    """The batches of all epochs, shuffled anew in each; the same for the same seed."""
    shuffle = np.random.default_rng(options.seed)
    count = len(digits.train_labels)
    for _ in range(options.epochs):
        order = shuffle.permutation(count)
        for begin in range(0, count - options.batch + 1, options.batch):
            chosen = order[begin : begin + options.batch]
            yield ms.Tensor(digits.train_images[chosen]), ms.Tensor(digits.train_labels[chosen])


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TextColumn("{task.fields[speed]}"),
        TimeElapsedColumn(),
        console=console,
    )


def _table(results: list[Result], batch: int) -> Table:
    titles = ("Test accuracy", "Compiled", "First step", "Later steps", "Images/s")
    table = Table("Mode", *titles)
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        seconds = result.step_seconds
        table.add_row(
            result.mode,
            f"{result.accuracy:.2%}",
            f"{result.compilations}",
            f"{result.first_step:.2f} s",
            f"{1000 * seconds:.2f} ms",
            f"{batch / seconds:,.0f}",
        )
    return table


def _say_difference(console: Console, results: list[Result]) -> None:
    if len(results) == 2:
        first, second = (np.array(r.losses) for r in results)
        largest = np.abs(first - second).max()
        console.print(f"Largest difference of the losses of the two modes: {largest:.1e}")


def _save(console: Console, net: LeNet5, results: list[Result], digits: Digits, options) -> None:
    weights, picture = options.out / WEIGHTS, options.out / PICTURE
    ms.save_checkpoint(net, str(weights), format="safetensors")
    console.print(f"Weights: {weights}", highlight=False, soft_wrap=True)
    try:
        draw(picture, results, digits)
    except ModuleNotFoundError as error:
        console.print(
            f"No picture was drawn: {error.name} is missing. Matplotlib comes with the extra "
            "mycel[demo]: pip install 'mycel[demo]'",
            markup=False,
        )
    else:
        console.print(f"Picture: {picture}", highlight=False, soft_wrap=True)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number
