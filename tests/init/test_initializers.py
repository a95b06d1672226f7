# SPDX-License-Identifier: Apache-2.0
"""Initialisers: recorded statistics, SciPy's distributions, seeds, and what they refuse."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import mycel as ms
from fixtures.case import evaluate
from fixtures.load import rows
from mycel import init, nn
from mycel.init import initializer, schemes
from support import recorded_cells as recorded

# Layers that are not there yet, and functions of random numbers, which have their own tests.
LEFT_OUT = ()
OTHERS = r"layer_(rand|uniform_|normal_|standard|bernoulli)"
DRAWN = [
    (case, answer)
    for case, answer in recorded.named("initializers", rf"(?!{OTHERS})", without=LEFT_OUT)
    if answer.statistics is not None
]


@pytest.mark.parametrize(("case", "answer"), DRAWN, ids=recorded.case_name)
def test_recorded_statistics(case, answer):
    """Mean and spread agree within five standard errors; bounds of uniform numbers closely."""
    ms.set_seed(11)
    drawn = evaluate(case, ms)
    expected = answer.statistics["statistics"]
    values = drawn.asnumpy().astype(np.float64)
    assert str(drawn.dtype).lower() == answer.statistics["dtype"]
    assert list(values.shape) == answer.statistics["shape"]
    error = max(expected["std"], 1e-12) / np.sqrt(values.size)
    assert abs(values.mean() - expected["mean"]) < 8 * error + 1e-6
    assert abs(values.std() - expected["std"]) < 6 * error + 1e-6
    flat = abs(expected["max"] / max(expected["std"], 1e-12) - np.sqrt(3)) < 0.02
    if flat or expected["std"] == 0:
        limit = 0.01 * abs(expected["max"]) + 1e-6
        assert abs(values.max() - expected["max"]) < limit
        assert abs(values.min() - expected["min"]) < limit


# Why a recorded case is not ours.
DIFFERENT = (
    # Ours is filled at once.
    "initializer_is_lazy",
    "parameter_from_initializer",
    # A ValueError that says what a shape is; MindSpore's is an AttributeError of its own.
    "initializer_no_shape",
)


@pytest.mark.parametrize(
    ("case", "answer"),
    [pair for pair in recorded.named("initializers", without=DIFFERENT) if not pair[1].statistics],
    ids=recorded.case_name,
)
def test_recorded_values(case, answer):
    recorded.check(case, answer, ("fused",))


DISTRIBUTIONS = {
    "Normal": (init.Normal(0.5, 2.0), stats.norm(2.0, 0.5)),
    "Uniform": (init.Uniform(0.5), stats.uniform(-0.5, 1.0)),
    "TruncatedNormal": (init.TruncatedNormal(1.0, 0.5, -1.0, 1.5), stats.truncnorm(-1.5, 1, 0.5)),
    "TruncatedNormal in the tail": (
        init.TruncatedNormal(1.0, 5.0, -2.0, 2.0),
        stats.truncnorm(-7, -3, 5.0),
    ),
    "TruncatedNormal far in the tail": (
        init.TruncatedNormal(1.0, 0.0, 20.0, 30.0),
        stats.truncnorm(20, 30),
    ),
    "TruncatedNormal in a narrow gap": (
        init.TruncatedNormal(1.0, 0.0, -0.01, 0.02),
        stats.truncnorm(-0.01, 0.02),
    ),
    "HeUniform": (init.HeUniform(), stats.uniform(-np.sqrt(6 / 50), 2 * np.sqrt(6 / 50))),
    "HeNormal": (init.HeNormal(0, "fan_out", "tanh"), stats.norm(0, 5 / 3 / np.sqrt(400))),
    "XavierUniform": (
        init.XavierUniform(2),
        stats.uniform(-2 * np.sqrt(6 / 450), 4 * np.sqrt(6 / 450)),
    ),
    "XavierNormal": (init.XavierNormal(), stats.norm(0, np.sqrt(2 / 450))),
    "VarianceScaling": (
        init.VarianceScaling(2.0),
        stats.truncnorm(-2, 2, 0, np.sqrt(2 / 50) / stats.truncnorm(-2, 2).std()),
    ),
    "VarianceScaling without limits": (
        init.VarianceScaling(2.0, "fan_out", "untruncated_normal"),
        stats.norm(0, np.sqrt(2 / 400)),
    ),
    "VarianceScaling, even": (
        init.VarianceScaling(3.0, "fan_avg", "uniform"),
        stats.uniform(-np.sqrt(9 / 225), 2 * np.sqrt(9 / 225)),
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name):
    """The oracle is SciPy: the distance of both distribution functions (Kolmogorov, Smirnov)."""
    ms.set_seed(4)
    made, expected = DISTRIBUTIONS[name]
    drawn = made.fill((400, 50)).reshape(-1)
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-3


# Initialisers that draw nothing, or whose draws have a test of their own, here or by recorded rows.
WITHOUT = {"Constant", "Dirac", "Identity", "Initializer", "One", "Orthogonal", "Sparse", "Zero"}


def test_every_initializer_that_draws_has_a_distribution():
    found = {name for name in init.__all__ if inspect.isclass(getattr(init, name))}
    assert found - WITHOUT == {re.match(r"\w+", name)[0] for name in DISTRIBUTIONS}


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal(shape):
    made = init.Orthogonal(2.0).fill(shape).reshape(shape[0], -1)
    square = made @ made.T if made.shape[0] <= made.shape[1] else made.T @ made
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)


def test_sparse():
    made = init.Sparse(0.3, 0.5).fill((10, 7))
    assert ((made == 0).sum(0) == 3).all()
    drawn = init.Sparse(0.25, 0.5).fill((400, 50))
    assert stats.kstest(drawn[drawn != 0], stats.norm(0, 0.5).cdf).pvalue > 1e-3


def test_dirac_and_identity():
    x = np.random.default_rng(0).normal(size=(1, 4, 5, 5)).astype(np.float32)
    weight = initializer("dirac", (4, 4, 3, 3))
    made = ms.ops.conv2d(ms.Tensor(x), weight, pad_mode="same")
    np.testing.assert_allclose(made.asnumpy(), x, 1e-6)
    np.testing.assert_array_equal(initializer("identity", (3, 4)).asnumpy(), np.eye(3, 4))


SIGNATURES = {
    name.removeprefix("initializer."): text
    for name, text in rows("signatures").items()
    if name.startswith("initializer.")
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_recorded_signatures(name):
    item = getattr(init, name)
    made = inspect.signature(item.__init__ if inspect.isclass(item) else item)
    kept = [p.replace(annotation=p.empty) for p in made.parameters.values() if p.name != "self"]
    text = str(made.replace(parameters=kept, return_annotation=made.empty))
    assert text == SIGNATURES[name]


# -- seeds ---------------------------------------------------------------------------------

PROGRAM = (
    "import mycel as ms; from mycel import nn; ms.set_seed(7); net = nn.SequentialCell("
    "nn.Dense(3, 2), nn.Conv2d(1, 2, 3, has_bias=True), nn.Embedding(3, 2)); "
    "print([p.asnumpy().tobytes().hex() for p in net.get_parameters()])"
)


def drawn_here():
    ms.set_seed(7)
    net = nn.SequentialCell(nn.Dense(3, 2), nn.Conv2d(1, 2, 3, has_bias=True), nn.Embedding(3, 2))
    return [p.asnumpy().tobytes().hex() for p in net.get_parameters()]


def test_seed_fixes_values_across_processes():
    other = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert other.stdout.strip() == str(drawn_here()), other.stderr


def test_seed_fixes_values_and_every_draw_differs():
    first = drawn_here()
    assert drawn_here() == first
    assert len(set(first)) == len(first)
    ms.set_seed(7)
    a, b = init.Normal().fill((4,)), init.Normal().fill((4,))
    assert (a != b).all()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_values_do_not_depend_on_the_mode(mode):
    expected = drawn_here()
    ms.set_context(mode=mode)
    assert drawn_here() == expected


def test_many_shapes_compile_one_program():
    """Filling is NumPy's: the only program is the one that draws keys."""
    initializer("normal", (2, 2))
    before = ms.debug.ledger().counts.compilations
    for n in range(2, 30):
        initializer("he_uniform", (n, n + 1))
    assert ms.debug.ledger().counts.compilations == before


