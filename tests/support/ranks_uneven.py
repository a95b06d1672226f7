# SPDX-License-Identifier: Apache-2.0
"""Operators among two or three processes that give each other different amounts.

Oracle: NumPy on the arrays of all, which every process makes from one seed. The gradient of a
process is that of the sum of what all processes return.
"""

from __future__ import annotations

import numpy as np

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import communication, ops
from mycel.communication import comm_func, writing
from mycel.mint import distributed

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
# How much each process sends to each: all differ, some nothing.
MATRIX = np.array([[1, 4, 0], [3, 0, 2], [5, 1, 2]])[:SIZE, :SIZE]
SIZES = [3, 0, 5][:SIZE] if SIZE == 3 else [2, 5]


def numbers(*shape, seed=0, dtype="float32"):
    """The same distinct numbers in all processes."""
    drawn = np.random.default_rng(seed).permutation(int(np.prod(shape)))
    return drawn.reshape(shape).astype(dtype)


def of_each(lengths, *rest, seed=0, dtype="float32"):
    """The array of each process, of so many rows each."""
    whole = numbers(sum(lengths), *rest, seed=seed, dtype=dtype)
    return np.split(whole, np.cumsum(lengths)[:-1])


def exchanged(arrays, matrix, rank):
    """What a process gets of these arrays."""
    parts = [np.split(a, np.cumsum(row)[:-1]) for a, row in zip(arrays, matrix, strict=True)]
    return np.concatenate([part[rank] for part in parts])


def equal(found, wanted):
    found = found.asnumpy()
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, (found, wanted)
    np.testing.assert_array_equal(found, wanted)


def everywhere(function, *inputs):
    """What a function of Tensors gives in PyNative and, recorded and replayed, in Graph mode."""
    for how in EXECUTIONS:
        with execution(how):
            run = ms.jit(function) if how == "graph" else function
            for _ in range(4 if how == "graph" else 1):
                found = run(*map(ms.Tensor, inputs))
        yield found


def refused(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"{text}: nothing was raised")


def check_all_to_all_v():
    sends, receives = MATRIX[RANK].tolist(), MATRIX[:, RANK].tolist()
    for block, dtype in ((1, "float32"), (2, "int64"), (3, "float16"), (1, "bool")):
        arrays = of_each(MATRIX.sum(1) * block, dtype=dtype)
        wanted = exchanged(arrays, MATRIX * block, RANK)
        run = ops.AlltoAllV(block_size=block)
        for found in everywhere(lambda x, run=run: run(x, sends, receives), arrays[RANK]):
            equal(found, wanted)
    # Numbers in Tensors, and an exchange in which nobody sends anything.
    given = [ms.Tensor(lengths) for lengths in (sends, receives)]
    equal(
        ops.AlltoAllV()(ms.Tensor(of_each(MATRIX.sum(1))[RANK]), *given),
        exchanged(of_each(MATRIX.sum(1)), MATRIX, RANK),
    )
    empty = [0] * SIZE
    equal(ops.AlltoAllV()(ms.Tensor(np.ones(0, np.float32)), empty, empty), np.ones(0, np.float32))


def check_lengths_that_change_from_call_to_call():
    """Also where this process's own do not, but those of the others do."""

    @ms.jit
    def run(x, sends, receives):
        return ops.AlltoAllV()(x * 2, sends, receives) + 1

    matrix = MATRIX.copy()
    for turn in range(6):
        matrix[SIZE - 1, SIZE - 1] = 20 * (turn % 3)
        arrays = of_each(matrix.sum(1), seed=turn)
        found = run(ms.Tensor(arrays[RANK]), matrix[RANK].tolist(), matrix[:, RANK].tolist())
        equal(found, 2 * exchanged(arrays, matrix, RANK) + 1)


def check_all_to_all_v_c():
    arrays = of_each(MATRIX.sum(1))
    for given in (MATRIX.tolist(), MATRIX.reshape(-1).tolist(), ms.Tensor(MATRIX)):
        for found in everywhere(lambda x, g=given: ops.AlltoAllVC()(x, g), arrays[RANK]):
            equal(found, exchanged(arrays, MATRIX, RANK))
    arrays = of_each(MATRIX.sum(0) * 2)
    found = ops.AlltoAllVC(block_size=2, transpose=True)(ms.Tensor(arrays[RANK]), MATRIX.tolist())
    equal(found, exchanged(arrays, MATRIX.T * 2, RANK))
    arrays = of_each(MATRIX.sum(1), 2)
    for write in (comm_func.all_to_all_v_c, ms.ops.communication.all_to_all_v_c):
        output = ops.zeros((int(MATRIX[:, RANK].sum()), 2))
        assert write(output, ms.Tensor(arrays[RANK]), MATRIX.reshape(-1).tolist()) is None
        equal(output, exchanged(arrays, MATRIX, RANK))


