# SPDX-License-Identifier: Apache-2.0
"""State of the framework, of NumPy and of the interpreter that a program sets and reads."""

from __future__ import annotations

import gc
import locale
import logging
import math
import os
import signal
import sys
import tempfile

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, linear, log, program, vector


@program
def print_options_of_numpy(jit):
    options = np.get_printoptions()
    jit.undo(lambda: np.set_printoptions(**options))
    w = Parameter(vector(), name="w")

    @jit.step
    def step(x):
        print("y", x * w)
        return x * w

    def loop(i):
        if i == 6:
            np.set_printoptions(precision=1, suppress=True)
        return step(batch(i))

    return loop, lambda: None


@program
def text_of_an_array_by_options(jit):
    options = np.get_printoptions()
    jit.undo(lambda: np.set_printoptions(**options))
    table = np.array([1.0, 0.3333])

    @jit.step
    def step(x):
        return x * len(str(table))

    def loop(i):
        if i == 7:
            np.set_printoptions(precision=1)
        return step(batch(i))

    return loop, lambda: None


@program
def errors_of_numpy(jit):
    errors = np.geterr()
    jit.undo(lambda: np.seterr(**errors))
    np.seterr(all="ignore")
    zero = np.zeros(1)

    @jit.step
    def step(x):
        return x if math.isinf((1.0 / zero)[0]) else x * 2

    def loop(i):
        np.seterr(divide="raise" if i in (6, 9) else "ignore")
        return step(batch(i))

    return loop, lambda: None


@program
def arguments_of_the_script(jit):
    jit.undo(setattr, sys, "argv", sys.argv)
    sys.argv = ["train.py", "--scale=1"]

    @jit.step
    def step(x):
        options = dict(arg[2:].split("=") for arg in sys.argv[1:])
        return x * int(options["scale"])

    def loop(i):
        if i == 8:
            sys.argv = ["train.py", "--scale=3"]
        return step(batch(i))

    return loop, lambda: sys.argv


@program
def limit_of_recursion(jit):
    jit.undo(sys.setrecursionlimit, sys.getrecursionlimit())
    limit = sys.getrecursionlimit()

    @jit.step
    def step(x):
        return x * (2 if sys.getrecursionlimit() > limit else 1)

    def loop(i):
        if i == 7:
            sys.setrecursionlimit(limit + 10)
        return step(batch(i))

    return loop, lambda: None


@program
def folder_of_the_process(jit):
    before = os.getcwd()
    folder = os.path.realpath(tempfile.mkdtemp())
    jit.undo(os.rmdir, folder)
    jit.undo(os.chdir, before)

    @jit.step
    def step(x):
        return x * (2 if os.getcwd() == folder else 1)

    def loop(i):
        if i == 6:
            os.chdir(folder)
        return step(batch(i))

    return loop, lambda: None


@program
def existence_of_a_file(jit):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "stop")
    jit.undo(os.rmdir, folder)
    jit.undo(lambda: os.path.exists(path) and os.remove(path))

    @jit.step
    def step(x):
        if os.path.exists(path):
            return "stopped"
        return x + 1

    def loop(i):
        if i == 8:
            open(path, "w").close()
        return step(batch(i))

    return loop, lambda: None


@program
def collector_of_garbage(jit):
    jit.undo(gc.enable)

    @jit.step
    def step(x):
        return x * (1 if gc.isenabled() else 2)

    def loop(i):
        if i == 6:
            gc.disable()
        return step(batch(i))

    return loop, lambda: gc.isenabled()


@program
def logging_disabled(jit):
    jit.undo(logging.disable, logging.NOTSET)

    @jit.step
    def step(x):
        log.info("step of %d", x.shape[0])
        return x * (2 if log.isEnabledFor(logging.INFO) else 1)

    def loop(i):
        logging.disable(logging.INFO if i in (5, 6, 11) else logging.NOTSET)
        return step(batch(i))

    return loop, lambda: None


@program
def handler_of_a_signal(jit):
    stopped = []
    before = signal.signal(signal.SIGUSR1, lambda *_: stopped.append(True))
    jit.undo(signal.signal, signal.SIGUSR1, before)

    @jit.step
    def step(x):
        return "saved" if stopped else x * 2

    def loop(i):
        if i == 7:
            os.kill(os.getpid(), signal.SIGUSR1)
        if i == 11:
            stopped.clear()
        return step(batch(i))

    return loop, lambda: stopped


@program
def signal_sent_inside(jit):
    count = 0

    def handle(*_):
        nonlocal count
        count += 1

    jit.undo(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, handle))

    @jit.step
    def step(x):
        os.kill(os.getpid(), signal.SIGUSR1)
        return x + 1

    return (lambda i: step(batch(i))), lambda: count


@program
def decimal_point(jit):
    @jit.step
    def step(x):
        return x * len(locale.localeconv()["decimal_point"])

    return (lambda i: step(batch(i))), lambda: None


