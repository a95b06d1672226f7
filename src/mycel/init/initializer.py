# SPDX-License-Identifier: Apache-2.0
"""Initialisers: how the numbers of a new Parameter are drawn, by class and by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mycel.init import later, schemes
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import as_dtype, float32
from mycel.kernel.record.generator import default_generator
from mycel.kernel.record.stream import current_stream
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import add_member, composite
from mycel.report.keywords import check_keywords


def random_numbers() -> np.random.Generator:
    """A NumPy generator that `set_seed` fixes: seeded from the next key of this thread."""
    key = default_generator().next_key().asnumpy()
    return np.random.Generator(np.random.PCG64(key.tolist()))


class Initializer:
    """The base of all initialisers; your own writes `_initialize(self, arr)`, which fills `arr`.

    Source: MindSpore's `mindspore.common.initializer.Initializer`.

    Example:
        >>> from mycel.init import Initializer
        >>> class Counted(Initializer):
        ...     def _initialize(self, arr):
        ...         arr[...] = np.arange(arr.size).reshape(arr.shape)
        >>> print(Tensor(shape=(2, 2), dtype=mycel.float32, init=Counted()))
        [[0. 1.]
         [2. 3.]]
    """

    # Programs may set the fields of one, also between two calls of what is compiled.
    fields_are_settings = True

    def __new__(cls, *args, **given):
        """One without settings yet; a keyword that `__init__` does not take is named."""
        if given:
            check_keywords(cls, given)
        return super().__new__(cls)

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self.__dict__.update(kwargs)

    if TYPE_CHECKING:
        # What it was created with.
        def __getattr__(self, name: str) -> Any: ...

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self._values(arr.shape)

    def _values(self, shape):
        """The numbers for a shape: an array or one number. Ours write this, users `_initialize`."""
        raise NotImplementedError(f"{type(self).__name__} has no _initialize(self, arr).")

    def __call__(self, arr: np.ndarray) -> None:
        """Fill a NumPy array in place."""
        self._initialize(arr)

    def fill(self, shape, dtype=float32):
        """A NumPy array of this shape and element type, filled; a Tensor that is filled later
        within `nn.no_init_parameters`.

        Example:
            >>> mycel.init.One().fill((2,), mycel.float16)
            array([1., 1.], dtype=float16)
        """
        if later.thread.waiting and current_stream().scope.capture is None:
            return later.undrawn(lambda: self._drawn(shape, dtype), tuple(shape), as_dtype(dtype))
        return self._drawn(shape, dtype)

    def _drawn(self, shape, dtype) -> np.ndarray:
        kind = as_dtype(dtype).numpy
        drawn = np.zeros(shape, kind if kind.itemsize > 4 else np.float32)
        self._initialize(drawn)
        return drawn.astype(kind, copy=False)


class Zero(Initializer):
    """Zeros; also by the names 'zeros' and 'zero'.

    Source: MindSpore's `mindspore.common.initializer.Zero`.

    Example:
        >>> print(mycel.init.initializer("zeros", (2,)))
        [0. 0.]
    """

    def _values(self, shape):
        return 0


class One(Initializer):
    """Ones; also by the names 'ones' and 'one'.

    Source: MindSpore's `mindspore.common.initializer.One`.

    Example:
        >>> print(mycel.init.initializer("ones", (2,), mycel.int32))
        [1 1]
    """

    def _values(self, shape):
        return 1


class Constant(Initializer):
    """One number everywhere.

    Raises:
        ValueError: more than one number, when the values are drawn.

    Source: MindSpore's `mindspore.common.initializer.Constant`.

    Example:
        >>> print(mycel.init.initializer(mycel.init.Constant(3), (2,)))
        [3. 3.]
    """

    def __init__(self, value):
        super().__init__(value=value)

    def _values(self, shape):
        if np.ndim(self.value):
            raise ValueError(f"Constant takes one number, not an array: {self.value!r:.60}.")
        return self.value


class Normal(Initializer):
    """Normally distributed numbers; also by the name 'normal'.

    Source: MindSpore's `mindspore.common.initializer.Normal`.

    Example:
        >>> bool(abs(mycel.init.Normal(0.5, 3.0).fill((1000,)).mean() - 3) < 0.1)
        True
    """

    def __init__(self, sigma=0.01, mean=0.0):
        super().__init__(sigma=sigma, mean=mean)

    def _values(self, shape):
        return schemes.normal(random_numbers(), shape, self.sigma, self.mean)


class TruncatedNormal(Initializer):
    """Normally distributed numbers between the values `a` and `b`; by name 'truncatedNormal'.

    The bounds are values, not multiples of sigma: with sigma 0.02 they cut nothing off.

    Source: MindSpore's `mindspore.common.initializer.TruncatedNormal`.

    Example:
        >>> bool(abs(mycel.init.TruncatedNormal(1.0).fill((1000,))).max() <= 2)
        True
    """

    def __init__(self, sigma=0.01, mean=0.0, a=-2.0, b=2.0):
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)

    def _values(self, shape):
        return schemes.truncated_normal(
            random_numbers(), shape, self.sigma, self.mean, self.a, self.b
        )


class Uniform(Initializer):
    """Numbers spread evenly from -scale to scale; also by the name 'uniform'.

    Source: MindSpore's `mindspore.common.initializer.Uniform`.

    Example:
        >>> bool(abs(mycel.init.Uniform(0.5).fill((1000,))).max() <= 0.5)
        True
    """

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)

    def _values(self, shape):
        return schemes.uniform(random_numbers(), shape, -self.scale, self.scale)


class _He(Initializer):
    """What HeUniform and HeNormal share."""

    def __init__(self, negative_slope: float = 0, mode="fan_in", nonlinearity="leaky_relu"):
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)

    def _deviation(self, shape) -> float:
        gain = schemes.gain_of(self.nonlinearity, self.negative_slope)
        return gain / math.sqrt(schemes.fan_of(shape, self.mode))


class HeUniform(_He):
    """Evenly spread numbers with the variance He et al. give for ReLU nets; name 'he_uniform'.

    Source: MindSpore's `mindspore.common.initializer.HeUniform`.

    Example:
        >>> bool(abs(mycel.init.HeUniform().fill((10, 6))).max() <= 1)
        True
    """

    def _values(self, shape):
        limit = math.sqrt(3) * self._deviation(shape)
        return schemes.uniform(random_numbers(), shape, -limit, limit)


class HeNormal(_He):
    """Normal numbers with the variance He et al. give for ReLU nets; name 'he_normal'.

    Source: MindSpore's `mindspore.common.initializer.HeNormal`.

    Example:
        >>> bool(abs(mycel.init.HeNormal().fill((100, 200)).std() - 0.1) < 0.005)
        True
    """

    def _values(self, shape):
        return schemes.normal(random_numbers(), shape, self._deviation(shape))


class _Xavier(Initializer):
    """What XavierUniform and XavierNormal share."""

    def __init__(self, gain=1):
        super().__init__(gain=gain)

    def _deviation(self, shape) -> float:
        return self.gain / math.sqrt(schemes.fan_of(shape, "fan_avg"))


class XavierUniform(_Xavier):
    """Evenly spread numbers with Glorot's variance; also by the name 'xavier_uniform'.

    Source: MindSpore's `mindspore.common.initializer.XavierUniform`.

    Example:
        >>> bool(abs(mycel.init.XavierUniform().fill((3, 3))).max() <= 1)
        True
    """

    def _values(self, shape):
        limit = math.sqrt(3) * self._deviation(shape)
        return schemes.uniform(random_numbers(), shape, -limit, limit)


class XavierNormal(_Xavier):
    """Normal numbers with Glorot's variance; also by the name 'xavier_normal'.

    Source: MindSpore's `mindspore.common.initializer.XavierNormal`.

    Example:
        >>> bool(abs(mycel.init.XavierNormal().fill((100, 100)).std() - 0.1) < 0.005)
        True
    """

    def _values(self, shape):
        return schemes.normal(random_numbers(), shape, self._deviation(shape))


class VarianceScaling(Initializer):
    """Numbers whose variance is `scale` divided by the fan that `mode` names.

    Args:
        distribution: 'truncated_normal' (at two standard deviations), 'untruncated_normal' or
            'uniform'. MindSpore 2.10 draws uniform numbers for the first, which is an error.

    Raises:
        ValueError: another distribution, when the numbers are drawn.

    Source: MindSpore's `mindspore.common.initializer.VarianceScaling`.

    Example:
        >>> bool(abs(mycel.init.VarianceScaling().fill((100, 100)).std() - 0.1) < 0.005)
        True
    """

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal"):
        super().__init__(scale=scale, mode=mode, distribution=distribution)

    def _values(self, shape):
        deviation = math.sqrt(self.scale / max(1.0, schemes.fan_of(shape, self.mode)))
        if self.distribution == "untruncated_normal":
            return schemes.normal(random_numbers(), shape, deviation)
        if self.distribution == "truncated_normal":
            wide = deviation / schemes.CUT_AT_TWO
            return schemes.truncated_normal(random_numbers(), shape, wide, 0.0, -2 * wide, 2 * wide)
        if self.distribution != "uniform":
            raise ValueError(
                "distribution must be 'uniform', 'truncated_normal' or 'untruncated_normal', "
                f"but {self.distribution!r} was given."
            )
        limit = math.sqrt(3) * deviation
        return schemes.uniform(random_numbers(), shape, -limit, limit)


class Identity(Initializer):
    """A matrix with ones on its diagonal; also by the name 'identity'.

    Source: MindSpore's `mindspore.common.initializer.Identity`.

    Example:
        >>> print(mycel.init.initializer("identity", (2, 2)))
        [[1. 0.]
         [0. 1.]]
    """

    def _values(self, shape):
        return schemes.identity(shape)


class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns of length `gain`; also by the name 'orthogonal'.

    Source: MindSpore's `mindspore.common.initializer.Orthogonal`.

    Example:
        >>> made = mycel.init.Orthogonal().fill((2, 5))
        >>> bool(abs(made @ made.T - np.eye(2)).max() < 1e-5)
        True
    """

    def __init__(self, gain=1.0):
        super().__init__(gain=gain)

    def _values(self, shape):
        return schemes.orthogonal(random_numbers(), shape, self.gain)


