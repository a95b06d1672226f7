# SPDX-License-Identifier: Apache-2.0
"""What primitives of JAX do, in NumPy, where both mean the same.

A rule is given an equation of a traced function and the names of its open lengths; it returns
`run(sizes, *inputs)`. Numbers are of the types that NumPy and XLA compute alike: float32, float64,
integers and truth values. Where they differ (integers divided, numbers beyond the range of
integers) there is no rule.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

RULES: dict[str, Callable] = {}

# Primitives that work on each element by itself.
ELEMENTWISE = frozenset((
    "acos", "acosh", "add", "and", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e",
    "bessel_i1e", "cbrt", "ceil", "clamp", "convert_element_type", "cos", "cosh", "digamma", "div",
    "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "igamma",
    "igammac", "integer_pow", "is_finite", "le", "lgamma", "log", "log1p", "logistic", "lt",
    "max", "min", "mul", "ne", "neg", "nextafter", "not", "one_minus_square", "or", "polygamma",
    "polynomial", "population_count", "pow", "rem", "round", "rsqrt", "select_n", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "sub",
    "tan", "tanh", "xor", "zeta", "clz",
))  # fmt: skip

# The programs inside of a program, by the name that they have in it.
_INSIDE = ("jaxpr", "call_jaxpr", "fun_jaxpr")
# Primitives that call a program, and do nothing else.
CALLS = frozenset((
    "jit", "pjit", "closed_call", "core_call", "remat", "checkpoint", "remat2",
    "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
))  # fmt: skip


class Unknown(Exception):
    """NumPy cannot do this as XLA does."""


def lengths(
    shape: Sequence, names: tuple[str, ...], **others: Callable
) -> Callable[[tuple[int, ...]], tuple]:
    """Lengths that may be open, as a function of the sizes of the open ones.

    Args:
        others: in place of Python's `max` and `min`, for sizes that are arrays.
    """
    if all(isinstance(length, (int, np.integer)) for length in shape):
        fixed = tuple([int(length) for length in shape])
        return lambda sizes: fixed
    parts = "".join(f"{str(length).replace('^', '**')}, " for length in shape)
    known = {"floordiv": operator.floordiv, "mod": operator.mod, "max": max, "min": min, **others}
    # The text is JAX's own: sums and products of the names.
    text = f"lambda sizes: (lambda {', '.join(names)}: ({parts}))(*sizes)"
    # Not from "<string>", where code of users may be from, which is looked into.
    return eval(compile(text, "<mycel lengths>", "eval"), known)


def called(equation) -> tuple[Any, Sequence]:
    """The program that an equation calls, and its constants; None if it is not known."""
    known = [equation.params[part] for part in _INSIDE if part in equation.params]
    closed = known[0] if known else None
    return getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())


def _rule(*names: str):
    def known(function):
        for name in names:
            RULES[name] = function
        return function

    return known


def _kind(equation) -> str:
    return equation.invars[0].aval.dtype.kind


def _plainly(function) -> Callable:
    return lambda equation, names: lambda sizes, *inputs: function(*inputs)


def _for_floats(function) -> Callable:
    def rule(equation, names):
        if _kind(equation) != "f":
            raise Unknown(equation.primitive.name)
        return lambda sizes, *inputs: function(*inputs)

    return rule


RULES |= {
    name: _plainly(function)
    for name, function in {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative,
        "add_any": np.add,
        "max": np.maximum, "min": np.minimum, "eq": np.equal, "ne": np.not_equal, "lt": np.less,
        "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "not": np.invert,
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "square": np.square,
        "copy": lambda x: x, "copy_p": lambda x: x, "stop_gradient": lambda x: x,
    }.items()
}  # fmt: skip
RULES |= {
    name: _for_floats(function)
    for name, function in {
        "div": np.divide, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log1p": np.log1p,
        "expm1": np.expm1, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt,
        "floor": np.floor, "ceil": np.ceil, "is_finite": np.isfinite, "rem": np.fmod,
        "rsqrt": lambda x: np.reciprocal(np.sqrt(x)),
        "one_minus_square": lambda x: (1 + x) * (1 - x),
        "logistic": lambda x: np.reciprocal(1 + np.exp(-x)),
        "sign": lambda x: np.where(x == 0, x, np.sign(x)),
    }.items()
}  # fmt: skip


@_rule("abs")
def _abs(equation, names):
    return lambda sizes, x: np.abs(x)


@_rule("pow")
def _pow(equation, names):
    if any(var.aval.dtype.kind != "f" for var in equation.invars):
        raise Unknown("pow")
    return lambda sizes, x, y: np.power(x, y)


@_rule("integer_pow")
def _integer_pow(equation, names):
    exponent = equation.params["y"]
    if exponent < 0 and _kind(equation) != "f":
        raise Unknown("integer_pow")

    def run(sizes, x):
        result, factor, left = None, x, abs(exponent)
        while left:
            if left & 1:
                result = factor if result is None else result * factor
            left >>= 1
            if left:
                factor = factor * factor
        if result is None:
            return np.ones_like(x)
        return np.reciprocal(result) if exponent < 0 else result

    return run


@_rule("round")
def _round(equation, names):
    if equation.params["rounding_method"] != lax.RoundingMethod.TO_NEAREST_EVEN:
        raise Unknown("round")
    return lambda sizes, x: np.rint(x)


@_rule("select_n")
def _select(equation, names):
    if _kind(equation) != "b" or len(equation.invars) != 3:
        raise Unknown("select_n")
    return lambda sizes, which, first, second: np.where(which, second, first)


@_rule("clamp")
def _clamp(equation, names):
    return lambda sizes, low, x, high: np.minimum(np.maximum(x, low), high)


@_rule("convert_element_type")
def _convert(equation, names):
    kind = np.dtype(equation.params["new_dtype"])
    if _kind(equation) == "f" and kind.kind in "iu":
        raise Unknown("convert_element_type")
    return lambda sizes, x: x.astype(kind, copy=False)


@_rule("bitcast_convert_type")
def _same_bits(equation, names):
    kind = np.dtype(equation.params["new_dtype"])
    if kind.itemsize != equation.invars[0].aval.dtype.itemsize:
        raise Unknown("bitcast_convert_type")
    return lambda sizes, x: x.view(kind)


# -- shapes -----------------------------------------------------------------------------------


@_rule("dim_as_value")
def _length(equation, names):
    length, kind = lengths([equation.params["dim"]], names), equation.outvars[0].aval.dtype
    return lambda sizes: np.asarray(length(sizes)[0], kind)


@_rule("broadcast_in_dim")
def _broadcast(equation, names):
    shape = lengths(equation.params["shape"], names)
    rank, places = len(equation.params["shape"]), equation.params["broadcast_dimensions"]
    if len(equation.invars) != 1:
        raise Unknown("broadcast_in_dim")
    if not places:
        return lambda sizes, x: np.broadcast_to(x, shape(sizes))

    def run(sizes, x):
        view = [1] * rank
        for place, length in zip(places, x.shape, strict=True):
            view[place] = length
        return np.broadcast_to(x.reshape(view), shape(sizes))

    return run


@_rule("empty")
def _empty(equation, names):
    shape, kind = lengths(equation.params["shape"], names), np.dtype(equation.params["dtype"])
    return lambda sizes: np.zeros(shape(sizes), kind)


@_rule("reshape")
def _reshape(equation, names):
    shape = lengths(equation.params["new_sizes"], names)
    if equation.params.get("dimensions") is not None or len(equation.invars) != 1:
        raise Unknown("reshape")
    return lambda sizes, x: np.reshape(x, shape(sizes))


@_rule("transpose")
def _transpose(equation, names):
    order = equation.params["permutation"]
    return lambda sizes, x: np.transpose(x, order)


@_rule("squeeze")
def _squeeze(equation, names):
    axes = tuple(equation.params["dimensions"])
    return lambda sizes, x: np.squeeze(x, axes)


@_rule("expand_dims")
def _expand(equation, names):
    axes = tuple(equation.params["dimensions"])
    return lambda sizes, x: np.expand_dims(x, axes)


@_rule("concatenate")
def _concatenate(equation, names):
    axis = equation.params["dimension"]
    return lambda sizes, *parts: np.concatenate(parts, axis)


@_rule("split")
def _split(equation, names):
    parts, axis = lengths(equation.params["sizes"], names), equation.params["axis"]
    return lambda sizes, x: np.split(x, np.cumsum(parts(sizes))[:-1], axis)


@_rule("slice")
def _slice(equation, names):
    starts = lengths(equation.params["start_indices"], names)
    ends = lengths(equation.params["limit_indices"], names)
    by = equation.params["strides"]
    steps = lengths(by if by is not None else (1,) * len(equation.params["start_indices"]), names)
    return lambda sizes, x: x[tuple(map(slice, starts(sizes), ends(sizes), steps(sizes)))]


@_rule("dynamic_slice")
def _dynamic_slice(equation, names):
    parts = lengths(equation.params["slice_sizes"], names)

    def run(sizes, x, *starts):
        counts = parts(sizes)
        # As XLA's: one that would end behind the array begins earlier.
        begins = [
            min(max(int(start), 0), whole - count)
            for start, whole, count in zip(starts, x.shape, counts, strict=True)
        ]
        return x[tuple([slice(n, n + count) for n, count in zip(begins, counts, strict=True)])]

    return run


@_rule("rev")
def _reverse(equation, names):
    axes = tuple(equation.params["dimensions"])
    return lambda sizes, x: np.flip(x, axes)


@_rule("pad")
def _pad(equation, names):
    config = equation.params["padding_config"]
    lows, highs, between = [lengths([part[k] for part in config], names) for k in range(3)]

    def run(sizes, x, value):
        low, high, inner = lows(sizes), highs(sizes), between(sizes)
        # With zeros in between, and on the sides; what is negative is cut off behind that.
        spread = [max(n + (n - 1) * k, 0) for n, k in zip(x.shape, inner, strict=True)]
        sides = [n + max(a, 0) + max(b, 0) for n, a, b in zip(spread, low, high, strict=True)]
        whole = np.full(sides, value, x.dtype)
        places = [
            slice(max(a, 0), max(a, 0) + n, k + 1)
            for a, n, k in zip(low, spread, inner, strict=True)
        ]
        whole[tuple(places)] = x
        cut = [slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, sides, strict=True)]
        return whole[tuple(cut)]

    return run


@_rule("iota")
def _iota(equation, names):
    shape, axis = lengths(equation.params["shape"], names), equation.params["dimension"]
    kind, rank = np.dtype(equation.params["dtype"]), len(equation.params["shape"])
    if len(equation.invars):
        raise Unknown("iota")

    def run(sizes):
        whole = shape(sizes)
        view = [1] * rank
        view[axis] = whole[axis]
        return np.broadcast_to(np.arange(whole[axis], dtype=kind).reshape(view), whole)

    return run


# -- sums and products ------------------------------------------------------------------------


def _reduction(function) -> Callable:
    def rule(equation, names):
        axes = tuple(equation.params["axes"])
        return lambda sizes, x: function.reduce(x, axes)

    return rule


def _typed_reduction(function) -> Callable:
    def rule(equation, names):
        axes, kind = tuple(equation.params["axes"]), equation.invars[0].aval.dtype
        return lambda sizes, x: function.reduce(x, axes, kind)

    return rule


RULES |= {
    "reduce_sum": _typed_reduction(np.add),
    "reduce_prod": _typed_reduction(np.multiply),
    "reduce_max": _reduction(np.maximum),
    "reduce_min": _reduction(np.minimum),
    "reduce_and": _reduction(np.bitwise_and),
    "reduce_or": _reduction(np.bitwise_or),
}


@_rule("argmax", "argmin")
def _extreme(equation, names):
    (axis,), kind = equation.params["axes"], np.dtype(equation.params["index_dtype"])
    find = np.argmax if equation.primitive.name == "argmax" else np.argmin
    return lambda sizes, x: find(x, axis).astype(kind)


@_rule("cumsum", "cumprod", "cummax", "cummin")
def _running(equation, names):
    axis, backwards = equation.params["axis"], equation.params["reverse"]
    kind = equation.invars[0].aval.dtype
    function: Any = {
        "cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum,
    }[equation.primitive.name]  # fmt: skip

    def run(sizes, x):
        x = np.flip(x, axis) if backwards else x
        made = function.accumulate(x, axis, kind)
        return np.flip(made, axis) if backwards else made

    return run


@_rule("dot_general")
def _product(equation, names):
    (left_sum, right_sum), (left_batch, right_batch) = equation.params["dimension_numbers"]
    left_free = _others(equation.invars[0], left_sum, left_batch)
    right_free = _others(equation.invars[1], right_sum, right_batch)
    kind = equation.outvars[0].aval.dtype
    left_order = (*left_batch, *left_free, *left_sum)
    right_order = (*right_batch, *right_sum, *right_free)
    batches, frees = len(left_batch), len(left_free)
    sums = len(left_sum)

    def run(sizes, left, right):
        left = np.transpose(left, left_order).astype(kind, copy=False)
        right = np.transpose(right, right_order).astype(kind, copy=False)
        batch, rows = left.shape[:batches], left.shape[batches : batches + frees]
        columns = right.shape[batches + sums :]
        length = int(np.prod(left.shape[batches + frees :]))
        if not (sums == 1 and frees == 1):
            left = left.reshape(*batch, int(np.prod(rows)), length)
        if not (sums == 1 and len(columns) == 1):
            right = right.reshape(*batch, length, int(np.prod(columns)))
        return _multiplied(left, right).reshape((*batch, *rows, *columns))

    return run


# Products up to so many multiplications are computed by the calling thread alone: NumPy's library
# else wakes others, which wait for the cores that XLA's threads have (measured: 3 ms for 50 µs).
ALONE = 1 << 18
# Larger ones are cut into parts of that size up to this one.
MOST_CUT = 1 << 26


def _multiplied(left, right):
    row = right.shape[-2] * right.shape[-1]
    total = left.shape[-2] * row
    if left.ndim > 2 or not ALONE < total <= MOST_CUT:
        return np.matmul(left, right)
    made = np.empty((left.shape[0], right.shape[1]), left.dtype)
    step = ALONE // row
    if step:
        for start in range(0, left.shape[0], step):
            np.matmul(left[start : start + step], right, made[start : start + step])
        return made
    step = max(1, ALONE // (left.shape[0] * right.shape[0]))
    for start in range(0, right.shape[1], step):
        made[:, start : start + step] = np.matmul(left, right[:, start : start + step])
    return made


def _others(var, sums, batch) -> list[int]:
    return [axis for axis in range(len(var.aval.shape)) if axis not in sums and axis not in batch]


# -- what is found by indices -----------------------------------------------------------------


class _Windows:
    """Where the windows of a gather, or of a scatter, lie in an array."""

    def __init__(self, rank: int, indexed, gone, batching, batching_of, places, names, width):
        # `places` are the axes of windows in the result; `gone` those of the array without one.
        if not indexed:
            raise Unknown("windows that nothing moves")
        self.indexed, self.batching = tuple(indexed), tuple(batching)
        self.batching_of, self.places = tuple(batching_of), tuple(places)
        self.kept = [a for a in range(rank) if a not in gone and a not in batching]
        self.apart = [a for a in range(rank) if a in indexed or a in gone or a in batching]
        self.whole = [a for a in range(rank) if a not in self.apart]
        self.width = lengths(width, names)

    def order(self) -> list[int]:
        """The axes of the array, those that are indexed first."""
        return [*self.apart, *self.whole]

    def find(self, sizes, shape, starts, clip: bool) -> tuple[tuple, np.ndarray]:
        """Indices of the axes that are indexed, and which windows lie inside of the array."""
        width, count = self.width(sizes), starts.ndim - 1
        windows = [axis for axis in self.kept if axis in self.apart]
        rank = count + len(windows)
        inside = np.ones(starts.shape[:-1], bool)
        found = []
        for axis in self.apart:
            index: Any = np.zeros((1,) * rank, np.int64)
            if axis in self.indexed:
                start = starts[..., self.indexed.index(axis)].astype(np.int64)
                last = shape[axis] - width[axis]
                inside &= (start >= 0) & (start <= last)
                start = np.clip(start, 0, last)
                index = index + start.reshape(start.shape + (1,) * len(windows))
            if axis in self.batching:
                of = self.batching_of[self.batching.index(axis)]
                view = [1] * rank
                view[of] = shape[axis]
                index = index + np.arange(shape[axis]).reshape(view)
            if axis in windows:
                view = [1] * rank
                view[count + windows.index(axis)] = width[axis]
                index = index + np.arange(width[axis]).reshape(view)
            found.append(index)
        return tuple(found), np.ones_like(inside) if clip else inside

    def arrange(self, count: int) -> list[int]:
        """The axes of what indexing makes, in the order of the result."""
        rank = count + len(self.places)
        windows = [axis for axis in self.kept if axis in self.apart]
        made = {axis: count + number for number, axis in enumerate([*windows, *self.whole])}
        behind = iter([made[axis] for axis in self.kept])
        batch = iter(range(count))
        return [next(behind) if a in self.places else next(batch) for a in range(rank)]


_CLIPPED = (lax.GatherScatterMode.CLIP, lax.GatherScatterMode.PROMISE_IN_BOUNDS)


@_rule("gather")
def _gather(equation, names):
    numbers, mode = equation.params["dimension_numbers"], equation.params["mode"]
    array, starts = equation.invars
    fill = equation.params["fill_value"]
    clip = mode in _CLIPPED
    if not clip and mode != lax.GatherScatterMode.FILL_OR_DROP:
        raise Unknown("gather")
    kind = array.aval.dtype
    if fill is None and not clip:
        if kind.kind not in "fiub":
            raise Unknown("gather")
        least = np.iinfo(kind).min if kind.kind == "i" else None
        most = np.iinfo(kind).max if kind.kind == "u" else None
        fill = np.nan if kind.kind == "f" else True if kind.kind == "b" else least or most
    windows = _Windows(
        len(array.aval.shape), numbers.start_index_map, numbers.collapsed_slice_dims,
        numbers.operand_batching_dims, numbers.start_indices_batching_dims, numbers.offset_dims,
        names, equation.params["slice_sizes"],
    )  # fmt: skip
    width = equation.params["slice_sizes"]
    if any(str(width[axis]) != str(array.aval.shape[axis]) for axis in windows.whole):
        raise Unknown("gather")
    count = len(starts.aval.shape) - 1
    order, arranged = windows.order(), windows.arrange(count)

    def run(sizes, array, starts):
        found, inside = windows.find(sizes, array.shape, starts, clip)
        made = array.transpose(order)[found]
        if not clip and not inside.all():
            made[~inside] = fill
        return made.transpose(arranged)

    return run


@_rule("scatter-add")
def _scatter_add(equation, names):
    numbers, mode = equation.params["dimension_numbers"], equation.params["mode"]
    array, starts, updates = equation.invars
    if mode not in (*_CLIPPED, lax.GatherScatterMode.FILL_OR_DROP):
        raise Unknown("scatter-add")
    rank, shape = len(array.aval.shape), updates.aval.shape
    gone = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    kept = [axis for axis in range(rank) if axis not in gone]
    width: list = [1] * rank
    for axis, place in zip(kept, numbers.update_window_dims, strict=True):
        width[axis] = shape[place]
    windows = _Windows(
        rank, numbers.scatter_dims_to_operand_dims, numbers.inserted_window_dims,
        numbers.operand_batching_dims, numbers.scatter_indices_batching_dims,
        numbers.update_window_dims, names, width,
    )  # fmt: skip
    if any(str(width[axis]) != str(array.aval.shape[axis]) for axis in windows.whole):
        raise Unknown("scatter-add")
    clip = mode == lax.GatherScatterMode.CLIP
    order = windows.order()
    arranged = np.argsort(windows.arrange(len(starts.aval.shape) - 1))
    back = np.argsort(order)

    def run(sizes, array, starts, updates):
        found, inside = windows.find(sizes, array.shape, starts, clip)
        added = updates.transpose(arranged)
        if not inside.all():
            view = inside.reshape(inside.shape + (1,) * (added.ndim - inside.ndim))
            added = np.where(view, added, np.zeros((), added.dtype))
        total = array.transpose(order).copy()
        np.add.at(total, found, added)
        return total.transpose(back)

    return run
