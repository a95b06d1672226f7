# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: recorded MindSpore, `check_cell` with NumPy as oracle, counts, errors."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
from scipy.special import expit

import mycel as ms
from check_cell import check_cell
from fixtures.load import rows
from harness import EXECUTIONS, assert_close, execution, run_everywhere
from mycel import Tensor, nn, ops
from mycel.kernel.execute.compile import decode, executables, program
from mycel.kernel.record.stream import current_stream
from mycel.ops.nn import recurrent_scans
from mycel.ops.nn.recurrent_scans import Form
from mycel.tuning.native.cpp import portable
from support import recorded_cells as recorded

RANDOM = np.random.default_rng(11)
TIMES, BATCH, WIDTH, SIZE = 4, 3, 3, 2
SEQUENCES = RANDOM.normal(size=(TIMES, BATCH, WIDTH))
DOUBLE = ms.float64


def states_of(layers, kind):
    """Initial states in Float64: one array, or two for an LSTM."""
    made = RANDOM.normal(size=(2, layers, BATCH, SIZE))
    return tuple(made) if kind == "LSTM" else (made[0],)


# -- oracles -----------------------------------------------------------------------------


def step_of(kind, p, q, state):
    """One step by the formulas, in NumPy: from both products to the new state."""
    if kind == "LSTM":
        i, f, g, o = np.split(p + q, 4, -1)
        cell = expit(f) * state[1] + expit(i) * np.tanh(g)
        return expit(o) * np.tanh(cell), cell
    if kind == "GRU":
        (r, z, n), (r_too, z_too, n_too) = np.split(p, 3, -1), np.split(q, 3, -1)
        n = np.tanh(n + expit(r + r_too) * n_too)
        z = expit(z + z_too)
        return ((1 - z) * n + z * state[0],)
    return (np.tanh(p + q) if kind == "RNN" else np.maximum(p + q, 0),)


def direction(kind, x, state, lengths, weights):
    """One direction of one layer: every sequence by itself, and only as far as it counts."""
    w_ih, w_hh, b_ih, b_hh = weights
    outputs, last = np.zeros((*x.shape[:2], w_hh.shape[1])), [s.copy() for s in state]
    for n in range(x.shape[1]):
        now = tuple(s[n] for s in state)
        for t in range(lengths[n]):
            now = step_of(kind, x[t, n] @ w_ih.T + b_ih, now[0] @ w_hh.T + b_hh, now)
            outputs[t, n] = now[0]
        for kept, value in zip(last, now, strict=True):
            kept[n] = value
    return outputs, last


def reversed_in_time(x, lengths):
    """Every sequence backwards, as far as it counts."""
    made = x.copy()
    for n, length in enumerate(lengths):
        made[:length, n] = x[:length, n][::-1]
    return made


def network(kind, values, x, states=None, lengths=None, layers=1, both_ways=False):
    """Outputs and last states of all layers."""
    count = 2 if kind == "LSTM" else 1
    ends = ("", "_reverse")[: 1 + both_ways]
    if states is None:
        states = np.zeros((count, layers * len(ends), x.shape[1], SIZE))
    lengths = [x.shape[0]] * x.shape[1] if lengths is None else lengths
    last = []
    for layer in range(layers):
        made = []
        for end in ends:
            names = (f"{what}_l{layer}{end}" for what in ("weight_ih", "weight_hh"))
            biases = (values.get(f"{what}_l{layer}{end}", 0) for what in ("bias_ih", "bias_hh"))
            state = [s[len(last)] for s in states]
            run = functools.partial(direction, kind)
            given = reversed_in_time(x, lengths) if end else x
            output, new = run(given, state, lengths, (*(values[n] for n in names), *biases))
            made.append(reversed_in_time(output, lengths) if end else output)
            last.append(new)
        x = np.concatenate(made, -1)
    return x, [np.stack([states[i] for states in last]) for i in range(count)]


def names_of(gates, layers=1, both_ways=False, biased=True):
    """MindSpore's names and shapes."""
    made = {}
    for what in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if biased else 2]:
        for layer in range(layers):
            for end in ("", "_reverse")[: 1 + both_ways]:
                width = (WIDTH if layer == 0 else SIZE * (1 + both_ways), SIZE)
                shape = (gates * SIZE,)
                if what.startswith("weight"):
                    shape += (width[what == "weight_hh"],)
                made[f"{what}_l{layer}{end}"] = shape
    return made


