# SPDX-License-Identifier: Apache-2.0
"""The names of Ops, taken apart, and those that users know them by."""

from __future__ import annotations

from typing import NamedTuple

# The operator that adds two gradients of one Value.
ADDS_GRADIENTS = "add_gradients"


class Name(NamedTuple):
    """The name of an Op, taken apart.

    Attributes:
        operator: the operator that it is made of.
        maps: how often `vmap` is around it; `rows`: how many of its first axes are rows of that.
        reverse: whether it is a reverse.
    """

    operator: str
    maps: int
    rows: int
    reverse: bool


def name_of(op: str) -> Name:
    """Take apart the name of an Op, as `vmap(log')`."""
    maps, rows, reverse = 0, 0, False
    while True:
        if op.endswith("'"):
            op, reverse = op[:-1], True
        elif op.startswith("vmap(") and op.endswith(")"):
            op, maps, rows = op[5:-1], maps + 1, rows + (not reverse)
        else:
            return Name(op, maps, rows, reverse)


def makes_gradients(op: str) -> bool:
    """Whether an Op of this name makes gradients: a reverse, or what adds them."""
    name = name_of(op)
    return name.operator == ADDS_GRADIENTS or name.reverse


# Parts of public operators, and operators whose own names say less than one of their public ones.
PARTS = {
    "affine": "dense", "integer_pow": "pow", "pow": "pow", "convert": "cast", "identity": "copy",
    "read_index": "getitem", "write_index": "setitem",
    "write_where": "setitem", "written_at": "setitem", "repeat_along": "repeat", "filled": "full",
    "split_at": "split", "one_hot_values": "one_hot", "linspace_values": "linspace",
    "eye_values": "eye", "truncated_div": "div", "differences": "diff",
    "max_with_index": "max", "min_with_index": "min", "condition_number": "cond",
    "clamp_both": "clamp", "clamp_below": "clamp", "clamp_above": "clamp",
    "quantiles": "quantile", "root_of_squares": "norm", "draw_uniform": "uniform",
    "draw_normal": "normal", "draw_integers": "randint", "draw_bernoulli": "bernoulli",
    "draw_truncated_normal": "truncated_normal", "draw_order": "randperm",
    "draw_choices": "multinomial", "draw_categories": "multinomial", "draw_poisson": "poisson",
    "scaled_uniform": "uniform", "scaled_normal": "normal", "scaled_gamma": "gamma",
    "scaled_laplace": "laplace", "drop": "dropout", "attention_weights": "attention",
    "weighted_values": "attention", "embedding_rows": "embedding", "windows_largest": "max_pool",
    "windows_average": "avg_pool", "window_maximum": "max_pool", "window_mean": "avg_pool",
    "window_argmax": "max_pool", "pad_constant": "pad", "pad_from_inside": "pad",
    "batch_norm_training": "batch_norm", "batch_norm_inference": "batch_norm",
    "normalized": "layer_norm", "softmax_statistics": "softmax", "row_softmax": "softmax",
    "cross_entropies_of_classes": "cross_entropy", "multilabel_margins": "multilabel_margin_loss",
    "transposed_convolution": "conv_transpose", "grid_samples": "grid_sample",
    "affine_points": "affine_grid", "resized": "interpolate", "regions_mean": "adaptive_avg_pool",
    "regions_maximum": "adaptive_max_pool", "regions_argmax": "adaptive_max_pool",
    "recurrent_step": "rnn_cell", "ctc_counted": "ctc_loss", "ctc_of_counted": "ctc_loss",
    "ctc_gathered": "ctc_loss", "ctc_of_gathered": "ctc_loss", "scattered": "scatter",
    "values_at": "gather", "concatenated": "concat", "product": "matmul", "descend": "sgd",
    "adam_of_step": "adam", "momentum_of_step": "momentum", "gradient_with_decay": "weight_decay",
    "scale_to_global_norm": "clip_by_global_norm", "scale_to_norm": "clip_by_norm",
    "overflows": "all_finite", "unravelled_indices": "UnravelIndex",
}  # fmt: skip


def public_name(name: str, names: list[str] | None, called: str = "") -> str:
    """What users call an operator.

    Args:
        name: its own, as of `name_of`.
        names: those that are public, as `ops.relu`; empty for a part of other operators, None for
            what no definition made.
        called: what it was called by, as `called_by` or `called_at` say, which goes before public
            names that are spelled otherwise than its own.

    Example:
        >>> from mycel.kernel.define.names import public_name
        >>> public_name("relu", ["ops.relu"]), public_name("affine", [])
        ('relu', 'dense')
        >>> public_name("affine", [], "Dense")
        'Dense'
    """
    last = [public.rpartition(".")[2] for public in names or ()]
    if names is None or name in last:
        return name
    if called or name in PARTS:
        return called or PARTS[name]
    if not last or (len(set(last)) > 1 and all(other.startswith(name) for other in last)):
        return name  # ops.conv1d, conv2d and conv3d are all `conv`
    return next((other for other in last if other[0].islower()), last[0])