# -- given and refused ---------------------------------------------------------------------


def test_own_initializer():
    class Counted(init.Initializer):
        def _initialize(self, arr):
            arr[...] = np.arange(arr.size).reshape(arr.shape)

    layer = nn.Dense(3, 2, weight_init=Counted())
    np.testing.assert_array_equal(layer.weight.asnumpy(), [[0, 1, 2], [3, 4, 5]])
    array = np.zeros(2)
    Counted()(array)
    assert array.tolist() == [0, 1]


def test_tensors_and_numbers():
    given = ms.Tensor([1.0, 2.0])
    assert initializer(given, (2,)) is given
    assert initializer(given) is given
    assert initializer(True, (2,)).asnumpy().tolist() == [1, 1]
    assert initializer(2.5, 2, ms.float16).dtype is ms.float16
    assert initializer("ones", (2,), ms.bfloat16).dtype is ms.bfloat16


REFUSED = {
    "initializer('foo', 3)": (ValueError, "The name of an initialiser must be one of dirac, he"),
    "initializer([1, 2], 2)": (TypeError, "an Initializer, its name, a number or a Tensor"),
    "initializer(init.Normal, 2)": (TypeError, "init must be an Initializer"),
    "initializer('ones', (0,))": (ValueError, "a positive integer or a tuple of them, but (0,)"),
    "initializer('ones', (1.5,))": (ValueError, "but (1.5,) was given"),
    "initializer('ones')": (ValueError, "but None was given"),
    "initializer(ms.ops.ones((3,)), (4,))": (ValueError, "of shape (4,), but shape (3,)"),
}


