# SPDX-License-Identifier: Apache-2.0
"""Nothing grows: no cycles, and a bound on what is recorded but never read."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops


def make_step():
    w = Parameter(np.ones((8, 8), np.float32), name="w")
    derivative = ms.value_and_grad(lambda x: ops.tanh(ops.matmul(x, w)).sum(), None, [w])

    def step(x):
        loss, (gradient,) = derivative(x)
        w.set_data(w - gradient * 0.01)
        return loss

    return step


@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "jit"])
@pytest.mark.parametrize("read_every", [1, 10])
def test_steps_grow_no_objects_with_the_collector_off(compiled, read_every):
    step = ms.jit(make_step()) if compiled else make_step()
    x = Tensor(np.ones((4, 8), np.float32))

    def loop(count):
        for index in range(count):
            loss = step(x)
            if index % read_every == 0:
                float(loss)
        ms.flush()

    loop(20)
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        loop(100)
        grown = len(gc.get_objects()) - before
    finally:
        gc.enable()
    assert grown <= 10, f"{grown} objects in 100 steps"


def test_buffers_are_freed_without_the_collector():
    import jax

    step = make_step()
    x = Tensor(np.ones((4, 8), np.float32))
    for _ in range(5):
        float(step(x))
    gc.collect()
    gc.disable()
    try:
        before = len(jax.live_arrays())
        for _ in range(20):
            float(step(x))
        assert len(jax.live_arrays()) <= before + 2
    finally:
        gc.enable()


def test_a_million_operators_without_a_read_stay_within_bounds():
    from mycel.kernel.record.stream import MOST_OUTPUTS, current_stream

    x = Tensor(np.zeros(16, np.float32))
    most_recorded = 0
    compilations = None
    for index in range(1_000_000):
        x = x + 1
        if index % 10_000 == 0:
            most_recorded = max(most_recorded, len(current_stream().segment.outputs))
        if index == 20_000:
            compilations = ms.debug.ledger().counts.compilations
    assert most_recorded <= MOST_OUTPUTS + 1
    # Operator by operator, and when that took long enough as one program, made once.
    assert ms.debug.ledger().counts.compilations <= compilations + 1
    np.testing.assert_array_equal(x.asnumpy(), np.full(16, 1e6, np.float32))


def test_a_loop_that_only_brings_data_in_is_bounded_by_bytes(monkeypatch):
    from mycel.kernel.record import dispatch, stream

    monkeypatch.setattr(stream, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(dispatch, "MOST_BYTES", 1 << 20)
    kept = []
    for index in range(64):
        kept.append((Tensor(np.full(32768, index, np.float32)) * 2).sum())
        assert stream.current_stream().segment.bytes <= (1 << 20) + (1 << 18)
    assert [float(value) for value in kept] == [index * 65536.0 for index in range(64)]


def test_what_a_compiled_step_trains_ends_with_its_last_reference():
    """Networks made one after another, as in a search, do not wait for Python's garbage. Oracle:
    PyNative mode, in which nothing is left."""

    def trained():
        net = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 1))
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        derivative = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

        @ms.jit
        def step(x):
            loss, gradients = derivative(x)
            optimizer(gradients)
            return loss

        replays = ms.debug.ledger().counts.replays
        for _ in range(5):
            step(ops.ones((2, 4))).asnumpy()
        assert ms.debug.ledger().counts.replays > replays
        return weakref.ref(net), weakref.ref(optimizer)

    trained()
    gc.collect()
    gc.disable()
    try:
        assert [reference() for reference in trained()] == [None, None]
    finally:
        gc.enable()
