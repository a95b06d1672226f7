# SPDX-License-Identifier: Apache-2.0
"""The same values under another handle, and what is known of a Tensor without its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel.kernel.differentiate.api import stop_gradient
from mycel.kernel.record.parameter import assign as set_value
from mycel.kernel.record.tensor import Tensor, new_tensor, resolve
from mycel.kernel.spell import composite, op


@op(
    "Identity()(input_x=x)",
    "ops.deepcopy(input_x=x)",
    "Tensor.copy(x)",
    "Tensor.clone(x)",
    "mint.clone(input=x)",
)
def identity(x):
    """The same values in a Tensor of their own: assigning to it leaves x alone.

    Example:
        >>> print(Tensor([1, 2]).copy())
        [1 2]
    """
    return x


@composite("ops.identity(x)")
def passed_on(x) -> Any:
    """The same values in a Tensor of their own; whatever is no Tensor comes back itself.

    Example:
        >>> print(ops.identity(Tensor([1, 2])))
        [1 2]
        >>> ops.identity((1, None))
        (1, None)
    """
    return identity(x) if isinstance(x, Tensor) else x


@composite("Tensor.contiguous(x)")
def contiguous(x):
    """The Tensor itself: there are no other layouts here.

    Example:
        >>> print(Tensor([1, 2]).contiguous())
        [1 2]
    """
    return x


@composite("Tensor.is_contiguous(x)")
def is_contiguous(x) -> bool:
    """True: there are no other layouts here.

    Example:
        >>> Tensor([1, 2]).is_contiguous()
        True
    """
    del x
    return True


@composite("Tensor.detach(x)")
def detach(x):
    """The same values, through which no gradient flows.

    Example:
        >>> print(Tensor([1, 2]).detach())
        [1 2]
    """
    return stop_gradient(x)


@composite("ops.shape(input_x=x)", "Shape()(x)")
def shape(x) -> tuple[int, ...]:
    """The length of each dimension, as a tuple of Python numbers.

    Example:
        >>> ops.shape(Tensor([[1, 2]]))
        (1, 2)
    """
    return x.shape


@composite("ops.dyn_shape(input_x=x)", "TensorShape()(input_x=x)")
def shape_tensor(x):
    """The length of each dimension, as a Tensor, Int64.

    Example:
        >>> print(ops.TensorShape()(Tensor([[1, 2]])))
        [1 2]
    """
    return Tensor(np.array(x.shape, np.int64))


@composite("ops.size(input_x=x)", "Size()(input_x=x)")
def size(x) -> int:
    """The number of elements, as a Python number.

    Example:
        >>> ops.size(Tensor([[1, 2]]))
        2
    """
    return x.size


@composite("ops.rank(input_x=x)", "Rank()(x)")
def rank(x) -> int:
    """The number of dimensions, as a Python number.

    Example:
        >>> ops.rank(Tensor([[1, 2]]))
        2
    """
    return x.ndim


@composite("ops.assign(variable=variable, value=value)", "Assign()(variable=variable, value=value)")
def assign(variable, value):
    """Assign a value to a Parameter (or a Tensor), converted to its element type.

    Returns:
        The new value, a Tensor.

    Raises:
        ValueError: the value has another shape than the Parameter.
        TypeError: `variable` is neither a Parameter nor a Tensor.

    Example:
        >>> p = Parameter(Tensor([1.0, 2.0]), name="p")
        >>> print(ops.assign(p, Tensor([7, 8])), p.asnumpy())
        [7. 8.] [7. 8.]
    """
    set_value(variable, value)
    return new_tensor(resolve(variable))
