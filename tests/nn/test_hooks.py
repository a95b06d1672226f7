# SPDX-License-Identifier: Apache-2.0
"""Hooks. Oracles: the figures of CONTRACT §5, NumPy, and the other modes call by call."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import traceback

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.record.hooks import HookHandle
from mycel.nn import cell_hooks

ONE = np.ones([1], np.float32)


def row(*numbers) -> Tensor:
    return Tensor(np.array(numbers, np.float32))


class Product(nn.Cell):
    """MatMul of x + x and y, with the hooks of the documents."""

    def __init__(self):
        super().__init__()
        self.mul = nn.MatMul()

    def construct(self, x, y):
        return self.mul(x + x, y)


class Scale(nn.Cell):
    """x · w, with w = 3."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(row(3.0), name="w")

    def construct(self, x):
        return x * self.w


class Twice(nn.Cell):
    """An inner Cell called twice."""

    def __init__(self):
        super().__init__()
        self.inner = Scale()

    def construct(self, x):
        return self.inner(self.inner(x))


def printed(function) -> tuple[str, object]:
    """What a call prints, and its result."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        result = function()
    return text.getvalue(), result


def each_call(function, calls: int = 6) -> list:
    """The texts of the calls of a function, in one execution after the other: all the same."""
    found = []
    for name in EXECUTIONS:
        with execution(name):
            found += [function() for _ in range(calls)]
    assert all(one == found[0] for one in found), found
    return found[0]


# -- the documents' figures -------------------------------------------------------------------


def test_hook_backward_figures():
    hook = ops.HookBackward(lambda gradient: print(gradient))

    def product(x, y):
        z = hook(x * y)
        return z * y

    derivative = ops.GradOperation(get_all=True)(product)

    def call():
        text, result = printed(lambda: derivative(Tensor(1, ms.float32), Tensor(2, ms.float32)))
        return text, repr(result)

    assert each_call(call) == (
        "(Tensor(shape=[], dtype=Float32, value= 2),)\n",
        "(Tensor(shape=[], dtype=Float32, value= 4), Tensor(shape=[], dtype=Float32, value= 4))",
    )


def with_hooks(net, kinds: dict):
    handles = [getattr(net.mul, f"register_{kind}_hook")(hook) for kind, hook in kinds.items()]
    derivative = ops.GradOperation(get_all=True)(net)

    def call():
        text, result = printed(lambda: derivative(Tensor(ONE), Tensor(ONE)))
        return text, tuple(float(g) for g in result)

    found = each_call(call)
    for handle in handles:
        handle.remove()
        handle.remove()
    assert each_call(call) == ("", (2.0, 2.0))
    return found


def test_forward_pre_hook_figures():
    def hook(cell, inputs):
        print("forward inputs: ", inputs)
        return inputs[0] + inputs[1], inputs[1]

    text, gradients = with_hooks(Product(), {"forward_pre": hook})
    assert gradients == (2.0, 4.0)
    assert text == (
        "forward inputs:  (Tensor(shape=[1], dtype=Float32, value= [ 2.00000000e+00]), "
        "Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00]))\n"
    )


def test_fresh_data_cuts_the_gradient_off():
    _, gradients = with_hooks(Product(), {"forward_pre": lambda cell, i: (row(1.0), row(1.0))})
    assert gradients == (0.0, 0.0)
    _, gradients = with_hooks(Product(), {"forward": lambda cell, i, o: Tensor(1.0)})
    assert gradients == (0.0, 0.0)


def test_forward_hook_figures():
    def hook(cell, inputs, output):
        print("forward outputs: ", output)
        return output + output

    assert with_hooks(Product(), {"forward": hook}) == ("forward outputs:  2.0\n", (4.0, 4.0))


def test_backward_hook_sees_the_cell_alone():
    def before(cell, inputs):
        both = inputs[0] + inputs[1]
        return both, both

    def behind(cell, inputs, output):
        print("forward inputs:", [float(x) for x in inputs])
        print("forward outputs:", output)
        return output + output

    def reverse(cell, grad_input, grad_output):
        print("grad input:", [float(g) for g in grad_input])
        print("grad output:", [float(g) for g in grad_output])

    net = Product()
    text, gradients = with_hooks(
        net, {"forward_pre": before, "forward": behind, "backward": reverse}
    )
    assert gradients == (24.0, 12.0)
    assert text == (
        "forward inputs: [3.0, 3.0]\nforward outputs: 9.0\n"
        "grad input: [2.0]\ngrad output: [6.0, 6.0]\n"
    )


def test_backward_hook_on_batch_norm():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 2, 1, "valid", 0, weight_init="ones")
            self.bn = nn.BatchNorm2d(2, momentum=0.99, eps=0.00001, gamma_init="ones")

        def construct(self, x):
            return ops.relu(self.bn(self.conv(x)))

    net = Net()
    seen = []
    net.bn.register_backward_hook(lambda cell, i, o: seen.append((i[0].asnumpy(), o[0].asnumpy())))
    derivative = ops.GradOperation(get_all=True)(net)
    for name in EXECUTIONS:
        with execution(name):
            for _ in range(4):
                (gradient,) = derivative(Tensor(np.ones([1, 1, 2, 2], np.float32)))
                np.testing.assert_allclose(gradient.asnumpy(), 1.99998999, rtol=1e-6)
    assert len(seen) == 12
    for arrived, left in seen:
        assert (arrived == 1.0).all()
        np.testing.assert_allclose(left, 9.99994993e-01, rtol=1e-7)


# -- what a hook is given, and what it may return -------------------------------------------------


def test_gradients_that_are_not_there():
    class Both(nn.Cell):
        def construct(self, x, times, label):
            return x * times, x * label

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.both = Both()

        def construct(self, x, label):
            return self.both(x, 3, label)[0]

    net, seen = Net(), []

    def hook(cell, grad_input, grad_output):
        seen.append([None if g is None else float(g) for g in grad_input + grad_output])

    net.both.register_backward_hook(hook)
    derivative = ms.grad(net)
    assert each_call(lambda: float(derivative(row(1.0), row(2.0)))) == 3.0
    # One gradient per output, then one per Tensor given; the number 3 is no Tensor.
    assert seen == [[1.0, None, 3.0, None]] * 18


def test_it_fires_where_only_parameters_are_differentiated():
    net, seen = Scale(), []
    net.register_backward_hook(lambda cell, i, o: seen.append((float(i[0]), o)))
    derivative = ms.grad(net, None, net.trainable_params())
    assert each_call(lambda: float(derivative(row(5.0))[0])) == 5.0
    assert seen == [(1.0, (None,))] * 18


def test_orders_of_arguments_and_of_calls():
    net, order = Twice(), []
    note = order.append
    for mark in "ab":
        net.inner.register_forward_pre_hook(lambda c, i, m=mark: note(f"pre {m}"))
        net.inner.register_forward_hook(lambda c, i, o, m=mark: note(f"forward {m}"))
        net.inner.register_backward_pre_hook(lambda c, g, m=mark: note(f"backward pre {m}"))
        net.inner.register_backward_hook(
            lambda c, i, o, m=mark: note(f"backward {m} {float(i[0])} {float(o[0])}")
        )
    net.inner.register_full_backward_hook(
        lambda c, inputs, outputs: note(f"full {float(inputs[0])} {float(outputs[0])}")
    )
    derivative = ms.grad(net)
    forward = ["pre a", "pre b", "forward a", "forward b"]
    reverse = ["backward pre a", "backward pre b"]
    expected = [
        *forward,
        *forward,
        *reverse,
        "backward a 1.0 3.0",
        "backward b 1.0 3.0",
        "full 3.0 1.0",
        *reverse,
        "backward a 3.0 9.0",
        "backward b 3.0 9.0",
        "full 9.0 3.0",
    ]

    def call():
        order.clear()
        assert float(derivative(row(2.0))) == 9.0
        return list(order)

    assert each_call(call) == expected


def test_gradients_that_hooks_replace():
    net = Twice()
    net.inner.register_backward_pre_hook(lambda cell, grad: (grad[0] * 10,))
    net.inner.register_backward_hook(lambda cell, grad_input, grad_output: grad_output[0] * 2)
    derivative = ms.value_and_grad(net, 0, net.trainable_params())

    def call():
        value, (gx, (gw,)) = derivative(row(2.0))
        return float(value), float(gx), float(gw)

    # By hand: each call of the inner Cell multiplies what passes by 10, by w = 3 and by 2; its
    # Parameter gets 10 times what arrives, times its input: 10·6 and 10·(60)·2.
    assert each_call(call) == (18.0, 3600.0, 60.0 + 1200.0)


def test_keyword_inputs():
    class Product(nn.Cell):
        def construct(self, x, y=None):
            return x * y

    net, seen = Product(), []

    def before(cell, inputs, kwargs):
        return inputs, {"y": kwargs["y"] * 2}

    def behind(cell, inputs, kwargs, output):
        seen.append((float(inputs[0]), float(kwargs["y"]), float(output)))
        return output + 1

    net.register_forward_pre_hook(before, with_kwargs=True)
    net.register_forward_hook(behind, with_kwargs=True)
    derivative = ms.value_and_grad(lambda x: net(x, y=x))

    # As MindSpore 2.10 answers: 2x² + 1 and 4x at 3.
    assert each_call(lambda: tuple(map(float, derivative(row(3.0))))) == (19.0, 12.0)
    assert seen == [(3.0, 6.0, 18.0)] * 18


def test_hooks_in_front_and_behind_an_exception():
    """Oracle: MindSpore 2.10: the order of calls, and what hooks see where `construct` raises."""

    class Checked(nn.Cell):
        def construct(self, x):
            if float(x.sum()) > 2:
                raise ValueError("too large")
            return x * 2

    net, seen = Checked(), []

    def named(name):
        def hook(cell, inputs, *output):
            seen.append((name, *[part if part is None else float(part) for part in output]))

        return hook

    net.register_forward_pre_hook(named("second"))
    net.register_forward_pre_hook(named("first"), prepend=True)
    net.register_forward_hook(named("plain"))
    handle = net.register_forward_hook(named("always"), prepend=True, always_call=True)
    right = [("first",), ("second",), ("always", 2.0), ("plain", 2.0)]

    def both():
        seen.clear()
        net(row(1.0))
        with pytest.raises(ValueError, match="too large"):
            net(row(3.0))
        return tuple(seen)

    assert each_call(both) == (*right, ("first",), ("second",), ("always", None))
    handle.remove()
    assert each_call(both) == (*right[:2], right[3], ("first",), ("second",))
    net.register_forward_hook(lambda *_: 1 / 0, always_call=True)
    told = pytest.warns(UserWarning, match="always_call=True raised ZeroDivisionError")
    with told, pytest.raises(ValueError, match="too large"):
        net(row(3.0))


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(
    ("kind", "returned", "text"),
    [
        ("backward", (row(1.0), row(1.0)), "of Scale must return None or a tuple of 1 gradients"),
        ("backward", 3, "but it returned int"),
        ("backward", row(1.0, 2.0), r"shape \(1,\) and type Float32, .* shape \(2,\)"),
        ("backward_pre", (Tensor([1.0], ms.float16),), "but it returned one .* type Float16"),
        ("backward_pre", ("x",), "must return Tensors or None as gradients, .* str"),
    ],
)
def test_ill_formed_gradients(mode, kind, returned, text):
    net = Scale()
    getattr(net, f"register_{kind}_hook")(lambda *_: returned)
    with execution(mode), pytest.raises((TypeError, ValueError), match=text):
        ms.grad(net)(row(2.0))


def test_what_cannot_be_a_hook():
    for kind in ("forward_pre", "forward", "backward_pre", "backward", "full_backward"):
        with pytest.raises(TypeError, match="must be callable, but int 3"):
            getattr(nn.ReLU(), f"register_{kind}_hook")(3)
    with pytest.raises(TypeError, match="must be callable"):
        ops.HookBackward(3)
    with pytest.raises(TypeError, match="HookBackward passes Tensors on, but int"):
        ops.HookBackward(print)(3)
    net = nn.ReLU()
    net.register_forward_pre_hook(lambda cell, inputs, kwargs: inputs, with_kwargs=True)
    with pytest.raises(TypeError, match="ReLU registered with_kwargs=True must return"):
        net(row(1.0))


def test_insert_gradient_of():
    five = ops.InsertGradientOf(lambda gradient: gradient * 5)
    kept = ops.InsertGradientOf(lambda gradient: None)
    assert each_call(lambda: float(ms.grad(lambda x: five(x) * kept(x))(row(3.0)))) == 18.0


# -- handles, and changes while training ---------------------------------------------------------


class Form:
    """A hook as a method and as a callable object."""

    def __call__(self, cell, inputs, output):
        return output * 2

    def method(self, cell, inputs, output):
        return output * 2


@ms.jit
def jitted(cell, inputs, output):
    return output * 2


@pytest.mark.parametrize(
    "hook",
    [
        lambda cell, inputs, output: output * 2,
        functools.partial(lambda factor, cell, inputs, output: output * factor, 2),
        Form(),
        Form().method,
        jitted,
    ],
    ids=["lambda", "partial", "object", "method", "jitted"],
)
def test_forms_of_hooks(hook):
    net = Scale()
    net.register_forward_hook(hook)
    derivative = ms.value_and_grad(net)
    before = ms.debug.ledger().counts.replays
    assert each_call(lambda: tuple(map(float, derivative(row(2.0))))) == (12.0, 6.0)
    assert ms.debug.ledger().counts.replays > before


def played(program, calls: int = 12):
    """The transcript of a program in each execution; all the same, the compiled one replayed."""
    found = {}
    for name in EXECUTIONS:
        with execution(name):
            call, between = program()
            found[name] = []
            for index in range(calls):
                found[name].append(printed(functools.partial(call, index)))
                between(index)
    assert found["fused"] == found["direct"]
    assert found["graph"] == found["direct"]
    assert ms.debug.ledger().counts.replays > 0
    return found["direct"]


def test_added_removed_and_added_again():
    def program():
        net, handles = Twice(), []
        derivative = ms.value_and_grad(net, 0, net.trainable_params())

        def call(index):
            value, (gx, (gw,)) = derivative(row(1.0 + index))
            return float(value), float(gx), float(gw)

        def between(index):
            if index in (2, 8):
                handles.append(net.inner.register_forward_hook(lambda c, i, o: o * 0.5))
            if index == 3:
                handles.append(net.inner.register_backward_hook(lambda c, i, o: (o[0] * 3,)))
            if index == 6:
                handles[0].remove()

        return call, between

    values = [value for _, (value, _, _) in played(program)]
    assert values[:3] == [9.0, 18.0, 27.0]
    assert values[3] == 36.0 / 4
    assert values[7] == 72.0


def test_hooks_on_parameters_and_inputs_registered_later():
    def program():
        net, log, handles = Scale(), [], []
        derivative = ms.value_and_grad(net, 0, net.trainable_params())
        x = row(2.0)

        def call(index):
            log.clear()
            value, (gx, (gw,)) = derivative(x)
            return float(value), float(gx), float(gw), list(log)

        def between(index):
            if index == 3:
                handles.append(net.w.register_hook(lambda g: log.append(float(g))))
            if index == 6:
                handles.append(x.register_hook(lambda g: g * 2))
            if index == 9:
                for handle in handles:
                    handle.remove()

        return call, between

    texts = [result for _, result in played(program)]
    assert texts[3] == texts[10] == (6.0, 3.0, 2.0, [])
    assert texts[4] == (6.0, 3.0, 2.0, [2.0])
    assert texts[8] == (6.0, 6.0, 2.0, [2.0])


def test_a_hook_that_changes_its_mind_runs_once_per_call():
    def program():
        net, count = Twice(), [0]

        def clip(cell, grad_input, grad_output):
            count[0] += 1
            return (grad_output[0] * 0.1,) if count[0] > 13 else None

        net.inner.register_backward_hook(clip)
        derivative = ms.grad(net)

        def call(index):
            return round(float(derivative(row(2.0))), 4), count[0]

        return call, lambda index: None

    results = [result for _, result in played(program)]
    assert [count for _, count in results] == list(range(2, 26, 2))
    assert [value for value, _ in results] == [9.0] * 6 + [0.9] + [0.09] * 5


def test_a_hook_that_removes_itself_and_adds_another():
    def program():
        net, log = Twice(), []

        def once(cell, inputs, output):
            log.append("once")
            if len(log) == 7:
                handle.remove()
                cell.register_backward_hook(lambda c, i, o: log.append(f"later {float(i[0])}"))

        handle = net.inner.register_forward_hook(once)
        derivative = ms.grad(net)

        def call(index):
            log_before = len(log)
            return float(derivative(row(2.0))), log[log_before:]

        return call, lambda index: None

    results = [log for _, (_, log) in played(program)]
    assert results[2] == ["once", "once"]
    # In the fourth call the hook goes after the first of two calls of the Cell. The second has the
    # backward hook at once.
    assert results[3] == ["once", "later 1.0"]
    assert results[4] == ["later 1.0", "later 3.0"]


def test_an_attribute_that_a_hook_sets_reaches_construct():
    class Gated(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first, self.gate = Scale(), 1.0

        def construct(self, x):
            return self.first(x) * self.gate

    def program():
        net, count = Gated(), [0]

        def steer(cell, inputs, output):
            count[0] += 1
            net.gate = 1.0 if count[0] < 8 else 4.0

        net.first.register_forward_hook(steer)
        derivative = ms.value_and_grad(net)

        def call(index):
            return tuple(map(float, derivative(row(2.0))))

        return call, lambda index: None

    results = [result for _, result in played(program)]
    assert results == [(6.0, 3.0)] * 7 + [(24.0, 12.0)] * 5


def test_features_kept_by_a_hook_stay_connected_to_the_gradient():
    """The loss uses what a forward hook appended, also in the call in which a later hook does
    something new: what was kept must not be cut off."""

    def program():
        net, kept, count = Twice(), [], [0]

        def keep(cell, inputs, output):
            kept.append(output)

        def sometimes(cell, inputs, output):
            count[0] += 1
            return output * 2 if count[0] in (7, 8) else None

        net.inner.register_forward_hook(keep)
        net.register_forward_hook(sometimes)

        def loss(x):
            result = net(x)
            return result + kept[-2] * kept[-1]

        derivative = ms.value_and_grad(loss)
        return lambda index: tuple(map(float, derivative(row(2.0)))), lambda index: None

    results = [result for _, result in played(program)]
    # 9x + 3x · 9x and its derivative, at 2; with the hook 18x + 27x².
    assert results[0] == (18.0 + 108.0, 9.0 + 108.0)
    assert results[6] == (36.0 + 108.0, 18.0 + 108.0)


LEFT_BY_HOOKS = {
    "a dict": (dict, lambda kept, y: kept.update(y=y), lambda kept: kept["y"] * 2),
    "its content": (dict, lambda kept, y: kept.update(y=y), lambda kept: sum(kept.values())),
    "the end of a list": (list, lambda kept, y: kept.append(y), lambda kept: kept[-1] * 2),
    "a tuple": (
        dict,
        lambda kept, y: kept.update(y=(y, y * 2)),
        lambda kept: kept["y"][0] * kept["y"][1],
    ),
    "a field": (nn.Cell, lambda kept, y: setattr(kept, "y", y), lambda kept: kept.y * 2),
}


@pytest.mark.parametrize("changes", [None, "another", "nothing", "a constant", "twice"])
@pytest.mark.parametrize("kind", LEFT_BY_HOOKS)
def test_what_a_hook_leaves_for_the_code_behind_it(kind, changes):
    """The body goes on with a Tensor of the call that a hook put somewhere; in calls 6 and 7 the
    hook puts another there, none, or two."""
    make, leave, use = LEFT_BY_HOOKS[kind]

    def program():
        net, kept, count = Twice(), make(), [0]

        def keep(cell, inputs, output):
            count[0] += 1
            what = changes if count[0] in (11, 13) else None
            if what == "nothing":
                return
            leave(kept, {"another": inputs[0], "a constant": row(3.0)}.get(what, output))
            if what == "twice":
                leave(kept, output * 5)

        net.inner.register_forward_hook(keep)
        derivative = ms.value_and_grad(lambda x: net(x) + use(kept))
        return lambda index: tuple(map(float, derivative(row(1.0 + index)))), lambda index: None

    played(program)
    assert ms.debug.ledger().counts.replays >= 4


class Holder(nn.Cell):
    """Holds what others put there."""


@pytest.mark.parametrize("first", [row(0.0), 0.0], ids=["a Tensor", "a number"])
@pytest.mark.parametrize("kind", [Holder, nn.Cell, nn.ReLU])
def test_a_field_that_the_body_reads_before_a_hook_sets_it(kind, first):
    """Before each call it is put back, but for one: the body must see that."""

    def program():
        net, kept = Twice(), kind()
        second = first + 1.0
        kept.y = first

        def keep(cell, inputs, output):
            kept.y = output if isinstance(first, Tensor) else second

        net.inner.register_forward_hook(keep)

        def body(x):
            before = kept.y
            return net(x) + before * 2 + kept.y

        def between(index):
            kept.y = second if index == 5 else first

        function = ms.jit(body)
        return lambda index: float(function(row(1.0 + index))), between

    played(program)
    assert ms.debug.ledger().counts.replays >= 4


def test_what_the_code_behind_a_hook_takes_away():
    """The body empties what a hook filled: that is a change of its own, and is not replayed."""

    def program():
        net, kept = Twice(), []
        net.inner.register_forward_hook(lambda cell, inputs, output: kept.append(output))

        def loss(x):
            result = net(x) * kept.pop()
            return result + len(kept)

        function = ms.jit(loss)
        return lambda index: float(function(row(1.0 + index))), lambda index: None

    found = {}
    for name in EXECUTIONS:
        with execution(name):
            call, _ = program()
            found[name] = [call(index) for index in range(6)]
    assert found["direct"] == found["fused"] == found["graph"]
    assert found["direct"] == [81.0 * (1 + n) ** 2 + 1 + n for n in range(6)]


@pytest.mark.parametrize("order", ["first", "last"])
def test_a_site_that_uses_what_an_earlier_one_kept(order):
    """Two hooks keep what they made, a third uses one of these, and later the other one."""

    def program():
        net, kept, count = Twice(), [], [0]

        def keep(cell, inputs, output):
            kept.append(output * 2)
            kept.append(output * 3)

        def use(cell, inputs, output):
            count[0] += 1
            first = (order == "first") != (count[0] in (6, 7))
            return output + (kept[-2] if first else kept[-1])

        net.inner.register_forward_hook(keep)
        net.register_forward_hook(use)
        derivative = ms.value_and_grad(net)
        return lambda index: tuple(map(float, derivative(row(1.0 + index)))), lambda index: None

    played(program)


def test_an_argument_that_a_hook_kept_and_the_network_changes_in_place():
    class Writing(nn.Cell):
        def construct(self, x):
            x[0] = 5.0
            return x

    def program():
        net, kept = Writing(), []
        net.register_forward_pre_hook(lambda cell, inputs: kept.append(inputs[0]))
        function = ms.jit(lambda x: (net(x) * 2 + kept[-1]).sum())
        return lambda index: float(function(row(float(index), 1.0))), lambda index: None

    for name in EXECUTIONS:
        with execution(name):
            call, _ = program()
            # By hand: both are the same Tensor, [5, 1] after the change: 2 · 6 + 6.
            assert [call(index) for index in range(6)] == [18.0] * 6


def test_a_tensor_hook_that_a_forward_hook_registers():
    def program():
        net, log = Twice(), []

        def watch(cell, inputs, output):
            output.register_hook(lambda gradient: log.append(float(gradient)))

        net.inner.register_forward_hook(watch)
        derivative = ms.grad(net)

        def call(index):
            log.clear()
            return float(derivative(row(1.0))), list(log)

        return call, lambda index: None

    assert [result for _, result in played(program)] == [(9.0, [1.0, 3.0])] * 12


def test_registering_inside_construct_piles_up_and_says_so():
    class Careless(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Scale()

        def construct(self, x):
            self.inner.register_forward_hook(lambda cell, inputs, output: output + 1)
            return self.inner(x)

    for name in EXECUTIONS:
        with execution(name):
            net = Careless()
            found = [float(net(row(1.0))) for _ in range(5)]
            assert found == [4.0, 5.0, 6.0, 7.0, 8.0]
    notes = [line.what for line in ms.debug.ledger().lines if line.name == "Careless"]
    assert "a forward hook was registered inside Scale" in notes[-1]
    net = Careless()
    with pytest.warns(UserWarning, match="32 forward hooks .* registering inside construct adds"):
        for _ in range(32):
            net(row(1.0))


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_hook_that_raises(mode):
    net, count = Twice(), [0]

    def fail(cell, grad_input, grad_output):
        count[0] += 1
        if count[0] == 9:
            raise KeyError("by the hook")

    net.inner.register_backward_hook(fail)
    derivative = ms.grad(net)
    with execution(mode):
        for _ in range(4):
            derivative(row(1.0))
        with pytest.raises(KeyError, match="by the hook") as caught:
            derivative(row(1.0))
    text = "".join(traceback.format_exception(caught.value))
    assert f"In the backward hook fail of Twice.inner, Scale, at {__file__}:" in text
    assert 'raise KeyError("by the hook")' in text


def test_a_kind_of_hook_is_a_row_of_the_table():
    """Oracle: docs/where.md says that nothing but the table and the registering knows the kinds."""
    source = inspect.getsource(cell_hooks)
    row = '    "forward": "forward hook",\n'
    assert source.count(row) == 1
    space: dict = {"__name__": "changed_hooks"}
    exec(source.replace(row, row + '    "early": "early hook",\n'), space)
    net, seen = nn.ReLU(), []
    hooks = space["CellHooks"](net)
    assert not hooks
    HookHandle(hooks.early, (seen.append, 0))
    assert hooks and hooks.listed() == ["early", seen.append, 0]
    assert hooks.early.kind == "early hook" and hooks.copy_to(net).early


def test_hooks_on_operators_do_not_stand_around_the_call():
    net = nn.ReLU()
    hooks = cell_hooks.CellHooks(net)
    HookHandle(hooks.operator, (print, 0))
    assert not hooks and hooks.listed() and not hooks.copy_to(net).listed()


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("owner", ["input", "Parameter", "between"])
def test_a_wrong_return_value_is_told_with_its_hook(owner, mode):
    """Oracle: docs/hooks.md, the same notes as for what a hook raises; the line of the lambda."""
    net, x = nn.Dense(1, 1), Tensor([[1.0]])
    hook = lambda gradient: gradient.sum()  # noqa: E731
    line = f"<lambda>, defined at {__file__}:{hook.__code__.co_firstlineno}."

    def forward(x):
        y = x * 2
        if owner == "between":
            y.register_hook(hook)
        return net(y).sum()

    if owner != "between":
        (x if owner == "input" else net.weight).register_hook(hook)
    with execution(mode), pytest.raises(ValueError, match="must return a gradient of") as caught:
        ms.grad(forward, 0, net.weight)(x)
    assert any(n.startswith("In the hook on ") and n.endswith(line) for n in caught.value.__notes__)
