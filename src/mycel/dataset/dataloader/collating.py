# SPDX-License-Identifier: Apache-2.0
"""How elements become Tensors, one by one or as a batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor


def default_convert(data: Any) -> Any:
    """An element whose arrays and NumPy numbers are Tensors; texts and others stay as they are.

    Containers keep their kind, but a tuple becomes a list.

    Example:
        >>> from mycel.dataset.dataloader import default_convert
        >>> default_convert({"x": np.array([1, 2]), "name": "a"})
        {'x': Tensor(shape=[2], dtype=Int64, value= [1, 2]), 'name': 'a'}
    """
    if isinstance(data, (np.ndarray, np.number, np.bool_)):
        return data if np.asarray(data).dtype.kind in "SUO" else Tensor(data)
    return _container(data, lambda pick: default_convert(pick(data)), lambda: data)


def default_collate(batch: Sequence) -> Any:
    """A batch of elements: numbers and arrays become Tensors with a first dimension more.

    Texts stay as they are; of containers each place is put together, and they keep their kind, but
    a tuple becomes a list.

    Raises:
        TypeError: elements are of a kind that cannot be put together.
        RuntimeError: sequences have different lengths.

    Example:
        >>> from mycel.dataset.dataloader import default_collate
        >>> default_collate([(1, "a"), (2, "b")])
        [Tensor(shape=[2], dtype=Int64, value= [1, 2]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return Tensor(np.stack([each.asnumpy() for each in batch]))
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise wrong(TypeError, "The elements of a batch", "arrays of numbers", str(first.dtype))
        return Tensor(np.stack(batch))
    if isinstance(first, (bool, int, float, np.number, np.bool_)):
        return Tensor(np.array(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Sequence) and len({len(each) for each in batch}) > 1:
        lengths = [len(each) for each in batch]
        raise wrong(RuntimeError, "The sequences of a batch", "of one length", lengths)

    def unknown():
        expected = "Tensors, arrays, numbers, texts, or containers of them"
        raise wrong(TypeError, "The elements of a batch", expected, type(first).__name__)

    # As in MindSpore, texts of a sequence are a tuple.
    kind = list if isinstance(first, Mapping) else tuple
    return _container(first, lambda pick: default_collate(kind(map(pick, batch))), unknown)


def _container(like: Any, made: Callable, otherwise: Callable) -> Any:
    """A container of the kind of another one.

    Args:
        like: the container.
        made: called with a function that picks a place out of a container, for its new value.
        otherwise: called if it is no container.
    """

    def at(place):
        return made(lambda container: container[place])

    if isinstance(like, Mapping):
        return _of_kind(like, {key: at(key) for key in like}, MutableMapping)
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*map(at, range(len(like))))
    if isinstance(like, tuple):
        return list(map(at, range(len(like))))
    if isinstance(like, Sequence) and not isinstance(like, (str, bytes)):
        return _of_kind(like, list(map(at, range(len(like)))), MutableSequence)
    return otherwise()


def _of_kind(like: Any, values: Any, mutable: type) -> Any:
    """The values in a container like another one, or in a plain one if that cannot be made."""
    if type(like) is type(values):
        return values
    try:
        if not isinstance(like, mutable):
            return type(like)(values)
        clone = copy.copy(like)
        for place in values if isinstance(values, dict) else range(len(values)):
            clone[place] = values[place]
        return clone
    except TypeError:
        return values
