# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.text means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.text import *
from mindspore.dataset.text import transforms as transforms
from mindspore.dataset.text import utils as utils