class Sparse(Initializer):
    """Normal numbers of which a share of every column is zero; also by the name 'sparse'.

    Source: MindSpore's `mindspore.common.initializer.Sparse`.

    Example:
        >>> int((mycel.init.Sparse(0.5).fill((4, 3)) == 0).sum())
        6
    """

    def __init__(self, sparsity, sigma=0.01):
        super().__init__(sparsity=sparsity, sigma=sigma)

    def _values(self, shape):
        return schemes.sparse(random_numbers(), shape, self.sparsity, self.sigma)


class Dirac(Initializer):
    """The convolution weight that changes nothing; also by the name 'dirac'.

    Source: MindSpore's `mindspore.common.initializer.Dirac`.

    Example:
        >>> mycel.init.Dirac().fill((1, 1, 3))
        array([[[0., 1., 0.]]], dtype=float32)
    """

    def __init__(self, groups=1):
        super().__init__(groups=groups)

    def _values(self, shape):
        return schemes.dirac(shape, self.groups)


# By lower-case name, as MindSpore registers them.
NAMES: dict[str, type[Initializer]] = {
    "zeros": Zero,
    "zero": Zero,
    "ones": One,
    "one": One,
    "normal": Normal,
    "truncatednormal": TruncatedNormal,
    "uniform": Uniform,
    "he_uniform": HeUniform,
    "heuniform": HeUniform,
    "he_normal": HeNormal,
    "henormal": HeNormal,
    "xavier_uniform": XavierUniform,
    "xavieruniform": XavierUniform,
    "xavier_normal": XavierNormal,
    "xaviernormal": XavierNormal,
    "variancescaling": VarianceScaling,
    "identity": Identity,
    "orthogonal": Orthogonal,
    "sparse": Sparse,
    "dirac": Dirac,
}


