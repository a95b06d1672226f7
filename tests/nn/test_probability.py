# SPDX-License-Identifier: Apache-2.0
"""Distributions and bijectors: recorded MindSpore 2.10, SciPy, differences, and drawn samples."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scipy import stats

import mycel as ms
from fixtures.case import evaluate
from fixtures.load import pairs
from harness import as_tensors, assert_close, run_everywhere
from mycel import nn, ops
from mycel.nn.probability import (
    base,
    bijection,
    bnn_layers,
    discrete,
    formulas,
    interval,
    line,
    maps,
    positive,
    transformed,
)
from mycel.nn.probability import bijector as B
from mycel.nn.probability import distribution as D
from support.recorded_cells import check, same
from support.recorded_operators import agrees, gradients_by_differences

# Where MindSpore 2.10 is wrong, by the start of names: SciPy or the other mode is the oracle then.
FAULTS = {
    "Bernoulli_mode": "it raises a TypeError of its own kernel",
    "Gamma_log_survival": "it takes the logarithm of 1 - cdf, which has few digits left",
    "Beta_prob_given": "its derivative by a concentration is not a number",
    "Beta_log_prob_given": "its derivative by a concentration is not a number",
    "Beta_kl_loss": "its derivative by a concentration is not a number",
    "Beta_cross_entropy": "its derivative by a concentration is not a number",
    "Exp_forward_log_jacobian": "its derivative is not a number",
    "PowerTransform_0_forward_log_jacobian": "its derivative is not a number",
}
# Distributions of which MindSpore has the density alone.
MORE = ("HalfNormal", "Laplace", "StudentT")
# What is printed has other members inside, but the rest is the same.
PRINTED = ("Gumbel_shown", "Invert_shown", "Softplus_shown")

PAIRS = [
    (case, answer)
    for case, answer in pairs("probability")
    if not case.name.startswith(tuple(FAULTS)) and answer.error != "NotImplementedError"
]


@pytest.mark.parametrize(("case", "answer"), PAIRS, ids=lambda v: getattr(v, "name", ""))
def test_recorded(case, answer):
    if case.name in PRINTED:
        same(evaluate(case, ms)[1:], answer.output[1:], case.name)
    elif case.program or answer.error:
        check(case, answer)
    else:
        agrees(case, answer, replayed=False)


NOT_THERE = [
    (case, answer)
    for case, answer in pairs("probability")
    if answer.error == "NotImplementedError"
    and not case.name.startswith((*MORE, "Beta_", "Uniform_mode"))
]


@pytest.mark.parametrize(("case", "answer"), NOT_THERE, ids=lambda v: getattr(v, "name", ""))
def test_what_mindspore_has_no_formula_for(case, answer):
    with pytest.raises(NotImplementedError, match=r"there is no formula for"):
        evaluate(case, ms)


# By distribution: how it is made of parameters, the same by SciPy, parameters, values.
HALF, LINE = np.array([0.3, 1.0, 2.5, 4.0]), np.array([-3.0, -0.4, 0.7, 5.0])
COUNTS = np.array([-1.0, 0.0, 2.0, 5.0])
WIDE, PLACE = np.array([0.5, 1.5, 2.0, 0.8]), np.array([0.2, -1.0, 3.0, 0.0])
SHARE = np.array([0.1, 0.4, 0.5, 0.9])
KNOWN = {
    "Bernoulli": (lambda p: stats.bernoulli(p), (SHARE,), COUNTS),
    "Beta": (lambda a, b: stats.beta(a, b), (WIDE, HALF), np.array([0.1, 0.4, 0.8, 0.99])),
    "Cauchy": (lambda m, s: stats.cauchy(m, s), (PLACE, WIDE), LINE),
    "Exponential": (lambda r: stats.expon(scale=1 / r), (WIDE,), LINE),
    "Gamma": (lambda a, r: stats.gamma(a, scale=1 / r), (HALF, WIDE), HALF),
    "Geometric": (lambda p: stats.geom(p, loc=-1), (SHARE,), COUNTS),
    "Gumbel": (lambda m, s: stats.gumbel_r(m, s), (PLACE, WIDE), LINE),
    "HalfNormal": (lambda m, s: stats.halfnorm(m, s), (PLACE, WIDE), LINE),
    "Laplace": (lambda m, s: stats.laplace(m, s), (PLACE, WIDE), LINE),
    "LogNormal": (lambda m, s: stats.lognorm(s, scale=np.exp(m)), (PLACE, WIDE), HALF),
    "Logistic": (lambda m, s: stats.logistic(m, s), (PLACE, WIDE), LINE),
    "Normal": (lambda m, s: stats.norm(m, s), (PLACE, WIDE), LINE),
    "Poisson": (lambda r: stats.poisson(r), (HALF,), COUNTS),
    "StudentT": (lambda d, m, s: stats.t(d, m, s), (HALF + 0.3, PLACE, WIDE), LINE),
    "Uniform": (lambda a, b: stats.uniform(a, b - a), (PLACE, PLACE + WIDE), LINE),
}
DISCRETE = ("Bernoulli", "Geometric", "Poisson")
FORMULAS = ("mean", "var", "sd", "entropy")
OF_VALUES = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
# Parameters that stand beside the first four: another distribution of the same kind.
SECOND = {
    "Bernoulli": (SHARE[::-1].copy(),),
    "Beta": (HALF + 1, WIDE + 1),
    "Cauchy": (PLACE[::-1].copy(), HALF),
    "Exponential": (HALF,),
    "Gamma": (WIDE, HALF),
    "Geometric": (SHARE[::-1].copy(),),
    "Gumbel": (PLACE[::-1].copy(), HALF),
    "LogNormal": (PLACE[::-1].copy(), HALF),
    "Normal": (PLACE[::-1].copy(), HALF),
    "Uniform": (PLACE - 1, PLACE + WIDE + 1),
}


def in_double(kind):
    """A distribution over Float64, whose parameters calls give."""
    given = (0.0, 1.0) if kind == "Gumbel" else ()
    return getattr(D, kind)(*given, dtype=ms.float64)


def functions(known, kind):
    """SciPy's answers to the questions about values."""
    probability = known.pmf if kind in DISCRETE else known.pdf
    logarithm = known.logpmf if kind in DISCRETE else known.logpdf
    return probability, logarithm, known.cdf, known.logcdf, known.sf, known.logsf


