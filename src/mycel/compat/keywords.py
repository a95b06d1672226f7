# SPDX-License-Identifier: Apache-2.0
"""Keywords that have another name: older ones, and those of a second list of parameters.

Older MindSpore had the former and 2.10 has renamed them; they are noted in the log.

Only the functions named here have a check for them (see kernel.spell.other_keywords).
"""

from __future__ import annotations

from collections.abc import Callable

from mycel.kernel.base.dtypes import int32
from mycel.kernel.base.errors import wrong
from mycel.kernel.spell.other_keywords import OtherKeywords

# By function: the older keyword, and the one to write instead; a value may need a change too.
RENAMED = {
    "ops.argmax": {"axis": "dim", "keepdims": "keepdim"},
    "ops.avg_pool2d": {"strides": "stride", "pad_mode": "padding"},
    "ops.bernoulli": {"x": "input"},
    "ops.binary_cross_entropy_with_logits": {"logits": "input", "label": "target"},
    "ops.concat": {"input_x": "tensors"},
    "ops.conv2d": {"inputs": "input", "group": "groups"},
    "ops.dot": {"x1": "input", "x2": "other"},
    "ops.grid_sample": {"input_x": "input", "interpolation_mode": "mode"},
    "ops.interpolate": {"x": "input"},
    "ops.linspace": {"stop": "end", "num": "steps"},
    "ops.logsumexp": {"axis": "dim", "keep_dims": "keepdim"},
    "ops.max": {"x": "input", "keep_dims": "keepdims"},
    "ops.min": {"x": "input", "keep_dims": "keepdims"},
    "ops.multinomial": {"inputs": "input", "num_sample": "num_samples"},
    "ops.norm": {"input_x": "A", "axis": "dim", "p": "ord", "keep_dims": "keepdim"},
    "ops.ones": {"type": "dtype"},
    "ops.pad": {"paddings": "padding"},
    "ops.softmax": {"x": "input"},
    "ops.split": {"input_x": "tensor", "output_num": "split_size_or_sections"},
    "ops.transpose": {"input_x": "input", "input_perm": "dims"},
}

# MindSpore 2.10 calls these with either of two words; ours is the second. None is older.
ALSO = {
    "Tensor.argsort": {"dim": "axis"},
    "Tensor.chunk": {"dim": "axis"},
    "Tensor.expand_as": {"x": "other"},
    "Tensor.index_select": {"dim": "axis"},
    "Tensor.isclose": {"x2": "other"},
    "Tensor.logical_and": {"y": "other"},
    "Tensor.logical_or": {"y": "other"},
    "Tensor.matmul": {"other": "tensor2"},
    "Tensor.nansum": {"dim": "axis", "keepdim": "keepdims"},
    "Tensor.narrow": {"dim": "axis"},
    "Tensor.remainder": {"divisor": "other"},
    "Tensor.scatter": {"dim": "axis"},
    "Tensor.sort": {"dim": "axis"},
    "Tensor.split": {"dim": "axis", "split_size_or_sections": "split_size"},
    "Tensor.sub": {"y": "other"},
    "Tensor.sub_": {"y": "other"},
    "Tensor.take": {"index": "indices"},
    "Tensor.unsqueeze": {"axis": "dim"},
    "Tensor.where": {"other": "y"},
    "mint.max": {"other": "dim"},
    "mint.min": {"other": "dim"},
}


def _only_without_padding(newer: dict) -> None:
    mode = newer["padding"]
    if str(mode).lower() != "valid":
        expected = "'valid'; write ops.AvgPool(kernel_size, strides, pad_mode)(x) for others"
        raise wrong(ValueError, "avg_pool2d: pad_mode", expected, repr(mode))
    newer["padding"] = 0


def _of_vectors(newer: dict) -> None:
    """The older norm took all its dimensions together, as one vector."""
    axis, order = newer["dim"], newer["ord"]
    if isinstance(axis, (tuple, list)) and len(axis) > 1:
        if order not in (2, None):
            expected = "2 for several axes; write (x.abs() ** p).sum(axis) ** (1 / p)"
            raise wrong(ValueError, "norm: p", expected, order)
        newer["ord"] = None


def _into_equal_parts(newer: dict) -> None:
    count, x = newer["split_size_or_sections"], newer["tensor"]
    length = x.shape[newer["axis"]]
    if length % count:
        raise wrong(ValueError, "split: output_num", f"a divisor of {length}", count)
    newer["split_size_or_sections"] = length // count


def _of_the_first_axis(newer: dict) -> None:
    """The older extremes went along axis 0 unless told otherwise, never over all elements."""
    if newer["axis"] is None:
        newer["axis"] = 0


def _indices_first(answer: tuple) -> tuple:
    """The older extremes gave (Int32 indices, values), as ArgMaxWithValue still does."""
    values, indices = answer
    return indices.astype(int32), values


# By function and older keyword: what becomes of the value, given all the newer ones.
CHANGED: dict[tuple[str, str], Callable[[dict], None]] = {
    ("ops.avg_pool2d", "pad_mode"): _only_without_padding,
    ("ops.max", "keep_dims"): _of_the_first_axis,
    ("ops.max", "x"): _of_the_first_axis,
    ("ops.min", "keep_dims"): _of_the_first_axis,
    ("ops.min", "x"): _of_the_first_axis,
    ("ops.norm", "axis"): _of_vectors,
    ("ops.split", "output_num"): _into_equal_parts,
}

# By function: what makes the older answer of the newer one, and how the newer one differs.
ANSWERED: dict[str, Callable[[tuple], tuple]] = {
    "ops.max": _indices_first,
    "ops.min": _indices_first,
}
DIFFERENCE = dict.fromkeys(
    ANSWERED, ", which gives (values, indices), and of all elements without an axis"
)

# What `kernel.spell` writes such functions by.
OTHER = {
    name: OtherKeywords(
        words,
        name in RENAMED,
        {word: CHANGED[name, word] for word in words if (name, word) in CHANGED},
        ANSWERED.get(name),
        DIFFERENCE.get(name, ""),
    )
    for name, words in (RENAMED | ALSO).items()
}
