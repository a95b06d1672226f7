# SPDX-License-Identifier: Apache-2.0
"""record_steps: the last steps of a program, kept as they ran, and written when one fails.

A step is one or more records (what ran together as one program), each with its inputs. Arrays do
not change, so that keeping them copies nothing. A file has the arrays as safetensors, and as a text
the operators: by their definitions, or, where they have none, as StableHLO.
"""

from __future__ import annotations

import base64
import json
import os
from collections import deque
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import export
from safetensors.numpy import save_file

from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.context import count_steps
from mycel.kernel.base.division import fetched
from mycel.kernel.base.dtypes import DType, as_dtype
from mycel.kernel.base.places import path_of
from mycel.kernel.base.version import __version__
from mycel.kernel.define.constraint import Constraint, Entered, Micro
from mycel.kernel.define.definition import Definition, definitions
from mycel.kernel.define.op import Op
from mycel.kernel.differentiate import reverse
from mycel.kernel.execute.compile import decode
from mycel.kernel.execute.numerics import present_steps
from mycel.kernel.record import generator, marker
from mycel.kernel.record.stream import current_stream, machine, place_of
from mycel.tuning.native.cpp import portable

FORMAT = 1
# In the metadata of a file, where checkpoints have texts (checkpoint.safetensors_format).
PROGRAM = "text:program"
SUFFIX = ".mycel"
# Operators of the machine itself, which have no definition.
MACHINERY = {
    op.name: op
    for op in (
        reverse.STOP, reverse.ADD, reverse.ONES, reverse.ZEROS, generator.NEXT_KEY, marker.COPY
    )
}  # fmt: skip


class Record(NamedTuple):
    """What ran together.

    Attributes:
        key, places: the nodes and where they were recorded (see record.stream.Segment).
        inputs: the arrays from outside; `live`: the slots of the results.
        received: what operators among processes gave, in their order.
    """

    key: tuple
    places: list
    inputs: list
    live: tuple
    received: list[list]


class RecordedSteps:
    """The last steps; a context manager.

    Attributes:
        written: the paths of the files that were written.
    """

    def __init__(self, last: int, folder: str):
        self._last, self._folder = last, folder
        self._steps: deque[tuple[int, list[Record]]] = deque(maxlen=last)
        self.written: list[str] = []
        self._before: Any = (None, None)

    def __enter__(self) -> RecordedSteps:
        os.makedirs(self._folder, exist_ok=True)  # not only when there is something to write
        current_stream().flush()
        self._before = machine.on_record, machine.on_communication
        machine.on_record, machine.on_communication = self._note, self._hear
        count_steps(1)
        return self

    def __exit__(self, kind, error, trace) -> None:
        try:
            if error is not None:
                self._write_beside(error)
        finally:
            machine.on_record, machine.on_communication = self._before
            count_steps(-1)

    def _write_beside(self, error: BaseException) -> None:
        """Write the steps; what hinders that takes nothing from the program's own exception."""
        try:
            self.write()
        except OSError as hindered:
            error.add_note(f"The last steps could not be written: {hindered}")

    def _note(self, executable, key, places, inputs, live) -> None:
        if self._before[0] is not None:
            self._before[0](executable, key, places, inputs, live)
        number = present_steps().number
        if not self._steps or self._steps[-1][0] != number:
            self._steps.append((number, []))
        record = Record(tuple(key), list(places), list(inputs), tuple(live), [])
        self._steps[-1][1].append(record)

    def _hear(self, signature, results: list, *times) -> None:
        if self._before[1] is not None:
            self._before[1](signature, results, *times)
        if self._steps:
            self._steps[-1][1][-1].received.append(list(results))

    def write(self) -> list[str]:
        """Write each of the steps to a file of its own; their paths.

        Raises:
            OSError: the folder cannot be written.
        """
        current_stream().flush()
        os.makedirs(self._folder, exist_ok=True)
        paths = []
        for number, records in self._steps:
            path = os.path.join(self._folder, f"step_{number}{SUFFIX}")
            arrays, program = _contents(number, records)
            with replaced(path) as partial:
                save_file(arrays, partial, {"format": "mycel", PROGRAM: program})
            paths.append(path)
        self.written += [path for path in paths if path not in self.written]
        return paths


def record_steps(last: int = 3, folder: str = "steps") -> RecordedSteps:
    """Keep the last steps of a program: their inputs, Parameters, random state and operators.

    When an exception leaves the block, each is written to a file `step_N.mycel`; `write()` does it
    at any time. `mycel replay step_N.mycel` runs one again, in another process, without the
    program and its data: operator by operator or compiled, in another precision, and beside
    another recording, up to the first operator that differs. With `find_nan` inside the block, the
    step that makes NaN is written.

    Args:
        last: how many steps are kept. Default: 3.
        folder: where the files are written. Default: "steps".

    Raises:
        ValueError: `last` is less than 1.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> step = ms.jit(lambda x: ops.log(x).sum())
        >>> try:
        ...     with ms.debug.record_steps(2, folder) as recorded, ms.debug.find_nan():
        ...         for number in (3.0, 2.0, 1.0, 0.0):
        ...             y = step(Tensor([number]))
        ... except FloatingPointError:
        ...     [path.removeprefix(folder)[1:] for path in recorded.written]
        ['step_3.mycel', 'step_4.mycel']
    """
    if isinstance(last, bool) or not isinstance(last, int) or last < 1:
        raise ValueError(f"last must be a number of steps from 1 on, not {last!r}.")
    return RecordedSteps(last, os.fspath(folder))