@pytest.mark.parametrize("kind", KNOWN)
def test_values_are_those_of_scipy(kind):
    oracle, parameters, values = KNOWN[kind]
    made = getattr(D, kind)(*[p.astype(np.float32) for p in parameters])
    if kind == "Bernoulli":
        values = np.array([0.0, 1.0, 1.0, 0.0])

    def all_of(x):
        return tuple(getattr(made, question)(x) for question in OF_VALUES)

    with np.errstate(divide="ignore"):
        known = oracle(*[p.astype(np.float32).astype(np.float64) for p in parameters])
        expected = [f(values.astype(np.float32)) for f in functions(known, kind)]
    for name, actual in run_everywhere(all_of, values.astype(np.float32)).items():
        for question, mine, theirs in zip(OF_VALUES, actual, expected, strict=True):
            what = f"{kind}.{question} in {name}"
            assert mine.dtype == np.float32, what
            np.testing.assert_allclose(mine, theirs, 1e-4, 2e-6, err_msg=what)


@pytest.mark.parametrize("kind", KNOWN)
def test_moments_are_those_of_scipy(kind):
    oracle, parameters, _ = KNOWN[kind]
    given = [p.astype(np.float32) for p in parameters]
    made = getattr(D, kind)(*given)
    known = oracle(*[p.astype(np.float64) for p in given])
    asked = [
        question
        for question in FORMULAS
        if not (kind == "Cauchy" and question != "entropy")
        and not (kind in ("Poisson", "StudentT") and question == "entropy")
    ]
    theirs = {"mean": known.mean, "var": known.var, "sd": known.std, "entropy": known.entropy}

    def all_of(*parameters):
        return tuple(getattr(made, question)(*parameters) for question in asked)

    for name, actual in run_everywhere(all_of, *given).items():
        for question, mine in zip(asked, actual, strict=True):
            what = f"{kind}.{question} in {name}"
            expected = theirs[question]()
            if kind == "StudentT" and question in ("mean", "var"):
                expected = np.where(given[0] > 1, expected, np.nan)
            np.testing.assert_allclose(mine, expected, 2e-5, 1e-6, err_msg=what)
    assert_close(all_of()[0].asnumpy(), all_of(*as_tensors(given))[0].asnumpy(), "its own")


