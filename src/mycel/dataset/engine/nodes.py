# SPDX-License-Identifier: Apache-2.0
"""Datasets made of datasets: changed, chosen, ordered and joined rows. Batches are in batching."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from mycel.dataset import config
from mycel.dataset.engine import chance, worker
from mycel.dataset.engine.callbacks import CalledBack, checked_callbacks
from mycel.dataset.engine.dataset import Dataset, UnionBaseDataset
from mycel.dataset.engine.debugging import shown
from mycel.dataset.engine.machinery import Flow, Row, Steps, of_passes
from mycel.dataset.engine.session import Run
from mycel.dataset.engine.together import Columns, Together
from mycel.dataset.engine.workers import InProcesses
from mycel.dataset.transforms.chains import Compose, prepared
from mycel.dataset.transforms.operations import makes_new
from mycel.dataset.transforms.together import together_of
from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import MadeAt
from mycel.kernel.base.signals import came_from_outside

FAILED = "{operation} on the column(s) {columns} of {dataset}"
RAISED = "{operation} failed: {kind}: {text}"
WRONG_COUNT = (
    "{operation} gave {actual} column(s), but output_columns has {expected}: {names}. Return a "
    "tuple with one value for each, or name what it returns in output_columns."
)
TAKEN = "{dataset}: the name {name!r} would be given to two columns; the columns are {columns}."


def name_list(value, what: str) -> list[str]:
    """Column names as a list, from one or several.

    Raises:
        TypeError: something else.
        ValueError: there are no names, or one is there twice.
    """
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise wrong(TypeError, what, "a name or a list of names", repr(value))
    if not names or not all(names) or len(set(names)) < len(names):
        raise wrong(ValueError, what, "at least one name, each once", repr(value))
    return list(names)


def integer(value, what: str, least: int) -> int:
    """An integer that is large enough."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise wrong(TypeError, what, "an integer", repr(value))
    if value < least:
        raise wrong(ValueError, what, f"at least {least}", value)
    return int(value)


def operation_name(operation) -> str:
    """How errors call an operation."""
    known = getattr(operation, "__qualname__", None) or type(operation).__qualname__
    return known.replace("<locals>.", "")


def outputs_in_place(columns: list[str], inputs: list[str], outputs: list[str]) -> list[str]:
    """The columns behind an operation: in place where their number stays, else in front. Another
    column of such a name gives way."""
    if len(inputs) == len(outputs):
        renamed = dict(zip(inputs, outputs, strict=True))
        kept = [name for name in columns if name in renamed or name not in outputs]
        return [renamed.get(name, name) for name in kept]
    return outputs + [name for name in columns if name not in inputs and name not in outputs]