def check_all_gather_v():
    for dtype in ("float32", "int32", "bool"):
        arrays = of_each(SIZES, dtype=dtype)
        for found in everywhere(lambda x: ops.AllGatherV()(x, SIZES), arrays[RANK]):
            equal(found, np.concatenate(arrays))
    arrays = of_each(SIZES, 2, 1)
    output = ops.zeros((sum(SIZES), 2, 1))
    handle = distributed.all_gather_into_tensor_uneven(
        output, ms.Tensor(arrays[RANK]), SIZES, async_op=True
    )
    handle.wait()
    assert handle.is_completed()
    equal(output, np.concatenate(arrays))
    output = ops.zeros(2 * SIZE)
    assert distributed.all_gather_into_tensor_uneven(output, ops.ones(2) * RANK) is None
    equal(output, np.repeat(np.arange(SIZE), 2).astype(np.float32))


def check_reduce_scatter_v():
    arrays = [numbers(sum(SIZES), seed=rank) for rank in range(SIZE)]
    cut = slice(sum(SIZES[:RANK]), sum(SIZES[: RANK + 1]))
    reductions = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod, "avg": np.mean}
    for op, reduce in reductions.items():
        wanted = reduce(np.stack(arrays), 0)[cut]
        run = ops.ReduceScatterV(op)
        for found in everywhere(lambda x, run=run: run(x, SIZES), arrays[RANK]):
            np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)
    wide = [array[:, None] * np.ones(3, np.float32) for array in arrays]
    output = ops.zeros((SIZES[RANK], 3))
    distributed.reduce_scatter_tensor_uneven(output, ms.Tensor(wide[RANK]), SIZES, op="max")
    equal(output, np.max(wide, 0)[cut])
    output = ops.zeros(2)
    distributed.reduce_scatter_tensor_uneven(output, ops.ones(2 * SIZE))
    equal(output, np.full(2, SIZE, np.float32))


def check_gradients():
    """Oracle: each of these is linear, so its gradient is what it does, backwards."""
    arrays, weights = of_each(MATRIX.sum(1)), of_each(MATRIX.sum(0), seed=1)
    lists = MATRIX[RANK].tolist(), MATRIX[:, RANK].tolist()
    own, exchange = ms.Tensor(weights[RANK]), ops.AlltoAllV()
    for found in everywhere(ms.grad(lambda x: (exchange(x, *lists) * own).sum()), arrays[RANK]):
        equal(found, exchanged(weights, MATRIX.T, RANK))
    for found in everywhere(
        ms.grad(lambda x: (ops.AlltoAllVC()(x, MATRIX.tolist()) * own).sum()), arrays[RANK]
    ):
        equal(found, exchanged(weights, MATRIX.T, RANK))
    # Twice: of the sum of cubes, 6 x, which goes there and comes back.
    twice = ms.grad(lambda x: ms.grad(lambda x: (exchange(x, *lists) ** 3).sum())(x).sum())
    equal(twice(ms.Tensor(arrays[RANK])), 6 * arrays[RANK])

    cut = slice(sum(SIZES[:RANK]), sum(SIZES[: RANK + 1]))
    given, whole = of_each(SIZES), [numbers(sum(SIZES), seed=2 + rank) for rank in range(SIZE)]
    own_whole, own_part = ms.Tensor(whole[RANK]), ms.Tensor(given[RANK])
    gather, scatter = ops.AllGatherV(), ops.ReduceScatterV()
    for found in everywhere(ms.grad(lambda x: (gather(x, SIZES) * own_whole).sum()), given[RANK]):
        equal(found, np.sum(whole, 0)[cut])
    for found in everywhere(ms.grad(lambda x: (scatter(x, SIZES) * own_part).sum()), whole[RANK]):
        equal(found, np.concatenate(given))


