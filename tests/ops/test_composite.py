# SPDX-License-Identifier: Apache-2.0
"""Functions of functions, clipping, older names: recorded answers, idioms of real code, errors."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution, matches, run_everywhere
from mycel import Parameter, Tensor, nn, ops
from mycel.compat.mint_operators import FUNCTIONS
from mycel.compat.operators import PYTHON, RENAMED
from support import recorded_cells as recorded

X, Y = np.array([3.0, -4.0], np.float32), np.array([[12.0]], np.float32)


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("composites", "(?!update_)"), ids=recorded.case_name
)
def test_recorded_answers(case, answer):
    """The oracle is MindSpore."""
    recorded.check(case, answer)


grad_scale = ops.MultitypeFuncGraph("grad_scale")
grad_overflow = ops.MultitypeFuncGraph("_grad_overflow")


@grad_scale.register("Tensor", "Tensor")
def scaled(scale, gradient):
    return gradient * ops.reciprocal(scale)


@grad_overflow.register("Tensor")
def overflow(gradient):
    return ops.FloatStatus()(gradient)


class Step(nn.Cell):
    """As training steps with a scaled loss are written in many programs."""

    def __init__(self, network, optimizer):
        super().__init__(auto_prefix=False)
        self.network = network
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
        self.hyper_map = ops.HyperMap()
        self.add_n = ops.AddN()

    def construct(self, x, scale):
        loss = self.network(x)
        gradients = self.grad(self.network, self.weights)(x, scale * ops.ones_like(loss))
        gradients = self.hyper_map(ops.partial(grad_scale, scale), gradients)
        gradients = ops.clip_by_global_norm(gradients, 1.0)
        flags = self.add_n(self.hyper_map(ops.partial(grad_overflow), gradients))
        self.optimizer(gradients)
        return loss, flags


def test_a_training_step_of_hyper_maps():
    """Scaling, clipping and the test for overflow; the oracle is NumPy."""

    def train(x, scale):
        net = nn.Dense(2, 1, Tensor([[1.0, 2.0]]), "zeros")
        step = Step(net, nn.SGD(net.trainable_params(), 0.5))
        loss, flags = step(x, scale)
        return loss, flags, net.weight.value(), net.bias.value()

    x = np.array([[3.0, 4.0]], np.float32)
    gradient = np.array([3, 4, 1]) / np.sqrt(26)
    weight, bias = np.array([[1, 2]]) - 0.5 * gradient[:2], -0.5 * gradient[2:]
    expected = ([[11]], [0], weight, bias)
    expected = tuple(np.array(value, np.float32) for value in expected)
    for results in run_everywhere(train, x, np.float32(8), replayed=False).values():
        for one, other in zip(results, expected, strict=True):
            np.testing.assert_allclose(one, other, 1e-6)


def test_clipping_together():
    """The oracle is NumPy; 13 is the norm over both."""

    def oracle(x, y):
        return x / 13, y / 13

    matches(lambda x, y: ops.clip_by_global_norm((x, y), 1.0), oracle, X, Y)
    matches(lambda x, y: ops.clip_by_norm([x, y], 1.0), oracle, X, Y)


def test_clipping_keeps_zeros():
    """A norm of 0 divides nothing."""
    zero = Tensor([0.0, 0.0])
    np.testing.assert_array_equal(ops.clip_by_global_norm((zero,), 1.0)[0].asnumpy(), [0, 0])
    np.testing.assert_array_equal(ops.clip_by_norm(zero, 1.0).asnumpy(), [0, 0])


@pytest.mark.parametrize("bad", [0.0, np.inf, -np.inf, np.nan])
def test_float_status(bad):
    """1 if an element is infinite or not a number; the oracle is NumPy."""

    def oracle(x):
        return np.array([not np.isfinite(x).all()], np.float32)

    matches(ops.FloatStatus(), oracle, np.array([1, bad], np.float32))


def test_types_are_told_apart():
    """Which function is chosen: by element types, by names of classes, in the order they came."""
    kind = ops.MultitypeFuncGraph("kind")
    for name in ("Tensor[Float16]", "Tensor", "RowTensor", "Int32", "Slice", "Ellipsis"):
        kind.register(name)(lambda x, name=name: name)
    kind.register(ms.float32)(lambda x: "Float32")

    class RowTensor:
        pass

    values = (Tensor([1.0], ms.float16), Parameter(Tensor(1.0)), RowTensor(), 3, slice(2), ..., 0.5)
    expected = ["Tensor[Float16]", "Tensor", "RowTensor", "Int32", "Slice", "Ellipsis", "Float32"]
    assert [kind(value) for value in values] == expected


def test_one_function_takes_anything():
    """As in MindSpore: with nothing to choose from, types are not looked at."""
    alone = ops.MultitypeFuncGraph("alone")
    alone.register("Tensor")(lambda x: ("called", x))
    assert alone((1, 2)) == ("called", (1, 2))


def test_flags():
    @ops.add_flags(has_effect=True)
    def function(x):
        return x

    assert function._func_graph_flags == {"has_effect": True}
    assert ops.add_flags(nn.ReLU(), stage=2).get_flags() == {"stage": 2}
    assert ops.core(lambda x: x)._func_graph_flags == {"core": True}


def test_older_names_are_the_newer_objects():
    for older, newer in RENAMED.items():
        assert getattr(ops, older) is getattr(ops, newer)
    for name, function in PYTHON.items():
        assert getattr(ops, name) is function


def test_generated_names_are_those_of_mint():
    for name, of_mint in FUNCTIONS.items():
        assert getattr(ops, name) is operator.attrgetter(of_mint)(ms.mint)
    x = Tensor([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(ops.AddExt()(x, x, alpha=2).asnumpy(), [[3, 6, 9]])
    parts = ops.auto_generate.SplitWithSize()(x, (1, 2), 1)
    assert [part.shape for part in parts] == [(1, 1), (1, 2)]
    assert repr(ops.SumExt()) == "SumExt()"


def test_what_needs_nothing_here():
    p = Parameter(Tensor([1.0]), name="p")
    before = ops.Load()(p)
    ops.assign(p, Tensor([2.0]))
    assert ops.control_depend(before, p) is None
    assert ops.dtype(p) is ms.float32
    np.testing.assert_array_equal(before.asnumpy(), [1])


class Shift(ops.PrimitiveWithInfer):
    @ops.prim_attr_register
    def __init__(self, offset=1, name="shift"):
        self.init_prim_io_names(inputs=["x"], outputs=["y"])

    def infer_shape(self, x):
        return x

    def vm_impl(self, x):
        return x + self.offset


def test_primitives_of_ones_own():
    """Attributes are kept as in MindSpore; what `vm_impl` computes is NumPy's."""
    shift = Shift(2)
    assert shift.attrs == {
        "offset": 2,
        "name": "shift",
        "input_names": ["x"],
        "output_names": ["y"],
    }
    assert shift.init_attrs == {"offset": 2, "name": "shift"}
    matches(shift, lambda x: x + 2, X)


