# SPDX-License-Identifier: Apache-2.0
"""capture and patch: what Cells give, by path, and what they would give, in every mode.

Oracles: the same network by hand in NumPy, derivatives of mycel by the value itself, the other
modes; compilations and replays are counted.
"""

from __future__ import annotations

import concurrent.futures
import re

import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn, ops
from mycel.kernel.base.context import context

MODES = ("pynative", "direct", "jit", "graph")


class Attention(nn.Cell):
    def __init__(self, width: int):
        super().__init__()
        self.query = nn.Dense(width, width)
        self.act = nn.Tanh()

    def construct(self, x):
        return self.act(self.act(self.query(x)) * x)


class Block(nn.Cell):
    def __init__(self, width: int):
        super().__init__()
        self.att = Attention(width)
        self.out = nn.Dense(width, width)

    def construct(self, x):
        return x + self.out(self.att(x))


class Net(nn.Cell):
    def __init__(self, width: int = 4, depth: int = 3):
        super().__init__()
        self.blocks = nn.CellList([Block(width) for _ in range(depth)])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


@pytest.fixture(params=MODES)
def mode(request):
    ms.set_seed(1)
    graph, direct = request.param == "graph", request.param == "direct"
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE, pynative_synchronize=direct)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)


def compiled(mode: str, function):
    return ms.jit(function) if mode == "jit" else function


def batch(scale: float = 1.0) -> Tensor:
    return Tensor(scale * np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))


def block_by_hand(block: Block, x: np.ndarray) -> dict[str, np.ndarray]:
    def dense(cell, x):
        return x @ cell.weight.asnumpy().T + cell.bias.asnumpy()

    query = dense(block.att.query, x)
    first = np.tanh(query)
    second = np.tanh(first * x)
    out = dense(block.out, second)
    return {"att.query": query, "att.act": first, "att.act#2": second, "out": out, "": x + out}


def test_values_of_every_cell_and_every_call(mode):
    net = Net()
    call = compiled(mode, lambda x: net(x))
    with ms.debug.capture(net, "**") as kept:
        for scale in (1.0, 1.0, 1.0, 0.5, 2.0):
            call(batch(scale))
            x = batch(scale).asnumpy()
            for number, block in enumerate(net.blocks):
                expected = block_by_hand(block, x)
                for name, value in expected.items():
                    path = f"blocks.{number}.{name}".rstrip(".")
                    np.testing.assert_allclose(kept[path].asnumpy(), value, 1e-5, 1e-6)
                x = expected[""]
            np.testing.assert_allclose(kept[""].asnumpy(), x, 1e-5, 1e-6)
    assert len(kept) == 3 * 6 + 1
    call(batch(3.0))
    np.testing.assert_allclose(kept[""].asnumpy(), x, 1e-5, 1e-6)  # nothing is captured behind it


def test_inputs_and_gradients(mode):
    net = Net()
    derivative = compiled(mode, ms.value_and_grad(lambda x: (net(x) ** 2).sum(), 0, None))
    with ms.debug.capture(net, "blocks.*.out", "", inputs=True, gradients=True) as kept:
        for scale in (1.0, 1.0, 1.0, 0.5):
            derivative(batch(scale))
    assert list(kept) == ["blocks.0.out", "blocks.1.out", "blocks.2.out", ""]
    np.testing.assert_array_equal(kept.inputs[""].asnumpy(), batch(0.5).asnumpy())
    np.testing.assert_allclose(kept.gradients[""].asnumpy(), 2 * kept[""].asnumpy(), 1e-5, 1e-6)

    def from_the_second_on(x):
        for block in net.blocks[1:]:
            x = block(x)
        return (x**2).sum()

    behind = ms.grad(from_the_second_on)(kept["blocks.0.out"] + batch(0.5))
    np.testing.assert_allclose(
        kept.gradients["blocks.0.out"].asnumpy(), behind.asnumpy(), 1e-4, 1e-5
    )


def test_gradients_of_calls_of_one_cell_are_told_apart(mode):
    net = Net(depth=1)
    derivative = compiled(mode, ms.grad(lambda x: net(x).sum()))
    with ms.debug.capture(net, "**.act", outputs=False, gradients=True) as kept:
        for _ in range(4):
            derivative(batch())
    first, second = kept["blocks.0.att.act"].asnumpy(), kept["blocks.0.att.act#2"].asnumpy()
    weight = net.blocks[0].out.weight.asnumpy()
    np.testing.assert_allclose(second, np.ones((2, 4)) @ weight, 1e-5, 1e-6)
    inner = block_by_hand(net.blocks[0], batch().asnumpy())["att.act#2"]
    np.testing.assert_allclose(first, second * (1 - inner**2) * batch().asnumpy(), 1e-4, 1e-6)


