# SPDX-License-Identifier: Apache-2.0
"""The state of Cells as dictionaries: reading, loading, buffers, hooks, element types.

Recorded answers of MindSpore 2.10 are in test_cell.py (`state_...`, `buffer...`, `to_...`).
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution
from mycel import Parameter, Tensor, nn, ops


def network():
    return nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Dense(4, 2))


def values(net):
    return {name: member.asnumpy() for name, member in net.state_dict().items()}


def assert_same(net, expected):
    found = values(net)
    assert list(found) == list(expected)
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], name)


# -- loading -----------------------------------------------------------------------------------


def test_a_compiled_step_uses_what_was_loaded():
    """The same steps from the same state give the same losses, and nothing is compiled anew."""
    net = network().set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    derivative = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    x = Tensor(np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32))
    float(step(x))
    start = {name: Tensor(value) for name, value in values(net).items()}
    losses = [float(step(x)) for _ in range(5)]
    assert len(set(losses)) == 5
    counts = ms.debug.ledger().counts
    before = counts.compilations, counts.misses, counts.captures
    net.load_state_dict(start)
    again = [float(step(x)) for _ in range(5)]
    # The first losses came from PyNative, whose program was cut otherwise.
    np.testing.assert_allclose(again, losses, 1e-5)
    assert (counts.compilations, counts.misses, counts.captures) == before
    net.load_state_dict(start)
    assert [float(step(x)) for _ in range(5)] == again


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_from_one_net_to_another(mode):
    first, second = network(), network()
    x = Tensor(np.ones((2, 3), np.float32))
    with execution(mode):
        for _ in range(4):
            second(x)
        assert second.load_state_dict(first.state_dict()) == ([], [])
        np.testing.assert_array_equal(second(x).asnumpy(), first(x).asnumpy())
        first[0].weight.set_data(first[0].weight * 0)
        assert (second[0].weight.asnumpy() != 0).any(), "they share nothing"


def test_a_state_is_pickled_and_holds_the_members_themselves():
    net = network()
    state = net.state_dict()
    assert state["2.bias"] is net[2].bias
    expected = values(net)
    text = pickle.dumps(state)
    for parameter in net.get_parameters():
        parameter.set_data(parameter + 1)
    net.load_state_dict(pickle.loads(text))
    assert_same(net, expected)


def test_shared_members_have_all_their_names():
    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Dense(2, 2, has_bias=False), nn.Dense(2, 2, has_bias=False)
            self.b.weight = self.a.weight
            self.again = self.a

    net = Tied()
    assert list(net.state_dict()) == ["a.weight", "b.weight", "again.weight"]
    net.load_state_dict({name: Tensor(np.full((2, 2), 7.0)) for name in net.state_dict()})
    assert net.a.weight.asnumpy().tolist() == [[7, 7], [7, 7]]
    with pytest.raises(RuntimeError, match=r"missing: 'b.weight', 'again.weight'"):
        net.load_state_dict({"a.weight": net.a.weight})


def test_what_fits_is_loaded_and_the_rest_is_told():
    net = network()
    state = {name: Tensor(value) for name, value in values(network()).items()}
    state["0.weight"] = Tensor(np.ones((9, 9), np.float32))
    state["0.bias"] = np.zeros(4)
    state["1.gamma"] = Tensor(np.ones(4, np.complex64))
    state["extra"] = state.pop("2.bias")
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    text = str(caught.value)
    for part in (
        "does not fit SequentialCell, at",
        "test_state_dict.py",
        "strict=False",
        "missing: '2.bias'",
        "too much: 'extra'",
        "'0.weight' has shape (4, 3), but the state has shape (9, 9)",
        "'0.bias' needs a Tensor, but ndarray was given; write Tensor(...)",
        "'1.gamma' is Float32, which cannot hold Complex64 without loss",
    ):
        assert part in text
    np.testing.assert_array_equal(net[2].weight.asnumpy(), state["2.weight"].asnumpy())
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state, strict=False)
    assert "missing" not in str(caught.value)
    assert repr(net.load_state_dict(net.state_dict())) == "<every key was found>"
    assert "missing_keys=['0.weight'" in repr(net.load_state_dict({}, strict=False))


def test_an_empty_place_is_missing_and_not_filled():
    net = nn.SequentialCell(nn.Dense(1, 1), nn.ReLU())
    state = net.state_dict()
    net[0].bias = None
    net.act = nn.Dense(1, 1)
    net.act = None
    assert list(net.state_dict()) == ["0.weight"]
    with pytest.raises(RuntimeError, match=r"too much: 'act.weight', '0.bias'"):
        net.load_state_dict({**state, "act.weight": Tensor([1.0])})


def test_arguments_by_position_are_warned_of():
    net, given = nn.Dense(1, 1), {}
    with pytest.warns(FutureWarning, match="by name: destination="):
        assert net.state_dict(given, "p.") is given
    assert list(given) == ["p.weight", "p.bias"]


def test_cells_that_write_their_own_state():
    class Packed(nn.Dense):
        """Keeps weight and bias in one Tensor of the state."""

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            both = [self.weight.asnumpy().ravel(), self.bias.asnumpy()]
            destination[prefix + "packed"] = Tensor(np.concatenate(both))

        def _load_from_state_dict(self, state, prefix, *rest):
            packed = state.pop(prefix + "packed").asnumpy()
            state[prefix + "weight"] = Tensor(packed[:-1].reshape(self.weight.shape))
            state[prefix + "bias"] = Tensor(packed[-1:])
            super()._load_from_state_dict(state, prefix, *rest)

    net = nn.SequentialCell(Packed(2, 1), nn.Dense(1, 1))
    state = net.state_dict()
    assert list(state) == ["0.packed", "1.weight", "1.bias"]
    other = nn.SequentialCell(Packed(2, 1), nn.Dense(1, 1))
    assert other.load_state_dict(state) == ([], [])
    np.testing.assert_array_equal(other[0].weight.asnumpy(), net[0].weight.asnumpy())
    np.testing.assert_array_equal(other[0].bias.asnumpy(), net[0].bias.asnumpy())


# -- hooks -------------------------------------------------------------------------------------


def rename(cell, state, prefix, *_):
    state[prefix + "weight"] = state.pop(prefix + "w")


def without_bias(cell, state, prefix, metadata):
    del state[prefix + "bias"]


def test_hooks_go_with_deep_copies_and_not_with_pickles():
    net = nn.SequentialCell(nn.Dense(1, 1))
    handles = [
        net[0].register_state_dict_post_hook(without_bias),
        net[0].register_load_state_dict_pre_hook(rename),
    ]
    copied, pickled = copy.deepcopy(net), pickle.loads(pickle.dumps(net))
    for handle in handles:
        handle.remove()
    assert list(net.state_dict()) == list(pickled.state_dict()) == ["0.weight", "0.bias"]
    assert list(copied.state_dict()) == ["0.weight"]
    copied.load_state_dict({"0.w": Tensor([[5.0]]), "0.bias": Tensor([1.0])})
    assert copied[0].weight.asnumpy().tolist() == [[5.0]]


def test_hooks_must_be_callable():
    with pytest.raises(TypeError, match="A hook must be callable, but int 3 was given"):
        nn.ReLU().register_state_dict_pre_hook(3)


# -- buffers -----------------------------------------------------------------------------------


class Mean(nn.Cell):
    """A running sum in a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", Tensor([0.0, 0.0]))
        self.register_buffer("scratch", Tensor([1.0]), persistent=False)

    def construct(self, x):
        ops.assign(self.total, self.total + x)
        return self.total * self.scratch


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_a_buffer_changes_in_compiled_calls_and_is_loaded(mode):
    """The oracle is a sum."""
    net, x = nn.SequentialCell(Mean()), Tensor([1.0, 2.0])
    with execution(mode):
        for call in range(1, 6):
            assert net(x).asnumpy().tolist() == [call, 2 * call]
        net.load_state_dict({"0.total": Tensor([100, 200])})
        for call in range(1, 4):
            assert net(x).asnumpy().tolist() == [100 + call, 200 + 2 * call]
    assert net[0].total.dtype is ms.float32
    assert [*net.state_dict()] == ["0.total"]
    assert net.trainable_params() == []
    if mode == "graph":
        assert ms.debug.ledger().counts.replays >= 5


