# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in slices of eight devices of one process, loaded on others.

Oracles: the arrays that were saved, the training on one device that nobody broke, and the number of
bytes that a part of an array has.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import tempfile
from unittest import mock

import numpy as np

import mycel as ms
from harness import execution
from mycel import nn
from mycel.checkpoint.interop import to_jax
from mycel.checkpoint.sharded import slice_files, slices
from mycel.checkpoint.sharded.placement import box_of
from mycel.checkpoint.sharded.source import Strategy
from mycel.checkpoint.sharded.strategies import StrategyFile, placements_of
from mycel.kernel.base.division import division
from mycel.parallel import AutoParallel
from mycel.parallel.strategy_files import layout_of
from support.devices_checks import BATCH, SEMI_AUTO, ZERO, Megatron, begin, init, make_step

COUNTS = (1, 2, 4, 8)
BROKEN, STEPS = 2, 4


class Net(nn.Cell):
    """What is divided and what is not, with moving statistics."""

    def __init__(self, dp, mp):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)
        self.middle = Megatron(dp, mp)

    def construct(self, x):
        return self.middle(self.norm(x))


class Sum(nn.Cell):
    def __init__(self, array):
        super().__init__()
        self.w = ms.Parameter(ms.Tensor(array), name="w")

    def construct(self, x):
        return x + self.w


