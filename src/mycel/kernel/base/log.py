# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mindspore.log`: functions that write to the log of this package.

The log is Python's logger "mycel". As in MindSpore the environment variable GLOG_v chooses what
is shown (0 debug, 1 info, 2 warning, 3 error, 4 critical); without it, warnings and worse.
"""

from __future__ import annotations

import logging
import os

VARIABLE = "GLOG_v"
_LEVELS = {
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
    wanted = _LEVELS.get(os.environ.get(VARIABLE, ""))
    if wanted is None or logger.handlers:
        return
    logger.setLevel(wanted)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.addHandler(handler)


_configure()


def note_once(message: str) -> None:
    """Say something at level info, once in this process.

    Example:
        >>> from mycel.kernel.base.log import note_once
        >>> note_once("a setting has no effect")
    """
    _say_once(logging.INFO, message)


def without_effect(called: str, settings: dict) -> None:
    """Say, once in this process, which settings of a call mean nothing here.

    A warning, if one of them asks for something; what is off or empty is only at level info.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.without_effect("set_context", {"enable_graph_kernel": False})
    """
    for level, wanted in ((logging.WARNING, True), (logging.INFO, False)):
        told = [
            f"{name}={value!r:.60}" for name, value in settings.items() if bool(value) is wanted
        ]
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


def _say_once(level: int, message: str) -> None:
    """Log what is said once in this process: handed on at once, it is none of the messages of a
    recorded function, which are sent again at every replay."""
    if message not in _noted:
        _noted.add(message)
        if logger.isEnabledFor(level):
            where = (__file__, _say_once.__code__.co_firstlineno)
            logger.handle(logger.makeRecord(logger.name, level, *where, message, (), None))


def debug(msg, *args, **kwargs) -> None:
    """Log a message for whoever looks for a fault.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.debug("%d samples", 3)
    """
    logger.debug(msg, *args, **_from_caller(kwargs))


def info(msg, *args, **kwargs) -> None:
    """Log what is going on.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.info("epoch %d", 3)
    """
    logger.info(msg, *args, **_from_caller(kwargs))


def warning(msg, *args, **kwargs) -> None:
    """Log a warning.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.warning("The learning rate %s is large.", 10.0)
    """
    logger.warning(msg, *args, **_from_caller(kwargs))


def error(msg, *args, **kwargs) -> None:
    """Log an error.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.error("no file %s", "weights.ckpt")
    """
    logger.error(msg, *args, **_from_caller(kwargs))


def critical(msg, *args, **kwargs) -> None:
    """Log an error that ends the program.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.critical("out of memory")
    """
    logger.critical(msg, *args, **_from_caller(kwargs))


def _from_caller(kwargs: dict) -> dict:
    """The line of the log is that of the program, not of this file."""
    return {"stacklevel": 2, **kwargs}


def get_level() -> str:
    """The level that is shown, in the numbers of GLOG_v.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.get_level() in "01234"
        True
    """
    level = logger.getEffectiveLevel()
    return next((number for number, known in _LEVELS.items() if level <= known), "4")


def get_log_config() -> dict:
    """What the log is configured with: GLOG_v only.

    Example:
        >>> from mycel.kernel.base import log
        >>> list(log.get_log_config())
        ['GLOG_v']
    """
    return {VARIABLE: get_level()}


def get_logger() -> logging.Logger:
    """The logger itself.

    Example:
        >>> from mycel.kernel.base import log
        >>> log.get_logger().name
        'mycel'
    """
    return logger
