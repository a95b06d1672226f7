# SPDX-License-Identifier: Apache-2.0
"""Batches in the words of PyTorch: `DataLoader`, its datasets and its samplers."""

from mycel.dataset.dataloader.collating import default_collate, default_convert
from mycel.dataset.dataloader.datasets import Dataset, IterableDataset, TensorDataset
from mycel.dataset.dataloader.loader import DataLoader, get_worker_info
from mycel.dataset.dataloader.samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)

__all__ = [
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "TensorDataset",
    "default_collate",
    "default_convert",
    "get_worker_info",
]
