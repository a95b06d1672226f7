# SPDX-License-Identifier: Apache-2.0
"""The log of this package: Python's logger "mycel".

As in MindSpore the environment variable GLOG_v chooses what is shown (0 debug, 1 info, 2 warning,
3 error, 4 critical); without it, warnings and worse.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator

VARIABLE = "GLOG_v"
LEVELS = {
    "0": logging.DEBUG,
    "1": logging.INFO,
    "2": logging.WARNING,
    "3": logging.ERROR,
    "4": logging.CRITICAL,
}
_FORMAT = "[%(levelname)s] %(asctime)s [%(pathname)s:%(lineno)d] %(message)s"
logger = logging.getLogger("mycel")
_noted: set[str] = set()


def _configure() -> None:
    """Show what GLOG_v asks for; a program that configured the logger itself is left alone."""
    chosen = LEVELS.get(os.environ.get(VARIABLE, ""))
    if chosen is None or logger.handlers:
        return
    logger.setLevel(chosen)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.addHandler(handler)


_configure()


def note_once(message: str, level: int = logging.INFO) -> None:
    """Say something, by default at level info, once in this process.

    Example:
        >>> from mycel.kernel.base.log import note_once
        >>> note_once("a setting has no effect")
    """
    _say_once(level, message)


def without_effect(called: str, settings: dict) -> None:
    """Say, once in this process, which settings of a call mean nothing here.

    A warning, if one of them asks for something; what is off or empty is only at level info.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.without_effect("set_context", {"enable_graph_kernel": False})
    """
    for level, asks in ((logging.WARNING, True), (logging.INFO, False)):
        told = [f"{name}={value!r:.60}" for name, value in settings.items() if bool(value) is asks]
        message = f"{called}({', '.join(told)}) has no effect here"
        if told:
            _say_once(level, message)


def older(name: str, newer: str) -> None:
    """Say, once in this process, that a name is an older one and what to write instead.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.older("ops.TensorAdd", "ops.Add")
    """
    _say_once(logging.WARNING, f"{name} is an older name; write {newer}.")


@contextlib.contextmanager
def without_notes() -> Iterator[None]:
    """Say nothing once in this block, and as if it was not in it: for what goes through all names.

    Example:
        >>> from mycel.kernel.base import log
        >>> with log.without_notes():
        ...     log.older("ops.TensorAdd", "ops.Add")
    """
    before, disabled = set(_noted), logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = disabled
        _noted.intersection_update(before)


def _say_once(level: int, message: str) -> None:
    """Log what is said once in this process: handed on at once, it is none of the messages of a
    recorded function, which are sent again at every replay."""
    if message not in _noted:
        _noted.add(message)
        if logger.isEnabledFor(level):
            where = (__file__, _say_once.__code__.co_firstlineno)
            logger.handle(logger.makeRecord(logger.name, level, *where, message, (), None))