def test_two_calls_of_a_network_in_one_derivative(mode):
    net = nn.SequentialCell(nn.Dense(4, 4))
    derivative = compiled(mode, ms.grad(lambda x: (net(x) * net(2 * x)).sum()))
    with ms.debug.capture(net, "0") as kept:
        for _ in range(4):
            derivative(batch())
    assert list(kept) == ["0", "0#2"]


def test_a_captured_program_stays_compiled_and_leaves_nothing():
    net = Net()
    step = ms.jit(ms.value_and_grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params()))
    counts = ms.debug.ledger().counts
    for _ in range(4):
        step(batch())
    plain = step(batch())[0].asnumpy()
    with ms.debug.capture(net, "blocks.*.att", gradients=True):
        for _ in range(4):
            step(batch())
        before = counts.replays, counts.compilations
        for scale in range(5):
            step(batch(float(scale)))
        assert (counts.replays, counts.compilations) == (before[0] + 5, before[1])
    for _ in range(3):
        step(batch())
    before = counts.replays, counts.compilations
    np.testing.assert_array_equal(step(batch())[0].asnumpy(), plain)
    assert (counts.replays, counts.compilations) == (before[0] + 1, before[1])


def test_wrong_paths_are_told():
    net = Net()
    with pytest.raises(ValueError, match=r"No Cell of Net is at 'blocks.\*.atn'.*'blocks.0.att'"):
        ms.debug.capture(net, "blocks.*.atn")
    with pytest.raises(ValueError, match="nothing to capture"):
        ms.debug.capture(net, outputs=False)
    with pytest.raises(TypeError, match="A Cell is needed, not function"):
        ms.debug.capture(lambda x: x, "a")
    with pytest.raises(TypeError, match="as 'blocks"):
        ms.debug.capture(net, 3)
    with pytest.raises(TypeError, match="a dict by path"):
        ms.debug.patch(net, "blocks.0")
    with ms.debug.patch(net, {"blocks.0": None}) as patched:
        with pytest.raises(KeyError, match="is not patched here"):
            patched["blocks.1"] = 0.0
        net(batch())
        with pytest.raises(ValueError, match=r"shape \(3,\) does not fit \(2, 4\)"):
            patched["blocks.0"] = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="'a:b:c' is no pattern"):
        ms.debug.capture(net, "a:b:c")
    with pytest.raises(ValueError, match="inputs=True is for Cells, not for operators"):
        ms.debug.capture(net, "**:tanh", inputs=True)
    with pytest.raises(TypeError, match="gradients of capture must be True or False"):
        ms.debug.capture(net, gradients="yes")
    with ms.debug.capture(net, "blocks.*", "**.act#2") as kept:
        net(batch())
        with pytest.raises(RuntimeError, match="has begun already"):
            kept.__enter__()
        with pytest.raises(
            KeyError, match=r"'blocks.9' was not captured.*There is 'blocks.0.att.act#2'"
        ):
            kept["blocks.9"]
    assert "blocks.0.att.act" not in kept


# -- operators ----------------------------------------------------------------------------------


def test_operators_are_captured_by_cell_name_and_number(mode):
    net = Net()
    call = compiled(mode, lambda x: net(x))
    with ms.debug.capture(net, "**:tanh", "blocks.1:add", "blocks.2.att.query:dense") as kept:
        for scale in (1.0, 1.0, 1.0, 0.5, 2.0):
            call(batch(scale))
            x = batch(scale).asnumpy()
            for number, block in enumerate(net.blocks):
                by_hand = block_by_hand(block, x)
                act = f"blocks.{number}.att.act"
                expected = {
                    f"{act}:tanh": by_hand["att.act"],
                    f"{act}#2:tanh": by_hand["att.act#2"],
                }
                expected |= {"blocks.1:add": by_hand[""]} if number == 1 else {}
                for name, value in expected.items():
                    np.testing.assert_allclose(kept[name].asnumpy(), value, 1e-5, 1e-6)
                x = by_hand[""]
    assert len(kept) == 3 * 2 + 1 + 1