def expectation(kind, known, other):
    """KL(known, other) for each of the four, by sums or integrals of SciPy's densities."""
    found = []
    for n in range(4):
        ours, theirs = (of(n) for of in (known, other))
        if kind in DISCRETE:
            x = np.arange(0, 2 if kind == "Bernoulli" else 500)
            p = ours.pmf(x)
            found.append(np.sum(np.where(p > 0, p * (ours.logpmf(x) - theirs.logpmf(x)), 0)))
        else:
            # Quantiles at the middles of equal parts: a mean over the distribution itself.
            x = ours.ppf((np.arange(400_000) + 0.5) / 400_000)
            found.append(np.mean(ours.logpdf(x) - theirs.logpdf(x)))
    return np.array(found)


@pytest.mark.parametrize("kind", SECOND)
def test_divergences_are_those_of_scipy(kind):
    oracle, parameters, _ = KNOWN[kind]
    if kind == "Beta":
        # Below 1 the densities have no bound, and SciPy's no logarithm where quantiles round to 1.
        parameters = [p + 1 for p in parameters]
    first, second = ([p.astype(np.float32) for p in given] for given in (parameters, SECOND[kind]))
    made = getattr(D, kind)(*first)
    expected = expectation(
        kind,
        lambda n: oracle(*[np.float64(p[n]) for p in first]),
        lambda n: oracle(*[np.float64(p[n]) for p in second]),
    )

    def both(*others):
        return made.kl_loss(kind, *others), made.cross_entropy(kind, *others)

    entropy = made.entropy().asnumpy()
    for name, (divergence, cross) in run_everywhere(both, *second).items():
        np.testing.assert_allclose(divergence, expected, 2e-3, 2e-4, err_msg=f"{kind}, {name}")
        np.testing.assert_allclose(cross, divergence + entropy, 1e-5, 1e-5)


def smooth(kind):
    """The questions whose answers have derivatives by everything, and those of entropies."""
    asked = [q for q in OF_VALUES if kind not in DISCRETE or "prob" in q]
    if kind in ("Beta", "Gamma", "StudentT"):
        # Incomplete functions have no derivative by their first argument.
        asked = ["prob", "log_prob"]
    return asked


@pytest.mark.parametrize("kind", [*KNOWN, "Categorical"])
def test_derivatives_are_differences(kind):
    """Oracle: central differences in Float64, by values (where they are real) and parameters."""
    if kind == "Categorical":
        parameters, values = (np.array([[0.2, 0.3, 0.5]]),), np.array([1.0])
        questions = ["log_prob", "cdf"]
    else:
        _, parameters, values = KNOWN[kind]
        questions = smooth(kind)
    if kind == "Exponential":
        values = HALF
    elif kind in ("HalfNormal", "Uniform"):
        values = PLACE + 0.3 * WIDE
    elif kind == "Bernoulli":
        values = np.array([0.0, 1.0, 1.0, 0.0])
    elif kind in DISCRETE:
        values = np.abs(COUNTS)
    made = in_double(kind)
    discrete_kind = kind in (*DISCRETE, "Categorical")
    for question in questions:

        def asked(*inputs, question=question):
            if discrete_kind:
                return getattr(made, question)(ms.Tensor(values), *inputs).sum()
            return getattr(made, question)(*inputs).sum()

        inputs = list(parameters) if discrete_kind else [values, *parameters]
        expected = gradients_by_differences(asked, inputs)
        gradient = ms.grad(asked, tuple(range(len(inputs))) if inputs[1:] else 0)
        for name, found in run_everywhere(gradient, *inputs).items():
            found = found if isinstance(found, tuple) else (found,)
            for mine, theirs in zip(found, expected, strict=True):
                what = f"{kind}.{question} in {name}"
                np.testing.assert_allclose(mine, theirs, 1e-5, 1e-7, err_msg=what)


