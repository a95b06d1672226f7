# SPDX-License-Identifier: Apache-2.0
"""The rarer optimisers, those with groups and their schedulers: trajectories, changes, errors."""

from __future__ import annotations

import doctest
import inspect

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, mint, nn
from mycel.kernel.record.stream import current_stream
from mycel.optim import experimental
from support import recorded_cells as recorded

SHAPES = ((3, 2), (4,))


@pytest.mark.parametrize(("case", "answer"), recorded.named("optimizers"), ids=recorded.case_name)
def test_recorded_trajectories(case, answer):
    """The oracle is MindSpore: values, states and their names, rates of schedulers, errors."""
    recorded.check(case, answer)


def parameters(dtype=np.float32):
    rng = np.random.default_rng(0)
    return [
        Parameter(rng.normal(size=shape).astype(dtype), name=f"p{n}")
        for n, shape in enumerate(SHAPES)
    ]


def gradients(step, dtype=np.float32):
    rng = np.random.default_rng(step)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in SHAPES)


# An optimiser and the same in NumPy: `state` is a dictionary for each Parameter.
ORACLES = {}


def oracle(make):
    def register(function):
        ORACLES[function.__name__] = (make, function)
        return function

    return register


def moments(g, state, beta1, beta2, step):
    """The mean and the mean square of gradients, and both corrected for the start."""
    state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * g
    state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * g * g
    return state["m"] / (1 - beta1**step), state["v"] / (1 - beta2**step)


@oracle(lambda p: nn.Lamb(p, 0.1, beta1=0.5, beta2=0.75, weight_decay=0.1))
def lamb(p, g, state, step):
    m, v = moments(g, state, 0.5, 0.75, step)
    way = m / (np.sqrt(v) + 1e-6) + 0.1 * p
    return p - 0.1 * np.linalg.norm(p) / np.linalg.norm(way) * way


def trusted(p, g, coefficient, decay, epsilon):
    size = np.linalg.norm(p)
    trust = coefficient * size / (np.linalg.norm(g) + decay * size + epsilon)
    return trust, g + decay * p


@oracle(lambda p: nn.LARS(nn.Momentum(p, 0.5, 0.9, weight_decay=0.1, loss_scale=4.0), 1e-3, 0.5))
def lars(p, g, state, step):
    trust, g = trusted(p, g / 4, 0.5, 0.1, 1e-3)
    state["m"] = 0.9 * state.get("m", 0) + trust * g
    return p - 0.5 * state["m"]


@oracle(lambda p: nn.LARS(nn.SGD(p, 0.2, weight_decay=0.1), 1e-3, 0.5, use_clip=True))
def lars_clipped(p, g, state, step):
    trust, g = trusted(p, g, 0.5, 0.1, 1e-3)
    return p - 0.2 * min(trust / 0.2, 1) * g


@oracle(lambda p: nn.FTRL(p, 0.5, 0.1, -0.5, l1=0.25, l2=0.5))
def ftrl(p, g, state, step):
    before = state.get("s", 0.5)
    state["s"] = before + g * g
    sigma = (np.sqrt(state["s"]) - np.sqrt(before)) / 0.1
    state["z"] = state.get("z", 0) + g - sigma * p
    chosen = (np.sign(state["z"]) * 0.25 - state["z"]) / (np.sqrt(state["s"]) / 0.1 + 1)
    return np.where(np.abs(state["z"]) > 0.25, chosen, 0)


@oracle(lambda p: experimental.Adam(p, 0.1, (0.5, 0.75), amsgrad=True, maximize=True))
def adam_amsgrad(p, g, state, step):
    m, _ = moments(-g, state, 0.5, 0.75, step)
    state["top"] = np.maximum(state.get("top", 0), state["v"])
    size = np.sqrt(state["top"]) + 1e-8
    return p - 0.1 * np.sqrt(1 - 0.75**step) * m / size


