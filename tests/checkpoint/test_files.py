# SPDX-License-Identifier: Apache-2.0
"""Checkpoint files. Oracle: files of real MindSpore 2.10, to the byte, and what was put in."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import jax
import numpy as np
import pytest

import mycel as ms
from fixtures.checkpoints.plan import APPENDED, KEY, MODES, SPLIT_BYTES, TYPES, arrays
from mycel import Parameter, Tensor, nn
from mycel.checkpoint import ckpt_format, encryption, files
from mycel.kernel.base.atomic import replaced

RECORDED = pathlib.Path(__file__).parent.parent / "fixtures" / "checkpoints"


def type_of(name):
    return getattr(ms, TYPES.get(name, name))


def parameters():
    return [Parameter(Tensor(a, type_of(name)), name=name) for name, a in arrays().items()]


def assert_as_planned(loaded, names=None):
    for name in names or arrays():
        expected = arrays()[name].astype(type_of(name).numpy)
        assert loaded[name].name == name
        assert loaded[name].dtype is type_of(name)
        assert loaded[name].shape == expected.shape
        np.testing.assert_array_equal(loaded[name].asnumpy(), expected)


@pytest.mark.parametrize("name", ["types.ckpt", "types.safetensors", "checksum.ckpt"])
def test_files_of_mindspore_are_read(name):
    assert_as_planned(ms.load_checkpoint(str(RECORDED / name)))


def test_a_checksum_of_mindspore_is_checked(tmp_path):
    names = [name for name in arrays() if name != "bfloat16"]
    assert_as_planned(ms.load_checkpoint(str(RECORDED / "checksum.safetensors")), names)
    for name in ("checksum.safetensors", "checksum.ckpt"):
        data = bytearray((RECORDED / name).read_bytes())
        data[-30] ^= 1
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match="damaged"):
            ms.load_checkpoint(str(tmp_path / name))


def test_files_are_those_of_mindspore_to_the_byte(tmp_path):
    for name, options in [("types", {"crc_check": False}), ("checksum", {})]:
        ms.save_checkpoint(parameters(), str(tmp_path / name), **options)
        written = (tmp_path / f"{name}.ckpt").read_bytes()
        assert written == (RECORDED / f"{name}.ckpt").read_bytes()
    ms.save_checkpoint(
        parameters()[:1], str(tmp_path / "appended.ckpt"), append_dict=APPENDED, crc_check=False
    )
    recorded = RECORDED / "appended.ckpt"
    assert (tmp_path / "appended.ckpt").read_bytes() == recorded.read_bytes()
    loaded = ms.load_checkpoint(str(recorded))
    for name, value in APPENDED.items():
        assert (loaded[name] if isinstance(value, str) else loaded[name].item()) == value


def test_what_is_split_over_entries(tmp_path, monkeypatch):
    loaded = ms.load_checkpoint(str(RECORDED / "split.ckpt"))
    assert list(loaded) == ["bool_", "big", "int8"]
    expected = np.arange(700).reshape(7, 100).astype(ms.bfloat16.numpy)
    np.testing.assert_array_equal(loaded["big"].asnumpy(), expected)
    monkeypatch.setattr(ckpt_format, "MOST_BYTES_OF_ENTRY", SPLIT_BYTES)
    ms.save_checkpoint(loaded, str(tmp_path / "split.ckpt"), crc_check=False)
    assert (tmp_path / "split.ckpt").read_bytes() == (RECORDED / "split.ckpt").read_bytes()


@pytest.mark.parametrize("mode", MODES)
def test_encrypted(mode, tmp_path, monkeypatch):
    recorded = str(RECORDED / f"{mode}.ckpt")
    plain = (RECORDED / "decrypted.ckpt").read_bytes()
    assert encryption.decrypt(pathlib.Path(recorded).read_bytes(), KEY, mode) == plain
    big = ms.load_checkpoint(recorded, dec_key=KEY, dec_mode=mode)
    monkeypatch.setattr(encryption, "MOST_BYTES_OF_BLOCK", SPLIT_BYTES)
    ms.save_checkpoint(big, str(tmp_path / "x.ckpt"), enc_key=KEY, enc_mode=mode)
    written = (tmp_path / "x.ckpt").read_bytes()
    assert len(written) == os.path.getsize(recorded)
    assert encryption.decrypt(written, KEY, mode) == plain
    for options in ({}, {"dec_key": KEY[::-1], "dec_mode": mode}):
        with pytest.raises(ValueError, match="crypted"):
            ms.load_checkpoint(recorded, **options)


def test_the_format_is_read_from_the_file(tmp_path):
    net = nn.Dense(2, 1)
    ms.save_checkpoint(net, str(tmp_path / "a.safetensors"))
    ms.save_checkpoint(net, str(tmp_path / "b"), format="safetensors")
    ms.save_checkpoint(net, str(tmp_path / "c"))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.safetensors", "b.safetensors", "c.ckpt"
    ]  # fmt: skip
    shutil.move(tmp_path / "c.ckpt", tmp_path / "d.safetensors")
    shutil.move(tmp_path / "b.safetensors", tmp_path / "d.ckpt")
    for name in ("d.safetensors", "d.ckpt"):
        for source in (str(tmp_path / name), io.BytesIO((tmp_path / name).read_bytes())):
            loaded = ms.load_checkpoint(source)
            np.testing.assert_array_equal(loaded["weight"].asnumpy(), net.weight.asnumpy())
    with pytest.raises(ValueError, match=r"but there is .*a\.safetensors"):
        ms.load_checkpoint(str(tmp_path / "a"))


def test_what_mindspore_loses_or_cannot_save(tmp_path):
    """Empty values, complex ones, dictionaries of Tensors and numbers; texts in safetensors."""
    given = {
        "empty": Tensor(np.zeros((0, 3), np.float32)),
        "complex": Tensor(np.array([1 + 2j], np.complex64)),
        "array": np.arange(3, dtype=np.int16),
        "number": 3,
        "text": "here",
    }
    for name in ("x.ckpt", "x.safetensors"):
        ms.save_checkpoint(given, str(tmp_path / name))
        loaded = ms.load_checkpoint(str(tmp_path / name))
        assert loaded.keys() == given.keys()
        assert loaded["text"] == "here"
        assert loaded["empty"].shape == (0, 3)
        assert loaded["complex"].asnumpy().tolist() == [1 + 2j]
        assert loaded["array"].dtype is ms.int16
        assert loaded["number"].item() == 3


@pytest.mark.parametrize("ending", ["ckpt", "safetensors"])
def test_a_file_cut_off_anywhere_changes_nothing(ending, tmp_path):
    ms.save_checkpoint(nn.Dense(2, 1, "ones"), str(tmp_path / f"net.{ending}"))
    whole = (tmp_path / f"net.{ending}").read_bytes()
    net = nn.Dense(2, 1, "zeros", "zeros")
    # Without its checksum a .ckpt file ends well where an entry ends.
    ends = {35, len(whole) - 17} if ending == "ckpt" else set()
    for size in set(range(len(whole))) - ends:
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"damaged|is empty"):
            ms.load_checkpoint(str(tmp_path / "cut"), net=net)
    np.testing.assert_array_equal(net.weight.asnumpy(), np.zeros((1, 2)))


def test_a_changed_byte_is_found_by_the_checksum(tmp_path):
    net = nn.Dense(2, 1, "ones")
    ms.save_checkpoint(net, str(tmp_path / "net.safetensors"))
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    for name, last in (("net.ckpt", 10**6), ("net.safetensors", 13)):
        whole = (tmp_path / name).read_bytes()
        for place in range(max(len(whole) - last, 0), len(whole)):
            data = bytearray(whole)
            data[place] ^= 4
            (tmp_path / "changed").write_bytes(data)
            with pytest.raises(ValueError, match="damaged"):
                ms.load_checkpoint(str(tmp_path / "changed"))


def test_any_bytes_are_an_error_of_value():
    generator = np.random.default_rng(3)
    whole = (RECORDED / "types.ckpt").read_bytes()
    for _ in range(300):
        data = bytearray(whole)
        for place in generator.integers(0, len(data), 3):
            data[place] = generator.integers(256)
        # Where nothing was wrong the values differ, as there is no checksum.
        with contextlib.suppress(ValueError):
            files.read(io.BytesIO(bytes(data)))


def test_nothing_is_changed_unless_everything_fits():
    net = nn.SequentialCell(nn.Dense(2, 1, "zeros", "zeros"), nn.Dense(2, 1, "zeros"))
    given = {
        "0.weight": Parameter(Tensor([[1.0, 1.0]])),
        "1.weight": Parameter(Tensor([1.0, 1.0, 1.0])),
    }
    with pytest.raises(RuntimeError, match=r"'1.weight' must be of shape \(1, 2\)"):
        ms.load_param_into_net(net, given)
    np.testing.assert_array_equal(net[0].weight.asnumpy(), np.zeros((1, 2)))


def test_numbers_that_do_not_fit_a_parameter_are_told():
    net = nn.Cell()
    net.n = Parameter(Tensor([1, 1], ms.int32), name="n")
    net.h = Parameter(Tensor([1.0, np.inf], ms.float16), name="h")
    given = {"n": Tensor([5, 2**40]), "h": Tensor([1e9, np.inf])}
    given = {name: Parameter(value, name=name) for name, value in given.items()}
    with pytest.warns(UserWarning, match="do not fit") as caught:
        ms.load_param_into_net(net, given)
    assert [str(warning.message) for warning in caught] == [
        "The value for Parameter 'n': 1 of 2 numbers of type Int64 do not fit Int32.",
        "The value for Parameter 'h': 1 of 2 numbers of type Float32 do not fit Float16.",
    ]
    assert {warning.filename for warning in caught} == {__file__}


def test_a_remembered_call_uses_loaded_values(tmp_path):
    net = nn.Dense(1, 1, "ones", "zeros")
    compiled = ms.jit(net)
    for _ in range(3):
        assert compiled(Tensor([[2.0]])).asnumpy().tolist() == [[2.0]]
    ms.load_param_into_net(net, {"weight": Parameter(Tensor([[5.0]]), name="weight")})
    assert compiled(Tensor([[2.0]])).asnumpy().tolist() == [[10.0]]


def test_saving_in_a_thread(tmp_path):
    net = nn.Dense(2, 1, "ones")
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint(net, path, async_save=True)
    net.weight.set_data(Tensor([[7.0, 7.0]]))
    loaded = ms.load_checkpoint(path)  # waits
    assert not ms.async_ckpt_thread_status()
    np.testing.assert_array_equal(loaded["weight"].asnumpy(), np.ones((1, 2)))
    ms.save_checkpoint(net, str(tmp_path / "nowhere" / "net.ckpt"), async_save="process")
    with pytest.raises(OSError, match=r"could not be written: .*no folder"):
        ms.load_checkpoint(path)


def test_a_thread_writes_what_arrays_of_numpy_were(tmp_path):
    path, array = str(tmp_path / "net.ckpt"), np.ones(1 << 20, np.float32)
    for given in ({"save_obj": {"w": array}}, {"save_obj": [], "append_dict": {"w": array}}):
        ms.save_checkpoint(ckpt_file_name=path, async_save=True, **given)
        array[:] = 7
        assert np.unique(ms.load_checkpoint(path)["w"].asnumpy()) == [1]
        array[:] = 1


def test_who_is_interrupted_while_it_waits_for_a_thread_waits_the_next_time(tmp_path, monkeypatch):
    begun, allowed, write = threading.Event(), threading.Event(), files.write

    def slow(*given):
        begun.set()
        assert allowed.wait(20)
        write(*given)

    monkeypatch.setattr(files, "write", slow)
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint({"w": Tensor([1.0])}, path, async_save=True)
    assert begun.wait(20)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            ms.load_checkpoint(path)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ms.async_ckpt_thread_status()
    allowed.set()
    ms.save_checkpoint({"w": Tensor([2.0])}, path)  # after the other
    assert ms.load_checkpoint(path)["w"].asnumpy() == [2]


def test_a_forked_process_has_a_thread_of_its_own(tmp_path):
    program = """
