# SPDX-License-Identifier: Apache-2.0
"""Diagonals, triangles, grids of coordinates and windows."""

from __future__ import annotations

import math
from functools import partial

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, int32
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import as_tensor, element, in_type
from mycel.numpy.creation import arange, linspace, zeros
from mycel.numpy.declare import unary


def _whole(**numbers) -> None:
    """Raise unless all are integers."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise errors.wrong(TypeError, name, "an integer", repr(number))


def eye(N, M=None, k=0, dtype=float32):
    """Ones on the k-th diagonal of N rows and M columns, zeros elsewhere.

    Example:
        >>> print(ms.numpy.eye(2, 3, 1))
        [[0. 1. 0.]
         [0. 0. 1.]]
    """
    columns = N if M is None else M
    _whole(N=N, M=columns, k=k)
    kind = element(dtype)
    if k == 0:
        return ops.eye(N, columns, kind)
    if not -N < k < columns:
        return zeros((N, columns), kind)
    return ops.tril(ops.triu(ops.ones((N, columns), kind), k), k)


def identity(n, dtype=float32):
    """The identity matrix of n rows.

    Example:
        >>> print(ms.numpy.identity(2))
        [[1. 0.]
         [0. 1.]]
    """
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=float32):
    """Ones on the k-th diagonal and below it, zeros above.

    Example:
        >>> print(ms.numpy.tri(2, 3))
        [[1. 0. 0.]
         [1. 1. 0.]]
    """
    columns = N if M is None else M
    _whole(N=N, M=columns, k=k)
    return ops.tril(ops.ones((N, columns), element(dtype)), k)


def _rows(m, name: str) -> Tensor:
    """Matrices; a vector for every row of one."""
    m = as_tensor(m, name)
    if not m.ndim:
        raise errors.wrong(ValueError, name, "a Tensor with a dimension", "a number")
    return ops.broadcast_to(m, (m.size, m.size)) if m.ndim == 1 else m


def _count(number, name: str) -> int:
    """How many values; none for a negative number."""
    _whole(**{name: number})
    return max(0, number)


def _window(window):
    """Windows that end as they begin."""
    return partial(window, periodic=False, dtype=float32)


# fmt: off
tril = unary("numpy.tril(m, k=0)", ops.tril,
    "Matrices with zeros above the k-th diagonal; a vector is taken for every row.",
    "tril(Tensor([[1, 2], [3, 4]]))", "[[1 0]\n [3 4]]", _rows)
triu = unary("numpy.triu(m, k=0)", ops.triu,
    "Matrices with zeros below the k-th diagonal; a vector is taken for every row.",
    "triu(Tensor([[1, 2], [3, 4]]))", "[[1 2]\n [0 4]]", _rows)
diagonal = unary("numpy.diagonal(a, offset=0, axis1=0, axis2=1)", ops.diagonal,
    "The diagonal of two dimensions, as a new last one.",
    "diagonal(Tensor([[1, 2], [3, 4]]))", "[1 4]")
diagflat = unary("numpy.diagflat(v, k=0)", ops.diagflat,
    "All elements on the k-th diagonal of a matrix.",
    "diagflat(Tensor([[1, 2]]))", "[[1 0]\n [0 2]]")
bartlett = unary("numpy.bartlett(M)", _window(ops.bartlett_window),
    "The triangular window of M values, zero at both ends.",
    "bartlett(5)", "[0.  0.5 1.  0.5 0. ]", _count)
hanning = unary("numpy.hanning(M)", _window(ops.hann_window),
    "The window of M values that is a raised cosine.", "hanning(3)", "[0. 1. 0.]", _count)
hamming = unary("numpy.hamming(M)", _window(ops.hamming_window),
    "The window of M values that is a raised cosine above 0.08.", "hamming(3)[1]", "1.0", _count)
blackman = unary("numpy.blackman(M)", _window(ops.blackman_window),
    "The window of M values made of three cosines.", "blackman(5).shape", "(5,)", _count)
# fmt: on


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of a diagonal; integers add up as Int64, as in MindSpore.

    Example:
        >>> print(ms.numpy.trace(Tensor([[1, 2], [3, 4]])))
        5
    """
    elements = diagonal(a, offset, axis1, axis2)
    if elements.dtype.name == "bool":
        return in_type(ops.any(elements, -1), dtype)
    return in_type(ops.sum(elements, -1), dtype)


