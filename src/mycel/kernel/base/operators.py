# SPDX-License-Identifier: Apache-2.0
"""Python's binary operators: the methods of both operands, and NumPy's functions for them."""

from __future__ import annotations

_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
# A binary operator's method -> the method of its other operand that Python asks next.
REFLECTED = {f"__{name}__": f"__r{name}__" for name in _BINARY} | {
    f"__{name}__": f"__{other}__" for name, other in _SWAPPED.items()
}
# The function of NumPy that an operator of its arrays calls -> the operator's method.
OF_NUMPY = {
    "add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "matmul": "__matmul__",
    "divide": "__truediv__", "floor_divide": "__floordiv__", "remainder": "__mod__",
    "power": "__pow__", "bitwise_and": "__and__", "bitwise_or": "__or__",
    "bitwise_xor": "__xor__", "less": "__lt__", "greater": "__gt__", "less_equal": "__le__",
    "greater_equal": "__ge__", "equal": "__eq__", "not_equal": "__ne__",
}  # fmt: skip
