# SPDX-License-Identifier: Apache-2.0
"""Threads record side by side: streams of their own, values that cross over."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.record.stream import machine


def train(seed: int, compiled: bool) -> list[np.ndarray]:
    """Twenty steps of a small net with dropout; the weights at the end."""
    draw = np.random.RandomState(seed)
    w1 = Parameter(draw.randn(8, 16).astype(np.float32) * 0.3, name="w1")
    w2 = Parameter(draw.randn(16, 1).astype(np.float32) * 0.3, name="w2")
    ms.set_seed(seed)

    def loss(x, y):
        hidden = ops.dropout(ops.tanh(ops.matmul(x, w1)), p=0.2, training=True)
        error = ops.matmul(hidden, w2) - y
        return (error * error).mean()

    derivative = ms.value_and_grad(loss, None, [w1, w2])

    def step(x, y):
        value, gradients = derivative(x, y)
        for weight, gradient in zip((w1, w2), gradients, strict=True):
            weight.set_data(weight - gradient * 0.1)
        return value

    run = ms.jit(step) if compiled else step
    for index in range(20):
        x = np.random.RandomState(1000 * seed + index).randn(4, 8).astype(np.float32)
        value = run(Tensor(x), Tensor(x.sum(1, keepdims=True)))
        if index % 7 == 0:
            float(value)
    return [w1.asnumpy(), w2.asnumpy()]


@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "jit"])
def test_four_threads_give_the_single_thread_results(compiled):
    expected = [train(seed, compiled) for seed in range(4)]
    results: dict[int, object] = {}

    def work(seed):
        try:
            results[seed] = train(seed, compiled)
        except BaseException as error:
            results[seed] = error

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(4):
        result = results[seed]
        assert not isinstance(result, BaseException), result
        for mine, theirs in zip(result, expected[seed], strict=True):
            np.testing.assert_allclose(mine, theirs, 2e-5, 1e-6)


def test_another_thread_reads_a_pending_value():
    x = Tensor(np.arange(4, dtype=np.float32))
    pending = x * 2 + 1
    seen = []
    thread = threading.Thread(target=lambda: seen.append((pending * 3).asnumpy()))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(seen[0], (np.arange(4) * 2 + 1) * 3)
    np.testing.assert_array_equal(pending.asnumpy(), np.arange(4) * 2 + 1)


def test_values_are_read_while_their_thread_goes_on_recording():
    produced: list = []
    stop = threading.Event()
    problems: list = []

    def produce():
        x = Tensor(np.float32(0.0))
        for index in range(3000):
            x = x + 1
            produced.append((index + 1, x))
        stop.set()

    def consume():
        position = 0
        while not stop.is_set() or position < len(produced):
            if position < len(produced):
                expected, value = produced[position]
                if float(value) != expected:
                    problems.append((expected, float(value)))
                position += 97

    threads = [threading.Thread(target=produce), threading.Thread(target=consume)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def _results_in_turns(function, others):
    """What a function gives here, and compiled in a thread of its own, by call."""
    compiled, results = ms.jit(function), []
    with ThreadPoolExecutor(1) as pool:
        for arguments in others(pool):
            seen = pool.submit(compiled, *arguments).result()
            results.append((seen.asnumpy(), function(*arguments).asnumpy()))
    return results


def test_what_another_thread_has_pending_is_not_left_out():
    """Oracle: PyNative. JAX took an input without an array for an argument left out: no bias."""
    layer = nn.Dense(2, 1, weight_init="ones", bias_init=Tensor([7.0]))
    x = Tensor(np.ones((1, 2), np.float32))

    def changing_bias(pool):
        for _ in range(6):
            yield (x,)
            layer.bias.set_data(layer.bias + 1.0)

    def loss(logits, weights):
        return ops.cross_entropy(logits, Tensor([0, 1], ms.int32), weights)

    def fresh_weights(pool):
        for step in range(6):
            logits = Tensor(np.sin(np.arange(8.0).reshape(2, 4) * step).astype(np.float32))
            yield logits, Tensor(np.arange(4, dtype=np.float32)) + step

    for function, others in ((lambda x: layer(x), changing_bias), (loss, fresh_weights)):
        before = ms.debug.ledger().counts.replays
        for compiled, plain in _results_in_turns(function, others):
            np.testing.assert_allclose(compiled, plain, rtol=1e-6)
        assert ms.debug.ledger().counts.replays - before >= 3


def test_many_threads_call_one_compiled_function():
    """Oracle: PyNative. Each thread reorders what is remembered."""
    flags = threading.local()

    def function(x):
        return x * 2 if flags.twice else x * 3

    compiled, wrong = ms.jit(function), []

    def work(twice):
        flags.twice = twice
        for number in range(30):
            expected = number * (2 if twice else 3)
            if float(compiled(Tensor(float(number)))) != expected:
                wrong.append((twice, number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [True, False, True, False]))
    assert not wrong


@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "jit"])
def test_batches_of_another_thread_cost_the_same_however_many_there_were(compiled):
    """Each operator of theirs runs a few times at most: all of them were decoded for each batch.
    Oracle for the numbers: NumPy."""
    rows, made = np.arange(8, dtype=np.float32).reshape(4, 2), queue.Queue(4)

    def work():
        for number in range(300):
            made.put(Tensor(rows) * number)

    decoded = []

    def run_by_operator(key, *rest):
        decoded.append(len(key))
        return machine_runs(key, *rest)

    machine_runs = machine.run_by_operator
    function = ms.jit(lambda x: x.sum()) if compiled else (lambda x: x.sum())
    worker = threading.Thread(target=work)
    machine.run_by_operator = run_by_operator
    try:
        worker.start()
        for number in range(300):
            assert float(function(made.get())) == rows.sum() * number
    finally:
        machine.run_by_operator = machine_runs
        worker.join()
    assert sum(decoded) <= 300 * 40


def test_a_thread_that_computes_when_the_program_ends():
    """Python ends it wherever it is: within XLA the process was aborted."""
    program = (
        "import threading, mycel as ms\n"
        "def work():\n"
        "    while True:\n"
        "        (ms.Tensor([1.0, 2.0]) * 2).asnumpy()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "print((ms.Tensor([1.0, 2.0]) * 3).sum())\n"
    )
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert (ended.returncode, ended.stdout) == (0, "9.0\n"), ended.stderr


@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "jit"])
def test_derivatives_of_one_net_in_several_threads(compiled):
    """Recording in one thread leaves what another one differentiates by. Oracle: arithmetic."""
    switches, found = sys.getswitchinterval(), []
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(6):
            net = nn.Dense(4, 4, weight_init="ones")

            def loss(x, net=net):
                float(x.sum())  # the record is cut here
                return net(x).sum()

            step = ms.value_and_grad(loss, None, net.trainable_params())
            step = ms.jit(step) if compiled else step
            looks = ms.jit(lambda x, net=net: (float(x.sum()), net(x))[1])
            x = np.ones((3, 4), np.float32)

            def work(step=step, x=x):
                found.extend(step(Tensor(x))[1][0].asnumpy() for _ in range(7))

            def look(looks=looks, x=x):
                for _ in range(10):
                    looks(Tensor(x)).asnumpy()

            threads = [threading.Thread(target=run) for run in (work, work, work, look)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(switches)
    assert len(found) == 6 * 3 * 7
    assert [gradient for gradient in found if (gradient != 3).any()] == []


def in_thread(function):
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function).result(60)


def drawn_in_turns(draw):
    """Two threads that draw in turns, one of them in between, after the same seed."""
    ms.set_seed(7)
    x = Tensor(np.ones(64, np.float32))

    def several():
        return [draw(x).asnumpy().tobytes() for _ in range(4)]

    return [*several(), *in_thread(several), *several(), *in_thread(several)]


@pytest.mark.parametrize("draw", [lambda x: ops.dropout(x, 0.5), nn.Dropout(p=0.5).set_train()])
def test_a_compiled_function_draws_from_the_generator_of_the_thread_that_calls_it(draw):
    """Oracle: the same in PyNative; no two draws are alike."""
    expected = drawn_in_turns(draw)
    assert len({*expected}) == len(expected)
    compiled = ms.jit(lambda x: draw(x))
    assert drawn_in_turns(compiled) == expected


def test_threads_that_draw_at_once_draw_other_numbers():
    ms.set_seed(7)
    x = Tensor(np.ones(256, np.float32))
    compiled = ms.jit(lambda x: ops.dropout(x, 0.5))
    with ThreadPoolExecutor(4) as executor:
        drawn = [*executor.map(lambda _: compiled(x).asnumpy().tobytes(), range(64))]
    assert len({*drawn}) == 64


def test_no_step_of_several_threads_is_lost():
    net = nn.Dense(4, 1, weight_init="zeros", has_bias=False)
    optimizer = nn.SGD(net.trainable_params(), 1.0)
    derivative = ms.value_and_grad(lambda x: -net(x).sum(), None, optimizer.parameters)
    step = ms.jit(lambda x: optimizer(derivative(x)[1]))
    x = Tensor(np.ones((1, 4), np.float32))
    for _ in range(4):
        step(x)
    with ThreadPoolExecutor(4) as executor:
        assert len([*executor.map(lambda _: step(x), range(96))]) == 96
    assert net.weight.asnumpy()[0, 0] == 100


def test_packages_may_be_loaded_by_several_threads():
    program = """
import concurrent.futures as cf, sys
import mycel as ms
names = ["Model", "load_checkpoint", "export", "vmap", "SummaryRecord", "amp", "dataset", "mint"]
with cf.ThreadPoolExecutor(8) as executor:
    print(len([*executor.map(lambda name: getattr(ms, name), names)]))
"""
    command = [sys.executable, "-c", program]
    for _ in range(3):
        made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (made.stdout, made.returncode) == ("8\n", 0), made.stderr
