# SPDX-License-Identifier: Apache-2.0
"""Which names MindSpore 2.10 or 2.7 has: every one of every module, private ones included.

The list is mindspore_names.txt.gz, which tools/mindspore_names.py writes.
"""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

# Parts of MindSpore whose names are not in the list.
LEFT_OUT = ("_akg", "ops._op_impl", "ops_generate")


@functools.cache
def _modules() -> dict[str, str]:
    """The names of each module as one text, by its path below `mindspore`."""
    packed = (Path(__file__).parent / "mindspore_names.txt.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return {path: names for path, _, names in (line.partition(": ") for line in lines)}


def is_module(path: str) -> bool:
    """Whether MindSpore has a module of this path below `mindspore`.

    Example:
        >>> from mycel.compat import known
        >>> known.is_module("boost.adasum"), known.is_module("nn.functional")
        (True, False)
    """
    return path in _modules()


def is_name(path: str) -> bool:
    """Whether a module of MindSpore has this name.

    Example:
        >>> from mycel.compat import known
        >>> known.is_name("context.K_CONTEXT"), known.is_name("ops.Sum")
        (True, False)
    """
    module, _, name = path.rpartition(".")
    return name in _modules().get(module, "").split()


def is_none(path: str) -> bool:
    """Whether MindSpore certainly has nothing there: no module, nor a name that could have parts.

    Example:
        >>> from mycel.compat import known
        >>> known.is_none("nn.functional.relu"), known.is_none("Tensor.asnumpy")
        (True, False)
    """
    if path.startswith(LEFT_OUT):
        return False
    parts = path.split(".")
    while parts and not is_module(".".join(parts)):
        if is_name(".".join(parts)):
            return False
        parts.pop()
    return ".".join(parts) != path
