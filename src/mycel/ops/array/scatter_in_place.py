# SPDX-License-Identifier: Apache-2.0
"""Placing elements of a Parameter by position, in place.

Each returns the new values as a Tensor. Where positions repeat, the updates follow each other.
An operator has two forms: `scatter_add` takes whole rows, `scatter_nd_add` takes what rows of
positions point to.
"""

from __future__ import annotations

from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import composite
from mycel.ops.array.scatter import (
    tensor_scatter_add,
    tensor_scatter_div,
    tensor_scatter_max,
    tensor_scatter_min,
    tensor_scatter_mul,
    tensor_scatter_sub,
    tensor_scatter_update,
    with_index_added,
)


def _put(handle, value: Tensor) -> Tensor:
    """Give the value to the handle; the value itself prints as its numbers."""
    update(handle, value)
    return value


@composite("ops.index_add(x, indices=index, y=updates, axis=axis, use_lock=True,"
           " check_index_bound=True)",
           "IndexAdd(axis, use_lock=True, check_index_bound=True)(x=x, indices=index,"
           " y=updates)",
           "ops.inplace_index_add(var=x, indices=index, updates=updates, axis=axis)",
           "InplaceIndexAdd(axis)(var=x, indices=index, updates=updates)")  # fmt: skip
def index_add(x, index, updates, axis, use_lock=True, check_index_bound=True):
    """Add updates to slices of a Parameter along `axis`, in place.

    Args:
        x: a Parameter.
        index: [M], integers from 0.
        updates: x's shape with length M along `axis`, or a number; they get the type of `x`.
        axis: the dimension in which positions are counted.
        use_lock, check_index_bound: no effect.

    Example:
        >>> p = Parameter(Tensor([1, 2]), name="p")
        >>> print(ops.index_add(p, Tensor([0]), Tensor([9]), 0))
        [10  2]
    """
    del use_lock, check_index_bound
    return _put(x, with_index_added(x, index, updates, axis))


ROWS = """{does} rows of a Parameter, in place.

    Args:
        x: a Parameter with at least one dimension.
        index: integers of any shape, from 0: positions in the first dimension of `x`.
        updates: one row for each of `index`, [*index.shape, *x.shape[1:]]; they get the type of
            `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.{call}(p, Tensor([0]), Tensor([{update}])))
        {shown}
    """

SLICES = """{does} the slices of a Parameter that the rows of `index` point to, in place.

    Args:
        x: a Parameter with at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.
        use_locking: no effect.

    Example:
        >>> p = Parameter(Tensor([8, 2]), name="p")
        >>> print(ops.{call}(p, Tensor([[0]]), Tensor([{update}])))
        {shown}
    """


def _placing(verb: str, operator, does: str, update: int, shown: str, functions=("", "_nd")):
    """The two in-place forms of an operator on Tensors: of rows, and of slices.

    Args:
        verb: what their names end in.
        operator: `operator(x, index, updates)`, which gives a new Tensor.
        does: what their documentation begins with.
        update, shown: of its example: the number, and what is printed.
        functions: the forms that `ops` has as functions too; Primitives are both.
    """

    def rows(x, index, updates, use_locking=False):
        del use_locking
        return _put(x, operator(x, index.expand_dims(-1), updates))

    def slices(x, index, updates, use_locking=False):
        del use_locking
        return _put(x, operator(x, index, updates))

    forms = (("", rows, ROWS), ("_nd", slices, SLICES))
    return [
        _declared(f"scatter{nd}_{verb}", function, text, nd in functions, does, update, shown)
        for nd, function, text in forms
    ]


def _declared(name: str, function, text: str, is_function: bool, does, update, shown):
    locked = name.endswith("_update")
    primitive = "".join(part.title() for part in name.split("_"))
    spellings = [f"{primitive}(use_locking={locked})(input_x=x, indices=index, updates=updates)"]
    if is_function:
        last = ", use_locking=False" if "_nd_" in name and not locked else ""
        spellings.insert(0, f"ops.{name}(input_x=x, indices=index, updates=updates{last})")
    call = name if is_function else f"{primitive}()"
    function.__name__ = function.__qualname__ = name
    function.__defaults__ = (locked,)
    function.__doc__ = text.format(does=does, call=call, update=update, shown=shown)
    return composite(*spellings)(function)


scatter_update, scatter_nd_update = _placing("update", tensor_scatter_update, "Replace", 9, "[9 2]")
scatter_add, scatter_nd_add = _placing("add", tensor_scatter_add, "Add to", 9, "[17  2]")
scatter_sub, scatter_nd_sub = _placing(
    "sub", tensor_scatter_sub, "Subtract from", 3, "[5 2]", functions=("_nd",)
)
scatter_mul, scatter_nd_mul = _placing("mul", tensor_scatter_mul, "Multiply", 3, "[24  2]")
scatter_div, scatter_nd_div = _placing("div", tensor_scatter_div, "Divide", 2, "[4 2]")
scatter_max, scatter_nd_max = _placing(
    "max", tensor_scatter_max, "Put larger numbers into", 9, "[9 2]"
)
scatter_min, scatter_nd_min = _placing(
    "min", tensor_scatter_min, "Put smaller numbers into", 3, "[3 2]"
)
