# SPDX-License-Identifier: Apache-2.0
"""Names that MindSpore has and mycel lacks: an import succeeds, a use explains, a probe hears no.

Oracle: mindspore_names.txt.gz, the names of MindSpore 2.10 and 2.7; and Python's own rules.
"""

from __future__ import annotations

import abc
import doctest
import importlib
import importlib.util
import inspect
import random
import sys
import textwrap

import pytest

import mycel as ms
from mycel import nn
from mycel.compat import absent, alias, known, layers, stand_ins
from mycel.kernel.spell import namespaces
from support import prepared

# Names that programs import and that nothing here can be, as libraries write them.
LACKING = (
    "context.K_CONTEXT",
    "common.initializer._random_normal",
    "common.sparse_tensor.RowTensorInner",
    "ops.function.nn_func._inner_pad",
    "train.serialization._parse_ckpt_proto",
    "train.node_strategy_pb2.ParallelStrategyMap",
    "nn.layer.rnn_cells._gru_cell",
    "ops.operations._rl_inner_ops.CudnnGRU",
)


@pytest.fixture(autouse=True)
def served():
    """`import mindspore` means mycel, and no stand-in is left from another test."""
    ms.install_as_mindspore()
    for name in [
        n for n in sys.modules if stand_ins.made(n) is not None or n.endswith("boost.adasum")
    ]:
        del sys.modules[name]


def imported(path, text="from {place} import {name} as found"):
    place, _, name = f"mindspore.{path}".rpartition(".")
    space: dict = {}
    exec(text.format(place=place, name=name), space)
    return space["found"]


@pytest.mark.parametrize("path", LACKING)
def test_an_import_succeeds_and_a_use_explains(path):
    found = imported(path)
    place, _, name = f"mindspore.{path}".rpartition(".")
    text = rf"^{place} has no '{name}' in mycel .*\. Its import is fine, but here it is used\."
    for use in (found, lambda: found(1), lambda: bool(found), lambda: found[0], lambda: [*found]):
        with pytest.raises(NotImplementedError, match=text):
            use()
    with pytest.raises(AttributeError, match=text):
        found.get_instance()
    assert not isinstance(3, found) and found is imported(path)
    assert found != "K_CONTEXT" and {found: 1}[found] == 1
    assert found.__name__ == name and found.__module__ == place


@pytest.mark.parametrize("path", LACKING)
def test_what_asks_for_a_name_hears_that_it_is_not_there(path):
    """Also after an import has been given a stand-in."""
    place, _, name = f"mindspore.{path}".rpartition(".")
    module = importlib.import_module(place)
    assert importlib.util.find_spec(f"{place}.{name}") is None
    for _ in range(2):
        assert not hasattr(module, name) and getattr(module, name, 5) == 5
        assert name not in dir(module) and name not in vars(module)
        imported(path)


PROBES = """
import contextlib, importlib
found = []

def inner():
    from mindspore.context import K_CONTEXT
    return K_CONTEXT

try:
    from mindspore.context import K_CONTEXT
    found.append("try")
except ImportError:
    from mindspore.context import set_context
try:
    from mindspore.context import (
        get_context,
        K_CONTEXT,
    )
    found.append("lines")
except (ModuleNotFoundError, AttributeError):
    pass
try:
    if found == []:
        import mindspore.boost.adasum
        found.append("module")
except Exception:
    pass
try:
    importlib.import_module("mindspore.boost.adasum")
    found.append("import_module")
except:
    pass
with contextlib.suppress(ImportError):
    from mindspore.context import K_CONTEXT
    found.append("suppress")
"""
NO_PROBES = """
found = []
try:
    def later():
        from mindspore.context import K_CONTEXT
        return K_CONTEXT
    found.append(later())
except ImportError:
    pass
try:
    from mindspore.context import K_CONTEXT
    found.append(K_CONTEXT)
except ValueError:
    pass
try:
    raise ImportError
except ImportError:
    from mindspore.context import K_CONTEXT
    found.append(K_CONTEXT)
finally:
    import mindspore.boost.adasum
    found.append(mindspore.boost.adasum)
"""


def run(tmp_path, text):
    """The names that a program of a file has at its end."""
    file = tmp_path / "program.py"
    file.write_text(text)
    space: dict = {}
    exec(compile(text, str(file), "exec"), space)
    return space["found"]


def test_an_import_whose_error_is_caught_is_refused(tmp_path):
    assert run(tmp_path, "from mindspore.context import K_CONTEXT as found") is not None
    assert run(tmp_path / "..", PROBES) == []
    file = tmp_path / "module.py"
    file.write_text(PROBES)
    assert prepared.run(["-m", "mycel", "run", str(file)]).returncode == 0


