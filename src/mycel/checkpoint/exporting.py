# SPDX-License-Identifier: Apache-2.0
"""export and load: a network as a program that runs without its Python code."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax import export as jax_export

from mycel.checkpoint import program
from mycel.checkpoint.interop import to_jax
from mycel.checkpoint.program import Program
from mycel.checkpoint.pure import NeedsValues, call_purely, members_of
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.base.trees import tree_map
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell

FORMAT, ENDING = "STABLEHLO", ".stablehlo"
PLATFORMS = ("cpu", "cuda", "tpu")
REFUSED = (
    "export cannot write {format}: {reason}. Write file_format='STABLEHLO' instead: the file runs "
    "on CPU, GPU and TPU, is read with mycel.nn.GraphCell(mycel.load(file)), and any consumer of "
    "StableHLO can take the program in it. To move weights alone, use save_checkpoint."
)
REASONS = {
    "MINDIR": "it is the inner representation of MindSpore's own compiler",
    "AIR": "it is the representation of the compiler for Ascend devices",
    "ONNX": "the converters that there are do not cover all operators (to try one, give "
    "mycel.checkpoint.pure_function(net) to the package jax2onnx)",
}
NOT_EVERYWHERE = (
    "{name} has an operator that one of the platforms {platforms} does not have: {reason}. Export "
    "it for one platform: export(..., platforms=('cpu',))."
)
NO_DYNAMIC = (
    "{name} cannot be exported with an open length ({reason}). Python that computes with lengths "
    "needs them: write x.reshape(-1, ...) or ops.flatten, or export without dynamic_axes."
)

# All lengths that are open are of one scope, because shapes are compared across programs.
_scope = jax_export.SymbolicScope()


def export(
    net: Any, *inputs: Any, file_name: str, file_format: str = FORMAT, **kwargs: Any
) -> None:
    """Write a network with its weights to a file that `load` reads, as StableHLO.

    It is exported as it predicts, whatever its training flag.

    Args:
        net: a Cell, or a function of Tensors.
        inputs: Tensors of the shapes and element types that it will be given, also nested in
            tuples, lists and dictionaries; their values do not matter. A length may be open,
            `Tensor(shape=[None, 2], dtype=ms.float32)`: all open first lengths are equal.
        file_name: the file; '.stablehlo' is added to a name without it.
        file_format: 'STABLEHLO'. MindSpore's 'MINDIR', 'AIR' and 'ONNX' are refused.
        kwargs: `dynamic_axes`, for each open length: `True` leaves the first of every input open,
            `{0: {0: "batch", 2: "time"}}` names axes of inputs by their numbers; lengths of one
            name are equal. `platforms`, by default cpu, cuda and tpu. `vjp_order`, how often the
            loaded program can be differentiated, by default 0.

    Raises:
        NotImplementedError: the format is one of MindSpore's own, or the network cannot be
            exported.
        ValueError: the format is unknown.
        TypeError: `net` is not a Cell or function, or a keyword is unknown.

    Source: MindSpore's `mindspore.export`; the format is ours.

    Example:
        >>> import tempfile
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.export(net, Tensor(np.ones((1, 2), np.float32)), file_name=f"{folder}/net",
        ...               file_format="STABLEHLO", dynamic_axes=True, platforms=("cpu",))
        ...     loaded = nn.GraphCell(ms.load(f"{folder}/net.stablehlo"))
        >>> print(loaded(Tensor(np.ones((3, 2), np.float32))))
        [[2.]
         [2.]
         [2.]]
    """
    _check_format(file_format)
    if not isinstance(file_name, (str, os.PathLike)):
        raise wrong(TypeError, "export: file_name", "a string", repr(file_name))
    if not isinstance(net, Cell) and not callable(net):
        raise wrong(TypeError, "export: net", "a Cell or a function", type(net).__name__)
    exported = _traced(net, inputs, **_options(kwargs))
    path = os.fspath(file_name)
    program.write(path if path.endswith(ENDING) else path + ENDING, exported)


def load(file_name: str, **kwargs: Any) -> Program:
    """Read a program that `export` has written, for `nn.GraphCell`.

    Raises:
        ValueError: the file does not exist, was not written by `export`, or is damaged.
        TypeError: a keyword is unknown.

    Source: MindSpore's `mindspore.load`, which reads MindIR.

    Example:
        See `export`.
    """
    if not isinstance(file_name, (str, os.PathLike)):
        raise wrong(ValueError, "load: file_name", "a string", repr(file_name))
    if kwargs:
        expected = "the file alone (exported programs are not encrypted)"
        raise wrong(TypeError, "load", expected, ", ".join(kwargs))
    if os.fspath(file_name).endswith(".mindir"):
        raise NotImplementedError(
            f"load cannot read {file_name}: MindIR is the inner representation of MindSpore's own "
            "compiler. Build the network from its code and load its weights with load_checkpoint, "
            "or export it from mycel with file_format='STABLEHLO'."
        )
    return program.read(file_name)


def _check_format(file_format) -> None:
    if file_format in REASONS:
        raise NotImplementedError(REFUSED.format(format=file_format, reason=REASONS[file_format]))
    if file_format != FORMAT:
        raise wrong(ValueError, "export: file_format", f"'{FORMAT}'", repr(file_format))


def _options(given: dict) -> dict:
    options = {"dynamic_axes": None, "platforms": PLATFORMS, "vjp_order": 0}
    unknown = given.keys() - options.keys()
    if unknown:
        expected = f"of {', '.join(options)}"
        raise wrong(TypeError, "export: a keyword", expected, ", ".join(sorted(unknown)))
    options |= given
    options["platforms"] = tuple(options["platforms"])
    return options


def _traced(net, inputs, dynamic_axes, platforms, vjp_order) -> Program:
    name = type(net).__name__ if isinstance(net, Cell) else getattr(net, "__name__", "function")
    members = members_of(net) if isinstance(net, Cell) else {}
    weights = {path: to_jax(member) for path, member in members.items()}
    shapes = _shapes(inputs, dynamic_axes)

    def function(weights, *arrays):
        return call_purely(net, members, weights, arrays)[0]

    with _predicting(net):
        try:
            exported = jax_export.export(jax.jit(function), platforms=platforms)(weights, *shapes)
        except Exception as error:
            if came_from_outside(error):
                raise
            some_open = not all(_is_fixed(shape) for shape in jax.tree.leaves(shapes))
            raise _explained(error, name, platforms, some_open) from error
    arrays = {path: np.asarray(array) for path, array in weights.items()}
    trainable = [
        path for path, member in members.items() if getattr(member, "requires_grad", False)
    ]
    described = program.describe(name, platforms, shapes, arrays, trainable)
    return Program(exported, arrays, described, vjp_order)


def _is_fixed(described: jax.ShapeDtypeStruct) -> bool:
    return all(isinstance(length, int) for length in described.shape)


def _explained(error: Exception, name: str, platforms, some_open: bool) -> Exception:
    """What to say of a failure: a platform or an open length may be the reason."""
    reason = str(error).partition("\n")[0]
    if isinstance(error, NotImplementedError) and len(platforms) > 1:
        text = NOT_EVERYWHERE.format(name=name, platforms=", ".join(platforms), reason=reason)
        return NotImplementedError(text)
    if some_open and not isinstance(error, NeedsValues):
        return NotImplementedError(NO_DYNAMIC.format(name=name, reason=reason))
    return error


def _shapes(inputs, dynamic_axes):
    """The inputs with shapes and element types in place of Tensors, where lengths may be open."""
    number = itertools.count()

    def shape_of(leaf):
        if leaf is None:
            return None
        if not isinstance(leaf, (Tensor, np.ndarray)):
            expected = f"a Tensor (for a number: Tensor({leaf!r:.20}))"
            raise wrong(TypeError, "export: an input", expected, f"{type(leaf).__name__}")
        place = next(number)
        open_axes = {
            axis: f"input{place}_axis{axis}" if axis else "batch"
            for axis, length in enumerate(leaf.shape)
            if length == -1
        }
        open_axes.update(_open_axes(dynamic_axes, place, leaf.ndim))
        lengths = [open_axes.get(axis, str(n)) for axis, n in enumerate(leaf.shape)]
        shape = jax_export.symbolic_shape(", ".join(lengths), scope=_scope)
        kind = leaf.dtype.numpy if isinstance(leaf, Tensor) else leaf.dtype
        return jax.ShapeDtypeStruct(shape, kind)

    shapes, count = tree_map(shape_of, inputs), next(number)
    for place in dynamic_axes if isinstance(dynamic_axes, dict) else ():
        if place not in range(count):
            expected = f"about inputs below {count}, as many as there are"
            raise wrong(ValueError, "export: dynamic_axes", expected, repr(dynamic_axes))
    return shapes


def _open_axes(dynamic_axes, number: int, dimensions: int) -> dict[int, str]:
    """The names of open lengths of one input, by axis."""
    if dynamic_axes is None or dynamic_axes is False:
        return {}
    if dynamic_axes is True:
        return {0: "batch"} if dimensions else {}
    if not isinstance(dynamic_axes, dict):
        expected = "True or a dictionary of dictionaries such as {0: {0: 'batch'}}"
        raise wrong(TypeError, "export: dynamic_axes", expected, repr(dynamic_axes))
    named = dynamic_axes.get(number, {})
    if not isinstance(named, dict):
        named = {axis: f"input{number}_axis{axis}" for axis in named}
    for axis, name in named.items():
        if not -dimensions <= axis < dimensions or not str(name).isidentifier():
            expected = f"names of axes below {dimensions} for input {number}"
            raise wrong(ValueError, "export: dynamic_axes", expected, repr(named))
    return {axis % dimensions: name for axis, name in named.items()}


@contextlib.contextmanager
def _predicting(net) -> Iterator[None]:
    """Let a Cell predict, and give back its training flags."""
    cells = [cell for _, cell in net.cells_and_names()] if isinstance(net, Cell) else []
    flags = [cell.training for cell in cells]
    try:
        for cell in cells:
            cell.__dict__["training"] = False
        yield
    finally:
        for cell, flag in zip(cells, flags, strict=True):
            cell.__dict__["training"] = flag
