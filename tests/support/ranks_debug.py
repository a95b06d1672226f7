# SPDX-License-Identifier: Apache-2.0
"""The tools of `ms.debug` in two processes. Oracles: the same training without the tool, NumPy by
hand on what both processes have, and the record itself, run again by one process alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

import mycel as ms
from harness import execution
from mycel import communication, nn, ops
from mycel.debug.replaying import RecordedStep

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
MODES = ("fused", "graph")
ROWS = np.random.default_rng(0).normal(size=(8, 8, 4)).astype(np.float32)


def own(array) -> ms.Tensor:
    """The part of a batch that is this process's."""
    return ms.Tensor(np.split(array, SIZE)[RANK])


def training():
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    reducer = nn.DistributedGradReducer(net.trainable_params(), mean=True)
    sum_of_all = ops.AllReduce()
    derivative = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(reducer(gradients))
        return sum_of_all(loss) / SIZE

    return net, step


class Summed(nn.Cell):
    """A layer whose result is summed over processes."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 4)
        self.reduce = ops.AllReduce()

    def construct(self, x):
        return 2 * self.reduce(self.layer(x))


def check_losses_are_those_without_a_tool():
    tools = {
        "capture": lambda net: ms.debug.capture(net, "*", inputs=True, gradients=True),
        "patch": lambda net: ms.debug.patch(net, {"*": None}),
        "find_nan": lambda net: ms.debug.find_nan(),
        "record_steps": lambda net: ms.debug.record_steps(2, tempfile.mkdtemp()),
        "profile": lambda net: ms.debug.profile(),
        "profile direct": lambda net: ms.debug.profile(mode="direct"),
    }
    for mode in MODES:
        with execution(mode):
            _, step = training()
            plain = [float(step(own(rows))) for rows in ROWS]
            for name, tool in tools.items():
                net, step = training()
                found = [float(step(own(rows))) for rows in ROWS[:3]]
                with tool(net):
                    found += [float(step(own(rows))) for rows in ROWS[3:7]]
                found.append(float(step(own(ROWS[7]))))
                # Rounded otherwise: what else a program computes, XLA may fuse otherwise.
                np.testing.assert_allclose(found, plain, rtol=1e-5, err_msg=f"{name}, {mode}")


def check_values_and_gradients_of_operators_among_processes():
    for mode in MODES:
        with execution(mode):
            ms.set_seed(2)
            net = Summed()
            weight, bias = net.layer.weight.asnumpy(), net.layer.bias.asnumpy()
            derivative = ms.jit(ms.grad(lambda x, net=net: net(x).sum()))
            with ms.debug.capture(net, "", "layer", ":AllReduce*", gradients=True) as kept:
                for rows in ROWS:
                    derivative(own(rows))
            total = sum(np.split(ROWS[7], SIZE)) @ weight.T + SIZE * bias
            np.testing.assert_allclose(kept[":AllReduce(sum)"].asnumpy(), total, 1e-4, 1e-5)
            np.testing.assert_allclose(kept[""].asnumpy(), 2 * total, 1e-4, 1e-5)
            # What is differentiated is the sum of what all processes return.
            np.testing.assert_array_equal(kept.gradients["layer"].asnumpy(), 2.0 * SIZE)
            call = ms.jit(lambda x, net=net: net(x))
            with ms.debug.patch(net, {"layer": None}) as patched:
                for rows in ROWS:
                    call(own(rows))
                before = ms.debug.ledger().counts.compilations
                for value in (1.0, 2.0):
                    patched["layer"] = value
                    np.testing.assert_array_equal(call(own(ROWS[0])).asnumpy(), 4 * value)
                patched["layer"] = float(RANK)
                np.testing.assert_array_equal(call(own(ROWS[0])).asnumpy(), 2.0)
                assert ms.debug.ledger().counts.compilations == before


def check_a_process_alone_replays_what_was_received():
    for mode in MODES:
        with execution(mode), ms.debug.record_steps(2, tempfile.mkdtemp()) as recorded:
            _, step = training()
            for rows in ROWS:
                loss = float(step(own(rows)))
            path = recorded.write()[-1]
        step_again = RecordedStep(path)
        names = [node.operator for record in step_again.records for node in record.nodes]
        assert names.count("AllReduce(sum)") == 2, names
        for how in ("direct", "graph"):
            record, made = step_again.records[-1], step_again.run(how)[-1]
            values = [np.ravel(made[slot]) for slot in record.live if slot >= 0]
            near = [abs(value[0] - loss) <= 1e-5 * loss for value in values if value.size == 1]
            assert any(near), (mode, how, loss)
        assert step_again.first_difference(step_again, ("direct", "graph")) is None
        assert step_again.find_nan() is None
    alone = {k: v for k, v in os.environ.items() if not k.startswith(("RANK", "MS_", "MYCEL_C"))}
    done = subprocess.run(
        [sys.executable, "-m", "mycel", "replay", path, "--against", "graph"],
        env=alone, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def check_profiles_name_cells_in_both_modes():
    for mode in MODES:
        for how in ("xla", "direct"):
            with execution(mode):
                _, step = training()
                found = ms.debug.profile(step, own(ROWS[0]), steps=3, mode=how)
            cells = {cell.path: cell for cell in found.cells}
            dense = cells["SequentialCell.0"]
            assert dense.forward > 0 and dense.reverse > 0, (mode, how, found)
            assert dense.flops == 2 * 4 * 4 * 8 + 4 * 8, dense  # a product, and the bias
            among = [o for o in found.operators if "psum" in o.operator or "AllR" in o.operator]
            assert among and all(one.seconds > 0 for one in among), (mode, how, found)
            assert sum(one.calls for one in among) == 2, among


def check_the_others():
    net, _ = training()
    x = own(ROWS[0])
    assert ms.debug.compare(net, net, x).equal
    reduce = ops.AllReduce()
    ways = {
        "present": lambda x: reduce(net(x)).mean(),
        "cut": lambda x: reduce(ops.stop_gradient(net(x))).mean(),
    }
    for kind, loss in ways.items():
        assert ms.debug.why(net[0].weight, loss, x).kind == kind
    rows = ms.debug.summary(Summed(), x, watch=True).rows
    assert [row.output for row in rows] == ["Float32[4, 4]"] * 2, rows
    assert rows[0].flops > rows[1].flops > 0, rows
    assert rows[1].health is not None and rows[1].health.gradient, rows


def check_nan_of_one_process_is_told_by_all():
    """The last check: one process has begun a step that the other one ends."""
    for mode in MODES:
        with execution(mode):
            _, step = training()
            spoilt = ROWS.copy()
            spoilt[4, 0] = np.nan  # of the first process
            try:
                with ms.debug.find_nan():
                    for rows in spoilt:
                        float(step(own(rows)))
            except ms.debug.NonFiniteError as error:
                assert error.step == 5, error
                expected = "AllReduce(sum)" if RANK else ""
                assert error.operator == expected, error
                assert ("another one gave what is not" in str(error)) == bool(RANK), error
            else:
                raise AssertionError("no error")