BIJECTORS = {
    "Exp": (B.Exp, HALF),
    "GumbelCDF": (lambda: B.GumbelCDF(0.5, 2.0), HALF / 5),
    "Invert": (lambda: B.Invert(B.Softplus(0.7)), HALF),
    "PowerTransform": (lambda: B.PowerTransform(np.array([0.0, 0.5, 1.0, 2.0])), HALF),
    "ScalarAffine": (lambda: B.ScalarAffine(-2.0, 0.5), LINE),
    "Softplus": (lambda: B.Softplus(0.7), HALF),
}


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijectors_undo_themselves_and_know_their_slopes(name):
    """Oracle: the other direction, and central differences of the map in Float64."""
    make, values = BIJECTORS[name]
    bijector = make()
    step = 1e-6
    for direction, back in (("forward", "inverse"), ("inverse", "forward")):

        def there_and_back(x, direction=direction, back=back):
            y = bijector(direction, x)
            return bijector(back, y), bijector(f"{direction}_log_jacobian", x) + 0 * x

        ends = [bijector(direction, ms.Tensor(values + s)).asnumpy() for s in (step, -step)]
        slope = np.log(np.abs(ends[0] - ends[1]) / (2 * step))
        for mode, (again, log) in run_everywhere(there_and_back, values).items():
            assert_close(again, values, f"{name}.{direction} in {mode}", "float32")
            np.testing.assert_allclose(log, slope, 1e-6, 1e-6, err_msg=f"{direction} in {mode}")


def test_a_falling_map_turns_what_lies_below_around():
    """Oracle: SciPy. MindSpore 2.10 gives the probability of what lies above."""
    made = B.ScalarAffine(-2.0, 1.0)(D.Normal(0.5, 2.0))
    assert isinstance(made, D.TransformedDistribution)
    for name, actual in run_everywhere(made.cdf, LINE.astype(np.float32)).items():
        assert_close(actual, stats.norm(0.0, 4.0).cdf(LINE).astype(np.float32), name)


# What is drawn: by the test of Kolmogorov and Smirnov, or by counts of a chi-squared test.
DRAWN = [kind for kind in KNOWN if kind not in DISCRETE]


@pytest.mark.parametrize("kind", DRAWN)
def test_samples_are_of_the_distribution(kind):
    """Oracle: SciPy's cumulative functions; the seed is fixed, so that it passes or never does."""
    oracle, parameters, _ = KNOWN[kind]
    first = [float(p[2]) for p in parameters]
    ms.set_seed(5)
    drawn = getattr(D, kind)(*first).sample((20_000,)).asnumpy()
    assert drawn.shape == (20_000,) and drawn.dtype == np.float32
    assert stats.kstest(drawn, oracle(*first).cdf).pvalue > 1e-3


@pytest.mark.parametrize("kind", [*DISCRETE, "Categorical"])
def test_counts_are_of_the_distribution(kind):
    """Oracle: SciPy's probabilities, by a chi-squared test of 20,000 samples."""
    ms.set_seed(5)
    if kind == "Categorical":
        made, shares = D.Categorical([0.2, 0.5, 0.3]), np.array([0.2, 0.5, 0.3])
    else:
        oracle, parameters, _ = KNOWN[kind]
        made, shares = getattr(D, kind)(float(parameters[0][1])), None
        shares = oracle(parameters[0][1]).pmf(np.arange(8 if kind != "Bernoulli" else 2))
    drawn = made.sample((20_000,)).asnumpy()
    assert drawn.dtype == (np.float32 if kind == "Poisson" else np.int32)
    counts = np.bincount(drawn.astype(int), minlength=len(shares))
    likely = shares * 20_000 > 20
    measure = ((counts[: len(shares)] - shares * 20_000) ** 2 / (shares * 20_000))[likely]
    assert stats.chi2.sf(measure.sum(), likely.sum()) > 1e-3


