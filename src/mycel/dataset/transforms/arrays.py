# SPDX-License-Identifier: Apache-2.0
"""Operations on arrays of any kind: types, labels, lengths, parts."""

from __future__ import annotations

import enum
import operator as comparing

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import TensorOperation, as_array
from mycel.dataset.transforms.together import array_of, ragged
from mycel.kernel.base.dtypes import bool_, numpy_dtype
from mycel.kernel.base.errors import wrong

_CONSTANTS = (str, float, bool, int, bytes)


class TypeCast(TensorOperation):
    """Convert to an element type.

    Args:
        data_type: MindSpore's or NumPy's name of the type.

    Numbers lose their fraction; what does not fit into an integer wraps around.

    Raises:
        TypeError: the type is not an element type.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.TypeCast(ms.int32)(np.array([1.7, -1.7]))
        array([ 1, -1], dtype=int32)
    """

    _new = True

    def __init__(self, data_type):
        self.data_type = numpy_dtype(data_type)

    def _arrays(self, array):
        if self.data_type.kind in "iu" and array.dtype.kind == "f":
            # Through int64, so that what does not fit wraps around on every processor alike.
            array = array.astype(np.int64)
        return array.astype(self.data_type)

    def _together(self, rows):
        return self._arrays(array_of(rows))


