# SPDX-License-Identifier: Apache-2.0
"""Every operator that takes positions or class numbers, with wrong ones, in every execution.

Oracle: whether MindSpore 2.10 raises on a CPU, and what kind of error, or else its value. `INSTEAD`
has what it has no kernel for, or gets wrong; `tests/fixtures/mindspore_faults.md` has the reasons.
"""

from __future__ import annotations

import builtins
import functools

import numpy as np
import pytest

import mycel as ms
from fixtures import load
from fixtures.case import namespace
from fixtures.families.indices import KINDS, ROWS_OF, WRITES
from harness import EXECUTIONS, as_numpy, assert_close, execution
from mycel import Tensor, mint, nn, ops
from mycel.kernel.execute import checks
from support.recorded_operators import compare, gradients_by_differences

# Answers that are not MindSpore's: an error; a value that is compared with none; or an error of
# another kind.
ERROR, VALUE = "error", "value"
UNDEFINED = {"low": ERROR, "high": ERROR}
FROM_BEGIN = {"negative": ERROR, **UNDEFINED}
NO_KERNEL = {"good": VALUE, "negative": VALUE, **UNDEFINED, "float": TypeError}
ANY = dict.fromkeys(("good", "negative", "low", "high"), VALUE)
# By what keeps MindSpore from the answer, rows and what is to happen.
_INSTEAD = (
    # There is no kernel for the CPU; negative positions count from the end where others let them.
    ("take SparseGatherV2 mint_index_select scatter_add_of_method scatter_in_place", NO_KERNEL),
    ("scatter_add_in_place put_in_place index_copy_in_place index_fill_in_place", NO_KERNEL),
    ("index_put_in_place multilabel_margin_loss MultilabelMarginLoss", NO_KERNEL),
    ("embedding embedding_padded embedding_normed EmbeddingExt", NO_KERNEL | FROM_BEGIN),
    ("mint_cross_entropy index_add_in_place", NO_KERNEL | FROM_BEGIN),
    ("mint_one_hot", ANY | {"float": TypeError}),
    # Documented as undefined; what belongs to the position is lost.
    ("scatter scatter_method mint_scatter", UNDEFINED),
    # The first number beyond the end is let pass: memory behind the row is read.
    ("SoftmaxCrossEntropyWithLogits_mean SparseSoftmaxCrossEntropyWithLogits", {"high": ERROR}),
    ("SparseSoftmaxCrossEntropyWithLogits_gradient", {"high": ERROR}),
    ("tensor_scatter_update_elements", {"high": ERROR}),
    # Rows that are not there are left out, or end the process.
    ("SparseApplyAdagrad SparseApplyFtrl", FROM_BEGIN),
    ("SparseApplyAdagradV2 SparseApplyProximalAdagrad", {"good": VALUE} | FROM_BEGIN),
    ("FusedSparseAdam FusedSparseLazyAdam FusedSparseFtrl", {"good": VALUE} | FROM_BEGIN),
    ("FusedSparseProximalAdagrad", {"good": VALUE} | FROM_BEGIN),
    # A column that is not there is one of another row.
    ("csr_to_dense", FROM_BEGIN),
    ("csr_gather", {"good": VALUE} | FROM_BEGIN),
    # As in NumPy or PyTorch, where MindSpore refuses, or takes real numbers.
    ("index_of_array", {"good": VALUE, "negative": VALUE}),
    ("narrow", {"negative": VALUE}),
    ("bincount", {"negative": ValueError, "low": ValueError}),
    ("invert_permutation", {"good": VALUE, "float": TypeError}),
    ("choose cross_entropy_vector", {"float": TypeError}),
    ("SampledSoftmaxLoss", {"good": VALUE, "negative": VALUE}),  # random
    # A label that no class has is one of memory beside the row.
    ("ctc_loss ctc_loss_reduced CTCLossV2", FROM_BEGIN),
    # It ends the labels; the loss of a sequence without any does not go with its gradient.
    ("CTCLoss", {"negative": VALUE, "low": VALUE, "high": VALUE}),
)
INSTEAD = {row: answers for rows, answers in _INSTEAD for row in rows.split()}
# Numbers read by Python: another number is another program.
BY_PYTHON = ("tolist", "item()", "asnumpy", "int(x1)", "Segment", "segment_mean", "bincount",
             "Parameter", "nn.", "Invert", "COO", "CSR", "csr", "one_hot(x1, 3)")  # fmt: skip
