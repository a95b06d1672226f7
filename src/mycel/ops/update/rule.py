# SPDX-License-Identifier: Apache-2.0
"""`@rule`: a formula of an optimiser as an operator; what all formulas share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from inspect import Parameter as Argument
from typing import Any, Protocol, cast

import jax.numpy as jnp
import numpy as np

from mycel.kernel.spell import op
from mycel.kernel.spell.declare import Operation

ADDED = (
    Argument("decay", Argument.POSITIONAL_OR_KEYWORD, default=None),
    Argument("scale", Argument.POSITIONAL_OR_KEYWORD, default=None),
    Argument("centralize", Argument.KEYWORD_ONLY, default=False),
)


def prepared(gradient, parameter, decay, scale, centralize):
    """The gradient with weight decay added, centred, and multiplied by `scale`, in that order."""
    if decay is not None:
        gradient = gradient + parameter * decay
    if centralize and gradient.ndim > 1:
        gradient = gradient - gradient.mean(tuple(range(1, gradient.ndim)), keepdims=True)
    return gradient if scale is None else gradient * scale


def like(old, new):
    """The new values in the element type of the old ones."""
    return new.astype(old.dtype)


def moving_mean(old, new, keep):
    """keep · old + (1 - keep) · new."""
    return keep * old + (1 - keep) * new


def moments(first, second, gradient, beta1, beta2):
    """The moving means of the gradient and of its square."""
    return moving_mean(first, gradient, beta1), moving_mean(second, jnp.square(gradient), beta2)


def count_of(step):
    """A counter of steps as a number without dimensions."""
    return step.astype(np.float32).reshape(())


def power(base, step):
    """base to the power of the number of the step."""
    return jnp.power(base, count_of(step))


class Rule(Operation, Protocol):
    """The operator of a formula; `formula` is the function as written."""

    formula: Callable[..., Any]


def rule(formula: Callable[..., Any]) -> Rule:
    """Declare a formula `(parameter, states…, gradient, settings…) -> new parameter and states`.

    The operator also takes `decay` and `scale`, behind the arrays that are always given, and the
    choice `centralize`: the formula sees the prepared gradient. A formula that names `decay` itself
    does with it what it does. States that may be left out stand last, and so do their new values.
    Results have the element types of what they replace. `rule.formula` is the function as written.

    Example:
        >>> from mycel.ops.update import rules
        >>> made = rules.descend(Tensor([1.0], ms.float16), Tensor([2.0]), 0.25, scale=0.5)
        >>> print(made, made.dtype)
        [0.75] Float16
    """
    own = inspect.signature(formula).parameters
    arrays = [name for name in own if own[name].kind is not Argument.KEYWORD_ONLY]
    states = arrays[: arrays.index("gradient")]
    optional = [name for name in arrays if own[name].default is None and name != "decay"]
    signature = inspect.Signature(
        [
            *(own[name] for name in arrays if own[name].default is Argument.empty),
            *ADDED[:2],
            *(own[name] for name in optional),
            *(own[name] for name in own if name not in arrays),
            ADDED[2],
        ]
    )

    @functools.wraps(formula)
    def whole(*positional, **keywords):
        bound = signature.bind(*positional, **keywords)
        bound.apply_defaults()
        given = dict(bound.arguments)
        added = [given.pop(argument.name) for argument in ADDED]
        if "decay" in own:
            given["decay"], added[0] = added[0], None
        given["gradient"] = prepared(given["gradient"], given["parameter"], *added)
        made = formula(**given)
        former = [given[name] for name in (*states, *optional) if given[name] is not None]
        if not isinstance(made, tuple):
            return like(former[0], made)
        return tuple(map(like, former, made))

    whole.__dict__["__signature__"] = signature
    made = cast(Rule, op()(whole))
    made.formula = formula
    return made
