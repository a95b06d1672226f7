# SPDX-License-Identifier: Apache-2.0
"""Which type a parameter has in a stub: by what it fills, by its default, by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter

from mycel.kernel.base.dtypes import DType
from mycel.kernel.define.definition import Definition
from mycel.kernel.spell.spelling import REQUIRED, Argument

# By public name, where neither the definition nor the default tells it. Those whose default
# is None take None too.
NAMED = {
    "Axes": "axis axes dim dims axis0 axis1 axis2 dim0 dim1 dim2",
    "DTypeLike": "dtype out_type out_idx Tsplits argmax_type output_type type",
    "Int": "k n groups group num_segments window_length seed seed2 Seed0 Seed1 out_channel"
    " block_size upscale_factor downscale_factor depth num chunks head_num num_heads num_classes"
    " num_samples num_sample num_groups nbins lengths_count N in_channel channel_multiplier"
    " split_size output_num diagonal offset embed_dim_to_check seq_dim batch_dim n_fft"
    " hop_length win_length step_count steps maxlen num_rois ignore_index",
    "Sizes": "size shape kernel_size stride padding dilation dilations output_size strides pads"
    " pad paddings ksize ksizes block_shape crops shifts repeats reps perm sizes normalized_shape"
    " output_shape input_size crop_size output_padding begin end pad_list pad_num sparse_shape"
    " s lengths signal_sizes new_shape dense_shape scales rates out_dim length rep",
    "Str": "reduction mode norm equation data_format pad_mode padding_mode approximate align"
    " rounding_mode side input_layout direction activation reduce indexing method"
    " coordinate_transformation_mode interpolation_mode order gate_order cell_type",
    "Random": "generator",
    "Bool": "keepdim keepdims keep_dims align_corners ceil_mode training onesided return_complex"
    " normalized recompute_scale_factor sorted use_norm add_zero_attn",
    "Scalar": "alpha beta eps epsilon lr p momentum value fill_value min max min_val max_val lambd"
    " clip_value_min clip_value_max learning_rate l1 l2 lr_power decay weight_decay rho"
    " beta1 beta2 beta1_power beta2_power norm_type max_norm maxnorm dropout_p margin delta"
    " exponent nan posinf neginf threshold thresh spatial_scale start stop step base low high"
    " minval maxval initial rate correction clip_norm on_value off_value std stddev"
    " keep_prob label_smoothing ddof lambda_param divisor_override scale_factor",
}
KINDS = {name: kind for kind, names in NAMED.items() for name in names.split()}
# What may be something else besides.
WIDER = {
    "padding": " | _Str",
    "pads": " | _Str",
    "ord": " | _Str",
    "p": " | _Str",
    "scale_factor": " | _Sizes",
    "bins": " | _Sizes",
    "output_size": " | None",
    "num_classes": " | None",
    "k": " | _Sizes",
    "n": " | _Sizes",
    "dims": " | _Tensor",
    "block_size": " | _Sizes",
    "high": " | _Sizes",
}
# Those of a definition's own; a composite may take them as they are.
_BY_DEFAULT = {bool: "_Bool", str: "_Str", float: "_Scalar", complex: "_Scalar"}
_COUNTED = ("Scalar", "Sizes", "Axes", "DTypeLike")


def kind_of(argument: Argument, definition: Definition, arrays: frozenset[str]) -> str:
    """The type of a parameter.

    Args:
        arrays: public names that are arrays wherever an operator takes them.
    """
    name, inner, default = argument.public, argument.inner, argument.default
    known = KINDS.get(name, "")
    is_array = inner in definition.arrays or inner == definition.variadic
    if argument.spread:
        return f"_{known}" if known in ("Sizes", "Axes") else "_Any"
    if is_array and not definition.composite:
        kind = "_TensorLike"
    elif isinstance(default, DType):
        kind = "_DTypeLike"
    elif type(default) in _BY_DEFAULT and known not in _COUNTED:
        kind = _BY_DEFAULT[type(default)]
    elif known and not (known == "Str" and type(default) is int):
        kind = f"_{known}"
    elif type(default) is int:
        kind = "_Int"
    elif type(default) is tuple:
        kind = "_Sizes"
    elif name in arrays:
        kind = "_TensorLike"
    else:
        return "_Any"
    kind += WIDER.get(name, "")
    may_be_none = default is None or inner in definition.optional
    return f"{kind} | None" if may_be_none and "None" not in kind else kind


def default_of(argument: Argument, is_optional: bool) -> str:
    """How a parameter's default is written."""
    default = argument.default
    if default is REQUIRED:
        return " = ..." if is_optional else ""
    if default is None or isinstance(default, (bool, int, str)):
        return f" = {default!r}"
    if isinstance(default, float) and default == default and abs(default) != float("inf"):
        return f" = {default!r}"
    return " = ()" if default == () else " = ..."


# Those of layers and optimisers, besides.
_SETTINGS = {
    "Initial": "embedding_table",
    "Rate": "learning_rate lr",
    "Activation": "activation act hidden_act encoder_activation decoder_activation",
    "Sizes": "output_size eps_shape target_size",
    "Int": "in_channels out_channels hidden_size num_layers in_features out_features",
    "Scalar": "loss_scale ratio scale_factor drop_rate dropout p weight_decay smoothing",
}
_OF_SETTINGS = {name: kind for kind, names in _SETTINGS.items() for name in names.split()}


def kind_of_setting(name: str, default) -> str:
    """The type of a parameter with which a layer or an optimiser is made; `Parameter.empty` if
    there is no default."""
    known = _OF_SETTINGS.get(name) or ("Initial" if name.endswith("_init") else KINDS.get(name))
    if isinstance(default, DType):
        kind = "_DTypeLike"
    elif isinstance(default, bool):
        kind = "_Bool"
    elif known:
        kind = f"_{known}" + WIDER.get(name, "")
    elif isinstance(default, float):
        kind = "_Scalar"
    elif isinstance(default, (int, str)):
        kind = f"_{type(default).__name__.title()}"
    else:
        return "_Any"
    if default is None:
        return kind if "None" in kind else f"{kind} | None"
    return kind.removesuffix(" | None") if default is Parameter.empty else kind


def written_parameters(
    parameters: Iterable[Parameter], kind_of_one: Callable[[Parameter], str]
) -> str:
    """Parameters as a stub has them."""
    written: list[str] = []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not any(text.startswith("*") for text in written):
            written.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = one.default
        known = isinstance(default, (bool, int, str, float, type(None)))
        value = "" if default is one.empty else f" = {repr(default) if known else '...'}"
        written.append(f"{stars}{one.name}: {'_Any' if stars else kind_of_one(one)}{value}")
    return ", ".join(written)
