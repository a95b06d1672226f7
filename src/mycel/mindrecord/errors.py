# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with MindRecord files, under MindSpore's names."""

from __future__ import annotations


class MRMOpenError(RuntimeError):
    """A file cannot be opened."""


class MRMGetMetaError(RuntimeError):
    """A file has no schema, or one that does not fit."""


class MRMInvalidSchemaError(RuntimeError):
    """A schema that no file can have."""


class MRMDefineIndexError(RuntimeError):
    """An index over a field that cannot have one."""


class MRMValidateDataError(RuntimeError):
    """A row that does not fit the schema."""
