# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.configurations import *
from mindspore.nn.transformer import layers as layers
from mindspore.nn.transformer import loss as loss
from mindspore.nn.transformer import moe as moe
from mindspore.nn.transformer import op_parallel_config as op_parallel_config
from mindspore.nn.transformer import transformer as transformer
from mycel.compat.transformers import FeedForward as FeedForward
from mycel.compat.transformers import MultiHeadAttention as MultiHeadAttention
from mycel.compat.transformers import MoEConfig as MoEConfig
from mycel.parallel.configurations import OpParallelConfig as OpParallelConfig
from mycel.compat.transformer_stacks import AttentionMask as AttentionMask
from mycel.compat.transformer_stacks import VocabEmbedding as VocabEmbedding
from mycel.compat.transformer_stacks import EmbeddingOpParallelConfig as EmbeddingOpParallelConfig
from mycel.compat.transformer_stacks import TransformerEncoder as TransformerEncoder
from mycel.compat.transformer_stacks import TransformerDecoder as TransformerDecoder
from mycel.compat.transformer_stacks import TransformerEncoderLayer as TransformerEncoderLayer
from mycel.compat.transformer_stacks import TransformerDecoderLayer as TransformerDecoderLayer
from mycel.compat.transformer_stacks import CrossEntropyLoss as CrossEntropyLoss
