# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset import *
from mindspore.dataset import audio as audio
from mindspore.dataset import callback as callback
from mindspore.dataset import config as config
from mindspore.dataset import core as core
from mindspore.dataset import dataloader as dataloader
from mindspore.dataset import debug as debug
from mindspore.dataset import engine as engine
from mindspore.dataset import samplers as samplers
from mindspore.dataset import text as text
from mindspore.dataset import transforms as transforms
from mindspore.dataset import vision as vision
from mycel.dataset.transforms import c_transforms as c_transforms
from mycel.dataset.transforms import py_transforms as py_transforms
from mycel.dataset.vision import ToNumpy as ToNumpy
from mycel.dataset.text import SentencePieceModel as SentencePieceModel
