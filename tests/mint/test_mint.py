# SPDX-License-Identifier: Apache-2.0
"""`mint`: as recorded in PyTorch, whose arguments and answers it has; names as in MindSpore."""

from __future__ import annotations

import doctest
import json
import pathlib

import numpy as np
import pytest

import mycel as ms
from check_cell import check_cell
from fixtures import cases, load
from fixtures.case import Array, decode, evaluate
from harness import EXECUTIONS, assert_close, execution, run_everywhere
from mycel import mint
from support import recorded_cells as recorded

FOLDER = pathlib.Path(load.__file__).parent / "pytorch"
ANSWERS = json.loads((FOLDER / "mint.json").read_text())
CASES = cases.family("mint")
DOUBLE = ms.float64
RANDOM = np.random.default_rng(11)


def filled(net):
    """The layer, each trained Parameter with numbers of its own; see `families.mint`."""
    for number, parameter in enumerate(net.trainable_params()):
        values = np.sin(np.arange(parameter.size) * 1.1 + number) * 0.7
        parameter.set_data(ms.Tensor(values.astype(np.float32).reshape(parameter.shape)))
    return net


def layer(text, x, train):
    """Outputs, gradients by the Parameters, and everything kept after one call."""
    net = filled(eval(text, {"mint": mint})).set_train(train)
    out = net(x)
    kept = {p.name: ms.Tensor(p.asnumpy()) for p in net.get_parameters()}
    weights = ms.Tensor(np.cos(np.arange(out.size)).astype(np.float32).reshape(out.shape))
    trained = net.trainable_params()
    gradients = ()
    if trained:
        gradient = ms.grad(lambda x: (net(x) * weights).sum(), None, trained)
        gradients = [gradient(x) for _ in range(3)][-1]
    return out, gradients, kept


def weighted(value):
    """The sum of all real results, each with a weight of its own."""
    if isinstance(value, tuple):
        return sum(map(weighted, value), ms.Tensor(0.0))
    if not value.dtype.is_floating:
        return ms.Tensor(0.0)
    weights = np.cos(np.arange(value.size)).astype(np.float32).reshape(value.shape)
    return (value * ms.Tensor(weights)).sum()


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name.startswith("layer")], ids=lambda case: case.name
)
def test_layers_as_in_pytorch(case):
    expected = decode(ANSWERS[case.name]["output"])
    for mode in EXECUTIONS:
        with execution(mode):
            names = {"x0": ms.Tensor(case.inputs[0]), "layer": layer}
            recorded.same(eval(case.expression, names), expected, f"{case.name} in {mode}")


@pytest.mark.parametrize(
    "case", [c for c in CASES if not c.name.startswith("layer")], ids=lambda case: case.name
)
def test_calls_as_in_pytorch(case):
    expected = [decode(ANSWERS[case.name]["output"])]
    expected += [decode(ANSWERS[case.name]["gradient"])] if case.gradient else []
    arguments = ", ".join(f"x{i}" for i in range(len(case.inputs)))
    function = eval(f"lambda {arguments}: {case.expression}", {"mint": mint})

    def both(*inputs):
        if not case.gradient:
            return [function(*inputs)]
        gradient = ms.grad(lambda *xs: weighted(function(*xs)), case.gradient[0])(*inputs)
        return [function(*inputs), (gradient,)]

    found = run_everywhere(both, *case.inputs)
    for mode, actual in found.items():
        compare(actual, expected, f"{case.name} in {mode}")


def compare(actual, expected, what):
    """Equal structure, element types and values; `actual` are NumPy arrays."""
    if isinstance(expected, Array):
        assert_close(actual, expected.values, what)
    else:
        assert len(actual) == len(expected), what
        for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
            compare(one, other, f"{what}[{index}]")


FUNCTIONS = json.loads((FOLDER / "mint_functions.json").read_text())


@pytest.mark.parametrize("case", cases.family("mint_functions"), ids=lambda case: case.name)
def test_functions_as_in_pytorch(case):
    def function(*inputs):
        return eval(case.expression, {"mint": mint, **{f"x{i}": x for i, x in enumerate(inputs)}})

    for mode, found in run_everywhere(function, *case.inputs).items():
        expected = decode(FUNCTIONS[case.name]["output"])
        if case.name == "call_nansum":
            # MindSpore 2.10 keeps the type of integers, where PyTorch gives Int64.
            assert [one.dtype for one in found[1:]] == [np.int32] * 2
            kinds = [one.values.dtype for one in expected]
            found = tuple([one.astype(kind) for one, kind in zip(found, kinds, strict=True)])
        compare(found, expected, f"{case.name} in {mode}")


