# SPDX-License-Identifier: Apache-2.0
"""Two processes that look, print, hook and cut differently, and what they send to each other.

Oracle: NumPy on the arrays of both.
"""

from __future__ import annotations

import random

import numpy as np

import mycel as ms
from harness import execution
from mycel import communication, nn, ops
from mycel.communication import comm_func
from mycel.kernel.base import processes
from mycel.mint import distributed
from mycel.nn.reducing import broadcast_parameters

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
OTHER = 1 - RANK
BOTH = [np.arange(4, dtype=np.float32) + 10 * rank for rank in range(SIZE)]
PROGRAMS = 100


def own():
    return ms.Tensor(BOTH[RANK])


def equal(found, wanted):
    np.testing.assert_array_equal(found.asnumpy(), wanted)


def check_mint_writes_into_tensors():
    x = own()
    assert distributed.all_reduce(x) is None
    equal(x, BOTH[0] + BOTH[1])
    gathered = [ops.zeros(4), ops.zeros(4)]
    handle = distributed.all_gather(gathered, own(), async_op=True)
    handle.wait()
    assert handle.is_completed()
    for found, wanted in zip(gathered, BOTH, strict=True):
        equal(found, wanted)
    joined = ops.zeros(8)
    distributed.all_gather_into_tensor(joined, own())
    equal(joined, np.concatenate(BOTH))
    part = ops.zeros(2)
    distributed.reduce_scatter_tensor(part, own())
    equal(part, np.split(BOTH[0] + BOTH[1], 2)[RANK])
    part = ops.zeros(4)
    distributed.reduce_scatter(part, [own(), own() + 1])
    equal(part, BOTH[0] + BOTH[1] + 2 * RANK)
    for dst in range(SIZE):
        x = own()
        distributed.reduce(x, dst)
        equal(x, BOTH[0] + BOTH[1] if dst == RANK else BOTH[RANK])
    x = own()
    distributed.broadcast(x, 1)
    equal(x, BOTH[1])
    into = [ops.zeros(4), ops.zeros(4)] if RANK == 1 else None
    distributed.gather(own(), into, dst=1)
    for found, wanted in zip(into or [], BOTH, strict=RANK == 1):
        equal(found, wanted)
    x = ops.zeros(4)
    distributed.scatter(x, [ms.Tensor(b) for b in BOTH] if RANK == 0 else None, src=0)
    equal(x, BOTH[RANK])
    distributed.barrier()


def check_all_to_all():
    # Process r sends rows r, r + 1 … of lengths that differ; oracle: who sent what.
    sent = [ms.Tensor(np.full(1 + RANK + dst, 10 * RANK + dst, np.float32)) for dst in (0, 1)]
    come = [ops.zeros(1 + src + RANK) for src in (0, 1)]
    distributed.all_to_all(come, sent)
    for src, found in enumerate(come):
        equal(found, np.full(1 + src + RANK, 10 * src + RANK, np.float32))
    found, _ = comm_func.all_to_all_with_output_shape([(1 + s + RANK,) for s in (0, 1)], sent)
    for src in (0, 1):
        equal(found[src], np.full(1 + src + RANK, 10 * src + RANK, np.float32))
    output = ops.zeros(4)
    distributed.all_to_all_single(output, own())
    equal(output, np.concatenate([np.split(b, 2)[RANK] for b in BOTH]))
    output = ops.zeros((3, 5)[RANK])
    distributed.all_to_all_single(output, own(), [(2, 1), (2, 3)][RANK], [(2, 2), (1, 3)][RANK])
    equal(output, np.concatenate([BOTH[0][:2], BOTH[1][:1]] if RANK == 0
                                 else [BOTH[0][2:], BOTH[1][1:]]))  # fmt: skip


def check_sending_and_receiving():
    distributed.send(own(), OTHER)
    distributed.send(own() * 2, OTHER, tag=7)
    x = ops.zeros(4)
    assert distributed.recv(x, OTHER, tag=7) == OTHER
    equal(x, 2 * BOTH[OTHER])
    equal(comm_func.recv(x, OTHER), BOTH[OTHER])
    first, second = ops.zeros(4), ops.zeros(4)
    handles = [distributed.irecv(first, OTHER), distributed.irecv(second, OTHER)]
    assert not handles[0].is_completed()
    for factor in (3, 4):
        comm_func.isend(own() * factor, OTHER).wait()
    handles[1].wait()
    handles[0].wait()
    equal(first, 3 * BOTH[OTHER])
    equal(second, 4 * BOTH[OTHER])
    come = comm_func.batch_isend_irecv([
        comm_func.P2POp("irecv", ops.zeros(4), OTHER), comm_func.P2POp("isend", own(), OTHER),
    ])  # fmt: skip
    equal(come[0], BOTH[OTHER])


