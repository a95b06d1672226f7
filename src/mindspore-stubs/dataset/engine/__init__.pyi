# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.engine means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset import *
from mindspore.dataset.engine import config as config
from mindspore.dataset.engine import datasets as datasets
from mindspore.dataset.engine import iterators as iterators
from mindspore.dataset.engine import samplers as samplers
