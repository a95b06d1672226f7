# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mindspore.log`: functions that write to the log of this package."""

from __future__ import annotations

import functools
import logging
from typing import Any, ClassVar

from mycel.kernel.base.log import LEVELS, VARIABLE, logger


def debug(msg, *args, **kwargs) -> None:
    """Log a message for whoever looks for a fault.

    Example:
        >>> from mycel.compat import log
        >>> log.debug("%d samples", 3)
    """
    logger.debug(msg, *args, **_from_caller(kwargs))


def info(msg, *args, **kwargs) -> None:
    """Log what is going on.

    Example:
        >>> from mycel.compat import log
        >>> log.info("epoch %d", 3)
    """
    logger.info(msg, *args, **_from_caller(kwargs))


def warning(msg, *args, **kwargs) -> None:
    """Log a warning.

    Example:
        >>> from mycel.compat import log
        >>> log.warning("The learning rate %s is large.", 10.0)
    """
    logger.warning(msg, *args, **_from_caller(kwargs))


def error(msg, *args, **kwargs) -> None:
    """Log an error.

    Example:
        >>> from mycel.compat import log
        >>> log.error("no file %s", "weights.ckpt")
    """
    logger.error(msg, *args, **_from_caller(kwargs))


def critical(msg, *args, **kwargs) -> None:
    """Log an error that ends the program.

    Example:
        >>> from mycel.compat import log
        >>> log.critical("out of memory")
    """
    logger.critical(msg, *args, **_from_caller(kwargs))


def _from_caller(kwargs: dict) -> dict:
    """The line of the log is that of the program, not of this file."""
    return {"stacklevel": 2, **kwargs}


def get_level() -> str:
    """The level that is shown, in the numbers of GLOG_v.

    Example:
        >>> from mycel.compat import log
        >>> log.get_level() in "01234"
        True
    """
    level = logger.getEffectiveLevel()
    return next((number for number, known in LEVELS.items() if level <= known), "4")


def get_log_config() -> dict[str, Any]:
    """What the log is configured with: GLOG_v only.

    Example:
        >>> from mycel.compat import log
        >>> list(log.get_log_config())
        ['GLOG_v']
    """
    return {VARIABLE: get_level()}


def get_logger() -> logging.Logger:
    """The logger itself.

    Example:
        >>> from mycel.compat import log
        >>> log.get_logger().name
        'mycel'
    """
    return logger


class LogActionOnce:
    """A decorator: the first call of what carries this key is told in the log.

    Args:
        logger: a module or object with `info`.
        key: what the calls have in common; each key is told once in a process.
        no_warning: True tells nothing.

    Source: MindSpore's `mindspore.log._LogActionOnce`.

    Example:
        >>> from mycel.compat import log
        >>> @log.LogActionOnce(log, "Encoder")
        ... def encode(x):
        ...     return x + 1
        >>> encode(1)
        2
    """

    _told: ClassVar[set] = set()

    def __init__(self, logger, key, no_warning=False):
        self.logger, self.key, self.no_warning = logger, key, no_warning

    def __call__(self, func):
        """The function that tells of itself."""

        @functools.wraps(func)
        def told(*args, **kwargs):
            if not self.no_warning and self.key not in self._told:
                self._told.add(self.key)
                self.logger.info("%s is called for the first time.", self.key)
            return func(*args, **kwargs)

        return told
