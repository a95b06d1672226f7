# SPDX-License-Identifier: Apache-2.0
"""What every data operation is: a callable on NumPy arrays (or PIL images), without hidden state.

Operations can be pickled, so that other processes can run them.
"""

from __future__ import annotations

import enum

import numpy as np

from mycel.dataset.transforms import checks
from mycel.kernel.base.errors import wrong


class Implementation(enum.IntEnum):
    """What an operation works on: `C` on arrays, `PY` on PIL images (or by Python code).

    Example:
        >>> from mycel.dataset.transforms.operations import Implementation
        >>> Implementation.PY == 1
        True
    """

    C = 0
    PY = 1


def undefined(of, method: str) -> NotImplementedError:
    """What a base class raises in the place of a method that each class of its own must have.

    Example:
        >>> from mycel.dataset.transforms.operations import undefined
        >>> undefined(3, "_read")
        NotImplementedError('int does not define _read.')
    """
    return NotImplementedError(f"{type(of).__name__} does not define {method}.")


class Made:
    """What knows the arguments that it was made with, so that it can be written down."""

    made_with: tuple[tuple, dict]

    def __new__(cls, *arguments, **keywords):
        made = super().__new__(cls)
        made.made_with = (arguments, keywords)
        return made


class TensorOperation(Made):
    """The base class of operations on arrays.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> isinstance(transforms.TypeCast(ms.int32), transforms.TensorOperation)
        True
    """

    implementation: Implementation | None = Implementation.C
    random = False
    device_target = "CPU"
    # Whether a result is new, or a part of what was given, and never kept for another call.
    _new = False

    def __call__(self, *columns):
        """The result for one element: each column an array, or what becomes one."""
        return self._arrays(*(as_array(column) for column in columns))

    def _arrays(self, array: np.ndarray):
        raise NotImplementedError(f"{type(self).__name__} does not say what it does to an array.")

    def _before(self, following) -> TensorOperation:
        """The operation as it is where another one follows: the same results, perhaps laid out so
        in memory that the other has less to do."""
        return self

    def device(self, device_target: str = "CPU"):
        """The operation itself: data operations run on the CPU.

        Raises:
            ValueError: the word is not a device target of MindSpore.
            RuntimeError: the target is "Ascend", which is not available.
        """
        if checks.text(device_target, "device_target") not in ("CPU", "Ascend"):
            raise wrong(ValueError, "device_target", "'CPU'", repr(device_target))
        if device_target == "Ascend":
            raise wrong(RuntimeError, "device_target", "'CPU', where data operations run", "Ascend")
        return self


class PyTensorOperation(Made):
    """The base class of operations in Python: write `_execute_py(self, img)`, or `__call__`.

    Example:
        >>> from mycel.dataset.transforms.operations import PyTensorOperation
        >>> class Double(PyTensorOperation):
        ...     def _execute_py(self, img):
        ...         return img * 2
        >>> Double()(np.array([1, 2]))
        array([2, 4])
    """

    def __init__(self):
        self.transforms = []
        self.output_type = None

    def __call__(self, img):
        """The result for one element."""
        return self._execute_py(img)

    def _execute_py(self, img):
        raise NotImplementedError(f"{type(self).__name__} needs a method _execute_py(self, img).")


def makes_new(operation) -> bool:
    """Whether the results of an operation are no one else's; what a program defines may keep them.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.transforms.operations import makes_new
        >>> makes_new(vision.HorizontalFlip()), makes_new(np.flip)
        (True, False)
    """
    return type(operation).__module__.startswith("mycel.") and getattr(operation, "_new", False)


def as_array(value) -> np.ndarray:
    """An array of what a caller gave.

    Raises:
        TypeError: no array can be made of it.
    """
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        array = None
    if array is None or array.dtype == object:
        raise wrong(TypeError, "The input", "an array", f"{type(value).__name__} {value!r:.60}")
    return array


def not_random(function):
    """Say of a function that it does the same at every call, so that a cache may keep its results.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.not_random(abs_of := lambda x: abs(x)).random
        False
    """
    function.random = False
    return function
