# SPDX-License-Identifier: Apache-2.0
"""Variables of the environment that take certain words: another one is told, once, at the start.

Those that are numbers, addresses or paths are checked where they are read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from mycel.kernel.base.backend import DEVICE_VARIABLE, PLATFORMS
from mycel.kernel.base.context import NUMERICS_VARIABLE
from mycel.kernel.base.log import logger
from mycel.kernel.base.places import TRACEBACK

UNKNOWN = "{name}={value!r} means nothing here, and {otherwise}: write {words}, or unset it."
# The words, and what happens with any other.
WORDS: dict[str, tuple[tuple[str, ...], str]] = {
    DEVICE_VARIABLE: (tuple(PLATFORMS), "no device has this name"),
    NUMERICS_VARIABLE: (("0", "1"), "numerics are checked"),
    "MYCEL_PROGRESS": (("0", "1", "off", "on"), "progress is shown"),
    TRACEBACK: (("full",), "tracebacks are short"),
    "MYCEL_HEAP": (("one", "off"), "freed memory is kept"),
    "MYCEL_NATIVE": (("off",), "functions in C++ are used"),
}


def tell_unknown(environment: Mapping[str, str] = os.environ) -> None:
    """Log a warning for each of these variables whose word is none of its own.

    Example:
        >>> from mycel.kernel.base.variables import tell_unknown
        >>> tell_unknown({"MYCEL_PROGRESS": "off"})
    """
    for name, (words, otherwise) in WORDS.items():
        value = environment.get(name)
        if value and value not in words:
            told = {"name": name, "value": value, "otherwise": otherwise}
            logger.warning(UNKNOWN.format(**told, words=" or ".join(words)))
