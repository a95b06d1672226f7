# SPDX-License-Identifier: Apache-2.0
"""Pipelines written down and made again, rows that wait, numbered lines, hooks that print."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel.dataset import debug, text, transforms, vision


@pytest.fixture(autouse=True)
def settings():
    yield
    ds.config.settings.__init__()


def rows(data):
    made = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    return [{name: np.asarray(value).tolist() for name, value in row.items()} for row in made]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{n},{n * 0.5}\n" for n in range(6)))
    return ds.CSVDataset(str(path), column_defaults=[0, 0.0], shuffle=False)


PIPELINES = [
    lambda data: data,
    lambda data: data.batch(4, drop_remainder=True),
    lambda data: data.batch(batch_size=2).repeat(2),
    lambda data: data.map(transforms.TypeCast(ms.float16), "x").skip(1).take(3),
    lambda data: data.map([transforms.Fill(3), transforms.Duplicate()], ["x"], ["a", "b"]),
    lambda data: data.rename("x", "z").project(["z"]),
    lambda data: data.map(transforms.Mask(transforms.Relational.GE, 2), "x"),
    lambda data: data.padded_batch(4, pad_info={"x": ([], 1)}),
    lambda data: data.concat(data.take(2)),
    lambda data: data.rename(["x", "y"], ["a", "b"]).zip(data),
    lambda data: data.project("y").map(vision.Rescale(2.0, 1.0), "y").shuffle(6).take(6),
]


@pytest.mark.parametrize("number", range(len(PIPELINES)))
def test_made_again(number, table, tmp_path):
    """Oracle: the rows of the pipeline that was written, through a file of JSON."""
    data = PIPELINES[number](table)
    path = tmp_path / "pipeline.json"
    told = ds.serialize(data, str(path))
    assert json.loads(path.read_text()) == json.loads(json.dumps(told)) == data.to_json()
    made = ds.deserialize(json_filepath=str(path))
    assert ds.compare(made, ds.deserialize(str(path)))
    ds.config.set_seed(3)
    assert rows(made) == rows(data)
    assert ds.compare(made, data) and ds.deserialize(told).get_col_names() == data.get_col_names()


def test_samplers_are_written(tmp_path):
    """Oracle: the rows of the pipeline that was written."""
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(name.encode())
    for sampler in (ds.SubsetSampler([2, 0]), ds.DistributedSampler(2, 1, shuffle=False)):
        data = ds.ImageFolderDataset(tmp_path, sampler=sampler)
        assert rows(ds.deserialize(ds.serialize(data))) == rows(data)
    data = ds.ImageFolderDataset(tmp_path, shuffle=False)
    data.use_sampler(ds.SubsetSampler([1]))
    assert rows(ds.deserialize(ds.serialize(data))) == rows(data)
    shards = ds.ImageFolderDataset(tmp_path, shuffle=False, num_shards=3, shard_id=2)
    assert rows(ds.deserialize(ds.serialize(shards))) == rows(shards)


def test_python_is_named_and_refused(table):
    """Oracle: the text itself."""

    def twice(x):
        return 2 * x

    told = ds.serialize(table.map(twice, "x"))
    assert "twice" in json.dumps(told)
    with pytest.raises(NotImplementedError, match="twice is Python code"):
        ds.deserialize(told)
    told = ds.serialize(ds.NumpySlicesDataset([1, 2]).batch(2))
    with pytest.raises(NotImplementedError, match="source of NumpySlicesDataset"):
        ds.deserialize(told)


def test_what_is_no_pipeline(tmp_path):
    """Oracle: the kinds of errors; nothing outside of the package can be made."""
    for wrong in (None, {}, [1], {"op_type": 3}):
        with pytest.raises((TypeError, ValueError)):
            ds.deserialize(wrong)
    with pytest.raises(TypeError):
        ds.serialize(3)
    with pytest.raises(OSError):
        ds.deserialize(json_filepath=str(tmp_path / "none.json"))
    evil = {"object": "os:getcwd", "arguments": {}}
    told = {"op_type": "TextFileDataset", "dataset_files": evil}
    with pytest.raises(ValueError, match=r"of mycel\.dataset"):
        ds.deserialize(told)


def test_show_writes_to_the_log(table, caplog):
    """Oracle: what serialize gives."""
    with caplog.at_level("INFO", logger="mycel"):
        ds.show(table.batch(2), 1)
    assert json.loads(caplog.records[-1].getMessage()) == ds.serialize(table.batch(2))


# -- rows that wait ----------------------------------------------------------------------------


def test_rows_see_what_the_program_said_before():
    """Oracle: the rule: the second batch is made after the update behind the first one."""
    state = {"factor": 1}
    data = ds.NumpySlicesDataset(np.arange(8), ["x"], shuffle=False)
    data = data.sync_wait("factor", callback=state.update)
    data = data.map(lambda x: x * state["factor"], "x").batch(2)
    found = []
    for step, (x,) in enumerate(data.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        found.append(x.tolist())
        data.sync_update("factor", data={"factor": 10 ** (step + 1)})
    assert found == [[0, 1], [20, 30], [400, 500], [6000, 7000]]


def test_so_many_batches_pass_before():
    """Oracle: the rule: num_batch batches are made before the first update, and no row more."""
    made = []

    def seen(x):
        made.append(int(x))
        return x

    data = ds.NumpySlicesDataset(np.arange(12), ["x"], shuffle=False)
    data = data.sync_wait("go", num_batch=2).map(seen, "x").batch(3)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(iterator), next(iterator)
    threading.Event().wait(0.3)
    assert made == [0, 1, 2, 3, 4, 5]
    data.sync_update("go", num_batch=1)
    next(iterator)
    threading.Event().wait(0.3)
    assert made == list(range(9))
    iterator.stop()


def test_epochs_begin_anew_and_nothing_hangs(caplog):
    """Oracle: the rule: a row that waits for too long passes, and the log says why."""
    ds.config.set_callback_timeout(1)
    data = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).sync_wait("go")
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    with caplog.at_level("WARNING", logger="mycel"):
        assert [int(x) for (x,) in iterator] == [1, 2, 3]
    assert "sync_update('go')" in caplog.text
    for (_,) in iterator:
        data.sync_update("go")


def test_updates_that_are_wrong():
    """Oracle: the kinds of errors of MindSpore 2.10."""
    data = ds.NumpySlicesDataset([1, 2], ["x"]).sync_wait("go")
    for kind, arguments in (
        (RuntimeError, ("other",)),
        (TypeError, (3,)),
        (RuntimeError, ("go", 0)),
        (RuntimeError, ("go", 1.5)),
    ):
        with pytest.raises(kind):
            data.sync_update(*arguments)
    with pytest.raises(RuntimeError, match="not used yet"):
        data.batch(2).sync_wait("go")
    with pytest.raises(ValueError):
        data.sync_wait("more", 0)
    with pytest.raises(TypeError):
        data.sync_wait(3)


# -- lines and hooks ---------------------------------------------------------------------------


def test_lines_by_number(tmp_path):
    """Oracle: the lines as they were written."""
    path = tmp_path / "a.txt"
    path.write_bytes("eins\r\nzwölf\n\nlast".encode())
    reader = ds.LineReader(str(path))
    assert len(reader) == reader.len() == 4
    assert [reader[n] for n in (4, 2, 3, 1)] == ["last", "zwölf", "", "eins"]
    reader.close()
    assert reader.readline(2) == "zwölf"
    for kind, line in ((ValueError, 0), (ValueError, 5), (TypeError, "1"), (TypeError, True)):
        with pytest.raises(kind):
            reader.readline(line)
    with pytest.raises(RuntimeError):
        ds.LineReader(str(tmp_path / "none"))
    with pytest.raises(TypeError):
        ds.LineReader(path)


def test_hooks_that_print(capsys):
    """Oracle: MindSpore's words."""
    ds.config.set_debug_mode(True, [debug.PrintMetaDataHook(), debug.PrintDataHook()])
    data = ds.NumpySlicesDataset({"x": [[1.5, 2.5]], "t": ["a"]}, shuffle=False)
    data = data.map(lambda x, t: (x, t), ["x", "t"])
    list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    told = capsys.readouterr().out.splitlines()
    assert "[INPUT]" in told[0] and "[OUTPUT]" in told[6]
    assert [line for line in told[:6] if "debugger" not in line] == [
        "Column 0. The dtype is [float64]. The shape is [(2,)].",
        "Column 1. The dtype is [<U1]. The shape is [()].",
        "Column 0. The data is [[1.5 2.5]].",
        "Column 1. The data is [a].",
    ]
    assert debug.DebugHook is ds.DebugHook
    image = vision.ToPIL()(np.zeros((2, 3, 3), np.uint8))
    debug.PrintMetaDataHook().compute([image, [1, 2], 3])
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith("The shape is [(3, 2)].") and told[1].endswith("The size is [2].")


