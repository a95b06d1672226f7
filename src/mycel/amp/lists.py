# SPDX-License-Identifier: Apache-2.0
"""Which Cells and operators compute in low precision: MindSpore's lists, those of them there are.

The names are MindSpore's; some of its operators are not there.
"""

from __future__ import annotations

from mycel import nn, ops

_WHITE_CELLS = (
    "Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose",
    "Dense", "LSTMCell", "RNNCell", "GRUCell",
)  # fmt: skip
_WHITE_OPERATORS = (
    "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "Conv2DBackpropInput", "MatMul",
    "BatchMatMul", "PReLU", "ReLU", "Ger",
)  # fmt: skip
_BLACK_CELLS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm")
# Cells that are one operator: they follow its class.
_CELLS_OF_OPERATORS = {"ReLU": "ReLU", "PReLU": "PReLU"}


def _found(module, names) -> list[type]:
    return [getattr(module, name) for name in names if hasattr(module, name)]


AMP_WHITE_LIST = _found(nn, _WHITE_CELLS) + _found(ops, _WHITE_OPERATORS)
AMP_BLACK_LIST = _found(nn, _BLACK_CELLS)


def get_white_list() -> list[type]:
    """The Cells and operators that level O1 computes in low precision; a list of one's own.

    Source: MindSpore's `mindspore.amp.get_white_list`.

    Example:
        >>> nn.Dense in ms.amp.get_white_list(), ops.MatMul in ms.amp.get_white_list()
        (True, True)
    """
    return AMP_WHITE_LIST.copy()


def get_black_list() -> list[type]:
    """The Cells that level O2 keeps in full precision; a list of one's own.

    Source: MindSpore's `mindspore.amp.get_black_list`.

    Example:
        >>> print([cell.__name__ for cell in ms.amp.get_black_list()])
        ['BatchNorm1d', 'BatchNorm2d', 'BatchNorm3d', 'LayerNorm']
    """
    return AMP_BLACK_LIST.copy()


def cells_of(operators) -> tuple[type, ...]:
    """The Cells that are nothing but one of these operators.

    Example:
        >>> from mycel.amp.lists import cells_of
        >>> cells_of([ops.ReLU]) == (nn.ReLU,)
        True
    """
    pairs = _CELLS_OF_OPERATORS.items()
    return tuple(getattr(nn, cell) for cell, name in pairs if getattr(ops, name) in operators)
