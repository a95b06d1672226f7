# SPDX-License-Identifier: Apache-2.0
"""What the classes of mycel.mint.nn are made with; written by `python -m tools.stubs`, which see."""

from typing import Any as _Any

from mycel.kernel.record.parameter import Parameter as _Parameter
from mycel.mint.nn.activation import ELU as _ELU
from mycel.mint.nn.activation import GELU as _GELU
from mycel.mint.nn.activation import GLU as _GLU
from mycel.mint.nn.activation import Hardtanh as _Hardtanh
from mycel.mint.nn.activation import PReLU as _PReLU
from mycel.mint.nn.convolution import Conv1d as _Conv1d
from mycel.mint.nn.convolution import Conv2d as _Conv2d
from mycel.mint.nn.convolution import Conv3d as _Conv3d
from mycel.mint.nn.convolution import ConvTranspose2d as _ConvTranspose2d
from mycel.mint.nn.linear import Dropout as _Dropout
from mycel.mint.nn.linear import Dropout2d as _Dropout2d
from mycel.mint.nn.linear import Embedding as _Embedding
from mycel.mint.nn.linear import Fold as _Fold
from mycel.mint.nn.linear import Linear as _Linear
from mycel.mint.nn.linear import Unfold as _Unfold
from mycel.mint.nn.linear import Upsample as _Upsample
from mycel.mint.nn.loss import BCELoss as _BCELoss
from mycel.mint.nn.loss import BCEWithLogitsLoss as _BCEWithLogitsLoss
from mycel.mint.nn.loss import CosineEmbeddingLoss as _CosineEmbeddingLoss
from mycel.mint.nn.loss import CrossEntropyLoss as _CrossEntropyLoss
from mycel.mint.nn.loss import KLDivLoss as _KLDivLoss
from mycel.mint.nn.loss import L1Loss as _L1Loss
from mycel.mint.nn.loss import MSELoss as _MSELoss
from mycel.mint.nn.loss import NLLLoss as _NLLLoss
from mycel.mint.nn.loss import SmoothL1Loss as _SmoothL1Loss
from mycel.mint.nn.loss import SoftMarginLoss as _SoftMarginLoss
from mycel.mint.nn.normalization import BatchNorm1d as _BatchNorm1d
from mycel.mint.nn.normalization import BatchNorm2d as _BatchNorm2d
from mycel.mint.nn.normalization import BatchNorm3d as _BatchNorm3d
from mycel.mint.nn.normalization import GroupNorm as _GroupNorm
from mycel.mint.nn.normalization import LayerNorm as _LayerNorm
from mycel.mint.nn.normalization import SyncBatchNorm as _SyncBatchNorm
from mycel.mint.nn.pooling import AvgPool1d as _AvgPool1d
from mycel.mint.nn.pooling import AvgPool2d as _AvgPool2d
from mycel.mint.nn.pooling import AvgPool3d as _AvgPool3d
from mycel.mint.nn.pooling import MaxPool2d as _MaxPool2d
from mycel.mint.nn.pooling import MaxUnpool2d as _MaxUnpool2d
from mycel.nn.layers.activation import HShrink as _Hardshrink
from mycel.nn.layers.activation import SoftShrink as _Softshrink
from mycel.nn.layers.linear import Flatten as _Flatten
from mycel.signatures.kinds import Axes as _Axes
from mycel.signatures.kinds import Bool as _Bool
from mycel.signatures.kinds import DTypeLike as _DTypeLike
from mycel.signatures.kinds import Initial as _Initial
from mycel.signatures.kinds import Int as _Int
from mycel.signatures.kinds import Scalar as _Scalar
from mycel.signatures.kinds import Sizes as _Sizes
from mycel.signatures.kinds import Str as _Str

class AvgPool1d(_AvgPool1d):
    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes | _Str = 0, ceil_mode: _Bool = False, count_include_pad: _Bool = True) -> None: ...
class AvgPool2d(_AvgPool2d):
    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes | _Str = 0, ceil_mode: _Bool = False, count_include_pad: _Bool = True, divisor_override: _Scalar | None = None) -> None: ...