import os, sys, mycel as ms
ms.save_checkpoint({"w": ms.Tensor([1.0])}, sys.argv[1], async_save=True)
child = os.fork()
if child == 0:
    from mycel.checkpoint import files, saving
    files.write = lambda path, *rest: open(path, "w").close()  # without the device
    saving.writer.start(sys.argv[1] + ".child", {}, ("ckpt", True, None, "AES-GCM"))
    saving.writer.wait()
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""
    path = str(tmp_path / "net.ckpt")
    command = [sys.executable, "-W", "ignore", "-c", program, path]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert made.stdout == "0\n"
    assert (tmp_path / "net.ckpt.child").exists()


def test_a_name_that_stands_twice_is_damage(tmp_path):
    path = tmp_path / "net.ckpt"
    pieces = [ckpt_format.encode({name: np.ones(1, np.float32)}) for name in ("w", "v", "w")]
    path.write_bytes(b"".join(b"".join(map(bytes, piece)) for piece in pieces))
    with pytest.raises(ValueError, match="damaged: 'w' stands in it twice"):
        ms.load_checkpoint(str(path))


def test_a_failed_or_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(KeyError), replaced(path) as partial:
        partial.write_text("half")
        raise KeyError
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["x.ckpt", "x.safetensors"])
def test_others_may_read_what_they_may_read_of_other_files(name, tmp_path):
    (tmp_path / "usual").touch()
    ms.save_checkpoint(nn.Dense(2, 1), str(tmp_path / name))
    assert (tmp_path / name).stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_what_a_killed_process_left_is_removed(tmp_path):
    code = (
        "import sys, time\nfrom mycel.kernel.base.atomic import replaced\n"
        "with replaced(sys.argv[1]) as partial:\n"
        "    partial.write_text('half')\n    print('there', flush=True)\n    time.sleep(60)\n"
    )
    path = tmp_path / "x"
    path.write_text("old")
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "there\n"
        with replaced(path) as partial:  # of a process that lives: left alone
            partial.write_text("new")
        assert len(list(tmp_path.iterdir())) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert path.read_text() == "new"
    with replaced(path) as partial:
        partial.write_text("newer")
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert path.read_text() == "newer"
    assert abs(path.stat().st_mtime - time.time()) < 60