def test_one_share_mixes_batches_of_any_size():
    """Oracle: MindSpore's rule: shares of batch_size=1 are broadcast, others are refused."""
    images = np.random.default_rng(0).random((3, 2, 2, 1))
    labels = np.eye(3)
    mixed, shared = vision.MixUp(1, 0.3)(images, labels)
    share = shared[1, 1]
    np.testing.assert_allclose(mixed, share * images + (1 - share) * images[:1], 1e-12)
    np.testing.assert_allclose(shared, share * labels + (1 - share) * labels[:1], 1e-12)
    with pytest.raises(RuntimeError, match="batch_size=2"):
        vision.MixUp(2, 0.3)(images, labels)


def test_shares_of_one_image():
    """Oracle: MindSpore's rule: without a batch before, an image stays, once for each share."""
    image, label = np.arange(12.0).reshape(2, 2, 3), np.array([[0, 1]])
    mixed, shared = vision.MixUp(2, 0.2, is_single=False)(image, label)
    np.testing.assert_allclose(mixed, np.stack([image, image]))
    np.testing.assert_allclose(shared, [[0, 1], [0, 1]])


def test_operations_know_what_they_were_made_with():
    """Oracle: the arguments."""
    assert vision.Resize(3).made_with == ((3,), {})
    assert text.Ngram(n=2).made_with == ((), {"n": 2})