def build(count):
    """A step of training on so many devices; optimisers are divided too."""
    begin(**({**SEMI_AUTO, **ZERO, "device_num": count} if count > 1 else {}))
    mp = min(count, 4)
    return make_step(lambda: Net(max(count // mp, 1), mp), 0.01, nn.Adam, nn.MSELoss())


def batches():
    drawn = np.random.default_rng(5).normal(size=(STEPS, 2, BATCH, 16)).astype(np.float32)
    return [tuple(map(ms.Tensor, batch)) for batch in drawn]


def saved(count, path):
    """Train on so many devices, and save in slices; the losses, and what was saved."""
    _, step = build(count)
    losses = [float(step(x, y)) for x, y in batches()[:BROKEN]]
    ms.save_checkpoint(step, path, append_dict={"step": BROKEN})
    return losses, {p.name: p.asnumpy() for p in step.get_parameters()}


def folder():
    return tempfile.mkdtemp() + "/"


def check_saved_on_some_loaded_on_others():
    """Also that no byte of a slice is read twice, and that the training goes on as it would."""
    _, step = build(1)
    unbroken = [float(step(x, y)) for x, y in batches()]
    opened = []

    class Counted(slice_files.Slices):
        def __init__(self, path):
            super().__init__(path)
            opened.append(self)

    for before in COUNTS:
        path = f"{folder()}run.index.json"
        losses, values = saved(before, path)
        total = sum(value.nbytes for value in values.values()) + 8
        for after in COUNTS:
            _, step = build(after)
            with mock.patch.object(slice_files, "Slices", Counted):
                ms.load_checkpoint(path, step)
            assert opened.pop().bytes_read == total, (before, after)
            for parameter in step.get_parameters():
                what = f"{parameter.name}, {before} to {after}"
                np.testing.assert_array_equal(parameter.asnumpy(), values[parameter.name], what)
            found = losses + [float(step(x, y)) for x, y in batches()[BROKEN:]]
            np.testing.assert_allclose(found, unbroken, rtol=2e-5, err_msg=f"{before} to {after}")


def check_each_slice_is_written_once():
    path = pathlib.Path(folder(), "run.index.json")
    _, values = saved(8, str(path))
    index = json.loads(path.read_text())
    files = sorted(path.parent.glob("run-*/*.safetensors"))
    assert len(files) == 8 == len(index["files"])
    held = [ms.load_checkpoint(str(file)) for file in files]
    written = {}
    for file in held:
        for name, part in file.items():
            written[name] = written.get(name, 0) + part.asnumpy().nbytes
    written.pop("step")
    assert written == {name: value.nbytes for name, value in values.items()}
    # Of four parts that two devices have each, four files have one; what is whole is shared out.
    parts = {name: {file[name].shape for file in held if name in file} for name in values}
    assert parts["middle.up"] == {(16, 16)} and parts["middle.down"] == {(16, 16)}
    assert parts["moment1.middle.up"] == {(8, 16)}
    assert [sum(name == "middle.up" for name in file) for file in held].count(1) == 4
    sizes = [sum(part.asnumpy().nbytes for part in file.values()) for file in held]
    assert max(sizes) < 1.5 * min(sizes), sizes


def check_divided_parameters_are_not_put_together():
    """Oracle: the shapes of the arrays that are asked for."""
    path = f"{folder()}run.index.json"
    with mock.patch.object(slices, "BLOCK", 64):
        saved(8, path)
    _, step = build(8)
    step(*batches()[0])
    asked = []

    def value(self, name, boxes):
        found = whole(self, name, boxes)
        asked.extend((name, part.shape) for part in found)
        return found

    whole = slice_files.Slices.values
    with mock.patch.object(slice_files.Slices, "values", value):
        loaded = ms.load_checkpoint(path, step)
    shapes = {name: {shape for other, shape in asked if other == name} for name, _ in asked}
    assert shapes["middle.up"] == {(16, 16)} and shapes["moment1.middle.up"] == {(8, 16)}, shapes
    for parameter in step.get_parameters():
        array = to_jax(loaded[parameter.name])
        assert array.sharding == to_jax(parameter).sharding, parameter.name


def check_only_what_is_needed_is_read():
    """Every box of an array, of every division it was saved in. Oracle: bytes, counted by NumPy."""
    block, array = 64, init(32, 48)
    for strategy in ((8, 1), (1, 8), (2, 4), (1, 1)):
        path = f"{folder()}run.index.json"
        begin(**SEMI_AUTO)
        net = Sum(array)
        net.shard((None,), parameter_plan={"w": strategy})
        net(ms.Tensor(1.0))
        with mock.patch.object(slices, "BLOCK", block):
            ms.save_checkpoint(net, path)
        parts = to_jax(net.w).sharding.devices_indices_map(array.shape)
        numbers = np.arange(array.nbytes).reshape(*array.shape, 4)
        for rows, columns in itertools.product((1, 2, 8, 32), (1, 3, 16, 48)):
            begin_row, begin_column = 32 - rows, 48 - columns
            box = ((begin_row, 32), (begin_column, 48))
            reader = slice_files.Slices(path)
            (found,) = reader.values("w", [box])
            np.testing.assert_array_equal(found, array[begin_row:, begin_column:])
            wanted = set(numbers[begin_row:, begin_column:].reshape(-1).tolist())
            least = 0
            for index in {str(index): index for index in parts.values()}.values():
                blocks = numbers[index].reshape(-1, block)
                least += block * sum(bool(wanted & set(one.tolist())) for one in blocks)
            assert reader.bytes_read == least, (strategy, box, reader.bytes_read, least)


def check_strategy_files():
    """What lies where, by the file and by JAX; and a checkpoint divided by the file."""
    for ending, count in (("json", 8), ("ckpt", 8), ("json", 4)):
        place = folder()
        file = f"{place}strategy.{ending}"
        _, step = build(count)
        net = AutoParallel(step)
        ms.set_auto_parallel_context(device_num=count)
        net.save_param_strategy_file(file)
        net.disable_strategy_file_only_for_trainable_params()
        with execution("graph" if count == 8 else "fused"):
            net(*batches()[0])
        parameters = {p.name: p for p in step.get_parameters()}
        assert_told(file, parameters, count)
        pathlib.Path(place, "all", "rank_0").mkdir(parents=True)
        ms.save_checkpoint(step, f"{place}all/rank_0/net.ckpt")
        ms.transform_checkpoints(f"{place}all", f"{place}new", "net", None, file)
        for rank in range(count):
            parts = ms.load_checkpoint(f"{place}new/rank_{rank}/net{rank}.ckpt")
            for name, parameter in parameters.items():
                own = to_jax(parameter).addressable_shards[rank]
                assert own.device.id == rank
                np.testing.assert_array_equal(parts[name].asnumpy(), np.asarray(own.data), name)


def assert_told(file, parameters, count):
    """A strategy file tells of these Parameters alone where each part lies."""
    told = Strategy(file)
    assert told.placements.keys() == parameters.keys() and told.devices == count
    for name, parameter in parameters.items():
        lies = to_jax(parameter).sharding.devices_indices_map(parameter.shape)
        for device, index in lies.items():
            box = told.placements[name][0].box(device.id, parameter.shape)
            assert box == box_of(index, parameter.shape), (name, device)


def check_strategy_files_of_the_context():
    """Without AutoParallel: those that are trained, behind the second call."""
    file = f"{folder()}strategy.json"
    _, step = build(8)
    ms.set_auto_parallel_context(strategy_ckpt_save_file=file)
    with execution("graph"):
        for batch in batches()[:2]:
            step(*batch)
    assert_told(file, {p.name: p for p in step.trainable_params()}, 8)
    begin()


def check_axes_that_are_not_neighbours():
    """Oracle: where JAX puts the parts."""
    begin(**SEMI_AUTO)
    grid = division.grid
    first, second, third = grid.lengths
    choices = [
        (),
        (first,),
        (second, third),
        (first, third),
        (third, first),
        (first, second, third),
    ]
    for axes in itertools.product(choices, choices):
        if len({*axes[0], *axes[1]}) < len(axes[0]) + len(axes[1]):
            continue
        layout = layout_of(axes, grid, 3)
        (placement,) = placements_of(StrategyFile({}, {"w": layout}))["w"].values()
        for device, index in grid.sharding(axes).devices_indices_map((8, 16, 3)).items():
            assert placement.box(device.id, (8, 16, 3)) == box_of(index, (8, 16, 3)), axes


def check_a_training_goes_on_with_other_devices():
    """By BackupAndRestore, which saves in slices where devices are several."""
    losses = {}

    def train(count, place, epochs):
        _, step = build(count)
        found = losses[place, count] = []
        look = ms.train.LambdaCallback(
            on_train_step_end=lambda run: found.append(float(run.original_args().net_outputs))
        )
        backup = ms.train.BackupAndRestore(place, delete_checkpoint=False)
        model = ms.Model(step.network, optimizer=step.optimizer)
        model.train(epochs, batches(), callbacks=[backup, look], dataset_sink_mode=False)
        return sorted(name for name in os.listdir(place) if not os.path.isdir(f"{place}{name}"))

    whole, place = folder(), folder()
    assert train(1, whole, 3) == ["backup.ckpt"]
    assert train(8, place, 1) == ["backup.index.json"]
    assert train(1, place, 2) == ["backup.ckpt"]
    assert train(4, place, 3) == ["backup.index.json"]
    found = [loss for count in (8, 1, 4) for loss in losses[place, count]]
    np.testing.assert_allclose(found, losses[whole, 1], rtol=5e-5)
