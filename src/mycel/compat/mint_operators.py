# SPDX-License-Identifier: Apache-2.0
"""MindSpore's generated names of `mint` functions: `AddExt()(x, y)` and `add_ext(x, y)`.

Each is one more name of the function that `mint` has.
"""

from __future__ import annotations

import functools
from typing import Any

from mycel.kernel.spell import Primitive, composite, namespaces
from mycel.kernel.spell.declare import Later
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
    "add_ext": "add",
    "bmm_ext": "bmm",
    "chunk_ext": "chunk",
    "cumsum_ext": "cumsum",
    "matmul_ext": "matmul",
    "mean_ext": "mean",
    "prod_ext": "prod",
    "sort_ext": "sort",
    "stack_ext": "stack",
    "sub_ext": "sub",
    "sum_ext": "sum",
    "topk_ext": "topk",
}


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
        _add(name, lambda wanted=function_name: namespaces["mint"][wanted])


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