def test_a_buffer_is_exchanged_by_assignment():
    """MindSpore 2.10 refuses it; the Tensor that was there stays as it is."""
    net = Mean()
    before = net.total
    net.total = Tensor([5.0, 6.0])
    assert before.asnumpy().tolist() == [0, 0]
    assert net.state_dict()["total"] is net.total
    assert dict(net.named_buffers())["total"] is net.total
    del net.total
    assert not hasattr(net, "total")
    net.total = 3
    assert list(net.named_buffers()) == [("scratch", net.scratch)]
    with pytest.raises(TypeError, match=r"Mean.scratch, a buffer, must be given a Tensor or None"):
        net.scratch = 3
    with pytest.raises(KeyError, match="is a buffer; delete it before"):
        net.scratch = Parameter(Tensor([1.0]))
    with pytest.raises(KeyError, match="is a buffer; delete it before"):
        net.scratch = nn.ReLU()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_have_buffers_of_their_own(copied):
    net = Mean()
    made = copied(net)
    assert made._buffers["total"] is made.total
    assert made.total is not net.total
    made(Tensor([1.0, 1.0]))
    assert made.state_dict()["total"].asnumpy().tolist() == [1, 1]
    assert net.total.asnumpy().tolist() == [0, 0]
    assert list(made.state_dict()) == ["total"]


