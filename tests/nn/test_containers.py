# SPDX-License-Identifier: Apache-2.0
"""SequentialCell, CellList, CellDict: members, names of Parameters, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, execution, matches
from mycel import nn


def dense(inputs=2, outputs=2):
    return nn.Dense(inputs, outputs, has_bias=False)


def names(cell):
    """Pairs of path and name of all Parameters: what MindSpore 2.10 gives is the oracle below."""
    return [(path, parameter.name) for path, parameter in cell.parameters_and_names()]


def same(*keys):
    return [(f"{key}.weight", f"{key}.weight") for key in keys]


# -- SequentialCell ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: nn.SequentialCell(a, b),
        lambda a, b: nn.SequentialCell([a, b]),
        lambda a, b: nn.SequentialCell(OrderedDict([("0", a), ("1", b)])),
    ],
)
def test_sequential_calls_one_after_the_other(make):
    """The oracle is NumPy."""
    first, second = nn.Dense(3, 4), nn.Dense(4, 2)
    net = make(first, second)
    w, b, v, c = (p.asnumpy() for p in net.get_parameters())
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    matches(lambda x: net(x), lambda x: (x @ w.T + b) @ v.T + c, x)


def test_sequential_of_nothing_passes_on():
    assert float(nn.SequentialCell()(ms.Tensor(1.5))) == 1.5


def test_sequential_names():
    assert names(nn.SequentialCell(dense(), dense())) == same("0", "1")
    named = nn.SequentialCell(OrderedDict(a=dense(), b=dense()))
    assert names(named) == same("a", "b")
    assert named.a is named[0]
    nested = nn.SequentialCell(nn.SequentialCell(dense(), dense()), dense())
    assert names(nested) == same("0.0", "0.1", "1")


def test_sequential_append_and_insert():
    net = nn.SequentialCell(OrderedDict(a=dense(), b=dense()))
    net.append(dense())
    assert names(net) == same("a", "b", "2")
    net = nn.SequentialCell(dense(), dense())
    first = dense(5, 2)
    net.insert(0, first)
    assert net[0] is first
    assert names(net) == same("0", "1", "2")


def test_append_in_a_network_takes_its_path():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = nn.SequentialCell(dense())
            self.blocks = nn.CellList([dense()])

    net = Net()
    net.body.append(dense())
    net.blocks.append(dense())
    net.blocks.insert(0, dense())
    assert [p.name for p in net.get_parameters()] == [
        "body.0.weight",
        "body.1.weight",
        "blocks.0.weight",
        "blocks.1.weight",
        "blocks.2.weight",
    ]


def test_names_behind_a_deep_cell():
    """As in checkpoints of MindSpore 2.10: its first name tells where the numbers stand.

    Where a number comes twice in it the later one counts: surprising, and in every checkpoint of
    a network that appends its stages (mindcv's Swin, RegNet, PiT …).
    """

    class Stage(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.CellList([dense(), dense()])

    def called(*paths):
        return [f"{path}.blocks.{n}.weight" for path in paths for n in (0, 1)]

    def given(net):
        return [p.name for p in net.get_parameters()]

    first = ["0.blocks.0.weight", "0.blocks.1.weight"]
    for kind in (nn.CellList, nn.SequentialCell):
        net = kind()
        for _ in range(3):
            net.append(Stage())
        assert given(net) == first + called("0.blocks.1", "0.blocks.2")
        net[1] = Stage()
        assert given(net) == first + called("0.blocks.1", "0.blocks.2")
        del net[0]
        assert given(net) == called("0.blocks.0", "0.blocks.1")
        net = kind([nn.ReLU(), Stage()])
        net.append(Stage())
        assert given(net) == called("1", "2")
    assert given(nn.CellList([Stage()]).extend([Stage()])) == first + called("0.blocks.1")
    net = nn.CellDict({"blocks": Stage()})
    net["x"] = Stage()
    assert given(net) == called("blocks", "blocks.x")
    # MindSpore gives two Parameters the name 0.blocks.1.weight here; ours stay apart.
    net = nn.CellList([Stage()])
    net.insert(0, Stage())
    assert given(net) == called("0.blocks.0", "0.blocks.1")


def test_sequential_deletion_numbers_again():
    net = nn.SequentialCell(dense(), dense(), dense())
    last = net[2]
    del net[0]
    assert names(net) == same("0", "1")
    assert net[1] is last
    del net[0:1]
    assert list(net) == [last]
    named = nn.SequentialCell(OrderedDict(a=dense(), b=dense()))
    del named[0]
    assert names(named) == same("b")


def test_sequential_indexing():
    cells = [dense(), dense(), dense()]
    net = nn.SequentialCell(cells)
    assert len(net) == 3
    assert net[-1] is cells[2]
    assert net.cell_list == list(net) == cells
    part = net[1:3]
    assert isinstance(part, nn.SequentialCell)
    assert list(part) == cells[1:]
    assert names(part) == same("1", "2"), "a part renames nothing"
    net[-1] = nn.ReLU()
    assert names(net) == same("0", "1")
    assert type(net[2]) is nn.ReLU


def test_sequential_representation():
    net = nn.SequentialCell(nn.ReLU(), nn.SequentialCell(nn.Tanh()))
    assert repr(net) == (
        "SequentialCell(\n  (0): ReLU()\n  (1): SequentialCell(\n    (0): Tanh()\n  )\n)"
    )


# -- CellList -----------------------------------------------------------------------------


def test_list_names():
    assert names(nn.CellList([dense(), dense()])) == same("0", "1")
    without = nn.CellList([dense(), dense()], auto_prefix=False)
    assert names(without) == [("0.weight", "weight"), ("1.weight", "weight")]
    assert names(nn.SequentialCell(nn.CellList([dense()]))) == same("0.0")
    assert names(nn.CellList()) == []


def test_list_grows():
    cells = nn.CellList([dense()])
    cells.append(dense())
    assert cells.extend([dense(), dense()]) is cells
    assert names(cells) == same("0", "1", "2", "3")
    first = dense(3, 3)
    cells.insert(0, first)
    assert cells[0] is first
    assert names(cells) == same("0", "1", "2", "3", "4")
    cells.insert(-1, nn.ReLU())
    assert type(cells[4]) is nn.ReLU


def test_list_indexing():
    members = [dense(), nn.ReLU(), dense()]
    cells = nn.CellList(members)
    assert cells[-3] is members[0]
    assert list(cells[1:]) == members[1:]
    assert isinstance(cells[:2], nn.CellList)
    assert cells[2].weight.name == "2.weight", "a part renames nothing"
    del cells[0]
    assert names(cells) == same("1")
    cells[0] = dense()
    assert names(cells) == same("0", "1")
    del cells[:]
    assert len(cells) == 0


def test_list_in_a_network_is_remembered():
    """Slices of the list inside construct are looked at anew and do not hinder Graph mode."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.CellList([nn.Dense(3, 3) for _ in range(3)])

        def construct(self, x):
            for block in self.blocks[1:]:
                x = block(x)
            return self.blocks[0](x)

    net = Net()
    w = [p.asnumpy() for p in net.get_parameters()]
    x = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
    expected = ((x @ w[2].T + w[3]) @ w[4].T + w[5]) @ w[0].T + w[1]
    matches(lambda x: net(x), lambda x: expected, x)


# -- CellDict ----------------------------------------------------------------------------


def test_dict_behaves_as_a_dictionary():
    a, b = dense(), dense()
    cells = nn.CellDict({"a": a, "b": b})
    assert names(cells) == same("a", "b")
    assert (len(cells), list(cells), "a" in cells, cells["a"] is a) == (2, ["a", "b"], True, True)
    assert list(cells.keys()) == ["a", "b"]
    assert list(cells.values()) == [a, b]
    assert list(cells.items()) == [("a", a), ("b", b)]
    assert cells.pop("a") is a
    cells["c"] = dense()
    cells.update([("d", dense())])
    cells.update(nn.CellDict({"e": dense()}))
    cells.update({"b": dense(3, 3)})
    assert names(cells) == same("b", "c", "d", "e")
    assert cells["b"].in_channels == 3
    del cells["b"]
    assert list(cells) == ["c", "d", "e"]
    del cells.d
    assert list(cells) == ["c", "e"] and not hasattr(cells, "d")
    cells.clear()
    assert not cells


# -- what is refused ---------------------------------------------------------------------

REFUSED = {
    "nn.SequentialCell(3)": (TypeError, "Cells, a list of them or an OrderedDict of them"),
    "nn.SequentialCell((dense(), dense()))": (TypeError, "but tuple"),
    "nn.SequentialCell(dense(), 3)": (
        TypeError,
        "Each member of a SequentialCell must be a Cell, but int 3 was given",
    ),
    "nn.SequentialCell(dense())[1]": (IndexError, "must be from -1 to 0, but 1 was given"),
    "nn.SequentialCell(dense())['a']": (TypeError, "an integer or slice, but str 'a'"),
    "nn.SequentialCell(dense()).append(None)": (TypeError, "a Cell, but NoneType None"),
    "nn.CellList([dense(), 3])": (TypeError, "Each member of a CellList must be a Cell"),
    "nn.CellList(dense())": (TypeError, "must be a list, but Dense"),
    "nn.CellList([dense()])[-2]": (IndexError, "must be from -1 to 0, but -2 was given"),
    "nn.CellList([dense()])[1.5]": (TypeError, "an integer or slice, but float 1.5"),
    "nn.CellList([dense()]).insert(4, dense())": (IndexError, "must be from -1 to 1, but 4"),
    "nn.CellDict({'a': 3})": (TypeError, "Each member of a CellDict must be a Cell"),
    "nn.CellDict({1: dense()})": (TypeError, "A key of a CellDict must be a string, but int 1"),
    "nn.CellDict(3)": (TypeError, "a dictionary or a list of pairs, but int 3"),
}


@pytest.mark.parametrize("source", REFUSED)
def test_refused(source):
    kind, text = REFUSED[source]
    with pytest.raises(kind) as caught:
        eval(compile(source, "train.py", "eval"), {"nn": nn, "dense": dense})
    assert text in str(caught.value)
    assert "train.py:1" in str(caught.value)


@pytest.mark.parametrize("key", ["", "a.b", "update"])
def test_refused_keys(key):
    with pytest.raises(KeyError, match="is empty, has a dot, or is a method"):
        nn.CellDict({key: dense()})


def test_missing_key():
    with pytest.raises(KeyError, match="z"):
        nn.CellDict({"a": dense()})["z"]


@pytest.mark.parametrize("container", [nn.CellList([nn.ReLU()]), nn.CellDict({"a": nn.ReLU()})])
def test_containers_without_order_are_not_called(container):
    with pytest.raises(NotImplementedError, match="is not called; call its members"):
        container(ms.Tensor(1.0))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies(copied):
    net = nn.SequentialCell(nn.Dense(2, 3), nn.CellList([nn.ReLU()]))
    made = copied(net)
    assert repr(made) == repr(net)
    assert [p.name for p in made.get_parameters()] == ["0.weight", "0.bias"]
    np.testing.assert_array_equal(made[0].weight.asnumpy(), net[0].weight.asnumpy())
    assert made[0].weight is not net[0].weight


def test_changes_are_seen_by_graph_mode():
    """A member exchanged after the call was remembered counts at the next call."""
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.SequentialCell(nn.ReLU(), nn.ReLU())
    x = ms.Tensor([-1.0, 2.0])
    for _ in range(4):
        assert net(x).asnumpy().tolist() == [0, 2]
    net[1] = nn.LeakyReLU()
    net[0] = nn.Identity()
    for _ in range(4):
        np.testing.assert_allclose(net(x).asnumpy(), [-0.2, 2])
    net.append(nn.Tanh())
    np.testing.assert_allclose(net(x).asnumpy(), np.tanh([-0.2, 2]), 1e-6)
    del net[0:2]
    np.testing.assert_allclose(net(x).asnumpy(), np.tanh([-1, 2]), 1e-6)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_an_attribute_set_while_the_cells_run(name):
    """A hook of a child sets a new attribute on the container. Oracle: arithmetic."""
    with execution(name):
        net = nn.SequentialCell(nn.Dense(1, 1, 2.0, 0.0), nn.Dense(1, 1, 3.0, 0.0))
        net[0].register_forward_hook(lambda cell, inputs, output: setattr(net, "gate", 0.5))
        for _ in range(4):
            assert float(net(ms.Tensor([[1.0]]))) == 6.0
        assert net.gate == 0.5
        listed = nn.CellList(list(net))
        for number, cell in enumerate(listed):
            listed.seen = number
            assert cell is net[number]


def test_the_list_of_a_sequential_cell_may_be_set():
    """Programs that exchange Cells (for mixed precision, say) write them here too; the oracle is
    what each of the Cells does."""
    first, second = nn.Dense(2, 2, "ones", "zeros"), nn.ReLU()
    net = nn.SequentialCell(first, second)
    net.cell_list = list(net.cells())
    assert net.cell_list == [first, second]
    other = nn.Sigmoid()
    net.cell_list = [first, other]
    assert net[1] is other and list(net._cells) == ["0", "1"]
    expected = 1 / (1 + np.exp(-3.0))
    np.testing.assert_allclose(net(ms.Tensor([[1.0, 2.0]])).asnumpy(), [[expected] * 2], rtol=1e-6)
    with pytest.raises(ValueError, match="cell_list must be 2 Cells, one for each"):
        net.cell_list = [first]


def test_members_that_are_put_in_another_order():
    """Oracle: the Cells, called one after another."""
    net = nn.SequentialCell(nn.ReLU(), nn.Dense(2, 2, "ones", "zeros"), nn.Tanh())
    compiled, x = ms.jit(net), ms.Tensor([[1.0, -2.0]])
    for number in range(8):
        if number == 4:
            net._cells.move_to_end("0")
        expected = x
        for cell in net._cells.values():
            expected = cell(expected)
        np.testing.assert_allclose(compiled(x).asnumpy(), expected.asnumpy(), 1e-6)
    assert list(net._cells) == ["1", "2", "0"]
