# SPDX-License-Identifier: Apache-2.0
"""How MindSpore's programs describe operators of their own to its compilers.

The description is kept with the function; `ops.Custom` runs the function itself, so nothing here
chooses code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mycel.kernel.base.errors import wrong

_TYPES = {
    "None": "",
    "BOOL": "bool",
    **{f"{kind}{bits}": f"{name}{bits}" for kind, name in (("I", "int"), ("U", "uint"))
       for bits in (8, 16, 32, 64)},
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "BF16": "bfloat16",
    **{f"C{bits}": f"complex{bits}" for bits in (64, 128)},
}  # fmt: skip
_FORMATS = {
    "None": ("",),
    "Default": ("DefaultFormat",),
    "Default_List": ("DefaultFormat", "list"),
    "Default_Tuple": ("DefaultFormat", "tuple"),
    "5HD": ("NC1HWC0",),
    "FracZ": ("FRACTAL_Z",),
    "FracNZ": ("FRACTAL_NZ",),
    "FracZNLSTM": ("FRACTAL_ZN_LSTM",),
    "FracZNRNN": ("FRACTAL_ZN_RNN",),
    "ND_RNNBIAS": ("ND_RNN_BIAS",),
    **{
        name: (name,)
        for name in ("C1HWNCoC0", "ChannelLast", "DHWCN", "FRACTAL_Z_3D", "HWCN", "NCDHW", "NCHW",
                     "NC1HWC0", "NDC1HWC0", "NDHWC", "NHWC")
    },
}  # fmt: skip


class _DataTypes(type):
    """Each attribute is an element type and a layout, from the two halves of its name."""

    def __getattr__(cls, name: str) -> tuple[str, ...]:
        kind, _, layout = name.partition("_")
        if kind not in _TYPES or layout not in _FORMATS:
            raise AttributeError(
                f"DataType has no {name!r}; write for example DataType.F32_Default"
            )
        return (_TYPES[kind], *_FORMATS[layout])


class DataType(metaclass=_DataTypes):
    """Element types with layouts, for `CustomRegOp.dtype_format`.

    Source: MindSpore's `mindspore.ops.DataType`.

    Example:
        >>> ops.DataType.F32_Default, ops.DataType.BF16_NCHW
        (('float32', 'DefaultFormat'), ('bfloat16', 'NCHW'))
    """


class CustomRegOp:
    """The description of an operator, built call by call.

    Args:
        op_name: its name.

    Raises:
        TypeError: a name is not a string, an index not an integer.

    Source: MindSpore's `mindspore.ops.CustomRegOp`.

    Example:
        >>> described = (
        ...     ops.CustomRegOp("twice").input(0, "x").output(0, "y")
        ...     .dtype_format(ops.DataType.F32_Default, ops.DataType.F32_Default)
        ...     .target("CPU").get_op_info())
        >>> described["op_name"], described["target"], len(described["inputs"])
        ('twice', 'CPU', 1)
    """

    def __init__(self, op_name: str = "Custom"):
        self.op_name = _text("op_name", op_name)
        self.inputs: list[dict] = []
        self.outputs: list[dict] = []
        self._attributes: list[dict] = []
        self._formats: list[tuple] = []
        self._fusion_type = ""
        self._target = ""

    def input(self, index=None, name=None, param_type="required", **kwargs) -> CustomRegOp:
        """Describe an input."""
        self.inputs.append(_place(index, name, param_type, kwargs))
        return self

    def output(self, index=None, name=None, param_type="required", **kwargs) -> CustomRegOp:
        """Describe an output."""
        self.outputs.append(_place(index, name, param_type, kwargs))
        return self

    def attr(
        self, name=None, param_type=None, value_type=None, default_value=None, **kwargs
    ) -> CustomRegOp:
        """Describe an attribute."""
        told = {"name": name, "paramType": param_type, "type": value_type}
        told |= {"defaultValue": default_value, **kwargs}
        self._attributes.append({key: value for key, value in told.items() if value is not None})
        return self

    def dtype_format(self, *args: tuple) -> CustomRegOp:
        """Say which element types and layouts go together: one of `DataType` for each operand."""
        count = len(self.inputs) + len(self.outputs)
        if len(args) != count:
            expected = f"one for each of the {count} inputs and outputs"
            raise wrong(ValueError, "CustomRegOp.dtype_format", expected, len(args))
        self._formats.append(args)
        return self

    def fusion_type(self, fusion_type: str) -> CustomRegOp:
        """How MindSpore may fuse it."""
        self._fusion_type = _text("fusion_type", fusion_type)
        return self

    def target(self, target: str | None = None) -> CustomRegOp:
        """For which device it is."""
        self._target = _text("target", target)
        return self

    def get_op_info(self) -> dict:
        """The description."""
        return {
            "op_name": self.op_name,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "attr": self._attributes,
            "fusion_type": self._fusion_type,
            "dtype_format": self._formats,
            "target": self._target,
        }


def custom_info_register(*reg_info: Any) -> Callable[..., Any]:
    """Keep descriptions with the function of an operator, under `reg_info`.

    Raises:
        TypeError: a description is neither a dictionary nor a text.

    Source: MindSpore's `mindspore.ops.custom_info_register`.

    Example:
        >>> @ops.custom_info_register(ops.CustomRegOp("twice").get_op_info())
        ... def twice(x):
        ...     return x + x
        >>> twice.reg_info[0]["op_name"]
        'twice'
    """
    for told in reg_info:
        if not isinstance(told, (dict, str)):
            expected = "what CustomRegOp.get_op_info() returns"
            raise wrong(TypeError, "custom_info_register", expected, type(told).__name__)

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def called(*args, **kwargs):
            return function(*args, **kwargs)

        called.__dict__["reg_info"] = reg_info
        return called

    return register


def _text(what: str, value) -> str:
    if not isinstance(value, str):
        raise wrong(TypeError, f"CustomRegOp: {what}", "a text", repr(value))
    return value


def _place(index, name, kind, more: dict) -> dict:
    if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        raise wrong(TypeError, "CustomRegOp: index", "an integer", repr(index))
    told = {"index": index, "name": name, "paramType": kind, **more}
    return {key: value for key, value in told.items() if value is not None}
