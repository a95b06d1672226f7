# SPDX-License-Identifier: Apache-2.0
"""load_weights and save_weights: networks of Hugging Face and PyTorch into Cells, and back out."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mycel import nn
from mycel.checkpoint import weight_files
from mycel.checkpoint.contents import Contents
from mycel.checkpoint.loading import KINDS
from mycel.checkpoint.saving import writer
from mycel.checkpoint.weight_rules import (
    COUNTED,
    RUNNING_MEAN,
    Layout,
    Member,
    Names,
    Stored,
    add_prefix,
    is_ignored,
    layout_of,
    members,
    renamer,
)
from mycel.kernel.base.dtypes import DType, as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import own_value
from mycel.kernel.record.tensor import Tensor, update

Rules = (
    Mapping[str, str | Stored | None]
    | Iterable[tuple[str, str | Stored | None]]
    | Callable[[str], str | Stored | None]
)
# For `dtype`: the Parameters take the element types of the file.
FILE = "file"
NOT_EXACT = (
    "{path} does not fit {cell}, and nothing was loaded.\n{report}\n"
    "Rules lead from names of Parameters to names in the file; strict=False loads what fits."
)
TWICE = "{name!r} would be written twice: for {first} and for {second}. Give one another name."
NOT_WHOLE = "{name!r} needs the parts {missing} of {count}, for which there is no Parameter."

_log = logging.getLogger("mycel")


class Match(NamedTuple):
    """A Parameter and what a file has for it."""

    parameter: str
    stored: str
    shape: tuple[int, ...]
    dtype: str


class Mismatch(NamedTuple):
    """A Parameter whose value in a file does not fit it."""

    parameter: str
    stored: str
    expected: str
    actual: str


class WeightReport:
    """What `load_weights` has found; printed, a summary and tables of what does not fit.

    Attributes:
        matched: a (parameter, stored, shape, dtype) for each Parameter that got a value.
        missing: Parameters for which the file has nothing.
        unused: tensors of the file that no Parameter has taken.
        mismatched: a (parameter, stored, expected, actual) for each value of another shape or type.
        ignored: tensors of the file that are no weights, such as counts of batches.
        left_out: Parameters that rules say are not in the file.
        prefix: what the names of the file begin with beyond those of the Cell; with '-' before it,
            what they lack.

    Example:
        See `load_weights`.
    """

    def __init__(self, path: str, prefix: str):
        self.path = path
        self.prefix = prefix
        self.matched: list[Match] = []
        self.missing: list[str] = []
        self.unused: list[str] = []
        self.mismatched: list[Mismatch] = []
        self.ignored: list[str] = []
        self.left_out: list[str] = []

    @property
    def exact(self) -> bool:
        """Whether every Parameter got a value, and every weight of the file was taken."""
        return not (self.missing or self.unused or self.mismatched)

    def table(self) -> str:
        """A line for each Parameter that got a value: its name, the file's, its shape and type."""
        rows = [(m.parameter, m.stored, str(m.shape), m.dtype) for m in self.matched]
        return _table(("Parameter", "in the file", "shape", "type"), rows)

    def __str__(self):
        counts = {
            "matched": self.matched, "missing": self.missing, "unused": self.unused,
            "of another shape or type": self.mismatched, "ignored": self.ignored,
            "left out": self.left_out,
        }  # fmt: skip
        said = [f"{len(found)} {what}" for what, found in counts.items() if found]
        prefix = f" (prefix {self.prefix!r})" if self.prefix else ""
        parts = [f"{self.path}{prefix}: {', '.join(said) or 'nothing'}"]
        if self.mismatched:
            parts.append(
                _table(("Parameter", "in the file", "expected", "actual"), self.mismatched)
            )
        if self.missing:
            parts.append(_table(("Parameter without a value",), [(n,) for n in self.missing]))
        if self.unused:
            parts.append(_table(("not used of the file",), [(n,) for n in self.unused]))
        return "\n".join(parts)

    __repr__ = __str__