class Products(nn.Cell):
    """Three products of matrices in one Cell."""

    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(Tensor(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)))

    def construct(self, x):
        return ops.matmul(ops.matmul(ops.matmul(x, self.weight), self.weight), self.weight)


def test_the_second_of_several_operators_and_its_gradient(mode):
    net = Products()
    weight, x = net.weight.asnumpy(), batch().asnumpy()
    derivative = compiled(mode, ms.grad(lambda x: net(x).sum()))
    with ms.debug.capture(net, ":matmul#2", gradients=True) as kept:
        for _ in range(4):
            derivative(batch())
    assert list(kept) == [":matmul#2"]
    np.testing.assert_allclose(kept[":matmul#2"].asnumpy(), x @ weight @ weight, 1e-4, 1e-5)
    expected = np.ones((2, 4), np.float32) @ weight.T
    np.testing.assert_allclose(kept.gradients[":matmul#2"].asnumpy(), expected, 1e-4, 1e-5)
    with ms.debug.capture(net, "") as plain:
        derivative(batch())
    assert list(plain) == [""]


def test_operators_are_patched_and_nothing_is_compiled_again(mode):
    net = Products()
    weight, x = net.weight.asnumpy(), batch().asnumpy()
    call = compiled(mode, lambda x: net(x))
    first = x @ weight
    plain = first @ weight @ weight
    vector = np.float32([1, 2, 3, 4])
    part = (first @ weight).copy()
    part[1] += 0.5 * vector
    edits = [
        (0.0, np.zeros((2, 4), np.float32)),
        (vector, np.broadcast_to(vector, (2, 4)) @ weight),
        (ms.debug.Edit(vector, at=1, strength=0.5, add=True), part @ weight),
        (None, plain),
    ]
    with ms.debug.patch(net, {":matmul#2": None}) as patched:
        for _ in range(4):
            np.testing.assert_allclose(call(batch()).asnumpy(), plain, 1e-4, 1e-5)
        before = ms.debug.ledger().counts.compilations
        for edit, expected in edits:
            patched[":matmul#2"] = edit
            for _ in range(2):
                np.testing.assert_allclose(call(batch()).asnumpy(), expected, 1e-4, 1e-5)
        assert ms.debug.ledger().counts.compilations == before
        patched[":matmul#2"] = 1.0
        derivative = compiled(mode, ms.grad(lambda x: net(x).sum(), None, patched.values))
        for _ in range(4):
            (gradient,) = derivative(batch())
    np.testing.assert_allclose(gradient.asnumpy(), np.ones((2, 4)) @ weight.T, 1e-4, 1e-5)
    np.testing.assert_allclose(call(batch()).asnumpy(), plain, 1e-4, 1e-5)


def test_all_operators_of_a_name_and_calls_of_cells_are_patched(mode):
    net = Net(depth=1)
    call = compiled(mode, lambda x: net(x))
    dense = net.blocks[0].out
    bias = batch().asnumpy() + dense.bias.asnumpy()
    for path in ("**:tanh", "**.act", "blocks.0.att.act#2", "blocks.0.att.act#2:tanh"):
        with ms.debug.patch(net, {path: 0.0}):
            for _ in range(3):
                np.testing.assert_allclose(call(batch()).asnumpy(), bias, 1e-5, 1e-6)
    with ms.debug.patch(net, {"**.act#1": 0.0}):
        inner = np.tanh(np.zeros((2, 4))) @ dense.weight.asnumpy().T
        np.testing.assert_allclose(call(batch()).asnumpy(), bias + inner, 1e-5, 1e-6)


def test_a_thousand_interventions_on_operators_compile_nothing():
    net, numbers = Net(depth=4), np.random.RandomState(0)
    call = ms.jit(lambda x: net(x).sum())
    counts = ms.debug.ledger().counts
    with ms.debug.patch(net, {"blocks.*:add": None}) as patched:
        for path in patched:
            patched[path] = 0.0
            call(batch())
            del patched[path]
        for _ in range(4):
            call(batch())
        before, results = (counts.compilations, counts.captures), set()
        for _ in range(1000):
            path = f"blocks.{numbers.randint(4)}:add"
            vector, position = numbers.rand(4).astype(np.float32), numbers.randint(2)
            patched[path] = ms.debug.Edit(vector, np.s_[position], float(numbers.rand()))
            results.add(float(call(batch())))
            del patched[path]
        assert (counts.compilations, counts.captures) == before
    assert len(results) > 990