CASES = {case.name: case for case in load.cases.family("indices")}
ANSWERS = load.rows("indices")


REPLAYED = [
    row
    for row, (text, *_) in (ROWS_OF | WRITES).items()
    if not any(word in text for word in BY_PYTHON)
]


def answer(row: str, kind: str):
    """What is to happen: ERROR, VALUE, a class of errors, or a recorded value."""
    instead = INSTEAD.get(row, {}).get(kind)
    if instead is not None:
        return instead
    recorded = load.recorded(ANSWERS[f"{row} {kind}"])
    return getattr(builtins, recorded.error) if recorded.error else recorded.output


def function_of(row: str, made: bool):
    """The row as a function of its data and its index, which it is given, or makes itself."""
    text = (ROWS_OF.get(row) or WRITES[row])[0]
    if made:
        text = text.replace("x1", "(x1 + 0)")
    names = namespace(CASES[f"{row} good"], ms)
    if row in WRITES:
        source = f"def run(x0, x1):\n    x0 = x0 + 0\n    {text}\n    return x0\n"
        exec(source, names)
        return names["run"]
    return eval(f"lambda x0, x1: {text}", names)


def happens(function, case, expected, what: str) -> None:
    """Whether a call does what it should."""
    inputs = [Tensor(array.copy()) for array in case.inputs]
    wrong = ms.OutOfRangeError if expected is ERROR else expected
    if isinstance(wrong, type):
        with pytest.raises(wrong):
            as_numpy(function(*inputs))
        return
    found = function(*inputs)
    as_numpy(found)
    if expected is not VALUE:
        compare(found, expected, what)


@pytest.mark.parametrize("made", [False, True], ids=["given", "made"])
@pytest.mark.parametrize("row", [*ROWS_OF, *WRITES])
def test_as_recorded(row, made):
    function = function_of(row, made)
    for name in ("fused",) if made else ("direct", "fused"):
        with execution(name):
            for kind in KINDS:
                case = CASES[f"{row} {kind}"]
                happens(function, case, answer(row, kind), f"{case.name} in {name}")


@pytest.mark.parametrize("made", [False, True], ids=["given", "made"])
@pytest.mark.parametrize("row", REPLAYED)
def test_a_wrong_index_in_a_replay(row, made):
    # Oracle: as above; a function that was given a wrong index is replayed afterwards as before.
    compiled, counts = ms.jit(function_of(row, made)), ms.debug.ledger().counts
    good = CASES[f"{row} good"]
    for _ in range(3):
        happens(compiled, good, answer(row, "good"), good.name)
    for kind in ("negative", "low", "high"):
        case = CASES[f"{row} {kind}"]
        happens(compiled, case, answer(row, kind), f"{case.name} in graph")
        before = counts.replays
        happens(compiled, good, answer(row, "good"), f"good after {case.name}")
        assert counts.replays == before + 1, f"not replayed after {case.name}"


GRADIENTS = (
    "gather", "gather_d", "gather_nd", "index_select", "index", "index_column_number",
    "cross_entropy", "nll_loss", "NLLLoss_layer", "SoftmaxCrossEntropyWithLogits_mean",
    "scatter_nd", "tensor_scatter_add", "index_add_method", "index_fill", "index_put",
    "unsorted_segment_sum", "set_rows", "max_unpool2d", "multi_margin_loss",
)  # fmt: skip