def load_weights(
    net: nn.Cell,
    path: str | os.PathLike[str],
    rules: Rules | None = None,
    *,
    layout: str | None = None,
    prefix: str | None = None,
    dtype: DType | str | None = None,
    strict: bool = True,
) -> WeightReport:
    """Give a Cell the weights of a Hugging Face folder, or of a PyTorch or safetensors file.

    The names are those of a module of PyTorch with the same attributes: `weight` for a `gamma` or
    an `embedding_table`, `running_mean` for a `moving_mean`, and so on. Where they differ, rules
    lead from these names to the file's. Everything is checked before anything is changed, and
    nothing that a file contains is run.

    Args:
        net: the Cell.
        path: a folder with model.safetensors or pytorch_model.bin, whole or in shards; or a
            .safetensors, .pth, .pt, .bin or .ckpt file.
        rules: a dictionary or a list of (regular expression, replacement), applied one after the
            other to each name as `re.sub` does; or a function of a name. A replacement may be a
            `Stored`, for tensors that are joined, cut or transposed, or None for a Parameter that
            is not in the file.
        layout: 'bert', 'gpt2', 'llama', 'vit' or 'resnet', what is particular to their files; None
            takes it from config.json in the folder.
        prefix: what the file has before each name ('bert.'), or, with '-' before it, lacks. None
            finds the one with which most names fit.
        dtype: None converts floats to the types of the Parameters; 'file' gives the Parameters the
            types of the file; an element type gives it to all Parameters of floats.
        strict: whether names on either side that are left over, and other shapes, are an error.
            Otherwise what fits is loaded, and a warning in the log says how much did not.

    Returns:
        What matched and what did not.

    Raises:
        ValueError: the file is missing, damaged or holds something other than tensors; or it does
            not fit, and `strict` is set. The text has the table.
        TypeError: an argument is of another type.

    Example:
        >>> import safetensors.numpy, tempfile
        >>> from mycel.checkpoint import load_weights
        >>> net = nn.SequentialCell(nn.Dense(2, 2), nn.LayerNorm((2,)))
        >>> theirs = {"model.in.weight": np.eye(2, dtype=np.float32), "model.in.bias": np.zeros(2),
        ...           "model.norm.weight": np.ones(2), "model.norm.bias": np.zeros(2)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     safetensors.numpy.save_file(theirs, f"{folder}/model.safetensors")
        ...     report = load_weights(net, folder, [(r"^0", "in"), (r"^1", "norm")])
        >>> print(report.table())
        Parameter  in the file        shape   type
        0.weight   model.in.weight    (2, 2)  float32
        0.bias     model.in.bias      (2,)    float64
        1.gamma    model.norm.weight  (2,)    float64
        1.beta     model.norm.bias    (2,)    float64
        >>> report.exact, report.prefix
        (True, 'model.')
    """
    if not isinstance(net, nn.Cell):
        raise wrong(TypeError, "load_weights: net", "a Cell", type(net).__name__)
    wanted = _wanted_type(dtype)
    writer.wait()
    source = weight_files.read(path)
    plan = _Plan(net, source, rules, layout_of(layout, source.config), prefix)
    values, report = plan.values(source, wanted)
    if strict and not report.exact:
        raise ValueError(NOT_EXACT.format(path=path, cell=type(net).__name__, report=report))
    for member, array, target in values:
        if member.tensor.dtype is not target:
            member.tensor.set_dtype(target)
        update(member.tensor, own_value(Tensor(array, target)))
    if not report.exact:
        _log.warning("%s", report)
    return report


