# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of ops are; written by `python -m tools.stubs`, which see."""

from mycel.compat.mint_operators import (
    stack_along as StackExt,
)
from mycel.ops.array.bands import (
    fill_diagonal as FillDiagonal, matrix_band_part as MatrixBandPart, matrix_band_part, matrix_diag
    as MatrixDiagV3, matrix_diag, matrix_diag_part as MatrixDiagPartV3, matrix_diag_part,
    matrix_set_diag as MatrixSetDiagV3, matrix_set_diag, tridiagonal_product as TridiagonalMatMul,
)
from mycel.ops.array.casting import (
    cast as Cast, cast, is_complex, is_floating_point, type_as,
)
from mycel.ops.array.combinatorics import (
    cartesian_prod, combinations, invert_permutation as InvertPermutation, list_diff as ListDiff,
    ragged_range as RaggedRange, unique_with_pad as UniqueWithPad, unique_with_pad, unravel_index as
    UnravelIndex,
)
from mycel.ops.array.copying import (
    assign as Assign, assign, identity as Identity, identity as deepcopy, passed_on as identity,
    rank as Rank, rank, shape as Shape, shape, shape_tensor as TensorShape, shape_tensor as
    dyn_shape, size as Size, size,
)
from mycel.ops.array.creation import (
    arange, eye as Eye, eye, fill as Fill, fill, fill_like_value as FillV2, fill_method as fills,
    fills as Fills, full, full_like, linspace as LinSpace, linspace, logspace as LogSpace, logspace,
    ones as Ones, ones, ones_like as OnesLike, ones_like, range_of as Range, range_of as range,
    scalar_to_tensor as ScalarToTensor, scalar_to_tensor, tril_indices as TrilIndices, tril_indices,
    triu_indices as TriuIndices, triu_indices, zeros as Zeros, zeros, zeros_like as ZerosLike,
    zeros_like,
)
from mycel.ops.array.diagonals import (
    diag as Diag, diag, diag_embed, diag_part as DiagPart, diagflat, diagonal, meshgrid_of as
    Meshgrid, trace as Trace, trace, tril as Tril, tril, triu as Triu, triu,
)
from mycel.ops.array.formats import (
    mapped_dimensions as DataFormatDimMap, permuted_dimensions as DataFormatVecPermute,
)
from mycel.ops.array.joining import (
    atleast_1d, atleast_2d, atleast_3d, chunk, column_stack, concat as Concat, concat as
    ParallelConcat, concat as cat, concat, dsplit, dstack, hsplit, hstack, split, split_evenly as
    Split, stack as Stack, stack, tensor_split, unbind as Unstack, unbind, unbind as unstack,
    vsplit, vstack as row_stack, vstack,
)
from mycel.ops.array.masking import (
    argwhere, masked_fill as MaskedFill, masked_fill, masked_select as MaskedSelect, masked_select,
    nonzero as NonZero, nonzero, one_hot as OneHot, one_hot, sequence_mask,
)
from mycel.ops.array.ordering import (
    argsort, bincount, in_top_k as InTopK, in_top_k as intopk, msort, searchsorted, sort as Sort,
    sort, topk as TopK, topk as top_k, topk, unique as Unique, unique, unique_consecutive as
    UniqueConsecutive, unique_consecutive,
)
from mycel.ops.array.replacing import (
    diagonal_scatter, inplace_add as InplaceAdd, inplace_add, inplace_sub as InplaceSub,
    inplace_sub, inplace_update as InplaceUpdate, inplace_update as InplaceUpdateV2, inplace_update,
    select_scatter, slice_scatter,
)
from mycel.ops.array.scatter import (
    index_fill as IndexFill, index_fill, scatter_elements as ScatterAddWithAxis, scatter_elements as
    scatter, scatter_nd as ScatterNd, scatter_nd, tensor_scatter_add as TensorScatterAdd,
    tensor_scatter_add, tensor_scatter_div as TensorScatterDiv, tensor_scatter_div,
    tensor_scatter_elements as TensorScatterElements, tensor_scatter_elements, tensor_scatter_max as
    TensorScatterMax, tensor_scatter_max, tensor_scatter_min as TensorScatterMin,
    tensor_scatter_min, tensor_scatter_mul as TensorScatterMul, tensor_scatter_mul,
    tensor_scatter_sub as TensorScatterSub, tensor_scatter_sub, tensor_scatter_update as
    TensorScatterUpdate, tensor_scatter_update, unsorted_segment_max as UnsortedSegmentMax,
    unsorted_segment_max, unsorted_segment_min as UnsortedSegmentMin, unsorted_segment_min,
    unsorted_segment_sum as UnsortedSegmentSum, unsorted_segment_sum,
)
from mycel.ops.array.scatter_in_place import (
    index_add as IndexAdd, index_add as InplaceIndexAdd, index_add, index_add as inplace_index_add,
    scatter_add as ScatterAdd, scatter_add, scatter_div as ScatterDiv, scatter_div, scatter_max as
    ScatterMax, scatter_max, scatter_min as ScatterMin, scatter_min, scatter_mul as ScatterMul,
    scatter_mul, scatter_nd_add as ScatterNdAdd, scatter_nd_add, scatter_nd_div as ScatterNdDiv,
    scatter_nd_div, scatter_nd_max as ScatterNdMax, scatter_nd_max, scatter_nd_min as ScatterNdMin,
    scatter_nd_min, scatter_nd_mul as ScatterNdMul, scatter_nd_mul, scatter_nd_sub as ScatterNdSub,
    scatter_nd_sub, scatter_nd_update as ScatterNdUpdate, scatter_nd_update, scatter_sub as
    ScatterSub, scatter_update as ScatterUpdate, scatter_update,
)
from mycel.ops.array.selection import (
    gather as Gather, gather as GatherV2, gather, gather_elements as GatherD, gather_elements as
    gather_d, gather_elements, gather_nd as GatherNd, gather_nd, index_select, narrow, slice_ as
    Slice, slice_ as slice, sparse_gather as SparseGatherV2, strided_slice as StridedSlice,
    strided_slice, take,
)
from mycel.ops.array.shape import (
    broadcast_to as BroadcastTo, broadcast_to, channel_shuffle as ChannelShuffle, channel_shuffle,
    expand_as, expand_dims as ExpandDims, expand_dims, expand_dims as unsqueeze, flatten as Flatten,
    flatten, flip as ReverseV2, flip, flip as reverse, fliplr, flipud, movedim as moveaxis, movedim,
    numel, ravel, repeat_interleave as repeat_elements, repeat_interleave, reshape as Reshape,
    reshape, reshape_as as view_as, reverse_sequence as ReverseSequence, reverse_sequence, roll as
    Roll, roll, rot90, squeeze as Squeeze, squeeze, swapaxes, swapaxes as swapdims, t, tile as Tile,
    tile, transpose as Transpose, transpose as TransposeView, transpose as permute, transpose,
)
from mycel.ops.array.space_to_batch import (
    batch_to_space as BatchToSpace, batch_to_space_nd as BatchToSpaceND, batch_to_space_nd,
    space_to_batch as SpaceToBatch, space_to_batch_nd as SpaceToBatchND, space_to_batch_nd,
)
from mycel.ops.math.accumulation import (
    cumprod, cumprod_primitive as CumProd, cumsum as CumSum, cumsum, diff, logcumsumexp,
)
from mycel.ops.math.argminmax import (
    amax, amin, aminmax, argmax as Argmax, argmax, argmax_with_value as ArgMaxWithValue, argmin as
    Argmin, argmin, argmin_with_value as ArgMinWithValue, cummax as Cummax, cummax, cummin as
    Cummin, cummin, max_with_indices as max, min_with_indices as min,
)
from mycel.ops.math.arithmetic import (
    abs as Abs, abs, abs as absolute, add as Add, add, divide as div, divide, floor_divide as
    FloorDiv, floor_divide as floor_div, floor_divide, fmod as Mod, fmod as TruncateMod, fmod, fmod
    as truncate_mod, maximum as Maximum, maximum, minimum as Minimum, minimum, mul as Mul, mul, mul
    as multiply, neg as Neg, neg, neg as negative, positive, real_div as RealDiv, remainder as
    FloorMod, remainder as floor_mod, remainder, sign as Sign, sign as sgn, sign, sub as Sub, sub,
    sub_multiple as subtract, true_divide as Div, true_divide,
)
from mycel.ops.math.comparison import (
    approximate_equal as ApproximateEqual, approximate_equal, bitwise_and as BitwiseAnd,
    bitwise_and, bitwise_left_shift as LeftShift, bitwise_left_shift, bitwise_not as Invert,
    bitwise_not as invert, bitwise_or as BitwiseOr, bitwise_or, bitwise_right_shift as RightShift,
    bitwise_right_shift, bitwise_xor as BitwiseXor, bitwise_xor, compare_and_bitpack as
    CompareAndBitpack, equal as Equal, equal as eq, equal, greater as Greater, greater, greater as
    gt, greater_equal as GreaterEqual, greater_equal as ge, greater_equal, is_nonzero, isclose as
    IsClose, isclose, less as Less, less, less as lt, less_equal as LessEqual, less_equal as le,
    less_equal, logical_and as LogicalAnd, logical_and, logical_not as LogicalNot, logical_not,
    logical_or as LogicalOr, logical_or, logical_xor as LogicalXor, logical_xor, not_equal as
    NotEqual, not_equal as ne, not_equal, where as Select, where as select, where,
)
from mycel.ops.math.complex_numbers import (
    angle as Angle, angle, complex_abs as ComplexAbs, complex_primitive as Complex, conj as Conj,
    conj, imag as Imag, imag, polar as Polar, polar, real as Real, real, view_as_real,
)
from mycel.ops.math.decompositions import (
    cholesky as Cholesky, cholesky, det as MatrixDeterminant, det, det as matrix_determinant, eig,
    eig_primitive as Eig, eigvals, geqrf as Geqrf, geqrf, inverse, logdet, lu_unpack as LuUnpack,
    lu_unpack, matrix_exp as MatrixExp, matrix_exp, matrix_norm, nuclear_norm as NuclearNorm, orgqr
    as Orgqr, orgqr, ormqr as Ormqr, ormqr, pinv, qr, qr_primitive as Qr, slogdet as
    LogMatrixDeterminant, slogdet as log_matrix_determinant, slogdet, svd as Svd, svd, vector_norm,
)
from mycel.ops.math.distances import (
    bidense, cosine_similarity, dist, pdist as Pdist, pdist, renorm as Renorm, renorm,
)
from mycel.ops.math.elementwise import (
    addcdiv as Addcdiv, addcdiv, addcmul as Addcmul, addcmul, addn as AccumulateNV2, addn as AddN,
    addn as accumulate_n, addn, ceil as Ceil, ceil, clamp, clamp as clip, clip_by_value, copysign,
    digamma as Digamma, digamma, div_no_nan as DivNoNan, erf as Erf, erf, erfc as Erfc, erfc, erfinv
    as Erfinv, erfinv, erfinv as erfinv_, floor as Floor, floor, frac, gcd as Gcd, gcd, heaviside as
    Heaviside, heaviside, isfinite as IsFinite, isfinite, isinf as IsInf, isinf, isnan as IsNan,
    isnan, isneginf, isposinf, isreal, lcm as Lcm, lcm, lerp as Lerp, lerp as LerpScalar, lerp,
    lgamma as Lgamma, lgamma, logit as Logit, logit, nan_to_num as NanToNum, nan_to_num, nextafter
    as NextAfter, nextafter, round as Rint, round as Round, round, signbit, square_sum_all as
    SquareSumAll, squared_difference as SquaredDifference, trunc as Trunc, trunc,
)
from mycel.ops.math.fourier import (
    fft, fft2, fft_with_size as FFTWithSize, fftfreq, fftn, fftshift, hfft, hfft2, hfftn, ifft,
    ifft2, ifftn, ifftshift, ihfft, ihfft2, ihfftn, irfft, irfft2, irfftn, rfft, rfft2, rfftfreq,
    rfftn,
)
from mycel.ops.math.linear import (
    addbmm, addmm, addmv, addr, baddbmm, batch_mat_mul as BatchMatMul, bmm, cdist as Cdist, cdist,
    cross as Cross, cross, dense as Dense, dense, dot, einsum, einsum_primitive as Einsum, inner,
    kron, mat_mul as MatMul, matmul, matrix_power as MatrixPower, matrix_power, mm, mv, outer as
    Ger, outer as ger, outer, tensor_dot,
)
from mycel.ops.math.matrix_functions import (
    matrix_logarithm as MatrixLogarithm,
)
from mycel.ops.math.powers import (
    exp as Exp, exp, exp2, expm1 as Expm1, expm1, float_power, hypot as Hypot, hypot, ldexp, log as
    Log, log, log10, log1p as Log1p, log1p, log2, logaddexp, logaddexp2, pow as Pow, power as pow,
    reciprocal as Reciprocal, reciprocal, rsqrt as Rsqrt, rsqrt, sqrt as Sqrt, sqrt, square as
    Square, square, xdivy as Xdivy, xdivy, xlogy as Xlogy, xlogy,
)
from mycel.ops.math.products import (
    adjoint, batch_dot, conjugate_transpose as ConjugateTranspose, cov, vander, vecdot,
)
from mycel.ops.math.quantiles import (
    bincount_primitive as Bincount, bucketize as Bucketize, bucketize, equal_count as EqualCount,
    histc as Histogram, histc, histogram_fixed_width as HistogramFixedWidth, lower_bound as
    LowerBound, median, median_primitive as Median, nanmedian, nanquantile, nth_element as
    NthElement, quantile, quantile_primitive as Quantile, search_sorted as SearchSorted, upper_bound
    as UpperBound,
)
from mycel.ops.math.quotients import (
    cumulative_logsumexp as CumulativeLogsumexp, fmax as Fmax, fmax, fmin as Fmin, fmin, inv as Inv,
    inv, mul_no_nan as MulNoNan, population_count as PopulationCount, population_count, trapz,
    truncate_div as TruncateDiv, truncate_div,
)
from mycel.ops.math.reduction import (
    all as ReduceAll, all, any as ReduceAny, any, count_nonzero as CountNonZero, count_nonzero,
    logsumexp, mean as ReduceMean, mean, mean as reduce_mean, nanmean, nansum, prod, reduce_max as
    ReduceMax, reduce_max, reduce_min as ReduceMin, reduce_min, reduce_prod as ReduceProd,
    reduce_sum as ReduceSum, reduce_sum, sum,
)
from mycel.ops.math.segments import (
    segment_max as SegmentMax, segment_mean as SegmentMean, segment_min as SegmentMin, segment_prod
    as SegmentProd, segment_sum as SegmentSum, sparse_segment_mean as SparseSegmentMean,
    sparse_segment_mean, unsorted_segment_prod as UnsortedSegmentProd, unsorted_segment_prod,
)
from mycel.ops.math.short_time import (
    stft, stft_primitive as STFT,
)
from mycel.ops.math.solving import (
    cholesky_inverse as CholeskyInverse, cholesky_inverse, cholesky_solve as CholeskySolve,
    cholesky_solve, lstsq, lstsq_primitive as Lstsq, lu_solve as LuSolve, lu_solve, matrix_inverse
    as MatrixInverse, matrix_solve as MatrixSolve, matrix_solve, matrix_triangular_solve as
    MatrixTriangularSolve,
)
from mycel.ops.math.special import (
    bessel_i0 as BesselI0, bessel_i0, bessel_i0 as i0, bessel_i0e as BesselI0e, bessel_i0e,
    bessel_i1 as BesselI1, bessel_i1, bessel_i1e as BesselI1e, bessel_i1e, bessel_j0 as BesselJ0,
    bessel_j0, bessel_j1 as BesselJ1, bessel_j1, bessel_k0 as BesselK0, bessel_k0, bessel_k0e as
    BesselK0e, bessel_k0e, bessel_k1 as BesselK1, bessel_k1, bessel_k1e as BesselK1e, bessel_k1e,
    bessel_y0 as BesselY0, bessel_y0, bessel_y1 as BesselY1, bessel_y1, betainc as Betainc, eps as
    Eps, eps, igamma as Igamma, igamma, igammac as Igammac, igammac, mvlgamma as Mvlgamma, mvlgamma,
    polygamma, polygamma_primitive as Polygamma, zeta as Zeta, zeta,
)
from mycel.ops.math.statistics import (
    euclidean_norm as EuclideanNorm, l2_normalize as L2Normalize, lp_norm as LpNorm, norm, std,
    std_mean as ReduceStd, std_mean, var, var_mean,
)
from mycel.ops.math.trigonometry import (
    acos as ACos, acos, acos as arccos, acosh as Acosh, acosh, acosh as arccosh, asin as Asin, asin
    as arcsin, asin, asinh as Asinh, asinh as arcsinh, asinh, atan as Atan, atan as arctan, atan,
    atan2 as Atan2, atan2 as arctan2, atan2, atanh as Atanh, atanh as arctanh, atanh, cos as Cos,
    cos, cosh as Cosh, cosh, deg2rad, rad2deg, sin as Sin, sin, sinc as Sinc, sinc, sinh as Sinh,
    sinh, tan as Tan, tan,
)
from mycel.ops.math.windows import (
    bartlett_window as BartlettWindow, bartlett_window, blackman_window as BlackmanWindow,
    blackman_window, hamming_window as HammingWindow, hamming_window, hann_window, kaiser_window,
)
from mycel.ops.nn.activation import (
    celu as CeLU, celu, elu as Elu, elu, fast_gelu as FastGeLU, fast_gelu, gelu as GeLU, gelu, glu
    as GLU, glu, hardshrink as HShrink, hardshrink, hardsigmoid as HSigmoid, hardsigmoid, hardswish
    as HSwish, hardswish, hardtanh, leaky_relu, log_softmax as LogSoftmax, log_softmax, logsigmoid,
    mish as Mish, mish, prelu as PReLU, prelu, relu as ReLU, relu, relu6 as ReLU6, relu6, rrelu,
    selu as SeLU, selu, sigmoid as Sigmoid, sigmoid, silu as SiLU, silu, softmax as Softmax,
    softmax, softmin, softplus as Softplus, softplus, softshrink as SoftShrink, softshrink as
    soft_shrink, softshrink, softsign as Softsign, softsign, tanh as Tanh, tanh, tanh as tanh_,
    tanhshrink, threshold,
)
from mycel.ops.nn.attention import (
    multi_head_attention_forward,
)
from mycel.ops.nn.colours import (
    colour_of as HSVToRGB, hue_of as RGBToHSV, scaled_saturation as AdjustSaturation, turned_hue as
    AdjustHue,
)
from mycel.ops.nn.convolution import (
    bias_add as BiasAdd, bias_add, conv as conv1d, conv as conv2d, conv as conv3d, convolution as
    Conv2D, convolution as Conv3D,
)
from mycel.ops.nn.decoding import (
    edit_distance as EditDistance, no_repeat_ngram as NoRepeatNGram,
)
from mycel.ops.nn.deformable import (
    deformable_conv2d, deformable_offsets as DeformableOffsets,
)
from mycel.ops.nn.detection import (
    bounding_box_decode as BoundingBoxDecode, bounding_box_decode, bounding_box_encode as
    BoundingBoxEncode, bounding_box_encode, check_valid as CheckValid, check_valid, choice_with_mask
    as RandomChoiceWithMask, choice_with_mask, iou as IOU, iou, nms_with_mask as NMSWithMask,
)
from mycel.ops.nn.dropout import (
    dropout, dropout_channels as dropout1d, dropout_channels as dropout2d, dropout_channels as
    dropout3d, dropout_channels_with_mask as Dropout2D, dropout_channels_with_mask as Dropout3D,
    dropout_do_mask as DropoutDoMask, dropout_gen_mask as DropoutGenMask, dropout_with_mask as
    Dropout,
)
from mycel.ops.nn.embedding import (
    embedding, embedding_lookup as EmbeddingLookup, sub_and_filter as SubAndFilter,
)
from mycel.ops.nn.fractional_pooling import (
    fractional_average_pool_rows as FractionalAvgPool, fractional_max_pool_rows as FractionalMaxPool,
)
from mycel.ops.nn.fused_attention import (
    flash_attention as FlashAttentionScore, flash_attention_score, prompt_flash_attention as
    PromptFlashAttention, speed_fusion_attention,
)
from mycel.ops.nn.loss import (
    binary_cross_entropy as BinaryCrossEntropy, binary_cross_entropy,
    binary_cross_entropy_with_logits as BCEWithLogitsLoss, binary_cross_entropy_with_logits,
    cross_entropy, kl_div as KLDivLoss, kl_div, nll_loss, nll_with_weight as NLLLoss,
    sigmoid_cross_entropy_with_logits as SigmoidCrossEntropyWithLogits,
    softmax_cross_entropy_with_logits as SoftmaxCrossEntropyWithLogits,
    softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits as
    SparseSoftmaxCrossEntropyWithLogits, sparse_softmax_cross_entropy_with_logits,
)
from mycel.ops.nn.margins import (
    cosine_embedding_loss, gaussian_nll_loss, hinge_embedding_loss, l2_loss as L2Loss,
    margin_ranking_loss, multi_margin_loss as MultiMarginLoss, multi_margin_loss,
    multilabel_margin_loss, multilabel_margin_with_hits as MultilabelMarginLoss,
    multilabel_soft_margin_loss, soft_margin_loss as SoftMarginLoss, soft_margin_loss,
    triplet_margin_loss as TripletMarginLoss, triplet_margin_loss,
)
from mycel.ops.nn.normalization import (
    batch_norm, batch_norm_with_statistics as BatchNorm, group_norm, layer_norm,
    layer_norm_with_statistics as LayerNorm, lrn as LRN, lrn, rms_norm as RmsNorm, rms_norm,
)
from mycel.ops.nn.padding import (
    mirror_pad as MirrorPad, mirror_pad, pad as PadV3, pad, pad_pairs as Pad, padded_tail as
    Padding, padded_tail as padding,
)
from mycel.ops.nn.paged_attention import (
    paged_attention as PagedAttention, paged_attention as PagedAttentionMask, reshape_and_cache as
    ReshapeAndCache,
)
from mycel.ops.nn.patches import (
    col2im as Col2Im, col2im, depth_to_space as DepthToSpace, extract_image_patches as
    ExtractImagePatches, fold, im2col as Im2Col, pixel_shuffle, pixel_unshuffle, space_to_depth as
    SpaceToDepth,
)
from mycel.ops.nn.pooling import (
    adaptive_avg_pool as AdaptiveAvgPool2D, adaptive_avg_pool as AdaptiveAvgPool3D,
    adaptive_avg_pool as adaptive_avg_pool1d, adaptive_avg_pool as adaptive_avg_pool2d,
    adaptive_avg_pool as adaptive_avg_pool3d, avg_pool as avg_pool1d, avg_pool as avg_pool2d,
    avg_pool as avg_pool3d, max_pool as MaxPool, max_pool2d, max_pool_with_argmax as
    MaxPoolWithArgmax, mean_pool as AvgPool, unfold,
)
from mycel.ops.nn.positions import (
    add_rms_norm as AddRmsNorm, add_rms_norm, apply_rotary_pos_emb as ApplyRotaryPosEmb,
    apply_rotary_pos_emb as apply_rotary_pos_emb_, rotary_position_embedding as
    RotaryPositionEmbedding, rotary_position_embedding, swiglu as Swiglu, swiglu,
)
from mycel.ops.nn.recurrent import (
    dynamic_gru as DynamicGRUV2, dynamic_rnn as DynamicRNN, lstm_of_one_weight as LSTM,
)
from mycel.ops.nn.regions import (
    crop_and_resize as CropAndResize, crop_and_resize, psroi_pooling as PSROIPooling, psroi_pooling
    as PsROIPooling, roi_align as ROIAlign,
)
from mycel.ops.nn.regression_loss import (
    huber_loss, l1_loss, mse_loss, smooth_l1_loss as SmoothL1Loss, smooth_l1_loss,
)
from mycel.ops.nn.resizing import (
    interpolate, interpolate as upsample, resize_images as ResizeBicubic, resize_images as
    ResizeBilinear, resize_images as ResizeBilinearV2, resize_images as ResizeNearestNeighbor,
    resize_images as ResizeNearestNeighborV2, resize_linear1d as ResizeLinear1D, resize_volumes as
    UpsampleNearest3D, resize_volumes as UpsampleTrilinear3D, resized_by_area as ResizeArea,
)
from mycel.ops.nn.sampling import (
    affine_grid as AffineGrid, affine_grid, grid_sample as GridSampler2D, grid_sample as
    GridSampler3D, grid_sample,
)
from mycel.ops.nn.scaled_images import (
    scale_and_translate as ScaleAndTranslate,
)
from mycel.ops.nn.sequence_loss import (
    ctc_greedy_decoder as CTCGreedyDecoder, ctc_greedy_decoder, ctc_loss as CTCLossV2, ctc_loss,
    ctc_loss_of_logits as CTCLoss,
)
from mycel.ops.nn.transposed import (
    conv2d_backprop_input as Conv2DBackpropInput, conv2d_backprop_input as Conv2DTranspose,
    conv3d_transpose as Conv3DTranspose, conv_transpose as conv_transpose2d, depthwise_conv2d as
    DepthwiseConv2dNative,
)
from mycel.ops.nn.unpooling import (
    fractional_max_pool as fractional_max_pool2d, fractional_max_pool as fractional_max_pool3d,
    fractional_max_pool_of_samples as FractionalMaxPool3DWithFixedKsize,
    fractional_max_pool_of_samples as FractionalMaxPoolWithFixedKsize, lp_pool as lp_pool1d, lp_pool
    as lp_pool2d, max_pool3d_with_positions as MaxPool3DWithArgmax, max_pool_with_positions as
    MaxPoolWithArgmaxV2, max_unpool as MaxUnpool2D, max_unpool as MaxUnpool3D, max_unpool as
    max_unpool1d, max_unpool as max_unpool2d, max_unpool as max_unpool3d,
)
from mycel.ops.nn.volumes import (
    adaptive_max_pool1d, adaptive_max_pool3d, adaptive_max_pool_image as AdaptiveMaxPool2D,
    adaptive_max_pool_volume as AdaptiveMaxPool3D, max_pool3d, max_pool_volume as MaxPool3D,
    mean_pool_volume as AvgPool3D,
)
from mycel.ops.random.candidates import (
    log_uniform_candidate_sampler as LogUniformCandidateSampler, log_uniform_candidate_sampler,
    uniform_candidate_sampler as UniformCandidateSampler, uniform_candidate_sampler,
)
from mycel.ops.random.choices import (
    gumbel_softmax, multinomial as Multinomial, multinomial as MultinomialWithReplacement,
    multinomial, multinomial as multinomial_with_replacement, random_categorical as
    RandomCategorical, random_categorical, randperm as RandpermV2, randperm, shuffle as
    RandomShuffle, shuffle,
)
from mycel.ops.random.distributions import (
    gamma as Gamma, gamma, laplace, poisson as Poisson, random_gamma as RandomGamma, random_gamma,
    random_poisson, random_poisson_primitive as RandomPoisson, randperm_primitive as Randperm,
    standard_laplace as StandardLaplace, standard_laplace,
)
from mycel.ops.random.drawing import (
    bernoulli as Bernoulli, bernoulli, normal, rand, rand_like, randint, randint_like, randn,
    randn_like, standard_normal as StandardNormal, standard_normal, truncated_normal as
    TruncatedNormal, uniform, uniform_int as UniformInt, uniform_real as UniformReal,
)
from mycel.ops.sparse.sparse_functions import (
    coalesce as Coalesce, coo_add, coo_concat, csr_add, csr_div, csr_gather, csr_mm, csr_mul,
    csr_mv, csr_reduce_sum, csr_softmax, csr_to_coo, csr_to_dense, dense_to_sparse_coo,
    dense_to_sparse_csr, make_row_tensor, sparse_slice as SparseSlice, sparse_tensor_dense_add as
    SparseTensorDenseAdd, sparse_tensor_dense_matmul as SparseTensorDenseMatmul, sparse_to_dense as
    SparseToDense,
)
from mycel.ops.spelled.in_place_methods import (
    bernoulli_, clamp_, exponential_, normal_, random_, uniform_, zero_,
)
from mycel.ops.spelled.in_place_places import (
    index_put as IndexPut, masked_scatter as MaskedScatter, put_,
)
from mycel.ops.spelled.mint_variants import (
    adaptive_max_pool2d_with_indices as adaptive_max_pool2d,
)
from mycel.ops.update.clipping import (
    clip_by_global_norm, clip_by_norm, float_status as FloatStatus,
)
from mycel.ops.update.descent_updates import (
    apply_centered_root_mean_square as ApplyCenteredRMSProp, apply_ftrl as ApplyFtrl,
    apply_gradient_descent as ApplyGradientDescent, apply_keras_momentum as ApplyKerasMomentum,
    apply_momentum as ApplyMomentum, apply_momentum_with_decay as FusedWeightScaleApplyMomentum,
    apply_proximal_adagrad as ApplyProximalAdagrad, apply_proximal_gradient_descent as
    ApplyProximalGradientDescent, apply_root_mean_square as ApplyRMSProp, apply_stochastic_descent
    as SGD, layerwise_update as LARSUpdate,
)
from mycel.ops.update.overflow import (
    check_numerics as CheckNumerics,
)
from mycel.ops.update.sparse_updates import (
    apply_fused_sparse_ftrl as FusedSparseFtrl, apply_fused_sparse_proximal as
    FusedSparseProximalAdagrad, apply_lazy_adam as FusedSparseLazyAdam, apply_sparse_adadelta as
    SparseApplyAdadelta, apply_sparse_adagrad as SparseApplyAdagrad, apply_sparse_adagrad_shifted as
    SparseApplyAdagradV2, apply_sparse_adam as FusedSparseAdam, apply_sparse_ftrl as
    SparseApplyFtrl, apply_sparse_proximal as SparseApplyProximalAdagrad,
    apply_sparse_root_mean_square as SparseApplyRMSProp,
)
from mycel.ops.update.updates import (
    apply_ada_max as ApplyAdaMax, apply_adadelta as ApplyAdadelta, apply_adagrad as ApplyAdagrad,
    apply_adagrad_dual as ApplyAdagradDA, apply_adagrad_shifted as ApplyAdagradV2, apply_adam as
    Adam, apply_adam_step as AdamNoUpdateParam, apply_adam_weight_decay as AdamWeightDecay,
    apply_adam_weight_decay_scaled as FusedCastAdamWeightDecay, apply_adam_with_amsgrad as
    ApplyAdamWithAmsgrad, apply_adam_with_amsgrad_settings as ApplyAdamWithAmsgradV2, apply_add_sign
    as ApplyAddSign, apply_power_sign as ApplyPowerSign, assign_add as AssignAdd, assign_add,
    assign_sub as AssignSub, assign_sub,
)