@oracle(lambda p: mint.optim.Adam(p, 0.1, (0.5, 0.75), 0.5, 0.1, amsgrad=True))
def mint_adam(p, g, state, step):
    """PyTorch's: the decay in the gradient, epsilon beside the corrected root."""
    m, _ = moments(g + 0.1 * p, state, 0.5, 0.75, step)
    state["top"] = np.maximum(state.get("top", 0), state["v"])
    return p - 0.1 * m / (np.sqrt(state["top"] / (1 - 0.75**step)) + 0.5)


@oracle(lambda p: mint.optim.AdamW(p, 0.1, (0.5, 0.75), 0.5, 0.1, maximize=True))
def mint_adamw(p, g, state, step):
    m, v = moments(-g, state, 0.5, 0.75, step)
    return p * (1 - 0.1 * 0.1) - 0.1 * m / (np.sqrt(v) + 0.5)


@oracle(lambda p: mint.optim.SGD(p, 0.1, 0.5, 0.25, 0.1))
def mint_sgd(p, g, state, step):
    g = g + 0.1 * p
    state["m"] = g if step == 1 else 0.5 * state["m"] + 0.75 * g
    return p - 0.1 * state["m"]


@oracle(lambda p: mint.optim.SGD(p, 0.1, 0.5, nesterov=True))
def mint_sgd_nesterov(p, g, state, step):
    state["m"] = 0.5 * state.get("m", 0) + g
    return p - 0.1 * (g + 0.5 * state["m"])


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("mode", EXECUTIONS)
def test_against_numpy(name, mode):
    make, formula = ORACLES[name]
    with execution(mode):
        handles = parameters()
        optimizer = make(handles)
        values = [p.asnumpy().astype(np.float64) for p in handles]
        states = [{} for _ in handles]
        for step in range(1, 4):
            taken = gradients(step)
            assert bool(optimizer(tuple(map(Tensor, taken))))
            rows = zip(values, taken, states, strict=True)
            values = [formula(p, g, state, step) for p, g, state in rows]
        for handle, value in zip(handles, values, strict=True):
            np.testing.assert_allclose(handle.asnumpy(), value, 5e-5, 1e-6)


def test_state_names_of_mint():
    """The names and numbers are those that MindSpore 2.10 has in checkpoints."""
    w = parameters()[:1]
    adam = mint.optim.AdamW(w, 0.1)
    names = [p.name for p in adam.get_parameters()]
    assert names == ["p0", "exp_avg.p0", "exp_avg_sq.p0", "state_step"]
    assert adam.state_step.asnumpy() == [-1]
    names = [p.name for p in mint.optim.SGD(w, 0.1).get_parameters()]
    assert names == ["p0", "momentum_buf.p0", "step_t"]


def test_a_step_is_one_node():
    """An optimiser with groups records one operator for all Parameters, and one for its counter."""
    handles = parameters()
    optimizer = experimental.AdamW(handles, 0.1)
    taken = tuple(map(Tensor, gradients(1)))
    optimizer(taken)
    ms.flush()
    optimizer(taken)
    assert current_stream().segment.nodes == 2


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_rate_that_is_set_compiles_nothing(mode):
    """Rates are inputs, also those that a scheduler sets; the oracle is NumPy."""
    ms.set_context(mode=mode)
    handles = parameters()[:1]
    optimizer = experimental.SGD(handles, 0.4)
    scheduler = experimental.lr_scheduler.StepLR(optimizer, 1, 0.5)
    value, gradient = handles[0].asnumpy(), np.ones((3, 2), np.float32)
    counts = ms.debug.ledger().counts
    for step in range(8):
        optimizer((Tensor(gradient),))
        scheduler.step()
        value = value - 0.4 * 0.5**step * gradient
        np.testing.assert_allclose(handles[0].asnumpy(), value, 1e-5, 1e-6)
        if step == 4:
            before = counts.compilations
    assert counts.compilations == before
    for step in range(5):
        if step == 3:
            before = counts.compilations
        optimizer.param_groups[0]["lr"] = 1.0 / (1 + step)
        optimizer((Tensor(gradient),))
        value = value - gradient / (1 + step)
        np.testing.assert_allclose(handles[0].asnumpy(), value, 1e-5, 1e-6)
    assert isinstance(optimizer.param_groups[0]["lr"], Parameter)
    assert counts.compilations == before


