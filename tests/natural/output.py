# SPDX-License-Identifier: Apache-2.0
"""Printing, logging, warnings, progress bars: text that a user sees at every call."""

from __future__ import annotations

import logging
import pprint
import sys
import textwrap
import traceback
import warnings

import mycel as ms
from mycel import Parameter, nn, ops
from mycel.kernel.base import log as base_log
from natural.common import batch, effect_free, linear, log, program, vector, weight


@effect_free
def plain_text_printed(jit):
    @jit.step
    def step(x):
        print("forward of", "step", sep=" | ", end=" <\n")
        return ops.relu(x)

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def shape_printed(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        print(f"x {x.shape} {x.dtype}")
        return net(x)

    return (lambda i: step(batch(i))), lambda: None


@program
def counter_printed(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = 0

        @jit.construct
        def construct(self, x):
            print("call", self.calls)
            self.calls += 1
            return ops.relu(x)

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.calls


@program
def printed_every_fifth(jit):
    step_number = 0

    @jit.step
    def step(x):
        nonlocal step_number
        loss = (x * x).sum()
        if step_number % 5 == 0:
            print("step %d loss %.3f" % (step_number, loss))
        step_number += 1
        return loss

    return (lambda i: step(batch(i))), lambda: step_number


@program
def verbose_flag(jit):
    options = {"verbose": True}

    @jit.step
    def step(x):
        if options["verbose"]:
            print("relu of", x.shape)
        return ops.relu(x)

    def loop(i):
        options["verbose"] = i % 7 < 4
        return step(batch(i))

    return loop, lambda: options


@program
def values_printed(jit):
    w = Parameter(vector(), name="w")

    @jit.step
    def step(x):
        y = x * w
        print("sum:", y.sum(), "shape:", y.shape)
        w.set_data(w * 0.5)
        return y

    return (lambda i: step(batch(i))), lambda: w


@program
def logged_at_every_call(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        log.info("batch of %d rows", x.shape[0])
        return net(x)

    return (lambda i: step(batch(i))), lambda: None


class Collected(logging.Handler):
    """Keeps the lines of the log, with the functions that they name as their place."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage(), record.funcName))


def collected_from(name, jit):
    """The lines of a logger, which other programs use as well."""
    collected, logger = Collected(), logging.getLogger(name)
    jit.undo(logger.removeHandler, collected)
    logger.addHandler(collected)
    return collected.lines


@effect_free
def logged_as_mindspore_does(jit):
    lines = collected_from("mycel", jit)

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            ms.log.warning("batch of %d rows", x.shape[0])
            ms.log.info("not shown")
            return x * 2

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: lines


@effect_free
def logged_for_who_calls(jit):
    lines = collected_from("natural", jit)

    def told(text):
        log.warning(text, stacklevel=2)

    @jit.step
    def step(x):
        told("halved")
        return x * 0.5

    return (lambda i: step(batch(i))), lambda: lines


@effect_free
def an_older_name_is_told_of_once(jit):
    base_log._noted.clear()

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            return ops.split(x, axis=1, output_num=3)[1]

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None


@program
def level_of_the_logger(jit):
    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            log.debug("debugging %s", x.shape)
            if log.isEnabledFor(logging.DEBUG):
                return x * 0
            return x

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        log.setLevel(logging.DEBUG if i in (5, 6, 11) else logging.INFO)
        return step(batch(i))

    return loop, lambda: log.level


@program
def counted_by_a_handler(jit):
    class Count(logging.Handler):
        records = 0

        def emit(self, record):
            Count.records += 1

    log.addHandler(Count())

    @jit.step
    def step(x):
        log.warning("look at record %d", Count.records)
        return x * Count.records

    return (lambda i: step(batch(i))), lambda: Count.records


@program
def log_with_numbers(jit):
    history = []

    @jit.step
    def step(x):
        history.append(len(history) * 0.5)
        log.info("rate %.2f after %d", history[-1], len(history))
        return x * history[-1]

    return (lambda i: step(batch(i))), lambda: history


@program
def warned_at_every_call(jit):
    @jit.step
    def step(x):
        warnings.warn("this activation is old", DeprecationWarning)
        return ops.relu(x)

    return (lambda i: step(batch(i))), lambda: None


@program
def warned_when_large(jit):
    limit = 2

    @jit.step
    def step(x, k):
        if k > limit:
            warnings.warn(f"{k} is above {limit}")
            k = limit
        return x * k

    def loop(i):
        nonlocal limit
        limit = 2 + i // 7
        return step(batch(i), i % 4)

    return loop, lambda: limit


@program
def warned_once_by_a_flag(jit):
    class Net(nn.Cell):
        warned = False

        @jit.construct
        def construct(self, x):
            if not Net.warned:
                warnings.warn("only once")
                Net.warned = True
            return x + 1

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 8:
            Net.warned = False
        return step(batch(i))

    return loop, lambda: Net.warned


@program
def warnings_as_errors(jit):
    @jit.step
    def step(x, strict):
        with warnings.catch_warnings():
            warnings.simplefilter("error" if strict else "ignore")
            try:
                warnings.warn("shape is unusual", RuntimeWarning)
            except RuntimeWarning as caught:
                return x * 0, str(caught)
        return x

    return (lambda i: step(batch(i), i % 3 == 2)), lambda: None


@program
def own_progress_bar(jit):
    class Bar:
        def __init__(self, total, width=7):
            self.total, self.width, self.n = total, width, 0

        def update(self, n=1):
            self.n += n
            done = self.width * self.n // self.total
            sys.stderr.write("\r[" + "#" * done + "." * (self.width - done) + "]")
            sys.stderr.flush()

    bar = Bar(14)
    net = linear(jit)

    @jit.step
    def step(x):
        bar.update()
        return net(x).sum()

    return (lambda i: step(batch(i))), lambda: bar.n


@program
def written_to_stdout(jit):
    @jit.step
    def step(x):
        sys.stdout.write("rows: %d\n" % x.shape[0])
        return x.sum()

    return (lambda i: step(batch(i))), lambda: None


@program
def print_to_an_own_file(jit):
    class Tee:
        def __init__(self):
            self.lines = []

        def write(self, text):
            self.lines.append(text)

        def flush(self):
            self.lines.append("flush")

    tee = Tee()

    @jit.step
    def step(x):
        print("x", x.shape[0], file=tee, flush=True)
        return x + 1

    return (lambda i: step(batch(i))), lambda: tee.lines


@program
def print_rebound(jit):
    said = []

    def say(*words):
        said.append(words)

    talk = print

    @jit.step
    def step(x):
        talk("hello", len(said))
        return x * 1.5

    def loop(i):
        nonlocal talk
        talk = say if i % 6 > 3 else print
        return step(batch(i))

    return loop, lambda: said


@program
def pretty_printed_config(jit):
    config = {"scale": 1.0, "name": "run"}

    @jit.step
    def step(x):
        pprint.pprint(config)
        return x * config["scale"]

    def loop(i):
        if i == 7:
            config["scale"] = 2.0
        return step(batch(i))

    return loop, lambda: config


@program
def table_of_results(jit):
    rows = []

    @jit.step
    def step(x, name):
        rows.append(f"{name:>6}|{x.shape[0]:3d}|{len(rows):03d}")
        if len(rows) % 4 == 0:
            print(textwrap.indent("\n".join(rows[-4:]), "  "))
        return x.sum()

    return (lambda i: step(batch(i), ("train", "eval")[i % 2])), lambda: rows


@program
def text_built_from_values(jit):
    names = []

    @jit.step
    def step(x):
        names.append(f"n{int(x.sum() * 0) + len(names)}")
        return x, names[-1]

    return (lambda i: step(batch(i))), lambda: names


@program
def traceback_formatted(jit):
    failures = []

    @jit.step
    def step(x, k):
        try:
            return x * (1 / k)
        except ZeroDivisionError:
            failures.append(traceback.format_exc().splitlines()[-1])
            return x

    return (lambda i: step(batch(i), i % 3)), lambda: failures


@program
def text_of_a_layer(jit):
    class Layer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(), name="w")
            self.drop = 0.5

        def extend_repr(self):
            return f"drop={self.drop}"

        @jit.construct
        def construct(self, x):
            print(repr(self))
            return ops.matmul(x, self.w)

    net = Layer()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.drop = 0.5 if i < 7 else 0.25
        return step(batch(i))

    return loop, lambda: repr(net)


@program
def name_of_the_call(jit):
    seen = set()

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            name = sys._getframe().f_code.co_name
            if name not in seen:
                print("first", name)
                seen.add(name)
            return x * len(seen)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 9:
            seen.clear()
        return step(batch(i))

    return loop, lambda: sorted(seen)
