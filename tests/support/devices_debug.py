# SPDX-License-Identifier: Apache-2.0
"""The tools of `ms.debug` on eight devices of one process. Oracle: the same program on one device
and NumPy by hand; the recorded step, run again."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import nn, ops
from mycel.debug.replaying import RecordedStep

MODES = ("fused", "graph")
ROWS = np.random.default_rng(0).normal(size=(6, 16, 8)).astype(np.float32)


class Wide(nn.Cell):
    """Two products; their weights are divided among 4 devices, the rows among 2."""

    def __init__(self):
        super().__init__()
        numbers = np.random.default_rng(1).normal(size=(2, 8, 16)).astype(np.float32) / 4
        self.up = ms.Parameter(ms.Tensor(numbers[0]), name="up")
        self.down = ms.Parameter(ms.Tensor(numbers[1].T), name="down")
        self.act = nn.Tanh()
        self.first = ops.MatMul().shard(((2, 1), (1, 4)))
        self.second = ops.MatMul().shard(((2, 4), (4, 1)), ((2, 1),))

    def construct(self, x):
        return self.second(self.act(self.first(x, self.up)), self.down)


def training(divided: bool = True):
    ms.flush()
    ms.reset_auto_parallel_context()
    if divided:
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8)
    net = Wide()
    loss = nn.WithLossCell(net, nn.MSELoss())
    return net, nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1))


def run(step, rows) -> list[float]:
    return [float(step(ms.Tensor(x), ms.Tensor(x[:, ::-1].copy()))) for x in rows]


def check_losses_are_those_of_one_device_without_a_tool():
    tools = {
        "capture": lambda net: ms.debug.capture(net, "**", inputs=True, gradients=True),
        "capture operators": lambda net: ms.debug.capture(net, "**:*"),
        "patch": lambda net: ms.debug.patch(net, {"act": None}),
        "find_nan": lambda net: ms.debug.find_nan(),
        "record_steps": lambda net: ms.debug.record_steps(1, tempfile.mkdtemp()),
        "profile": lambda net: ms.debug.profile(),
        "profile direct": lambda net: ms.debug.profile(mode="direct"),
    }
    for mode in MODES:
        with execution(mode):
            alone = run(training(divided=False)[1], ROWS)
            for name, tool in tools.items():
                net, step = training()
                found = run(step, ROWS[:1])
                with tool(net):
                    found += run(step, ROWS[1:5])
                found += run(step, ROWS[5:])
                np.testing.assert_allclose(found, alone, rtol=2e-5, err_msg=f"{name}, {mode}")


def check_whole_values_are_captured_and_patched():
    for mode in MODES:
        with execution(mode):
            net, step = training()
            up, down = net.up.asnumpy(), net.down.asnumpy()
            with ms.debug.capture(net, "act", inputs=True, gradients=True) as kept:
                run(step, ROWS[:1])
            by_hand = np.tanh(ROWS[0] @ up)
            np.testing.assert_allclose(kept["act"].asnumpy(), by_hand, 1e-4, 1e-5)
            np.testing.assert_allclose(kept.inputs["act"].asnumpy(), ROWS[0] @ up, 1e-4, 1e-5)
            apart = by_hand @ down - ROWS[0][:, ::-1]
            wanted = 2 * apart / apart.size @ down.T
            np.testing.assert_allclose(kept.gradients["act"].asnumpy(), wanted, 1e-4, 1e-5)
            net, _ = training()
            call = ms.jit(lambda x, net=net: net(x))
            x = ms.Tensor(ROWS[0])
            with ms.debug.patch(net, {"act": None}) as patched:
                for _ in range(4):
                    np.testing.assert_allclose(call(x).asnumpy(), by_hand @ down, 1e-4, 1e-5)
                # What is put in lies elsewhere than what is made: one more program, once.
                patched["act"] = 0.5
                call(x).asnumpy()
                before = ms.debug.ledger().counts.compilations
                for unit in range(4):
                    patched["act"] = (np.s_[:, unit], 0.5)
                    changed = by_hand.copy()
                    changed[:, unit] = 0.5
                    np.testing.assert_allclose(call(x).asnumpy(), changed @ down, 1e-4, 1e-5)
                assert ms.debug.ledger().counts.compilations == before


def check_nan_and_its_element():
    for mode in MODES:
        with execution(mode):
            net, step = training()
            spoilt = ROWS.copy()
            spoilt[4, 11, 3] = np.inf
            weights = []
            try:
                with ms.debug.find_nan():
                    for rows in spoilt:
                        weights.append(net.up.asnumpy())
                        run(step, [rows])
            except ms.debug.NonFiniteError as error:
                assert error.step == 5 and error.batch == 11, error
            else:
                raise AssertionError("no error")
            np.testing.assert_array_equal(net.up.asnumpy(), weights[4])


def check_a_step_is_replayed_on_one_device():
    for mode in MODES:
        with execution(mode), ms.debug.record_steps(1, tempfile.mkdtemp()) as recorded:
            _, step = training()
            loss = run(step, ROWS)[-1]
            path = recorded.write()[-1]
        again = RecordedStep(path)
        for how in ("direct", "graph"):
            record, made = again.records[-1], again.run(how)[-1]
            values = [np.ravel(made[slot]) for slot in record.live if slot >= 0]
            assert any(v.size == 1 and abs(v[0] - loss) <= 1e-5 * loss for v in values), (mode, how)
        assert again.first_difference(again, ("direct", "graph")) is None


def check_profiles_name_cells():
    for mode in MODES:
        for how in ("xla", "direct"):
            with execution(mode):
                _, step = training()
                x = ms.Tensor(ROWS[0])
                found = ms.debug.profile(step, x, x, steps=3, mode=how)
            names = {one.operator: one for one in found.operators if one.phase == "forward"}
            assert names["tanh"].seconds > 0 and names["MatMul"].seconds > 0, (mode, how, found)
            assert names["MatMul"].calls == 2, found
            assert found.parts["operators"] > 0, found.parts


def check_the_others():
    net, _ = training()
    x = ms.Tensor(ROWS[0])
    assert ms.debug.compare(net, net, x).equal
    assert ms.debug.why(net.up, lambda x: net(x).sum(), x).kind == "present"
    found = ms.debug.why(net.up, lambda x: ops.stop_gradient(net(x)).sum(), x)
    assert found.kind == "cut" and found.cuts[0].operator == "stop_gradient", found
    rows = ms.debug.summary(net, x, watch=True).rows
    assert [row.output for row in rows] == ["Float32[16, 8]", "Float32[16, 16]"], rows
    assert rows[0].health is not None and rows[0].health.gradient, rows
    assert rows[0].flops == pytest.approx(4 * 16 * 8 * 16, rel=0.01), rows