EDGES = json.loads((FOLDER / "edges_mint.json").read_text())
# Where we give what NumPy says, or MindSpore itself: the sign of NaN, functions of infinities whose
# limits are known, and quotients of infinities.
WITH_LIMITS = {
    "odd sign": [np.nan, 1, -1, 0, 0, 1],
    "odd gelu": [np.nan, np.inf, np.nan, 0, 0, 0.8413447],
    "odd hardswish": [np.nan, np.inf, 0, 0, 0, 2 / 3],
    "odd floor_divide": [np.nan, np.nan, -np.inf, np.nan, np.nan, 0],
}
READ = ("nonzero", "masked_select", "unique", "bincount")


@pytest.mark.parametrize("case", cases.family("edges_mint"), ids=lambda case: case.name)
def test_edges_as_in_pytorch(case):
    # Nothing, one number, NaN and infinities.
    def function(*inputs):
        return eval(case.expression, {"mint": mint, **{f"x{i}": x for i, x in enumerate(inputs)}})

    repeats = bool(case.inputs) and not any(word in case.expression for word in READ)
    for mode, found in run_everywhere(function, *case.inputs, replayed=repeats).items():
        expected = decode(EDGES[case.name]["output"])
        if case.name in WITH_LIMITS:
            expected = Array("float32", np.float32(WITH_LIMITS[case.name]))
        compare(found, expected, f"{case.name} in {mode}")


# -- what PyTorch does not have, or not so ----------------------------------------------------


def test_parameters_as_in_mindspore():
    """Oracle: MindSpore 2.10, which keeps the Parameters of a GroupNorm that trains none."""
    norm = mint.nn.GroupNorm(2, 4, affine=False)
    assert [(p.name, p.shape, p.requires_grad) for p in norm.get_parameters()] == [
        ("weight", (4,), False),
        ("bias", (4,), False),
    ]
    assert mint.nn.LayerNorm(3).normalized_shape == (3,)
    assert repr(mint.nn.Linear(3, 2)) == (
        "Linear(input_features=3, output_features=2, has_bias=True)"
    )
    assert repr(mint.nn.Conv1d(2, 4, 3)) == (
        "Conv1d(input_channels=2, output_channels=4, kernel_size=(3,), stride=(1,), padding=(0,), "
        "dilation=(1,), groups=1, bias=True)"
    )
    assert repr(mint.nn.BatchNorm2d(3, affine=False)) == (
        "BatchNorm2d(num_features=3, eps=1e-05, momentum=0.1, affine=False, "
        "track_running_stats=True)"
    )


def test_initial_values():
    """Spread as measured in MindSpore 2.10: evenly within the root of the inputs of an output."""
    for net, fan in (
        (mint.nn.Linear(100, 300), 100),
        (mint.nn.Conv2d(10, 300, 3), 90),
        (mint.nn.ConvTranspose2d(10, 300, 3), 2700),
    ):
        bound = fan**-0.5
        for parameter in net.get_parameters():
            values = np.abs(parameter.asnumpy())
            assert 0.95 * bound < values.max() <= bound * 1.0001
            assert abs(values.mean() - bound / 2) < 0.1 * bound
    table = mint.nn.Embedding(400, 50, padding_idx=-1).weight.asnumpy()
    assert abs(table.std() - 1) < 0.02
    assert not table[-1].any()


def test_linear_does_what_every_layer_does():
    check_cell(
        lambda: mint.nn.Linear(3, 2, dtype=DOUBLE),
        RANDOM.normal(size=(4, 3)),
        names={"weight": (2, 3), "bias": (2,)},
        oracle=lambda v, x: x @ v["weight"].T + v["bias"],
    )


def test_batch_norm_does_what_every_layer_does():
    def oracle(v, x):
        made = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
        return made * v["weight"] + v["bias"]

    check_cell(
        lambda: mint.nn.BatchNorm1d(3, dtype=DOUBLE),
        RANDOM.normal(size=(4, 3)),
        names={
            "weight": (3,),
            "bias": (3,),
            "running_mean": (3,),
            "running_var": (3,),
            "num_batches_tracked": (),
        },
        oracle=oracle,
        moved=("running_mean", "running_var", "num_batches_tracked"),
        train=True,
    )


