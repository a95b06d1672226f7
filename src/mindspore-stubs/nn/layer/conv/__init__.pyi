# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.conv means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.compat.internals import check_input_3d as __check_input_3d  # pyright: ignore
_check_input_3d = __check_input_3d  # pyright: ignore
from mycel.compat.layers import ConvolutionBase as __Conv  # pyright: ignore
_Conv = __Conv  # pyright: ignore
from mycel.compat.layers import deconvolution_length as __deconv_output_length  # pyright: ignore
_deconv_output_length = __deconv_output_length  # pyright: ignore
