# SPDX-License-Identifier: Apache-2.0
"""What Tensors, Parameters and Cells keep beside values: as MindSpore 2.10 answers on one CPU."""

from __future__ import annotations

import copy
import logging
import pathlib

import numpy as np
import pytest

import mycel as ms
from fixtures import load
from harness import EXECUTIONS, execution, matches
from mycel import Parameter, Tensor, nn, ops

# What programs of three repositories or more use, of 15,000 files.
USED = dict(
    line.split(": ")
    for line in (pathlib.Path(load.__file__).parent / "members.txt").read_text().splitlines()
)
UNSET = "pipeline_stage"  # an error that says so until a program sets it


def test_members_of_real_programs():
    """The oracle is what programs use."""
    net = nn.Dense(1, 1)
    for name, item in (("Tensor", Tensor([1.0])), ("Parameter", net.weight), ("Cell", net)):
        names = USED[name].split()
        assert len(names) > 3, name
        lacking = {member for member in names if not hasattr(item, member)}
        assert lacking == {UNSET} & set(names), name


def test_memory_is_in_one_piece():
    """The oracle is PyTorch: a Tensor that was turned has the same values in one piece."""
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    matches(lambda x: x.T.contiguous(), lambda x: x.T, x)
    assert Tensor(x).T.contiguous().is_contiguous()
    assert Tensor(x).is_floating_point()
    assert not Tensor([1]).is_floating_point()


def test_fill_in_place_where_a_mask_is_true():
    """The oracle is NumPy."""
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    matches(lambda x: (x + 0).masked_fill_(x > 3, -1.0), lambda x: np.where(x > 3, -1, x), x)


def test_a_reverse_function_that_is_to_be_debugged():
    """The oracle is MindSpore's document: `bprop_debug` changes no result."""

    class Double(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bprop_debug = True

        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 5,)

    net = Double()
    assert net.bprop_debug is True
    assert ms.grad(lambda x: net(x))(Tensor(1.0)).item() == 5


def test_members_of_a_tensor():
    """The oracle is MindSpore 2.10 (CPU)."""
    x = Tensor([1.0, 2.0])
    assert x.value() is x
    assert x.device == "CPU" or x.device == ms.get_context("device_target")
    assert x.init is None
    assert x.param_info is None
    assert x.flush_from_cache() is None
    assert not x.is_init()
    x.set_init_flag(True)
    assert x.is_init()
    assert x.requires_grad_() is x
    assert x.requires_grad is True
    one = ms.common.initializer.One()
    assert Tensor(shape=(2,), dtype=ms.float32, init=one).init is one
    assert Tensor([1], device="CPU").tolist() == [1]


def test_from_numpy_copies():
    """The oracle is NumPy; unlike MindSpore's, the memory is not shared."""
    array = np.array([1.5, 2.5])
    x = Tensor.from_numpy(array)
    array[0] = 9
    assert (x.dtype, x.tolist()) == (ms.float64, [1.5, 2.5])
    with pytest.raises(TypeError, match="a NumPy array"):
        Tensor.from_numpy([1.0])


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_data_has_no_history(mode):
    """The oracle is the rule: of x · data, d/dx is the value of x alone."""
    with execution(mode):
        gradient = ms.grad(lambda x: (x * x.data).sum())
        for _ in range(3):
            assert gradient(Tensor([3.0])).tolist() == [3.0]


def test_what_is_written_into_data_arrives():
    """The oracle is PyTorch, where both share their memory; a copy shares nothing."""
    x = Tensor([1.0, 2.0])
    x.data[0] = 5.0
    x.data.mul_(2)
    assert x.tolist() == [10.0, 4.0]
    apart = copy.deepcopy(x.data)
    apart.zero_()
    assert x.tolist() == [10.0, 4.0]
    x.data = Tensor([7.0, 7.0])
    assert x.tolist() == [7.0, 7.0]
    w = Parameter(Tensor([1.0]), name="w")
    w.data = Tensor([3.0])
    w.data.add_(1)
    assert w.asnumpy().tolist() == [4.0]