def check_a_batch_of_sending_and_receiving_writes_into_tensors():
    into = [ops.zeros(4), ops.zeros(4)]
    P2POp = distributed.P2POp
    handles = distributed.batch_isend_irecv(
        [
            P2POp(distributed.irecv, into[0], OTHER),
            P2POp("isend", own(), OTHER),
            P2POp("irecv", into[1], OTHER),
            P2POp(distributed.isend, own() * 2, OTHER),
        ]
    )
    assert [handle.wait() for handle in handles] == [None] * 4
    for factor, found in enumerate(into, 1):
        equal(found, factor * BOTH[OTHER])


def check_parts_are_written_into_the_whole():
    """Oracle: NumPy's parts."""
    whole, total = ops.zeros((3, 4)), BOTH[0] + BOTH[1]
    whole[1] = own()
    distributed.all_reduce(whole[1])
    distributed.send(own(), OTHER)
    distributed.recv(whole[2], OTHER)
    equal(whole, np.stack([0 * total, total, BOTH[OTHER]]))
    distributed.all_gather([whole[0], whole[1]], own())
    equal(whole[:2], np.stack(BOTH))


def check_gradients_of_a_process_of_its_own_stay():
    """Oracle: MindSpore's document of `layerwise_parallel`."""
    mine = ms.Parameter(own(), name="mine", layerwise_parallel=True)
    common = ms.Parameter(own(), name="common")
    reducer = nn.DistributedGradReducer([mine, common], True)
    first, second = reducer((own(), own()))
    equal(first, BOTH[RANK])
    equal(second, (BOTH[0] + BOTH[1]) / 2)
    broadcast_parameters([mine, common])
    equal(mine, BOTH[RANK])
    equal(common, BOTH[0])


def check_send_and_receive_have_gradients():
    """Process 0 gives x², process 1 takes the sum of three times its square. With y = x² that is
    3 y², so the gradient by x is 6 y 2 x = 12 x³; that of process 1 by a factor c, at c = 2, of
    the sum of c 3 y² is the sum of 3 y²."""
    communication.create_group("turned", [1, 0])

    def first(x):
        return ops.Send(3, 0, "turned")(x * x).sum()

    def second(factor):
        y = ops.Receive(3, 1, (4,), ms.float32, "turned")()
        return (factor / 2 * 3 * y * y).sum()

    def unneeded(x):
        """What is received is in what is differentiated, but depends on nothing there."""
        if RANK == 1:
            return ops.Receive(0, 0, [4], ms.float32)(x).sum() + (x * x).sum()
        return ops.depend(x, ops.Send(0, 1)(x * 3)).sum()

    x = BOTH[0] + 1
    for how in ("fused", "graph"):
        with execution(how):
            for step in range(4):
                now = x + step
                if RANK == 0:
                    value, gradient = ms.value_and_grad(first)(ms.Tensor(now))
                    assert float(value) == 0
                    np.testing.assert_allclose(gradient.asnumpy(), 12 * now**3, 1e-6)
                else:
                    value, gradient = ms.value_and_grad(second)(ms.Tensor(2.0))
                    np.testing.assert_allclose(float(value), (3 * now**4).sum(), 1e-6)
                    np.testing.assert_allclose(float(gradient), (1.5 * now**4).sum(), 1e-6)
                value, gradient = ms.value_and_grad(unneeded)(own())
                if RANK == 0:
                    equal(gradient, np.full(4, 4, np.float32))
                else:
                    equal(gradient, 2 * BOTH[1])
                    assert float(value) == 3 * BOTH[0].sum() + (BOTH[1] ** 2).sum()
    communication.destroy_group("turned")


def check_what_cannot_be_sent_is_explained():
    for make, kind, text in (
        (lambda: ops.Send(0, RANK), ValueError, "number of another process"),
        (lambda: ops.Receive(0, 2, (1,), ms.float32), ValueError, "from 0 to 1"),
        (lambda: ops.Send("a", OTHER), TypeError, "sr_tag must be an integer"),
        (lambda: ops.Send(0, OTHER)(3.0), TypeError, "Send: input_x must be a Tensor"),
    ):
        try:
            make()
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"nothing said that {text}")