class AvgPool3d(_AvgPool3d):
    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes | _Str = 0, ceil_mode: _Bool = False, count_include_pad: _Bool = True, divisor_override: _Scalar | None = None) -> None: ...
class BCELoss(_BCELoss):
    def __init__(self, weight: _Any = None, reduction: _Str = 'mean') -> None: ...
class BCEWithLogitsLoss(_BCEWithLogitsLoss):
    def __init__(self, weight: _Any = None, reduction: _Str = 'mean', pos_weight: _Any = None) -> None: ...
class BatchNorm1d(_BatchNorm1d):
    def __init__(self, num_features: _Any, eps: _Scalar = 1e-05, momentum: _Scalar = 0.1, affine: _Bool = True, track_running_stats: _Bool = True, dtype: _DTypeLike | None = None) -> None: ...
class BatchNorm2d(_BatchNorm2d):
    def __init__(self, num_features: _Any, eps: _Scalar = 1e-05, momentum: _Scalar = 0.1, affine: _Bool = True, track_running_stats: _Bool = True, dtype: _DTypeLike | None = None) -> None: ...
class BatchNorm3d(_BatchNorm3d):
    def __init__(self, num_features: _Any, eps: _Scalar = 1e-05, momentum: _Scalar = 0.1, affine: _Bool = True, track_running_stats: _Bool = True, dtype: _DTypeLike | None = None) -> None: ...
class Conv1d(_Conv1d):
    bias: _Parameter
    def __init__(self, in_channels: _Int, out_channels: _Int, kernel_size: _Sizes, stride: _Sizes = 1, padding: _Sizes | _Str = 0, dilation: _Sizes = 1, groups: _Int = 1, bias: _Bool = True, padding_mode: _Str = 'zeros', dtype: _DTypeLike | None = None) -> None: ...
class Conv2d(_Conv2d):
    bias: _Parameter
    def __init__(self, in_channels: _Int, out_channels: _Int, kernel_size: _Sizes, stride: _Sizes = 1, padding: _Sizes | _Str = 0, dilation: _Sizes = 1, groups: _Int = 1, bias: _Bool = True, padding_mode: _Str = 'zeros', dtype: _DTypeLike | None = None) -> None: ...
class Conv3d(_Conv3d):
    bias: _Parameter
    def __init__(self, in_channels: _Int, out_channels: _Int, kernel_size: _Sizes, stride: _Sizes = 1, padding: _Sizes | _Str = 0, dilation: _Sizes = 1, groups: _Int = 1, bias: _Bool = True, padding_mode: _Str = 'zeros', dtype: _DTypeLike | None = None) -> None: ...
class ConvTranspose2d(_ConvTranspose2d):
    bias: _Parameter
    def __init__(self, in_channels: _Int, out_channels: _Int, kernel_size: _Sizes, stride: _Sizes = 1, padding: _Sizes | _Str = 0, output_padding: _Sizes = 0, groups: _Int = 1, bias: _Bool = True, dilation: _Sizes = 1, padding_mode: _Str = 'zeros', dtype: _DTypeLike | None = None) -> None: ...
class CosineEmbeddingLoss(_CosineEmbeddingLoss):
    def __init__(self, margin: _Scalar = 0.0, reduction: _Str = 'mean') -> None: ...
class CrossEntropyLoss(_CrossEntropyLoss):
    def __init__(self, weight: _Any = None, ignore_index: _Int = -100, reduction: _Str = 'mean', label_smoothing: _Scalar = 0.0) -> None: ...
class Dropout(_Dropout):
    def __init__(self, p: _Scalar | _Str = 0.5, inplace: _Bool = False) -> None: ...
class Dropout2d(_Dropout2d):
    def __init__(self, p: _Scalar | _Str = 0.5, inplace: _Bool = False) -> None: ...
class ELU(_ELU):
    def __init__(self, alpha: _Scalar = 1.0, inplace: _Bool = False) -> None: ...
