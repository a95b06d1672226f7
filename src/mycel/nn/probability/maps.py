# SPDX-License-Identifier: Apache-2.0
"""The bijectors: powers and exponentials, linear maps, softplus, and the inverse of another."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.nn.probability.bijection import Bijector
from mycel.nn.probability.parameters import in_range, positive


class _Map(Bijector):
    """A bijector with parameters, which are attributes too."""

    def __init__(self, name: str, linear: bool = False, **parameters):
        given = {"name": name, **parameters, "param_dict": parameters}
        super().__init__(linear, True, name, None, given)
        for key, value in parameters.items():
            setattr(self, f"_{key}", self._add_parameter(value, key))

    def _of(self, value, *names: str):
        """A value, checked, and parameters in its element type."""
        value = self._check_value_dtype(value)
        parameters = (getattr(self, f"_{name}") for name in names)
        return value, *(self.cast_param_by_value(value, each) for each in parameters)


class PowerTransform(_Map):
    """(1 + x · power) ^ (1 / power); the exponential function where the power is 0.

    Args:
        power: from 0; 0 by default.
        name: what errors call it; "PowerTransform" by default.

    Raises:
        ValueError: the power is negative.

    Source: MindSpore's `mindspore.nn.probability.bijector.PowerTransform`.

    Example:
        >>> from mycel.nn.probability.bijector import PowerTransform
        >>> print(PowerTransform(0.5).forward(Tensor([0.0, 2.0])))
        [1. 4.]
    """

    def __init__(self, power=0.0, name="PowerTransform"):
        super().__init__(name, power=power)
        in_range(self._power, "power", "from 0", lambda x: x >= 0)

    @property
    def power(self):
        """The power, a Tensor."""
        return self._power

    def _parts(self, value):
        """The value, the power, where the power is 0, and a power that can be divided by."""
        value, power = self._of(value, "power")
        return value, power, power == 0, ops.where(power == 0, 1.0, power)

    def _forward(self, x):
        x, _, zero, power = self._parts(x)
        # The branch that is not chosen gets a value where it is finite: so does its slope.
        base = ops.where(zero, 0.0, x * power)
        return ops.where(zero, ops.exp(x), ops.exp(ops.log1p(base) / power))

    def _inverse(self, y):
        y, _, zero, power = self._parts(y)
        return ops.where(zero, y.log(), ops.expm1(y.log() * power) / power)

    def _forward_log_jacobian(self, x):
        x, _, zero, power = self._parts(x)
        base = ops.where(zero, 0.0, x * power)
        return ops.where(zero, x, (1 / power - 1) * ops.log1p(base))

    def _inverse_log_jacobian(self, y):
        y, power, *_ = self._parts(y)
        return (power - 1) * y.log()


class Exp(PowerTransform):
    """The exponential function.

    Args:
        name: what errors call it; "Exp" by default.

    Source: MindSpore's `mindspore.nn.probability.bijector.Exp`.

    Example:
        >>> from mycel.nn.probability.bijector import Exp
        >>> print(Exp().forward(Tensor(0.0)), Exp().inverse(Tensor(1.0)))
        1.0 0.0
    """

    def __init__(self, name="Exp"):
        super().__init__(0.0, name)

    def extend_repr(self) -> str:
        """What it is."""
        return "exp"


class ScalarAffine(_Map):
    """scale · x + shift.

    Args:
        scale: 1 by default.
        shift: 0 by default.
        name: what errors call it; "ScalarAffine" by default.

    Source: MindSpore's `mindspore.nn.probability.bijector.ScalarAffine`.

    Example:
        >>> from mycel.nn.probability.bijector import ScalarAffine
        >>> print(ScalarAffine(2.0, 1.0).forward(Tensor([0.0, 3.0])))
        [1. 7.]
    """

    def __init__(self, scale=1.0, shift=0.0, name="ScalarAffine"):
        super().__init__(name, True, scale=scale, shift=shift)

    @property
    def scale(self):
        """The factor, a Tensor."""
        return self._scale

    @property
    def shift(self):
        """What is added, a Tensor."""
        return self._shift

    def falls(self):
        """Where the scale is negative."""
        return self._scale < 0

    def _forward(self, x):
        x, scale, shift = self._of(x, "scale", "shift")
        return scale * x + shift

    def _inverse(self, y):
        y, scale, shift = self._of(y, "scale", "shift")
        return (y - shift) / scale

    def _forward_log_jacobian(self, x):
        _, scale = self._of(x, "scale")
        return scale.abs().log()

    def _inverse_log_jacobian(self, y):
        return -self._forward_log_jacobian(y)


class Softplus(_Map):
    """log(1 + exp(sharpness · x)) / sharpness.

    Args:
        sharpness: how sharply it bends at 0; 1 by default.
        name: what errors call it; "Softplus" by default.

    Source: MindSpore's `mindspore.nn.probability.bijector.Softplus`.

    Example:
        >>> from mycel.nn.probability.bijector import Softplus
        >>> print(Softplus(2.0).inverse(Softplus(2.0).forward(Tensor([3.0]))))
        [3.]
    """

    def __init__(self, sharpness=1.0, name="Softplus"):
        super().__init__(name, sharpness=sharpness)

    @property
    def sharpness(self):
        """How sharply it bends at 0, a Tensor."""
        return self._sharpness

    def _forward(self, x):
        x, sharpness = self._of(x, "sharpness")
        return -ops.logsigmoid(-sharpness * x) / sharpness

    def _inverse(self, y):
        y, sharpness = self._of(y, "sharpness")
        return y + (-ops.expm1(-sharpness * y)).log() / sharpness

    def _forward_log_jacobian(self, x):
        x, sharpness = self._of(x, "sharpness")
        return ops.logsigmoid(sharpness * x)

    def _inverse_log_jacobian(self, y):
        y, sharpness = self._of(y, "sharpness")
        return -(-ops.expm1(-sharpness * y)).log()


class GumbelCDF(_Map):
    """exp(-exp(-(x - loc) / scale)).

    Args:
        loc: 0 by default.
        scale: above 0; 1 by default.
        name: what errors call it; "GumbelCDF" by default.

    Raises:
        ValueError: the scale is not above 0.

    Source: MindSpore's `mindspore.nn.probability.bijector.GumbelCDF`.

    Example:
        >>> from mycel.nn.probability.bijector import GumbelCDF
        >>> print(GumbelCDF(1.0, 2.0).forward(Tensor([1.0])))
        [0.36787945]
    """

    def __init__(self, loc=0.0, scale=1.0, name="GumbelCDF"):
        super().__init__(name, loc=loc, scale=scale)
        positive(self._scale, "scale")

    @property
    def loc(self):
        """Its middle, a Tensor."""
        return self._loc

    @property
    def scale(self):
        """How wide it is, a Tensor."""
        return self._scale

    def _forward(self, x):
        x, loc, scale = self._of(x, "loc", "scale")
        return ops.exp(-ops.exp((loc - x) / scale))

    def _inverse(self, y):
        y, loc, scale = self._of(y, "loc", "scale")
        return loc - scale * (-y.log()).log()

    def _forward_log_jacobian(self, x):
        x, loc, scale = self._of(x, "loc", "scale")
        z = (x - loc) / scale
        return -z - ops.exp(-z) - scale.log()

    def _inverse_log_jacobian(self, y):
        y, scale = self._of(y, "scale")
        return (scale / (-y * y.log())).log()


class Invert(Bijector):
    """The inverse of another bijector.

    Args:
        bijector: the other one.
        name: what errors call it; by default "Invert" and the name of the other.

    Raises:
        TypeError: the argument is not a Bijector.

    Source: MindSpore's `mindspore.nn.probability.bijector.Invert`.

    Example:
        >>> from mycel.nn.probability.bijector import Exp, Invert
        >>> print(Invert(Exp()).forward(Tensor(1.0)))
        0.0
    """

    def __init__(self, bijector, name=""):
        if not isinstance(bijector, Bijector):
            raise wrong(TypeError, "Invert: bijector", "a Bijector", type(bijector).__name__)
        name = name or f"Invert{bijector.name}"
        given = {"bijector": bijector, "name": name}
        linear, injective = bijector.is_constant_jacobian, bijector.is_injective
        super().__init__(linear, injective, name, bijector.dtype, given)
        self._bijector = bijector
        self._batch_shape, self._is_scalar_batch = bijector.batch_shape, bijector.is_scalar_batch

    @property
    def bijector(self):
        """The bijector whose inverse it is."""
        return self._bijector

    def extend_repr(self) -> str:
        """Nothing: the other one is shown."""
        return ""

    def falls(self):
        """Where the other one does."""
        return self._bijector.falls()

    def _forward(self, x):
        return self._bijector.inverse(x)

    def _inverse(self, y):
        return self._bijector.forward(y)

    def _forward_log_jacobian(self, x):
        return self._bijector.inverse_log_jacobian(x)

    def _inverse_log_jacobian(self, y):
        return self._bijector.forward_log_jacobian(y)
