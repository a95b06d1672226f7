# SPDX-License-Identifier: Apache-2.0
"""What summary operators were called with since it was last asked for."""

from __future__ import annotations

from mycel.kernel.record.tensor import Tensor
from mycel.ops import summary


class _Latest:
    """Takes the newest value of every name, from the import of this module on."""

    def __init__(self):
        self.values: dict[str, Tensor] = {}

    def take(self, plugin: str, name: str, value: Tensor) -> None:
        """A summary operator was called."""
        self.values[f"{name}[:{plugin.capitalize()}]"] = value


_latest = _Latest()
summary.attach(_latest)


def get_summary_tensor_data() -> dict[str, Tensor]:
    """The newest value of every summary by `name[:Kind]`; then none of them is kept any more.

    Source: MindSpore's `mindspore.train.summary.summary_record._get_summary_tensor_data`.

    Example:
        >>> from mycel.summary.latest import get_summary_tensor_data
        >>> ops.ScalarSummary()("loss", Tensor(0.5))
        >>> {name: float(value) for name, value in get_summary_tensor_data().items()}
        {'loss[:Scalar]': 0.5}
    """
    found, _latest.values = _latest.values, {}
    return found
