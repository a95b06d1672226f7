# SPDX-License-Identifier: Apache-2.0
"""What the methods of a FileWriter answer."""

from __future__ import annotations

import enum


class MSRStatus(enum.IntEnum):
    """Whether something was done; as in MindSpore a number that is never false.

    Example:
        >>> from mycel.mindrecord.status import MSRStatus
        >>> MSRStatus.SUCCESS == 0, bool(MSRStatus.SUCCESS), str(MSRStatus.FAILED)
        (True, True, 'MSRStatus.FAILED')
    """

    SUCCESS = 0
    FAILED = 1

    def __bool__(self):
        return True

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"
