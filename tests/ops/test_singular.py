# SPDX-License-Identifier: Apache-2.0
"""Values and derivatives where functions are not smooth, and labels that do not count.

Oracle: MindSpore 2.10 on a CPU; where it is wrong, NumPy and SciPy, as in `singular_oracles`.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special

import mycel as ms
from fixtures import cases, load, singular_oracles
from fixtures.case import Array
from harness import EXECUTIONS, TOLERANCE, assert_close, execution, run_everywhere
from mycel import Parameter, Tensor, nn, ops
from support.recorded_operators import function_of, with_gradient

FAMILIES = ("singular", "singular_rows", "singular_losses")


def by_row(table: dict) -> dict:
    return {row: oracle for oracle, rows in table.items() for row in rows.split("; ")}


OUTPUT = {name: by_row(singular_oracles.OUTPUT[name]) for name in FAMILIES}
GRADIENT = {name: by_row(singular_oracles.GRADIENT[name]) for name in FAMILIES}


def values(tree) -> list:
    """The arrays of a recorded answer, or of ours, in order."""
    if isinstance(tree, Array):
        return [tree.values]
    return [leaf for part in tree for leaf in values(part)] if isinstance(tree, tuple) else [tree]


def slopes(function, x, there=None):
    """Central differences of the sum of what a function of arrays gives, where `there` says."""
    found, step = np.zeros(x.shape), 1e-5
    for place in np.ndindex(*x.shape):
        if there is not None and not there[place]:
            found[place] = np.nan
            continue
        ends = []
        for sign in (1, -1):
            moved = np.where(np.isfinite(x), x, 0).astype(float)
            moved[place] += sign * step
            ends.append(function(moved).sum())
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found


def expected_of(oracle, recorded, case):
    if oracle is None:
        return recorded
    x0 = case.inputs[0]
    names = {"np": np, "special": special, **{f"x{i}": x for i, x in enumerate(case.inputs)}}
    names["slopes"] = lambda function, there=None: slopes(function, x0, there)
    names |= {f"g{i}": array for i, array in enumerate(recorded)} | {"y": recorded[0]}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = eval(oracle, names)
    return list(found) if isinstance(found, tuple) else [found]


def pairs():
    for family in FAMILIES:
        for case, recorded in load.pairs(family):
            yield pytest.param(family, case, recorded, id=f"{family}:{case.name}")


@pytest.mark.parametrize("family", FAMILIES)
def test_tables_name_rows(family):
    names = {case.name for case in cases.family(family)}
    assert not (OUTPUT[family].keys() | GRADIENT[family].keys()) - names


@pytest.mark.parametrize(("family", "case", "recorded"), list(pairs()))
def test_as_recorded(family, case, recorded):
    assert not recorded.error, "a row of these families has a value"
    expected = expected_of(OUTPUT[family].get(case.name), values(recorded.output), case)
    function = function_of(case)
    if recorded.gradient is not None:
        given = values(recorded.gradient)
        expected = expected + expected_of(GRADIENT[family].get(case.name), given, case)
        function = with_gradient(case)
    for mode, found in run_everywhere(function, *case.inputs, replayed=False).items():
        found = values(found)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert np.shape(one) == np.shape(other), mode
            what = f"{case.expression} in {mode}"
            np.testing.assert_allclose(one, other, *TOLERANCE["float32"], err_msg=what)


def test_sequences_of_blanks_alone():
    # Oracle: NumPy; MindSpore's loss does not go with its gradient there.
    x = np.random.default_rng(0).normal(size=(4, 2, 3)).astype(np.float32)
    places = Tensor([[0, 0], [0, 1], [1, 0]])
    labels, steps = Tensor([2, 2, 1]), Tensor([4, 4])

    def losses(x):
        return ops.CTCLoss()(x, places, labels, steps)[0][:1]

    expected = -special.log_softmax(x, 2)[:, :1, 2].sum(0)
    for mode, found in run_everywhere(losses, x).items():
        assert_close(found, expected, mode)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_training_with_padded_labels_learns(mode):
    # Oracle: the loss of labels without padding, step by step.
    inputs = Tensor(np.random.default_rng(1).normal(size=(6, 2, 5)).astype(np.float32))
    steps = Tensor([6, 6])
    padded = Tensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]), Tensor([0, 1, 3, 2, 3, 3])
    exact = Tensor([[0, 0], [0, 1], [1, 0]]), Tensor([0, 1, 2])

    def trained(labels):
        net = nn.Dense(5, 4, weight_init="ones", bias_init="zeros")
        step = ms.value_and_grad(
            lambda x: ops.CTCLoss()(net(x), *labels, steps)[0].sum(), None, net.trainable_params()
        )
        optimizer = nn.SGD(net.trainable_params(), 0.2)
        losses = []
        for _ in range(6):
            loss, gradients = step(inputs)
            optimizer(gradients)
            losses.append(float(loss))
        return losses

    with execution(mode):
        with_padding, without = trained(padded), trained(exact)
    assert_close(with_padding, without, mode, "float32")
    assert with_padding[-1] < with_padding[0] * 0.9


PRINTED = {
    "ops.scatter_add(p, i, u)": "[10.  2.  3.]",
    "ops.ScatterAdd()(p, i, u)": "[10.  2.  3.]",
    "ops.scatter_update(p, i, u)": "[9. 2. 3.]",
    "ops.ScatterUpdate()(p, i, u)": "[9. 2. 3.]",
    "ops.scatter_nd_add(p, i[:, None], u)": "[10.  2.  3.]",
    "ops.ScatterNdAdd()(p, i[:, None], u)": "[10.  2.  3.]",
    "ops.scatter_nd_update(p, i[:, None], u)": "[9. 2. 3.]",
    "ops.ScatterNdUpdate()(p, i[:, None], u)": "[9. 2. 3.]",
    "ops.index_add(p, i, u, 0)": "[10.  2.  3.]",
    "ops.IndexAdd(0)(p, i, u)": "[10.  2.  3.]",
    "ops.assign(p, p * 2)": "[2. 4. 6.]",
    "ops.Assign()(p, p * 2)": "[2. 4. 6.]",
    "ops.assign_add(p, p)": "[2. 4. 6.]",
    "ops.AssignSub()(p, p)": "[0. 0. 0.]",
}


@pytest.mark.parametrize("call", PRINTED)
def test_what_changes_a_parameter_prints_its_new_value(call):
    # Oracle: MindSpore 2.10 printed these for a Parameter of 1, 2, 3.
    p = Parameter(Tensor([1.0, 2.0, 3.0]), name="p")
    names = {"ops": ops, "p": p, "i": Tensor([0], ms.int32), "u": Tensor([9.0])}
    function = eval(f"lambda: {call}", names)
    for mode in ("direct", "fused"):
        p.set_data(Tensor([1.0, 2.0, 3.0]))
        with execution(mode):
            assert str(function()) == str(p.asnumpy()) == PRINTED[call], mode
    compiled = ms.jit(function)
    before = ms.debug.ledger().counts.replays
    for _ in range(5):
        p.set_data(Tensor([1.0, 2.0, 3.0]))
        assert str(compiled()) == str(p.asnumpy()) == PRINTED[call]
    assert ms.debug.ledger().counts.replays > before
