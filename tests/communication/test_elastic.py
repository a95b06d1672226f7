# SPDX-License-Identifier: Apache-2.0
"""A training that goes on in another number of processes. Oracle: one process, never broken."""

from __future__ import annotations

import json
import os
import shutil
import signal

import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn
from support import rank_that_continues, together
from support.rank_that_continues import BATCH, EPOCHS, STEPS

PROGRAM = str(together.HERE / "rank_that_continues.py")
# The last step of the third epoch, which is being saved then.
KILLED = 3 * STEPS


def started(count, folder, *arguments):
    """The exit codes of so many processes of the program."""
    command = [PROGRAM, *map(str, arguments)]
    ranks = together.ended(together.start(command, count, folder), folder)
    return [rank.code for rank in ranks], "".join(rank.text[-2000:] for rank in ranks)


def alone(folder, epochs):
    folder.mkdir(exist_ok=True)
    try:
        return rank_that_continues.train(folder, epochs)
    finally:
        ms.reset_auto_parallel_context()


def assert_goes_on(losses, weights, unbroken):
    """Behind the second epoch, and to the same end."""
    expected, last = unbroken
    assert list(losses) == list(range(2 * STEPS + 1, EPOCHS * STEPS + 1))
    for step, loss in losses.items():
        np.testing.assert_allclose(loss, expected[step], rtol=1e-5, err_msg=f"step {step}")
    for name, weight in last.items():
        np.testing.assert_allclose(weights[name], weight, rtol=1e-5, atol=1e-6, err_msg=name)


def test_saved_by_two_or_one_goes_on_with_one_or_three(tmp_path):
    unbroken = alone(tmp_path / "unbroken", EPOCHS)
    two, one, again = (tmp_path / name for name in ("two", "one", "again"))
    two.mkdir()
    codes, text = started(2, two, EPOCHS, KILLED, two)
    assert codes[1] == -signal.SIGKILL and codes[0], text
    # One index of both processes, of the second epoch, and what is left of the third; the last two
    # of ModelCheckpoint.
    names = sorted(os.listdir(two))
    indices = [name for name in names if name.endswith(".index.json")]
    assert indices == ["backup.index.json", "net-2_5.index.json", "net-3_5.index.json"]
    assert sum(name.startswith("backup-") for name in names) == 2
    shutil.copytree(two, again)
    losses, weights = alone(again, EPOCHS)
    assert_goes_on(losses, weights, unbroken)
    assert "backup.ckpt" in os.listdir(again) and "backup.index.json" not in os.listdir(again)
    alone(one, 2)
    codes, text = started(3, tmp_path, EPOCHS, 0, two, one)
    assert codes == [0, 0, 0], text
    for folder in (two, one):
        losses = json.loads((folder / "losses_3.json").read_text())
        weights = np.load(folder / "losses_3.npz")
        assert_goes_on({int(step): loss for step, loss in losses.items()}, weights, unbroken)
        backups = [name for name in os.listdir(folder) if name.startswith("backup")]
        assert len(backups) == 2, backups  # the index, and the folder of its slices
        # Every five steps, from the first that this training made, and the last one.
        kept = sorted(name for name in os.listdir(folder) if name.startswith("net_1-"))
        indices = [name for name in kept if name.endswith(".index.json")]
        assert indices == ["net_1-4_1.index.json", "net_1-4_5.index.json"] and len(kept) == 4


@pytest.mark.parametrize("epoch", [0, 1, 3])
def test_the_order_of_rows_is_that_of_any_number_of_shards(epoch):
    """Oracle: the rows of one shard; an epoch in the middle, of a new iterator."""
    orders = []
    for count in (1, 2, 4, 8):
        shards = []
        for rank in range(count):
            ms.set_seed(9)
            data = ms.dataset.NumpySlicesDataset(
                np.arange(48), ["x"], shuffle=True, num_shards=count, shard_id=rank
            )
            data.set_init_step(epoch * data.get_dataset_size())
            rows = data.create_tuple_iterator(num_epochs=epoch + 1, output_numpy=True)
            shards.append([int(row[0]) for row in rows])
        orders.append(np.array(shards).T.reshape(-1).tolist())
    assert sorted(orders[0]) == list(range(48)) != orders[0]
    assert orders[1:] == orders[:1] * 3


def test_a_later_epoch_has_its_own_order():
    """With `initial_epoch`, and in sink mode. Oracle: a training that ran all epochs."""
    ms.set_seed(9)
    data = ms.dataset.NumpySlicesDataset(np.arange(12, dtype=np.float32), ["x"]).batch(3)

    def seen(epochs, initial, **settings):
        net, found = nn.Dense(3, 1), []
        model = ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1))
        look = ms.train.LambdaCallback(
            on_train_step_begin=lambda context: found.extend(
                context.original_args().train_dataset_element[0].asnumpy().tolist()
            )
        )
        model.train(epochs, data, look, initial_epoch=initial, **settings)
        return found

    whole = seen(4, 0, dataset_sink_mode=False)
    assert whole[:12] != whole[12:24]
    assert seen(4, 2, dataset_sink_mode=False) == whole[24:]
    assert seen(8, 3, dataset_sink_mode=True, sink_size=2) == whole[3 * 2 * 3 : 8 * 2 * 3]
    assert data.get_init_step() == 0


def test_shards_of_a_folder_that_is_not_shared_are_told(tmp_path, monkeypatch):
    """Oracle: the text."""
    backup = ms.train.BackupAndRestore(str(tmp_path))
    module = "mycel.train.callbacks.resuming"
    monkeypatch.setattr(f"{module}.shares_training", lambda: True)
    monkeypatch.setattr(f"{module}.collective", lambda *_, **__: Tensor([0, BATCH]))
    with pytest.raises(RuntimeError, match=r"different epochs in .*\[0, 12\]"):
        backup._file_to_begin_with()
