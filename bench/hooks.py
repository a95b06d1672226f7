# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.hooks`: what eight hooks cost on a compiled training step.

Eight blocks tanh(x · w + b), Momentum, batch 64, at widths 32 and 256; one hook per block. All
steps are `jit`, run in one process in turns; each line is the median over the rounds, against the
step without hooks. What hooks keep is dropped after each step. The steps with hooks that change
nothing must give the same parameters. Three lines tell what keeping and looking cost by
themselves: the same values looked at without hooks, and kept or looked at by hand in plain JAX,
against the same step in plain JAX that returns its loss alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops

BLOCKS, BATCH = 8, 64


class Block(nn.Cell):
    """tanh(x · w + b)."""

    def __init__(self, width: int, seed: int):
        super().__init__()
        numbers = np.random.RandomState(seed)
        weight = numbers.randn(width, width) / np.sqrt(width)
        self.w = Parameter(weight.astype(np.float32), name="w")
        self.b = Parameter(np.zeros(width, np.float32), name="b")

    def construct(self, x):
        return ops.tanh(ops.matmul(x, self.w) + self.b)


kept: list = []


def append(cell, inputs, output):
    kept.append(output)


def look(cell, inputs, output):
    kept.append(float(np.mean(output.asnumpy())))


def look_by_operator(cell, inputs, output):
    kept.append(float(output.mean()))


def modify(cell, inputs, output):
    return output * 0.99


def look_backward(cell, grad_input, grad_output):
    kept.append(float(ops.norm(grad_input[0])))


def append_backward(cell, grad_input, grad_output):
    kept.append(grad_input[0])


def modify_backward(cell, grad_input, grad_output):
    # The first block has no gradient to send on: its input is not differentiated.
    return None if grad_output[0] is None else (grad_output[0] * 0.5,)


HOOKS = {
    "none": None,
    "append": append,
    "asnumpy().mean()": look,
    "float(output.mean())": look_by_operator,
    "output * 0.99": modify,
    "append, backward": append_backward,
    "float(norm), backward": look_backward,
    "gradient * 0.5": modify_backward,
}
CHANGING = ("output * 0.99", "gradient * 0.5")
# The same look without hooks: the step returns the outputs of the blocks.
BY_HAND = "asnumpy().mean() by hand"
JAX, JAX_KEEPING, JAX_LOOKING = "plain JAX", "plain JAX, keeping", "plain JAX, looking"


class ByHand:
    """A step that returns the outputs of all blocks, which are looked at behind it."""

    def __init__(self, width: int):
        self.plain = Step(width, None)

        def loss(x):
            outputs = []
            for block in self.plain.net:
                x = block(x)
                outputs.append(x)
            return ops.square(x).mean(), *outputs

        optimizer = nn.Momentum(self.plain.net.trainable_params(), 0.1, 0.9)
        differentiate = ms.value_and_grad(loss, None, optimizer.parameters, has_aux=True)

        def step(x):
            (loss, *outputs), gradients = differentiate(x)
            optimizer(gradients)
            return loss, outputs

        self.plain.step = self.looking
        self.net, self.run = self.plain.net, self.plain.run
        self.compiled = ms.jit(step)

    def looking(self, x):
        loss, outputs = self.compiled(x)
        for output in outputs:
            look(None, None, output)
        return loss


class Step:
    """One compiled training step with a hook on every block."""

    def __init__(self, width: int, hook):
        self.net = nn.SequentialCell(*[Block(width, seed) for seed in range(BLOCKS)])
        for block in self.net:
            if hook is not None and hook.__name__.endswith("backward"):
                block.register_backward_hook(hook)
            elif hook is not None:
                block.register_forward_hook(hook)
        optimizer = nn.Momentum(self.net.trainable_params(), 0.1, 0.9)
        differentiate = ms.value_and_grad(
            lambda x: ops.square(self.net(x)).mean(), None, optimizer.parameters
        )

        def step(x):
            loss, gradients = differentiate(x)
            optimizer(gradients)
            return loss

        self.step = ms.jit(step)
        numbers = np.random.RandomState(99)
        self.x = Tensor(numbers.randn(BATCH, width).astype(np.float32))

    def run(self, calls: int) -> float:
        """Seconds per call."""
        start = time.perf_counter()
        for _ in range(calls):
            loss = self.step(self.x)
            kept.clear()
        loss.asnumpy()
        return (time.perf_counter() - start) / calls