@pytest.mark.parametrize("kind", [*KNOWN, "Categorical"])
def test_shapes_of_samples(kind):
    """Oracle: the shape that is asked for, in front of that of the parameters."""
    if kind == "Categorical":
        made, batch = D.Categorical([[0.5, 0.5], [0.25, 0.75]]), (2,)
    else:
        parameters = [p[:2].astype(np.float32) for p in KNOWN[kind][1]]
        made, batch = getattr(D, kind)(*parameters), (2,)
    for shape in ((), (3,), (3, 4)):
        assert made.sample(shape).shape == shape + batch
        assert made("sample", shape).shape == shape + batch
    given = [ops.broadcast_to(t, (5, *t.shape)) for t in made.default_parameters]
    assert made.sample((3,), *given).shape == (3, 5, *batch)


def test_a_seed_repeats_samples_and_calls_differ():
    """Oracle: the other run; one seed gives one sequence."""
    runs = []
    for _ in range(2):
        ms.set_seed(1)
        made = D.Normal(0.0, 1.0, seed=7)
        runs.append([made.sample((3,)).asnumpy() for _ in range(2)])
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0][0], runs[0][1])


@pytest.mark.parametrize("kind", ["Normal", "Gamma", "Uniform", "LogNormal", "StudentT", "Laplace"])
def test_samples_have_derivatives_by_location_and_scale(kind):
    """Oracle: the sample itself, which is linear in them, or what that means for the logarithm."""
    ms.set_seed(3)

    class Draw(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = ms.Parameter(ms.Tensor(2.0), name="scale")
            self.made = getattr(D, kind)()

        def construct(self, x):
            others = {"StudentT": (x + 3, x), "Gamma": (x + 2,)}.get(kind, (x,))
            return self.made.sample((4,), *others, self.scale)

    net = Draw()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        value, slope = ms.value_and_grad(net, None, net.trainable_params())(ms.Tensor(0.0))
        drawn, slope = value.asnumpy(), slope[0].asnumpy()
        if kind == "Gamma":
            expected = -drawn.sum() / 2
        elif kind == "LogNormal":
            expected = (drawn * np.log(drawn) / 2).sum()
        else:
            expected = (drawn / 2).sum()
        np.testing.assert_allclose(slope, expected, 1e-4, 1e-5)
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_distribution_of_your_own():
    """Oracle: the answers by hand; one formula answers all that follows from it."""

    class Ramp(D.Distribution):
        def __init__(self, top=2.0):
            param = dict(locals())
            param["param_dict"] = {"top": top}
            super().__init__(None, ms.float32, "Ramp", param)
            self.top = self._add_parameter(top, "top")

        def _log_survival(self, value, top=None):
            top = self._check_param_type(top)
            return ops.log(1 - (self._check_value(value, "value") / top) ** 2)

        def _var(self, top=None):
            return self._check_param_type(top) ** 2 / 18

    made, x = Ramp(), np.array([0.5, 1.0], np.float32)
    assert made.parameters["top"] == 2.0 and made.parameter_names == ["top"]

    def asked(x):
        return made.cdf(x), made.log_cdf(x), made.survival_function(x), made.sd(), made("var")

    below = (x / 2) ** 2
    expected = below, np.log(below), 1 - below, np.sqrt(2 / 9), 2 / 9
    for name, actual in run_everywhere(asked, x).items():
        for mine, theirs in zip(actual, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, 1e-5, err_msg=name)
    with pytest.raises(NotImplementedError, match="a subclass can have one in _prob"):
        made.prob(ms.Tensor([1.0]))


def test_parameters_that_are_learned():
    """Oracle: the mean and deviation of the data, where the likelihood is greatest."""
    data = np.random.default_rng(0).normal(3.0, 0.5, 64).astype(np.float32)

    class Likelihood(nn.Cell):
        def __init__(self):
            super().__init__()
            mean = ms.Parameter(ms.Tensor(0.0), name="mean")
            self.normal = D.Normal(mean, ms.Parameter(ms.Tensor(1.0), name="sd"))

        def construct(self, x):
            return -self.normal.log_prob(x).mean()

    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        net = Likelihood()
        assert sorted(p.name for p in net.trainable_params()) == [
            "normal._mean_value",
            "normal._sd_value",
        ]
        step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.1))
        for _ in range(300):
            step(ms.Tensor(data))
        found = [float(p.asnumpy()) for p in net.trainable_params()]
        np.testing.assert_allclose(found, [data.mean(), data.std()], 1e-3)
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("made_once", [True, False])
def test_a_distribution_in_a_step(made_once):
    """Oracle: NumPy, and the ledger: one that is made outside is replayed."""
    known = D.Categorical()

    def policy(logits, actions):
        shares = ops.softmax(logits)
        chosen, given = (known, (shares,)) if made_once else (D.Categorical(shares), ())
        entropy = chosen.entropy(*given).mean()
        return -(chosen.log_prob(actions, *given) * 0.5).mean() - 0.01 * entropy

    compiled = ms.jit(ms.value_and_grad(policy))
    before = ms.debug.ledger().counts.replays
    random = np.random.default_rng(1)
    for _ in range(6):
        logits = random.normal(size=(5, 3)).astype(np.float32)
        actions = ms.Tensor(random.integers(0, 3, 5).astype(np.int32))
        actual = compiled(ms.Tensor(logits), actions)[0].asnumpy()
        shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        log = np.log(shares[np.arange(5), actions.asnumpy()])
        entropy = -(shares * np.log(shares)).sum(1)
        np.testing.assert_allclose(actual, -0.5 * log.mean() - 0.01 * entropy.mean(), 1e-5)
    assert (ms.debug.ledger().counts.replays - before >= 3) == made_once


