# SPDX-License-Identifier: Apache-2.0
"""A Cell as a pure JAX function, for optax, `jax.vmap`, `jax.jit` with shardings, and export."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mycel.checkpoint.interop import to_jax
from mycel.kernel.base.context import context, run_directly
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.trees import tree_map
from mycel.kernel.record.generator import Generator, draw_from, get_seed, restore_seed
from mycel.kernel.record.journal import Journal
from mycel.kernel.record.scope import Scope
from mycel.kernel.record.stream import Stream, flush, local
from mycel.kernel.record.tensor import Tensor, new_tensor, point, resolve
from mycel.kernel.record.value import value_of
from mycel.nn.cell import Cell
from mycel.tuning.native.cpp import portable

NEEDS_VALUES = (
    "{name} reads the value of a Tensor while it is traced with abstract arrays, which have none "
    "(bool, int, float, asnumpy, print). Use operators instead: ops.where, ops.select. JAX says: "
    "{reason}"
)
NEEDS_KEY = (
    "{name} draws random numbers, so its pure function needs a key: "
    "function(params, *inputs, key=jax.random.key(0)). Without one it would draw the same at "
    "every call. To leave dropout out, call set_train(False) first."
)
UNKNOWN = "{name} has no Parameter or buffer {unknown}; it has {known}."


class NeedsValues(TypeError):
    """What is traced reads values."""


def pure_function(
    cell: Cell, changes: bool = False
) -> tuple[Callable[..., Any], dict[str, jax.Array]]:
    """A Cell as a pure function on JAX arrays, and the arrays of its trainable Parameters by path.

    The function is `function(params, *inputs, key=None)`. Parameters and buffers that `params`
    leaves out keep the values they have when it is traced. Assignments inside, such as those to
    the moving statistics of BatchNorm, do not reach the Cell.

    Args:
        cell: the Cell. It must decide nothing by values of Tensors.
        changes: True makes the function return the result and what was assigned, a dictionary
            that can be passed on: `params | changed`.

    Raises:
        TypeError: the argument is not a Cell.

    Example:
        >>> import jax
        >>> from mycel.checkpoint import pure_function
        >>> function, params = pure_function(nn.Dense(2, 1, "ones"))
        >>> loss = lambda params, x: function(params, x).sum()
        >>> gradient = jax.jit(jax.grad(loss))(params, np.ones((3, 2), np.float32))
        >>> print(gradient["weight"], gradient["bias"])
        [[3. 3.]] [3.]
    """
    if not isinstance(cell, Cell):
        raise wrong(TypeError, "pure_function: cell", "a Cell", type(cell).__name__)
    trainable = {p: to_jax(t) for p, t in cell.parameters_and_names() if t.requires_grad}

    def function(params, *inputs, key=None):
        result, changed = call_purely(cell, members_of(cell), params, inputs, key)
        return (result, changed) if changes else result

    return function, trainable


def members_of(cell: Cell) -> dict[str, Tensor]:
    """The Parameters and buffers of a Cell by path."""
    return dict([*cell.parameters_and_names(), *cell.named_buffers()])


def call_purely(function: Callable, members: dict[str, Tensor], params, inputs, key=None):
    """Call a Cell or function on JAX arrays with other values in some of its members.

    Returns:
        The result as arrays, and the arrays of the members that were assigned.

    Raises:
        KeyError: there are values for members that the Cell does not have.
        TypeError: it reads values, or draws random numbers without a key.
    """
    name = type(function).__name__ if isinstance(function, Cell) else function.__name__
    unknown = [path for path in params if path not in members]
    if unknown:
        raise KeyError(UNKNOWN.format(name=name, unknown=unknown, known=", ".join(members)))
    with jax.ensure_compile_time_eval():  # what was recorded so far is not part of this trace
        flush()
    handles = list(members.values())
    # Run at once when the time comes, whatever interrupts: no Value of a trace is left behind.
    back = map(setattr, handles, repeat("_value"), [handle._value for handle in handles])
    around, direct, seed = local.stream, context.direct, get_seed()
    journal = Journal()
    stream = Stream(Scope(journal=journal, traced=True))
    try:
        local.stream = stream
        draw_from(_NoNumbers(name) if key is None else _generator_of(key))
        run_directly(True)
        # Operators with seeds of their own then draw from the generator as well, and keep none.
        restore_seed(seed or 0)
        for path, array in params.items():
            point(members[path], value_of(jnp.asarray(array)))
        arguments = tree_map(_to_tensor, inputs)
        with portable():  # it may be exported, or divided among devices
            result = tree_map(_to_array, function(*arguments))
        changed = _assigned(journal, members)
    except jax.errors.JAXTypeError as error:
        reason = str(error).partition("\n")[0]
        raise NeedsValues(NEEDS_VALUES.format(name=name, reason=reason)) from error
    finally:
        try:
            for handle, value in reversed(journal.assigned):
                point(handle, value)
            for change in reversed(journal.changes):
                change.undo()
        finally:
            local.stream = around
            run_directly(direct)
            list(back)
            restore_seed(seed)
    return result, changed


def _assigned(journal: Journal, members: dict[str, Tensor]) -> dict:
    """The arrays of the members that were assigned."""
    assigned = {id(handle) for handle, _ in journal.assigned}
    return {path: _to_array(m) for path, m in members.items() if id(m) in assigned}


class _NoNumbers:
    """In place of a generator where none may be used."""

    def __init__(self, name: str):
        self._name = name

    def next_key(self):
        raise TypeError(NEEDS_KEY.format(name=self._name))


def _generator_of(key) -> Generator:
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    generator = Generator(0)
    words = jnp.asarray(key).astype(np.uint32)[:2]
    point(generator.state, value_of(jnp.concatenate([words, jnp.zeros(1, np.uint32)])))
    return generator


def _to_tensor(leaf):
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        return new_tensor(value_of(jnp.asarray(leaf)))
    return leaf


def _to_array(leaf):
    return resolve(leaf).array if isinstance(leaf, Tensor) else leaf
