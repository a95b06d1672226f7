# SPDX-License-Identifier: Apache-2.0
"""Records whose lengths change, padded: one program for all lengths up to the next bucket.

The structures of a family are laid side by side: what differs between them, lengths of inputs and
numbers among attributes, must follow from a few symbols. The record is traced once with these, and
compiled for a bucket of each: its inputs are lengthened, and `tuning.padding` sees to it that what
lies behind the true lengths changes no result. For each new structure all of that is checked again,
number by number; what does not follow is not padded, and the ledger says why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from mycel.kernel.base import backend
from mycel.kernel.base.signals import came_from_outside, undisturbed
from mycel.kernel.define.aval import Aval
from mycel.kernel.define.definition import static_key
from mycel.kernel.define.op import Op
from mycel.kernel.execute.lengths import Lengths, NotPadded, bases_of, bucket
from mycel.kernel.execute.nodes import Node, decode
from mycel.kernel.record.stream import machine

# Structures of a family that are laid side by side.
MOST_STRUCTURES = 4
# So often a family is laid side by side anew.
MOST_FITS = 8
# Programs of a fit that are kept, the latest.
MOST_PROGRAMS = 64

# -- operators whose attributes are lengths ------------------------------------------------------


def _parts(op: Op) -> Any:
    """What the function of an operator is made of (see `Op.origin`), down to attributes."""
    if op.origin is None:
        return op
    make, source, *rest = op.origin
    return (make, _parts(source) if isinstance(source, Op) else source, *rest)


def _generalized(parts: list, lengths: Lengths):
    """What several have in common, with symbols in place of the numbers that differ."""
    first = parts[0]
    if all(part is first for part in parts):
        return first
    kind = first.__class__
    if any(part.__class__ is not kind for part in parts):
        raise NotPadded("an attribute is of another type")
    if kind is int:
        return lengths.of(tuple(parts))
    if kind is tuple and all(len(part) == len(first) for part in parts):
        return tuple([_generalized(list(row), lengths) for row in zip(*parts, strict=True)])
    if not all(_is_same(part, first) for part in parts):
        raise NotPadded("an attribute is another one")
    return first


def _is_same(one, other) -> bool:
    """Whether two values are equal, and choose the same code: 1 and 1.0 do not."""
    if one is other:
        return True
    if one.__class__ is not other.__class__ or one != other:
        return False
    if one.__class__ is tuple:
        return all(map(_is_same, one, other))
    return static_key((one,)) == static_key((other,))


def _function(parts) -> Callable:
    """The function of arrays that `_parts` describe."""
    if isinstance(parts, Op):
        return parts.inlined
    make, source, *rest = parts
    return make(_function(source) if isinstance(source, (Op, tuple)) else source, *rest)


# -- structures of a family ----------------------------------------------------------------------


class Structure(NamedTuple):
    """A record.

    Attributes:
        inputs: their shapes; None for one that no operator takes.
        form: their types and numbers of axes, in which the structures of one fit agree.
    """

    key: tuple[int, ...]
    nodes: list[Node]
    inputs: tuple[tuple[int, ...] | None, ...]
    form: tuple


def structure_of(key) -> Structure:
    """The structure of a record."""
    nodes = decode(key)
    avals: dict[int, Aval] = {}
    for node in nodes:
        for slot, aval in zip(node.inputs, node.signature.inputs, strict=True):
            if slot < 0:
                avals[-1 - slot] = aval
    known = [avals.get(number) for number in range(max(avals, default=-1) + 1)]
    inputs = tuple([None if aval is None else aval.shape for aval in known])
    form = tuple([None if aval is None else (aval.numpy, len(aval.shape)) for aval in known])
    return Structure(tuple(key), nodes, inputs, form)


class Fit:
    """What structures of a family have in common, as far as lengths go.

    Attributes:
        names: of the symbols.
        shapes: of the inputs, with symbols.
        functions: those of the nodes, with symbols among their attributes.
        traced: what was traced of the record, by what is asked of it; and `programs`, what was
            compiled, by that and the room of each symbol.
    """

    def __init__(self, structures: list[Structure]):
        self.reference = structures[0]
        inputs: list = [[s or () for s in structure.inputs] for structure in structures]
        lengths = Lengths(bases_of(inputs))
        self.names, self.symbols, self._least = lengths.names, lengths.symbols, lengths.least
        if not self.names:
            raise NotPadded("no length of an input is another one")
        self.shapes = _generalized(list(map(tuple, inputs)), lengths)
        self.functions, self._attributes = [], []
        sizes: list = []
        for number, node in enumerate(self.reference.nodes):
            ops = [structure.nodes[number].signature.op for structure in structures]
            parts = ops[0]
            if any(op is not parts for op in ops):
                parts = _generalized(list(map(_parts, ops)), lengths)
                self._attributes.append((number, parts))
            self.functions.append(_named(_function(parts), node.signature.op))
            avals = [_avals(structure.nodes[number]) for structure in structures]
            if any([a.numpy for a in row] != [a.numpy for a in avals[0]] for row in avals):
                raise NotPadded(f"{node.signature.op.public} gives another type")
            avals = zip(*avals, strict=True)
            shapes = [_generalized([aval.shape for aval in row], lengths) for row in avals]
            if _is_open(shapes) and not node.signature.op.can_be_opened:
                # It may compare lengths as it likes.
                raise NotPadded(f"{node.signature.op.public} was written by the program itself")
            sizes.append(shapes)
        self._lengths = sizes
        self._told: dict[Any, Callable] = {}
        self._inputs = [
            next(
                (number, axis)
                for number, shape in enumerate(self.shapes)
                for axis, length in enumerate(shape)
                if length is symbol or length == symbol
            )
            for symbol in self.symbols
        ]
        self.traced: dict[Any, Any] = {}
        self.programs: dict[Any, Compiled] = {}
        self._refused: dict[Any, str] = {}
        # By what is asked of the record, the indices that it computes, and their limits.
        self._inside: dict[Any, tuple] = {}
        self.lock = threading.Lock()

    def sizes(self, structure: Structure) -> tuple[int, ...] | None:
        """The sizes of the symbols in a structure; None if it is not one of these.

        Raises:
            NotPadded: it is, but an open length is a special one.
        """
        shapes = [shape or () for shape in structure.inputs]
        sizes = tuple([shapes[number][axis] for number, axis in self._inputs])
        if min(sizes) < 2:
            raise NotPadded("a length is 1, which might change what operators do")
        if min(sizes) < self._least or self.at(self.shapes, sizes) != tuple(shapes):
            return None
        for number, parts in self._attributes:
            if not _is_same(self.at(parts, sizes), _parts(structure.nodes[number].signature.op)):
                return None
        nodes = zip(structure.nodes, self.reference.nodes, strict=True)
        attributes = {number for number, _ in self._attributes}
        for number, (node, reference) in enumerate(nodes):
            if number not in attributes and node.signature.op is not reference.signature.op:
                return None
            pairs = zip(_avals(node), _avals(reference), strict=True)
            if any(aval.numpy != known.numpy for aval, known in pairs):
                return None
            shapes = [aval.shape for aval in _avals(node)]
            if [self.at(shape, sizes) for shape in self._lengths[number]] != shapes:
                return None
            if not self._is_general(self._lengths[number], sizes):
                name = reference.signature.op.public
                raise NotPadded(
                    f"a length of {name} is 1, or equals another one by chance, which might "
                    "change what it does"
                )
        return sizes

    def program(self, executable, room: tuple[int, ...]) -> Compiled:
        """The program of a record for some room."""
        _, live, guards, packs, indices, _ = executable.parts
        inside = () if indices is None else indices.inside
        asked = live, guards, packs
        with self.lock:
            if self._inside.setdefault(asked, inside) != inside:
                raise NotPadded("indices that it computes point into an open length")
            if asked in self._refused:
                raise NotPadded(self._refused[asked])
            known = self.programs.get((asked, room))
            if known is None:
                try:
                    jaxpr = self.traced.get(asked)
                    if jaxpr is None:
                        jaxpr = self.traced[asked] = self._traced(executable)
                    known = self.programs[asked, room] = self._written(executable, jaxpr, room)
                except NotPadded as error:
                    self._refused[asked] = str(error)
                    raise
                if len(self.programs) > MOST_PROGRAMS:
                    del self.programs[next(iter(self.programs))]
        return known

    def _traced(self, executable):
        nodes = self.reference.nodes
        scopes = [node.signature.op.public for node in nodes]
        function = executable.written(self.functions, scopes)
        try:
            return undisturbed(jax.make_jaxpr(function), *self._structs(self.shapes))
        except NotPadded:
            raise
        except Exception as error:
            if came_from_outside(error):
                raise
            reason = str(error).partition("\n")[0]
            raise NotPadded(f"what is looked at depends on a length ({reason})") from error

    def _written(self, executable, jaxpr, room) -> Compiled:
        tuning = backend.tuning
        if tuning.padding is None:
            raise NotPadded("no rules are known")
        run, axes, open_lengths = tuning.padding.written(jaxpr, self.names, room)
        function = executable.jitted(run)
        sizes = jax.ShapeDtypeStruct((len(room),), np.int32)
        shapes = [self.at(shape, room) for shape in self.shapes]
        try:
            undisturbed(jax.eval_shape, run, sizes, *self._structs(shapes))
        except Exception as error:
            if came_from_outside(error):
                raise
            reason = str(error).partition("\n")[0]
            operator = getattr(error, "operator", "")
            raise NotPadded(f"{operator}: no rule for {reason}" if operator else reason) from error
        return Compiled(function, axes, open_lengths, [])

    def _structs(self, shapes) -> list[jax.ShapeDtypeStruct]:
        """What inputs look like that have these shapes."""
        kinds: dict[int, np.dtype] = {}
        for node in self.reference.nodes:
            for slot, aval in zip(node.inputs, node.signature.inputs, strict=True):
                if slot < 0:
                    kinds[-1 - slot] = aval.numpy
        return [
            jax.ShapeDtypeStruct(shape, kinds.get(number, np.dtype(np.int8)))
            for number, shape in enumerate(shapes)
        ]

    def _is_general(self, shapes, sizes) -> bool:
        """Whether no length of an operator equals another one by chance: what JAX traced with
        symbols takes them to be unequal."""
        lengths = {length for shape in shapes for length in shape}
        found = [self.at(length, sizes) for length in lengths]
        pairs = zip(lengths, found, strict=True)
        least = min((number for n, number in pairs if not isinstance(n, int)), default=2)
        return len(set(found)) == len(found) and least > 1

    def at(self, parts, sizes) -> Any:
        """What symbols are in, for some sizes."""
        if parts.__class__ is tuple:
            return tuple([self.at(part, sizes) for part in parts])
        if isinstance(parts, (int, str, Op)) or not hasattr(parts, "scope"):
            return parts
        known = self._told.get(parts)
        if known is None:
            open_lengths = backend.tuning.open_lengths
            assert open_lengths is not None
            known = self._told[parts] = open_lengths((parts,), self.names)
        return known(sizes)[0]


def _is_open(shapes) -> bool:
    return not all(isinstance(length, int) for shape in shapes for length in shape)


def _avals(node: Node) -> tuple:
    return (*node.signature.inputs, *node.signature.outputs)


def _named(function: Callable, op: Op) -> Callable:
    """A function that tells, where it cannot be traced, whose it is."""

    def traced(*arrays):
        try:
            return function(*arrays)
        except Exception as error:
            if came_from_outside(error):
                raise
            reason = str(error).partition("\n")[0]
            raise NotPadded(f"{op.public} depends on a length ({reason})") from error

    return traced


# -- programs ------------------------------------------------------------------------------------


class Compiled(NamedTuple):
    """The program of a record for one room.

    Attributes:
        function: `function(sizes, *arrays)`.
        axes: of its results.
        lengths: the open ones that are in it.
        ran: not empty once it was compiled.
    """

    function: Any
    axes: list[tuple]
    lengths: set
    ran: list[bool]


class Padded:
    """A record of some lengths, run by the program of its buckets.

    Args:
        executable: what it is the function of.
    """

    def __init__(self, fit: Fit, sizes: tuple[int, ...], executable):
        self._fit, self._sizes = fit, sizes
        self._room = tuple(map(bucket, sizes))
        self._given = np.array(sizes, np.int32)
        self._live = executable.parts[1]
        self._rooms = [fit.at(shape, self._room) for shape in fit.shapes]
        pairs = zip(self._rooms, fit.shapes, strict=True)
        self._longer = [room != fit.at(shape, sizes) for room, shape in pairs]
        self._program = fit.program(executable, self._room)
        for length in self._program.lengths:
            if fit.at(length, sizes) > fit.at(length, self._room):
                raise NotPadded(f"a length of {length} has no room in longer arrays")
        axes = self._program.axes
        self._cut = [any(not isinstance(n, int) for axis in known for n in axis) for known in axes]

    @property
    def compiled(self) -> bool:
        """Whether the program is compiled."""
        return bool(self._program.ran)

    def told(self) -> str:
        """The lengths of the program."""
        return ", ".join(map(str, self._room))

    def __call__(self, *arrays) -> list:
        results = self._program.function(self._given, *self._lengthened(arrays))
        if not self._program.ran:
            self._program.ran.append(True)
        names, tuning = self._fit.names, backend.tuning
        assert tuning.padding is not None
        cut = [n for n, is_cut in enumerate(self._cut) if is_cut]
        rest = names, self._room, self._sizes
        parts = [tuning.padding.cut(results[n], self._program.axes[n], *rest) for n in cut]
        for number, array in zip(cut, tuning.to_arrays(parts), strict=True):
            results[number] = array
        for number, slot in enumerate(self._live):
            if slot < 0:
                results[number] = arrays[-1 - slot]
        return results

    def lower(self, *arrays):
        """The lowered program, for inspection."""
        return self._program.function.lower(self._given, *self._lengthened(arrays))

    def _lengthened(self, arrays) -> list:
        assert backend.tuning.padding is not None
        lengthened = backend.tuning.padding.lengthened
        given: list = [NOTHING] * len(arrays)
        for number, (room, longer) in enumerate(zip(self._rooms, self._longer, strict=True)):
            if self._fit.reference.inputs[number] is not None:
                array = arrays[number]
                given[number] = lengthened(np.asarray(array), room) if longer else array
        return given


# In place of an input that no operator takes.
NOTHING = np.zeros((), np.int8)


class Form:
    """The structures of a family whose inputs are of the same types, and what fits them."""

    def __init__(self):
        self.structures: list[Structure] = []
        self.fit: Fit | None = None
        self.fits = 0

    def padded(self, executable, structure: Structure) -> Padded | None:
        """What runs a record; None for the first one, which runs as it is.

        Raises:
            NotPadded: nothing does.
        """
        if not self.structures:
            self.structures.append(structure)
        if any(structure.key == known.key for known in self.structures) and self.fit is None:
            return None
        sizes = None if self.fit is None else self.fit.sizes(structure)
        if sizes is None:
            sizes = self._fit_anew(structure).sizes(structure)
        assert self.fit is not None
        assert sizes is not None
        return Padded(self.fit, sizes, executable)

    def _fit_anew(self, structure: Structure) -> Fit:
        if self.fits >= MOST_FITS:
            raise NotPadded(f"its structures differ by more than lengths ({MOST_FITS} were tried)")
        self.fits += 1
        others = [known for known in self.structures if known.inputs != structure.inputs]
        if not others:
            raise NotPadded("lengths are among its attributes, but no length of an input changes")
        kept = [*others[: MOST_STRUCTURES - 2], *others[MOST_STRUCTURES - 2 :][-1:], structure]
        self.fit = Fit(kept)
        self.structures = kept
        # From now on the shapes of results follow without tracing.
        for node, other in zip(kept[-2].nodes, structure.nodes, strict=True):
            op, before = other.signature.op, node.signature
            if op is before.op and before is not other.signature:
                op.open(before, other.signature)
        return self.fit


class Padding:
    """How the structures of a family are padded."""

    def __init__(self):
        self._forms: dict[tuple, Form] = {}
        self._lock = threading.RLock()

    def pad(self, executable) -> bool:
        """Run a record by the program of its buckets from now on; whether that can be."""
        with self._lock:
            try:
                padded = self._padded(executable)
            except NotPadded as error:
                machine.account.pads("", str(error))
                return False
        if padded is None:
            return False
        executable.function, executable.compiled = padded, padded.compiled
        machine.account.pads(padded.told(), "")
        return True

    def _padded(self, executable) -> Padded | None:
        if not executable.on_one_device:
            raise NotPadded("it runs on several devices")
        if executable.checked is not None:
            raise NotPadded("numerics are checked")
        structure = structure_of(executable.structure[0])
        return self._forms.setdefault(structure.form, Form()).padded(executable, structure)