WRONG = [
    (lambda: D.Normal(0.0, 1.0).mean(sd=1.0, median=2.0), TypeError, "'median' is no parameter"),
    (lambda: D.Normal(0.0, 1.0, name=3), TypeError, "name must be a text"),
    (lambda: D.Normal("a", 1.0), TypeError, "A parameter must be a number"),
    (lambda: D.Normal(0.0, 1.0)("median"), NotImplementedError, "no formula for median here"),
    (lambda: D.Cauchy(0.0, 1.0).var(), ValueError, "its mode and entropy are"),
    (lambda: B.Exp()("backward", ms.Tensor(1.0)), ValueError, "the direction must be forward or"),
    (lambda: B.Invert(3), TypeError, "a Bijector"),
    (lambda: B.Bijector(name="Mine").forward(ms.Tensor(1.0)), NotImplementedError, "in _forward"),
    (lambda: B.Bijector(), TypeError, "name must be a text"),
]


@pytest.mark.parametrize(("make", "kind", "text"), WRONG)
def test_errors_say_what_to_write(make, kind, text):
    with pytest.raises(kind, match=text):
        make()


MODULES = [base, bijection, bnn_layers, discrete, interval, line, maps, positive, transformed]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_examples(module):
    names = {"nn": nn, "ops": ops, "ms": ms, "Tensor": ms.Tensor, "np": np}
    outcome = doctest.testmod(module, extraglobs=names)
    assert outcome.attempted and not outcome.failed


def test_formulas_bind_their_parameters_by_name():
    """Oracle: the same by position; MindSpore's own words for them count too."""
    made, given = D.Bernoulli(0.5), ms.Tensor([0.25])
    first = made.mean(given)
    assert first == made.mean(probs=given) == made.mean(probs1=given)
    assert formulas.chosen(made, (), {"probs": given}) == [given]
    normal, one, two = D.Normal(0.0, 1.0), ms.Tensor(1.0), ms.Tensor(2.0)
    by_place = normal.kl_loss("Normal", one, two, two, one)
    by_name = normal.kl_loss("Normal", mean_b=one, sd_b=two, mean=two, sd_a=one)
    assert by_place == by_name