def test_an_operator_that_is_not_there_is_told_with_those_that_are():
    net = Net()
    told = pytest.raises(ValueError, match=r"No operator was at '\*\*.act:relu'.*run 'tanh'")
    for begin in (
        lambda: ms.debug.capture(net, "**.act:relu"),
        lambda: ms.debug.patch(net, {"**.act:relu": 0.0}),
        lambda: ms.debug.capture(net, "**.act:tanh", "**.act:relu"),
    ):
        with told, begin():
            net(batch())
        with begin():
            pass  # nothing was called: nothing is known
    with pytest.raises(ZeroDivisionError), ms.debug.capture(net, "**.act:relu"):
        net(batch())
        1 / 0  # noqa: B018


def test_operators_of_hooks_and_reverses_are_none_of_the_cell(mode):
    net = nn.SequentialCell(nn.Dense(4, 4), nn.Tanh())
    net[1].register_forward_hook(lambda cell, given, made: ops.relu(made))
    derivative = compiled(mode, ms.value_and_grad(lambda x: net(x).sum(), 0, None))
    with ms.debug.capture(net, "**:*") as kept:
        for _ in range(4):
            derivative(batch())
    assert list(kept) == ["0:dense", "1:tanh"]


def test_hooks_on_operators_cost_nothing_behind_their_block():
    net = Net()
    with ms.debug.capture(net, "**:tanh"), ms.debug.patch(net, {"**:add": None}):
        net(batch())
        assert context.apart and context.watching
    assert not context.apart and not context.watching


# -- what is written wrong, and what is left -----------------------------------------------------