@program
def seed_set_inside(jit):
    @jit.step
    def step(x):
        ms.set_seed(7)
        return ops.dropout(x + 2, p=0.5, training=True)

    return (lambda i: step(batch(i))), lambda: np.random.rand()


@program
def generator_of_the_framework(jit):
    generator = ms.Generator()
    generator.manual_seed(3)

    @jit.step
    def step(x):
        return ops.relu(x) * ms.mint.rand((2, 3), generator=generator)

    def loop(i):
        if i == 8:
            generator.manual_seed(3)
        return step(batch(i))

    return loop, lambda: None


@program
def method_added_to_tensors(jit):
    jit.undo(lambda: delattr(Tensor, "scaled_for_test"))
    Tensor.scaled_for_test = lambda self: self * 2

    @jit.step
    def step(x):
        return x.scaled_for_test()

    def loop(i):
        if i == 7:
            Tensor.scaled_for_test = lambda self: self * 3
        return step(batch(i))

    return loop, lambda: None


@program
def method_of_tensors_patched(jit):
    original = Tensor.mean
    jit.undo(setattr, Tensor, "mean", original)

    @jit.step
    def step(x):
        return x.mean(0)

    def loop(i):
        if i == 6:
            Tensor.mean = lambda self, axis: original(self, axis) + 1
        return step(batch(i))

    return loop, lambda: None


@program
def function_of_the_library_patched(jit):
    jit.undo(setattr, math, "sqrt", math.sqrt)

    @jit.step
    def step(x):
        return x / math.sqrt(4)

    def loop(i):
        if i == 6:
            math.sqrt = lambda value: 1.0
        return step(batch(i))

    return loop, lambda: None


@program
def layer_class_replaced(jit):
    jit.undo(setattr, nn, "ReLU", nn.ReLU)

    @jit.step
    def step(x):
        return nn.ReLU()(x)

    def loop(i):
        if i == 7:
            nn.ReLU = nn.Tanh
        return step(batch(i))

    return loop, lambda: None


@program
def parameter_renamed(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        scale = 2.0 if net.weight.name.startswith("frozen") else 1.0
        return net(x) * scale

    def loop(i):
        if i == 6:
            net.weight.name = "frozen.weight"
        return step(batch(i))

    return loop, lambda: net.weight.name


@program
def field_of_a_parameter(jit):
    net = linear(jit)
    net.weight.lr_scale = 1.0

    @jit.step
    def step(x):
        w = net.weight
        w.set_data(w - 0.25 * w.lr_scale)
        return net(x)

    def loop(i):
        if i == 5:
            net.weight.lr_scale = 0.5
        if i == 9:
            del net.weight.lr_scale
        return step(batch(i))

    return loop, lambda: net.weight


@program
def names_of_parameters_read(jit):
    net = nn.SequentialCell(linear(jit), linear(jit, 0.5))
    decayed = {"0.weight"}

    @jit.step
    def step(x):
        for name, p in net.parameters_and_names():
            if name in decayed:
                p.set_data(p * 0.5)
        return net(x)

    def loop(i):
        if i == 6:
            decayed.add("1.weight")
        if i == 10:
            decayed.clear()
        return step(batch(i))

    return loop, lambda: sorted(decayed)


@program
def tensors_as_keys(jit):
    a, b = Parameter(vector(), name="a"), Parameter(vector(), name="b")
    steps = {id(a): 0, id(b): 0}

    @jit.step
    def step(x, first):
        p = a if first else b
        steps[id(p)] += 1
        return x * p * steps[id(p)]

    return (lambda i: step(batch(i), i % 3 == 0)), lambda: list(steps.values())


@program
def best_by_identity(jit):
    nets = [linear(jit), linear(jit, 2.0)]
    best = nets[0]

    @jit.step
    def step(x):
        return [net(x) * (10 if net is best else 1) for net in nets]

    def loop(i):
        nonlocal best
        best = nets[i // 5 % 2]
        return step(batch(i))

    return loop, lambda: None


@program
def loss_scale_of_the_library_replaced(jit):
    net = linear(jit)
    criterion = nn.MSELoss()

    @jit.step
    def step(x, y):
        return criterion(net(x), y)

    def loop(i):
        nonlocal criterion
        if i == 5:
            criterion = nn.L1Loss()
        if i == 10:
            criterion = nn.MSELoss(reduction="sum")
        return step(batch(i), batch(i + 1))

    return loop, lambda: type(criterion).__name__


@program
def attributes_of_library_layers(jit):
    net = nn.SequentialCell(nn.LeakyReLU(0.5), nn.Dropout(p=0.5))

    @jit.step
    def step(x):
        return net(x)

    def loop(i):
        if i == 5:
            net.set_train()
        if i == 8:
            net.set_train(False)
        if i == 10:
            net[0] = nn.LeakyReLU(0.25)
        return step(batch(i))

    return loop, lambda: net.training
