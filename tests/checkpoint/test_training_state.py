# SPDX-License-Identifier: Apache-2.0
"""A run that is interrupted goes on as if it had not been. Oracle: the run that was not."""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, nn, ops
from mycel.checkpoint import load_training_state, save_training_state

SCRIPT = pathlib.Path(__file__).parent / "killed_training.py"


class Net(nn.Cell):
    """Parameters, moving statistics, a buffer, and random numbers of several sources."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(p=0.5)
        self.last = nn.Dense(4, 1)
        self.register_buffer("seen", Tensor([0], ms.int32))

    def construct(self, x):
        self.seen += 1
        noise = ops.normal((4,), Tensor(0.0), Tensor(1.0), seed=3)
        return self.last(self.drop(self.norm(self.first(x))) + noise)


def build():
    net = Net()
    net.set_train()
    rate = nn.ExponentialDecayLR(0.1, 0.9, 2)
    return net, nn.AdamWeightDecay(net.trainable_params(), rate, weight_decay=0.01)


def train(net, optimizer, steps):
    def loss(x):
        return (net(x) ** 2).mean()

    derivative = ms.value_and_grad(loss, None, net.trainable_params())
    losses = []
    for _ in range(steps):
        x = Tensor(np.random.randn(2, 3).astype(np.float32) + random.random())
        value, gradients = derivative(x)
        optimizer(gradients)
        losses.append(value.asnumpy().tobytes())
    return losses


def state_of(net, optimizer):
    members = [*net.get_parameters(), *net.buffers(), *optimizer.get_parameters()]
    return [member.asnumpy().tobytes() for member in members]


@pytest.mark.parametrize("name", EXECUTIONS)
@pytest.mark.parametrize("seed", [None, 4])
def test_it_goes_on_bit_for_bit(name, seed, tmp_path):
    path = tmp_path / "run.safetensors"
    with execution(name):
        if seed is not None:
            ms.set_seed(seed)
        random.seed(seed)
        net, optimizer = build()
        train(net, optimizer, 3)
        save_training_state(path, net=net, optimizer=optimizer, step=3, note={"rate": 0.1})
        expected = train(net, optimizer, 4), state_of(net, optimizer)
        drawn = np.random.rand(), random.random(), ops.rand(1).asnumpy().item()

        ms.set_seed(99)
        np.random.rand(5)
        net, optimizer = build()
        train(net, optimizer, 1)
        plain = load_training_state(path, net=net, optimizer=optimizer)
        assert plain == {"step": 3, "note": {"rate": 0.1}}
        assert (train(net, optimizer, 4), state_of(net, optimizer)) == expected
        assert (np.random.rand(), random.random(), ops.rand(1).asnumpy().item()) == drawn


def test_parts_alone(tmp_path):
    path = tmp_path / "run.safetensors"
    net, optimizer = build()
    generator = ms.Generator().manual_seed(3)
    scale = Parameter(Tensor(8.0), name="scale")
    save_training_state(path, z=net, a=optimizer, generator=generator, scale=scale)
    key = generator.next_key().asnumpy()
    weight = net.first.weight.asnumpy()
    net.first.weight.set_data(net.first.weight * 2)
    scale.set_data(Tensor(1.0))
    assert load_training_state(path, z=net, generator=generator, scale=scale) == {}
    np.testing.assert_array_equal(net.first.weight.asnumpy(), weight)
    np.testing.assert_array_equal(generator.next_key().asnumpy(), key)
    assert scale.item() == 8.0


def test_what_does_not_fit_changes_nothing(tmp_path):
    path = tmp_path / "run.safetensors"
    save_training_state(path, net=nn.Dense(2, 1, "ones"), step=1)
    drawn = ms.get_rng_state().asnumpy()
    zeros = {"weight_init": "zeros", "bias_init": "zeros"}
    wider, other = nn.Dense(3, 1, **zeros), nn.SequentialCell(nn.Dense(2, 1, **zeros))
    half = nn.Dense(2, 1, **zeros, dtype=ms.float16)
    for net, reason in [
        (wider, r"'net/weight' was float32\[1, 2\]"),
        (half, r"'net/(weight|bias)' was float32"),
        (other, r"not in the file: net/0.bias, net/0.weight; only in the file: net/bias"),
    ]:
        with pytest.raises(ValueError, match=reason):
            load_training_state(path, net=net)
        assert not any(parameter.asnumpy().any() for parameter in net.get_parameters())
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    net = nn.Dense(2, 1, "zeros", "zeros")
    with pytest.raises(ValueError, match="damaged"):
        load_training_state(path, net=net)
    assert not net.weight.asnumpy().any()
    np.testing.assert_array_equal(ms.get_rng_state().asnumpy(), drawn)


def test_errors_of_arguments(tmp_path):
    path = tmp_path / "run.safetensors"
    with pytest.raises(TypeError, match="'when' must be a Cell, a Tensor"):
        save_training_state(path, when=object())
    assert not path.exists()
    with pytest.raises(ValueError, match="There is no checkpoint file"):
        load_training_state(path)
    ms.save_checkpoint(nn.Dense(2, 1), str(path))
    with pytest.raises(ValueError, match="not a file of save_training_state"):
        load_training_state(path)
    with pytest.raises(TypeError, match="plain values are returned"):
        save_training_state(path, step=1)
        load_training_state(path, step=1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_fifty_times(tmp_path):
    """Each child is killed within milliseconds of a save, often during one."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), str(tmp_path), "50"],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["steps"]) == 50
    assert len(set(told["steps"])) > 25  # they went on, and were killed at different steps
    assert len(told["left"]) <= 2  # what the last kill broke off is removed by the next save


def test_a_checkpoint_of_another_kind_is_told_as_that(tmp_path):
    net, path = nn.Dense(1, 1), str(tmp_path / "net.ckpt")
    ms.save_checkpoint(net, path)
    with pytest.raises(
        ValueError, match="not a file of save_training_state; load_checkpoint reads"
    ):
        load_training_state(path, net=net)
