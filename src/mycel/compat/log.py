# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mindspore.log`: functions that write to the log of this package."""

from __future__ import annotations

import logging
from typing import Any

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