class PlainJax:
    """The same step written by hand in JAX; it may keep or look at the outputs of all blocks."""

    def __init__(self, width: int, taken: Callable | None = None):
        net = Step(width, None)
        self.x = jnp.asarray(net.x.asnumpy())
        self.parameters = [jnp.asarray(p.asnumpy()) for p in net.net.get_parameters()]
        self.momenta = [jnp.zeros_like(p) for p in self.parameters]
        self.taken = taken

        def loss(parameters, x):
            outputs = []
            for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
                x = jnp.tanh(x @ weight + bias)
                outputs.append(x)
            return jnp.square(x).mean(), outputs if taken else None

        @jax.jit
        def step(parameters, momenta, x):
            differentiate = jax.value_and_grad(loss, has_aux=True)
            (value, outputs), gradients = differentiate(parameters, x)
            momenta = [0.9 * m + g for m, g in zip(momenta, gradients, strict=True)]
            moved = [p - 0.1 * m for p, m in zip(parameters, momenta, strict=True)]
            return value, moved, momenta, outputs

        self.step = step

    def run(self, calls: int) -> float:
        """Seconds per call."""
        start = time.perf_counter()
        for _ in range(calls):
            value, self.parameters, self.momenta, outputs = self.step(
                self.parameters, self.momenta, self.x
            )
            if self.taken:
                kept.extend(map(self.taken, outputs))
            kept.clear()
        value.block_until_ready()
        return (time.perf_counter() - start) / calls


def measure(width: int, rounds: int, calls: int) -> None:
    """Print a table for one width."""
    steps = {name: Step(width, hook) for name, hook in HOOKS.items()}
    steps[BY_HAND] = ByHand(width)
    plain = {
        JAX: PlainJax(width),
        JAX_KEEPING: PlainJax(width, lambda output: output),
        JAX_LOOKING: PlainJax(width, lambda output: float(np.mean(np.asarray(output)))),
    }
    for step in (*steps.values(), *plain.values()):
        step.run(6)
    before = ms.debug.ledger().counts.captures
    times: dict[str, list[float]] = {name: [] for name in (*steps, *plain)}
    for _ in range(rounds):
        for name, step in (*steps.items(), *plain.items()):
            times[name].append(step.run(calls))
    assert ms.debug.ledger().counts.captures == before, "a step was not replayed"
    expected = [p.asnumpy() for p in steps["none"].net.get_parameters()]
    print(f"width {width}: {np.median(times['none']) * 1e3:.3f} ms without hooks")
    for name, step in steps.items():
        if name not in CHANGING:
            found = [p.asnumpy() for p in step.net.get_parameters()]
            for mine, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(mine, theirs, 1e-4, 1e-5)
        _show(times, name, "none")
    for mine, theirs in zip(plain[JAX].parameters, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-4, 1e-5)
    _show(times, JAX, "none")
    _show(times, JAX_KEEPING, JAX)
    _show(times, JAX_LOOKING, JAX)


def _show(times, name: str, against: str) -> None:
    ratios = np.array(times[name]) / np.array(times[against])
    low, middle, high = np.percentile(ratios, [10, 50, 90])
    extra = (np.median(times[name]) - np.median(times[against])) / BLOCKS * 1e6
    print(f"  {name:24s} {middle:.2f} [{low:.2f}, {high:.2f}]  {extra:+.1f} us per hook")


def main() -> None:
    """Both widths."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--calls", type=int, default=30)
    chosen = arguments.parse_args()
    for width in (32, 256):
        measure(width, chosen.rounds, chosen.calls)


if __name__ == "__main__":
    main()
