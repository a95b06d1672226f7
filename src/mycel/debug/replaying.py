# SPDX-License-Identifier: Apache-2.0
"""Recorded steps, run again: in other ways, beside each other, up to the first operator that
differs."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from safetensors import SafetensorError, safe_open

from mycel.debug.steps import FORMAT, MACHINERY, PROGRAM, decoded
from mycel.kernel.base import backend
from mycel.kernel.base.dtypes import DType, as_dtype
from mycel.kernel.define.definition import definitions
from mycel.kernel.define.op import Op
from mycel.kernel.execute.describe import describe_array
from mycel.kernel.execute.numerics import state_of

MODES = ("direct", "pynative", "graph")
_FLOATS = ("float16", "bfloat16", "float32")


class StepNode(NamedTuple):
    """One operator of a recorded step.

    Attributes:
        operator: its name, with a ' if it is the reverse of that operator.
        op: what it does.
        inputs: the slots of its inputs, first: of its first output.
        file, line, cell: where it was recorded; a reverse has its forward's.
        reverse: whether it belongs to the reverse.
    """

    operator: str
    op: Op
    inputs: tuple[int, ...]
    file: str
    line: int
    cell: str
    reverse: bool

    def __str__(self):
        where = f" at {self.file}:{self.line}" if self.file else ""
        return f"{self.operator}{where}" + (f" (in {self.cell})" if self.cell else "")


class StepRecord(NamedTuple):
    """What ran together: its nodes, its inputs, and the slots of its results."""

    nodes: list[StepNode]
    inputs: list[np.ndarray]
    live: tuple[int, ...]


class Divergence(NamedTuple):
    """The first operator at which two runs differ.

    Attributes:
        node: the operator; `other`: what stands there in the other recording, if not the same.
        difference: relative to the largest value; infinite where one has NaN, or another shape.
        inputs, outputs: words for what it was given in the first run, and for what both gave; or,
            without outputs, for what both were given from outside.
    """

    node: StepNode
    other: StepNode | None
    difference: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self):
        if self.other is not None:
            return f"The programs differ: {self.node}; in the other {self.other}."
        if not self.outputs:
            told = "\n  ".join(self.inputs)
            return f"The steps were given other values, first used by {self.node}:\n  {told}"
        lines = [f"{self.node} differs by {self.difference:.2e}."]
        lines += [f"  input {index}: {text}" for index, text in enumerate(self.inputs)]
        lines += [f"  output: {self.outputs[0]}", f"  other:  {self.outputs[1]}"]
        return "\n".join(lines)


class RecordedStep:
    """A step that was read from a file of `record_steps`.

    Args:
        path: the file.
        dtype: "float64" lets everything that is real run in that precision; by default as
            recorded. Operators that are kept as StableHLO keep their own.

    Raises:
        OSError: there is no such file, or it is a folder.
        ValueError: it is damaged, of a newer version, or no recorded step.
    """

    def __init__(self, path: str | os.PathLike, dtype: str | None = None):
        if os.path.isdir(path):
            raise IsADirectoryError(f"{os.fspath(path)} is a folder: name one of its step_N.mycel.")
        try:
            with safe_open(path, "numpy") as file:
                text = (file.metadata() or {}).get(PROGRAM)
                program = json.loads(text) if text else None
                if program is None or program.get("format") != FORMAT:
                    raise ValueError("it is no recorded step that this version reads")
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            self._dtype = None if dtype is None else as_dtype(np.dtype(dtype))
            self.number: int = program["step"]
            ops = [self._op(spec, arrays) for spec in program["operators"]]
            self.records = [self._record(told, ops, arrays) for told in program["records"]]
        except (SafetensorError, KeyError, TypeError, IndexError, ValueError) as error:
            raise ValueError(
                f"{os.fspath(path)} cannot be replayed: {type(error).__name__}: {error}"
            ) from error

    def _record(self, told: dict, ops: list[Op], arrays) -> StepRecord:
        nodes = [
            StepNode(
                ops[number].called(""), ops[number], tuple(inputs), file, line, cell, bool(reverse)
            )
            for number, inputs, file, line, cell, reverse in told["nodes"]
        ]
        inputs = [self._widened(arrays[name]) for name in told["inputs"]]
        return StepRecord(nodes, inputs, tuple(told["live"]))

    def _widened(self, array: np.ndarray) -> np.ndarray:
        wide = self._dtype is not None and array.dtype.name in _FLOATS
        return array.astype(self._dtype.numpy) if wide and self._dtype is not None else array

    def _op(self, spec: dict, arrays: dict[str, np.ndarray]) -> Op:
        """The operator of a specification; one among processes gives what it gave."""
        if "received" in spec:
            return _received(spec["name"], [self._widened(arrays[n]) for n in spec["received"]])
        if "same" in spec:
            return Op(spec["name"], lambda *inputs: inputs[spec["same"]])
        if "machine" in spec:
            return MACHINERY[spec["machine"]]
        if "reverse" in spec:
            return self._op(spec["reverse"], arrays).reverse(
                tuple(spec["mask"]), tuple(spec["present"])
            )
        if "batched" in spec:
            return self._op(spec["batched"], arrays).batched(tuple(spec["mask"]))
        if "stablehlo" in spec:
            return self._exported(spec["name"], base64.b64decode(spec["stablehlo"]))
        if spec["define"] not in definitions:
            raise ValueError(f"this version of mycel has no operator {spec['define']!r}")
        values = [self._static(decoded(value)) for value in spec["values"]]
        present = spec["present"]
        present = None if present is None else tuple(present)
        return definitions[spec["define"]].bind(*values, present=present)

    def _static(self, value):
        """A static value; a type of real numbers, also as a name, is the wide one."""
        if self._dtype is None:
            return value
        if isinstance(value, tuple):
            return tuple(map(self._static, value))
        if isinstance(value, (DType, np.dtype)) and value.name in _FLOATS:
            return self._dtype if isinstance(value, DType) else self._dtype.numpy
        return self._dtype.name if isinstance(value, str) and value in _FLOATS else value

    def _exported(self, name: str, data: bytes) -> Op:
        """An operator that is kept as StableHLO: it computes as it was, and gives what is wide."""
        found = export.deserialize(bytearray(data))
        expected, wide = found.in_avals, self._dtype

        def function(*arrays):
            given = [a.astype(aval.dtype) for a, aval in zip(arrays, expected, strict=True)]
            results = found.call(*given)
            several = isinstance(results, (tuple, list))
            results = tuple(results) if several else (results,)
            if wide is not None:
                results = tuple(
                    [r.astype(wide.numpy) if r.dtype.name in _FLOATS else r for r in results]
                )
            return results if several else results[0]

        return Op(name, function)

    # -- running --------------------------------------------------------------------------------

    def run(self, mode: str = "direct", before: Callable[..., None] | None = None) -> list[list]:
        """What each node of each record gives.

        Args:
            mode: "direct" runs operator by operator; "graph" and "pynative" compile each record as
                one program, as it was recorded.
            before: called with each node and its inputs before it runs (direct only).

        Raises:
            ValueError: no such mode.
        """
        if mode not in MODES:
            raise ValueError(f"The mode is one of {', '.join(MODES)}, not {mode!r}.")
        return [
            self._directly(record, before) if mode == "direct" else self._compiled(record)
            for record in self.records
        ]

    def _directly(self, record: StepRecord, before) -> list:
        def run(op, *inputs):
            return op.jitted(*inputs)

        return _walk(record, record.inputs, run, before)

    def _compiled(self, record: StepRecord) -> list:
        def program(*inputs):
            return _walk(record, inputs, lambda op, *given: op.function(*given), None)

        return list(jax.jit(program, compiler_options=backend.compiler_options())(*record.inputs))

    def find_nan(self) -> str | None:
        """Words about the first operator that makes something that is not finite from finite
        values, run one by one; None if there is none."""
        found: list[str] = []

        def look(node: StepNode, given, results) -> None:
            if found or any(map(state_of, given)) or not given:
                return
            if any(map(state_of, results)):
                lines = [f"step {self.number}: {node} makes what is not finite from finite values."]
                lines += [f"  input {i}: {describe_array(a)}" for i, a in enumerate(given)]
                lines += [f"  output: {describe_array(array)}" for array in results]
                found.append("\n".join(lines))

        for record, made in zip(self.records, self.run(), strict=True):
            for node, given, results in _with_values(record, made):
                look(node, given, results)
        return found[0] if found else None

    def first_difference(
        self, other: RecordedStep, modes=("direct", "direct"), tolerance: float = 1e-4
    ) -> Divergence | None:
        """The first operator at which this step, in the first mode, and another, in the second,
        give values that differ by more than a tolerance; None if they agree."""
        runs = [step.run(mode) for step, mode in zip((self, other), modes, strict=True)]
        nodes = [
            [one for record, made in zip(step.records, run, strict=True)
             for one in _with_values(record, made)]
            for step, run in zip((self, other), runs, strict=True)
        ]  # fmt: skip
        for (node, given, results), (node_2, given_2, results_2) in zip(*nodes, strict=False):
            if node.operator != node_2.operator:
                return Divergence(node, node_2, float("inf"), (), ("", ""))
            for mine, slot in zip(given, node.inputs, strict=True):
                theirs = given_2[node.inputs.index(slot)]
                if slot < 0 and (far := _difference(mine, theirs)) > tolerance:
                    told = (describe_array(mine), describe_array(theirs))
                    return Divergence(node, None, far, told, ())
            for a, b in zip(results, results_2, strict=True):
                far = _difference(a, b)
                if far > tolerance:
                    told = tuple([describe_array(array) for array in given])
                    return Divergence(node, None, far, told, (describe_array(a), describe_array(b)))
        short, long = sorted(nodes, key=len)
        if len(short) != len(long):
            following = long[len(short)][0]
            return Divergence(following, following, float("inf"), (), ("", ""))
        return None


def _walk(record: StepRecord, inputs, run, before) -> list:
    made: list = []
    for node in record.nodes:
        given = [made[slot] if slot >= 0 else inputs[-1 - slot] for slot in node.inputs]
        if before is not None:
            before(node, given)
        result = run(node.op, *given)
        made += result if isinstance(result, (tuple, list)) else [result]
    return made


def _with_values(record: StepRecord, made: list) -> Iterator[tuple[StepNode, list, list]]:
    """Each node with what it was given and gave."""
    avals: dict[int, Any] = {}
    position = 0
    for node in record.nodes:
        given = [made[slot] if slot >= 0 else record.inputs[-1 - slot] for slot in node.inputs]
        structs = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in given]
        result = avals.setdefault(id(node), jax.eval_shape(node.op.function, *structs))
        count = len(result) if isinstance(result, (tuple, list)) else 1
        yield node, given, made[position : position + count]
        position += count


def _received(name: str, results: list[np.ndarray]) -> Op:
    """An operator among processes: the others are not there, what they sent is."""

    def function(*arrays):
        del arrays
        return tuple(map(jnp.asarray, results))

    return Op(name, function)


def _difference(a, b) -> float:
    if np.shape(a) != np.shape(b):
        return float("inf")
    first, second = (np.asarray(x) for x in (a, b))
    if first.dtype.kind in "biu" or not first.size:
        return 0.0 if np.array_equal(first, second) else float("inf")
    kind = np.complex128 if np.iscomplexobj(first) else np.float64
    first, second = first.astype(kind), second.astype(kind)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    if same.all():
        return 0.0
    apart = np.abs(first - second)[~same]
    if not np.isfinite(apart).all():
        return float("inf")
    largest = np.abs(first[np.isfinite(first)]).max(initial=0.0)
    return float(apart.max() / max(largest, 1e-30))
