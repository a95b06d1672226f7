# SPDX-License-Identifier: Apache-2.0
"""The base of distributions: which question is answered by which formula."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel import ops
from mycel.kernel.base.dtypes import as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import is_integer
from mycel.nn.probability.parameters import are_numbers, as_tensor, common_type, shape_of
from mycel.ops.random.drawing import draw_key

NOT_DEFINED = "{name}: there is no formula for {question} here{remedy}."
NO_PARAMETER = (
    "{name}: the parameter {parameter!r} is not known; give it when the distribution is made, or "
    "in the call."
)


def _complement(x):
    return 1.0 - x


# By question: what else answers it, in the order in which it is looked for, and what is left to do.
DERIVED: dict[str, dict[str, tuple[Callable, ...]]] = {
    "prob": {"log_prob": (ops.exp,)},
    "log_prob": {"prob": (ops.log,)},
    "cdf": {
        "log_cdf": (ops.exp,),
        "survival_function": (_complement,),
        "log_survival": (ops.exp, _complement),
    },
    "log_cdf": {
        "cdf": (ops.log,),
        "survival_function": (_complement, ops.log),
        "log_survival": (ops.exp, _complement, ops.log),
    },
    "survival_function": {
        "log_survival": (ops.exp,),
        "cdf": (_complement,),
        "log_cdf": (ops.exp, _complement),
    },
    "log_survival": {
        "survival_function": (ops.log,),
        "cdf": (_complement, ops.log),
        "log_cdf": (ops.exp, _complement, ops.log),
    },
    "sd": {"var": (ops.sqrt,)},
    "var": {"sd": (ops.square,)},
}
QUESTIONS = (
    *DERIVED,
    *("mean", "mode", "entropy", "kl_loss", "cross_entropy", "sample"),
    *("get_dist_args", "get_dist_type"),
)


class Distribution(Cell):
    """The base of distributions. Your own has `_log_prob`, `_mean`, `_sample` and the like.

    A question that has no formula is answered from another one where that is possible: the
    probability from its logarithm, the survival function from the cumulative one, the standard
    deviation from the variance. Every answer is also that of a call: `d("log_prob", value)`.

    Args:
        seed: an integer from 0 that makes samples repeat from run to run; None or 0 draws from the
            default generator.
        dtype: the element type of samples.
        name: what errors call it.
        param: a dictionary; its entry "param_dict" has the parameters by name, each a number, a
            list, an array, a Tensor, or None if each call is to give it.

    Raises:
        TypeError: the name is no text, or parameters have different element types.
        ValueError: the seed is negative.

    Source: MindSpore's `mindspore.nn.probability.distribution.Distribution`.

    Example:
        >>> from mycel.nn.probability import distribution
        >>> class Triangle(distribution.Distribution):
        ...     def __init__(self):
        ...         super().__init__(None, ms.float32, "Triangle", {})
        ...     def _prob(self, value):
        ...         return ops.relu(1.0 - value.abs())
        >>> print(Triangle().prob(Tensor([0.5, 2.0])), Triangle()("log_prob", Tensor(0.0)))
        [0.5 0. ] 0.0
    """

    def __init__(self, seed, dtype, name, param):
        super().__init__()
        if not isinstance(name, str):
            raise wrong(TypeError, "name", "a text", repr(name))
        if seed is not None and (not is_integer(seed) or seed < 0):
            raise wrong(ValueError, f"{name}: seed", "an integer from 0", repr(seed))
        self._name, self._seed = name, seed or 0
        self._dtype = as_dtype(dtype)
        self._given = {k: v for k, v in param.items() if k != "self" and not k.startswith("_")}
        self.default_parameters: list = []
        self.parameter_names: list[str] = []
        if "distribution" not in self._given:
            known = self._given.get("param_dict", {})
            self.parameter_type = common_type(known, self._dtype)
            self._batch_shape = self._broadcast_shape = shape_of(known)
            self._is_scalar_batch = are_numbers(known)

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._name

    @property
    def dtype(self):
        """The element type of samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """The seed of samples; 0 where there is none."""
        return self._seed

    @property
    def parameters(self) -> dict:
        """What it was made with, by name."""
        return self._given

    @property
    def is_scalar_batch(self) -> bool:
        """Whether its parameters are plain numbers."""
        return self._is_scalar_batch

    @property
    def batch_shape(self):
        """The shape that its parameters have together; None if one is not known."""
        return self._batch_shape

    @property
    def broadcast_shape(self):
        """The shape of one sample; None if a parameter is not known."""
        return self._broadcast_shape

    # -- for subclasses ------------------------------------------------------------------------

    def _add_parameter(self, value, name: str):
        """A parameter as a Tensor of the common type; calls may replace it in this order."""
        made = None if value is None else as_tensor(value, self.parameter_type)
        self.default_parameters.append(made)
        self.parameter_names.append(name)
        return made

    def _reset_parameters(self) -> None:
        self.default_parameters, self.parameter_names = [], []

    def _check_value(self, value, name: str) -> Tensor:
        """The value, if it is a Tensor.

        Raises:
            TypeError: it is none.
        """
        if not isinstance(value, Tensor):
            actual = f"{type(value).__name__} {value!r:.40}"
            raise wrong(TypeError, f"{self.name}: {name}", "a Tensor", actual)
        return value

    def _check_param_type(self, *args):
        """The parameters of a call: those given, or the distribution's own, of one shape and type.

        Raises:
            TypeError: one is not a Tensor, or is given nowhere.
        """
        found = []
        defaults = zip(self.parameter_names, self.default_parameters, strict=True)
        for (name, default), given in zip(defaults, args, strict=True):
            value = default if given is None else self._check_value(given, name)
            if value is None:
                raise TypeError(NO_PARAMETER.format(name=self.name, parameter=name))
            found.append(ops.cast(value, self.parameter_type))
        if len(found) == 1:
            return found[0]
        shape = np.broadcast_shapes(*[value.shape for value in found])
        return tuple(v if v.shape == shape else ops.broadcast_to(v, shape) for v in found)

    def _key(self) -> Tensor:
        """A key for one sample."""
        return draw_key(self._seed)

    def _answer(self, question: str, *args, **kwargs):
        """What the formula of the question says, or that of one which answers it too."""
        own = getattr(self, f"_{question}", None)
        if own is not None:
            return own(*args, **kwargs)
        for other, steps in DERIVED.get(question, {}).items():
            formula = getattr(self, f"_{other}", None)
            if formula is not None:
                return functools.reduce(lambda x, f: f(x), steps, formula(*args, **kwargs))
        remedy = f"; a subclass can have one in _{question}" if question in QUESTIONS else ""
        text = NOT_DEFINED.format(name=self.name, question=question, remedy=remedy)
        raise NotImplementedError(text)

    def construct(self, name, *args, **kwargs) -> Any:  # pyright: ignore
        """The answer to one question, which is named: `d("log_prob", value)`.

        Raises:
            NotImplementedError: there is no formula for it.
        """
        # What kind it is does not depend on parameters that a Cell around it always gives.
        if name == "get_dist_type":
            return self._answer(name)
        return self._answer(name, *args, **kwargs)

    # -- questions -----------------------------------------------------------------------------

    def prob(self, value, *args, **kwargs):
        """The density at each value, or the probability of it.

        Args:
            value: a Tensor.
            *args, **kwargs: parameters in place of the distribution's own, in their order or by
                name.
        """
        return self._answer("prob", value, *args, **kwargs)

    def log_prob(self, value, *args, **kwargs):
        """The logarithm of `prob`.

        Args:
            value: a Tensor.
            *args, **kwargs: parameters in place of the distribution's own, in their order or by
                name.
        """
        return self._answer("log_prob", value, *args, **kwargs)

    def cdf(self, value, *args, **kwargs):
        """The probability of each value and what lies below it.

        Args:
            value: a Tensor.
            *args, **kwargs: parameters in place of the distribution's own, in their order or by
                name.
        """
        return self._answer("cdf", value, *args, **kwargs)

    def log_cdf(self, value, *args, **kwargs):
        """The logarithm of `cdf`.

        Args:
            value: a Tensor.
            *args, **kwargs: parameters in place of the distribution's own, in their order or by
                name.
        """
        return self._answer("log_cdf", value, *args, **kwargs)

    def survival_function(self, value, *args, **kwargs):
        """The probability of what lies above each value.

        Args:
            value: a Tensor.
            *args, **kwargs: parameters in place of the distribution's own, in their order or by
                name.
        """
        return self._answer("survival_function", value, *args, **kwargs)

    def log_survival(self, value, *args, **kwargs):
        """The logarithm of `survival_function`.

        Args:
            value: a Tensor.
            *args, **kwargs: parameters in place of the distribution's own, in their order or by
                name.
        """
        return self._answer("log_survival", value, *args, **kwargs)

    def mean(self, *args, **kwargs):
        """The mean, for the distribution's parameters or those given."""
        return self._answer("mean", *args, **kwargs)

    def mode(self, *args, **kwargs):
        """The most likely value, for the distribution's parameters or those given."""
        return self._answer("mode", *args, **kwargs)

    def sd(self, *args, **kwargs):
        """The standard deviation, for the distribution's parameters or those given."""
        return self._answer("sd", *args, **kwargs)

    def var(self, *args, **kwargs):
        """The variance, for the distribution's parameters or those given."""
        return self._answer("var", *args, **kwargs)

    def entropy(self, *args, **kwargs):
        """The entropy in nats, for the distribution's parameters or those given."""
        return self._answer("entropy", *args, **kwargs)

    def kl_loss(self, dist, *args, **kwargs):
        """The Kullback-Leibler divergence of this distribution from another of its kind.

        Args:
            dist: the kind of the other one: the name of its class, as of this one's.
            *args, **kwargs: the other's parameters; behind them, parameters in place of the
                distribution's own.

        Raises:
            ValueError: the other is of another kind.
            TypeError: a parameter of the other is not a Tensor.
        """
        return self._answer("kl_loss", dist, *args, **kwargs)

    def cross_entropy(self, dist, *args, **kwargs):
        """The entropy of this distribution plus its divergence from another of its kind.

        Args:
            dist: the kind of the other one: the name of its class, as of this one's.
            *args, **kwargs: the other's parameters; behind them, parameters in place of the
                distribution's own.

        Raises:
            ValueError: the other is of another kind.
            TypeError: a parameter of the other is not a Tensor.
        """
        return self._answer("cross_entropy", dist, *args, **kwargs)

    def sample(self, *args, **kwargs):
        """Random values, of shape `shape` + the shape of the parameters.

        Args:
            *args, **kwargs: `shape`, a tuple, () by default; behind it, parameters in place of the
                distribution's own.
        """
        return self._answer("sample", *args, **kwargs)

    def get_dist_args(self, *args, **kwargs):
        """The parameters: those given, and the distribution's own in place of None."""
        return self._answer("get_dist_args", *args, **kwargs)

    def get_dist_type(self) -> str:
        """What kind of distribution it is, as `kl_loss` wants it named."""
        return self._answer("get_dist_type")
