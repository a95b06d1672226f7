# SPDX-License-Identifier: Apache-2.0
"""Operators of the user. Oracles: NumPy, derivatives worked out by hand, the other executions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution, matches, run_everywhere
from mycel import Tensor, nn, ops

X = np.float32([[0.5, -1.0, 2.0], [3.0, 0.25, -0.5]])
Y = np.float32([[1.5, 2.0, -1.0], [0.5, 4.0, 3.0]])


@ops.custom_op
def swish(x, *, beta=1.0):
    """x * sigmoid(beta * x)."""
    return x * jax.nn.sigmoid(beta * x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# -- a JAX function ----------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_values(beta):
    matches(lambda x: swish(x, beta=beta), lambda x: x * sigmoid(np.float32(beta) * x), X)


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_first_and_second_derivative(beta):
    def first(x):
        s = sigmoid(beta * x.astype(np.float64))
        return (s + beta * x * s * (1 - s)).astype(np.float32)

    def second(x):
        s = sigmoid(beta * x.astype(np.float64))
        return (beta * s * (1 - s) * (2 + beta * x * (1 - 2 * s))).astype(np.float32)

    def total(x):
        return swish(x, beta=beta).sum()

    matches(ms.grad(total), first, X)
    matches(ms.grad(lambda x: ms.grad(total)(x).sum()), second, X)


def test_several_results_integer_inputs_and_statics():
    @ops.custom_op
    def rows(x, index, *, scale, axis=0):
        return jnp.take(x, index, axis) * scale, index + 1

    index = np.int32([1, 0, 1])
    matches(
        lambda x, i: rows(x, i, scale=2),
        lambda x, i: (x[i] * np.float32(2), i + np.int32(1)),
        X,
        index,
    )
    # Each row's gradient is `scale` times how often it was taken.
    matches(
        ms.grad(lambda x, i: rows(x, i, scale=3)[0].sum()),
        lambda x, i: np.float32([[3] * 3, [6] * 3]),
        X,
        index,
    )


def test_integer_inputs_have_integer_gradients():
    product = ops.custom_op(lambda x, y: x * y)
    for found in run_everywhere(ms.grad(product, (0, 1)), np.int32(3), np.int32(5)).values():
        assert_close(found, (np.int32(5), np.int32(3)))


def test_any_number_of_arrays_and_arrays_left_out():
    @ops.custom_op
    def total(first, *rest, weight=1):
        return weight * sum(rest, first)

    @ops.custom_op
    def affine(x, scale=None, shift=0.5):
        return (x if scale is None else x * scale) + shift

    matches(lambda x, y: total(x, y, x, weight=2), lambda x, y: 2 * (x + y + x), X, Y)
    matches(lambda x: total(x), lambda x: x, X)
    half = np.float32(0.5)
    matches(lambda x, y: affine(x, y), lambda x, y: x * y + half, X, Y)
    matches(lambda x: affine(x, shift=Tensor(2.0)), lambda x: x + np.float32(2), X)
    matches(ms.grad(lambda x, y: affine(x, y).sum(), (0, 1)), lambda x, y: (y, x), X, Y)
    matches(ms.grad(lambda x: affine(x).sum()), np.ones_like, X)


def test_parameters_may_have_any_name():
    @ops.custom_op
    def difference(op, bind, definition, *, apply2=1):
        return op - bind * definition * apply2

    matches(lambda x, y: difference(x, y, x, apply2=2), lambda x, y: x - y * x * 2, X, Y)


def test_a_number_is_an_array():
    multiply = ops.custom_op(jnp.multiply)
    matches(lambda x: multiply(x, 3), lambda x: x * 3, X)


def test_one_program_serves_every_call():
    before = ms.debug.ledger().counts.compilations
    for _ in range(5):
        (swish(Tensor(X), beta=7.0) + 1).asnumpy()
    # Fused with the sum into one program, compiled once.
    assert ms.debug.ledger().counts.compilations - before == 1


def test_its_signature_and_text_are_the_users():
    assert swish.__doc__ == "x * sigmoid(beta * x)."
    assert swish.__name__ == "swish"
    with pytest.raises(TypeError, match=r"swish\(\) takes 1 positional argument"):
        swish(Tensor(X), 2.0)


def test_in_a_cell_with_a_parameter():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = ms.Parameter(Tensor([2.0]), name="weight")

        def construct(self, x):
            return swish(x * self.weight).sum()

    s = sigmoid(X.astype(np.float64) * 2)
    expected = (X * (s + 2 * X * s * (1 - s))).sum().astype(np.float32)
    for mode in EXECUTIONS:
        net = Net()
        with execution(mode):
            for _ in range(4):
                (gradient,) = ms.grad(net, None, net.trainable_params())(Tensor(X))
                assert_close(gradient.asnumpy(), expected.reshape(1), mode)


# -- reverses of its own -----------------------------------------------------------------------


def clipped():
    """Passes the input on; the gradient is clipped."""

    @ops.custom_op
    def clip_gradient(x, *, limit=1.0):
        return x * 1

    return clip_gradient


def clipped_twice(x):
    """The derivative of (c(x) + clip(x)) x where c is the identity, whose gradient is clipped."""
    return x + 2 * np.clip(x, -1, 1) + x * (abs(x) < 1)


def test_a_reverse_in_jax():
    clip = clipped()

    @clip.reverse
    def _(x, output, cotangent, *, limit):
        return jnp.clip(cotangent, -limit, limit)

    matches(ms.grad(lambda x: (clip(x) * 5 * x).sum()), lambda x: 5 * x + np.clip(5 * x, -1, 1), X)
    matches(ms.grad(lambda x: (clip(x, limit=0.5) * 5).sum()), lambda x: 0 * x + 0.5, X)
    # The derivative of the reverse itself.
    second = ms.grad(lambda x: (ms.grad(lambda x: (clip(x) * x).sum())(x) * x).sum())
    matches(second, clipped_twice, X + np.float32(0.1))


def test_a_reverse_on_tensors():
    clip = clipped()

    @clip.bprop
    def _(x, out, dout, *, limit):
        assert x.shape == out.shape == (2, 3)
        return ops.clip_by_value(dout, -limit, limit)

    matches(ms.grad(lambda x: (clip(x) * 5 * x).sum()), lambda x: 5 * x + np.clip(5 * x, -1, 1), X)
    matches(ms.grad(lambda x: (clip(x, limit=0.5) * 5).sum()), lambda x: 0 * x + 0.5, X)
    second = ms.grad(lambda x: (ms.grad(lambda x: (clip(x) * x).sum())(x) * x).sum())
    matches(second, clipped_twice, X + np.float32(0.1))


@pytest.mark.parametrize("kind", ["reverse", "bprop"])
def test_a_reverse_of_several_inputs_and_results(kind):
    @ops.custom_op
    def both(x, y, index, z=None):
        return x * y, index * 2

    @getattr(both, kind)
    def _(x, y, index, z, output, cotangent):
        assert z is None
        assert output[0].shape == x.shape
        return 10 * y * cotangent[0], x * cotangent[0], None, None

    index = np.int32([1, 2])
    derivative = ms.grad(lambda x, y, i: both(x, y, i)[0].sum(), (0, 1))
    matches(derivative, lambda x, y, i: (10 * y, x), X, Y, index)
    # A result that nothing uses has a cotangent of zeros.
    unused = ms.grad(lambda x, y, i: (both(x, y, i)[1] * x[0, 0]).sum() * 1.0, (0, 1))
    expected = np.zeros_like(X)
    expected[0, 0] = 6
    matches(unused, lambda x, y, i: (expected, np.zeros_like(y)), X, Y, index)


def test_the_last_derivative_counts_also_in_a_call_that_is_remembered():
    double = ops.custom_op(lambda x: x * 2)
    derivative = ms.jit(ms.grad(lambda x: double(x).sum()))
    for give, factor in (
        (lambda: None, 2),
        (lambda: double.reverse(lambda x, output, cotangent: cotangent * 5), 5),
        (lambda: double.bprop(lambda x, out, dout: dout * 6), 6),
        (lambda: double.reverse(lambda x, output, cotangent: cotangent * 7), 7),
    ):
        give()
        for _ in range(4):
            assert_close(derivative(Tensor(X)).asnumpy(), np.full_like(X, factor))
    assert ms.debug.ledger().counts.replays == 8


@pytest.mark.parametrize("kind", ["reverse", "bprop"])
def test_a_narrow_gradient_is_widened(kind):
    twice = ops.custom_op(lambda x: x * 2)
    getattr(twice, kind)(lambda x, out, dout: dout.astype("float16") * 2)
    matches(ms.grad(lambda x: twice(x).sum()), lambda x: 0 * x + 2, X)


WRONG = {
    "count": (
        lambda x, y, out, dout: (dout,),
        ValueError,
        r"must return 2 gradients, one for each input, but it returned 1",
    ),
    "alone": (
        lambda x, y, out, dout: dout,
        ValueError,
        r"must return 2 gradients, one for each input, but it returned 1",
    ),
    "shape": (
        lambda x, y, out, dout: (dout, dout[0]),
        ValueError,
        r"must return a gradient Float32\[2, 3\] for input 1, but it returned Float32\[3\]",
    ),
    "dtype": (
        lambda x, y, out, dout: (dout.astype("float64"), dout),
        TypeError,
        r"must return a gradient Float32\[2, 3\] for input 0, but it returned Float64\[2, 3\]",
    ),
    "kind": (
        lambda x, y, out, dout: (dout, "nothing"),
        TypeError,
        r"must return a gradient Float32\[2, 3\] for input 1, but it returned str 'nothing'",
    ),
}


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("kind", ["reverse", "bprop"])
def test_an_ill_formed_reverse(kind, case, mode):
    function, error, text = WRONG[case]

    @ops.custom_op
    def product(x, y):
        return x * y

    getattr(product, kind)(function)
    derivative = ms.grad(lambda x, y: product(x, y).sum(), (0, 1))
    place = rf"defined at .*test_custom.py:{function.__code__.co_firstlineno}"
    with execution(mode), pytest.raises(error, match=rf"product\.{kind} {text}.*{place}"):
        derivative(Tensor(X), Tensor(Y))


# -- errors of what the user wrote -------------------------------------------------------------


def branches(x):
    if x.sum() > 0:
        return x
    return -x


def numpy_inside(x):
    return np.median(x, 0)


def operator_inside(x):
    return ops.exp(x)


def bad_shape(x):
    return x + jnp.ones((7, 5))


def complaining(x):
    raise ValueError("only positive numbers, please")


def not_there(x):
    return x.asnumpy()


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(
    ("function", "offset", "error", "text"),
    [
        (branches, 1, TypeError, "traced once with abstract arrays, but it needs values at"),
        (numpy_inside, 1, TypeError, "traced once with abstract arrays, but it needs values at"),
        (operator_inside, 1, TypeError, "traced once with abstract arrays, but it needs values at"),
        (bad_shape, 1, ValueError, "incompatible shapes"),
        (complaining, 1, ValueError, "only positive numbers, please"),
    ],
)
def test_errors_name_the_users_line_and_the_call(function, offset, error, text, mode):
    operator = ops.custom_op(function)
    with execution(mode), pytest.raises(error, match=text) as caught:
        operator(Tensor(X))
    message = str(caught.value)
    line = function.__code__.co_firstlineno + offset
    assert message.startswith(f"{function.__name__}(Float32[2, 3]) at {__file__}:")
    assert f"{__file__}:{line}" in message
    assert "\n" not in message


def test_other_errors_stay_as_they_are_raised():
    with pytest.raises(AttributeError, match="asnumpy") as caught:
        ops.custom_op(not_there)(Tensor(X))
    note = "While not_there, a user operator, was traced with abstract arrays."
    assert note in caught.value.__notes__
    assert any(entry.name == "not_there" for entry in caught.traceback)


@pytest.mark.parametrize("returned", [None, "text", {"x": 1}, ()])
def test_a_result_that_is_no_array(returned):
    def nothing(x):
        return returned

    with pytest.raises(TypeError, match=r"nothing must return an array or a tuple of arrays, but"):
        ops.custom_op(nothing)(Tensor(X))


def test_parameters_that_are_neither_arrays_nor_static():
    def options(x, **rest):
        return x

    def mode(x, mode="same"):
        return x

    def mixed(x, y=None, *rest):
        return x

    with pytest.raises(TypeError, match=r"'rest' takes any keyword; name the static arguments"):
        ops.custom_op(options)
    with pytest.raises(TypeError, match=r"'mode' has the default 'same', but positional"):
        ops.custom_op(mode)
    with pytest.raises(TypeError, match=r"'rest' takes any number, but 'y' before it has a def"):
        ops.custom_op(mixed)
    with pytest.raises(TypeError, match=r"must be a function, but int 3 was given at .*custom.py"):
        ops.custom_op(3)
    with pytest.raises(TypeError, match=r"The static argument 'beta' of swish cannot be dict"):
        swish(Tensor(X), beta={})


# -- MindSpore's Custom ------------------------------------------------------------------------


def test_custom_of_a_jax_function():
    operator = ops.Custom(lambda x, y: x * y + 1, lambda x, _: x, lambda x, _: x, "jax")
    matches(operator, lambda x, y: x * y + 1, X, Y)
    matches(ms.grad(lambda x, y: operator(x, y).sum(), (0, 1)), lambda x, y: (y, x), X, Y)
    own = ops.Custom(
        lambda x, y: x * y, func_type="jax", bprop=lambda x, y, out, dout: (dout, out * dout)
    )
    matches(ms.grad(lambda x, y: own(x, y).sum(), (0, 1)), lambda x, y: (0 * x + 1, x * y), X, Y)


def test_custom_made_anew_in_each_call_compiles_once():
    def double(x):
        return x * 2

    def program(x):
        return ops.Custom(double, func_type="jax")(x) + 1

    matches(program, lambda x: x * 2 + 1, X)
    before = ms.debug.ledger().counts.compilations
    program(Tensor(X)).asnumpy()
    assert ms.debug.ledger().counts.compilations == before


def test_a_jax_function_that_returns_something_else_than_was_declared():
    double = ops.Custom(lambda x: x * 2, (2, 2), ms.float32, "jax")
    with pytest.raises(ValueError, match=r"return shape \(2, 2\) as result 0, .* shape \(2, 3\)"):
        double(Tensor(X))
    double = ops.Custom(lambda x: x * 2, None, ms.int32, "jax")
    with pytest.raises(TypeError, match=r"return Int32 as result 0, but it returned Float32"):
        double(Tensor(X))


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((3,), ms.float32),
        ([3], ms.float32),
        (lambda x: x[1:], lambda x: x),
        (None, ms.float32),
        ((3,), None),
        (None, None),
        ((-1,), np.float32),
    ],
)
def test_pyfunc_with_every_way_to_declare(shape, dtype):
    largest = ops.Custom(lambda x: np.sort(x, 0)[-1], shape, dtype)
    matches(largest, lambda x: x.max(0), X)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        (((2, 3), (2,)), (ms.float32, ms.int64)),
        (lambda x: (x, x[:1]), lambda x: (x, ms.int64)),
        (((2, 3), (2,)), None),
        ([[2, 3], [2]], [ms.float32, ms.int64]),
        (None, (ms.float32, ms.int64)),
        (None, None),
    ],
)
def test_pyfunc_of_several_results(shape, dtype):
    both = ops.Custom(lambda x: (x * 2, x.argmax(1)), shape, dtype)
    matches(both, lambda x: (x * 2, x.argmax(1)), X)


def test_pyfunc_that_returns_numbers_and_lists():
    matches(ops.Custom(lambda x: float(x.sum()), (), ms.float16), lambda x: np.float16(x.sum()), X)
    matches(ops.Custom(lambda x: x.tolist(), (2, 3), ms.float32), lambda x: x, X)
    matches(ops.Custom(lambda x: [len(x), 2.5]), lambda x: (np.int64(2), np.float32(2.5)), X)


def test_pyfunc_runs_at_every_call_and_sees_real_values():
    """Oracle: a counter. A result that repeats is replayed, one that changes is PyNative."""
    calls = []

    def noted(x):
        calls.append(x.copy())
        return x.sum(keepdims=True)

    host = ops.Custom(noted)

    @ms.jit
    def repeating(x):
        return host(x * 2) + 1

    for _ in range(6):
        assert_close(repeating(Tensor([1.0, 2.0])).asnumpy(), np.float32([7]))
    assert len(calls) == 6
    assert all(np.array_equal(call, [2, 4]) for call in calls)
    assert ms.debug.ledger().counts.replays == 4

    # It goes on with the true result, without a second call, when the argument changes.
    assert_close(repeating(Tensor([5.0, 2.0])).asnumpy(), np.float32([15]))
    assert len(calls) == 7
    assert ms.debug.ledger().counts.misses == 1


@pytest.mark.filterwarnings("ignore:.*keeps running in PyNative")
def test_pyfunc_whose_result_changes_is_right_and_never_replayed():
    count = [0.0]

    def counting(x):
        count[0] += 1
        return x + np.float32(count[0])

    host = ops.Custom(counting)

    @ms.jit
    def step(x):
        return host(x) * 10

    for number in range(1, 9):
        assert float(step(Tensor(1.0))) == 10 * (1 + number)
    assert ms.debug.ledger().counts.replays == 0
    assert ms.debug.ledger().counts.unreplayed >= 6


def test_pyfunc_may_change_its_inputs_and_takes_numbers():
    def fill(x, value):
        x[0] = value
        return x

    x = Tensor([1.0, 2.0])
    for found in run_everywhere(lambda x: ops.Custom(fill)(x, 7), np.float32([1, 2])).values():
        assert found.tolist() == [7, 2]
    assert ops.Custom(fill)(x, 7).asnumpy().tolist() == [7, 2]
    assert x.asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_pyfunc_without_a_result(mode):
    seen = []
    note = ops.Custom(lambda x: seen.append(x.tolist()), (), ())
    with execution(mode):
        assert note(Tensor([1.0])) == ()
    assert seen == [[1.0]]


def test_pyfunc_with_bprop():
    """Recorded from MindSpore 2.10: `bprop` of (a + b) that returns (2 dout, out)."""
    add = ops.Custom(
        lambda a, b: a + b, (3,), ms.float32, bprop=lambda a, b, out, dout: (dout * 2, out)
    )
    expected = (np.float32([2, 2, 2]), np.float32([5, 7, 9]))
    matches(
        ms.grad(lambda a, b: add(a, b), (0, 1)),
        lambda a, b: expected,
        np.float32([1, 2, 3]),
        np.float32([4, 5, 6]),
    )


def test_pyfunc_with_bprop_of_several_results_twice_differentiated():
    powers = ops.Custom(
        lambda x: (x**2, x**3, len(x)),
        bprop=lambda x, out, dout: dout[0] * 2 * x + dout[1] * 3 * out[0],
    )

    def total(x):
        square, cube, length = powers(x)
        return (square + cube).sum() * length

    matches(ms.grad(total), lambda x: 2 * (2 * x + 3 * x * x), X)
    # x -> out[0] -> its own bprop: 2 + 6 x, where 3 * out[0] is differentiated once more.
    matches(ms.grad(lambda x: ms.grad(total)(x).sum()), lambda x: 2 * (2 + 6 * x), X)


def test_pyfunc_of_integers_has_integer_gradients():
    """Recorded from MindSpore 2.10."""
    double = ops.Custom(lambda x: x * 2, (3,), ms.int32, bprop=lambda x, out, dout: (dout * 2,))
    matches(ms.grad(double), lambda x: np.int32([2, 2, 2]), np.int32([1, 2, 3]))


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_pyfunc_without_bprop_has_no_derivative(mode):
    """MindSpore 2.10 raises RuntimeError as well."""
    host = ops.Custom(np.tanh)
    with execution(mode), pytest.raises(RuntimeError, match=r"tanh .* its derivative is unknown"):
        ms.grad(lambda x: host(x).sum())(Tensor(X))
    # Where nothing flows back nobody asks for it.
    constant = ms.grad(lambda x: x.sum() + ops.stop_gradient(host(x)).sum())
    with execution(mode):
        assert_close(constant(Tensor(X)).asnumpy(), np.ones_like(X))


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(
    ("function", "shape", "dtype", "error", "text"),
    [
        (
            lambda x: x[:1],
            (2, 3),
            ms.float32,
            ValueError,
            r"shape \(2, 3\) as result 0, .*\(1, 3\)",
        ),
        (lambda x: x, (2, 3), ms.int32, TypeError, r"Int32 as result 0, but it returned float32"),
        (lambda x: x, ((2, 3),) * 2, None, ValueError, r"2 results, but it returned an array"),
        (
            lambda x: (x, x, x),
            None,
            (ms.float32,) * 2,
            ValueError,
            r"2 results, but it returned a tuple of 3",
        ),
        (lambda x: (x, x), None, ms.float32, ValueError, r"1 result, but it returned a tuple of 2"),
        (lambda x: (x,), (2, 3), None, ValueError, r"1 result, but it returned a tuple of 1"),
        (
            lambda x: (x, x),
            ((2, 3),),
            (ms.int8,) * 2,
            ValueError,
            r"types of 2 results.*shapes for",
        ),
        (lambda x: None, (1,), ms.float32, ValueError, r"1 result, but it returned None"),
        (lambda x: 1.5, (), ms.int32, TypeError, r"Int32 as result 0, but it returned float64"),
        (lambda x: "text", None, None, TypeError, "must be numbers"),
    ],
)
def test_pyfunc_that_returns_something_else(function, shape, dtype, error, text, mode):
    host = ops.Custom(function, shape, dtype)
    with execution(mode), pytest.raises(error, match=text):
        host(Tensor(X))


def test_pyfunc_that_raises_is_the_users_own_error():
    def careful(x):
        raise KeyError("nothing of that name")

    @ms.jit
    def program(x):
        return ops.Custom(careful)(x)

    with pytest.raises(KeyError, match="nothing of that name") as caught:
        program(Tensor(X))
    assert caught.traceback[-1].name == "careful"


@pytest.mark.parametrize("kind", ["hybrid", "akg", "tbe", "aicpu", "aot", "julia"])
def test_other_compilers_are_named_with_the_remedy(kind):
    with pytest.raises(NotImplementedError, match=rf"func_type='{kind}' \(at .*test_custom.py:\d+"):
        ops.Custom("./add.so:CustomAdd", (3,), ms.float32, kind)


def test_arguments_of_custom():
    with pytest.raises(ValueError, match=r"func_type must be 'pyfunc' or 'jax', but 'other' was"):
        ops.Custom(np.sin, func_type="other")
    with pytest.raises(TypeError, match=r"func of Custom must be a function, but str 'sin'"):
        ops.Custom("sin")
    with pytest.raises(TypeError, match=r"bprop of Custom must be a function or None, but int 3"):
        ops.Custom(np.sin, bprop=3)
    assert repr(ops.Custom(np.sin)) == "Custom(sin, func_type='pyfunc')"


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_an_operator_in_a_custom_one_is_told(mode):
    """Oracle: the line of the call; nothing of JAX's tracers leaves the function."""

    @ops.custom_op
    def through_a_tensor(x):
        return ops.relu(Tensor(x))

    line = through_a_tensor.__wrapped__.__code__.co_firstlineno + 2
    with execution(mode), pytest.raises(TypeError, match="is traced once with abstract") as caught:
        through_a_tensor(Tensor(1.0)).asnumpy()
    assert f"it needs values at {__file__}:{line}" in str(caught.value)


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_reverse_may_return_numbers_of_numpy(mode):
    @ops.custom_op
    def same(x):
        return x * 1

    @same.bprop
    def _(x, out, dout):
        return np.float32(2.0)

    with execution(mode):
        assert ms.grad(same)(Tensor(1.0)).asnumpy() == 2.0