def test_a_setting_that_is_changed_is_seen_in_graph_mode():
    """The oracle is NumPy."""
    ms.set_context(mode=ms.GRAPH_MODE)
    handles = parameters()[:1]
    optimizer = experimental.SGD(handles, 0.5)
    value, gradient = handles[0].asnumpy(), np.ones((3, 2), np.float32)
    decay = 0.0
    for step in range(8):
        if step == 5:
            decay = optimizer.param_groups[0]["weight_decay"] = 0.25
        optimizer((Tensor(gradient),))
        value = value - 0.5 * (gradient + decay * value)
        np.testing.assert_allclose(handles[0].asnumpy(), value, 1e-5, 1e-6)


def test_a_group_that_is_added_later_has_states():
    """The oracle is an optimiser that had both groups from the start."""
    results = []
    for later in (False, True):
        p, q = parameters()
        groups = [{"params": [p]}, {"params": [q], "lr": 0.5}]
        optimizer = experimental.Adam(groups[:1] if later else groups, 0.1)
        if later:
            optimizer.add_param_group(groups[1])
        for step in (1, 2):
            optimizer(tuple(map(Tensor, gradients(step))))
        results.append([p.asnumpy(), q.asnumpy(), optimizer.exp_avg[1].asnumpy()])
        assert optimizer.exp_avg[1].name == "exp_avg.p1"
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_half_precision_is_kept():
    """States and Parameters keep their type; the oracle is Float32."""
    half, full = parameters(np.float16), parameters()
    for handles in (half, full):
        optimizer = experimental.RMSprop(handles, 0.1, momentum=0.5, centered=True, eps=0.1)
        for step in (1, 2):
            kind = handles[0].dtype.numpy
            optimizer(tuple(Tensor(g.astype(kind)) for g in gradients(step)))
        assert optimizer.moment[0].dtype is handles[0].dtype
    for one, other in zip(half, full, strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), 2e-2, 2e-2)


def test_a_scheduler_of_ones_own_and_from_an_epoch_on():
    class Halved(experimental.lr_scheduler.LRScheduler):
        def get_lr(self):
            if self.last_epoch == 0:
                return [rate.value() for rate in self._last_lr]
            return [rate * 0.5 for rate in self._last_lr]

    optimizer = experimental.SGD(parameters(), 1.0)
    scheduler = Halved(optimizer)
    scheduler.step()
    assert [float(rate) for rate in scheduler.get_last_lr()] == [0.5]
    again = experimental.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch), 2)
    assert float(again.get_last_lr()[0]) == 0.25


@pytest.mark.parametrize("name", ["StepLR", "ExponentialLR", "PolynomialLR", "MultiStepLR"])
def test_an_epoch_that_is_given(name):
    """The closed form is what as many steps give."""
    arguments = {"StepLR": (2, 0.5), "ExponentialLR": (0.5,), "MultiStepLR": ([1, 3], 0.5)}
    rates = []
    for jump in (False, True):
        optimizer = experimental.SGD(parameters(), 1.0)
        make = getattr(experimental.lr_scheduler, name)
        scheduler = make(optimizer, *arguments.get(name, ()))
        for _ in range(0 if jump else 3):
            scheduler.step()
        if jump:
            scheduler.step(3)
        rates.append(float(scheduler.get_last_lr()[0]))
    assert rates[0] == pytest.approx(rates[1], 1e-6)


