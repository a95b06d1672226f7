# SPDX-License-Identifier: Apache-2.0
"""Looking at the machine: the ledger of compilations and of calls that were not replayed."""

from mycel.execute.ledger import Ledger, budget
from mycel.execute.ledger import ledger as _ledger


def ledger() -> Ledger:
    """What was compiled, and which calls could not be replayed and why; prints line by line.

    Example:
        >>> import mycel as ms
        >>> ms.debug.ledger().counts.compilations >= 0
        True
    """
    return _ledger


__all__ = ["Ledger", "budget", "ledger"]
