# SPDX-License-Identifier: Apache-2.0
"""What the machine did and what went wrong, told to people; see kernel.base.account."""

from mycel.report.keywords import explain_keyword
from mycel.report.logging_sites import watch_logging
from mycel.report.picture import parameters_html, tensor_html
from mycel.report.printing import watch_printing
from mycel.report.show import tensor_repr, tensor_str