def test_conversion(tmp_path):
    net = nn.Dense(2, 1)
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    ms.ckpt_to_safetensors(str(tmp_path), str(tmp_path / "new"), {"weight": "w"}, "net")
    ms.safetensors_to_ckpt(str(tmp_path / "new" / "net.safetensors"), name_map={"w": "weight"})
    loaded = ms.load_checkpoint(str(tmp_path / "new" / "net.ckpt"))
    assert ckpt_format.CHECKSUM in (tmp_path / "new" / "net.ckpt").read_bytes()[-20:]
    for parameter in net.get_parameters():
        found = loaded[parameter.name].asnumpy()
        np.testing.assert_array_equal(found, parameter.asnumpy())
    for arguments in ([str(tmp_path / "none")], [str(tmp_path / "new" / "net.safetensors")]):
        with pytest.raises(ValueError, match="file_path"):
            ms.ckpt_to_safetensors(*arguments)


def test_files_of_several_devices(tmp_path):
    """Oracle: what was saved; parts without a strategy are refused, and change nothing."""
    whole, half = nn.Dense(2, 1, "ones", "ones"), nn.Dense(1, 1, "ones", "ones")
    files = [str(tmp_path / f"rank_{rank}.ckpt") for rank in range(2)]
    ms.save_checkpoint(half, files[0])
    ms.save_checkpoint(whole, files[1])
    net = nn.Dense(2, 1, "zeros", "zeros")
    with pytest.raises(ValueError, match=r"rank_0.ckpt has 'weight' in shape \(1, 1\).*unified"):
        ms.load_distributed_checkpoint(net, files)
    assert not net.bias.asnumpy().any()
    assert ms.load_distributed_checkpoint(net, files, rank_id=1) == ([], [])
    assert net.weight.asnumpy().all() and net.bias.asnumpy().all()
    folder = tmp_path / "unified"
    folder.mkdir()
    for part, name in enumerate(("weight", "bias")):
        kept = [{"name": f"old.{name}", "data": getattr(whole, name)}]
        ms.save_checkpoint(kept, str(folder / f"part{part}"), format="safetensors")
    net = nn.Dense(2, 1, "zeros", "zeros")
    names = {name: f"old.{name}" for name in ("weight", "bias")}
    values = ms.load_distributed_checkpoint(
        net, unified_safetensors_dir=str(folder), name_map=names, return_param_dict=True
    )
    assert set(values) == set(names) and net.weight.asnumpy().all() and net.bias.asnumpy().all()
    for wrong in ({}, {"checkpoint_filenames": files, "rank_id": 2},
                  {"unified_safetensors_dir": str(tmp_path)},
                  {"checkpoint_filenames": files, "dst_safetensors_dir": "x"}):  # fmt: skip
        with pytest.raises(ValueError, match=r"load_distributed_checkpoint|a folder with"):
            ms.load_distributed_checkpoint(net, **wrong)