class MapDataset(UnionBaseDataset):
    """Rows with changed columns; made by `Dataset.map`."""

    def __init__(
        self,
        input_dataset,
        operations=None,
        input_columns=None,
        output_columns=None,
        num_parallel_workers=None,
        python_multiprocessing=False,
        cache=None,
        callbacks=None,
        max_rowsize=None,
        offload=None,
        **unknown,
    ):
        if unknown:
            expected = "operations, input_columns, output_columns and the like"
            raise wrong(TypeError, "The keywords of map", expected, sorted(unknown))
        super().__init__(input_dataset, num_parallel_workers, cache)
        operations = operations if isinstance(operations, (list, tuple)) else [operations]
        if not operations:
            raise wrong(ValueError, "map: operations", "at least one", "none")
        self.operations: list[Callable] = []
        for operation in operations:
            if not callable(operation):
                expected = "something that can be called, or a list of such"
                raise wrong(ValueError, "map: operations", expected, repr(operation))
            self.operations.append(operation)
        self.input_columns = name_list(input_columns, "map: input_columns") if input_columns else []
        self.output_columns = (
            name_list(output_columns, "map: output_columns") if output_columns else []
        )
        self.python_multiprocessing = bool(python_multiprocessing)
        self.callbacks = checked_callbacks(callbacks)
        log.without_effect("map", {"offload": offload} if offload else {})
        self.max_rowsize, self.offload = max_rowsize, offload

    def _inputs(self) -> list[str]:
        return self.checked_below(self.input_columns or self.children[0]._columns()[:1])

    def checked_below(self, names: Sequence[str]) -> list[str]:
        """These names, if the dataset below has them."""
        self.children[0].checked(names)
        return list(names)

    def _columns(self) -> list[str]:
        inputs = self._inputs()
        columns = self.children[0]._columns()
        return outputs_in_place(columns, inputs, self.output_columns or inputs)

    def _named(self, number: int | None = None) -> str:
        if number is None or number >= len(self.operations):
            operation = ", ".join(operation_name(each) for each in self.operations)
        else:
            operation = operation_name(self.operations[number])
        columns = self.input_columns or self.children[0]._columns()[:1]
        return FAILED.format(operation=f"map: {operation}", columns=columns, dataset=self.name)

    def _joined(self) -> Callable[[Row, tuple], Row]:
        """What puts the results of the operations into a row."""
        columns, outputs = self._columns(), self.output_columns or self._inputs()

        def join(row: Row, made: tuple) -> Row:
            if len(made) != len(outputs):
                raise RuntimeError(
                    WRONG_COUNT.format(
                        operation=self._named(),
                        actual=len(made),
                        expected=len(outputs),
                        names=outputs,
                    )
                )
            changed = dict(zip(outputs, made, strict=True))
            return {name: changed[name] if name in changed else row[name] for name in columns}

        return join

    def _changed(self, run: Run) -> Callable[[int, Row], Row]:
        """What changes a row, by its number and itself."""
        inputs, join, numbers = self._inputs(), self._joined(), run.numbers(self)
        operations = prepared(self.operations)
        if run.session.debug and config.settings.debug_mode:
            operations = shown(operations)
        # Asked in each pass: a program may change the operations between them.
        new = all(map(makes_new, Compose.decompose(self.operations)))

        def change(number: int, row: Row) -> Row:
            arguments = tuple([row[name] for name in inputs])
            return join(row, self._apply(operations, new, arguments, numbers(number)))

        return change

    def _flow(self, run: Run) -> Flow:
        inputs, change = self._inputs(), self._changed(run)
        flow = self.children[0]._flow(run)
        content = None if self.callbacks else self._content(run)
        if content is not None:
            workers = config.workers_of(self.num_parallel_workers)

            def begin(parent):
                return InProcesses(
                    lambda: run.session.pool(self, content, workers, self._named),
                    lambda row, number: tuple([row[name] for name in inputs]),
                    self._joined(),
                    run.numbers(self),
                    parent,
                )

            return flow.then(begin)
        if self.callbacks:
            place = run.session.place(self)
            return flow.then(lambda parent: CalledBack(self.callbacks, change, run, place, parent))
        if config.settings.error_samples_mode is not config.ErrorSamplesMode.RETURN:
            mode = config.settings.error_samples_mode
            return flow.then(lambda parent: _Tolerant(mode, change, parent))
        return flow.map(change, 1 if run.session.debug else self._threads())

    def _together(self, run: Run) -> Together | None:
        inputs, columns = self._inputs(), self._columns()
        outputs = self.output_columns or inputs
        operations = Compose.decompose(self.operations)
        steps = [step for step in map(together_of, operations) if step is not None]
        if self.callbacks or len(steps) < len(operations) or len(inputs) > 1 or len(outputs) > 1:
            return None
        if config.settings.error_samples_mode is not config.ErrorSamplesMode.RETURN:
            return None
        below = self.children[0]._together(run)
        if below is None:
            return None

        def many(found: Columns) -> Columns:
            rows = found[inputs[0]]
            for step in steps:
                rows = step(rows)
            return {name: rows if name == outputs[0] else found[name] for name in columns}

        # No operation that changes many rows at once draws by chance, so no row needs its number.
        return below.changed(many, functools.partial(self._changed(run), 0), self._threads())

    def _threads(self) -> int:
        """Threads: as many as were asked for; the default only where all operations are ours."""
        if self.num_parallel_workers is not None:
            return self.num_parallel_workers
        ours = all(type(each).__module__.startswith("mycel.") for each in self.operations)
        return config.settings.num_parallel_workers if ours else 1

    def _content(self, run: Run) -> bytes | None:
        """The operations for worker processes; None where they run in threads."""
        if not self.python_multiprocessing or run.session.debug:
            return None
        if config.workers_of(self.num_parallel_workers) < 2:
            return None
        return run.session.content(self, self.operations)

    def _apply(self, operations: Sequence, new: bool, arguments: tuple, numbers: tuple) -> tuple:
        reached = [0]
        try:
            with chance.row(*numbers), MadeAt(self.place):
                made = worker.apply(operations, arguments, lambda n: reached.__setitem__(0, n))
            return worker.own_columns(made, arguments, new)
        except Exception as error:
            if came_from_outside(error):
                raise
            raise RuntimeError(
                RAISED.format(
                    operation=self._named(reached[0]), kind=type(error).__name__, text=error
                )
            ) from error