def check_lists_of_tensors_of_different_shapes():
    shapes = [(), (2, 3), (1,)][:SIZE]
    given = [numbers(*shape, seed=rank) + 10 * rank for rank, shape in enumerate(shapes)]
    into = [ops.zeros(shape) for shape in shapes]
    distributed.all_gather(into, ms.Tensor(given[RANK]))
    for found, wanted in zip(into, given, strict=True):
        equal(found, wanted)
    output = ops.zeros(shapes[RANK])
    sent = [ms.Tensor(each * (RANK + 1)) for each in given]
    distributed.reduce_scatter(output, sent)
    equal(output, given[RANK] * np.float32(SIZE * (SIZE + 1) / 2))
    # Process s sends process d an array of shape (s + 1, d).
    come = [ops.zeros((s + 1, RANK)) for s in range(SIZE)]
    sent = [ops.ones((RANK + 1, d)) * (10 * RANK + d) for d in range(SIZE)]
    distributed.all_to_all(come, sent)
    results, _ = comm_func.all_to_all_with_output_shape(come, sent)
    for source in range(SIZE):
        wanted = np.full((source + 1, RANK), 10 * source + RANK, np.float32)
        equal(come[source], wanted)
        equal(results[source], wanted)


def check_rows_of_one_tensor():
    arrays = of_each(MATRIX.sum(1), 2)
    lists = MATRIX[:, RANK].tolist(), MATRIX[RANK].tolist()
    wanted = exchanged(arrays, MATRIX, RANK)
    output = ops.zeros(wanted.shape)
    distributed.all_to_all_single(output, ms.Tensor(arrays[RANK]), *lists)
    equal(output, wanted)
    for found in everywhere(
        lambda x: comm_func.all_to_all_single_with_output_shape(wanted.shape, x, *lists)[0],
        arrays[RANK],
    ):
        equal(found, wanted)
    even = ms.Tensor(np.arange(SIZE) + SIZE * RANK)
    found, handle = comm_func.all_to_all_single_with_output_shape((SIZE,), even, async_op=True)
    handle.wait()
    equal(found, np.arange(SIZE) * SIZE + RANK)


def check_writing_what_one_has():
    output = ops.zeros(2 * SIZE) - 1
    writing.gather_into_tensor(output, ops.ones(2) * RANK, dst=1)
    wanted = np.repeat(np.arange(SIZE), 2) if RANK == 1 else np.full(2 * SIZE, -1)
    equal(output, wanted.astype(np.float32))
    output = ops.zeros(2)
    sent = ms.Tensor(np.arange(2 * SIZE, dtype=np.float32)) if RANK == 1 else None
    writing.scatter_tensor(output, sent, src=1)
    equal(output, np.arange(2 * RANK, 2 * RANK + 2, dtype=np.float32))


def check_objects_from_one_to_another():
    after, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    distributed.send_object_list(["from", RANK, {1: 2}], dst=after)
    distributed.send_object_list([RANK], dst=after)
    found: list = [None, None, None]
    assert distributed.recv_object_list(found, src=before) == 0
    assert found == ["from", before, {1: 2}]
    refused(lambda: distributed.recv_object_list(found, before), ValueError, "must be 1 places")


def check_neighbours():
    # Everyone passes an array of its own length to the next process; the last one gets nothing.
    send, receive = [[(RANK + d) % SIZE] for d in (1, -1)]
    if RANK == 0:
        receive = []
    if RANK == SIZE - 1:
        send = []
    shapes = [[1 + rank, 2] for rank in range(SIZE)]
    pass_on = ops.NeighborExchange(
        send, receive, [shapes[rank] for rank in receive], [shapes[RANK] for _ in send], ms.float32
    )
    x = np.full(shapes[RANK], RANK, np.float32)
    for found in everywhere(lambda x: pass_on((x,) if send else ()), x):
        assert len(found) == len(receive)
        for each, rank in zip(found, receive, strict=True):
            equal(each, np.full(shapes[rank], rank, np.float32))


def check_a_batch_of_sending_and_receiving():
    """Each sends two Tensors to the next, and one to the one before; all begin with sending."""
    after, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    batch = ops.BatchISendIRecv(
        ["isend", "irecv", "isend", "isend", "irecv", "irecv"],
        [after, before, after, before, before, after],
        [(2,), (3, 1), ()],
        [ms.float32, ms.int32, ms.float32],
    )
    first, second = ms.Tensor([RANK, 1.0], ms.float32), ops.full((3, 1), RANK, dtype=ms.int32)
    if SIZE == 2:  # the other is before and after: its list says in which order they come
        wanted = [[before, 1.0], [[before]] * 3, before + 0.5]
    else:
        wanted = [[before, 1.0], [[before]] * 3, after + 0.5]

    def run(x):
        return batch((x, second, ms.Tensor(RANK + 0.5)))

    for found in everywhere(run, first.asnumpy()):
        assert found[0].shape == found[2].shape == found[3].shape == ()
        for index, right in zip((1, 4, 5), wanted, strict=True):
            assert found[index].asnumpy().tolist() == right, (index, found)
    # What comes counts rank + 1 times, so what was sent counts as often as the next one says.
    for found in everywhere(ms.grad(lambda x: run(x)[1].sum() * (RANK + 1)), first.asnumpy()):
        equal(found, np.full(2, after + 1, np.float32))


