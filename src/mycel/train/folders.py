# SPDX-License-Identifier: Apache-2.0
"""Folders to write in, and the check of a type as MindSpore's own helpers offer it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from mycel.kernel.base.errors import wrong


def make_directory(path: Any, arg_name: str = "path") -> str:
    """The full path of a folder, which is made if it is not there.

    Raises:
        TypeError: the path is not a string, or empty.

    Example:
        >>> import tempfile
        >>> from mycel.train.folders import make_directory
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     make_directory(folder + "/a/b").endswith("/a/b")
        True
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path).strip():
        raise wrong(TypeError, arg_name, "the path of a folder", repr(path))
    full = os.path.realpath(os.fspath(path))
    os.makedirs(full, exist_ok=True)
    return full


def check_value_type(arg_name: str, arg_value, valid_types, prim_name: str | None = None):
    """The value, if it is of one of some types; True and False are not integers.

    Raises:
        TypeError: the value is of another type.

    Source: MindSpore's `mindspore.train._utils.check_value_type`.

    Example:
        >>> from mycel.train.folders import check_value_type
        >>> check_value_type("size", 3, [int, float])
        3
    """
    kinds = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    mistaken = isinstance(arg_value, bool) and bool not in kinds
    if mistaken or not isinstance(arg_value, kinds):
        what = f"{prim_name}: {arg_name}" if prim_name else arg_name
        expected = " or ".join(kind.__name__ for kind in kinds)
        actual = f"{type(arg_value).__name__} {arg_value!r:.60}"
        raise wrong(TypeError, what, f"of type {expected}", actual)
    return arg_value
