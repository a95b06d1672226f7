# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._transformer means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.configurations import *
from mindspore.parallel._transformer import layers as layers
from mindspore.parallel._transformer import loss as loss
from mindspore.parallel._transformer import moe as moe
from mindspore.parallel._transformer import op_parallel_config as op_parallel_config
from mindspore.parallel._transformer import transformer as transformer
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
