# SPDX-License-Identifier: Apache-2.0
"""Functions of `mycel.numpy` that are declared in a row. Oracle: the row itself, as it stands in
its file; for what they do, a function that tells what it was called with."""

from __future__ import annotations

import inspect
import linecache
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import mycel as ms
import mycel.numpy as mnp
from mycel import Tensor
from mycel.numpy.declare import binary, each, unary

FOLDER = Path(ms.__file__).parents[1]


def declared():
    for space, module in (("numpy", mnp), ("numpy.fft", mnp.fft)):
        for name, item in vars(module).items():
            code = getattr(item, "__code__", None)
            # Aliases (`mod = remainder`) have no row of their own.
            if code and code.co_filename == f"<mycel {space}.{name}>":
                yield pytest.param(f"{space}.{name}", item, id=f"{space}.{name}")


ROWS = list(declared())


@pytest.mark.parametrize(("path", "function"), ROWS)
def test_a_function_is_as_its_row_says(path, function):
    name = path.rpartition(".")[2]
    file, line = re.search(r"# defined at (.*):(\d+)\n", inspect.getsource(function)).groups()
    row = linecache.getline(str(FOLDER / file), int(line))
    assert row.startswith(f"{name} = ")
    assert f'"{path}{inspect.signature(function)}"' in row
    assert file == f"{function.__module__.replace('.', '/')}.py"
    assert function.__name__ == function.__qualname__ == name
    assert pickle.loads(pickle.dumps(function)) is function


def test_that_there_are_rows():
    assert len(ROWS) > 80


def told(*arguments):
    """All that an operator is called with, joined, so that each shows in the result."""
    return ms.ops.concat([ms.ops.reshape(Tensor(a), (-1,)) for a in arguments])


def test_what_follows_the_array_is_handed_on():
    row = unary("numpy.row(a, n, step=2, dtype=None)", told, "Told.", "row([1], 3)", "[1 3 2]")
    np.testing.assert_array_equal(row([1], 3).asnumpy(), [1, 3, 2])
    np.testing.assert_array_equal(row(step=5, n=4, a=1).asnumpy(), [1, 4, 5])
    assert row([1], 3, dtype=ms.float16).dtype is ms.float16
    assert str(inspect.signature(row)) == "(a, n, step=2, dtype=None)"
    assert row.__doc__ == (
        "Told.\n\n    Example:\n        >>> print(ms.numpy.row([1], 3))\n        [1 3 2]\n    "
    )


def test_two_arrays_are_taken_together_or_one_by_one():
    together = binary("numpy.two(x1, x2, n=7)", told, "", "", "", lambda x1, x2: (x2, x1))
    np.testing.assert_array_equal(together(1, 2).asnumpy(), [2, 1, 7])
    names = []
    single = binary(
        "numpy.two(x1, x2)", told, "", "", "", each(lambda x, name: names.append(name) or x)
    )
    np.testing.assert_array_equal(single(1, 2).asnumpy(), [1, 2])
    assert names == ["x1", "x2"]


@pytest.mark.parametrize(
    ("call", "name"),
    [(lambda: mnp.arccos("?"), "input"), (lambda: mnp.negative("?"), "a"),
     (lambda: mnp.add(1, "?"), "x2"), (lambda: mnp.logical_or(1, "?"), "x2")],
)  # fmt: skip
def test_errors_name_the_parameter_and_the_line_of_the_caller(call, name):
    with pytest.raises(TypeError, match=f"^{name} must be a number, a nested list") as caught:
        call()
    assert __file__ in str(caught.value)
