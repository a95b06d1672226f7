# SPDX-License-Identifier: Apache-2.0
"""MindSpore's generated names of `mint` functions: `AddExt()(x, y)` and `add_ext(x, y)`.

Each is one more name of a function of `mint`.
"""

from __future__ import annotations

import functools
from typing import Any

from mycel.kernel.spell import Primitive, composite, namespaces
from mycel.kernel.spell.declare import Later, Names
from mycel.ops.array.joining import stack

# The class, and the name of its function in `mint`.
PRIMITIVES = {
    "AddExt": "add",
    "ArgMaxExt": "argmax",
    "ArgMinExt": "argmin",
    "BatchMatMulExt": "bmm",
    "Clone": "clone",
    "CumsumExt": "cumsum",
    "FmodScalar": "fmod",
    "IndexSelect": "index_select",
    "MatMulExt": "matmul",
    "MaxDim": "max",
    "MeanExt": "mean",
    "MinDim": "min",
    "OnesLikeExt": "ones_like",
    "Outer": "outer",
    "ProdExt": "prod",
    "SortExt": "sort",
    "SplitWithSize": "split",
    "SubExt": "sub",
    "SumExt": "sum",
    "TopkExt": "topk",
    "ZerosLikeExt": "zeros_like",
}
FUNCTIONS = {
    "adaptive_avg_pool2d_ext": "nn.functional.adaptive_avg_pool2d",
    "add_ext": "add",
    "baddbmm_ext": "baddbmm",
    "bernoulli_ext": "bernoulli",
    "bmm_ext": "bmm",
    "chunk_ext": "chunk",
    "cumsum_ext": "cumsum",
    "diff_ext": "diff",
    "einsum_ext": "einsum",
    "float_power_ext": "float_power",
    "isnan_ext": "isnan",
    "matmul_ext": "matmul",
    "mean_ext": "mean",
    "mse_loss_ext": "nn.functional.mse_loss",
    "prod_ext": "prod",
    "sort_ext": "sort",
    "stack_ext": "stack",
    "sub_ext": "sub",
    "sum_ext": "sum",
    "topk_ext": "topk",
}

# Where generated code of MindSpore has the functions of `mint`, of its parts: each has one more
# name there, with an ending.
ENDINGS = "_view", "_ext"
GENERATED = {
    "": """
        acos_ext acosh_ext addbmm_ext addmm_ext addmv_ext amax_ext amin_ext arange_ext
        arccos_ext arccosh_ext arcsin_ext arcsinh_ext arctan2_ext arctan_ext argmax_ext
        argmin_ext argsort_ext asin_ext asinh_ext atan2_ext atan_ext bincount_ext
        bitwise_and_ext bitwise_or_ext bitwise_xor_ext broadcast_to_view chunk_view conv2d_ext
        cummin_ext diag_ext frac_ext full_ext full_like_ext gather_ext histc_ext
        index_select_ext inverse_ext isneginf_ext log10_ext log2_ext logaddexp_ext logsumexp_ext
        median_ext mm_ext multinomial_ext narrow_view norm_ext normal_ext ones_like_ext
        outer_ext pow_ext rand_ext rand_like_ext randint_ext randint_like_ext randn_ext
        randn_like_ext randperm_ext scatter_add_ext select_ext_view split_view std_ext
        std_mean_ext trace_ext transpose_ext_view tril_ext unbind_ext unsqueeze_view var_ext
        var_mean_ext zeros_like_ext
    """,
    "nn.functional": """
        avg_pool1d_ext avg_pool2d_ext avg_pool3d_ext batch_norm_ext cross_entropy_ext
        dropout2d_ext dropout_ext flatten_ext fold_ext glu_ext interpolate_ext kl_div_ext
        leaky_relu_ext log_softmax_ext logsigmoid_ext max_pool2d_ext max_unpool2d_ext
        nll_loss_ext pad_ext softmax_ext unfold_ext
    """,
    "linalg": "matrix_norm_ext vector_norm_ext",
}
# Others have names of their own.
OTHERWISE = {
    "inplace_addr": "addr_",
    "inplace_hardtanh": "nn.functional.hardtanh_",
    "inplace_sigmoid": "nn.functional.sigmoid_",
    "inplace_threshold": "nn.functional.threshold_",
    "linalg_norm": "linalg.norm",
    "linalg_qr": "linalg.qr",
}
# What generated code has, beside `ops`.
BESIDE = namespaces["compat.mint_operators"] = Names()


def _primitive(name: str, function_name: str) -> type:
    """The class whose objects are called as the function is."""
    function: Any = namespaces["mint"][function_name]

    def __init__(self):
        Primitive.__init__(self, name)

    text = f"`mint.{function_name}` as an object: {function.__doc__}"
    fields = {"__init__": __init__, "__call__": staticmethod(function), "__doc__": text}
    return type(name, (Primitive,), {**fields, "__module__": "mycel.ops"})


def _answer() -> None:
    for name, function_name in PRIMITIVES.items():
        write = functools.partial(_primitive, name, function_name)
        _add(name, write)
    for name, function_name in FUNCTIONS.items():
        _add(name, functools.partial(_in_mint, function_name))
    for name, function_name in generated().items():
        BESIDE.add(name, Later(name, functools.partial(_in_mint, function_name)))


def generated() -> dict[str, str]:
    """Names in generated code, and the function of `mint` that each means."""
    found = dict(OTHERWISE)
    for space, names in GENERATED.items():
        for name in names.split():
            plain = name.removesuffix(ENDINGS[0]).removesuffix(ENDINGS[1])
            found[name] = f"{space}.{plain}".lstrip(".")
    return found


def _in_mint(path: str):
    space, _, name = f"mint.{path}".rpartition(".")
    return namespaces[space][name]


def _add(name: str, write) -> None:
    if name not in namespaces["ops"]:
        namespaces["ops"].add(name, Later(name, write))


_answer()


@composite("StackExt(dim=dim)(tensors)")
def stack_along(tensors, dim=0):
    """Tensors of one shape along a new dimension.

    Example:
        >>> print(ops.StackExt(1)((Tensor([1, 2]), Tensor([3, 4]))))
        [[1 3]
         [2 4]]
    """
    return stack(tensors, dim)