def check_objects():
    found = [None] * SIZE
    distributed.all_gather_object(found, {"rank": RANK})
    assert found == [{"rank": 0}, {"rank": 1}]
    things = [f"from {RANK}", RANK]
    distributed.broadcast_object_list(things, src=1)
    assert things == ["from 1", 1]
    one = [None]
    distributed.scatter_object_list(one, ["a", "b"] if RANK == 0 else None, src=0)
    assert one == ["ab"[RANK]]
    into = [None] * SIZE
    distributed.gather_object(RANK, into if RANK == 0 else None, dst=0)
    assert into == ([0, 1] if RANK == 0 else [None, None])


def check_groups_of_mint():
    group = distributed.new_group([1])
    assert distributed.get_world_size(group) == 1
    assert distributed.get_global_rank(group, 0) == 1
    x = own()
    if RANK == 1:
        distributed.all_reduce(x, group=group)
    equal(x, BOTH[RANK])
    distributed.destroy_process_group(group)


def check_hooks_and_prints_of_one():
    seen = []

    class Net(ms.nn.Cell):
        def construct(self, x):
            return (ops.AllReduce()(x * x) * (RANK + 1)).sum()

    # d loss / dx = 2 x times the sum over processes of rank + 1.
    for how in ("fused", "graph"):
        with execution(how):
            net = Net()
            if RANK == 0:
                net.register_forward_hook(lambda cell, inputs, output: seen.append(float(output)))
                net.register_backward_hook(lambda cell, grad_in, grad_out: None)
            for step in range(6):
                x = own() + step
                gradient = ms.grad(net)(x)
                if step % 2 == RANK:
                    print(gradient)
                equal(gradient, 2 * (BOTH[RANK] + step) * 3)
    if RANK == 0:
        wanted = [float(((BOTH[0] + s) ** 2 + (BOTH[1] + s) ** 2).sum()) for s in range(6)]
        assert seen == wanted * 2, seen


def check_guards_of_one():
    """A branch on a value of one process: its replay is dropped, and communicates once."""

    @ms.jit
    def step(x, limit):
        total = ops.AllReduce()(x)
        if float((x * limit).sum()) > 0:
            total = total + 1
        again = ops.AllReduce("max")(total)
        if float((again * limit).sum()) > 1e6:
            again = again - 1
        return ops.AllReduce()(again * 2)

    for number in range(12):
        # The sign changes at other steps in the other process.
        sign = [1.0, -1.0][number // (3 + RANK) % 2]
        found = step(own() + 1, ms.Tensor(sign))
        signs = [[1.0, -1.0][number // (3 + rank) % 2] for rank in range(SIZE)]
        total = BOTH[0] + BOTH[1] + 2
        most = np.maximum(*[total + (sign > 0) for sign in signs])
        equal(found, 4 * most)


def random_program(number):
    """Steps that both take, and what NumPy makes of them; where each looks is its own."""
    both = random.Random(number)
    alone = random.Random(1000 * (RANK + 1) + number)
    steps = [both.choice(["sum", "max", "gather", "scale", "shift"]) for _ in range(8)]

    def run(x):
        for step in steps:
            if step in ("sum", "max"):
                x = ops.AllReduce(step)(x) * 0.25
            elif step == "gather":
                x = ops.AllGather()(x)[1:5]
            else:
                x = x * 0.5 if step == "scale" else x + 1
            look = alone.random()
            if look < 0.2:
                float(x.sum())
            elif look < 0.3:
                str(x)
            elif look < 0.4:
                ms.flush()
        return x

    def wanted(arrays):
        for step in steps:
            if step in ("sum", "max"):
                reduce = np.add if step == "sum" else np.maximum
                arrays = [reduce(*arrays) * np.float32(0.25)] * 2
            elif step == "gather":
                arrays = [np.concatenate(arrays)[1:5]] * 2
            elif step == "scale":
                arrays = [array * np.float32(0.5) for array in arrays]
            else:
                arrays = [array + 1 for array in arrays]
        return arrays[RANK]

    return run, wanted


def check_random_programs():
    for number in range(PROGRAMS):
        run, wanted = random_program(number)
        if number % 4 == 0:  # compiled in one process and not in the other, or in both
            run = ms.jit(run) if random.Random(RANK + number).random() < 0.7 else run
        for _ in range(4 if number % 4 == 0 else 1):
            found = run(own())
        np.testing.assert_allclose(found.asnumpy(), wanted(BOTH), rtol=1e-6, err_msg=str(number))


def check_launched_python_is_no_rank():
    assert processes.asked() is not None
    assert processes.count() == SIZE and processes.number() == RANK
