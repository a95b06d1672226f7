# SPDX-License-Identifier: Apache-2.0
"""Summaries: values named by the operators of `ops.summary`, written for TensorBoard."""

from mycel.summary.record import SummaryRecord

__all__ = ["SummaryRecord"]