class Embedding(_Embedding):
    def __init__(self, num_embeddings: _Any, embedding_dim: _Any, padding_idx: _Any = None, max_norm: _Scalar | None = None, norm_type: _Scalar = 2.0, scale_grad_by_freq: _Bool = False, sparse: _Bool = False, _weight: _Any = None, _freeze: _Bool = False, dtype: _DTypeLike | None = None) -> None: ...
class Flatten(_Flatten):
    def __init__(self, start_dim: _Int = 1, end_dim: _Int = -1) -> None: ...
class Fold(_Fold):
    def __init__(self, output_size: _Sizes, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes | _Str = 0, stride: _Sizes = 1) -> None: ...
class GELU(_GELU):
    def __init__(self, approximate: _Str = 'none') -> None: ...
class GLU(_GLU):
    def __init__(self, dim: _Axes = -1) -> None: ...
class GroupNorm(_GroupNorm):
    def __init__(self, num_groups: _Int, num_channels: _Any, eps: _Scalar = 1e-05, affine: _Bool = True, dtype: _DTypeLike | None = None) -> None: ...
class Hardshrink(_Hardshrink):
    def __init__(self, lambd: _Scalar = 0.5) -> None: ...
class Hardtanh(_Hardtanh):
    def __init__(self, min_val: _Scalar = -1.0, max_val: _Scalar = 1.0, inplace: _Bool = False) -> None: ...
class KLDivLoss(_KLDivLoss):
    def __init__(self, reduction: _Str = 'mean', log_target: _Bool = False) -> None: ...
class L1Loss(_L1Loss):
    def __init__(self, reduction: _Str = 'mean') -> None: ...
class LayerNorm(_LayerNorm):
    bias: _Parameter
    def __init__(self, normalized_shape: _Sizes, eps: _Scalar = 1e-05, elementwise_affine: _Bool = True, bias: _Bool = True, dtype: _DTypeLike | None = None) -> None: ...
class Linear(_Linear):
    bias: _Parameter
    def __init__(self, in_features: _Int, out_features: _Int, bias: _Bool = True, weight_init: _Initial | None = None, bias_init: _Initial | None = None, dtype: _DTypeLike | None = None) -> None: ...
class MSELoss(_MSELoss):
    def __init__(self, reduction: _Str = 'mean') -> None: ...
class MaxPool2d(_MaxPool2d):
    def __init__(self, kernel_size: _Sizes = 1, stride: _Sizes | None = None, padding: _Sizes | _Str = 0, dilation: _Sizes = 1, return_indices: _Bool = False, ceil_mode: _Bool = False) -> None: ...
class MaxUnpool2d(_MaxUnpool2d):
    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes | _Str = 0) -> None: ...
class NLLLoss(_NLLLoss):
    def __init__(self, weight: _Any = None, ignore_index: _Int = -100, reduction: _Str = 'mean') -> None: ...
class PReLU(_PReLU):
    def __init__(self, num_parameters: _Int = 1, init: _Scalar = 0.25, dtype: _DTypeLike | None = None) -> None: ...
class SmoothL1Loss(_SmoothL1Loss):
    def __init__(self, reduction: _Str = 'mean', beta: _Scalar = 1.0) -> None: ...
class SoftMarginLoss(_SoftMarginLoss):
    def __init__(self, reduction: _Str = 'mean') -> None: ...
class Softshrink(_Softshrink):
    def __init__(self, lambd: _Scalar = 0.5) -> None: ...
class SyncBatchNorm(_SyncBatchNorm):
    def __init__(self, num_features: _Any, eps: _Scalar = 1e-05, momentum: _Scalar = 0.1, affine: _Bool = True, track_running_stats: _Bool = True, process_group: _Any = None, dtype: _DTypeLike | None = None) -> None: ...
class Unfold(_Unfold):
    def __init__(self, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes | _Str = 0, stride: _Sizes = 1) -> None: ...
class Upsample(_Upsample):
    def __init__(self, size: _Sizes | None = None, scale_factor: _Scalar | _Sizes | None = None, mode: _Str = 'nearest', align_corners: _Bool | None = None, recompute_scale_factor: _Bool | None = None) -> None: ...