def check_edges_of_neighbours():
    """Oracle: an image, padded, of which each process has rows."""
    image = numbers(1, 2, 3 * SIZE, 4)
    above, below = RANK - 1, RANK + 1 if RANK + 1 < SIZE else -1
    around = [above, -1, -1, -1, below, -1, -1, -1]
    pass_on = ops.NeighborExchangeV2(around, [2, 1, 0, 0], around, [1, 2, 1, 0], "NCHW")
    padded = np.pad(image, ((0, 0), (0, 0), (1, 2), (1, 0)))
    own = slice(3 * RANK, 3 * RANK + 3)
    for found in everywhere(pass_on, image[:, :, own]):
        equal(found, padded[:, :, 3 * RANK : 3 * RANK + 6])
    # By each row comes how often it was used.
    found = ms.grad(lambda x: pass_on(x).sum())(ms.Tensor(image[:, :, own]))
    times = np.zeros(3 * SIZE)
    for rank in range(SIZE):
        used = np.arange(3 * rank - 1, 3 * rank + 5)
        times += np.bincount(used[(used >= 0) & (used < 3 * SIZE)], minlength=3 * SIZE)
    equal(found, np.broadcast_to(times[own, None], (1, 2, 3, 4)).astype(np.float32))


def check_corners_of_neighbours():
    """Two processes, the second of which is to the lower right. Oracle: NumPy."""
    pair = [0, 1]
    if RANK > 1:
        pair = [RANK]
    name = f"corner_{pair[0]}"
    communication.create_group(name, pair)
    around = [-1] * 8
    if RANK < 2:
        around[3 if RANK == 0 else 7] = 1 - RANK
    lens = [[0, 2, 0, 1], [2, 0, 1, 0]][RANK % 2]
    exchange = ops.NeighborExchangeV2(around, lens, around, lens, "NCHW", name)
    images = [numbers(1, 1, 3, 4, seed=rank) for rank in range(SIZE)]
    found = exchange(ms.Tensor(images[RANK])).asnumpy()[0, 0]
    wanted = np.zeros((5, 5), np.float32)
    if RANK % 2 == 0:
        wanted[:3, :4] = images[RANK][0, 0]
        wanted[3:, 4:] = images[1][0, 0, :2, :1] if RANK == 0 else 0
    else:
        wanted[2:, 1:] = images[1][0, 0]
        wanted[:2, :1] = images[0][0, 0, 1:, 3:]
    np.testing.assert_array_equal(found, wanted)
    communication.destroy_group(name)


def check_groups():
    """In a group whose order is turned."""
    turned = list(range(SIZE))[::-1]
    communication.create_group("turned", turned)
    position = communication.get_rank("turned")
    arrays = of_each(MATRIX.sum(1))
    exchange = ops.AlltoAllV("turned")
    lists = MATRIX[position].tolist(), MATRIX[:, position].tolist()
    equal(exchange(ms.Tensor(arrays[position]), *lists), exchanged(arrays, MATRIX, position))
    arrays = of_each(SIZES)
    found = ops.AllGatherV("turned")(ms.Tensor(arrays[position]), SIZES)
    equal(found, np.concatenate(arrays))
    communication.destroy_group("turned")


def check_errors_teach():
    x, more = ops.ones(4), [4] * SIZE
    refused(lambda: ops.AlltoAllV()(x, more, more), ValueError, f"must be {4 * SIZE} elements")
    refused(lambda: ops.AlltoAllV()(x, [4], more), ValueError, f"{SIZE} numbers, none below 0")
    refused(lambda: ops.AlltoAllV()(x.reshape(2, 2), more, more), ValueError, "reshape(-1)")
    refused(lambda: ops.AllGatherV()(x, [5] * SIZE), ValueError, "of 5 rows")
    refused(lambda: ops.ReduceScatterV()(x, [5] * SIZE), ValueError, f"of {5 * SIZE} rows")
    uneven = distributed.reduce_scatter_tensor_uneven
    refused(lambda: uneven(x, ops.ones(7)), ValueError, f"{SIZE} processes cannot divide")
    refused(lambda: uneven(x, ops.ones(SIZE)), ValueError, "of 1 rows, as the sizes")
    mixed = [ops.ones(2), *[ops.ones(2, ms.int32)] * (SIZE - 1)]
    refused(lambda: distributed.all_to_all(mixed, mixed), TypeError, "of one element type")