def initializer(init, shape=None, dtype=float32) -> Tensor:
    """A Tensor filled at once: by an Initializer, its name, a number, or as a Tensor given.

    Args:
        init: a Tensor is handed back as it is, after its shape was compared.
        shape: a number, list or tuple of positive numbers; a Tensor needs none.

    Raises:
        TypeError: `init` is none of these.
        ValueError: an unknown name, a wrong shape, or no shape.

    Source: MindSpore's `mindspore.common.initializer.initializer`.

    Example:
        >>> from mycel.init import initializer
        >>> print(initializer("ones", [2, 3]))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """
    if isinstance(init, Tensor):
        return _given(init, shape)
    sizes = _shape_of(shape)
    return Tensor(shape=sizes, dtype=dtype, init=initializer_of(init))


@composite("Tensor.init_data(x)")
def init_data(x):
    """The Tensor itself: what `initializer` returns is filled at once.

    Example:
        >>> print(mycel.init.initializer("ones", 2).init_data())
        [1. 1.]
    """
    return x


_HAS_INIT = "Whether values are still to be drawn: never, they are drawn at once."
add_member("has_init", property(lambda x: False, doc=_HAS_INIT))


def _given(tensor: Tensor, shape) -> Tensor:
    if shape is not None and tensor.shape != _shape_of(shape):
        raise errors.wrong(
            ValueError,
            "The Tensor to start from",
            expected=f"of shape {_shape_of(shape)}",
            actual=f"shape {tensor.shape}",
        )
    return tensor


def _shape_of(shape) -> tuple[int, ...]:
    lengths = shape if isinstance(shape, (tuple, list)) else (shape,)
    if all(isinstance(n, (int, np.integer)) and n > 0 for n in lengths):
        return tuple(map(int, lengths))
    raise errors.wrong(
        ValueError,
        "The shape to fill",
        expected="a positive integer or a tuple of them",
        actual=repr(shape),
    )


def initializer_of(init) -> Initializer:
    """The Initializer that a name or a number means."""
    if isinstance(init, Initializer):
        return init
    if isinstance(init, str):
        if init.lower() in NAMES:
            return NAMES[init.lower()]()
        raise errors.wrong(
            ValueError,
            "The name of an initialiser",
            expected=f"one of {', '.join(sorted(NAMES))}",
            actual=repr(init),
        )
    if isinstance(init, (bool, int, float, np.generic)):
        return Constant(init)
    raise errors.wrong(
        TypeError,
        "init",
        expected="an Initializer, its name, a number or a Tensor",
        actual=f"{type(init).__name__} {init!r:.60}",
    )
