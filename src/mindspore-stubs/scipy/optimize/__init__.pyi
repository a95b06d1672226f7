# SPDX-License-Identifier: Apache-2.0
"""What mindspore.scipy.optimize means here; written by `python -m tools.stubs`, which see."""


from mycel.scipy.optimize import *
from mycel.scipy.optimize import line_search as line_search
from mycel.scipy.optimize import linear_sum_assignment as linear_sum_assignment
from mycel.scipy.optimize import minimize as minimize
