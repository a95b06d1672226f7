# SPDX-License-Identifier: Apache-2.0
"""The faults of material.py in MindSpore, each on a line of its own."""

from mindspore import ops

from bench.debuggability import material as given

INF = float("inf")


# The compiler takes no lambdas out of a dict.
def log_of_0(x):
    return ops.log(x)


def log_of_a_negative_number(x):
    return ops.log(x)


def root_of_a_negative_number(x):
    return ops.sqrt(x)


def one_by_zero(x):
    return 1.0 / x


def zero_by_zero(x):
    return x / x


def overflow_of_exp(x):
    return ops.exp(x)


def power_of_a_negative_number(x):
    return x**0.5


def rsqrt_of_0(x):
    return ops.rsqrt(x)


def arc_sine_above_1(x):
    return ops.asin(x)


def arc_cosine_above_1(x):
    return ops.acos(x)


def log1p_of_minus_one(x):
    return ops.log1p(x)


def atanh_of_1(x):
    return ops.atanh(x)


def product(x):
    return x * (x * 1e10)


def square(x):
    return ops.square(x)


def matrix_product(x):
    return ops.matmul(x, x.T)


def difference_of_infinities(x):
    return ops.exp(x) - ops.exp(x + 1)


def division_by_a_length_of_0(x):
    return x / ops.sqrt((x * x).sum(1, keepdims=True))


def log_of_one_minus_sigmoid(x):
    return ops.log(1 - ops.sigmoid(x))


def masked_row_of_a_softmax(x):
    return ops.softmax(ops.masked_fill(x, x > 1.9, -INF), -1)


def variance_of_equal_numbers(x):
    return x / ops.var(x, 1, keepdims=True)


def root_at_0(x):
    return ops.sqrt(x)


def log_behind_where(x):
    return ops.where(x > 0, ops.log(x), x)


FAULTS = {name: globals()[name.replace(" ", "_")] for name in (*given.FORWARD, *given.REVERSE)}