def test_an_import_whose_error_is_not_caught_succeeds(tmp_path):
    assert len(run(tmp_path, NO_PROBES)) == 4


def test_classes_and_decorators_are_made_of_stand_ins():
    base = imported("common.sparse_tensor.RowTensorInner")

    class Mixed(base, abc.ABC):
        size = 3

        @staticmethod
        def doubled(x):
            return 2 * x

    class Network(nn.Cell, base):
        pass

    assert Mixed.size == 3 and Mixed.doubled(4) == 8 and issubclass(Network, nn.Cell)
    for kind in (Mixed, Network):
        with pytest.raises(NotImplementedError, match="has no 'RowTensorInner' in mycel"):
            kind()
        with pytest.raises(NotImplementedError, match="has no 'RowTensorInner' in mycel"):
            kind(len)

    @base
    def decorated(x):
        """What it does."""
        return x

    @base
    class Decorated:
        """What it is."""

    assert decorated.__name__ == "decorated" and decorated.__doc__ == "What it does."
    assert Decorated.__name__ == "Decorated" and Decorated.__doc__ == "What it is."
    for use in (lambda: decorated(1), Decorated):
        with pytest.raises(NotImplementedError, match="has no 'RowTensorInner' in mycel"):
            use()
    assert (base | None).__args__ == (base, type(None))


@pytest.mark.parametrize(
    "statement",
    [
        "from mindspore.nn import Conv9",
        "from mindspore.ops import Sum",
        "from mindspore.nn.functional import relu",
        "from mindspore._c_expression import NotThere",
        "import mindspore.nothing",
        "import mindspore.boost.nothing",
        "from mycel.context import K_CONTEXT",
        "import mycel.boost.adasum",
    ],
)
def test_what_mindspore_never_had_stays_an_import_error(statement):
    with pytest.raises(ImportError) as caught:
        exec(statement)
    if "mindspore" in statement:
        assert " has no such name either." in str(caught.value) or "boost" in statement


def test_a_module_that_mindspore_has_is_imported():
    assert importlib.util.find_spec("mindspore.boost.adasum") is None
    for path in ("boost.adasum", "rewrite.api.node", "parallel._tensor", "ops._vmap.vmap_base"):
        module = importlib.import_module(f"mindspore.{path}")
        assert module.__name__ == f"mindspore.{path}"
        exec(f"from mindspore.{path} import *", {})
        with pytest.raises(AttributeError, match=rf"mindspore\.{path} has no 'anything' in mycel"):
            module.anything  # noqa: B018


def test_what_1_x_had_says_what_to_write_instead():
    # Oracle: the reasons in compat.absent; the names are those of programs of MindSpore 1.x.
    for path, name, text in (
        ("nn.transformer", "Transformer", "Make it of TransformerEncoder and TransformerDecoder"),
        ("parallel._transformer", "Transformer", "Make it of TransformerEncoder"),
        ("nn.transformer", "FixedSparseAttention", "made for the kernels of Ascend hardware"),
        ("_c_expression", "TensorTransform", "It moves Tensors between layouts"),
    ):
        space: dict = {}
        exec(f"from mindspore.{path} import {name}", space)
        with pytest.raises(NotImplementedError, match=text):
            space[name](1)


def test_any_name_of_mindspore_can_be_imported():
    """Oracle: the list itself; a draw of 400 names from all modules, private ones included."""
    every = [(path, name) for path in known._modules() for name in known._modules()[path].split()]
    assert len(every) > 30_000
    drawn = random.Random(0).sample([each for each in every if each[1].isidentifier()], 400)
    for path, name in drawn:
        imported(f"{path}.{name}".lstrip("."))


def test_the_lists_agree_with_what_is_served():
    """Every path of names.toml that MindSpore has is in the list, or is of MindSpore 1."""
    inner = [path for path, served in alias.table()["modules"].items() if path and served]
    assert sum(known.is_module(path) for path in inner) > 0.7 * len(inner)
    assert known.is_name("nn.Conv2d") and known.is_name("ops.operations.Conv2D")
    assert not known.is_name("nn.Module") and not known.is_none("ops._op_impl.aicpu.abs")
    assert absent.reason("Tensor.nothing") == "It is no public name of MindSpore 2.10."


def test_an_import_in_another_process_is_explained(tmp_path):
    """The whole, as a user meets it: the class line works, the call says what to write."""
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            """\
            from mindspore.context import K_CONTEXT
            class Mine(K_CONTEXT):
                pass
            print("imported")
            Mine()
            """
        )
    )
    done = prepared.run(["-m", "mycel", "run", str(script)])
    assert done.stdout == "imported\n" and done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("NotImplementedError: mindspore.context has no 'K_CONTEXT' in")
    assert "nearest: mycel.get_context" in last