def test_a_copy_takes_any_memo_and_writes_nothing_into_it():
    # Oracle: MindSpore 2.10, which names it `memodict`; a public program hands over a Tensor.
    x, memo = Tensor([1.0, 2.0]), Tensor([5.0])
    apart = x.__deepcopy__(memodict=memo)
    apart[0] = 7.0
    assert (x.tolist(), apart.tolist(), memo.tolist()) == ([1.0, 2.0], [7.0, 2.0], [5.0])
    notes = {}
    assert Parameter(x, name="a").__deepcopy__(memodict=notes).name == "a"
    assert notes == {}
    one, other = copy.deepcopy([x, x])
    assert one is other


def test_data_in_a_compiled_call():
    """The oracle is the sum: what a replay writes into `data` is seen outside."""
    x = Tensor([0.0])
    step = ms.jit(lambda: x.data.add_(1))
    for _ in range(5):
        step()
    assert x.tolist() == [5.0]


def test_set_dtype():
    """The oracle is MindSpore 2.10: converted in place; a remembered function sees it."""
    x, w = Tensor([1.5]), Parameter(Tensor([1.5]), name="w")
    double = ms.jit(lambda: w * 2)
    for _ in range(4):
        assert double().dtype is ms.float32
    assert x.set_dtype(ms.int32) is ms.int32
    assert (x.dtype, x.tolist()) == (ms.int32, [1])
    assert w.set_dtype(ms.float16) is ms.float16
    assert repr(w) == "Parameter (name=w, shape=(1,), dtype=Float16, requires_grad=True)"
    for _ in range(4):
        assert double().dtype is ms.float16
    with pytest.raises(TypeError):
        w.set_dtype("no type")


DEFAULTS = {
    "cache_enable": False, "cache_shape": [], "requires_aggr": True, "key": -1, "unique": False,
    "sliced": False, "comm_fusion": 1, "parallel_optimizer_comm_recompute": False,
    "has_init": False, "inited_param": None, "init_mode": None, "is_in_parallel": False,
    "is_init": False, "init": None,
}  # fmt: skip


def test_members_of_a_parameter():
    """The oracle is MindSpore 2.10 (CPU): the values a Parameter has, and what is set is kept."""
    w = Parameter(Tensor([1.0]), name="w", device="CPU")
    assert {name: getattr(w, name) for name in DEFAULTS} == DEFAULTS
    w.cache_enable, w.cache_shape, w.requires_aggr = True, [1, 2], False
    assert (w.cache_enable, w.cache_shape, w.requires_aggr) == (True, [1, 2], False)
    other = Parameter(Tensor([1.0]), name="other")
    assert (other.cache_enable, other.cache_shape) == (False, [])
    assert w.requires_grad_(False) is w
    assert w.requires_grad is False
    info = w.param_info
    info.requires_grad = True
    assert (info.name, w.requires_grad) == ("w", True)


class Named(nn.Cell):
    """A Cell whose missing attributes are looked for by a method of its own."""

    def __init__(self):
        super().__init__()
        self.inner = nn.ReLU()

    def __getattr__(self, name):
        if name == "made_up":
            return 5
        return super().__getattr__(name)


def test_members_of_a_cell(caplog):
    """The oracle is MindSpore 2.10; `pipeline_stage` itself is recorded with the Cells."""
    net = Named()
    assert net.made_up == 5
    assert nn.Cell.__getattr__(net, "inner") is net.inner
    with pytest.raises(AttributeError, match="'Named' object has no attribute 'missing'"):
        net.missing  # noqa: B018
    net.set_train()
    assert net._phase == net.phase == "train"
    net._phase = "export"
    assert net.phase == "export"
    caplog.set_level(logging.INFO, "mycel")
    ms.kernel.base.log._noted.clear()
    for stage in (1, 2):
        net.pipeline_stage = stage
    assert net.pipeline_stage == 2
    assert len([r for r in caplog.records if "pipeline_stage" in r.getMessage()]) == 1


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_reverse_of_an_instance(mode):
    """The oracle is the bprop that was set: on the class, and on one object."""
    with execution(mode):
        net = nn.ReLU()
        net.bprop = lambda x, out, dout: (dout * 7,)
        gradient = ms.grad(lambda x: net(x).sum() + ops.relu(x).sum())
        for _ in range(3):
            assert gradient(Tensor([1.0])).tolist() == [8.0]