def save_weights(
    net: nn.Cell,
    path: str | os.PathLike[str],
    rules: Rules | None = None,
    *,
    layout: str | None = None,
    prefix: str | None = None,
    dtype: DType | None = None,
    like: str | os.PathLike[str] | None = None,
    max_shard_size: int | str = "5GB",
) -> None:
    """Write the weights of a Cell as Hugging Face and PyTorch have them; `load_weights` reversed.

    Args:
        net: the Cell.
        path: a folder, which gets a model.safetensors, in shards if it is large; or a file that
            ends in .safetensors, .pth, .pt or .bin. A file changes as a whole.
        rules, layout: those of `load_weights`.
        prefix: put before each name, or, with '-' before it, taken away. None is none, or with
            `like` the one that was found there.
        dtype: the element type of all floats; None writes each as it is.
        like: a folder or file from which the weights were loaded: its names, its layout and its
            prefix are used, and its config.json is copied to a folder that has none.
        max_shard_size: from where on a folder gets another file: bytes, or '200MB', '5GB'.

    Raises:
        ValueError: two Parameters would have one name, a part of a tensor is missing, or an
            argument is wrong.
        TypeError: the file cannot have an element type.

    Example:
        >>> import safetensors.numpy, tempfile
        >>> from mycel.checkpoint import save_weights
        >>> net = nn.SequentialCell(nn.BatchNorm2d(1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_weights(net, folder, prefix="resnet.")
        ...     print(*sorted(safetensors.numpy.load_file(f"{folder}/model.safetensors")))
        resnet.0.bias resnet.0.num_batches_tracked resnet.0.running_mean resnet.0.running_var
        resnet.0.weight
    """
    if not isinstance(net, nn.Cell):
        raise wrong(TypeError, "save_weights: net", "a Cell", type(net).__name__)
    wanted = None if dtype is None else _type_of_floats(dtype)
    source = weight_files.Source({}, {}, "") if like is None else weight_files.read(like)
    chosen = layout_of(layout, source.config)
    if like is None and prefix is None:
        prefix = ""
    plan = _Plan(net, source, rules, chosen, prefix)
    arrays = plan.arrays(wanted)
    arrays = plan.others(source, arrays) | arrays
    writer.wait()
    weight_files.write(path, arrays, max_shard_size, source.config)


