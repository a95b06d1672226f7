# SPDX-License-Identifier: Apache-2.0
"""Names of generated code: which functions of `mint` they are.

Oracle: MindSpore 2.10, in which both names are one object.
"""

from __future__ import annotations

import importlib
import operator

import numpy as np
import pytest

import mycel as ms
from mycel.compat import mint_operators

# Module below `mindspore`, names there, and where `mint` has them.
RECORDED = [
    ("ops.auto_generate", "acos_ext argmax_ext frac_ext mm_ext outer_ext trace_ext", ""),
    ("ops.auto_generate", "broadcast_to_view narrow_view select_ext_view", ""),
    ("ops.auto_generate", "transpose_ext_view", ""),
    ("ops.auto_generate", "fold_ext leaky_relu_ext log_softmax_ext", "nn.functional"),
    ("ops.auto_generate.gen_ops_def", "histc_ext isneginf_ext log2_ext", ""),
    ("ops.function.array_func", "chunk_view full_ext gather_ext split_view unbind_ext", ""),
    ("ops.function.array_func", "unsqueeze_view", ""),
    ("ops.function.math_func", "amax_ext float_power_ext isnan_ext std_ext var_mean_ext", ""),
    ("ops.function.math_func", "matrix_norm_ext vector_norm_ext", "linalg"),
    ("ops.function.nn_func", "glu_ext nll_loss_ext pad_ext softmax_ext", "nn.functional"),
    ("ops.function.random_func", "normal_ext rand_ext randint_ext randn_like_ext", ""),
    ("ops.functional", "argmax_ext diff_ext einsum_ext", ""),
]


@pytest.fixture(autouse=True)
def as_mindspore():
    ms.install_as_mindspore()


@pytest.mark.parametrize(("path", "names", "space"), RECORDED)
def test_generated_names(path, names, space):
    module = importlib.import_module(f"mindspore.{path}")
    for name in names.split():
        plain = name.removesuffix("_view").removesuffix("_ext")
        twin = operator.attrgetter(f"{space}.{plain}".lstrip("."))(ms.mint)
        assert getattr(module, name) is twin


def test_every_generated_name_means_something():
    for name, path in mint_operators.generated().items():
        assert mint_operators.BESIDE[name] is operator.attrgetter(path)(ms.mint)


def test_overloads_are_those_of_mint():
    module = importlib.import_module("mindspore.ops.functional_overload")
    names = "add any clamp div eq floor_divide greater_equal index_add lerp max min"
    for name in names.split():
        assert getattr(module, name) is getattr(ms.mint, name)


def test_methods_are_functions_too():
    """Oracle: NumPy."""
    x = ms.Tensor([1.0, -2.0])
    assert ms.ops.clamp_(x, 0, 1) is x and x.asnumpy().tolist() == [1, 0]
    assert ms.ops.tanh_(x) is x and np.allclose(x.asnumpy(), np.tanh([1, 0]))
    assert np.allclose(ms.ops.erfinv_(ms.Tensor([0.5])).asnumpy(), 0.47693628)
    assert ms.ops.zero_(x) is x and x.asnumpy().tolist() == [0, 0]
    assert ms.ops.put_(x, ms.Tensor([1]), ms.Tensor([9.0])) is x and x.asnumpy().tolist() == [0, 9]
    for draw in (ms.ops.bernoulli_, ms.ops.exponential_, ms.ops.normal_, ms.ops.uniform_):
        assert draw(x) is x and x.shape == (2,)
    assert set(ms.ops.random_(ms.Tensor([0.0] * 9), 5, 7).asnumpy()) <= {5, 6}


def test_names_of_ops_answer_under_mindspore_too():
    """Names that `ops` is given later; `from mindspore.ops import chunk_ext` did not find one."""
    module = importlib.import_module("mindspore.ops")
    assert module.chunk_ext is ms.mint.chunk and module.diff_ext is ms.mint.diff


def test_layers_of_mint_in_their_modules():
    for path, names in (
        ("activation", "PReLUExt LogSoftmaxExt"),
        ("basic", "DropoutExt Dropout2dExt"),
        ("embedding", "EmbeddingExt"),
        ("normalization", "LayerNormExt"),
        ("pooling", "AvgPool1dExt AvgPool2dExt AvgPool3dExt MaxPool2dExt"),
    ):
        module = importlib.import_module(f"mindspore.nn.layer.{path}")
        for name in names.split():
            assert getattr(module, name) is getattr(ms.mint.nn, name.removesuffix("Ext"))