def test_embedding_shortens_the_table_itself():
    """As in PyTorch: rows that are looked up, and no others, in the Parameter."""
    layer = mint.nn.Embedding(3, 2, max_norm=1.0, _weight=ms.Tensor(np.full((3, 2), 3.0, "f")))
    layer(ms.Tensor([0, 0]))
    root = np.float32(0.5**0.5)
    expected = [[root, root], [3, 3], [3, 3]]
    assert_close(layer.weight.asnumpy(), np.array(expected, np.float32))


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_dropout(mode):
    """In training an element is 0 or doubled (oracle: the definition)."""
    with execution(mode):
        x = ms.Tensor(np.ones((20, 5), np.float32))
        net = mint.nn.Dropout(0.5)
        assert net(x) is x
        values = net.set_train()(x).asnumpy()
        assert set(np.unique(values)) == {0, 2}
        assert 0.3 < (values == 0).mean() < 0.7
        channels = mint.nn.Dropout2d(0.5).set_train()(x.reshape(5, 10, 2, 1)).asnumpy()
        assert (channels[:, :, 0] == channels[:, :, 1]).all()
        y = x + 0
        made = mint.nn.Dropout(0.5, inplace=True).set_train()(y)
        assert made is y
        assert (y.asnumpy() == 0).any()


def test_statistics_of_several_parts_are_those_of_the_whole():
    """Oracle: NumPy, over both parts together."""
    parts = RANDOM.normal(size=(2, 3, 4)).astype(np.float32)
    whole = parts.reshape(6, 4)
    running = ms.Tensor(np.zeros(4, np.float32)), ms.Tensor(np.ones(4, np.float32))
    stats = [mint.batch_norm_stats(ms.Tensor(part), 1e-5) for part in parts]
    means, inverses = (mint.stack([s[i] for s in stats]) for i in (0, 1))
    counts = ms.Tensor(np.array([3.0, 3.0], np.float32))
    mean, inverse = mint.batch_norm_gather_stats_with_counts(
        ms.Tensor(parts[0]), means, inverses, *running, counts=counts
    )
    assert_close(mean.asnumpy(), whole.mean(0))
    expected = (whole - whole.mean(0)) / np.sqrt(whole.var(0) + 1e-5)
    made = mint.batch_norm_elemt(ms.Tensor(whole), None, None, mean, inverse)
    np.testing.assert_allclose(made.asnumpy(), expected, 1e-4, 1e-5)
    np.testing.assert_allclose(running[0].asnumpy(), 0.1 * whole.mean(0), 1e-4, 1e-6)
    np.testing.assert_allclose(running[1].asnumpy(), 0.9 + 0.1 * whole.var(0, ddof=1), 1e-4)


def test_in_place_names_assign():
    x = ms.Tensor([-1.0, 2.0])
    assert mint.nn.functional.sigmoid_(x) is x
    assert_close(x.asnumpy(), (1 / (1 + np.exp([1.0, -2.0]))).astype(np.float32))
    grid = ms.Tensor(np.ones((2, 2), np.float32))
    mint.addr_(grid, x, x, beta=2, alpha=3)
    expected = 2 + 3 * np.outer(x.asnumpy(), x.asnumpy())
    assert_close(grid.asnumpy(), expected.astype(np.float32))


# Names whose parameters differ from MindSpore's on purpose: PyTorch's word for the first one, a
# default where MindSpore has none of its own, or no arguments of every Cell.
OTHERWISE = {"arcsin", "isnan", "median", "Mish", "SELU"}


@pytest.mark.parametrize(("case", "answer"), load.pairs("mint_names"), ids=recorded.case_name)
def test_every_name_of_mindspore(case, answer):
    """Names, parameters and defaults (oracle: MindSpore 2.10); more parameters are allowed."""
    found, wrong = evaluate(case, ms), {}
    assert not set(answer.output) - set(found)
    for name, parameters in answer.output.items():
        taken = [pair for pair in found[name] if pair[0] in dict(parameters)]
        fits = [
            pair[0] == other[0] and pair[1] in ("", other[1])
            for pair, other in zip(parameters, taken, strict=False)
        ]
        if name not in OTHERWISE and (len(taken) < len(parameters) or not all(fits)):
            wrong[name] = parameters, found[name]
    assert not wrong


def examples():
    """The example of every name that is defined below `mint`."""
    found = {}
    for module in (mint.nn, mint.linalg, mint.special):
        for name in module.__all__:
            item = getattr(module, name)
            ours = getattr(item, "__module__", "").startswith("mycel.mint")
            if ours and ">>>" in (item.__doc__ or ""):
                found[item.__doc__] = name
    return [pytest.param(doc, id=name) for doc, name in found.items()]


@pytest.mark.parametrize("doc", examples())
def test_examples_do_what_they_say(doc):
    names = {"mycel": ms, "ms": ms, "ops": ms.ops, "nn": ms.nn, "mint": mint, "np": np}
    names["Tensor"] = ms.Tensor
    test = doctest.DocTestParser().get_doctest(doc, names, "example", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(test).failed == 0


def test_every_name_is_documented():
    for name in mint.nn.__all__:
        assert getattr(mint.nn, name).__doc__, name
