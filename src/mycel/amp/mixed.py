# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: a network changed in place so that parts of it compute in Float16 or BFloat16.

Parameters keep their element types; what a Cell computes with is cast while it runs (see
`nn.precision`), and what it returns is cast by a Cell put around it.
"""

from __future__ import annotations

from typing import Any

from mycel import ops
from mycel.amp.lists import cells_of, get_black_list, get_white_list
from mycel.kernel.base.dtypes import DType, bfloat16, float16, float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.trees import tree_exchange
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell.primitive import Primitive
from mycel.nn.cell import Cell

LEVELS = ("O0", "O1", "O2", "O3")
NO_AUTO = (
    f"one of {', '.join(map(repr, LEVELS))} ('auto', a type for each operator, is not there: 'O1' "
    "computes convolutions and products in low precision)"
)
_FLAGS = ("fp16", "fp32", "bf16")


def cast_real(tree, dtype: DType):
    """A tree with its real Tensors in one element type; all else stays.

    Example:
        >>> from mycel.amp.mixed import cast_real
        >>> cast_real((Tensor([1.0]), Tensor([2])), ms.float16)[0].dtype
        mindspore.float16
    """

    def as_wanted(leaf):
        real = isinstance(leaf, Tensor) and leaf.dtype.is_floating and leaf.dtype is not dtype
        return ops.cast(leaf, dtype) if real else leaf

    return tree_exchange(as_wanted, tree)


class _Around(Cell):
    """A Cell around another, whose outputs it casts; other attributes are those of the inner."""

    def __init__(self, backbone: Cell, dtype: DType):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self.dtype = dtype

    def construct(self, *args, **kwargs) -> Any:
        """The outputs of the inner Cell in another element type."""
        return cast_real(self._backbone(*args, **kwargs), self.dtype)

    def __getattr__(self, name: str):
        inner = self.__dict__.get("_backbone")
        if inner is None or name.startswith("_") or name in ("bprop", "internal_params"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        return getattr(inner, name)


class _OutputTo16(_Around):
    """A Cell whose outputs become Float16 (or another low precision) again."""

    def __init__(self, backbone: Cell, dtype: DType = float16):
        super().__init__(backbone, dtype)


class _OutputTo32(_Around):
    """A Cell whose outputs become Float32."""

    def __init__(self, backbone: Cell):
        super().__init__(backbone, float32)


class _LowPrecision:
    """An operator that computes in low precision and gives Float32."""

    def __init__(self, primitive: Primitive, dtype: DType):
        self.primitive = primitive
        self.dtype = dtype

    def __call__(self, *inputs):
        return cast_real(self.primitive(*cast_real(inputs, self.dtype)), float32)

    def __getattr__(self, name: str):
        if name.startswith("__") or name == "primitive":
            raise AttributeError(name)
        return getattr(self.primitive, name)


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: DType = float16) -> Any:
    """Let a network compute in mixed precision; it is changed in place.

    - O0: nothing is changed.
    - O1: Cells and operators of the white list (convolutions, products, ReLU) compute in low
      precision and give Float32. An operator is found where it is an attribute of a Cell
      (`self.matmul = ops.MatMul()`); functions that `construct` calls keep the types of their
      inputs.
    - O2: everything computes in low precision but the Cells of the black list (batch and layer
      normalisation); the network gives Float32.
    - O3: everything does; the network gives Float32.

    Args:
        dtype: float16 or bfloat16.

    Returns:
        The network; at O2 and O3 a Cell around it.

    Raises:
        TypeError: the network is not a Cell.
        ValueError: another level or element type; 'auto' is not there.

    Source: MindSpore's `mindspore.amp.auto_mixed_precision`.

    Example:
        >>> net = ms.amp.auto_mixed_precision(nn.SequentialCell(nn.Dense(2, 3)), "O1")
        >>> net(ops.ones((1, 2))).dtype, net[0].weight.dtype
        (mindspore.float32, mindspore.float32)
        >>> print(net[0].fp16)
        True
    """
    _check_cell(network)
    _check_type(dtype)
    check_level(amp_level, "auto_mixed_precision: amp_level")
    if amp_level == "O0":
        return network
    if amp_level == "O1":
        _lower_listed(network, tuple(get_white_list()), dtype)
    elif amp_level == "O2":
        network = _OutputTo32(keep_listed(network, get_black_list(), dtype))
    else:
        network = _OutputTo32(network.to_float(dtype))
    network._amp_level = amp_level
    return network


def custom_mixed_precision(
    network: Cell,
    *,
    white_list: list[type] | None = None,
    black_list: list[type] | None = None,
    dtype: DType = float16,
):
    """Mixed precision with a white or a black list of one's own; the network is changed in place.

    Args:
        white_list: classes of Cells and operators that compute in low precision, as at level O1.
        black_list: classes of Cells that do not, as at level O2.
        dtype: float16 or bfloat16.

    Raises:
        TypeError: the network is not a Cell, or a list contains something else than such classes.
        ValueError: none or both of the lists, or another element type.

    Source: MindSpore's `mindspore.amp.custom_mixed_precision`.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 2), nn.Tanh())
        >>> net = ms.amp.custom_mixed_precision(net, black_list=[nn.Tanh], dtype=ms.bfloat16)
        >>> net(ops.ones((1, 2))).dtype
        mindspore.float32
    """
    _check_cell(network)
    if (white_list is None) == (black_list is None):
        actual = "none of them" if white_list is None else "both"
        expected = "given a white_list or a black_list"
        raise wrong(ValueError, "custom_mixed_precision", expected, actual)
    _check_type(dtype)
    if white_list is not None:
        _check_list(white_list, "white_list", (Cell, Primitive))
        _lower_listed(network, tuple(white_list), dtype)
        return network
    _check_list(black_list, "black_list", (Cell,))
    return _OutputTo32(keep_listed(network, black_list, dtype))


def rewritten(
    network: Cell, dtype: DType, *, white_list: Any = None, black_list: Any = None
) -> Cell:
    """`custom_mixed_precision` as MindSpore's own programs call it.

    Source: MindSpore's `mindspore.train.amp._auto_mixed_precision_rewrite`.

    Example:
        >>> from mycel.amp.mixed import rewritten
        >>> net = nn.SequentialCell(nn.Dense(2, 2))
        >>> rewritten(net, ms.float16, white_list=[nn.Dense]) is net
        True
    """
    return custom_mixed_precision(
        network, white_list=white_list, black_list=black_list, dtype=dtype
    )


def keep_listed(network: Cell, black_list: Any, dtype: DType) -> Cell:
    """Everything below a network in low precision, but Cells of some classes.

    Example:
        >>> from mycel.amp.mixed import keep_listed
        >>> net = keep_listed(nn.SequentialCell(nn.ReLU(), nn.Tanh()), [nn.Tanh], ms.float16)
        >>> print([type(cell).__name__ for cell in net])
        ['ReLU', '_OutputTo16']
    """
    network.to_float(dtype)
    _spare(network, tuple(black_list), dtype)
    return network


def _spare(network: Cell, spared: tuple[type, ...], dtype: DType) -> None:
    """Put Cells of some classes back to Float32, and casts around them."""
    for name, child in list(network.name_cells().items()):
        if isinstance(child, spared):
            network._cells[name] = _OutputTo16(child.to_float(float32), dtype)
        else:
            _spare(child, spared, dtype)


def _lower_listed(network: Cell, listed: tuple[type, ...], dtype: DType) -> None:
    """Let Cells and operators of some classes compute in low precision and give Float32."""
    kinds = listed + cells_of(listed)
    for child in network.name_cells().values():
        if _has_type(child):
            continue
        if type(child) in kinds:
            _lower(child, dtype)
            child._gives = float32
        elif not isinstance(child, _Around):
            _lower_listed(child, listed, dtype)
    for name, value in list(vars(network).items()):
        if isinstance(value, Primitive) and type(value) in listed:
            setattr(network, name, _LowPrecision(value, dtype))


def _lower(cell: Cell, dtype: DType) -> None:
    """Compute in low precision, but for Cells whose type the program has chosen."""
    cell.add_flags(fp16=dtype is float16, bf16=dtype is bfloat16, fp32=False)
    for child in cell.cells():
        if not _has_type(child):
            _lower(child, dtype)


def _has_type(cell: Cell) -> bool:
    return any(getattr(cell, flag, False) for flag in _FLAGS)


def check_level(level, what: str) -> None:
    """Raise unless this is a level of mixed precision.

    Raises:
        TypeError: not a string.
        ValueError: another level.
    """
    if not isinstance(level, str):
        raise wrong(TypeError, what, NO_AUTO, repr(level))
    if level not in LEVELS:
        raise wrong(ValueError, what, NO_AUTO, repr(level))


def _check_cell(network) -> None:
    if not isinstance(network, Cell):
        raise wrong(TypeError, "The network", "a Cell", type(network).__name__)


def _check_type(dtype) -> None:
    if dtype not in (float16, bfloat16):
        raise wrong(ValueError, "dtype", "mycel.float16 or mycel.bfloat16", repr(dtype))


def _check_list(classes, what: str, kinds: tuple[type, ...]) -> None:
    expected = f"a list of classes of {' and '.join(kind.__name__ + 's' for kind in kinds)}"
    if not isinstance(classes, list):
        raise wrong(TypeError, what, expected, repr(classes))
    for member in classes:
        if not isinstance(member, type) or not issubclass(member, kinds):
            raise wrong(TypeError, what, expected, f"one with {member!r}")
