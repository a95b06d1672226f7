# SPDX-License-Identifier: Apache-2.0
"""Distributions by formulas: functions of values and parameters, whatever a call gives."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.probability.base import Distribution
from mycel.nn.probability.parameters import REAL, known_type

UNKNOWN = "{name}: {given!r} is no parameter here, or is given twice; the parameters are {known}."
# Attributes whose names without this ending would be those of formulas.
_VALUES = ("mean", "sd", "df")


class Formulas(Distribution):
    """A distribution with parameters, which each call may replace."""

    # What other distributions call it, and how parameters are shown where not by their names.
    kind = ""
    shown: dict[str, str] = {}
    # Element types of samples.
    types = REAL

    def __init__(self, seed, dtype, name, **parameters):
        given = {"seed": seed, "dtype": dtype, "name": name, **parameters}
        dtype = known_type(dtype, self.kind, self.types)
        super().__init__(seed, dtype, name, {**given, "param_dict": parameters})
        self._keep(parameters)

    def _keep(self, parameters: dict) -> None:
        """Let the parameters be attributes, so that a Parameter is one of this Cell."""
        for key, value in parameters.items():
            attribute = f"_{key}_value" if key in _VALUES else f"_{key}"
            setattr(self, attribute, self._add_parameter(value, key))

    def extend_repr(self) -> str:
        """The parameters, or their shape."""
        if not self.is_scalar_batch:
            return f"batch_shape = {self._broadcast_shape}"
        pairs = zip(self.parameter_names, self.default_parameters, strict=True)
        return ", ".join(f"{self.shown.get(name, name)} = {value}" for name, value in pairs)

    def _get_dist_type(self) -> str:
        return self.kind

    def _get_dist_args(self, *args, **kwargs) -> tuple:
        pairs = zip(chosen(self, args, kwargs), self.default_parameters, strict=True)
        return tuple(default if given is None else given for given, default in pairs)


def own(name: str) -> property:
    """A parameter of a distribution as a property."""

    def parameter(self):
        return self.default_parameters[self.parameter_names.index(name)]

    return property(parameter, doc=f"The parameter {name}, a Tensor; None if it is not known.")


def chosen(distribution: Distribution, args: tuple, kwargs: dict, ending: str = "") -> list:
    """Arguments in the order of the parameters, None where there is none.

    Raises:
        TypeError: there are too many, or one of another name.
    """
    names = [name + ending for name in distribution.parameter_names]
    given = dict(zip(names, args, strict=False))
    for keyword, value in kwargs.items():
        name = keyword.replace("probs1", "probs").removesuffix("_a")
        if name not in names or name in given:
            text = UNKNOWN.format(name=distribution.name, given=keyword, known=names)
            raise TypeError(text)
        given[name] = value
    if len(args) > len(names):
        extra = args[len(names)]
        raise TypeError(UNKNOWN.format(name=distribution.name, given=extra, known=names))
    return [given.get(name) for name in names]


def _parameters(distribution: Distribution, args: tuple, kwargs: dict) -> tuple:
    found = distribution._check_param_type(*chosen(distribution, args, kwargs))
    return found if isinstance(found, tuple) else (found,)


def of_parameters(formula: Callable) -> Callable:
    """A question about the distribution itself: `formula(self, *parameters)`."""

    @functools.wraps(formula)
    def answer(self, *args, **kwargs):
        return formula(self, *_parameters(self, args, kwargs))

    return answer


def of_value(formula: Callable) -> Callable:
    """A question about values: `formula(self, value, *parameters)`."""

    @functools.wraps(formula)
    def answer(self, value, *args, **kwargs):
        value = self._check_value(value, "value")
        wanted = self._dtype if self._dtype.is_floating else self.parameter_type
        return formula(self, ops.cast(value, wanted), *_parameters(self, args, kwargs))

    return answer


def of_two(formula: Callable) -> Callable:
    """A question about two distributions: `formula(self, *own parameters, *the other's)`."""

    @functools.wraps(formula)
    def answer(self, dist, *args, **kwargs):
        check_kind(self, dist)
        others, ours = split(self, args, kwargs)
        names = [f"{name}_b" for name in self.parameter_names]
        checked = [self._check_value(v, n) for v, n in zip(others, names, strict=True)]
        other = [ops.cast(value, self.parameter_type) for value in checked]
        return formula(self, *_parameters(self, tuple(ours), {}), *other)

    return answer


def split(distribution: Distribution, args: tuple, kwargs: dict) -> tuple[list, list]:
    """The parameters of the other distribution, and those of this one."""
    count = len(distribution.parameter_names)
    theirs = {key: value for key, value in kwargs.items() if key.endswith("_b")}
    rest = {key: value for key, value in kwargs.items() if key not in theirs}
    others = chosen(distribution, args[:count], theirs, "_b")
    return others, chosen(distribution, args[count:], rest)


def check_kind(distribution: Formulas, dist) -> None:
    """Raise unless another distribution is of the same kind.

    Raises:
        ValueError: it is of another.
    """
    if dist != distribution.kind:
        what = f"{distribution.name}: dist"
        raise wrong(ValueError, what, repr(distribution.kind), repr(dist))


class Comparable(Formulas):
    """A distribution with formulas for its entropy and its divergence from others of its kind."""

    def _cross_entropy(self, dist, *args, **kwargs):
        check_kind(self, dist)
        ours = split(self, args, kwargs)[1]
        return self._entropy(*ours) + self._kl_loss(dist, *args, **kwargs)

    def _entropy(self, *args, **kwargs) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no formula `_entropy`: define it.")

    def _kl_loss(self, dist, *args, **kwargs) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no formula `_kl_loss`: define it.")


def drawn(formula: Callable) -> Callable:
    """Samples: `formula(self, shape, *parameters)`, where `shape` is in front of theirs."""

    @functools.wraps(formula)
    def answer(self, shape=(), *args, **kwargs):
        if not isinstance(shape, tuple):
            raise wrong(TypeError, f"{self.name}: shape", "a tuple", repr(shape))
        values = _parameters(self, args, kwargs)
        return ops.cast(formula(self, shape, *values), self._dtype)

    return answer
