# SPDX-License-Identifier: Apache-2.0
"""What indices may hold. Oracle: NumPy, which raises for the same indices, and plain comparison."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from mycel.kernel.base.errors import NoIntegersError, OutOfRangeError
from mycel.kernel.define import bounds
from mycel.kernel.define.aval import aval_of
from mycel.kernel.define.bounds import LEAST, MOST, Bounds, check, check_kinds, counted, rows_of

LENGTH = 5
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# An operator has a name that is public.
TAKE = SimpleNamespace(public="Take")
HERE = (None, 0)


def numpy_takes(indices, length: int) -> bool:
    try:
        np.zeros(length)[indices]
    except (IndexError, OverflowError):
        return False
    return True


@pytest.mark.parametrize("dtype", INTEGERS)
def test_positions_are_those_that_numpy_takes(dtype):
    limits, draw, wrong = counted(0, LENGTH), np.random.default_rng(3), 0
    least = 0 if dtype.startswith("u") else -LENGTH - 1
    for _ in range(200):
        indices = draw.integers(least, LENGTH + 1, draw.integers(0, 4)).astype(dtype)
        found = limits.offence(indices)
        assert (found is None) == numpy_takes(indices, LENGTH), indices
        if found is not None:
            value, low, high = found
            assert (low, high) == (-LENGTH, LENGTH)
            (first, *_) = [number for number in indices if not numpy_takes(number, LENGTH)]
            assert value == first
            wrong += 1
    assert wrong > 20


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_ends_of_a_type(dtype):
    """None of them wraps around when it is compared."""
    ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    for end in ends:
        found = counted(0, LENGTH).offence(np.array([0, end], dtype))
        assert (found is None) == numpy_takes(int(end), LENGTH), end
    assert bounds.integers(0).offence(ends[:1]) is None
    assert (Bounds(0, 0, MOST).offence(ends[:1]) is None) == (ends[0] >= 0)


def test_rows_have_a_limit_for_each_place():
    lengths, draw = (2, 3, 4), np.random.default_rng(5)
    limits = rows_of(1, lengths)
    for _ in range(200):
        rows = draw.integers(-1, 5, (2, 3))
        wrong = [
            (int(number), 0, length)
            for row in rows
            for number, length in zip(row, lengths, strict=True)
            if not 0 <= number < length
        ]
        assert limits.offence(rows) == (wrong[0] if wrong else None)
        expected = (rows < 0) | (rows >= np.array(lengths))
        assert (limits.wrong(rows) == expected).all()
        assert (np.asarray(limits.wrong(jnp.asarray(rows))) == expected).all()


def test_an_ignored_number_is_allowed_besides():
    limits = Bounds(0, 0, 3, ignored=-100)
    assert limits.offence(np.array([-100, 0, 2])) is None
    assert limits.offence(np.array([-100, -1])) == (-1, 0, 3)


@pytest.mark.parametrize(
    ("limits", "least", "most", "fit"),
    [
        (counted(0, 128), -128, 127, True),
        (counted(0, 129), -128, 127, False),
        (Bounds(0, 0, 256), 0, 255, True),
        (Bounds(0, 0, 256, ignored=-1), 0, 255, False),
        (Bounds(0, 0, 10, ignored=255), 0, 255, True),
        (bounds.integers(0), LEAST, MOST, True),
        (rows_of(0, (2, 3)), -128, 127, False),
    ],
)
def test_whether_a_type_holds_all_that_is_allowed(limits, least, most, fit):
    assert limits.fit(least, most) is fit
    if fit and limits.high < 1000:
        names = [n for n in INTEGERS if np.iinfo(n).min == least and np.iinfo(n).max == most]
        allowed = np.arange(limits.low, limits.high)
        assert any((allowed.astype(name) == allowed).all() for name in names)


def test_which_limits_anything_can_break():
    assert counted(0, 3).are_limits
    assert Bounds(0, LEAST, 3).are_limits
    assert not bounds.integers(0).are_limits


def test_the_extent_of_an_array_is_looked_for_once_and_forgotten_with_it(monkeypatch):
    looks = []
    whole = np.asarray
    array = jnp.asarray([3, -7, 2])
    monkeypatch.setattr(bounds.np, "asarray", lambda a, *m: looks.append(1) or whole(a, *m))
    assert [bounds.extent(array) for _ in range(3)] == [(-7, 3)] * 3
    assert len(looks) == 1
    number = id(array)
    assert number in bounds._extents
    del array
    gc.collect()
    assert number not in bounds._extents
    # An array of NumPy may change.
    changing = np.array([1, 2])
    assert bounds.extent(changing) == (1, 2)
    changing[0] = 9
    assert bounds.extent(changing) == (2, 9)


def test_the_error_says_what_is_wrong_with_which_limits():
    limits = (counted(1, 3, what="row", where=" of the table"),)
    check(TAKE, limits, [None, np.array([0, -3])], HERE)
    check(TAKE, limits, [None, None], HERE)
    with pytest.raises(OutOfRangeError) as caught:
        check(TAKE, limits, [None, np.array([0, 3])], HERE)
    assert str(caught.value) == (
        "Take at an unknown place: the row 3 of the table is out of range; "
        "it must lie between -3 and 2."
    )
    for kind in (IndexError, ValueError, RuntimeError):
        assert isinstance(caught.value, kind)


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        (
            Bounds(0, 0, 3, ignored=-1),
            "it must lie between 0 and 2, or be -1, which is not counted",
        ),
        (Bounds(0, LEAST, 3), "it must be 2 at most"),
        (counted(0, 0), "there is nothing to point to"),
        (Bounds(0, 0, 3, operator="Own"), "it must lie between 0 and 2"),
    ],
)
def test_what_is_allowed_is_said_in_words(limits, allowed):
    with pytest.raises(OutOfRangeError) as caught:
        check(TAKE, (limits,), [np.array([70])], HERE)
    assert str(caught.value).endswith(f"is out of range; {allowed}.")
    assert str(caught.value).startswith(limits.operator or "Take")


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64"])
def test_what_is_no_integer_is_refused_by_its_type(dtype):
    limits = (counted(1, 3, what="row"),)
    with pytest.raises(NoIntegersError, match=f"each row must be an integer, but {dtype.title()}"):
        check_kinds("Take", limits, (aval_of((), np.dtype(dtype)),) * 2)
    check_kinds("Take", limits, (aval_of((), np.dtype(dtype)), aval_of((), np.dtype("uint8"))))