# -- element types -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_another_element_type_is_seen_by_remembered_calls(mode):
    net, seen = nn.Dense(2, 1, "ones", "zeros"), []
    derivative = ms.grad(net, None, net.trainable_params())
    with execution(mode):
        for kind in (ms.float32, ms.float16, ms.float64):
            net.to(kind)
            x = Tensor([[1.0, 2.0]], kind)
            for _ in range(4):
                out, gradients = net(x), derivative(x)
                seen.append((out.dtype, float(out), *(g.dtype for g in gradients)))
    kinds = (ms.float32, ms.float16, ms.float64)
    assert seen == [(kind, 3.0, kind, kind) for kind in kinds for _ in range(4)]


def test_an_element_type_chosen_inside_a_compiled_call():
    """Such a call is not remembered, and the ledger says so."""
    net = nn.Dense(1, 1, "ones", "zeros")
    kinds = [ms.float16, ms.float64]

    @ms.jit
    def function(x):
        net.to(kinds[0])
        return net(x.astype(kinds[0]))

    for _ in range(6):
        kinds.reverse()
        assert function(Tensor([[2.0]])).dtype is kinds[0]
    ledger = ms.debug.ledger()
    assert ledger.counts.replays == 0
    assert "the element type of a Cell was changed inside" in ledger.lines[-1].what


def test_the_device_in_use(monkeypatch):
    net = nn.Dense(1, 1)
    present = ms.get_context("device_target")
    assert net.to(present.lower()).to(f"{present}:0").to(device=None) is net
    with pytest.raises(ValueError, match=r"one in use, .* but 'Ascend' was given"):
        net.to("Ascend")
    # Scripts for other hardware run unchanged (see mycel run).
    monkeypatch.setenv("MYCEL_DEVICE", present)
    assert net.to("Ascend", ms.float16).weight.dtype is ms.float16
    with pytest.raises(TypeError, match=r"\(device, dtype, non_blocking\)"):
        net.to(ms.float16, where="here")
