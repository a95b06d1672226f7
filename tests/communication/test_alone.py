# SPDX-License-Identifier: Apache-2.0
"""Operators among processes, of one process. Oracle: the mathematics of one: its own values."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import communication, nn, ops
from mycel.communication import comm_func, objects, writing
from mycel.mint import distributed
from mycel.ops.collectives import groups, primitives, table, uneven, uneven_primitives
from mycel.parallel import cells, configurations, context, layouts

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """A process that no launcher started, with nothing set."""
    for variable in groups.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    yield
    communication.release()
    ms.reset_auto_parallel_context()


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"RANK_SIZE": "x"}, "RANK_SIZE must be a whole number"),
        ({"RANK_SIZE": "2", "RANK_ID": "-1"}, "RANK_ID must be a whole number"),
        ({"RANK_SIZE": "2", "RANK_ID": "2"}, "RANK_ID or MS_NODE_ID must be below 2"),
        ({"RANK_SIZE": "2", "RANK_ID": "1", "MYCEL_COORDINATOR": "here"}, "must be host:port"),
    ],
)
def test_what_a_launcher_tells_wrongly_is_no_single_process(told, text, monkeypatch):
    for variable, value in told.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(ValueError, match=text):
        communication.init()


def every(x):
    return (
        ops.AllReduce(ops.ReduceOp.MAX)(x),
        ops.AllGather()(x),
        ops.ReduceScatter()(x),
        ops.AlltoAll(split_count=1, split_dim=0, concat_dim=1)(x),
        ops.Broadcast(0)((x,))[0],
        comm_func.all_reduce(x)[0],
    )


def test_values():
    matches(every, lambda x: (x,) * 6, X)


def uneven_ones(x):
    x = x.reshape(-1)
    return ops.AllGatherV()(x, [6]), ops.ReduceScatterV()(x, [6]), ops.AlltoAllV()(x, [6], [6])


def test_values_of_uneven_amounts():
    matches(uneven_ones, lambda x: (x.reshape(-1),) * 3, X)


def test_a_group_of_one():
    assert ops.get_backend() == distributed.get_backend()
    assert ops.get_group_rank(None, 0) == 0


def test_gradients():
    def gradient(x):
        return ms.grad(lambda x: sum((y * y).sum() for y in every(x)))(x)

    matches(gradient, lambda x: 12 * x, X)


def test_a_result_is_a_tensor_of_its_own():
    x = ms.Tensor(X)
    y = ops.AllReduce()(x)
    y[0, 0] = 7.0
    assert x.asnumpy()[0, 0] == 0


@pytest.mark.parametrize("variable", groups.VARIABLES)
@pytest.mark.parametrize(
    "call",
    [communication.init, communication.get_rank, communication.get_group_size,
     ops.AllReduce, distributed.init_process_group],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_many_processes_are_an_error(call, variable, monkeypatch):
    monkeypatch.setenv(variable, "8")
    with pytest.raises(RuntimeError, match=rf"one of 8 processes \({variable}=8\).*mycel launch"):
        call()
    monkeypatch.setenv(variable, "1")
    call()


def test_groups():
    communication.create_group("mine", [0])
    assert communication.get_group_size("mine") == 1
    assert ops.AllReduce(group="mine").group == "mine"
    with pytest.raises(ValueError, match="'mine'"):
        communication.create_group("mine", [0])
    communication.destroy_group("mine")
    with pytest.raises(ValueError, match=r"There is no group 'mine'.*create_group"):
        communication.get_rank("mine")
    with pytest.raises(ValueError, match="only process"):
        communication.create_group("others", [0, 1])


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: ops.AllReduce("mean"), ValueError, "op must be one of sum"),
        (lambda: ops.AllReduce(3), TypeError, "op must be a word"),
        (lambda: ops.AllReduce(group=3), TypeError, "group must be the name"),
        (lambda: ops.AllReduce()(3), TypeError, "AllReduce: input_x must be a Tensor"),
        (lambda: ops.Broadcast(1), ValueError, "root_rank must be 0"),
        (lambda: ops.AlltoAll(2, 0, 1), ValueError, "split_count must be 1"),
        (lambda: ops.AlltoAll(1, 0, 2)(ms.Tensor(X)), ValueError, "concat_dim"),
        (lambda: ops.AllGather()(ms.Tensor(1.0)), ValueError, "1 dimension"),
        (lambda: comm_func.send(ms.Tensor(X), 1), RuntimeError, "needs another process"),
        (lambda: distributed.recv(ms.Tensor(X), 1), RuntimeError, "needs another process"),
        (lambda: ops.BatchISendIRecv(["isend"], [1]), RuntimeError, "needs another process"),
        (lambda: ops.BatchISendIRecv(["send"], [1]), ValueError, "'isend' or 'irecv'"),
        (lambda: ops.BatchISendIRecv(["irecv"], [1], [()]), ValueError, "receive_dtypes"),
        (lambda: ops.AlltoAllV()(ms.Tensor(X[0]), [3], [2]), ValueError, r"\[3\], what the one"),
        (lambda: ops.AlltoAllV()(ms.Tensor(X[0]), 3, [3]), TypeError, "a list with a number"),
        (lambda: ops.AlltoAllV()(ms.Tensor(X[0]), [3.0], [3]), TypeError, "a list of integers"),
        (lambda: ops.AlltoAllV(block_size=0), ValueError, "a positive integer"),
        (lambda: ops.AlltoAllVC()(ms.Tensor(X[0]), [[2]]), ValueError, "must be 2 elements"),
        (lambda: ops.AllGatherV()(ms.Tensor(X), [2]), ValueError, "as reshape"),
        (
            lambda: ops.NeighborExchange([1], [0], ([2],), ([2],), ms.float32),
            *(ValueError, "send_rank_ids must be 0"),
        ),
        (
            lambda: ops.NeighborExchange([0], [0], ([3],), ([3],), ms.int32)((ms.Tensor(X[0]),)),
            *(TypeError, "tensor must be of Int32"),
        ),
        (
            lambda: ops.NeighborExchangeV2([-1] * 7, [0] * 4, [-1] * 8, [0] * 4, "NCHW"),
            *(ValueError, "must be 8 numbers"),
        ),
        (
            lambda: ops.NeighborExchangeV2([-1] * 8, [0] * 4, [-1] * 8, [0] * 4, "NHWC"),
            *(ValueError, "must be 'NCHW'"),
        ),
        (lambda: distributed.send_object_list([1], 1), RuntimeError, "needs another process"),
        (lambda: distributed.recv_object_list((), 1), TypeError, "must be a list"),
        (lambda: communication.init("mpi"), ValueError, "backend_name"),
        (lambda: ms.set_auto_parallel_context(device_num=8), ValueError, "computes on one"),
        (lambda: ms.set_auto_parallel_context(parallel_mode="x"), ValueError, "stand_alone"),
        (lambda: ms.set_auto_parallel_context(device_number=1), ValueError, "'device_num'"),
        (lambda: ms.set_auto_parallel_context(full_batch=1), TypeError, "full_batch"),
        (lambda: ms.set_auto_parallel_context(pipeline_stages=0), ValueError, "at least 1"),
        (lambda: ms.set_auto_parallel_context(pipeline_stages=-1), ValueError, "at least 1"),
        (lambda: ms.set_ps_context(enable_ps=True), ValueError, "enable_ps"),
        (lambda: ms.shard(ops.relu, ((2, 1),)), ValueError, "one device"),
        (lambda: nn.PipelineCell(nn.ReLU(), 4)(ms.Tensor(X)), ValueError, "divisible by 4"),
    ],
)
def test_errors_teach(make, kind, text):
    with pytest.raises(kind, match=text):
        make()


@pytest.mark.parametrize(
    ("setter", "asked", "accepted", "refused"),
    [
        (
            ms.set_auto_parallel_context,
            ms.get_auto_parallel_context,
            {"parallel_mode": "data_parallel"},
            {"gradients_mean": "yes"},
        ),
        (
            ms.set_auto_parallel_context,
            ms.get_auto_parallel_context,
            {"parallel_mode": "semi_auto_parallel"},
            {"pipeline_stages": 3},
        ),
        (
            ms.set_algo_parameters,
            ms.get_algo_parameters,
            {"fully_use_devices": True},
            {"tensor_slice_align_size": "x"},
        ),
        (ms.set_ps_context, ms.get_ps_context, {"config_file_path": "a"}, {"enable_ps": True}),
    ],
)
def test_what_is_refused_changes_nothing(setter, asked, accepted, refused):
    """Oracle: MindSpore 2.10, where a refused call leaves every setting as it was."""
    before = {name: asked(name) for name in (*accepted, *refused)}
    with pytest.raises((ValueError, TypeError)):
        setter(**accepted, **refused)
    assert {name: asked(name) for name in before} == before
    setter(**{name: before[name] for name in before})


def test_written_tensors_are_seen_in_compiled_code():
    @ms.jit
    def gather(x):
        gathered = ops.zeros_like(x)
        distributed.all_gather_into_tensor(gathered, x * 2)
        return gathered

    for _ in range(4):
        assert gather(ms.Tensor(X)).asnumpy().tolist() == (2 * X).tolist()


# Recorded from MindSpore 2.10: the results of the parts are added.
def test_parts_of_a_batch():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 1, "ones", "zeros")

        def construct(self, x, y):
            return self.dense(x).sum() + y.sum()

    x, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.ones((4, 1), np.float32)
    for kind in (nn.PipelineCell, nn.MicroBatchInterleaved, nn.GradAccumulationCell):
        net = kind(Net(), 2)
        assert [p.name for p in net.trainable_params()] == ["dense.weight", "dense.bias"]
        matches(net, lambda x, y: np.float32(32), x, y)


def test_gradients_of_one_process():
    net = nn.Dense(2, 1)
    ms.set_auto_parallel_context(gradients_mean=True)
    for mean, degree, factor in ((None, None, 1), (True, 1, 1), (True, 4, 0.25), (False, 4, 1)):
        reducer = nn.DistributedGradReducer(net.trainable_params(), mean, degree)
        assert reducer((ms.Tensor(X),))[0].asnumpy().tolist() == (factor * X).tolist()


MODULES = [
    communication,
    comm_func,
    distributed,
    objects,
    writing,
    primitives,
    table,
    uneven,
    uneven_primitives,
    groups,
    cells,
    configurations,
    context,
    layouts,
]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_examples(module):
    names = {"np": np, "nn": nn, "ops": ops, "ms": ms, "Tensor": ms.Tensor}
    outcome = doctest.testmod(module, extraglobs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted
    assert not outcome.failed
