# SPDX-License-Identifier: Apache-2.0
"""What a worker process runs: this very file, as a program.

It imports nothing but the standard library and NumPy, so that a worker starts quickly; what the
operations need is imported when they are unpickled. Nothing of the program that uses the data set
is run again, so no `if __name__ == "__main__"` is needed there.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import mmap
import pickle
import random
import sys
import traceback
from multiprocessing.connection import Connection

import numpy as np

READY, DONE, RAISED = "ready", "done", "raised"


RANDOMNESS = "mycel.dataset.transforms.randomness"


def apply(operations, arguments: tuple, note=None, several=(tuple,)) -> tuple:
    """Operations one after the other; a result that is not a tuple is one column.

    Args:
        note: called with the number of each operation before it begins.
        several: what holds several columns.
    """
    for number, operation in enumerate(operations):
        if note is not None:
            note(number)
        result = operation(*arguments)
        arguments = tuple(result) if isinstance(result, several) else (result,)
    return arguments


def as_column(value):
    """What Python code gave as a column: an array, or a dictionary of arrays and other objects.

    Raises:
        TypeError: it cannot be held in an array.
    """
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, dict):
        return {name: _inside(inner) for name, inner in value.items()}
    elif hasattr(value, "asnumpy"):
        array = value.asnumpy()
    elif isinstance(value, bytearray):
        array = np.array(bytes(value))
    else:
        try:
            array = np.asarray(value)
        except ValueError:
            raise TypeError(
                f"a {type(value).__name__} whose elements differ in length is not an array; "
                "pad them, or give each one a column"
            ) from None
    if array.dtype.kind == "O":
        kind = type(value).__name__
        raise TypeError(f"a value of type {kind} is not an array of numbers or texts")
    # Bytes in the order of this processor: the device takes no other, nor does NumPy keep it.
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def own_column(value, owned=()):
    """`as_column`, in memory that no one else has: operations may write into what they get.

    Args:
        owned: arrays of the pipeline's own, each of which may become one column as it is.
    """
    column = as_column(value)
    if isinstance(column, dict):
        return {name: _copied(inner) for name, inner in column.items()}
    if any(column is array for array in owned):
        return column
    # What NumPy has just made of numbers or a list is no one else's either.
    return _copied(column) if column is value or column.base is not None else column


def own_columns(values, arguments: tuple, ours: bool = False) -> tuple:
    """What an operation made of `arguments`, as columns that share no memory.

    Args:
        ours: the values are new, or views of new ones or of the arguments.
    """
    if ours and len(values) == 1 and isinstance(values[0], np.ndarray):
        flags = values[0].flags
        if flags.c_contiguous and flags.writeable:
            return tuple(values)
    owned, made = list(arguments), []
    for value in values:
        column = own_column(value, owned)
        owned = [array for array in owned if array is not column]
        made.append(column)
    return tuple(made)


def _copied(value):
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _inside(value):
    """What is in a column that is a dictionary: an array, or itself where no array holds it."""
    try:
        return as_column(value)
    except TypeError:
        return value


def described(error: BaseException) -> str:
    """The error and the lines that led to it, below the engine's own."""
    lines = traceback.format_exception(error)
    return "".join(lines)


def serve(connection: Connection, current: mmap.mmap, place: int) -> None:
    """Take rows and give results until the other side is gone."""
    operations, seed, several = _begin(connection)
    if operations is None:
        return
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)

    def note(number: int) -> None:
        current[place] = number

    ready = False
    while True:
        try:
            ticket, numbers, arguments = connection.recv()
            if not ready:
                # What operations and rows need is imported now: the time of this row begins.
                connection.send((READY, -1, None))
                ready = True
        except (EOFError, OSError):
            return
        try:
            # The row decides, not which worker it comes to.
            random.seed(repr(numbers))
            np.random.seed([number & 0xFFFFFFFF for number in numbers])
            known = RANDOMNESS in sys.modules
            with _row(numbers):
                made = apply(operations, arguments, note, several)
            if not known and RANDOMNESS in sys.modules:
                # The operations have just imported it: now with the numbers of this row.
                with _row(numbers):
                    made = apply(operations, arguments, note, several)
            made = tuple([as_column(value) for value in made])
            answer = (DONE, ticket, made)
            packed = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            kind, text = type(error).__name__, str(error)
            answer = (RAISED, ticket, (current[place], kind, text, described(error)))
            packed = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        try:
            connection.send_bytes(packed)
        except (BrokenPipeError, OSError):
            return


class _Alias:
    """Lets `import mindspore` mean mycel, which is imported when that is first asked for."""

    def find_spec(self, name, path=None, target=None):
        """Asked for every module that is imported."""
        if name.partition(".")[0] != "mindspore":
            return None
        sys.meta_path.remove(self)
        # By name: this file must run without the package.
        importlib.import_module("mycel").install_as_mindspore()
        return importlib.util.find_spec(name)


def _row(numbers: tuple):
    """The random numbers of the row, if operations of ours are among those of this worker."""
    if RANDOMNESS not in sys.modules:
        return contextlib.nullcontext()
    return importlib.import_module("mycel.dataset.engine.chance").row(*numbers)


def _begin(connection: Connection):
    """The operations of this worker; their modules are found where the program finds them."""
    paths, words, alias, seed, several, packed = connection.recv()
    sys.path[:] = paths
    # Modules that read the command line as they are imported read the program's, not this file's.
    sys.argv[:] = words
    try:
        if alias:
            sys.meta_path.insert(0, _Alias())
        operations = pickle.loads(packed)
    except BaseException as error:
        connection.send((RAISED, -1, (0, type(error).__name__, str(error), described(error))))
        return None, 0, ()
    return operations, seed, several


def main() -> None:
    """The program: numbers of an open connection, of an open file, and of the worker."""
    descriptor, shared, place = (int(number) for number in sys.argv[1:])
    serve(Connection(descriptor), mmap.mmap(shared, mmap.PAGESIZE), place)


if __name__ == "__main__":
    main()
