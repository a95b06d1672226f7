# SPDX-License-Identifier: Apache-2.0
"""Logging in a call that is recorded: a message is a site, sent at every call.

Which logger takes it at which level is state that the call reads like any other; the message and
its arguments are what the present call has, the place is the user's line. A warning that is shown
is an effect: it may be another one the next time, or none.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any

from mycel.kernel.prove.kinds import STAND_INS
from mycel.kernel.record.stream import local

_real_log = logging.Logger._log
_HERE = os.path.normcase(__file__)
_LOGGING = os.path.normcase(_real_log.__code__.co_filename)


def _log(self, level, msg, args, exc_info=None, extra=None, stack_info=False, stacklevel=1):
    """Stands for `Logger._log`, which all of a logger's methods come to."""
    python = getattr(local.stream.scope.capture, "python", None)
    settings = (exc_info, extra, stack_info, stacklevel)
    if python is None or python.capture.in_site or python.effect is not None:
        return _real_log(self, level, msg, args, *settings)
    if exc_info or stack_info:
        python.refuse("effect: an exception or a stack was logged", "log it outside the function")
        return _real_log(self, level, msg, args, *settings)
    if logging.getLogger(self.name) is self:
        python.reach(self)  # whoever asked for it, it is nobody's own
    return python.capture.site(_send, (self, level, msg, args, extra, _caller(stacklevel)))


def _caller(stacklevel: int) -> tuple[str, int, str]:
    """The line that logged, or one that called it: file, number and function."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if os.path.normcase(frame.f_code.co_filename) not in (_HERE, _LOGGING):
            stacklevel -= 1
            if stacklevel < 1:
                break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


def _send(logger, level, msg, args, extra, where) -> None:
    path, line, function = where
    record = logger.makeRecord(
        logger.name, level, path, line, msg, args, None, function, extra, None
    )
    logger.handle(record)


STAND_INS[id(_log)] = _log
_module: Any = warnings  # what shows a warning has no public name
_real_show = _module._showwarnmsg


def _show(message):
    """Stands for what shows a warning, which Python's own and NumPy's come to."""
    python = getattr(local.stream.scope.capture, "python", None)
    if python is not None and not python.capture.in_site:
        python.refuse("effect: a warning was shown", "do not give it, or let it be ignored")
    return _real_show(message)


def watch_logging(on: bool) -> None:
    """Take logging and warnings over, or give them back."""
    if on and logging.Logger._log is _real_log:
        logging.Logger._log = _log
    elif not on and logging.Logger._log is _log:
        logging.Logger._log = _real_log
    if _module._showwarnmsg in (_real_show, _show):
        _module._showwarnmsg = _show if on else _real_show