def flat(parts):
    """Everything in one vector, as `check_cell` wants one result."""
    return np.concatenate([np.asarray(part).reshape(-1) for part in parts])


class Joined(nn.Cell):
    """A recurrent Cell that takes states and lengths one by one and gives all results as one."""

    def __init__(self, net, states=0, lengths=False):
        super().__init__(auto_prefix=False)
        self.net, self.states, self.lengths = net, states, lengths

    def construct(self, x, *others):
        hx = others[: self.states] or None
        hx = hx if hx is None or self.states > 1 else hx[0]
        made = self.net(x, hx, others[-1]) if self.lengths else self.net(x, hx)
        parts = [made] if isinstance(made, Tensor) else list(made)
        parts = [q for p in parts for q in (p if isinstance(p, tuple) else (p,))]
        return ops.concat([part.reshape(-1) for part in parts])


KINDS = {
    "LSTM": (nn.LSTM, nn.LSTMCell, 4),
    "GRU": (nn.GRU, nn.GRUCell, 3),
    "RNN": (nn.RNN, nn.RNNCell, 1),
    "relu": (
        functools.partial(nn.RNN, nonlinearity="relu"),
        functools.partial(nn.RNNCell, nonlinearity="relu"),
        1,
    ),
}
LAYERS = {
    "plain": ({}, {}, False, None),
    "no bias": ({"has_bias": False}, {}, True, None),
    "batch first": ({"batch_first": True}, {}, True, (4, 0, 2)),
    "everything": (
        {"num_layers": 2, "bidirectional": True}, {"layers": 2, "both_ways": True}, True,
        (1, 4, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERS)
def test_layer(kind, name):
    """The oracle is the definition in NumPy."""
    given, meant, started, lengths = LAYERS[name]
    make, _, gates = KINDS[kind]
    first = given.get("batch_first", False)
    positions = meant.get("layers", 1) * (1 + meant.get("both_ways", False))
    states = states_of(positions, kind) if started else ()
    inputs = [np.ascontiguousarray(SEQUENCES.swapaxes(0, 1)) if first else SEQUENCES, *states]
    if lengths is not None:
        inputs.append(np.array(lengths, np.int32))

    def oracle(values, x, *others):
        made = x.swapaxes(0, 1) if first else x
        outputs, last = network(kind, values, made, states or None, lengths, **meant)
        return flat([outputs.swapaxes(0, 1) if first else outputs, *last])

    check_cell(
        lambda: Joined(make(WIDTH, SIZE, dtype=DOUBLE, **given), len(states), lengths is not None),
        *inputs,
        names=names_of(gates, biased=given.get("has_bias", True), **meant),
        oracle=oracle,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("biased", [True, False])
def test_step(kind, biased):
    """The oracle is the definition in NumPy."""
    _, make, gates = KINDS[kind]
    states = [state[0] for state in states_of(1, kind)]

    def oracle(values, x, *states):
        p, q = x @ values["weight_ih"].T, states[0] @ values["weight_hh"].T
        return flat(
            step_of(kind, p + values.get("bias_ih", 0), q + values.get("bias_hh", 0), states)
        )

    names = {name.removesuffix("_l0"): s for name, s in names_of(gates, biased=biased).items()}
    check_cell(
        lambda: Joined(make(WIDTH, SIZE, biased, dtype=DOUBLE), len(states)),
        SEQUENCES[0],
        *states,
        names=names,
        oracle=oracle,
    )


# -- lengths -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [(4, 4, 4), (0, 0, 0), (4, 0, 1), (9, -3, 2)])
def test_lengths_are_those_of_sequences_that_were_cut(kind, lengths):
    """The oracle is the same layer on each sequence alone, cut to its length."""
    ms.set_seed(2)
    layer = KINDS[kind][0](WIDTH, SIZE, bidirectional=True, dtype=DOUBLE)
    expected_outputs = np.zeros((TIMES, BATCH, 2 * SIZE))
    expected_states = np.zeros((1 + (kind == "LSTM"), 2, BATCH, SIZE))
    for n, length in enumerate(min(max(n, 0), TIMES) for n in lengths):
        if length:
            outputs, states = layer(Tensor(SEQUENCES[:length, n : n + 1]))
            expected_outputs[:length, n] = outputs.asnumpy()[:, 0]
            states = states if isinstance(states, tuple) else (states,)
            expected_states[:, :, n] = [state.asnumpy()[:, 0] for state in states]

    def function(x, lengths):
        outputs, states = layer(x, None, lengths)
        return outputs, states if isinstance(states, tuple) else (states,)

    made = run_everywhere(function, SEQUENCES, np.array(lengths, np.int64))
    for name, (outputs, states) in made.items():
        assert_close(outputs, expected_outputs, name)
        assert_close(list(states), list(expected_states), name)


@pytest.mark.parametrize("dtype", [DOUBLE, ms.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_behind_a_length_does_not_count(kind, dtype):
    """The oracle is the same with zeros there: what is padded with is anything, also NaN."""
    ms.set_seed(2)
    layer = KINDS[kind][0](WIDTH, SIZE, bidirectional=True, dtype=dtype)
    lengths = Tensor([4, 2, 0], ms.int32)
    weights = layer.trainable_params()

    def function(x):
        gradient = ms.grad(lambda x: (layer(x, None, lengths)[0] ** 2).sum(), 0, weights)
        return layer(x, None, lengths)[0], *gradient(x)

    zeros, numbers = SEQUENCES.astype(dtype.numpy), SEQUENCES.astype(dtype.numpy)
    for n, length in enumerate((4, 2, 0)):
        zeros[length:, n], numbers[length:, n] = 0, np.nan
    expected = run_everywhere(function, zeros)
    for name, actual in run_everywhere(function, numbers).items():
        assert_close(actual, expected[name], name)


def test_lengths_that_are_differentiated_have_no_gradient():
    """They count, as indices do: zeros, in their own type."""
    layer = nn.LSTM(WIDTH, SIZE, dtype=DOUBLE)
    function = ms.grad(lambda x, lengths: layer(x, None, lengths)[0].sum(), (0, 1))
    alone = ms.grad(lambda x: layer(x, None, Tensor([4, 2, 0], ms.int32))[0].sum())
    expected = alone(Tensor(SEQUENCES)).asnumpy(), np.zeros(3, np.int32)
    made = run_everywhere(function, SEQUENCES, np.array([4, 2, 0], np.int32))
    for name, actual in made.items():
        assert_close(actual, expected, name)


# -- derivatives -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [None, (4, 1, 0)])
def test_second_order(kind, lengths):
    """The oracle are differences of the first derivative, along one direction."""
    ms.set_seed(4)
    layer = KINDS[kind][0](WIDTH, SIZE, 2, bidirectional=True, dtype=DOUBLE)
    lengths = None if lengths is None else Tensor(lengths, ms.int32)
    weights = Tensor(np.cos(np.arange(1.0, 1 + TIMES * BATCH * 2 * SIZE)).reshape(4, 3, -1))
    slopes = Tensor(np.sin(np.arange(1.0, 1 + SEQUENCES.size)).reshape(SEQUENCES.shape))

    def total(x):
        outputs, states = layer(x, None, lengths)
        states = states if isinstance(states, tuple) else (states,)
        return (outputs * weights).sum() + sum((s * s).sum() for s in states)

    def slope(x):
        return (ms.grad(total)(x) * slopes).sum()

    way = RANDOM.normal(size=SEQUENCES.shape)
    ends = [float(slope(Tensor(SEQUENCES + sign * 1e-6 * way))) for sign in (1, -1)]
    by_weight = layer.trainable_params()
    second = ms.grad(slope, 0, by_weight)
    for name, (gradient, of_weights) in run_everywhere(second, SEQUENCES).items():
        along = float((gradient * way).sum())
        np.testing.assert_allclose(along, (ends[0] - ends[1]) / 2e-6, 2e-6, 1e-8, err_msg=name)
        for parameter, found in zip(by_weight, of_weights, strict=True):
            start = parameter.asnumpy()
            turn = np.sin(np.arange(1.0, 1 + start.size)).reshape(start.shape)
            moved = []
            for sign in (1, -1):
                parameter.set_data(Tensor(start + sign * 1e-6 * turn))
                moved.append(float(slope(Tensor(SEQUENCES))))
            parameter.set_data(Tensor(start))
            expected = (moved[0] - moved[1]) / 2e-6
            np.testing.assert_allclose(float((found * turn).sum()), expected, 2e-6, 1e-8)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_short_types(kind, dtype):
    """The oracle is the same in Float64; Parameters have their gradients in their own type."""
    ms.set_seed(1)
    layer = KINDS[kind][0](WIDTH, SIZE, bidirectional=True)
    x = Tensor(SEQUENCES).astype(dtype)
    weights = layer.trainable_params()
    function = ms.grad(lambda x: (layer(x)[0].astype(ms.float32) ** 2).sum(), 0, weights)
    expected = ms.grad(lambda x: (layer(x)[0] ** 2).sum(), 0, weights)
    outputs = layer(x.astype(DOUBLE))[0].asnumpy()
    by_x, by_weight = expected(x.astype(DOUBLE))
    coarse = "bfloat16" if dtype is ms.bfloat16 else "float16"
    for mode in EXECUTIONS:
        with execution(mode):
            made = layer(x)[0]
            assert made.dtype is dtype
            assert_close(made.astype(DOUBLE).asnumpy(), outputs, mode, coarse)
            found, of_weights = function(x)
            assert found.dtype is dtype
            assert_close(found.astype(DOUBLE).asnumpy(), by_x.asnumpy(), mode, "bfloat16")
            for one, other in zip(of_weights, by_weight, strict=True):
                assert one.dtype is ms.float32
                close = {"rtol": 5e-2, "atol": 3e-2, "err_msg": mode}
                np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), **close)


def test_to_float():
    """The oracle is a layer that was given Float16; of the type of the results, MindSpore 2.10."""
    ms.set_seed(1)
    layer = nn.LSTM(WIDTH, SIZE)
    x = Tensor(SEQUENCES.astype(np.float16))
    expected = layer(x)[0].asnumpy()
    made, states = layer.to_float(ms.float16)(x.astype(ms.float32))
    assert {made.dtype, states[0].dtype, states[1].dtype} == {ms.float32}
    assert_close(made.asnumpy().astype(np.float16), expected)


# -- what is computed how often ------------------------------------------------------------


def primitives(jaxpr):
    """What stands in a program, and what in the bodies of its scans."""
    outside, inside = [], []
    for equation in jaxpr.eqns:
        outside.append(equation.primitive.name)
        if equation.primitive.name == "scan":
            inside += [e.primitive.name for e in equation.params["jaxpr"].jaxpr.eqns]
    return outside, inside


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN tanh", "RNN relu"])
def test_a_step_is_one_product(kind):
    """Counted in JAX's programs: all other products stand outside of the scan."""
    gates, states = {"LSTM": (4, 2), "GRU": (3, 1)}.get(kind, (1, 1))
    form = Form(kind, False, True, False, False)
    x, hidden = np.ones((4, 3, 5), np.float32), np.ones((4, 3, 2), np.float32)
    weights = [np.ones((gates * 2, n), np.float32) for n in (5, 2)]
    weights += [np.ones(gates * 2, np.float32)] * 2
    with portable():
        made = jax.make_jaxpr(functools.partial(recurrent_scans.forward, form))(x, *weights)
    outside, inside = primitives(made.jaxpr)
    assert (outside.count("dot_general"), inside.count("dot_general")) == (1, 1)
    kept = [np.ones((4, 3, 8), np.float32)] * (gates > 1) + [hidden] * (states - 1)
    present = (True,) + (False,) * states
    reverse = functools.partial(recurrent_scans.gradients, form, present, (True,) * 5)
    with portable():
        made = jax.make_jaxpr(reverse)(x, *weights, hidden, *kept, hidden)
    outside, inside = primitives(made.jaxpr)
    assert (outside.count("dot_general"), inside.count("dot_general")) == (3, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_step_has_two_loops(kind):
    """XLA's own program is counted: the forward scan is not computed again by the reverse."""
    layer = KINDS[kind][0](WIDTH, SIZE)
    x = Tensor(SEQUENCES.astype(np.float32))
    ms.flush()
    stream = current_stream()
    gradients = ms.grad(lambda x: layer(x)[0].sum(), 0, layer.trainable_params())(x)
    segment = stream.segment
    live = tuple(i for i, output in enumerate(segment.outputs) if output() is not None)
    arrays = [value.array for value in segment.externals]
    run = program(decode(segment.key), live)
    with portable():
        compiled = jax.jit(run).lower(*arrays).compile().as_text()
    assert compiled.count(" while(") == 2
    calls = jax.jit(lambda *given: run(*given)).lower(*arrays).as_text().count("@mycel_")
    assert calls == (2 if kind in recurrent_scans.NATIVE else 0)
    assert gradients[0].shape == x.shape


@pytest.mark.parametrize("mode", ["fused", "graph"])
def test_other_data_and_lengths_compile_nothing(mode, xla):
    executables.clear()
    ms.set_seed(1)
    net = nn.LSTM(WIDTH, SIZE, 2, bidirectional=True, dropout=0.5).set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    derivative = ms.value_and_grad(
        lambda x, n: (net(x, None, n)[0] ** 2).sum(), None, net.trainable_params()
    )
    counts, replays = [], []
    with execution(mode):
        for step in range(8):
            x = np.random.default_rng(step).normal(size=SEQUENCES.shape).astype(np.float32)
            loss, gradients = derivative(Tensor(x), Tensor([step % 5, 4, 0], ms.int32))
            optimizer(gradients)
            assert np.isfinite(float(loss))
            counts.append(len(xla))
            replays.append(ms.debug.ledger().counts.replays)
    assert counts[0] > 0
    assert counts[-1] == counts[3], counts
    if mode == "graph":
        assert replays[-1] - replays[3] == 8, replays


def test_an_inference_in_graph_mode_is_compiled_once(xla):
    net = nn.GRU(WIDTH, SIZE)
    with execution("graph"):
        for step in range(5):
            net(Tensor(SEQUENCES.astype(np.float32) + step))[0].asnumpy()
            if step == 0:
                first = len(xla)
    assert len(xla) == first


# -- training ----------------------------------------------------------------------------


def test_dropout_acts_between_layers_and_in_training_only():
    """Identities: what is dropped between the layers is 0, all else is doubled, and only once."""
    net = nn.RNN(50, 50, 2, has_bias=False, dropout=0.5, nonlinearity="relu")
    for parameter in net.get_parameters():
        identity = np.eye(50) * ("_ih" in parameter.name)
        parameter.set_data(Tensor(identity.astype(np.float32)))
    x = Tensor(np.ones((3, 2, 50), np.float32))
    for mode in EXECUTIONS:
        with execution(mode):
            made = net.set_train()(x)[0].asnumpy()
            assert set(np.unique(made)) == {0, 2}
            assert 0.3 < (made == 0).mean() < 0.7
            assert (net.set_train(False)(x)[0].asnumpy() == 1).all()


def test_parameters_start_as_in_mindspore():
    """The oracle are the moments that were recorded of `nn.LSTMCell(16, 64).weight_ih`."""
    told = rows("initializers")["layer_lstm_cell"]["output"]["statistics"]
    ms.set_seed(1)
    for net in (nn.LSTMCell(16, 64), nn.LSTM(16, 64, 2), nn.GRU(16, 64), nn.RNN(16, 64)):
        for parameter in net.get_parameters():
            values = parameter.asnumpy()
            assert abs(values).max() <= 1 / 8
            np.testing.assert_allclose(values.std(), told["std"], 0.15)
    assert values.std() > 0


class Summing(nn.Cell):
    def __init__(self):
        super().__init__()
        self.memory, self.head = nn.LSTM(1, 8), nn.Dense(8, 1)

    def construct(self, x):
        return self.head(self.memory(x)[0][-1])


def test_learns_to_remember():
    """A sum of what went by: the loss falls, the same in every execution."""
    x = np.random.default_rng(0).choice([-1.0, 1.0], size=(6, 32, 1)).astype(np.float32)
    target = Tensor(np.tanh(x.sum((0, 2)))[:, None])
    paths = {}
    for mode in EXECUTIONS:
        with execution(mode):
            ms.set_seed(7)
            net = Summing()
            weights = net.trainable_params()
            optimizer = nn.Adam(weights, 0.05)
            loss = nn.WithLossCell(net, nn.MSELoss())
            derivative = ms.value_and_grad(loss, None, weights)
            path = []
            for _ in range(30):
                value, gradients = derivative(Tensor(x), target)
                optimizer(gradients)
                path.append(float(value))
        paths[mode] = path
        assert path[-1] < path[0] / 4
    np.testing.assert_allclose(paths["fused"], paths["direct"], 1e-3, 1e-5)
    np.testing.assert_allclose(paths["graph"], paths["direct"], 1e-3, 1e-5)


# -- recorded MindSpore --------------------------------------------------------------------


@pytest.mark.parametrize(("case", "answer"), recorded.named("recurrent"), ids=recorded.case_name)
def test_recorded(case, answer, monkeypatch):
    # MindSpore's tanh and sigmoid are off by some 1e-6 in Float32, which adds up in gradients; in
    # Float16 it rounds after every operator of a step, and we after every step.
    monkeypatch.setitem(recorded.TOLERANCE, "float32", (1e-4, 1e-5))
    monkeypatch.setitem(recorded.TOLERANCE, "float16", (5e-3, 3e-3))
    recorded.check(case, answer)


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("layers", "made_lstm_cell"), ids=recorded.case_name
)
def test_recorded_cell(case, answer):
    recorded.check(case, answer)


def test_parameters_are_attributes():
    """As in MindSpore; one that takes the place of another is the one that is used."""
    net = nn.GRU(WIDTH, SIZE, 2, bidirectional=True)
    lists = (net.w_ih_list, net.w_hh_list, net.b_ih_list, net.b_hh_list)
    assert [p.name for listed in lists for p in listed] == [p.name for p in net.get_parameters()]
    assert net.weight_ih_l1_reverse is net.w_ih_list[3]
    x = Tensor(SEQUENCES.astype(np.float32))
    before = net(x)[0].asnumpy()
    net.bias_hh_l1 = ms.Parameter(np.full(3 * SIZE, 3.0, np.float32), name="bias_hh_l1")
    assert net.b_hh_list[2] is net.bias_hh_l1
    changed = (net(x)[0].asnumpy() != before).any((0, 1))
    assert changed.tolist() == [True, True, False, False]
    assert nn.LSTM(WIDTH, SIZE, has_bias=False).b_ih_list == ()


# -- operators ---------------------------------------------------------------------------


def rnn_inputs(dtype=np.float64):
    w = RANDOM.normal(size=(WIDTH + SIZE, 4 * SIZE))
    b = RANDOM.normal(size=4 * SIZE)
    h, c = RANDOM.normal(size=(2, 1, BATCH, SIZE))
    return [a.astype(dtype) for a in (SEQUENCES, w, b, h, c)]


def rnn_oracle(x, w, b, h, c, forget_bias):
    """The definition in NumPy: gates in the order input, new, forget, output."""
    made, h, c = [], h[0], c[0]
    for now in x:
        i, j, f, o = np.split(np.concatenate([now, h], 1) @ w + b, 4, 1)
        i, j, f, o = expit(i), np.tanh(j), expit(f + forget_bias), expit(o)
        c = f * c + i * j
        h = o * np.tanh(c)
        made.append((h, h, c, i, j, f, o, np.tanh(c)))
    return tuple(np.stack(part) for part in zip(*made, strict=True))


@pytest.mark.parametrize("forget_bias", [0.0, 1.0])
def test_dynamic_rnn(forget_bias):
    inputs = rnn_inputs()
    operator = ops.DynamicRNN(forget_bias=forget_bias)
    expected = rnn_oracle(*inputs, forget_bias)
    made = run_everywhere(lambda x, w, b, h, c: operator(x, w, b, None, h, c), *inputs)
    for name, actual in made.items():
        assert_close(actual, expected, name)
    outputs = run_everywhere(lambda x, w, b: operator(x, w, b)[0], *inputs[:3])
    zeros = np.zeros_like(inputs[3])
    for name, actual in outputs.items():
        assert_close(actual, rnn_oracle(*inputs[:3], zeros, zeros, forget_bias)[0], name)


GATES = ["rzh", "zrh"]


def gru_inputs(dtype=np.float64):
    weights = [RANDOM.normal(size=(n, 3 * SIZE)) for n in (WIDTH, SIZE)]
    biases = RANDOM.normal(size=(2, 3 * SIZE))
    return [a.astype(dtype) for a in (SEQUENCES, *weights, *biases, RANDOM.normal(size=(3, 2)))]


def gru_oracle(x, w, u, b, d, h, order):
    """The definition in NumPy."""
    made = []
    for now in x:
        p, q = np.split(now @ w + b, 3, 1), np.split(h @ u + d, 3, 1)
        (r, s), (z, t) = ((p[order.index(g)], q[order.index(g)]) for g in "rz")
        reset, update = expit(r + s), expit(z + t)
        new = np.tanh(p[2] + reset * q[2])
        h = (1 - update) * new + update * h
        made.append((h, h, update, reset, new, q[2]))
    return tuple(np.stack(part) for part in zip(*made, strict=True))


@pytest.mark.parametrize("order", GATES)
def test_dynamic_gru(order):
    inputs = gru_inputs()
    operator = ops.DynamicGRUV2(gate_order=order)
    expected = gru_oracle(*inputs, order)
    made = run_everywhere(lambda x, w, u, b, d, h: operator(x, w, u, b, d, None, h), *inputs)
    for name, actual in made.items():
        assert_close(actual, expected, name)
    x, w, u, b, _, h = inputs
    made = run_everywhere(lambda x, w, u, b: operator(x, w, u, b)[0], x, w, u, b)
    for name, actual in made.items():
        assert_close(actual, gru_oracle(x, w, u, b, 0, h * 0, order)[0], name)


@pytest.mark.parametrize("name", ["DynamicRNN", "DynamicGRUV2"])
@pytest.mark.parametrize("parts", [(0,), (0, 2, 3, 4, 5)])
def test_derivatives_of_dynamic_operators(name, parts):
    """The oracle are differences; gates and cells that were asked for take part."""
    inputs = rnn_inputs() if name == "DynamicRNN" else gru_inputs()
    at = 3 if name == "DynamicRNN" else 5
    operator = getattr(ops, name)()

    def total(*inputs):
        made = operator(*inputs[:at], None, *inputs[at:])
        return sum((made[part] ** 2).sum() * (part + 1) for part in parts)

    positions = tuple(range(len(inputs)))
    made = run_everywhere(ms.grad(total, positions), *inputs)
    for position in positions:
        way, ends = RANDOM.normal(size=inputs[position].shape), []
        for sign in (1, -1):
            moved = list(inputs)
            moved[position] = inputs[position] + sign * 1e-6 * way
            ends.append(float(total(*map(Tensor, moved))))
        for mode, gradients in made.items():
            along = (gradients[position] * way).sum()
            expected = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(along, expected, 2e-6, 1e-6, err_msg=f"{position} {mode}")


def test_dynamic_operators_in_the_types_of_ascend():
    """Float16 as on Ascend: results have the type of the bias; the oracle is Float64."""
    inputs = [Tensor(a) for a in rnn_inputs(np.float16)]
    made = ops.DynamicRNN()(*inputs[:3], None, *inputs[3:])
    assert {part.dtype for part in made} == {ms.float16}
    exact = rnn_oracle(*[a.asnumpy().astype(np.float64) for a in inputs], 0.0)
    for actual, expected in zip(made, exact, strict=True):
        np.testing.assert_allclose(actual.asnumpy(), expected, 5e-3, 5e-3)
    x, w, u, b, d, h = (Tensor(a) for a in gru_inputs(np.float16))
    b, d, h = (a.astype(ms.float32) for a in (b, d, h))
    made = ops.DynamicGRUV2()(x, w, u, b, d, None, h)
    assert {part.dtype for part in made} == {ms.float32}
    exact = gru_oracle(*[a.asnumpy().astype(np.float64) for a in (x, w, u, b, d, h)], "rzh")
    for actual, expected in zip(made, exact, strict=True):
        np.testing.assert_allclose(actual.asnumpy(), expected, 5e-3, 5e-3)


# -- errors name the argument and the user's line --------------------------------------------

ERRORS = {
    "nn.LSTM(3.0, 4)": (TypeError, "LSTM.input_size must be a positive integer, but float 3.0"),
    "nn.GRU(3, 4, dropout=1.0)": (
        ValueError, "GRU.dropout must be a number from 0 and below 1, but 1.0"),
    "nn.RNN(3, 4, nonlinearity='elu')": (
        ValueError, "RNN.nonlinearity must be one of 'tanh', 'relu', but 'elu'"),
    "nn.RNNCell(3, 4, nonlinearity=3)": (
        TypeError, "RNNCell.nonlinearity must be 'tanh' or 'relu', but int 3"),
    "nn.LSTM(3, 4, batch_first=True)(x[0])": (
        ValueError, "LSTM: x must be [batch, time, input_size=3] and not empty, but shape (2, 3)"),
    "nn.GRU(4, 3)(x)": (
        ValueError, "GRU: x must be [time, batch, input_size=4] and not empty, but shape"),
    "nn.GRU(3, 4)(x.astype(ms.int32))": (TypeError, "GRU: x must be of real numbers, but Int32"),
    "nn.LSTM(3, 4)(x, x)": (
        TypeError, "LSTM: hx must be a tuple (hidden state, cell state), but Tensor was given"),
    "nn.LSTM(3, 4)(x, [x, x])": (
        TypeError, "must be a tuple (hidden state, cell state), but list of 2 was given"),
    "nn.GRU(3, 4, 2)(x, ops.zeros((1, 2, 4)))": (
        ValueError,
        "GRU: hx must be [num_layers · directions, batch, hidden_size] = (2, 2, 4), but shape "
        "(1, 2, 4)"),
    "nn.GRU(3, 4)(x, ops.zeros((1, 2, 4), ms.float16))": (
        TypeError, "GRU: hx must be of the element type of x, Float32, but Float16 was given"),
    "nn.RNN(3, 4)(x, None, [5, 2])": (
        TypeError, "RNN: seq_length must be a Tensor of Int32 or Int64, but list was given"),
    "nn.RNN(3, 4)(x, None, ms.Tensor([5]))": (
        ValueError, "must be one length for each of the 2 sequences of x, which are [time, batch"),
    "nn.GRUCell(3, 4)(x, x)": (
        ValueError, "GRUCell: x must be [batch, input_size=3], but shape (5, 2, 3) was given"),
    "nn.GRUCell(3, 4)(x[0], ops.zeros((2, 3)))": (
        ValueError, "GRUCell: hx must be [batch, hidden_size] = (2, 4), but shape (2, 3)"),
    "nn.RNNCell(3, 4, dtype=ms.float16)(x[0], ops.zeros((2, 4)))": (
        TypeError, "x, hx and the Parameters must have one element type, not float16, float32"),
    "ops.DynamicRNN(num_proj=2)(x, x, x)": (ValueError, "DynamicRNN: num_proj must be 0, but 2"),
    "ops.DynamicRNN()(x, ops.ones((3, 8)), ops.ones(8))": (
        ValueError, "DynamicRNN: w must be of shape (5, 8), but (3, 8)"),
    "ops.DynamicGRUV2()(x[0], x, x)": (
        ValueError, "DynamicGRUV2: x must be [time, batch, features], but shape (2, 3)"),
    "ops.DynamicGRUV2(gate_order='hrz')(x, x, x)": (
        ValueError, "DynamicGRUV2: gate_order must be 'rzh' or 'zrh', but 'hrz'"),
}  # fmt: skip


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    kind, text = ERRORS[source]
    names = {"nn": nn, "ms": ms, "ops": ops, "x": ops.ones((5, 2, 3))}
    with pytest.raises(kind) as caught:
        eval(compile(source, "train.py", "eval"), names)
    assert text in str(caught.value)
    assert "train.py:1" in str(caught.value)


def test_the_cell_that_was_a_layer_names_the_layer():
    for arguments in ({"bidirectional": True}, {"dropout": 0.5}, {"batch_first": True}):
        with pytest.raises(ValueError, match=r"write nn\.LSTM"):
            nn.LSTMCell(3, 4, **arguments)
    with pytest.raises(ValueError, match=r"write nn\.LSTM"):
        nn.LSTMCell(3, 4, True, True)


def test_dropout_of_one_layer_warns():
    with pytest.warns(UserWarning, match="dropout acts between layers"):
        nn.GRU(3, 4, dropout=0.5)
    with pytest.warns(UserWarning, match="dropout acts between layers") as caught:
        nn.RNN(3, 4, dropout=0.5)
    assert caught[0].filename == __file__
