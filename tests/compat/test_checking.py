# SPDX-License-Identifier: Apache-2.0
"""MindSpore's checks of arguments. Oracle: values and kinds of errors, recorded from 2.10."""

from __future__ import annotations

import doctest
import math

import pytest

import mycel as ms
from mycel.compat import checking, log
from mycel.kernel.base.errors import WRONG_VALUE

CASES = [
    ("check_positive_int(3, 'n', 'Net')", 3),
    ("check_positive_int(0, 'n', 'Net')", ValueError),
    ("check_positive_int(2.0, 'n', 'Net')", TypeError),
    ("check_positive_int(True, 'n', 'Net')", TypeError),
    ("check_positive_int(-3)", ValueError),
    ("check_non_negative_int(0, 'n')", 0),
    ("check_non_negative_int(-1, 'n')", ValueError),
    ("check_negative_int(0, 'n')", ValueError),
    ("check_non_positive_int(0, 'n')", 0),
    ("check_positive_float(1.5, 'x', 'Net')", 1.5),
    ("check_positive_float(1, 'x', 'Net')", TypeError),
    ("check_positive_float(0.0, 'x', 'Net')", ValueError),
    ("check_positive_float(nan, 'x', 'Net')", ValueError),
    ("check_positive_float(inf, 'x', 'Net')", ValueError),
    ("check_non_negative_float(0.0, 'x')", 0.0),
    ("check_non_negative_float(-0.5, 'x')", ValueError),
    ("check_negative_float(0.5, 'x')", ValueError),
    ("check_non_positive_float(0.5, 'x')", ValueError),
    ("check_bool(True, 'b')", True),
    ("check_bool(1, 'b')", TypeError),
    ("check_bool(None, 'b')", TypeError),
    ("check_int(3, 3, EQ, 'n')", 3),
    ("check_int(3, 4, EQ, 'n')", ValueError),
    ("check_int(3, 4, LT, 'n')", 3),
    ("check_int(3, 4, Rel.GE, 'n')", ValueError),
    ("check_int(3.0, 4, LT, 'n')", TypeError),
    ("check_float(3.0, 4.0, LT, 'n')", 3.0),
    ("check_float(3, 4.0, LT, 'n')", TypeError),
    ("check_equal_int(3, 2, 'n')", ValueError),
    ("check_is_float(3, 'n')", TypeError),
    ("check_is_int(True, 'n')", TypeError),
    ("check_int_range(3, 0, 3, INC_BOTH, 'n')", 3),
    ("check_int_range(3, 0, 3, INC_LEFT, 'n')", ValueError),
    ("check_int_range(0, 0, 3, INC_RIGHT, 'n')", ValueError),
    ("check_int_range(1, 0, 3, INC_NEITHER, 'n')", 1),
    ("check_int_range(1.0, 0, 3, INC_NEITHER, 'n')", TypeError),
    ("check_float_range(0.5, 0.0, 1.0, Rel.INC_NEITHER, 'x', 'Net')", 0.5),
    ("check_float_range(1.0, 0.0, 1.0, INC_LEFT, 'x', 'Net')", ValueError),
    ("check_float_range('a', 0.0, 1.0, INC_BOTH, 'x', 'Net')", TypeError),
    ("check_number('n', 3, 2, LT, 'Net')", ValueError),
    ("check_string('a', ['a', 'b'], 's', 'Net')", "a"),
    ("check_string('c', ['a', 'b'], 's', 'Net')", ValueError),
    ("check_string(1, ['a', 'b'], 's', 'Net')", ValueError),
    ("check_value_type('x', 1, [int, float], 'Net')", 1),
    ("check_value_type('x', True, int, 'Net')", TypeError),
    ("check_value_type('x', True, [int, bool], 'Net')", True),
    ("check_value_type('x', None, (str,), 'Net')", TypeError),
    ("check_type_name('x', float32, [float32, float16], 'Net')", ms.float32),
    ("check_type_name('x', int32, [float32, float16], 'Net')", TypeError),
    ("check_subclass('x', float32, [float32], 'Net')", None),
    ("check_subclass('x', int32, [float32], 'Net')", TypeError),
    ("check('a', 3, 'b', 4, LE, 'Net')", 3),
    ("check('a', 3, 'b', 4, EQ, 'Net')", ValueError),
    ("check('a', 3, 'b', (4, 5), IN, 'Net')", ValueError),
    ("check('a', 1, 'b', 2, EQ, 'Net', TypeError)", TypeError),
    ("check_isinstance('x', 1, str)", ValueError),
    ("check_element_type_of_iterable('x', [1, 'a'], [int], 'Net')", TypeError),
    ("check_element_type_of_dict('x', {1: 1}, [str], [int], 'Net')", TypeError),
    ("check_positive_int_sequence((1, 2), 'n')", (1, 2)),
    ("check_positive_int_sequence((1, 0), 'n')", ValueError),
    ("check_types_same_and_valid({'x': float32, 'y': float32}, [float32], 'Net')", None),
    ("check_types_same_and_valid({'x': float32, 'y': int32}, [float32, int32], 'Net')", TypeError),
    ("check_size_and_element_type_of_tuple('x', (1, 2), 3, int, 'Net')", ValueError),
    ("check_str_by_regular('abc')", True),
    ("check_str_by_regular('a b*')", ValueError),
    ("check_file_name_by_regular('a*?')", ValueError),
    ("twice(3)", (3, 3)),
    ("triple((1, 2, 3))", (1, 2, 3)),
]


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_as_recorded(expression, expected):
    names = {**vars(checking), **vars(ms), "nan": math.nan, "inf": math.inf}
    if isinstance(expected, type):
        with pytest.raises(expected):
            eval(expression, names)
    else:
        assert eval(expression, names) == expected


def test_the_error_names_argument_value_and_line():
    with pytest.raises(ValueError) as caught:
        checking.check_positive_int(-3, "batch_size", "Loader")
    line = caught.traceback[0].lineno + 1
    place = f"{__file__}:{line}"
    assert str(caught.value) == WRONG_VALUE.format(
        what="Loader: batch_size", expected="above 0", actual="int -3", place=place
    )


# As MindSpore's decorator: None passes, a bool is an int.
@pytest.mark.parametrize(
    ("arguments", "right"),
    [((1,), True), ((1.0,), False), ((None,), True), ((1, None), True), ((1, 2), False)],
)
def test_types_of_arguments(arguments, right):
    @checking.args_type_check(size=int, name=(str,))
    def describe(size, name="x", *rest):
        return size

    if right:
        assert describe(*arguments) == arguments[0]
    else:
        with pytest.raises(TypeError):
            describe(*arguments)


def test_the_log_names_the_line_of_the_program(caplog):
    log.warning("loss is %s", 3)
    (record,) = caplog.records
    assert (record.getMessage(), record.pathname) == ("loss is 3", __file__)


@pytest.mark.parametrize("module", [checking, log], ids=lambda m: m.__name__)
def test_examples(module):
    outcome = doctest.testmod(module, extraglobs={"ms": ms})
    assert outcome.attempted
    assert not outcome.failed