class _Tolerant(Steps):
    """Rows whose operation raises are left out, or replaced by the row before."""

    def __init__(self, mode, change: Callable, parent):
        self._mode, self._change, self._parent = mode, change, parent
        self._number = 0
        self._last: Row | None = None

    def __next__(self) -> Row:
        while True:
            row = next(self._parent)
            self._number += 1
            last = self._last
            try:
                last = self._last = self._change(self._number - 1, row)
            except RuntimeError:
                if self._mode is config.ErrorSamplesMode.SKIP or last is None:
                    continue
            return last

    def get_state(self) -> dict:
        return {"number": self._number, "parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._number = state["number"]
        self._parent.set_state(state["parent"])


class FilterDataset(UnionBaseDataset):
    """The rows that a function wants; made by `Dataset.filter`."""

    def __init__(self, input_dataset, predicate, input_columns=None, num_parallel_workers=None):
        super().__init__(input_dataset, num_parallel_workers)
        if not callable(predicate):
            raise wrong(TypeError, "filter: predicate", "a function", repr(predicate))
        self.predicate = predicate
        self.input_columns = (
            name_list(input_columns, "filter: input_columns") if input_columns else []
        )

    def _size(self):
        return None

    def _flow(self, run: Run) -> Flow:
        names = self.children[0].checked(self.input_columns or self._columns())

        def wanted(row: Row) -> bool:
            try:
                with MadeAt(self.place):
                    return bool(self.predicate(*[row[name] for name in names]))
            except Exception as error:
                if came_from_outside(error):
                    raise
                operation = f"filter: {operation_name(self.predicate)}"
                operation = FAILED.format(operation=operation, columns=names, dataset=self.name)
                raise RuntimeError(
                    RAISED.format(operation=operation, kind=type(error).__name__, text=error)
                ) from error

        return self.children[0]._flow(run).then(lambda parent: _Filtered(wanted, parent))


class _Filtered(Steps):
    def __init__(self, wanted: Callable, parent):
        self._wanted, self._parent = wanted, parent

    def __next__(self) -> Row:
        while True:
            row = next(self._parent)
            if self._wanted(row):
                return row

    def get_state(self) -> dict:
        return {"parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._parent.set_state(state["parent"])


class ShuffleDataset(UnionBaseDataset):
    """Rows shuffled within windows; made by `Dataset.shuffle`."""

    def __init__(self, input_dataset, buffer_size):
        super().__init__(input_dataset)
        self.buffer_size = integer(buffer_size, "shuffle: buffer_size", 2)

    def _flow(self, run: Run) -> Flow:
        seed = int(run.chances(self).own().integers(1 << 31))
        return self.children[0]._flow(run).shuffle(self.buffer_size, seed)


class RepeatDataset(UnionBaseDataset):
    """All rows again and again; made by `Dataset.repeat`."""

    def __init__(self, input_dataset, count=None):
        super().__init__(input_dataset)
        count = -1 if count is None else count
        integer(count, "repeat: count", -1)
        if count == 0:
            raise wrong(ValueError, "repeat: count", "-1 or at least 1", 0)
        self.count = count

    def _size(self):
        size = self.children[0].get_dataset_size()
        # An endless repetition has the size of what it repeats, as in MindSpore.
        return size * max(self.count, 1)

    def get_repeat_count(self) -> int:
        below = self.children[0].get_repeat_count()
        return -1 if -1 in (below, self.count) else below * self.count

    get_repeat_count.__doc__ = Dataset.get_repeat_count.__doc__

    def _flow(self, run: Run) -> Flow:
        child = self.children[0]
        if self.count == 1:
            return child._flow(run)
        # An endless repetition is one epoch; its passes need no room between those of others.
        return of_passes(lambda made: child._flow(run.passes(self.count, made)), self.count)


class SkipDataset(UnionBaseDataset):
    """Without the first rows; made by `Dataset.skip`."""

    def __init__(self, input_dataset, count):
        super().__init__(input_dataset)
        self.count = integer(count, "skip: count", 0)

    def _size(self):
        size = self.children[0]._size()
        return None if size is None else max(size - self.count, 0)

    def _flow(self, run: Run) -> Flow:
        return self.children[0]._flow(run).skip(self.count)

    def _together(self, run: Run) -> Together | None:
        below = self.children[0]._together(run)
        return None if below is None else below.part(self.count, None)


class TakeDataset(UnionBaseDataset):
    """The first rows; made by `Dataset.take`."""

    def __init__(self, input_dataset, count=-1):
        super().__init__(input_dataset)
        self.count = integer(count, "take: count", -1)
        if count == 0:
            raise wrong(ValueError, "take: count", "-1 or at least 1", 0)

    def _size(self):
        size = self.children[0]._size()
        return size if self.count < 0 or size is None else min(size, self.count)

    def _flow(self, run: Run) -> Flow:
        flow = self.children[0]._flow(run)
        return flow if self.count < 0 else flow.take(self.count)

    def _together(self, run: Run) -> Together | None:
        below = self.children[0]._together(run)
        return below if below is None or self.count < 0 else below.part(0, self.count)


class RenameDataset(UnionBaseDataset):
    """Columns under other names; made by `Dataset.rename`."""

    def __init__(self, input_dataset, input_columns, output_columns):
        super().__init__(input_dataset)
        self.input_columns = name_list(input_columns, "rename: input_columns")
        self.output_columns = name_list(output_columns, "rename: output_columns")
        if len(self.input_columns) != len(self.output_columns):
            expected = f"{len(self.input_columns)} names"
            raise wrong(ValueError, "rename: output_columns", expected, self.output_columns)

    def _renamed(self) -> dict[str, str]:
        inputs = self.children[0].checked(self.input_columns)
        return dict(zip(inputs, self.output_columns, strict=True))

    def _columns(self) -> list[str]:
        renamed = self._renamed()
        found = [renamed.get(name, name) for name in self.children[0]._columns()]
        for name in found:
            if found.count(name) > 1:
                raise RuntimeError(TAKEN.format(dataset=self.name, name=name, columns=found))
        return found

    def _flow(self, run: Run) -> Flow:
        rename = self._rename()
        return self.children[0]._flow(run).map(lambda number, row: rename(row))

    def _together(self, run: Run) -> Together | None:
        below, rename = self.children[0]._together(run), self._rename()
        return None if below is None else below.changed(rename, rename)

    def _rename(self) -> Callable[[dict], dict]:
        self._columns()
        renamed = self._renamed()
        return lambda row: {renamed.get(name, name): value for name, value in row.items()}


class ProjectDataset(UnionBaseDataset):
    """Some of the columns; made by `Dataset.project`."""

    def __init__(self, input_dataset, columns):
        super().__init__(input_dataset)
        self.columns = name_list(columns, "project: columns")

    def _columns(self) -> list[str]:
        return self.children[0].checked(self.columns)

    def _flow(self, run: Run) -> Flow:
        project = self._project()
        return self.children[0]._flow(run).map(lambda number, row: project(row))

    def _together(self, run: Run) -> Together | None:
        below, project = self.children[0]._together(run), self._project()
        return None if below is None else below.changed(project, project)

    def _project(self) -> Callable[[dict], dict]:
        names = self._columns()
        return lambda row: {name: row[name] for name in names}