@pytest.mark.parametrize("row", GRADIENTS)
def test_derivatives(row):
    # Oracle: finite differences for what MindSpore allows, and that it raises for the rest. (Its
    # own gradients leave out negative positions.)
    function = function_of(row, False)
    gradient = ms.grad(lambda x0, x1: function(x0, x1).sum())
    for kind in ("negative", "low", "high"):
        expected = answer(row, kind)
        data, index = CASES[f"{row} {kind}"].inputs
        inputs = Tensor(data.astype(np.float64)), Tensor(index)
        if not isinstance(expected, type) and expected is not ERROR:
            by_data = functools.partial(lambda index, x: function(x, index), inputs[1])
            (slope,) = gradients_by_differences(by_data, [inputs[0].asnumpy()])
        for name in ("direct", "fused", "graph"):
            with execution(name):
                if isinstance(expected, type) or expected is ERROR:
                    with pytest.raises(ms.OutOfRangeError):
                        gradient(*inputs).asnumpy()
                else:
                    found = gradient(*inputs).asnumpy()
                    np.testing.assert_allclose(found, slope, 1e-6, 1e-7, err_msg=f"{kind} {name}")


def test_tables_name_rows():
    assert {*INSTEAD, *GRADIENTS} <= {*ROWS_OF, *WRITES}


def test_nothing_is_out_of_range_of_an_empty_index():
    # Oracle: NumPy.
    x, none = np.ones((3, 2), np.float32), np.zeros(0, np.int64)
    for function in (lambda x, i: x[i], lambda x, i: ms.ops.gather(x, i, 0)):
        assert_close(function(Tensor(x), Tensor(none)).asnumpy(), x[none])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint32", "uint64"])
def test_every_width(kind):
    # Oracle: NumPy.
    x, index = np.arange(3.0), np.array([0, 2], kind)
    for made in (lambda index: index, lambda index: index + 0):
        assert_close(ms.ops.gather(Tensor(x), made(Tensor(index)), 0).asnumpy(), x[[0, 2]])
        with pytest.raises(IndexError, match="the index 77 is out of range"):
            wrong = made(Tensor(np.array([0, 77], kind)))
            ms.ops.gather(Tensor(x), wrong, 0).asnumpy()


TARGETS = Tensor([1.0, 0.0])
LOSSES = {
    "given": lambda x: nn.BCELoss()(x, TARGETS),
    "made": lambda x: nn.BCELoss()(x * 1.0, TARGETS),
    "mint": lambda x: mint.nn.functional.binary_cross_entropy(x.reshape(1, 2), TARGETS[None]),
    "gradient": lambda x: ms.grad(lambda x: ops.binary_cross_entropy(x + 0.0, TARGETS))(x),
}


@pytest.mark.parametrize("way", EXECUTIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_probabilities_are_from_0_to_1(loss, way):
    # Oracle: MindSpore 2.10, which raises a RuntimeError of the number; NaN and the ends are taken.
    function = ms.jit(LOSSES[loss]) if way == "graph" else LOSSES[loss]
    with execution(way):
        for given in ([0.0, 1.0], [np.nan, 0.5]):
            function(Tensor(given, ms.float32)).asnumpy()
    for given in (1.5, -0.25):
        fresh = ms.jit(lambda x: LOSSES[loss](x)) if way == "graph" else LOSSES[loss]
        with execution(way), pytest.raises(RuntimeError, match=f"probability {given} is out of"):
            fresh(Tensor([given, 0.2], ms.float32)).asnumpy()


def test_what_sigmoid_makes_is_not_looked_at(monkeypatch):
    looks = []
    monkeypatch.setattr(checks.Indices, "look_behind", looks.append)
    x = Tensor([0.3, 0.2])
    nn.BCELoss()(ops.sigmoid(x).reshape(2), TARGETS).asnumpy()
    assert not looks
    nn.BCELoss()(abs(ops.tanh(x)), TARGETS).asnumpy()
    assert len(looks) == 1