class OneHot(TensorOperation):
    """Labels as rows with a one in the place of the class.

    Args:
        num_classes: length of a row.
        smoothing_rate: how much of the one is spread over all classes; then the result is float64.

    Input: integers, in any shape; dimensions of length 1 are dropped.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a label is not an integer, or not below `num_classes`.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.OneHot(4)(np.array([2, 0]))
        array([[0, 0, 1, 0],
               [1, 0, 0, 0]])
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0):
        self.num_classes = checks.integer(num_classes, "num_classes", 1)
        self.smoothing_rate = checks.number(smoothing_rate, "smoothing_rate", 0, 1)

    def _arrays(self, array):
        if array.dtype.kind not in "iu":
            raise wrong(RuntimeError, "OneHot: a label", "an integer", str(array.dtype))
        labels = np.squeeze(array)
        if labels.size and not 0 <= labels.min() <= labels.max() < self.num_classes:
            outside = labels.max() if labels.max() >= self.num_classes else labels.min()
            expected = f"at least 0 and below num_classes={self.num_classes}"
            raise wrong(RuntimeError, "OneHot: a label", expected, str(outside))
        rows = np.eye(self.num_classes, dtype=array.dtype)[labels]
        if not self.smoothing_rate:
            return rows
        return (1 - self.smoothing_rate) * rows + self.smoothing_rate / self.num_classes


class Fill(TensorOperation):
    """An array of the same shape and type in which every element is one value.

    Args:
        fill_value: a number, bool, str or bytes.

    Raises:
        TypeError: the value is of another type.
        RuntimeError: a text is given for numbers, or a number for texts.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.Fill(3)(np.array([1.0, 2.0], np.float32))
        array([3., 3.], dtype=float32)
    """

    def __init__(self, fill_value):
        self.fill_value = _constant(fill_value, "fill_value")

    def _arrays(self, array):
        return np.full(array.shape, _as_element(self.fill_value, array, "Fill"))


class Duplicate(TensorOperation):
    """One column becomes two that are equal.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.Duplicate()(np.array([1, 2]))
        (array([1, 2]), array([1, 2]))
    """

    def _arrays(self, array):
        return array, array.copy()


class Concatenate(TensorOperation):
    """Arrays of one dimension behind each other.

    Args:
        axis: 0 or -1, which mean the same.
        prepend, append: arrays that come before and behind the input; None adds nothing.

    Raises:
        TypeError: the input is not an array.
        ValueError: the axis is neither 0 nor -1, or an array has more than one dimension.
        RuntimeError: the types of the arrays differ.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.Concatenate(0, prepend=np.array([7]), append=np.array([9]))(np.array([1, 2]))
        array([7, 1, 2, 9])
    """

    def __init__(self, axis: int = 0, prepend=None, append=None):
        if checks.integer(axis, "axis") not in (0, -1):
            raise wrong(ValueError, "axis", "0 or -1", repr(axis))
        for name, array in (("prepend", prepend), ("append", append)):
            if array is None:
                continue
            checks.instance(array, np.ndarray, name, "an array")
            if array.ndim != 1:
                raise wrong(ValueError, name, "an array of one dimension", f"{array.ndim}")
        self.axis, self.prepend, self.append = axis, prepend, append

    def __call__(self, *columns):
        """All of them behind each other."""
        parts = [self.prepend, *map(as_array, columns), self.append]
        parts = [part for part in parts if part is not None]
        kinds = sorted({str(part.dtype) for part in parts if part.dtype.kind not in "US"})
        if len(kinds) > 1 or len({part.dtype.kind for part in parts}) > 1:
            raise wrong(RuntimeError, "Concatenate", "given arrays of one type", f"{kinds}")
        if any(part.ndim != 1 for part in parts):
            raise wrong(RuntimeError, "Concatenate", "given arrays of one dimension", "more")
        return np.concatenate(parts)


class Relational(enum.IntEnum):
    """How `Mask` compares.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.Relational.GE.value
        3
    """

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


class Mask(TensorOperation):
    """Where a comparison with a constant holds.

    Args:
        operator: how to compare, a `Relational`.
        constant: what to compare with.
        dtype: the type of the result; True becomes 1.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: a text is compared with numbers, or a number with texts.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.Mask(transforms.Relational.GE, 2)(np.array([1, 2, 3]))
        array([False,  True,  True])
    """

    def __init__(self, operator: Relational, constant, dtype=bool_):
        self.operator = checks.enumeration(operator, Relational, "operator")
        self.constant = _constant(constant, "constant")
        self.dtype = numpy_dtype(dtype)

    def _arrays(self, array):
        _check_kinds(self.constant, array, "Mask")
        holds = getattr(comparing, self.operator.name.lower())(array, self.constant)
        return holds.astype(self.dtype)


class PadEnd(TensorOperation):
    """Bring each dimension to a length: pad it at its end, or cut its end off.

    Args:
        pad_shape: the lengths; None keeps a dimension as it is.
        pad_value: what to pad with; None means 0 or the empty text.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the number of dimensions differs, or a text is given for numbers or a number
            for texts.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.PadEnd([4], 9)(np.array([1, 2]))
        array([1, 2, 9, 9])
    """

    def __init__(self, pad_shape: list, pad_value=None):
        checks.instance(pad_shape, list, "pad_shape", "a list")
        for length in pad_shape:
            if length is not None:
                checks.integer(length, "pad_shape", 1)
        self.pad_shape = list(pad_shape)
        self.pad_value = None if pad_value is None else _constant(pad_value, "pad_value")

    def _arrays(self, array):
        if array.ndim != len(self.pad_shape):
            expected = f"given {len(self.pad_shape)} dimensions, as pad_shape has"
            raise wrong(RuntimeError, "PadEnd", expected, f"{array.ndim}")
        value = self.pad_value
        if value is None:
            value = "" if array.dtype.kind in "US" else 0
        lengths = zip(self.pad_shape, array.shape, strict=True)
        shape = [length if wanted is None else wanted for wanted, length in lengths]
        filled = np.full(shape, _as_element(value, array, "PadEnd"))
        if array.dtype.kind in "US":
            filled = filled.astype(np.result_type(filled.dtype, array.dtype))
        kept = tuple(slice(min(new, old)) for new, old in zip(shape, array.shape, strict=True))
        filled[kept] = array[kept]
        return filled

    def _together(self, rows):
        rows = ragged(rows)
        values, lengths = np.asarray(rows.values), np.array(rows.lengths)
        (wanted,) = self.pad_shape
        if wanted is None:
            raise TypeError("rows that keep their lengths")
        places = np.arange(wanted)
        filled = PadEnd([len(values) + 1], self.pad_value)._arrays(values)
        # Behind its end a row has what stands behind the last value of all.
        starts = np.cumsum(lengths) - lengths
        within = places < lengths[:, None]
        return filled[np.where(within, starts[:, None] + places, len(values))]


class Slice(TensorOperation):
    """Parts of an array; unlike NumPy's index, no dimension is lost.

    Args:
        slices: per dimension an int, a list of ints, a slice, or None, `...` or True for all of it.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: there are more slices than dimensions, or an index is out of range.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.Slice(slice(1, 3))(np.array([1, 2, 3, 4]))
        array([2, 3])
        >>> transforms.Slice(0)(np.array([1, 2, 3, 4]))
        array([1])
    """

    def __init__(self, *slices):
        for one in slices:
            if one is not None and one is not Ellipsis and not isinstance(one, bool):
                checks.instance(one, (int, list, slice), "slices", "an int, list or slice")
            for index in one if isinstance(one, list) else ():
                checks.integer(index, "slices")
        self.slices = slices

    def _arrays(self, array):
        return self._cut(array, 0)

    def _together(self, rows):
        return self._cut(array_of(rows), 1)

    def _cut(self, array, first: int) -> np.ndarray:
        """The slices of the dimensions from the first on."""
        if len(self.slices) > array.ndim - first:
            expected = f"given at least {len(self.slices)} dimensions"
            raise wrong(RuntimeError, "Slice", expected, f"{array.ndim - first}")
        for axis, one in enumerate(self.slices, first):
            if one is None or one is Ellipsis or isinstance(one, bool):
                continue
            if isinstance(one, slice):
                array = array[(slice(None),) * axis + (one,)]
                continue
            indices = one if isinstance(one, list) else [one]
            try:
                array = np.take(array, indices, axis)
            except IndexError:
                limit = f"inside a dimension of length {array.shape[axis]}"
                raise wrong(RuntimeError, "Slice: an index", limit, repr(one)) from None
        return array


class Unique(TensorOperation):
    """The distinct elements in the order they come, where each element is among them, how often.

    Output: the distinct elements, and Int32 indices and counts.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> values, indices, counts = transforms.Unique()(np.array([3, 1, 3, 2]))
        >>> print(values, indices, counts)
        [3 1 2] [0 1 0 2] [2 1 1]
    """

    def _arrays(self, array):
        values, first, inverse, counts = np.unique(
            array.ravel(), return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        return values[order], places[inverse].astype(np.int32), counts[order].astype(np.int32)


class Plugin(TensorOperation):
    """An operation out of a compiled MindSpore plugin, which cannot run here.

    Raises:
        NotImplementedError: always; a plugin is code for MindSpore's own engine.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.Plugin("pluginlib.so", "PluginDecode")
        Traceback (most recent call last):
        NotImplementedError: ...
    """

    def __init__(self, lib_path: str, func_name: str, user_args: str | None = None):
        function = "a Python function given to map(operations=...)"
        raise wrong(NotImplementedError, "A data operation", function, f"the plugin {lib_path}")


def _constant(value, name: str):
    if not isinstance(value, _CONSTANTS):
        raise wrong(TypeError, name, "a number, bool, str or bytes", type(value).__name__)
    return value


def _check_kinds(value, array: np.ndarray, what: str) -> None:
    if isinstance(value, (str, bytes)) != (array.dtype.kind in "US"):
        raise wrong(RuntimeError, f"{what}: the constant", f"right for {array.dtype}", repr(value))


def _as_element(value, array: np.ndarray, what: str) -> np.ndarray:
    """The constant as an element of the array's type; a text keeps its own length."""
    _check_kinds(value, array, what)
    if isinstance(value, (str, bytes)):
        return np.asarray(
            value.encode() if isinstance(value, str) and array.dtype.kind == "S" else value
        )
    return np.asarray(value).astype(array.dtype)