def diag(v, k=0):
    """A vector as the k-th diagonal of a matrix, or that diagonal of a matrix.

    Example:
        >>> print(ms.numpy.diag(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    v = as_tensor(v, "v")
    if v.ndim == 1:
        return diagflat(v, k)
    if v.ndim == 2:
        return ops.diagonal(v, k)
    raise errors.wrong(ValueError, "v", "a vector or a matrix", f"shape {v.shape}")


def diag_indices(n, ndim=2) -> tuple[Tensor, ...]:
    """The positions of the diagonal of `ndim` dimensions of length n.

    Example:
        >>> print(*ms.numpy.diag_indices(3))
        [0 1 2] [0 1 2]
    """
    _whole(n=n, ndim=ndim)
    return (arange(0, n),) * ndim


def tri_indices(rows, k, columns, upper: bool):
    """Row and column numbers of a triangle, Int32."""
    counts = []
    for name, number in (("n", rows), ("m", rows if columns is None else columns)):
        if not isinstance(number, (bool, int, float)):
            raise errors.wrong(TypeError, name, "a number", repr(number))
        counts.append(math.ceil(number))
    find = ops.triu_indices if upper else ops.tril_indices
    found = find(counts[0], counts[1], k, dtype=int32)
    return found[0], found[1]


def triu_indices(n, k=0, m=None) -> tuple[Tensor, ...]:
    """Row and column numbers of the upper triangle of n rows and m columns.

    Example:
        >>> print(*ms.numpy.triu_indices(2))
        [0 0 1] [0 1 1]
    """
    return tri_indices(n, k, m, True)


def tril_indices(n, k=0, m=None) -> tuple[Tensor, ...]:
    """Row and column numbers of the lower triangle of n rows and m columns.

    Example:
        >>> print(*ms.numpy.tril_indices(2))
        [0 1 1] [0 0 1]
    """
    return tri_indices(n, k, m, False)


def _table(arr) -> tuple[int, int]:
    shape = as_tensor(arr, "arr").shape
    if len(shape) != 2:
        raise errors.wrong(ValueError, "arr", "a matrix", f"shape {shape}")
    return shape


def triu_indices_from(arr, k=0) -> tuple[Tensor, ...]:
    """Row and column numbers of the upper triangle of a matrix.

    Example:
        >>> print(*ms.numpy.triu_indices_from(Tensor([[1, 2], [3, 4]]), 1))
        [0] [1]
    """
    rows, columns = _table(arr)
    return tri_indices(rows, k, columns, True)


def tril_indices_from(arr, k=0) -> tuple[Tensor, ...]:
    """Row and column numbers of the lower triangle of a matrix.

    Example:
        >>> print(*ms.numpy.tril_indices_from(Tensor([[1, 2], [3, 4]]), -1))
        [1] [0]
    """
    rows, columns = _table(arr)
    return tri_indices(rows, k, columns, False)


def meshgrid(*xi, sparse=False, indexing="xy") -> list[Tensor]:
    """Coordinates of a grid: for every vector a Tensor over all of them.

    Args:
        sparse: leave the other dimensions at length 1.
        indexing: 'xy' puts the second vector first, 'ij' keeps the order.

    Example:
        >>> [part.shape for part in ms.numpy.meshgrid(Tensor([1]), Tensor([1, 2]))]
        [(2, 1), (2, 1)]
    """
    if indexing not in ("xy", "ij"):
        raise errors.wrong(TypeError, "indexing", "'xy' or 'ij'", repr(indexing))
    vectors = [ops.reshape(as_tensor(x, "xi"), (-1,)) for x in xi]
    if not sparse:
        return list(ops.meshgrid(*vectors, indexing=indexing))
    places = list(range(len(vectors)))
    if indexing == "xy" and len(places) > 1:
        places[:2] = 1, 0
    return [
        ops.reshape(x, (*[1] * place, -1, *[1] * (len(vectors) - place - 1)))
        for x, place in zip(vectors, places, strict=True)
    ]


class Grid:
    """What `mgrid` and `ogrid` are: a grid is written as slices between brackets.

    A step that is a complex number says how many values there are, the end included.

    Example:
        >>> print(ms.numpy.ogrid[0:3], ms.numpy.mgrid[0:1:3j])
        [0 1 2] [0.  0.5 1. ]
    """

    def __init__(self, sparse: bool):
        self.sparse = sparse

    def __getitem__(self, keys):
        keys = keys if isinstance(keys, tuple) else (keys,)
        parts = meshgrid(*map(_counted, keys), sparse=self.sparse, indexing="ij")
        if len(parts) == 1:
            return parts[0]
        if self.sparse:
            return parts
        return ops.concat([ops.expand_dims(part, 0) for part in parts])


def _counted(key: slice) -> Tensor:
    if not isinstance(key, slice):
        raise errors.wrong(TypeError, "A grid", "written as slices, as in mgrid[0:3]", repr(key))
    start = 0 if key.start is None else key.start
    _whole(start=start, stop=key.stop)
    if isinstance(key.step, complex):
        return linspace(start, key.stop, int(abs(key.step)))
    return arange(start, key.stop, key.step or 1)


mgrid = Grid(sparse=False)
ogrid = Grid(sparse=True)


def indices(dimensions, dtype=int32, sparse=False) -> list[Tensor]:
    """The position along each dimension, for every element of a shape.

    Example:
        >>> print(ms.numpy.indices((2, 2))[1])
        [[0 1]
         [0 1]]
    """
    if not isinstance(dimensions, (tuple, list)):
        raise errors.wrong(TypeError, "dimensions", "a tuple or list", repr(dimensions))
    counts = [arange(n, dtype=dtype) for n in dimensions]
    return meshgrid(*counts, sparse=sparse, indexing="ij")


def ix_(*args) -> tuple[Tensor, ...]:
    """Vectors as an index of all their combinations, each along a dimension of its own.

    Example:
        >>> [part.shape for part in ms.numpy.ix_(Tensor([0, 1]), Tensor([2]))]
        [(2, 1), (1, 1)]
    """
    vectors = [as_tensor(x, "args") for x in args]
    if any(x.ndim != 1 for x in vectors):
        shown = ", ".join(str(x.shape) for x in vectors)
        raise errors.wrong(ValueError, "The arguments of ix_", "vectors", shown)
    return tuple(meshgrid(*vectors, sparse=True, indexing="ij"))


def vander(x, N=None, increasing=False):
    """A row of N powers for each element, the highest first unless `increasing`.

    Example:
        >>> print(ms.numpy.vander([2, 3]))
        [[2 1]
         [3 1]]
    """
    x = as_tensor(x, "x")
    if x.ndim != 1:
        raise errors.wrong(ValueError, "x", "a vector", f"shape {x.shape}")
    count = x.size if N is None else N
    _whole(N=count)
    if count <= 0:
        raise errors.wrong(ValueError, "N", "positive", count)
    powers = ops.vander(x, count)
    return ops.flip(powers, (1,)) if increasing else powers
