# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.engine means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset import *
from mindspore.dataset.engine import config as config
from mindspore.dataset.engine import datasets as datasets
from mindspore.dataset.engine import datasets_audio as datasets_audio
from mindspore.dataset.engine import datasets_standard_format as datasets_standard_format
from mindspore.dataset.engine import datasets_text as datasets_text
from mindspore.dataset.engine import datasets_user_defined as datasets_user_defined
from mindspore.dataset.engine import datasets_vision as datasets_vision
from mindspore.dataset.engine import iterators as iterators
from mindspore.dataset.engine import samplers as samplers
from mycel.dataset.engine.sending import TransferDataset as TransferDataset
