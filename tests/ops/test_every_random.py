# SPDX-License-Identifier: Apache-2.0
"""Every operator of chance, the dropout family and what Tensors draw in place.

Oracles: SciPy's distributions; the same numbers from the same seed in another process and mode.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Tensor, mint, nn, ops
from mycel.kernel.spell import namespaces

# What draws, one expression for each name; `test_random.py` has the distributions of most.
DRAWS = {
    "rand": "ops.rand(6)",
    "randn": "ops.randn(6)",
    "randint": "ops.randint(0, 100, (6,))",
    "rand_like": "ops.rand_like(x)",
    "randn_like": "ops.randn_like(x)",
    "randint_like": "ops.randint_like(x.astype('int32'), 0, 100)",
    "uniform": "ops.uniform((6,), Tensor(0.0), Tensor(1.0))",
    "normal": "ops.normal((6,), 0.0, 1.0)",
    "standard_normal": "ops.standard_normal((6,))",
    "StandardNormal": "ops.StandardNormal()((6,))",
    "UniformReal": "ops.UniformReal()((6,))",
    "UniformInt": "ops.UniformInt()((6,), 0, 100)",
    "TruncatedNormal": "ops.TruncatedNormal()((6,))",
    "bernoulli": "ops.bernoulli(x, 0.5)",
    "Bernoulli": "ops.Bernoulli()(x, Tensor(0.5))",
    "multinomial": "ops.multinomial(x, 20)",
    "Multinomial": "ops.Multinomial()(x, 20)",
    "random_categorical": "ops.random_categorical(x[None], 20)",
    "RandomCategorical": "ops.RandomCategorical()(x[None], 20, 0)",
    "randperm": "ops.randperm(20)",
    "Randperm": "ops.Randperm(20)(Tensor([20], ms.int32))",
    "RandpermV2": "ops.RandpermV2()(20)",
    "shuffle": "ops.shuffle(ops.arange(20))",
    "choice_with_mask": "ops.choice_with_mask(x > 0, 4)",
    "RandomChoiceWithMask": "ops.RandomChoiceWithMask(4)(x > 0)",
    "laplace": "ops.laplace((6,), Tensor(0.0), Tensor(1.0))",
    "standard_laplace": "ops.standard_laplace((6,))",
    "StandardLaplace": "ops.StandardLaplace()((6,))",
    "gamma": "ops.gamma((6,), Tensor(2.0), Tensor(1.0))",
    "Gamma": "ops.Gamma()((6,), Tensor(2.0), Tensor(1.0))",
    "random_poisson": "ops.random_poisson((6,), Tensor(3.0))",
    "Poisson": "ops.Poisson()((6,), Tensor(3.0))",
    "dropout": "ops.dropout(x)",
    "dropout1d": "ops.dropout1d(x.reshape(1, 60, 1))",
    "dropout2d": "ops.dropout2d(x.reshape(1, 60, 1, 1))",
    "dropout3d": "ops.dropout3d(x.reshape(1, 60, 1, 1, 1))",
    "Dropout": "ops.Dropout(0.5)(x)",
    "Dropout2D": "ops.Dropout2D(0.5)(x.reshape(1, 60, 1, 1))",
    "Dropout3D": "ops.Dropout3D(0.5)(x.reshape(1, 60, 1, 1, 1))",
    "DropoutGenMask": "ops.DropoutGenMask()((60,), Tensor(0.5))",
    "fractional_max_pool2d": "ops.fractional_max_pool2d(x.reshape(1, 1, 6, 10), 2, (3, 4))",
    "fractional_max_pool3d": "ops.fractional_max_pool3d(x.reshape(1, 1, 3, 4, 5), 2, (2, 2, 2))",
    "multinomial_with_replacement": "ops.multinomial_with_replacement(x, None, 0, 20, True)",
    "MultinomialWithReplacement": "ops.MultinomialWithReplacement(20, True)(x)",
    "random_gamma": "ops.random_gamma((6,), Tensor(2.0))",
    "RandomGamma": "ops.RandomGamma()((6,), Tensor(2.0))",
    "RandomPoisson": "ops.RandomPoisson()((6,), Tensor(3.0))",
    "RandomShuffle": "ops.RandomShuffle()(ops.arange(20))",
    "uniform_candidate_sampler": "ops.uniform_candidate_sampler(Tensor([[1]]), 1, 6, True, 90)",
    "UniformCandidateSampler": "ops.UniformCandidateSampler(1, 6, True, 90)(Tensor([[1]]))",
    "bernoulli_ext": "ops.bernoulli_ext(x)",
    "bernoulli_": "ops.bernoulli_(x + 0, 0.5)",
    "exponential_": "ops.exponential_(x + 0, 2)",
    "random_": "ops.random_(x + 0, 0, 100)",
    "uniform_": "ops.uniform_(x + 0, -1, 3)",
}
IN_MINT = {
    "rand": "mint.rand(6)",
    "randn": "mint.randn(6)",
    "randint": "mint.randint(100, (6,))",
    "rand_like": "mint.rand_like(x)",
    "randn_like": "mint.randn_like(x)",
    "randint_like": "mint.randint_like(x.astype('int32'), 100)",
    "normal": "mint.normal(0.0, 1.0, (6,))",
    "bernoulli": "mint.bernoulli(x)",
    "multinomial": "mint.multinomial(x, 20, True)",
    "randperm": "mint.randperm(20)",
    "nn.functional.dropout": "mint.nn.functional.dropout(x)",
    "nn.functional.dropout2d": "mint.nn.functional.dropout2d(x.reshape(1, 60, 1, 1))",
}
IN_PLACE = {
    "Tensor.uniform_": "(x + 0).uniform_(-1, 3)",
    "Tensor.normal_": "(x + 0).normal_(2, 0.5)",
    "Tensor.exponential_": "(x + 0).exponential_(2)",
    "Tensor.random_": "(x + 0).random_(0, 100)",
    "Tensor.bernoulli_": "(x + 0).bernoulli_(0.5)",
}
TEXTS = {**DRAWS, **{f"mint.{name}": text for name, text in IN_MINT.items()}, **IN_PLACE}
CHANCE = re.compile(
    "^(standard|random|rand|.*normal$|uniform|.*dropout|bernoulli|.*multinomial"
    "|.*poisson|gamma|.*laplace|shuffle|choice|cauchy|exponential|geometric|fractional_max)",
    re.I,
)
# Names like these, of something else.
OTHERS = {
    "DropoutDoMask": "puts a mask that was drawn before to use",
    "FractionalMaxPoolWithFixedKsize": "takes its random numbers as an input",
    "FractionalMaxPool3DWithFixedKsize": "takes its random numbers as an input",
}


def test_every_operator_of_chance_has_a_row():
    for space, rows in (("ops", DRAWS), ("mint", IN_MINT)):
        found = {name for name in namespaces[space] if CHANCE.match(name)}
        assert found - set(OTHERS) - set(rows) == set(), space
    found = {f"Tensor.{name}" for name in dir(Tensor) if CHANCE.match(name) and name[-1] == "_"}
    assert found - set(IN_PLACE) == {"Tensor.__rand__"} & found


# -- one seed, the same numbers ----------------------------------------------------------------

IMPORTS = "import json, sys\nimport mycel as ms\nfrom mycel import Tensor, mint, ops\n"
CALL = "\nprint(json.dumps(drawn(json.loads(sys.argv[1]), compiled=True)))"


# Other spellings of a definition that has a row: they are compiled there.
SPELLINGS = {
    *("StandardNormal", "Bernoulli", "Multinomial", "RandomCategorical", "RandpermV2"),
    *("RandomChoiceWithMask", "StandardLaplace", "Gamma", "Poisson", "Dropout2D", "Dropout3D"),
    *(f"mint.{name}" for name in IN_MINT if name != "randint"),
}


def drawn(texts: dict, compiled: bool) -> dict:
    """What three calls of each draw, behind one seed."""
    found = {}
    names = {"x": ops.arange(60, dtype=ms.float32) / 60, "ms": ms, "ops": ops, "mint": mint}
    for name, text in texts.items():
        draw = eval("lambda: " + text, {**names, "Tensor": Tensor})
        draw = ms.jit(draw) if compiled else draw
        ms.set_seed(5)
        found[name] = []
        for _ in range(3):
            # Each is read by itself, so that spellings of one definition share a program.
            made = draw()
            parts = made if isinstance(made, tuple) else (made,)
            found[name] += [part.asnumpy().tobytes().hex() for part in parts]
    return found


def test_one_seed_gives_the_same_in_every_process_and_mode():
    """The oracle is the other process, which has the other mode."""
    program = IMPORTS + inspect.getsource(drawn) + CALL
    texts = {name: text for name, text in TEXTS.items() if name not in SPELLINGS}
    command = [sys.executable, "-c", program, json.dumps(texts)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    eager, other = drawn(TEXTS, compiled=False), json.loads(done.stdout)
    assert [name for name in texts if eager[name] != other[name]] == []
    # Every call draws anew; poolings may choose alike by chance.
    alike = [name for name, parts in eager.items() if len(set(parts)) == 1]
    assert [name for name in alike if not name.startswith("fractional")] == []


# -- distributions -----------------------------------------------------------------------------

COUNT = 20_000
LEAST = 1e-4
IN_PLACE_OF = {
    "uniform_": ((-1, 3), scipy.stats.uniform(-1, 4)),
    "normal_": ((2, 0.5), scipy.stats.norm(2, 0.5)),
    "exponential_": ((2,), scipy.stats.expon(scale=0.5)),
}


@pytest.mark.parametrize("name", IN_PLACE_OF)
def test_drawn_in_place(name):
    """The oracle is SciPy: Kolmogorov and Smirnov."""
    arguments, distribution = IN_PLACE_OF[name]
    ms.set_seed(11)
    x = ops.zeros(COUNT)
    getattr(x, name)(*arguments)
    assert scipy.stats.kstest(x.asnumpy(), distribution.cdf).pvalue > LEAST


def test_integers_and_bits_in_place():
    """The oracle is SciPy: the chi-square of equal shares, the binomial of ones."""
    ms.set_seed(11)
    x = ops.zeros(COUNT)
    counts = np.bincount(x.random_(0, 8).asnumpy().astype(int), minlength=8)
    assert scipy.stats.chisquare(counts).pvalue > LEAST
    ones = int(x.bernoulli_(0.3).asnumpy().sum())
    assert scipy.stats.binomtest(ones, COUNT, 0.3).pvalue > LEAST


def test_standard_laplace():
    ms.set_seed(11)
    made = ops.standard_laplace((COUNT,)).asnumpy()
    assert scipy.stats.kstest(made, scipy.stats.laplace.cdf).pvalue > LEAST


def test_choice_with_a_mask():
    """Each of the places that are open is chosen equally often, and none that is closed."""
    ms.set_seed(11)
    mask = Tensor([True, False, True, True, False, True])
    places = []
    for _ in range(100):
        # Each is read by itself: one program of hundreds of sorts would take long to compile.
        chosen, taken = ops.choice_with_mask(mask, 2)
        places += chosen.asnumpy()[:, 0].tolist()
        assert taken.asnumpy().all()
    counts = np.bincount(places, minlength=6)
    assert counts[[1, 4]].tolist() == [0, 0]
    assert scipy.stats.chisquare(counts[[0, 2, 3, 5]]).pvalue > LEAST


SHAPES = {1: (2, 1000, 3), 2: (2, 1000, 2, 2), 3: (2, 1000, 2, 1, 2)}
# What drops a share of 0.25: of elements, or of whole channels.
FAMILY = {
    "ops.dropout": (lambda x: ops.dropout(x, 0.25), 0),
    "ops.Dropout": (lambda x: ops.Dropout(0.75)(x)[0], 0),
    "mint.dropout": (lambda x: mint.nn.functional.dropout(x, 0.25), 0),
    "nn.Dropout": (lambda x: nn.Dropout(p=0.25).set_train()(x), 0),
    "nn.Dropout(keep_prob)": (lambda x: nn.Dropout(keep_prob=0.75).set_train()(x), 0),
    "mint.nn.Dropout": (lambda x: mint.nn.Dropout(0.25).set_train()(x), 0),
    "DropoutDoMask": (
        lambda x: ops.DropoutDoMask()(
            x, ops.DropoutGenMask()(x.shape, Tensor(0.75)), Tensor(0.75)
        ),
        0,
    ),
    "ops.dropout1d": (lambda x: ops.dropout1d(x, 0.25), 1),
    "nn.Dropout1d": (lambda x: nn.Dropout1d(0.25).set_train()(x), 1),
    "ops.dropout2d": (lambda x: ops.dropout2d(x, 0.25), 2),
    "ops.Dropout2D": (lambda x: ops.Dropout2D(0.75)(x)[0], 2),
    "mint.dropout2d": (lambda x: mint.nn.functional.dropout2d(x, 0.25), 2),
    "nn.Dropout2d": (lambda x: nn.Dropout2d(0.25).set_train()(x), 2),
    "mint.nn.Dropout2d": (lambda x: mint.nn.Dropout2d(0.25).set_train()(x), 2),
    "ops.dropout3d": (lambda x: ops.dropout3d(x, 0.25), 3),
    "ops.Dropout3D": (lambda x: ops.Dropout3D(0.75)(x)[0], 3),
    "nn.Dropout3d": (lambda x: nn.Dropout3d(0.25).set_train()(x), 3),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILY)
def test_dropout(name):
    """What stays is 1/0.75 of itself; SciPy's binomial test counts what does not."""
    drop, dimensions = FAMILY[name]
    x = ops.ones(SHAPES.get(dimensions, (2, 1000)), ms.float32)
    results = []
    for mode in EXECUTIONS:
        with execution(mode):
            ms.set_seed(11)
            results.append(drop(x).asnumpy())
    for made in results[1:]:
        np.testing.assert_array_equal(made, results[0])
    channels = made.reshape(2000, -1)
    assert (channels == channels[:, :1]).all()
    kept = channels[:, 0] != 0
    np.testing.assert_allclose(channels[kept], 1 / 0.75, 1e-6)
    assert scipy.stats.binomtest(int(kept.sum()), 2000, 0.75).pvalue > LEAST


def test_slopes_by_chance():
    """RReLU in training: slopes spread evenly; the oracle is SciPy."""
    ms.set_seed(11)
    layer = nn.RReLU(0.25, 0.5).set_train()
    slopes = -layer(Tensor(-np.ones(COUNT, np.float32))).asnumpy()
    assert scipy.stats.kstest(slopes, scipy.stats.uniform(0.25, 0.25).cdf).pvalue > LEAST