WRONG = {
    "text": ("zero", TypeError, "str 'zero' is no value. Write a number, an array or a Tensor"),
    "text of a number": ("0.0", TypeError, "is no value"),
    "bytes": (b"1", TypeError, "is no value"),
    "a dict": ({"a": 1}, TypeError, "is no value"),
    "a set": ({1.0}, TypeError, "is no value"),
    "a class": (nn.ReLU, TypeError, "is no value"),
    "an object": (object(), TypeError, "is no value"),
    "an array of text": (np.array(["a"]), TypeError, "is no value"),
    "ragged": ([[1.0, 2.0], [3.0]], TypeError, "no array of numbers"),
    "text at a part": ((0, "zero"), TypeError, "is no value"),
    "complex": (1j, TypeError, "complex128 cannot stand in"),
    "too large": (np.float64(1e300), ValueError, "too large"),
    "a shape": (np.zeros(3), ValueError, r"shape \(3,\) does not fit \(2, 4\)"),
    "a shape of a part": ((np.s_[:, 0], np.zeros(3)), ValueError, r"does not fit \(2,\)"),
    "a Tensor's shape": (Tensor(np.zeros((3, 3), np.float32)), ValueError, "does not fit"),
    "no such part": ((np.s_[:, 9], 0.0), IndexError, "There is no part"),
    "an index of text": (("a", 0.0), IndexError, "There is no part 'a'"),
    "too many indices": ((np.s_[0, 0, 0], 0.0), IndexError, "too many indices"),
    "strength": (ms.debug.Edit(0.0, strength="a"), TypeError, "strength of an Edit must be a"),
    "endless": (ms.debug.Edit(0.0, strength=np.inf), ValueError, "strength .* must be finite"),
    "add": (ms.debug.Edit(0.0, add="yes"), TypeError, "add of an Edit must be True or False"),
    "an output": (ms.debug.Edit(0.0, output="a"), TypeError, "output of an Edit must be the"),
    "no such output": (ms.debug.Edit(0.0, output=1), IndexError, "gives 1 outputs"),
    "what a function gives": (lambda given: 0.0, TypeError, "must return Tensor"),
    "a function's array": (lambda given: given.asnumpy(), TypeError, "must return Tensor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_edit_is_told_and_leaves_everything_as_it_was(name):
    edit, kind, text = WRONG[name]
    net = Net()
    plain = net(batch()).asnumpy()
    with pytest.raises(kind, match=text), ms.debug.patch(net, {"blocks.0": edit}):
        net(batch())
    np.testing.assert_array_equal(net(batch()).asnumpy(), plain)
    assert not any(cell._cell_hooks for cell in net.cells())
    if not callable(edit) and not (isinstance(edit, ms.debug.Edit) and edit.output == 1):
        with ms.debug.patch(net, {"blocks.0": 2.0}) as patched:
            before = net(batch()).asnumpy()
            with pytest.raises(kind, match=text):
                patched["blocks.0"] = edit
            np.testing.assert_array_equal(net(batch()).asnumpy(), before)
            assert patched["blocks.0"].value == 2.0


def test_the_same_path_twice():
    net = Net()
    with ms.debug.patch(net, {"blocks.1": 1.0, "blocks.*": 2.0}) as patched:
        assert [float(patched[path].value) for path in patched] == [1.0, 2.0, 2.0]
    with ms.debug.patch(net, {"blocks.*": None, "**": 3.0}) as patched:
        assert float(patched["blocks.0"].value) == 3.0
    with pytest.raises(ValueError, match=r"Both 'blocks.\*' and '\*\*' patch 'blocks.0'"):
        ms.debug.patch(net, {"blocks.*": 1.0, "**": 2.0})


def test_what_is_not_finite_can_be_ablated():
    net = nn.SequentialCell(nn.ReLU(), nn.ReLU())
    with ms.debug.patch(net, {"0": 1.0}):
        given = net(Tensor(np.float32([np.inf, np.nan, 2.0])))
    np.testing.assert_array_equal(given.asnumpy(), np.ones(3, np.float32))


def test_whole_numbers_keep_their_digits():
    class Numbers(nn.Cell):
        def construct(self, x):
            return x + 1

    class Around(nn.Cell):
        def __init__(self):
            super().__init__()
            self.numbers = Numbers()

        def construct(self, x):
            return self.numbers(x)

    net, x = Around(), Tensor(np.zeros(2, np.int64))
    large = (1 << 53) + 1
    with ms.debug.patch(net, {"numbers": np.array([large, 1])}) as patched:
        assert net(x).asnumpy().tolist() == [large, 1]
        patched["numbers"] = 3.0
        assert net(x).asnumpy().tolist() == [3, 3]
        with pytest.raises(TypeError, match="float64 cannot stand in what 'numbers' gives, Int64"):
            patched["numbers"] = 0.5
        with pytest.raises(ValueError, match="too large for what 'numbers' gives, Int64"):
            patched["numbers"] = np.uint64((1 << 64) - 1)


def test_blocks_in_blocks_generators_and_exceptions(mode):
    net = Net()
    call = compiled(mode, lambda x: net(x))
    plain = call(batch()).asnumpy()
    with ms.debug.patch(net, {"blocks.2": 1.0}):
        with ms.debug.patch(net, {"blocks.2": 2.0}), ms.debug.capture(net, "blocks.2") as kept:
            assert (call(batch()).asnumpy() == 2.0).all() and (
                kept["blocks.2"].asnumpy() == 2
            ).all()
        assert (call(batch()).asnumpy() == 1.0).all()

    def steps():
        with ms.debug.capture(net, "**:tanh"), ms.debug.patch(net, {"blocks.2": 3.0}):
            for _ in range(3):
                yield call(batch()).asnumpy()

    given = steps()
    assert (next(given) == 3.0).all()
    given.close()
    np.testing.assert_array_equal(call(batch()).asnumpy(), plain)
    for error in (KeyboardInterrupt, ValueError):
        with (
            pytest.raises(error),
            ms.debug.patch(net, {"blocks.0:add": 0.0}),
            ms.debug.capture(net, "**", "**:*"),
        ):
            call(batch())
            raise error
        np.testing.assert_array_equal(call(batch()).asnumpy(), plain)
    assert not any(cell._cell_hooks for cell in net.cells())


def test_a_network_that_another_thread_calls_is_patched_there_too():
    net = Net()
    with (
        concurrent.futures.ThreadPoolExecutor(1) as pool,
        ms.debug.patch(net, {"blocks.2:add": 4.0}),
    ):
        assert (pool.submit(lambda: net(batch()).asnumpy()).result() == 4.0).all()


# -- patch --------------------------------------------------------------------------------------


def test_edits(mode):
    net = Net()
    call = compiled(mode, lambda x: net(x))
    x = batch()
    first = block_by_hand(net.blocks[0], x.asnumpy())

    def behind(value):
        for block in net.blocks[1:]:
            value = block_by_hand(block, value)[""]
        return value

    vector = np.float32([1, 2, 3, 4])
    part = first[""].copy()
    part[:, 2] = 5
    half = 0.5 * first[""] + 0.5 * vector
    edits = [
        (None, first[""]),
        (0.0, np.zeros((2, 4), np.float32)),
        (vector, np.broadcast_to(vector, (2, 4))),
        (Tensor(part), part),
        ((np.s_[:, 2], 5.0), part),
        (ms.debug.Edit(vector, strength=0.5), half),
        (ms.debug.Edit(vector, strength=0.5, add=True), first[""] + 0.5 * vector),
        (
            ms.debug.Edit(vector[1], at=(0, 1), strength=2.0, add=True),
            first[""] + 2 * np.float32([[0, 2, 0, 0], [0, 0, 0, 0]]),
        ),
        (lambda output: output * 2, 2 * first[""]),
        (None, first[""]),
    ]
    with ms.debug.patch(net, {"blocks.0": None}) as patched:
        for edit, expected in edits:
            patched["blocks.0"] = edit
            for _ in range(3):
                np.testing.assert_allclose(call(x).asnumpy(), behind(expected), 1e-4, 1e-5)
    np.testing.assert_allclose(call(x).asnumpy(), behind(first[""]), 1e-4, 1e-5)


def test_a_thousand_interventions_compile_nothing():
    net = Net(depth=4)
    call = ms.jit(lambda x: net(x).sum())
    counts, numbers = ms.debug.ledger().counts, np.random.RandomState(0)
    x = batch()
    with ms.debug.patch(net, {"blocks.*": None}) as patched:
        for path in patched:
            patched[path] = 0.0
            call(x)
            del patched[path]
        for _ in range(4):
            call(x)
        before = counts.compilations, counts.captures
        results = set()
        for _ in range(1000):
            path = f"blocks.{numbers.randint(4)}"
            vector, position = numbers.rand(4).astype(np.float32), numbers.randint(2)
            strength = float(numbers.rand())
            patched[path] = ms.debug.Edit(
                vector, np.s_[position], strength, bool(numbers.randint(2))
            )
            results.add(float(call(x)))
            del patched[path]
        assert (counts.compilations, counts.captures) == before
    assert len(results) > 990


def test_activations_are_swapped_between_two_runs(mode):
    """With what the last block gave in another run, the network gives that run's result."""
    net = Net()
    call = compiled(mode, lambda x: net(x))
    with ms.debug.capture(net, "blocks.*") as kept:
        clean = call(batch()).asnumpy()
    other = call(batch(3.0)).asnumpy()
    assert not np.allclose(clean, other)
    for number in range(3):
        path = f"blocks.{number}"
        with ms.debug.patch(net, {path: kept[path]}):
            for _ in range(3):
                np.testing.assert_allclose(call(batch(3.0)).asnumpy(), clean, 1e-5, 1e-6)


def test_gradients_by_a_patched_value(mode):
    net = Net()
    with ms.debug.patch(net, {"blocks.1": 0.5}) as patched:
        net(batch())
        derivative = compiled(mode, ms.grad(lambda x: net(x).sum(), None, patched.values))
        for _ in range(4):
            (gradient,) = derivative(batch())
    last = net.blocks[2]
    expected = ms.grad(lambda x: last(x).sum())(Tensor(np.full((2, 4), 0.5, np.float32)))
    np.testing.assert_allclose(gradient.asnumpy(), expected.asnumpy(), 1e-5, 1e-6)


def test_one_of_several_outputs(mode):
    class Two(nn.Cell):
        def construct(self, x):
            return x, x + 1

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.two = Two()

        def construct(self, x):
            a, b = self.two(x)
            return a * 10 + b

    net = Outer()
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    with ms.debug.patch(net, {"two": ms.debug.Edit(7.0, output=1)}), ms.debug.capture(net) as kept:
        result = net(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(result, x * 10 + 7)
    np.testing.assert_array_equal(kept["two"][1].asnumpy(), np.full((2, 4), 7, np.float32))


def test_other_lengths_get_states_of_their_own(mode):
    net = Net()
    call = compiled(mode, lambda x: net(x))
    with ms.debug.patch(net, {"blocks.2": 1.0}):
        for rows in (2, 3, 2, 3):
            x = Tensor(np.ones((rows, 4), np.float32))
            np.testing.assert_array_equal(call(x).asnumpy(), np.ones((rows, 4), np.float32))


def test_operators_see_the_patched_values_only_in_the_block():
    net = nn.SequentialCell(nn.ReLU())
    with ms.debug.patch(net, {"0": 3.0}):
        assert float(ops.mean(net(batch()))) == 3.0
    assert float(ops.mean(net(batch()))) != 3.0


@pytest.mark.parametrize("block", [ms.debug.capture, lambda n, path: ms.debug.patch(n, {path: 0})])
@pytest.mark.parametrize("path", ["1", "1:relu", "*.1:*"])
def test_a_cell_that_is_not_called_is_told(path, block):
    class Skips(nn.SequentialCell):
        def construct(self, x):
            return self[0](x)

    net, x = nn.SequentialCell(Skips(nn.ReLU(), nn.ReLU())), batch()
    told = pytest.raises(ValueError, match="no Cell that it means was called in the block")
    with told, block(net, path if path[0] == "*" else f"0.{path}"):
        net(x).asnumpy()


def test_what_is_returned_has_names_of_its_own():
    net, x = Net(), batch()
    assert isinstance(ms.debug.capture(net), ms.debug.Captured)
    assert isinstance(ms.debug.patch(net, {}), ms.debug.Patched)
    assert isinstance(ms.debug.compare(net, net, x), ms.debug.Comparison)
    assert isinstance(ms.debug.summary(net, x), ms.debug.Summary)
    assert isinstance(ms.debug.why(x, lambda x: net(x).sum(), x), ms.debug.Explanation)
    assert isinstance(ms.debug.record_steps(), ms.debug.RecordedSteps)
    assert issubclass(ms.debug.NonFiniteError, FloatingPointError)


class Twice(nn.Cell):
    """`act` is called twice, `dense` once, `unused` never."""

    def __init__(self):
        super().__init__()
        self.dense, self.act, self.unused = nn.Dense(3, 3), nn.ReLU(), nn.Dense(3, 3)

    def construct(self, x):
        return self.act(self.dense(self.act(x)))


MISSED = {
    "dense#2": "'dense' was called once in one call of the network",
    "act#3": "'act' was called 2 times in one call of the network",
    "*#3": "'act' was called 2 times in one call of the network",
    "unused": "no Cell that it means was called in the block",
    "act#3:relu": "run 'relu', and are called 2 times in one call of the network",
    "act:relu#2": "run 'relu'",
}


@pytest.mark.parametrize("mode", ("pynative", "jit"))
@pytest.mark.parametrize("path", MISSED)
@pytest.mark.parametrize("tool", ("capture", "patch", "patch later"))
def test_what_never_came_is_told(tool, path, mode):
    """Oracle: the calls that `construct` writes."""
    net, x = Twice(), Tensor(np.ones((2, 3), np.float32))
    call = ms.jit(lambda x: net(x)) if mode == "jit" else net
    edit = None if tool == "patch later" else 0.0
    block = ms.debug.capture(net, path) if tool == "capture" else ms.debug.patch(net, {path: edit})
    with pytest.raises(ValueError, match=re.escape(MISSED[path])) as caught, block:
        for _ in range(4):
            call(x)
    assert f"{path!r}" in str(caught.value) and "test_capture.py" in str(caught.value)
    assert np.isfinite(call(x).asnumpy()).all()  # and nothing stays behind


@pytest.mark.parametrize("mode", ("pynative", "jit"))
def test_what_came_in_part_or_had_no_occasion_is_not_told(mode):
    net, x = Twice(), Tensor(np.ones((2, 3), np.float32))
    call = ms.jit(lambda x: net(x)) if mode == "jit" else net
    for path in ("*", "**", "*#2", "act#2:relu", "act#2"):
        with ms.debug.capture(net, path) as kept, ms.debug.patch(net, {path: None}):
            for _ in range(4):
                call(x)
        assert kept
    with ms.debug.capture(net, "unused"), ms.debug.patch(net, {"act#7": 0.0}):
        pass  # nothing ran
    with pytest.raises(ZeroDivisionError), ms.debug.patch(net, {"unused": 0.0}):
        call(x)
        raise ZeroDivisionError


# -- Tensors that are changed in place, and rows of vmap ----------------------------------------


class ChangesInPlace(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 4)
        self.act = nn.ReLU()

    def construct(self, x):
        x = self.layer(x)
        x[:, 0] = x[:, 1] * 2
        y = self.act(x)
        x[0] += 1.0
        return x + y


def test_values_are_kept_as_they_were_and_calls_stay_compiled(mode):
    net = ChangesInPlace()
    call = compiled(mode, lambda x: net(x))
    counts = ms.debug.ledger().counts
    with ms.debug.capture(net, "*", inputs=True) as kept:
        for _ in range(4):
            call(batch())
        before = counts.replays
        call(batch(2.0))
        assert counts.replays - before == int(mode in ("jit", "graph"))
    layer = batch(2.0).asnumpy() @ net.layer.weight.asnumpy().T + net.layer.bias.asnumpy()
    np.testing.assert_allclose(kept["layer"].asnumpy(), layer, 1e-5, 1e-6)
    layer[:, 0] = layer[:, 1] * 2
    np.testing.assert_allclose(kept.inputs["act"].asnumpy(), layer, 1e-5, 1e-6)
    np.testing.assert_allclose(kept["act"].asnumpy(), np.maximum(layer, 0), 1e-5, 1e-6)


def test_patches_inside_vmap(mode):
    """Oracle: the same edit without vmap."""
    net = nn.SequentialCell(nn.Dense(4, 3), nn.Tanh(), nn.Dense(3, 2))
    rows = compiled(mode, ms.vmap(lambda row: net(row.expand_dims(0)).sum()))
    for edit in (None, 0.5, (np.s_[:, 1], 2.0), lambda output: output * 2):
        with ms.debug.patch(net, {"1": edit}):
            expected = net(batch()).asnumpy().sum(1)
            for _ in range(4):
                np.testing.assert_allclose(rows(batch()).asnumpy(), expected, 1e-5, 1e-6)


def test_rows_of_vmap_have_no_values_to_keep(mode):
    net = nn.SequentialCell(nn.Dense(4, 3), nn.Tanh())

    def one(row):
        return net(row.expand_dims(0)).sum()

    rows = compiled(mode, ms.vmap(one))
    with ms.debug.capture(net, "1") as kept:
        rows(batch())
    assert kept["1"].shape == (1, 3)
    with pytest.raises(TypeError, match="stands for many rows and has no values"):
        kept["1"].asnumpy()
    for derivative in (ms.grad(lambda x: rows(x).sum()), ms.vmap(ms.grad(one))):
        with (
            pytest.raises(TypeError, match=r"capture\(gradients=True\) meets '1' inside vmap"),
            ms.debug.capture(net, "1", gradients=True),
        ):
            derivative(batch())
    assert np.isfinite(rows(batch()).asnumpy()).all()


class Forces(nn.Cell):
    """A network that takes a derivative or compiles a part of itself, between two Cells."""

    def __init__(self, transform):
        super().__init__()
        self.before, self.energy, self.behind = nn.Tanh(), nn.Dense(2, 1), nn.ReLU()
        self.inner = transform(lambda x: (self.energy(x) ** 2).sum())

    def construct(self, x):
        return self.behind(self.inner(self.before(x)))


@pytest.mark.parametrize("mode", ["pynative", "jit"])
@pytest.mark.parametrize("transform", [ms.grad, ms.jit, ms.jacfwd])
def test_what_ran_before_a_derivative_inside_is_kept(transform, mode):
    net, x = Forces(transform), Tensor([[0.5, -1.0]])
    run = ms.jit(net) if mode == "jit" else net
    for _ in range(4):
        with ms.debug.capture(net) as kept:
            run(x)
        assert {"before", "behind", ""} <= set(kept)
        np.testing.assert_allclose(kept["before"].asnumpy(), np.tanh(x.asnumpy()), rtol=1e-6)


def test_calls_are_numbered_where_a_method_inside_is_compiled():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        @ms.jit
        def inner(self, x):
            return self.act(x)

        def construct(self, x):
            return self.inner(x) + self.inner(x * 2)

    net = Twice()
    for run in (net, ms.jit(lambda x: net(x))):
        with ms.debug.capture(net) as kept:
            run(Tensor([1.0]))
        assert sorted(kept) == ["", "act", "act#2"]
        assert [float(kept[path][0]) for path in ("act", "act#2")] == [1.0, 2.0]
