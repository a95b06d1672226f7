# SPDX-License-Identifier: Apache-2.0
"""MindRecord files: MindSpore's format, read and written here without MindSpore."""

from mycel.mindrecord.converting import (
    Cifar10ToMR,
    Cifar100ToMR,
    CsvToMR,
    ImageNetToMR,
    MnistToMR,
)
from mycel.mindrecord.errors import (
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidSchemaError,
    MRMOpenError,
    MRMValidateDataError,
)
from mycel.mindrecord.reading import FileReader
from mycel.mindrecord.status import MSRStatus
from mycel.mindrecord.writing import FileWriter

SUCCESS = MSRStatus.SUCCESS
FAILED = MSRStatus.FAILED

__all__ = [
    "FAILED",
    "SUCCESS",
    "Cifar10ToMR",
    "Cifar100ToMR",
    "CsvToMR",
    "FileReader",
    "FileWriter",
    "ImageNetToMR",
    "MRMDefineIndexError",
    "MRMGetMetaError",
    "MRMInvalidSchemaError",
    "MRMOpenError",
    "MRMValidateDataError",
    "MnistToMR",
]