# -- files --------------------------------------------------------------------------------------


def _contents(number: int, records: list[Record]) -> tuple[dict[str, np.ndarray], str]:
    """What a file of a step holds: arrays, and the program as text."""
    arrays: dict[int, str] = {}
    contents: dict[str, np.ndarray] = {}
    specs = _Specs()
    texts = []

    def name_of(array) -> str:
        if id(array) not in arrays:
            arrays[id(array)] = f"array.{len(arrays)}"
            contents[arrays[id(array)]] = np.asarray(fetched(array), order="C")
        return arrays[id(array)]

    for record in records:
        names = [name_of(array) for array in record.inputs]
        nodes, live, received = [], record.live, iter(record.received)
        for index, node in enumerate(decode(record.key)):
            spec = None
            if node.signature.op.collective:
                results = next(received, None)
                if results is None:  # it failed, and what follows did not run
                    live = tuple([slot for slot in live if slot < node.first])
                    break
                spec = specs.of_received(node.signature, list(map(name_of, results)))
            place = place_of(record.places, index)
            reverse_of = isinstance(record.places[3 * index], int)
            where = [place.file, place.line, path_of(place.called), reverse_of]
            spec = specs.of(node.signature) if spec is None else spec
            nodes.append([spec, list(node.inputs), *where])
        texts.append({"nodes": nodes, "inputs": names, "live": list(live)})
    program = {
        "format": FORMAT, "step": number, "mycel": __version__, "jax": jax.__version__,
        "records": texts, "operators": specs.told,
    }  # fmt: skip
    return contents, json.dumps(program)


class _Specs:
    """The operators of a step, each once."""

    def __init__(self):
        self.told: list[dict] = []
        self._numbers: dict[int, int] = {}
        self._known: dict[int, dict] = {}
        for definition in definitions.values():
            if _draws(definition):
                continue  # in another type it would draw other numbers: kept as StableHLO
            for (values, present, _), op in definition._ops.items():
                self._add(op, {"define": definition.name, "values": values, "present": present})
        for name, op in MACHINERY.items():
            self._add(op, {"machine": name})

    def _add(self, op: Op, spec: dict) -> None:
        self._known[id(op)] = spec
        for (mask, present), following in op._reverses.items():
            self._add(following, {"reverse": spec, "mask": mask, "present": present})
        for mask, following in op._batched.items():
            self._add(following, {"batched": spec, "mask": mask})

    def of(self, signature) -> int:
        """The number of a signature's operator in this file."""
        if signature.id not in self._numbers:
            self._numbers[signature.id] = len(self.told)
            self.told.append(self._spec(signature))
        return self._numbers[signature.id]

    def of_received(self, signature, names: list[str]) -> int:
        """The number of an operator among processes, which gave these arrays."""
        self.told.append({"name": signature.op.name, "received": names})
        return len(self.told) - 1

    def _spec(self, signature) -> dict:
        op = signature.op
        says_where = Constraint, Entered, Micro  # and changes no value
        if isinstance(op, says_where) and signature.single:
            return {"name": op.name, "same": len(signature.inputs) - 1}
        spec = self._known.get(id(op))
        if spec is not None:
            try:
                return {"name": op.name, **_encoded_spec(spec)}
            except TypeError:
                pass  # a static value that is an object of the program
        structs = [aval.struct for aval in signature.inputs]
        with portable():
            exported = export.export(jax.jit(op.function))(*structs).serialize()
        return {"name": op.name, "stablehlo": base64.b64encode(exported).decode()}


def _draws(definition: Definition) -> bool:
    """Whether an operator draws random numbers of the type of its inputs, from a key."""
    module = getattr(definition.function, "__module__", "")
    return "key" in definition.arrays and module.startswith("mycel.ops.random.")


def _encoded_spec(spec: dict) -> dict:
    told = dict(spec)
    for inner in ("reverse", "batched"):
        if inner in told:
            told[inner] = _encoded_spec(told[inner])
    if "values" in told:
        told["values"] = [_encoded(value) for value in told["values"]]
    return told


def _encoded(value):
    """A static value as JSON has it.

    Raises:
        TypeError: it is none of those that can be written.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"int": str(int(value))}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, DType):
        return {"dtype": value.numpy.name}
    if isinstance(value, np.dtype):
        return {"numpy": value.name}
    if type(value) is tuple:
        return [_encoded(part) for part in value]
    raise TypeError(type(value).__name__)


def decoded(value):
    """A static value from JSON; the inverse of `_encoded`."""
    if isinstance(value, list):
        return tuple([decoded(part) for part in value])
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    if kind == "int":
        return int(text)
    if kind == "float":
        return float.fromhex(text)
    if kind == "complex":
        return complex(float.fromhex(text[0]), float.fromhex(text[1]))
    return as_dtype(np.dtype(text)) if kind == "dtype" else np.dtype(text)
