# SPDX-License-Identifier: Apache-2.0
"""Operations made of operations: one after the other, or some of them by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mycel.dataset.transforms import checks, randomness
from mycel.dataset.transforms.operations import Implementation, PyTensorOperation, TensorOperation
from mycel.kernel.base.errors import wrong


def is_python(operation) -> bool:
    """Whether an operation counts as one in Python (see `Compose`)."""
    return getattr(operation, "implementation", None) is Implementation.PY


def run(operations, columns: tuple) -> tuple:
    """The columns after these operations; each is given what the one before returned."""
    for operation in operations:
        result = operation(*columns)
        columns = result if isinstance(result, tuple) else (result,)
    return columns


def prepared(operations: Sequence) -> list:
    """The operations of a chain, each as it is before the one that follows."""
    chain = []
    for operation, following in zip(operations, [*operations[1:], None], strict=True):
        known = isinstance(operation, TensorOperation) and following is not None
        chain.append(operation._before(following) if known else operation)
    return chain


class CompoundOperation(TensorOperation, PyTensorOperation):
    """The base class of operations made of operations."""

    def __init__(self, transforms: list):
        self.transforms = list(checks.operations(transforms))
        if all(map(is_python, self.transforms)):
            self.implementation = Implementation.PY

    def release_resource(self) -> None:
        """Accepted; there is nothing to release."""


class Compose(CompoundOperation):
    """Several operations, one after the other, as one.

    Args:
        transforms: operations and functions; each gets what the one before returned.

    A Compose with an operation that works on PIL images (`ToPIL`, `Decode(to_pil=True)`) returns a
    tuple when you call it yourself, as in MindSpore, and otherwise the single result, an array.

    Raises:
        TypeError: the argument is not a list, or an element cannot be called.
        ValueError: the list is empty, or has a class where an operation is expected.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> import mycel.dataset.vision as vision
        >>> both = transforms.Compose([vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()])
        >>> both(np.zeros((4, 5, 3), np.uint8)).shape
        (3, 4, 5)
    """

    def __init__(self, transforms: list):
        super().__init__(transforms)
        self.transforms = self.decompose(self.transforms)
        self.random = any(getattr(one, "random", True) for one in self.transforms)

    @staticmethod
    def decompose(operations: list) -> list:
        """The operations, with those of a Compose among them in its place.

        One that a program derived, and that does something else when it is called, stays itself.
        """
        flat = []
        for operation in operations:
            plain = type(operation).__call__ is Compose.__call__
            flat.extend(Compose.decompose(operation.transforms) if plain else [operation])
        return flat

    @staticmethod
    def reduce(operations: list) -> list:
        """The operations as they are: here nothing is gained by joining some of them."""
        return list(operations)

    def __call__(self, *args):
        """The columns after all operations."""
        if not args:
            raise wrong(TypeError, "Compose", "called with an image", "nothing")
        in_python = any(map(is_python, self.transforms)) or _is_image(args)
        columns = run(prepared(self.transforms), args)
        if in_python:
            return columns
        columns = tuple(_as_array(column) for column in columns)
        return columns if len(columns) != 1 else columns[0]


def _as_array(column):
    """What a function gave as an array: an image, a number, a list; a dictionary and None stay."""
    return column if isinstance(column, (np.ndarray, dict, type(None))) else np.asarray(column)


def _is_image(columns: tuple) -> bool:
    return len(columns) == 1 and type(columns[0]).__module__.startswith("PIL.")


class RandomApply(CompoundOperation):
    """All of the operations, or none of them, by chance.

    Args:
        transforms: operations and functions.
        prob: how probable it is that they are applied.

    Raises:
        TypeError, ValueError: an operation is wrong, or the probability is not a number from 0 to
            1.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.RandomApply([lambda x: x + 1], prob=1.0)(np.array([1, 2]))
        array([2, 3])
    """

    random = True

    def __init__(self, transforms: list, prob: float = 0.5):
        super().__init__(transforms)
        self.prob = checks.probability(prob)

    def __call__(self, *columns):
        """The columns after all operations, or as they are."""
        if randomness.current().random() < self.prob:
            columns = run(self.transforms, columns)
        return columns[0] if len(columns) == 1 else columns


class RandomChoice(CompoundOperation):
    """One of the operations, chosen by chance.

    Args:
        transforms: operations and functions, all equally probable.

    Raises:
        TypeError, ValueError: an operation is wrong.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.RandomChoice([lambda x: x + 1, lambda x: x - 1])(np.array(5)) in (4, 6)
        True
    """

    random = True

    def __call__(self, *columns):
        """The columns after the operation chosen."""
        chosen = self.transforms[randomness.current().integers(len(self.transforms))]
        return chosen(*columns)


class RandomOrder(CompoundOperation):
    """All of the operations, in an order chosen by chance.

    Args:
        transforms: operations and functions.

    Raises:
        TypeError, ValueError: an operation is wrong.

    Example:
        >>> import mycel.dataset.transforms as transforms
        >>> transforms.RandomOrder([lambda x: x + 1, lambda x: x * 2])(np.array(5)) in (11, 12)
        True
    """

    random = True
    implementation = Implementation.PY

    def __call__(self, *columns):
        """The columns after all operations."""
        order = randomness.current().permutation(len(self.transforms))
        columns = run([self.transforms[index] for index in order], columns)
        return columns[0] if len(columns) == 1 else columns