class _Plan:
    """Which tensors of a file belong to which Parameters of a Cell."""

    def __init__(
        self, net: nn.Cell, source: weight_files.Source, rules, layout: Layout, prefix: str | None
    ):
        self.layout = layout
        self.known = source.arrays.keys()
        called = renamer(rules)
        self.left_out: list[str] = []
        self.wanted: list[tuple[Member, list[Stored]]] = []
        for member in members(net):
            # A Parameter with several places is in the file under one of them at least.
            places = [stored for stored in map(called, member.places) if stored is not None]
            if places:
                self.wanted.append((member, places))
            else:
                self.left_out.append(member.path)
        names = (n for _, places in self.wanted for stored in places for n in stored.names)
        self.names = Names(self.known, names, prefix, layout)

    def values(self, source: weight_files.Source, dtype) -> tuple[list, WeightReport]:
        """The value of each Parameter, and the report."""
        report = WeightReport(source.path, self.names.prefix)
        report.left_out = self.left_out
        values, used = [], set()
        for member, places in self.wanted:
            found = self._found(places, tied=True)
            used.update(name for stored in found for name in stored.names)
            if not found:
                if member.learned and not is_ignored(places[0].names[0], self.layout):
                    report.missing.append(member.path)
                continue
            text = found[0].text
            array, problem = self._value(member, found, source.arrays)
            target = None
            if array is not None:
                target = _target(member.tensor.dtype, as_dtype(array.dtype), dtype)
                problem = str(member.tensor.dtype), str(array.dtype)
            if target is None:
                report.mismatched.append(Mismatch(member.path, text, *problem))
            else:
                kinds = dict.fromkeys(str(source.arrays[n].dtype) for n in found[0].names)
                match = Match(member.path, text, member.tensor.shape, ", ".join(kinds))
                report.matched.append(match)
                values.append((member, array, target))
        for name in self.known - used:
            ignored = is_ignored(name, self.layout)
            (report.ignored if ignored else report.unused).append(name)
        report.ignored.sort()
        report.unused.sort()
        return values, report

    def _found(self, places: list[Stored], tied: bool) -> list[Stored]:
        """The places whose tensors are all in the file, with the names there, each once."""
        found = {}
        for stored in places:
            names = [self.names.found(name, tied) for name in stored.names]
            if all(name is not None for name in names):
                found.setdefault(tuple(names), stored.called(name for name in names if name))
        return list(found.values())

    def _value(self, member: Member, places: list[Stored], arrays: Contents):
        """The array for a Parameter; or None, and what was expected and what is there."""
        shape, found = member.tensor.shape, []
        for stored in places:
            tensors = [self._turned(member, name, arrays[name]) for name in stored.names]
            try:
                array = stored.value(tensors)
            except ValueError:
                actual = " + ".join(str(tensor.shape) for tensor in tensors)
                return None, (str(shape), actual)
            if member.flat and array.ndim == len(shape) - 1:
                array = np.expand_dims(array, 2)
            if array.shape != shape:
                return None, (str(shape), str(array.shape))
            found.append(array)
        if not all(np.array_equal(array, found[0]) for array in found[1:]):
            return None, ("one value", f"another in {places[1].text}")
        return found[0], ("", "")

    def arrays(self, dtype: DType | None) -> Contents:
        """What a file has of the Cell, by name."""
        found: dict[str, dict[int | None, _Piece]] = {}
        for member, places in self.wanted:
            there = self._found(places, tied=False)
            if self.known and not (there or member.learned):
                continue  # a buffer that the file does not have
            stored = there[0] if there else self._prefixed(places[0])
            array = np.asarray(member.tensor)
            if dtype is not None and member.tensor.dtype.is_floating:
                array = array.astype(dtype.numpy)
            for name, piece in self._pieces(member, stored, array):
                known = found.setdefault(name, {})
                for part, rival in known.items():
                    if stored.part is None or part in (None, stored.part):
                        first, second = rival.member.path, member.path
                        raise ValueError(TWICE.format(name=name, first=first, second=second))
                known[stored.part] = _Piece(member, stored, piece)
        # What a file has the other way round is so as a whole.
        return {
            name: self._turned(next(iter(pieces.values())).member, name, _joined(name, pieces))
            for name, pieces in found.items()
        }

    def others(self, source: weight_files.Source, names: Iterable[str]) -> Contents:
        """What a file has that no Parameter is: from another file, or the counts that PyTorch looks
        for beside moving statistics."""
        found = {n: a for n, a in source.arrays.items() if is_ignored(n, self.layout)}
        for name in names:
            if name.endswith(RUNNING_MEAN):
                count = name.removesuffix(RUNNING_MEAN) + COUNTED
                found.setdefault(count, np.zeros((), np.int64))
        return found

    def _prefixed(self, stored: Stored) -> Stored:
        return stored.called(add_prefix(name, self.names.prefix) for name in stored.names)

    def _pieces(self, member: Member, stored: Stored, array: np.ndarray):
        """The tensors of a file that a Parameter is, by name."""
        if member.flat:
            array = np.squeeze(array, 2)
        if stored.transposed:
            array = array.T
        pieces = stored.pieces(array) if len(stored.names) > 1 else [array]
        return zip(stored.names, pieces, strict=True)

    def _turned(self, member: Member, name: str, array: np.ndarray) -> np.ndarray:
        """A tensor as it lies here out of what lies in the file, and the other way round."""
        turned = member.dense and array.ndim == 2 and self.layout.is_transposed(name)
        return array.T if turned else array


class _Piece(NamedTuple):
    """What a Parameter gives to a tensor of a file: all of it, or a part."""

    member: Member
    stored: Stored
    array: np.ndarray


def _joined(name: str, pieces: dict[int | None, _Piece]) -> np.ndarray:
    """A tensor of a file out of its parts."""
    if None in pieces:
        return pieces[None].array
    stored = next(iter(pieces.values())).stored
    numbers = range(len(stored.parts))
    missing = [number for number in numbers if number not in pieces]
    if missing:
        raise ValueError(NOT_WHOLE.format(name=name, missing=missing, count=len(numbers)))
    return np.concatenate([pieces[number].array for number in numbers], stored.axis)


def _wanted_type(dtype) -> DType | str | None:
    return dtype if dtype is None or dtype == FILE else _type_of_floats(dtype)


def _type_of_floats(dtype) -> DType:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise wrong(ValueError, "dtype, the type of all floats", "a type of floats", str(wanted))
    return wanted


def _target(ours: DType, theirs: DType, wanted: DType | str | None) -> DType | None:
    """The type a Parameter is to have; None if what the file has cannot become it."""
    if ours is not theirs and not any({ours.name, theirs.name} <= kind for kind in KINDS):
        return None
    if wanted is None or not ours.is_floating:
        return ours
    return theirs if wanted == FILE else as_dtype(wanted)


def _table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """Columns of texts; a line for each row."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
