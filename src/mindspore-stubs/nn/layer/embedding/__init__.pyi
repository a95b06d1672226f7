# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.embedding means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.mint.nn import Embedding as _EmbeddingExt
EmbeddingExt = _EmbeddingExt
