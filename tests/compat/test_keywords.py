# SPDX-License-Identifier: Apache-2.0
"""Keywords that real programs pass to what is here, and older words.

`fixtures/keywords.txt` has those of three files or more of 15,000, without `mindspore.dataset`.
All are taken, but for those that MindSpore refuses too; older keywords and names are noted.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import pathlib
import sys

import numpy as np
import pytest

import mycel as ms
from fixtures import load
from harness import matches
from mycel import Tensor, nn, ops
from mycel.compat.keywords import RENAMED
from mycel.kernel.base import log

PASSED = [
    line.split(": ")
    for line in (pathlib.Path(load.__file__).parent / "keywords.txt").read_text().splitlines()
]
OTHER_WORD = "MindSpore 2.10 has another word for it, and never had this one"
NO_DEVICE = "in MindSpore 2.10 no operator takes a device; the context has it"
OF_PYTORCH = "a setting of PyTorch; MindSpore 2.10 has none of the kind"
# What real programs pass and MindSpore 2.10 refuses with a TypeError (each was tried).
REFUSED = {
    "load_checkpoint": {"map_location": OF_PYTORCH},
    "mint.arange": {"device": NO_DEVICE},
    "mint.argmax": {"axis": OTHER_WORD},
    "mint.cat": {"axis": OTHER_WORD},
    "mint.mean": {"axis": OTHER_WORD},
    "mint.repeat_interleave": {"axis": OTHER_WORD},
    "nn.Conv1d": {"bias": OTHER_WORD},
    "nn.Conv2d": {"bias": OTHER_WORD, "groups": OTHER_WORD},
    "nn.Conv3d": {"bias": OTHER_WORD},
    "nn.CrossEntropyLoss": {"reduce": OF_PYTORCH},
    "nn.Dense": {"bias": OTHER_WORD},
    "nn.ReLU": {"inplace": OF_PYTORCH},
    "nn.Softmax": {"dim": OTHER_WORD},
    "ops.AvgPool": {"stride": OTHER_WORD},
    "ops.Dropout": {"p": OTHER_WORD},
    "ops.cat": {"dim": OTHER_WORD},
    "ops.clip_by_value": {"min": OTHER_WORD},
    "ops.concat": {"dim": OTHER_WORD},
    "ops.eye": {"device": NO_DEVICE},
    "ops.mean": {"dim": OTHER_WORD},
    "ops.norm": {"keepaxis": "a slip of the pen"},
    "ops.stack": {"dim": OTHER_WORD},
    "ops.sum": {"axis": OTHER_WORD, "keepaxis": "a slip of the pen"},
    "ops.unsqueeze": {"axis": OTHER_WORD},
    "ops.zeros": {"device": NO_DEVICE, "requires_grad": OF_PYTORCH},
}


@pytest.fixture(autouse=True)
def mindspore():
    """The alias for the length of a test; nothing of it stays behind."""
    before = list(sys.meta_path)
    ms.install_as_mindspore()
    yield importlib.import_module("mindspore")
    sys.meta_path[:] = before
    for name in [n for n in sys.modules if n.partition(".")[0] == "mindspore"]:
        del sys.modules[name]


@pytest.fixture
def noted(caplog):
    """What the log says at level warning, as in a new process."""
    caplog.set_level(logging.WARNING, "mycel")
    kept = set(log._noted)
    log._noted.clear()
    yield lambda: [record.getMessage() for record in caplog.records]
    log._noted.update(kept)


def found_at(path: str):
    found, at = importlib.import_module("mindspore"), "mindspore"
    for part in path.split("."):
        at = f"{at}.{part}"
        found = getattr(found, part, None) or importlib.import_module(at)
    return found


def test_keywords_of_real_programs():
    """The oracle is what programs pass; `REFUSED` holds exactly those that are not taken."""
    refused = {}
    for path, words in PASSED:
        parameters = inspect.signature(found_at(path)).parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            continue
        lacking = [word for word in words.split() if word not in parameters]
        if lacking:
            refused[path] = set(lacking)
    assert refused == {path: set(words) for path, words in REFUSED.items()}


X = np.float32([[3, 4], [6, 8]])
# Older calls, and the same in today's words.
CALLS = {
    "argmax": ("ops.argmax(x, axis=1, keepdims=True)", "ops.argmax(x, 1, True)"),
    "avg_pool2d": (
        "ops.avg_pool2d(x[None, None], 2, strides=1, pad_mode='valid')",
        "ops.avg_pool2d(x[None, None], 2, 1)",
    ),
    "bernoulli": ("ops.bernoulli(x=x, p=1.0)", "ops.bernoulli(x, 1.0)"),
    "binary_cross_entropy_with_logits": (
        "ops.binary_cross_entropy_with_logits(logits=x, label=x / 9, weight=x, pos_weight=x)",
        "ops.binary_cross_entropy_with_logits(x, x / 9, x, x)",
    ),
    "concat": ("ops.concat(input_x=(x, x), axis=1)", "ops.concat((x, x), 1)"),
    "conv2d": (
        "ops.conv2d(inputs=ops.stack((x, x))[None], weight=x[:, None, None], group=2)",
        "ops.conv2d(ops.stack((x, x))[None], x[:, None, None], groups=2)",
    ),
    "dot": ("ops.dot(x1=x, x2=x)", "ops.dot(x, x)"),
    "grid_sample": (
        "ops.grid_sample(input_x=x[None, None], grid=x[None, None] / 9,"
        " interpolation_mode='nearest', align_corners=True)",
        "ops.grid_sample(x[None, None], x[None, None] / 9, 'nearest', align_corners=True)",
    ),
    "interpolate": (
        "ops.interpolate(x=x[None, None], size=(4, 4))",
        "ops.interpolate(x[None, None], (4, 4))",
    ),
    "linspace": ("ops.linspace(0.0, stop=1.0, num=3)", "ops.linspace(0.0, 1.0, 3)"),
    "logsumexp": ("ops.logsumexp(x, axis=1, keep_dims=True)", "ops.logsumexp(x, 1, True)"),
    # Until 2.0 the indices came first, and axis 0 was the default (the documents of 1.8 to 1.10).
    "max": ("ops.max(x=x, axis=1, keep_dims=True)", "indices_first(ops.max(x, 1, True))"),
    "max, first axis": ("ops.max(x, keep_dims=False)", "indices_first(ops.max(x, 0))"),
    "min": ("ops.min(x=x, axis=1, keep_dims=True)", "indices_first(ops.min(x, 1, True))"),
    "min, first axis": ("ops.min(x=x)", "indices_first(ops.min(x, 0))"),
    "multinomial": (
        "ops.multinomial(inputs=x * 0 + ops.eye(2), num_sample=3)",
        "ops.multinomial(x * 0 + ops.eye(2), 3)",
    ),
    "norm": (
        "ops.norm(x, axis=1, p=1, keep_dims=True)",
        "ops.norm(x, 1, 1, True)",
    ),
    "norm of both": ("ops.norm(input_x=x, axis=(0, 1), p=2)", "ops.norm(x)"),
    "ones": ("ops.ones((2, 1), type=ms.int32) * x", "ops.ones((2, 1), ms.int32) * x"),
    "pad": ("ops.pad(x, paddings=((0, 0), (2, 1)))", "ops.pad(x, (2, 1, 0, 0))"),
    "pad by position": ("ops.pad(x, ((0, 1), (1, 0)))", "ops.pad(x, (1, 0, 0, 1))"),
    "softmax": ("ops.softmax(x=x, axis=0)", "ops.softmax(x, 0)"),
    "split": ("ops.split(input_x=x, axis=1, output_num=2)", "ops.split(x, 1, 1)"),
    "transpose": ("ops.transpose(input_x=x, input_perm=(1, 0))", "ops.transpose(x, (1, 0))"),
    "PadV3": (
        "ops.PadV3('constant', paddings_contiguous=False)(x, (1, 0, 2, 0), 5.0)",
        "ops.PadV3('constant')(x, (1, 2, 0, 0), 5.0)",
    ),
    "repeat_interleave": (
        "ms.mint.repeat_interleave(x, 2, 0, output_size=4)",
        "ms.mint.repeat_interleave(x, 2, 0)",
    ),
}


def indices_first(answer):
    """The order and the type of the indices until MindSpore 2.0."""
    return answer[1].astype(ms.int32), answer[0]


NAMES = {"ops": ops, "ms": ms, "Tensor": Tensor, "indices_first": indices_first}


@pytest.mark.parametrize("name", CALLS)
def test_older_keywords(name):
    """The oracle is the same call in the words of MindSpore 2.10."""
    older, newer = (eval(f"lambda x: {text}", NAMES) for text in CALLS[name])
    values = newer(Tensor(X))
    several = isinstance(values, tuple)
    expected = tuple(v.asnumpy() for v in values) if several else values.asnumpy()
    matches(older, lambda x: expected, X)


def test_every_older_keyword_is_called():
    """The oracle is the table itself."""
    for path, words in RENAMED.items():
        name = path.rpartition(".")[2]
        calls = "".join(older for key, (older, _) in CALLS.items() if key.startswith(name))
        for word in words:
            assert f"{word}=" in calls, (path, word)


def test_older_extremes_say_what_differs(noted):
    """The oracle is the documents of MindSpore 1.10: Int32 indices, then values."""
    indices, values = ops.max(Tensor(X), axis=1, keep_dims=True)
    assert (indices.dtype, values.dtype) == (ms.int32, ms.float32)
    assert any("which gives (values, indices)" in text for text in noted())


WRONG = {
    "ops.logsumexp(x)": (TypeError, "ops.logsumexp: dim must be given"),
    "ops.norm(x, axis=(0, 1), p=3)": (ValueError, "norm: p must be 2 for several axes"),
    "ops.split(x, output_num=3)": (ValueError, "split: output_num must be a divisor of 2"),
    "ops.avg_pool2d(x, 2, pad_mode='same')": (ValueError, "write ops.AvgPool"),
    "ms.mint.repeat_interleave(x, 2, 0, output_size=3)": (ValueError, "output_size is 3"),
}


@pytest.mark.parametrize("call", WRONG)
def test_older_keywords_in_vain(call):
    kind, text = WRONG[call]
    with pytest.raises(kind, match=text.replace("(", r"\(")):
        eval(call, {**NAMES, "x": Tensor(X)})


class Calls(nn.Cell):
    """A network that calls something with a keyword that is not there."""

    def __init__(self):
        super().__init__()
        self.reduce = ops.ReduceSum()

    def construct(self, x, which):
        if which == "function":
            return ops.sum(x, axis=1)
        if which == "method":
            return x.tril(
                diag=1,
            )
        if which == "class":
            return ops.Concat(dim=1)((x, x))
        if which == "object":
            return self.reduce(x, dim=1)
        if which == "made on the spot":
            return ops.ReduceSum(True)(x, dim=1)
        return self.own(x, other=1)

    def own(self, x):
        return x


TEXTS = {
    "function": "ops.sum() has no keyword 'axis' (at {place}); it takes input, dim, keepdim, "
    "dtype; nearest: dim.",
    "method": "x.tril() has no keyword 'diag' (at {place}); it takes diagonal; nearest: diagonal.",
    "class": "ops.Concat() has no keyword 'dim' (at {place}); it takes axis; nearest: axis.",
    "object": "self.reduce() has no keyword 'dim' (at {place}); it takes x, axis; nearest: axis.",
    "made on the spot": "ops.ReduceSum(True)() has no keyword 'dim' (at {place}); it takes x, "
    "axis; nearest: axis.",
}


@pytest.mark.parametrize("which", TEXTS)
def test_unknown_keywords_in_a_cell(which):
    """The oracle is the text; the line is that of the call."""
    lines, first = inspect.getsourcelines(Calls.construct)
    at = first + next(n for n, text in enumerate(lines) if f'"{which}"' in text) + 1
    with pytest.raises(TypeError) as caught:
        Calls()(Tensor(X), which)
    assert str(caught.value) == TEXTS[which].format(place=f"{__file__}:{at}")


def test_unknown_keywords_elsewhere():
    """Errors of the program's own functions stay Python's; a Cell names its keywords itself."""
    with pytest.raises(TypeError, match=r"own\(\) got an unexpected keyword argument 'other'"):
        Calls()(Tensor(X), "own")
    with pytest.raises(TypeError) as caught:
        nn.Dense(2, 2, bias=False)
    assert str(caught.value).startswith("Dense() has no keyword 'bias' (at ")
    assert str(caught.value).endswith("nearest: has_bias.")


NOTES = {
    "ops.TensorAdd": "ops.TensorAdd is an older name; write ops.Add.",
    "mindspore.ms_function": "mindspore.ms_function is an older name; write mindspore.jit.",
    "mindspore.common.ms_function": "mindspore.common.ms_function is an older name; write "
    "mindspore.jit.",
    "nn.Dropout(keep_prob=0.75)": "nn.Dropout(keep_prob=...) is an older name; write "
    "nn.Dropout(p=1 - keep_prob).",
    "nn.Tril()": "nn.Tril is an older name; write ops.tril.",
    "nn.SoftmaxCrossEntropyWithLogits(is_grad=False, sparse=True)": "nn.SoftmaxCrossEntropyWith"
    "Logits(is_grad=...) is an older name; write nn.SoftmaxCrossEntropyWithLogits(sparse=...), "
    "which has derivatives in any case.",
    "ops.logsumexp(x, axis=0)": "ops.logsumexp(axis=...) is an older name; write "
    "ops.logsumexp(dim=...).",
    "x.to_tensor()": "Tensor.to_tensor() is an older name; write Tensor.init_data().",
}


@pytest.mark.parametrize("text", NOTES)
def test_older_names_are_noted_once(text, noted, mindspore):
    """The oracle is the text: once in a process, however often the name is used."""
    for names in (ops, nn, ms):
        vars(names).pop("TensorAdd", None)
    ops_names = ms.kernel.spell.namespaces["ops"]
    ops_names._known["TensorAdd"] = ms.compat.operators.later("TensorAdd")
    for _ in range(2):
        eval(text, {**NAMES, "nn": nn, "mindspore": mindspore, "x": Tensor(X)})
    assert noted() == [NOTES[text]]


def test_newer_names_are_not_noted(noted):
    """The oracle is silence."""
    nn.Dropout(p=0.5)
    ops.logsumexp(Tensor(X), dim=0)
    nn.EmbeddingLookup(2, 2, max_norm=1.0)(Tensor([0], ms.int32))
    assert noted() == []


@pytest.mark.parametrize("around", [ms.jit, lambda function: ms.grad(function)])
def test_unknown_keywords_in_a_function(around):
    """As in a Cell, in what is compiled or differentiated."""

    def function(x):
        return ops.sum(x, axis=1)

    with pytest.raises(TypeError) as caught:
        around(function)(Tensor(X))
    place = f"{__file__}:{function.__code__.co_firstlineno + 1}"
    assert str(caught.value) == TEXTS["function"].format(place=place)
