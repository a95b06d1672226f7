# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer.transformer means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.configurations import *
from mycel.compat.transformers import FeedForward as FeedForward
from mycel.compat.transformers import MultiHeadAttention as MultiHeadAttention
from mycel.compat.transformers import get_lambda_func as __get_lambda_func  # pyright: ignore
_get_lambda_func = __get_lambda_func  # pyright: ignore
from mycel.compat.transformers import default_transformer_config as default_transformer_config
from mycel.compat.transformer_stacks import AttentionMask as AttentionMask
from mycel.compat.transformer_stacks import VocabEmbedding as VocabEmbedding
from mycel.compat.transformer_stacks import EmbeddingOpParallelConfig as EmbeddingOpParallelConfig
from mycel.compat.transformer_stacks import TransformerEncoder as TransformerEncoder
from mycel.compat.transformer_stacks import TransformerDecoder as TransformerDecoder
from mycel.compat.transformer_stacks import TransformerEncoderLayer as TransformerEncoderLayer
from mycel.compat.transformer_stacks import TransformerDecoderLayer as TransformerDecoderLayer