@pytest.mark.parametrize("source", REFUSED)
def test_refused(source):
    kind, text = REFUSED[source]
    names = {"initializer": initializer, "init": init, "ms": ms}
    with pytest.raises(kind) as caught:
        eval(compile(source, "train.py", "eval"), names)
    assert text in str(caught.value)
    assert "train.py:1" in str(caught.value)


FORMULAS = {
    "he_uniform of a vector": (lambda: initializer("he_uniform", (3,)), "two dimensions or more"),
    "unknown activation": (lambda: schemes.gain_of("foo"), "nonlinearity must be one of"),
    "unknown mode": (lambda: schemes.fan_of((2, 2), "foo"), "mode must be 'fan_in'"),
    "bounds": (lambda: init.TruncatedNormal(1, 0, 2, 1).fill((2,)), "needs a < b and sigma > 0"),
    "distribution": (
        lambda: init.VarianceScaling(1, "fan_in", "foo").fill((2, 2)),
        "distribution must be",
    ),
    "dirac": (lambda: initializer("dirac", (3, 2)), "three to five dimensions"),
    "dirac groups": (lambda: init.Dirac(3).fill((4, 2, 3)), "does not divide"),
    "sparse": (lambda: init.Sparse(0.1).fill((2, 2, 2)), "needs two dimensions"),
    "identity": (lambda: initializer("identity", (2, 2, 2)), "needs two dimensions"),
    "orthogonal": (lambda: initializer("orthogonal", (2,)), "two dimensions or more"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_refused_by_the_formula(name):
    call, text = FORMULAS[name]
    with pytest.raises(ValueError, match=text):
        call()


def test_every_initializer_names_its_keywords():
    """The oracle is the text; the base takes any, which it keeps, and so those without settings."""
    for name in {name for name in init.__all__ if inspect.isclass(getattr(init, name))}:
        if name in ("Identity", "Initializer", "One", "Zero"):
            continue
        with pytest.raises(
            TypeError, match=rf"{name}\(\) has no keyword 'nearly' \(at .*test_init"
        ):
            getattr(init, name)(nearly=1)
    with pytest.raises(TypeError, match=r"it takes sigma, mean; nearest: sigma\."):
        init.Normal(std=0.1)
    assert init.Initializer(nearly=1).nearly == 1
