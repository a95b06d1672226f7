# SPDX-License-Identifier: Apache-2.0
"""The base of bijectors: invertible maps of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel import ops
from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean
from mycel.nn.probability.base import Distribution
from mycel.nn.probability.parameters import (
    are_numbers,
    as_tensor,
    common_type,
    known_type,
    shape_of,
)

QUESTIONS = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")
NO_FORMULA = "{name}: there is no formula for {question!r}; a subclass can have one in _{question}."


class Bijector(Cell):
    """The base of invertible maps. Your own has `_forward`, `_inverse` and their log-slopes.

    A call names the direction: `b("forward", x)`; called with a Distribution it makes a
    TransformedDistribution.

    Args:
        is_constant_jacobian: whether the slope is the same everywhere; False by default.
        is_injective: whether no two values are mapped to one; True by default.
        name: what errors call it.
        dtype: the element type of values; None, the default, for any real one.
        param: a dictionary; its entry "param_dict" has the parameters by name.

    Raises:
        TypeError: the name is no text, a flag no bool, or the type not real.

    Source: MindSpore's `mindspore.nn.probability.bijector.Bijector`.

    Example:
        >>> from mycel.nn.probability import bijector
        >>> class Cube(bijector.Bijector):
        ...     def __init__(self):
        ...         super().__init__(name="Cube")
        ...     def _forward(self, x):
        ...         return x**3
        >>> print(Cube().forward(Tensor(2.0)), Cube()("forward", Tensor(3.0)))
        8.0 27.0
    """

    # What a call with a Distribution makes; TransformedDistribution puts itself here.
    transforms: Any = None

    def __init__(
        self, is_constant_jacobian=False, is_injective=True, name=None, dtype=None, param=None
    ):
        super().__init__()
        if not isinstance(name, str):
            raise wrong(TypeError, "name", "a text", repr(name))
        self._name = name
        self._is_constant_jacobian = boolean(is_constant_jacobian, f"{name}: is_constant_jacobian")
        self._is_injective = boolean(is_injective, f"{name}: is_injective")
        self._dtype = None if dtype is None else known_type(dtype, name)
        given = param or {}
        self._given = {k: v for k, v in given.items() if k != "self" and not k.startswith("_")}
        known = self._given.get("param_dict")
        self._batch_shape = None if known is None else shape_of(known)
        self._is_scalar_batch = known is not None and are_numbers(known)

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._name

    @property
    def dtype(self):
        """The element type of values; None for any real one."""
        return self._dtype

    @property
    def parameters(self) -> dict:
        """What it was made with, by name."""
        return self._given

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the slope is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def is_injective(self) -> bool:
        """Whether no two values are mapped to one."""
        return self._is_injective

    @property
    def batch_shape(self):
        """The shape that its parameters have together; None if it has none."""
        return self._batch_shape

    @property
    def is_scalar_batch(self) -> bool:
        """Whether its parameters are plain numbers."""
        return self._is_scalar_batch

    def extend_repr(self) -> str:
        """The parameters, or their shape."""
        known = self._given.get("param_dict", {})
        if not self.is_scalar_batch:
            return f"batch_shape = {self.batch_shape}"
        return ", ".join(f"{name} = {value}" for name, value in known.items())

    def shape_mapping(self, shape) -> tuple[int, ...]:
        """The shape of what values of a shape are mapped to."""
        return np.broadcast_shapes(shape, self.batch_shape or ())

    # -- for subclasses ------------------------------------------------------------------------

    def _add_parameter(self, value, name: str) -> Tensor:
        """A parameter as a Tensor."""
        return as_tensor(value, common_type({name: value}, self._dtype))

    def _check_value_dtype(self, value) -> Tensor:
        """The value, if it is a Tensor of real numbers, or of the bijector's own type.

        Raises:
            TypeError: it is not.
        """
        if not isinstance(value, Tensor):
            actual = f"{type(value).__name__} {value!r:.40}"
            raise wrong(TypeError, f"{self.name}: the value", "a Tensor", actual)
        wanted = self._dtype
        if not value.dtype.is_floating or (wanted is not None and as_dtype(wanted) != value.dtype):
            expected = "of a real type" if wanted is None else f"of type {wanted}"
            raise wrong(TypeError, f"{self.name}: the value", expected, value.dtype)
        return value

    def cast_param_by_value(self, value, para) -> Tensor:
        """A parameter in the element type of a value."""
        return ops.cast(para, value.dtype)

    def falls(self) -> Tensor | None:
        """Where larger values are mapped to smaller ones; None for nowhere."""
        return None

    # -- the map -------------------------------------------------------------------------------

    def forward(self, value, *args, **kwargs):
        """What each value is mapped to."""
        return self._answer("forward", value, *args, **kwargs)

    def inverse(self, value, *args, **kwargs):
        """What is mapped to each value."""
        return self._answer("inverse", value, *args, **kwargs)

    def forward_log_jacobian(self, value, *args, **kwargs):
        """The logarithm of the absolute slope of the map at each value."""
        return self._answer("forward_log_jacobian", value, *args, **kwargs)

    def inverse_log_jacobian(self, value, *args, **kwargs):
        """The logarithm of the absolute slope of the inverse at each value."""
        return self._answer("inverse_log_jacobian", value, *args, **kwargs)

    def _answer(self, question: str, *args, **kwargs):
        formula = getattr(self, f"_{question}", None)
        if formula is None:
            raise NotImplementedError(NO_FORMULA.format(name=self.name, question=question))
        return formula(*args, **kwargs)

    def __call__(self, *args, **kwargs):  # pyright: ignore
        if args and isinstance(args[0], Distribution):
            return type(self).transforms(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, name, *args, **kwargs) -> Any:  # pyright: ignore
        """The map in the direction that is named: `b("inverse", value)`.

        Raises:
            ValueError: there is no such direction.
        """
        if name not in QUESTIONS:
            raise wrong(ValueError, f"{self.name}: the direction", " or ".join(QUESTIONS), name)
        return getattr(self, name)(*args, **kwargs)
