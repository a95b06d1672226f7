# SPDX-License-Identifier: Apache-2.0
"""What a `DataLoader` loads from: data with numbers, data to go through, Tensors."""

from __future__ import annotations

from typing import Generic, TypeVar

from mycel.kernel.base.errors import wrong

Sample = TypeVar("Sample", covariant=True)


class Dataset(Generic[Sample]):
    """The base of data whose elements have numbers: write `__getitem__`, and `__len__`.

    Example:
        >>> from mycel.dataset.dataloader import DataLoader, Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> [batch.asnumpy().tolist() for batch in DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4]]
    """

    def __getitem__(self, index) -> Sample:
        raise NotImplementedError(f"{type(self).__name__} needs a method __getitem__(self, index).")


class IterableDataset(Dataset[Sample]):
    """The base of data that is gone through from the beginning: write `__iter__`.

    Example:
        >>> from mycel.dataset.dataloader import DataLoader, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> [batch.asnumpy().tolist() for batch in DataLoader(Count(), batch_size=2)]
        [[0, 1], [2]]
    """

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} needs a method __iter__(self).")


class TensorDataset(Dataset[tuple]):
    """Tensors whose first dimension is the number of the element.

    Raises:
        ValueError: their lengths differ.

    Example:
        >>> from mycel.dataset.dataloader import TensorDataset
        >>> data = TensorDataset(Tensor([1, 2]), Tensor([3.0, 4.0]))
        >>> [int(value) for value in data[1]], len(data)
        ([2, 4], 2)
    """

    def __init__(self, *tensors):
        lengths = sorted({len(tensor) for tensor in tensors})
        if len(lengths) != 1:
            raise wrong(ValueError, "TensorDataset: tensors", "of one length", lengths)
        self.tensors = tensors

    def __getitem__(self, index) -> tuple:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])