def test_functions_on_the_host():
    """PyFunc returns a tuple; the oracle is NumPy."""
    both = ops.PyFunc(
        lambda x: (np.sort(x), x.sum()), [ms.float32], [(2,)], [ms.float32] * 2, [(2,), ()]
    )
    matches(both, lambda x: (np.sort(x), x.sum()), X)


# What is declared, what it is called with, and what MindSpore 2.7 gives the function.
DECLARED = {
    "one element as a number": ((), Tensor([1], ms.int32), int),
    "a number as one element": ((1,), Tensor(1, ms.int32), (1,)),
    "a table as a row": ((4,), Tensor([[1, 2], [3, 4]], ms.int32), (4,)),
}


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("name", DECLARED)
def test_a_function_on_the_host_gets_the_shapes_that_were_declared(name, mode):
    shape, given, expected = DECLARED[name]
    found = []

    def look(x):
        found.append(type(x) if isinstance(x, int) else x.shape)
        return np.sum(x)

    total = ops.PyFunc(look, [ms.int32], [shape], [ms.int32], [()])
    with execution(mode):
        assert int(total(given)[0]) == given.asnumpy().sum()
    assert found == [expected]


@pytest.mark.parametrize(
    ("shape", "given", "kind", "text"),
    [
        ((3,), (Tensor([1, 2], ms.int32),), ValueError, "the size of an argument must be that of"),
        ((-1, 2), (Tensor([1, 2, 3], ms.int32),), ValueError, "the size of an argument"),
        ((2,), (Tensor([1.0, 2.0]),), TypeError, "the type of an argument must be Int32"),
        ((2,), (), ValueError, "the number of arguments"),
    ],
)
def test_a_function_on_the_host_gets_nothing_else(shape, given, kind, text):
    # MindSpore 2.7 gives the function the bytes, as numbers of the declared type and shape.
    with pytest.raises(kind, match=text):
        ops.PyFunc(np.sum, [ms.int32], [shape], [ms.int32], [()])(*given)[0].asnumpy()


ERRORS = {
    "ops.HyperMap(3)": (TypeError, "HyperMap: ops must be a function, but int 3 was given"),
    "ops.HyperMap(abs)()": (TypeError, "What HyperMap goes over must be at least one tuple"),
    "ops.HyperMap()(max, (1, 2), (3,))": (ValueError, "must be of one length: 2 as the first"),
    "ops.HyperMap()(max, (1, 2), 3)": (TypeError, "fixed arguments with ops.partial, but int"),
    "ops.partial()": (TypeError, "The first input of partial must be a function, but NoneType"),
    "graph.register('Thing')": (RuntimeError, "A type name of register must be one of Tensor, Num"),
    "graph('a')": (ValueError, "Register a function for these: @g.register('String')"),
    "ops.clip_by_global_norm((x,), 0.0)": (ValueError, "clip_norm must be above 0, but 0.0"),
    "ops.clip_by_global_norm((x,), 1.0, x)": (ValueError, "use_norm must be None"),
    "ops.clip_by_norm((x, 2), 1.0)": (TypeError, "a Tensor, or a tuple or list of them"),
    "ops.scalar_cast('1', ms.int64)": (TypeError, "scalar_cast: input_x must be a number, but str"),
    "ops.TupleToArray()((1, 2.0))": (TypeError, "of integers or of floats, but float, int"),
    "ops.PrimitiveWithInfer('Cus')(x)": (NotImplementedError, "has no vm_impl(self, *inputs)"),
}


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    kind, text = ERRORS[source]
    graph = ops.MultitypeFuncGraph("g")
    graph.register("Number")(abs)
    graph.register("Tensor")(abs)
    with pytest.raises(kind) as raised:
        eval(source, {"ops": ops, "ms": ms, "graph": graph, "x": Tensor([1.0])})
    assert text in str(raised.value)
