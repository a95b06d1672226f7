# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in parts on several devices, divided anew and put together.

Oracle: MindSpore 2.10, which was run on layouts that were drawn (fixtures/record_sharded.py); the
whole arrays, which are numbers in order.
"""

from __future__ import annotations

import json
import os
import pathlib
import random

import numpy as np
import pytest

import mycel as ms
from fixtures.record_sharded import SHAPES, told, whole
from mycel import Tensor, nn
from mycel.checkpoint.sharded import strategies
from mycel.checkpoint.sharded.placement import Placement

RECORD = pathlib.Path(__file__).parents[2] / "fixtures" / "mindspore_2_10" / "sharded.json"
CASES = [case for case in json.loads(RECORD.read_text("utf-8")) if "refused" not in case]


def write_strategy(path, layouts, stage=0):
    """A strategy file with `{name: (grid, tensor map, step, parts)}`."""
    keys = ("dev_matrix", "tensor_map", "opt_weight_shard_step", "opt_weight_shard_size")
    rest = {"field": 0, "param_split_shape": [], "indices_offset": []}
    said = {name: {**rest, **dict(zip(keys, of, strict=True))} for name, of in layouts.items()}
    strategies.write_strategy(
        str(path), strategies.StrategyFile({"operator": (stage, [[1]])}, said)
    )
    return str(path)


def saved(folder, rank, values, name="a.ckpt"):
    place = folder / f"rank_{rank}"
    place.mkdir(parents=True)
    ms.save_checkpoint({key: Tensor(value) for key, value in values.items()}, str(place / name))
    return str(place / name)


def arrays(path):
    return {name: value.asnumpy() for name, value in ms.load_checkpoint(str(path)).items()}


@pytest.mark.parametrize("ending", ["ckpt", "json"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["number"])
def test_drawn_layouts(case, ending, tmp_path):
    saved(tmp_path / "all", 0, {name: whole(name) for name in SHAPES})
    old = write_strategy(tmp_path / f"old.{ending}", case["old"])
    new = write_strategy(tmp_path / f"new.{ending}", case["new"])
    if ending == "ckpt":
        assert pathlib.Path(old).read_bytes().hex() == case["strategy"]
    ms.transform_checkpoints(str(tmp_path / "all"), str(tmp_path / "old"), "a", None, old)
    for rank, values in case["divided"].items():
        found = arrays(tmp_path / "old" / f"rank_{rank}" / f"a{rank}.ckpt")
        assert {name: told(value) for name, value in found.items()} == values
    files = {
        rank: str(tmp_path / "old" / f"rank_{rank}" / f"a{rank}.ckpt")
        for rank in range(case["before"])
    }
    for key, strategy in (("anew", new), ("whole", None)):
        ms.transform_checkpoints(str(tmp_path / "old"), str(tmp_path / key), "n", old, strategy)
        assert len(os.listdir(tmp_path / key)) == len(case[key])
        for rank, (needed, values) in case[key].items():
            found = arrays(tmp_path / key / f"rank_{rank}" / f"n{rank}.ckpt")
            assert {name: told(value) for name, value in found.items()} == values
            ours = ms.rank_list_for_transform(int(rank), old, strategy)
            assert len(ours) <= len(needed)  # others may have the same parts
            one = str(tmp_path / "one.safetensors")
            few = {number: files[number] for number in ours}
            ms.transform_checkpoint_by_rank(int(rank), few, one, old, strategy)
            assert {name: told(value) for name, value in arrays(one).items()} == values


def test_pipeline_stages(tmp_path):
    """Oracle: what MindSpore 2.10 printed for the same files, and the whole arrays."""
    values = {
        name: np.arange(16, dtype=np.float32).reshape(4, 4) + 100 * place
        for place, name in enumerate("abe")
    }
    stages = [{"a": [0, -1], "e": [-1, 0]}, {"b": [-1, 0], "e": [0, -1]}]
    (tmp_path / "stages").mkdir()
    for stage, maps in enumerate(stages):
        layouts = {name: ([2], of, 0, 0) for name, of in maps.items()}
        write_strategy(tmp_path / "stages" / f"{stage}.ckpt", layouts, stage)
        for part in range(2):
            mine = {name: np.split(values[name], 2, of.index(0))[part] for name, of in maps.items()}
            saved(tmp_path / "old", 2 * stage + part, mine | {"step": np.int64(2 * stage + part)})
    old, new = str(tmp_path / "old.ckpt"), tmp_path / "new.ckpt"
    ms.merge_pipeline_strategys(str(tmp_path / "stages"), old)
    assert sorted(ms.build_searched_strategy(old)) == ["0-a", "0-e", "1-b", "1-e"]
    maps = {"a": [-1, 0], "b": [0, -1], "e": [0, -1]}
    write_strategy(new, {name: ([2], of, 0, 0) for name, of in maps.items()})
    ms.transform_checkpoints(str(tmp_path / "old"), str(tmp_path / "new"), "z", old, str(new))
    for rank in range(2):
        found = arrays(tmp_path / "new" / f"rank_{rank}" / f"z{rank}.ckpt")
        assert found.pop("step") == rank
        for name, of in maps.items():
            np.testing.assert_array_equal(
                found.pop(name), np.split(values[name], 2, of.index(0))[rank]
            )
        assert not found
    assert ms.rank_list_for_transform(0, old, str(new)) == [0, 1, 2, 3]
    # And back to two stages: each gets what its stage has.
    ms.transform_checkpoints(str(tmp_path / "new"), str(tmp_path / "back"), "z", str(new), old)
    for rank in range(4):
        found = arrays(tmp_path / "back" / f"rank_{rank}" / f"z{rank}.ckpt")
        before = arrays(tmp_path / "old" / f"rank_{rank}" / "a.ckpt")
        assert found.pop("step") == rank % 2
        before.pop("step")
        assert found.keys() == before.keys()
        for name, value in before.items():
            np.testing.assert_array_equal(found[name], value)


def halves(tmp_path, ending="safetensors"):
    """Two devices that share the rows of w, both have m, and free, which is in no strategy."""
    w = np.arange(16, dtype=np.float32).reshape(4, 4)
    for rank in range(2):
        values = {"w": np.split(w, 2)[rank], "m": w + 1, "free": w + rank}
        saved(tmp_path / "old", rank, values, f"net_{rank}.{ending}")
    layouts = {"w": ([2], [0, -1], 0, 0), "m": ([2], [-1, -1], 0, 0)}
    return w, write_strategy(tmp_path / "old.ckpt", layouts)


def test_whole_files(tmp_path):
    """Oracle: the names of the files and what is in each, as MindSpore 2.10 wrote them."""
    w, strategy = halves(tmp_path)
    ms.unified_safetensors(str(tmp_path / "old"), strategy, str(tmp_path / "new"))
    files = ["hyper_param.safetensors", "param_name_map.json", "part0.safetensors"]
    assert sorted(os.listdir(tmp_path / "new")) == files
    assert json.loads((tmp_path / "new" / "param_name_map.json").read_text()) == {
        "metadata": {"total_size": 128},
        "weight_map": {"m": "part0.safetensors", "w": "part0.safetensors"},
    }
    found = arrays(tmp_path / "new" / "part0.safetensors")
    np.testing.assert_array_equal(found["w"], w)
    np.testing.assert_array_equal(found["m"], w + 1)
    rest = arrays(tmp_path / "new" / "hyper_param.safetensors")
    np.testing.assert_array_equal(rest["free"], w)
    # A choice of names, under others; only files of a suffix.
    arguments = (str(tmp_path / "old"), strategy, str(tmp_path / "few"))
    ms.unified_safetensors(*arguments, choice_func=lambda name: name == "w" and "renamed")
    assert sorted(os.listdir(tmp_path / "few")) == files[1:]
    assert list(arrays(tmp_path / "few" / "part0.safetensors")) == ["renamed"]
    with pytest.raises(ValueError, match="rank_0"):
        ms.unified_safetensors(*arguments, file_suffix="nothing")


def test_parts_of_files(tmp_path, monkeypatch):
    """Oracle: the limit of bytes, and that the calls that share the work write the same files."""
    monkeypatch.setattr("mycel.checkpoint.sharded.transform.MOST_BYTES", 100)
    _, strategy = halves(tmp_path)
    ms.unified_safetensors(str(tmp_path / "old"), strategy, str(tmp_path / "new"))
    for number in (1, 2):
        folder = str(tmp_path / "shared")
        ms.unified_safetensors(str(tmp_path / "old"), strategy, folder, split_dst_file=(number, 2))
    for name in ("part0.safetensors", "part1.safetensors"):
        one, other = arrays(tmp_path / "new" / name), arrays(tmp_path / "shared" / name)
        assert one.keys() == other.keys() and len(one) == 1
    with pytest.raises(ValueError, match="split_dst_file must be"):
        ms.unified_safetensors(str(tmp_path / "old"), strategy, folder, split_dst_file=(3, 2))
    index = json.loads((tmp_path / "shared" / "param_name_map.json").read_text())
    assert set(index["weight_map"].values()) == {"part0.safetensors", "part1.safetensors"}


def test_into_a_network(tmp_path):
    w, strategy = halves(tmp_path, "ckpt")
    files = [str(tmp_path / "old" / f"rank_{rank}" / f"net_{rank}.ckpt") for rank in range(2)]
    net = nn.Cell()
    net.w = ms.Parameter(np.zeros((4, 4), np.float32), name="w")
    ms.load_distributed_checkpoint(net, files, None, strategy)
    np.testing.assert_array_equal(net.w.asnumpy(), w)
    # The context names the strategy as well.
    net.w.set_data(Tensor(np.zeros((4, 4), np.float32)))
    ms.set_auto_parallel_context(strategy_ckpt_load_file=strategy)
    try:
        ms.load_distributed_checkpoint(net, files)
    finally:
        ms.reset_auto_parallel_context()
    np.testing.assert_array_equal(net.w.asnumpy(), w)
    # A network that has the part of one device.
    part = nn.Cell()
    part.w = ms.Parameter(np.zeros((4, 2), np.float32), name="w")
    columns = {"w": [[2], [-1, 0], [], 0]}
    ms.load_distributed_checkpoint(part, files, columns, strategy, rank_id=1)
    np.testing.assert_array_equal(part.w.asnumpy(), w[:, 2:])
    with pytest.raises(ValueError, match=r"'w' in shape \(4, 4\).*\(4, 2\).*predict_strategy"):
        ms.load_distributed_checkpoint(part, files, None, strategy)


def test_without_a_network(tmp_path):
    """Oracle: the files that MindSpore 2.10 wrote."""
    w, strategy = halves(tmp_path)
    ms.unified_safetensors(str(tmp_path / "old"), strategy, str(tmp_path / "new"))
    grid = {"w": ([2, 2], [-1, 0], 0, 0), "m": ([2, 2], [1, -1], 0, 0)}
    target = write_strategy(tmp_path / "target.ckpt", grid)
    ms.load_distributed_checkpoint(
        None,
        predict_strategy=target,
        unified_safetensors_dir=str(tmp_path / "new"),
        dst_safetensors_dir=str(tmp_path / "four"),
        format="safetensors",
    )
    for rank in range(4):
        found = arrays(tmp_path / "four" / f"rank_{rank}" / "net.safetensors")
        np.testing.assert_array_equal(found["w"], np.split(w, 2, 1)[rank % 2])
        np.testing.assert_array_equal(found["m"], np.split(w + 1, 2)[rank // 2])
        np.testing.assert_array_equal(found["free"], w)


@pytest.mark.parametrize("ending", ["ckpt", "json"])
def test_files_that_have_parameters_whole(tmp_path, ending):
    """What several processes save beside a strategy file that divides them. Oracle: the arrays."""
    values = {"w": np.arange(16, dtype=np.float32).reshape(4, 4), "rate": np.float32(0.5)}
    said = {"param_split_shape": [], "indices_offset": [], "field": 0}
    said |= {"opt_weight_shard_step": 0, "opt_weight_shard_size": 0, "dev_matrix": [2]}
    layouts = {
        "w": {**said, "tensor_map": [0, -1], "whole_shape": [4, 4]},
        "rate": {**said, "tensor_map": [], "whole_shape": []},
    }
    path = str(tmp_path / f"strategy.{ending}")
    strategies.write_strategy(path, strategies.StrategyFile({}, layouts))
    for rank in range(2):
        saved(tmp_path / "old", rank, values)
    ms.transform_checkpoints(str(tmp_path / "old"), str(tmp_path / "whole"), "z", path, None)
    found = arrays(tmp_path / "whole" / "rank_0" / "z0.ckpt")
    for name, value in values.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_strategies_of_processes_that_compute_all_stages(tmp_path):
    """Such a file names no operators. Oracle: what is divided in it."""
    said = {"dev_matrix": [2], "tensor_map": [0, -1], "param_split_shape": [], "field": 0}
    said |= {"indices_offset": [], "opt_weight_shard_step": 0, "opt_weight_shard_size": 0}
    (tmp_path / "ranks").mkdir()
    for rank in range(2):
        file = strategies.StrategyFile({}, {"w": said})
        strategies.write_strategy(str(tmp_path / "ranks" / f"{rank}.ckpt"), file)
    merged = str(tmp_path / "merged.ckpt")
    ms.merge_pipeline_strategys(str(tmp_path / "ranks"), merged)
    assert ms.build_searched_strategy(merged)["0-w"][:2] == [[2], [0, -1]]
    (tmp_path / "none").mkdir()
    empty = strategies.StrategyFile({}, {})
    strategies.write_strategy(str(tmp_path / "none" / "0.ckpt"), empty)
    with pytest.raises(ValueError, match="names Parameters"):
        ms.merge_pipeline_strategys(str(tmp_path / "none"), merged)


def test_merge_of_parts():
    whole_value = np.arange(24, dtype=np.float32).reshape(4, 6)
    parts = [
        ms.Parameter(part, name="w")
        for rows in np.split(whole_value, 2)
        for part in np.split(rows, 3, 1)
    ]
    strategy = {"w": [[2, 3], [1, 0], [], 0]}
    np.testing.assert_array_equal(ms.merge_sliced_parameter(parts, strategy).asnumpy(), whole_value)
    first = ms.merge_sliced_parameter(parts[:2])
    np.testing.assert_array_equal(
        first.asnumpy(), np.concatenate([whole_value[:2, :2], whole_value[:2, 2:4]])
    )
    with pytest.raises(KeyError, match="'w'"):
        ms.merge_sliced_parameter(parts, {"other": strategy["w"]})
    with pytest.raises(ValueError, match="6 parts"):
        ms.merge_sliced_parameter(parts[:2], strategy)
    for wrong, kind in (([], ValueError), ("w", TypeError), ([1], TypeError)):
        with pytest.raises(kind, match="merge_sliced_parameter"):
            ms.merge_sliced_parameter(wrong)


def test_what_is_missing_is_told(tmp_path, caplog):
    _, strategy = halves(tmp_path, "ckpt")
    arguments = (str(tmp_path / "old"), str(tmp_path / "new"), "n")
    # A Parameter in parts of which the target says nothing.
    less = write_strategy(tmp_path / "less.ckpt", {"m": ([2], [0, -1], 0, 0)})
    with caplog.at_level("WARNING", "mycel"):
        ms.transform_checkpoints(*arguments, strategy, less)
    assert "w lie in parts" in caplog.text
    assert sorted(arrays(tmp_path / "new" / "rank_0" / "n0.ckpt")) == ["free", "m"]
    # A device that the target has not: an empty file would be written.
    one = str(tmp_path / "one.ckpt")
    for call in (
        lambda: ms.rank_list_for_transform(2, strategy, strategy),
        lambda: ms.transform_checkpoint_by_rank(9, {}, one, strategy, strategy),
    ):
        with pytest.raises(ValueError, match="rank_id must be below 2"):
            call()
    # A dimension that does not divide.
    three = write_strategy(tmp_path / "three.ckpt", {"w": ([3], [0, -1], 0, 0)})
    with pytest.raises(ValueError, match=r"'w' of shape \(4, 4\).*dimension 0.*3 would divide"):
        ms.transform_checkpoints(*arguments, strategy, three)
    # The file of a device.
    os.remove(tmp_path / "old" / "rank_1" / "net_1.ckpt")
    with pytest.raises(ValueError, match=r"'w' lies in parts on 2 devices.*device 1.*rank_N"):
        ms.transform_checkpoints(*arguments, strategy, None)
    with pytest.raises(NotADirectoryError, match="nowhere"):
        ms.transform_checkpoints("nowhere", *arguments[1:])
    with pytest.raises(ValueError, match="a file that exists"):
        ms.transform_checkpoints(*arguments, "nowhere.ckpt")


@pytest.mark.parametrize("key", ["parallel_layout_item", "dev_matrix", "tensor_map"])
def test_a_strategy_whose_keys_are_others_divides_nothing_silently(key, tmp_path):
    path = pathlib.Path(write_strategy(tmp_path / "s.json", CASES[3]["old"]))
    path.write_text(path.read_text().replace(key, "x" + key[1:]))
    with pytest.raises(ValueError, match="not the JSON of a strategy"):
        ms.rank_list_for_transform(0, str(path), None)


def test_damaged_strategies(tmp_path):
    """Oracle: every change of a byte gives an answer or a ValueError that names the file."""
    rng = random.Random(0)
    for name in ("s.ckpt", "s.json"):
        path = pathlib.Path(write_strategy(tmp_path / name, CASES[3]["old"]))
        good = path.read_bytes()
        told_of = 0
        for _ in range(300):
            content = bytearray(good)
            for _ in range(rng.randint(1, 3)):
                content[rng.randrange(len(content))] = rng.randrange(256)
            path.write_bytes(bytes(content[: rng.choice([len(content), rng.randrange(1, 40)])]))
            try:
                ms.rank_list_for_transform(0, str(path), None)
            except ValueError as error:
                told_of += 1
                assert str(error)
        assert told_of > 50
        path.write_bytes(b"")
        with pytest.raises(ValueError, match="empty"):
            ms.build_searched_strategy(str(path))


def test_uneven_parts_are_refused(tmp_path):
    path = str(tmp_path / "uneven.json")
    write_strategy(path, {"w": ([2], [0], 0, 0)})
    layout = strategies.read_strategy(path).layouts["w"] | {"param_split_shape": [3, 5]}
    strategies.write_strategy(path, strategies.StrategyFile({}, {"w": layout}))
    with pytest.raises(ValueError, match=r"'w'.*\[3, 5\].*equal size"):
        ms.rank_list_for_transform(0, path)


def test_devices_to_restore_from(tmp_path):
    """Oracle: the bytes that protobuf writes for the list (0, 4, 300)."""
    path = tmp_path / "groups.pb"
    path.write_bytes(b"\x12\x07\x08\x00\x08\x04\x08\xac\x02")
    assert ms.restore_group_info_list(str(path)) == [0, 4, 300]


def test_a_vector_that_two_axes_divide():
    """Oracle: the order of the axes, the outermost first. MindSpore refuses what it wrote so."""
    flat = Placement((2, 2), ((1,), (0,))).fitting(1)
    assert [flat.box(rank, (8,)) for rank in range(4)] == [((2 * n, 2 * n + 2),) for n in range(4)]


def test_several_files_of_one_folder(tmp_path):
    for name in "ab":
        ms.save_checkpoint({name: Tensor(1.0)}, str(tmp_path / f"{name}.ckpt"))
    assert sorted(ms.load_segmented_checkpoints(str(tmp_path))) == ["a", "b"]
    assert list(ms.load_segmented_checkpoints(str(tmp_path), choice_func="a".__eq__)) == ["a"]
