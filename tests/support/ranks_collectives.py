# SPDX-License-Identifier: Apache-2.0
"""Every operator among processes, in three of them. Oracle: NumPy on the arrays of all.

Every process makes the arrays of all from one seed, so each knows what the others have. The
gradient of a process is that of the sum of what all processes return.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import communication, ops
from mycel.communication import comm_func
from mycel.ops.collectives import table

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
SHAPE = (6, 4)
PAIR = (2, 0)


def everybody(dtype="float32", shape=SHAPE, seed=0):
    """The arrays of all processes; no two elements are equal in size."""
    numbers = np.random.default_rng(seed).permutation(SIZE * int(np.prod(shape))) % 120 - 40
    if np.dtype(dtype).kind == "u" or dtype == "bool":
        numbers = numbers % 2 if dtype == "bool" else np.abs(numbers)
    return list(
        (numbers / (4 if np.dtype(dtype).kind in "fcV" else 1)).astype(dtype).reshape(SIZE, *shape)
    )


def reduced(arrays, op):
    """What a reduction gives."""
    stacked = np.stack(arrays)
    if op == "sum":
        return stacked.sum(0, dtype=stacked.dtype)
    if op == "avg":
        return (stacked.sum(0) / len(arrays)).astype(stacked.dtype)
    return {"max": stacked.max, "min": stacked.min, "prod": stacked.prod}[op](0)


def rows(array, position, count=SIZE):
    """The part of an array that a process gets."""
    return np.split(array, count)[position]


def expected(name, arrays, position, op="sum", root=1):
    """What the process at a position of a group gets, by NumPy."""
    count = len(arrays)
    zeros = np.zeros_like
    if name == "AllReduce":
        return reduced(arrays, op)
    if name == "AllGather":
        return np.concatenate(arrays)
    if name == "ReduceScatter":
        return rows(reduced(arrays, op), position, count)
    if name == "Broadcast":
        return arrays[root]
    if name == "AlltoAll":
        return np.concatenate([rows(array, position, count) for array in arrays], axis=1)
    if name == "Reduce":
        total = reduced(arrays, op)
        return total if position == root else zeros(total)
    if name == "CollectiveGather":
        joined = np.concatenate(arrays)
        return joined if position == root else zeros(joined)
    assert name == "CollectiveScatter"
    return rows(arrays[root], position, count)


def make(name, group="hccl_world_group", op="sum", root=1):
    """The primitive of a row."""
    count = communication.get_group_size(group)
    if name == "AlltoAll":
        return ops.AlltoAll(count, 0, 1, group)
    if name == "Broadcast":
        return lambda x: ops.Broadcast(root, group)((x,))[0]
    if name == "Reduce":
        return ops.Reduce(root, op, group)
    if name in ("AllReduce", "ReduceScatter"):
        return getattr(ops, name)(op, group)
    if name == "AllGather":
        return ops.AllGather(group)
    return getattr(ops, name)(root, group)


def close(found, wanted, what):
    """Assert that two arrays are the same; sums of small numbers are exact in every type here."""
    found = found.asnumpy()
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (what, found, wanted)
    kind = wanted.dtype.kind
    tolerance = {"rtol": 1e-6} if wanted.itemsize >= 4 else {"rtol": 2e-2}
    if kind in "fcV":
        wide = complex if kind == "c" else float
        np.testing.assert_allclose(
            found.astype(wide), wanted.astype(wide), atol=1e-6, err_msg=str(what), **tolerance
        )
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=str(what))


def check_extremes_of_what_is_not_finite():
    """Oracle: NumPy, whose extreme of a NaN is NaN."""
    rows = [[np.nan, 1, -np.inf, np.inf, -np.inf], [2, np.nan, -np.inf, 3, -np.inf]]
    rows += [[0, 3, -np.inf, np.nan, 5]] * (SIZE - 2)
    for dtype in ("float16", "float32", "float64", "bfloat16"):
        kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
        arrays = [np.asarray(row, kind) for row in rows]
        for op in ("max", "min"):
            found = ops.AllReduce(op)(ms.Tensor(arrays[RANK]))
            wanted = getattr(np, op)(np.stack(arrays).astype(np.float32), 0)
            np.testing.assert_array_equal(found.asnumpy().astype(np.float32), wanted)


def check_values_in_every_execution():
    arrays = everybody()
    for name in table.TABLE:
        operator = make(name)
        for how in EXECUTIONS:
            with execution(how):
                run = ms.jit(operator) if how == "graph" else operator
                for _ in range(4 if how == "graph" else 1):
                    found = run(ms.Tensor(arrays[RANK]))
                close(found, expected(name, arrays, RANK), (name, how))


def check_reductions():
    arrays = everybody()
    for name in ("AllReduce", "ReduceScatter", "Reduce"):
        for op in ("sum", "max", "min", "prod", "avg"):
            found = make(name, op=op)(ms.Tensor(arrays[RANK]))
            close(found, expected(name, arrays, RANK, op), (name, op))


def check_dtypes():
    integers = ["int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
    names = [*integers, "float16", "float32", "float64", "complex64", "complex128"]
    for dtype in [*names, ml_dtypes.bfloat16]:
        arrays = everybody(dtype)
        for name in ("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "AlltoAll"):
            found = make(name)(ms.Tensor(arrays[RANK]))
            close(found, expected(name, arrays, RANK), (name, dtype))
    arrays = everybody("bool")
    for name in ("AllGather", "Broadcast", "AlltoAll"):
        close(make(name)(ms.Tensor(arrays[RANK])), expected(name, arrays, RANK), (name, "bool"))


def check_broadcast_keeps_bits():
    given = np.array([-0.0, np.nan, np.inf, -np.inf, 1e-45, 0.0], np.float32)
    found = ops.Broadcast(0)((ms.Tensor(given if RANK == 0 else given * 0 + 7),))[0].asnumpy()
    assert found.tobytes() == given.tobytes()


def check_functions():
    arrays = everybody()
    x = ms.Tensor(arrays[RANK])
    calls = {
        "AllReduce": lambda: comm_func.all_reduce(x)[0],
        "AllGather": lambda: comm_func.all_gather_into_tensor(x)[0],
        "ReduceScatter": lambda: comm_func.reduce_scatter_tensor(x)[0],
        "Broadcast": lambda: comm_func.broadcast(x, 1),
        "Reduce": lambda: comm_func.reduce(x, 1),
        "CollectiveGather": lambda: comm_func.gather_into_tensor(x, 1),
        "CollectiveScatter": lambda: comm_func.scatter_tensor(x, 1),
    }
    for name, call in calls.items():
        close(call(), expected(name, arrays, RANK), name)
    comm_func.barrier()
    ops.Barrier()()


def numeric_gradient(name, arrays, weights, op):
    """The gradient by the array of this process of what all return, by central differences."""
    step, found = 1e-3, np.zeros(SHAPE)
    arrays = [array.astype(np.float64) for array in arrays]
    for index in np.ndindex(*SHAPE):
        for sign in (1, -1):
            moved = [array.copy() for array in arrays]
            moved[RANK][index] += sign * step
            for position in range(SIZE):
                result = expected(name, moved, position, op)
                found[index] += sign * (result * weights[position]).sum() / (2 * step)
    return found


def check_gradients():
    for name in table.TABLE:
        several = name in ("AllReduce", "ReduceScatter", "Reduce")
        for op in ("sum", "max", "min", "prod", "avg") if several else ("sum",):
            arrays = everybody("float64")
            shape = expected(name, arrays, 0, op).shape
            weights = np.random.default_rng(5).normal(size=(SIZE, *shape))
            operator, own = make(name, op=op), ms.Tensor(weights[RANK])

            def loss(x, operator=operator, own=own):
                return (operator(x) * own).sum()

            wanted = numeric_gradient(name, arrays, weights, op)
            for how in EXECUTIONS if name == "AllReduce" else ("graph",):
                with execution(how):
                    for _ in range(4 if how == "graph" else 1):
                        found = ms.grad(loss)(ms.Tensor(arrays[RANK]))
                np.testing.assert_allclose(
                    found.asnumpy(), wanted, rtol=1e-6, atol=1e-6, err_msg=f"{name} {op} {how}"
                )


def check_second_derivatives():
    # Oracle: with s the sum over processes, the loss is s**3, whose second derivative by x is
    # 6 * s, from each of the processes on each way.
    arrays = everybody("float64", (3,))

    def gradient(x):
        return ms.grad(lambda x: (ops.AllReduce()(x) ** 3).sum())(x).sum()

    total = sum(arrays)
    found = ms.grad(gradient)(ms.Tensor(arrays[RANK]))
    np.testing.assert_allclose(found.asnumpy(), SIZE * SIZE * 6 * total)


def check_groups():
    communication.create_group("pair", list(PAIR))
    assert communication.get_group_size("pair") == 2
    assert communication.get_process_group_ranks("pair") == [2, 0]
    assert communication.get_world_rank_from_group_rank("pair", 0) == 2
    assert communication.get_group_rank_from_world_rank(0, "pair") == 1
    arrays = everybody()
    members = [arrays[rank] for rank in PAIR]
    if RANK in PAIR:
        position = communication.get_rank("pair")
        assert PAIR[position] == RANK
        for name in table.TABLE:
            found = make(name, "pair")(ms.Tensor(arrays[RANK]))
            close(found, expected(name, members, position), name)
    else:
        for call in (lambda: communication.get_rank("pair"),
                     lambda: ops.AllReduce(group="pair")(ms.Tensor(arrays[RANK]))):  # fmt: skip
            try:
                call()
            except RuntimeError as error:
                assert "Process 1 is not in the group 'pair' of [2, 0]" in str(error), error
            else:
                raise AssertionError("it was not refused")
    # Who was not there is still in step with the others.
    close(ops.AllReduce()(ms.Tensor(arrays[RANK])), reduced(arrays, "sum"), "world")
    communication.destroy_group("pair")


def check_every_process_has_its_own():
    # Tensors, Parameters and what Python reads belong to a process.
    x = ms.Tensor(np.full(3, RANK + 1.0, np.float32))
    assert float(x.sum()) == 3 * (RANK + 1)
    total = ops.AllReduce()(x)
    assert float(total[0]) == SIZE * (SIZE + 1) / 2
    assert float((total * x)[0]) == (RANK + 1) * SIZE * (SIZE + 1) / 2


def check_empty_arrays():
    empty = ms.Tensor(np.zeros((0, 2), np.float32))
    assert ops.AllGather()(empty).shape == (0, 2)
    assert ops.ReduceScatter()(empty).shape == (0, 2)
    assert ops.AllReduce()(empty).shape == (0, 2)
    beside = ms.Tensor(np.zeros((3, 0), np.float32))
    assert ops.AllGather()(beside).shape == (9, 0)
    assert ops.ReduceScatter()(beside).shape == (1, 0)
    assert float(ops.AllReduce()(ms.Tensor(1.0))) == SIZE


def check_vmap():
    arrays = everybody()
    found = ms.vmap(ops.AllReduce())(ms.Tensor(arrays[RANK]))
    close(found, reduced(arrays, "sum"), "vmap")


def check_errors_teach():
    x = ms.Tensor(np.zeros((4, 2), np.float32))
    for call, kind, text in (
        (lambda: ops.ReduceScatter()(x), ValueError, "3 processes can divide"),
        (lambda: ops.AlltoAll(3, 0, 1)(x), ValueError, "3 processes can divide"),
        (lambda: ops.AlltoAll(2, 0, 1), ValueError, "3, the size of the group"),
        (lambda: ops.AllReduce("max")(x.astype(ms.complex64)), TypeError, "real numbers"),
        (lambda: ops.Broadcast(3), ValueError, "from 0 to 2"),
        (lambda: communication.create_group("g", [0, 3]), ValueError, "from 0 to 2"),
        (lambda: communication.create_group("g", [0, 0]), ValueError, "different numbers"),
    ):
        try:
            call()
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{text}: nothing was raised")
