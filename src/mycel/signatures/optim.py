# SPDX-License-Identifier: Apache-2.0
"""Where the classes of mycel.optim.experimental are; written by `python -m tools.stubs`, which see."""

from mycel.optim.param_groups.adam import (
    Adam, AdamW, Adamax, NAdam, RAdam,
)
from mycel.optim.param_groups.descent import (
    ASGD, Adadelta, Adagrad, RMSprop, Rprop, SGD,
)
