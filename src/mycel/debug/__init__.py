# SPDX-License-Identifier: Apache-2.0
"""Looking at the machine and into networks: the ledger of compilations and of calls that were not
replayed; where NaN comes from; what Cells give, and what they would give.
"""

from mycel.debug.capture import Captured, capture
from mycel.debug.collectives import Collectives, collectives
from mycel.debug.compare import Comparison, compare
from mycel.debug.edits import Edit
from mycel.debug.layouts import Layouts, layouts
from mycel.debug.nan import find_nan
from mycel.debug.patch import Patched, patch
from mycel.debug.pipeline import Pipeline, pipeline
from mycel.debug.profile import profile
from mycel.debug.steps import RecordedSteps, record_steps
from mycel.debug.summary import Summary, summary
from mycel.debug.why import Explanation, why
from mycel.kernel.base.errors import NonFiniteError
from mycel.report.ledger import Ledger, budget
from mycel.report.ledger import ledger as _ledger


def ledger() -> Ledger:
    """What was compiled, and which calls were not replayed and why, merged by cause.

    `print` shows a table, a notebook too; `lines` and `counts` are for programs; `write(path)`
    makes a file of it, as `MYCEL_LEDGER=report.html` in the environment does when the process ends.

    Example:
        >>> import mycel as ms
        >>> ledger = ms.debug.ledger()
        >>> ledger.reset()
        >>> scaled = ms.jit(lambda x, factor: x * factor)
        >>> for factor in (1.0, 2.0, 3.0):
        ...     y = scaled(ms.Tensor([1.0]), factor)
        >>> line = ledger.lines[-1]
        >>> line.what, line.count, line.remedy
        ('argument `factor` went 1.0 -> 2.0', 2, 'pass a Tensor')
    """
    return _ledger


__all__ = [
    "Captured",
    "Collectives",
    "Comparison",
    "Edit",
    "Explanation",
    "Layouts",
    "Ledger",
    "NonFiniteError",
    "Patched",
    "Pipeline",
    "RecordedSteps",
    "Summary",
    "budget",
    "capture",
    "collectives",
    "compare",
    "find_nan",
    "layouts",
    "ledger",
    "patch",
    "pipeline",
    "profile",
    "record_steps",
    "summary",
    "why",
]