# Whole parts of MindSpore that are refused, and what is said to write instead.
REFUSED = {
    "rewrite.SymbolTree": r"assign its Cells \(`net\.layer = nn\.ReLU\(\)`\)",
    "rewrite.PatternEngine": r"change what passes with hooks",
    "SymbolTree": r"go through them with cells_and_names\(\)",
    "boost.LessBN": r"Pass network and optimizer on as they are",
    "boost.GroupLossScaleManager": r"steps are compiled here anyway",
    "dataset.WaitedDSCallback": r"a DSCallback is called between rows",
}


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_refused_says_what_to_write_instead(path):
    with pytest.raises(NotImplementedError, match=REFUSED[path]):
        imported(path)(nn.ReLU())


@pytest.mark.parametrize("instead", ["ms.dataset.DSCallback"])
def test_what_is_named_instead_is_there(instead):
    assert isinstance(eval(instead, {"nn": nn, "ms": ms}), type)


@pytest.mark.parametrize("space", ["ops", "nn", "mint", "mint.nn.functional", "numpy"])
def test_what_mycel_has_is_no_stand_in(space):
    """Oracle: the very object under mycel's own path."""
    ours, theirs = (importlib.import_module(f"{root}.{space}") for root in ("mycel", "mindspore"))
    for name in alias.public_names(ours.__name__) + list(namespaces.get(space, ())):
        if not inspect.ismodule(getattr(ours, name)):
            assert getattr(theirs, name) is getattr(ours, name), name
        assert not isinstance(getattr(theirs, name), stand_ins.StandIn), name


def test_a_network_for_several_devices_is_itself_on_one():
    """Oracle: the network; names of Parameters are its own."""
    wrapped = imported("nn.wrap.cell_wrapper._VirtualDatasetCell")(nn.Dense(3, 2))
    assert [p.name for p in wrapped.get_parameters()] == ["weight", "bias"]
    x = ms.Tensor([[1.0, 2.0, 3.0]])
    assert (wrapped(x) == wrapped._backbone(x)).all()
    triple = nn.VirtualDatasetCellTriple(wrapped._backbone)
    assert [p.name for p in triple.get_parameters()] == ["weight", "bias"]
    assert nn.VirtualDatasetCellTriple is imported("nn.wrap.cell_wrapper.VirtualDatasetCellTriple")


def switched_off(x):
    """x · 2x, the second factor a constant, as programs write it for MindSpore's executor."""
    executor = alias.find("mindspore.common.api", "_pynative_executor")
    before = executor.enable_grad()
    executor.set_enable_grad(False)
    assert not executor.enable_grad()
    scale = x * 2
    executor.set_enable_grad(before)
    assert executor.enable_grad() == before
    return x * scale


@pytest.mark.parametrize("form", [ms.grad, lambda f: ms.jit(ms.grad(f))])
def test_gradients_are_switched_off_and_on(form):
    """Oracle: the derivative of x · c; MindSpore's recompute switches them so."""
    slope = form(switched_off)
    for x in (3.0, 4.0, 5.0, 6.0):
        assert slope(ms.Tensor(x)).asnumpy() == 2 * x
    assert switched_off(ms.Tensor(3.0)).asnumpy() == 18


def test_gradients_that_stay_switched_off_are_an_error():
    """Of the kind that MindSpore 2.10 raises; the next derivative is as always."""
    executor = alias.find("mindspore.common.api", "_pynative_executor")

    def never_on_again(x):
        y = x * x
        executor.set_enable_grad(False)
        return y + x

    with pytest.raises(RuntimeError, match=r"test_stand_ins.*call set_enable_grad\(True\) behind"):
        ms.grad(never_on_again)(ms.Tensor(3.0))
    executor.set_enable_grad(True)
    assert executor.enable_grad()
    assert ms.grad(lambda x: x * x)(ms.Tensor(3.0)).asnumpy() == 6


def test_a_flag_of_parameters_is_theirs():
    """Recorded: False at first in MindSpore 2.10, and whatever a program assigns then."""
    parameter = ms.Parameter(ms.Tensor([1.0]), name="p")
    assert parameter.init_flag is False and ms.Tensor(1.0).init_flag is False
    parameter.init_flag = True
    assert parameter.init_flag and not ms.Parameter(ms.Tensor([1.0]), name="q").init_flag


@pytest.mark.parametrize("module", [stand_ins, known, layers], ids=lambda m: m.__name__)
def test_examples(module):
    names = {"nn": nn, "Tensor": ms.Tensor}
    outcome = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted and not outcome.failed