DEFAULTS = {
    "nn.Lamb": "beta1=0.9, beta2=0.999, eps=1e-06, weight_decay=0.0",
    "nn.LARS": "epsilon=1e-05, coefficient=0.001, use_clip=False",
    "nn.Adadelta": "learning_rate=1.0, rho=0.9, epsilon=1e-06, loss_scale=1.0, weight_decay=0.0",
    "nn.ASGD": "learning_rate=0.1, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0.0",
    "mint.optim.AdamW": "lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01",
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_those_of_mindspore(name):
    found = eval(name, {"nn": nn, "mint": mint})
    assert DEFAULTS[name] in str(inspect.signature(found.__init__))


EXAMPLES = [
    *((mint.optim, name) for name in mint.optim.__all__),
    *((experimental, name) for name in experimental.__all__ if name != "lr_scheduler"),
    *((experimental.lr_scheduler, name) for name in experimental.lr_scheduler.__all__),
    (ms.optim, "opt_init_args_register"),
]


@pytest.mark.parametrize(("module", "name"), EXAMPLES, ids=lambda value: str(value))
def test_examples_do_what_they_say(module, name):
    text = getattr(module, name).__doc__
    names = {"ms": ms, "nn": nn, "Tensor": Tensor, "Parameter": Parameter}
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


# -- errors --------------------------------------------------------------------------------

ERRORS = {
    "nn.Lamb([p], 0.1, eps=0.0)": (ValueError, "Lamb: eps must be a number above 0, but 0.0"),
    "nn.LARS(3)": (TypeError, "LARS: optimizer must be an optimiser, but int was given"),
    "nn.Rprop([p], etas=[0.5, 1.2])": (TypeError, "Rprop: etas must be a tuple of two floats"),
    "nn.AdaFactor([p], eps=(1e-30,))": (ValueError, "AdaFactor: eps must be two floats"),
    "optim.Adam([p], betas=(0.9, 1.0))": (ValueError, "Adam: betas[1] must be a number from 0 to"),
    "optim.Adam([p], 'fast')": (TypeError, "Adam: lr must be a number of at least 0"),
    "optim.Adam(p)": (TypeError, "a list of Parameters, but Parameter was given"),
    "optim.Adam([{'params': [p]}, {'params': [p]}])": (ValueError, "in one group, once, but 'p0'"),
    "optim.Adam([{'lr': 0.1}])": (TypeError, "A group must be a dictionary with 'params'"),
    "optim.SGD([p], ms.ops.ones(2))": (ValueError, "a number or a Tensor without dimensions"),
    "optim.SGD([p], 0.1)((g, g))": (ValueError, "one for each of its 1 Parameters, but 2"),
    "optim.SGD([p], 0.1)((Tensor(1.0),))": (ValueError, "a Tensor of shape (3, 2), but ()"),
    "optim.Optimizer([p], {'lr': 0.1})((g,))": (NotImplementedError, "has no construct(self"),
    "lr.StepLR(nn.SGD([p]), 2)": (TypeError, "must be an optimiser with param_groups, but SGD"),
    "lr.LambdaLR(o, [abs, abs])": (ValueError, "one for each of 1 groups, but 2 was given"),
    "lr.CyclicLR(o, 0.1, 0.2, mode='round')": (ValueError, "or scale_fn given, but 'round'"),
    "lr.StepLR(o, 2, last_epoch=3)": (KeyError, "Group 0 has no 'initial_lr' to go on from"),
    "lr.ReduceLROnPlateau(o, 'up')": (ValueError, "mode must be 'min' or 'max', but 'up'"),
    "lr.CosineAnnealingWarmRestarts(o, 0)": (ValueError, "T_0 must be an integer above 0"),
}


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    kind, text = ERRORS[source]
    p, _ = parameters()
    names = {"p": p, "g": Tensor(gradients(1)[0]), "o": experimental.SGD([p], 0.1)}
    names |= {"nn": nn, "optim": experimental, "lr": experimental.lr_scheduler, "ms": ms}
    with pytest.raises(kind) as raised:
        eval(source, {**names, "Tensor": Tensor})
    assert text in str(raised.value)