def test_small_arrays_go_to_the_device_when_they_are_used(tmp_path, monkeypatch):
    """Oracle: the count of transfers, which were nearly all of the time, and what was saved."""
    sizes = {"small": 5, "large": 20_000}
    saved = {name: Parameter(ms.ops.arange(n) * 0.5, name=name) for name, n in sizes.items()}
    path = str(tmp_path / "x.ckpt")
    ms.save_checkpoint(list(saved.values()), path)
    sent, put = [], jax.device_put
    monkeypatch.setattr(jax, "device_put", lambda x, *more: sent.append(x.shape) or put(x, *more))
    loaded = ms.load_checkpoint(path)
    assert sent == [(20_000,)]
    small = loaded["small"]
    with open(path, "r+b") as file:  # written to in place: nobody may notice
        file.write(bytes(os.path.getsize(path)))
    np.testing.assert_array_equal(small.asnumpy(), np.arange(5) * 0.5)
    copies = copy.deepcopy(small), pickle.loads(pickle.dumps(small)), small.clone()
    for parameter in (small, *copies):
        gradient = ms.grad(lambda x: (x * x).sum())(parameter)
        np.testing.assert_array_equal(gradient.asnumpy(), np.arange(5.0))
    assert (small.name, small.requires_grad, small.storage_format) == ("small", True, "")
    assert sent.count((5,)) >= 1
