# SPDX-License-Identifier: Apache-2.0
"""`import mindspore` means mycel. Oracle: the object of mycel itself; classes are never copied."""

from __future__ import annotations

import builtins
import doctest
import importlib
import importlib.metadata
import operator
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mycel as ms
from mycel import nn, ops
from mycel.cli import demo, digits, main
from mycel.compat import absent, alias, known


@pytest.fixture(autouse=True)
def mindspore():
    """The alias for the length of a test; nothing of it stays behind."""
    before = list(sys.meta_path)
    ms.install_as_mindspore()
    yield importlib.import_module("mindspore")
    sys.meta_path[:] = before
    for name in [n for n in sys.modules if n.partition(".")[0] == "mindspore"]:
        del sys.modules[name]


# Every import statement of the reference documents, and the older paths beside them: what each
# name must be.
IMPORTS = [
    ("from mindspore import nn", "nn.Cell", nn.Cell),
    ("import mindspore.nn as nn", "nn.Cell", nn.Cell),
    ("from mindspore import ops", "ops.add", ops.add),
    ("import mindspore.ops as ops", "ops.GradOperation", ops.GradOperation),
    ("from mindspore import Tensor, Parameter", "Tensor, Parameter", (ms.Tensor, ms.Parameter)),
    ("from mindspore import ParameterTuple", "ParameterTuple", ms.ParameterTuple),
    ("from mindspore import ms_function, jit", "ms_function, jit", (ms.jit, ms.jit)),
    ("from mindspore import context", "context.set_context", ms.set_context),
    ("from mindspore import context", "context.PYNATIVE_MODE", ms.PYNATIVE_MODE),
    ("import mindspore.context as context", "context.GRAPH_MODE", ms.GRAPH_MODE),
    ("from mindspore import dtype as mstype", "mstype.int32", ms.int32),
    ("import mindspore.common.dtype as mstype", "mstype.float32", ms.float32),
    ("from mindspore.common import dtype as mstype", "mstype.bool_", ms.bool_),
    ("from mindspore.ops import GradOperation", "GradOperation", ops.GradOperation),
    ("from mindspore.ops import operations as P", "P.Add", ops.Add),
    ("import mindspore.ops.operations as P", "P.Add", ops.Add),
    ("import mindspore.ops.functional as F", "F.add, F.grad", (ops.add, ms.grad)),
    ("from mindspore.ops import functional as F", "F.add", ops.add),
    ("from mindspore.ops import composite as C", "C.GradOperation", ops.GradOperation),
    ("from mindspore.common.tensor import Tensor", "Tensor", ms.Tensor),
    ("from mindspore.common.parameter import Parameter", "Parameter", ms.Parameter),
    ("from mindspore.common import set_seed, ms_function", "ms_function", ms.jit),
    ("from mindspore.nn.cell import Cell", "Cell", nn.Cell),
    ("from mindspore.nn import *", "Cell", nn.Cell),
    ("from mindspore import *", "Tensor, set_context", (ms.Tensor, ms.set_context)),
    ("import mindspore.nn.layer.conv as conv", "conv.Conv2d", lambda: nn.Conv2d),
    ("from mindspore.nn import Dense, Momentum", "Dense", lambda: nn.Dense),
    ("from mindspore.nn import WithLossCell", "WithLossCell", lambda: nn.WithLossCell),
    ("from mindspore.nn.optim import Momentum", "Momentum", lambda: nn.Momentum),
    (
        "from mindspore.common.initializer import initializer, TruncatedNormal",
        "TruncatedNormal",
        lambda: importlib.import_module("mycel.init").TruncatedNormal,
    ),
    ("import mindspore", "mindspore.context.set_context", ms.set_context),
    ("import mindspore", "mindspore.common.dtype.float16", ms.float16),
    ("import mindspore", "mindspore.ops.operations.Add", ops.Add),
    ("import mindspore", "mindspore.__version__", "2.10.0"),
    ("import mycel as ms", "ms.context.set_context", ms.set_context),
    ("import mycel as ms", "ms.dtype.float32, ms.common.dtype.int8", (ms.float32, ms.int8)),
    (
        "from mycel import context, dtype as mstype",
        "context.GRAPH_MODE, mstype.int64",
        (0, ms.int64),
    ),
    ("import mycel.ops.operations as P", "P.Add", ops.Add),
    ("from mycel.common.initializer import initializer", "callable(initializer)", True),
    # Files inside MindSpore's packages, whose names it lists one level above.
    (
        "from mindspore.nn.probability.distribution.normal import Normal",
        "Normal",
        nn.probability.distribution.Normal,
    ),
    (
        "import mindspore.nn as nn",
        "nn.probability.distribution.distribution.Distribution",
        nn.probability.distribution.Distribution,
    ),
    (
        "from mindspore.nn.probability.bijector.softplus import Softplus",
        "Softplus",
        nn.probability.bijector.Softplus,
    ),
    ("from mindspore.nn.layer.rnns import LSTM", "LSTM", nn.LSTM),
    (
        "from mindspore.nn.layer.timedistributed import TimeDistributed",
        "TimeDistributed",
        nn.TimeDistributed,
    ),
    (
        "from mindspore.dataset.engine.datasets_user_defined import GeneratorDataset",
        "GeneratorDataset",
        ms.dataset.GeneratorDataset,
    ),
    (
        "from mindspore.experimental.optim.adadelta import Adadelta",
        "Adadelta",
        lambda: importlib.import_module("mycel.optim.experimental").Adadelta,
    ),
    ("from mindspore.mint.optim.adamw import AdamW", "AdamW", ms.mint.optim.AdamW),
    ("import mindspore.hal.stream as hal", "hal.Stream", lambda: ms.hal.Stream),
]


@pytest.mark.parametrize(("statement", "name", "expected"), IMPORTS)
def test_import(statement, name, expected):
    space: dict = {}
    exec(statement, space)
    if getattr(expected, "__name__", "") == "<lambda>":
        expected = expected()
    assert eval(name, space) == expected


def test_a_path_is_one_module(mindspore):
    operations = importlib.import_module("mindspore.ops.operations")
    assert operations is mindspore.ops.operations
    assert importlib.import_module("mindspore.context") is mindspore.context


def test_settings_are_shared(mindspore):
    mindspore.context.set_context(mode=mindspore.context.GRAPH_MODE)
    assert ms.get_context("mode") == ms.GRAPH_MODE
    assert mindspore.get_context("mode") == ms.GRAPH_MODE


def test_star_import_brings_names_and_no_modules():
    space: dict = {}
    exec("from mindspore.context import *", space)
    assert {"set_context", "get_context", "GRAPH_MODE"} <= space.keys()
    assert not {"os", "backend", "user_place", "Callable", "annotations"} & space.keys()


def test_a_changed_name_stays_changed(mindspore):
    mindspore.ops.replaced = 5
    assert mindspore.ops.replaced == 5
    assert not hasattr(ops, "replaced")


ABSENT = [
    (
        "mindspore.nn.SequentialCel",
        "mindspore.nn has no 'SequentialCel' in mycel {}; nearest: mindspore.nn.SequentialCell",
    ),
    ("mindspore.Cell", "mindspore has no 'Cell' in mycel {}; nearest: mycel.nn.Cell"),
    ("mindspore.nn.Tensor", "mindspore.nn has no 'Tensor' in mycel {}; nearest: mycel.Tensor"),
    ("mindspore.qqqq", "mindspore has no 'qqqq' in mycel {}"),
    (
        "ms.nn.SequentialCel",
        "mycel.nn has no 'SequentialCel' in mycel {}; nearest: mycel.nn.SequentialCell",
    ),
    ("ms.grd", "mycel has no 'grd' in mycel {}; nearest: mycel.grad"),
    (
        "mindspore.nn.Sequential",
        "mindspore.nn has no 'Sequential' in mycel {}; nearest: mycel.nn.SequentialCell",
    ),
]


@pytest.mark.parametrize(("expression", "text"), ABSENT)
def test_an_absent_name_names_the_nearest(expression, text, mindspore):
    with pytest.raises(AttributeError) as caught:
        eval(expression, {"mindspore": mindspore, "ms": ms})
    either = ". MindSpore 2.10 has no such name either."
    assert str(caught.value) == text.format(ms.__version__) + either
    assert not hasattr(mindspore.nn, "SequentialCel")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("ops.auto_generate.MoeInitRouting", "It is made for the kernels of Ascend hardware."),
        ("ops.Assert", "It is not written yet."),
        ("ops.Sum", "MindSpore 2.10 has no such name either."),
        (
            "ops.AiCPURegOp",
            "It registers kernels of MindSpore's own; XLA has no use for them.",
        ),
        (
            "ops.auto_generate.pyboost_dense",
            "MindSpore has it, but does not list it among its public names.",
        ),
    ],
)
def test_an_absent_name_says_why(path, why, mindspore):
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter(path)(mindspore)
    assert str(caught.value).endswith(f". {why}")


def test_an_absent_module_says_why():
    with pytest.raises(ImportError, match=r"no 'qint4' .*\. Quantised arithmetic is no part"):
        exec("import mindspore.qint4.bits")


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("from mindspore.nn import SequentialCel", ABSENT[0][1]),
        ("from mycel.nn import SequentialCel", ABSENT[4][1]),
        ("import mindspore.op", "mindspore has no 'op' in mycel {}; nearest: mindspore.ops"),
        ("import mindspore.nn.cells", "mindspore.nn has no 'cells' in mycel {}"),
        ("import mindspore.a.b", "mindspore has no 'a' in mycel {}"),
    ],
)
def test_an_absent_import_names_the_nearest(statement, text):
    with pytest.raises(ImportError) as caught:
        exec(statement)
    assert str(caught.value).startswith(text.format(ms.__version__))


def test_the_table_names_no_path_twice_and_no_stranger():
    """Every path is served by modules of ours (or Python's own), every renamed object exists."""
    for path, served in alias.table()["modules"].items():
        strangers = {s for s in served.split() if not s.startswith("mycel")}
        assert strangers <= {"logging", "multiprocessing"}, path
        assert not path or path.rpartition(".")[0] in alias.table()["modules"], path
    for path, target in alias.table()["instead"].items():
        with pytest.raises(AttributeError):
            alias.find(f"mycel.{path}".rpartition(".")[0], path.rpartition(".")[2])
        assert operator.attrgetter(target)(ms) is not None
    for path, target in alias.table()["names"].items():
        module, _, name = target.rpartition(".")
        assert hasattr(importlib.import_module(module), name), path


def test_a_mindspore_that_was_imported_before_is_an_error(tmp_path):
    (tmp_path / "mindspore.py").write_text("")
    program = "import mindspore, mycel; mycel.install_as_mindspore()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "mindspore is already imported from" in done.stderr


def test_installing_twice_adds_one_finder():
    ms.install_as_mindspore()
    roots = [f.root for f in sys.meta_path if isinstance(f, alias.Finder)]
    assert sorted(roots) == ["mindspore", "mycel"]


@pytest.mark.parametrize("module", [absent, alias, demo, digits, main], ids=lambda m: m.__name__)
def test_examples(module):
    names = {"np": np, "nn": nn, "ops": ops, "ms": ms, "mycel": ms, "Tensor": ms.Tensor}
    outcome = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted
    assert not outcome.failed


def test_a_namespace_is_sent_to_another_process_by_its_name():
    common = importlib.import_module("mycel.common")
    assert isinstance(common, alias.Namespace)
    assert pickle.loads(pickle.dumps(common)) is common


REPORTED = """
import mycel
mycel.install_as_mindspore()
import mindspore
from mindspore.version import __version__
print(mindspore.__version__, __version__, mindspore.__version__ > "2.2", mycel.__version__)
"""


@pytest.mark.parametrize(
    ("given", "expected"), [("2.9.0", "2.9.0 2.9.0 True"), ("", "2.10.0 2.10.0 False")]
)
def test_the_version_that_programs_are_told(given, expected):
    """Oracle: the environment, and how Python compares texts."""
    environment = {**os.environ, "MYCEL_REPORTED_VERSION": given}
    command = [sys.executable, "-c", REPORTED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{expected} {ms.__version__}\n"


def test_a_reported_version_that_is_none(monkeypatch):
    monkeypatch.setenv("MYCEL_REPORTED_VERSION", "new")
    with pytest.raises(ValueError, match="MYCEL_REPORTED_VERSION='new' is no version of MindSpore"):
        alias.find("mindspore", "__version__")


def test_the_package_has_the_version_of_the_module(mindspore, monkeypatch):
    # Oracle: the module itself; programs ask for either.
    monkeypatch.setattr(sys, "path", [])
    for name in ("mindspore", "MindSpore"):
        assert importlib.metadata.version(name) == mindspore.__version__
    assert importlib.metadata.metadata("mindspore")["Name"] == "mindspore"
    assert importlib.metadata.packages_distributions()["mindspore"] == ["mindspore"]
    for name in ("mindspore-lite", "mycel-of-none"):
        with pytest.raises(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(name)
    monkeypatch.setenv(alias.VERSION_VARIABLE, "2.7.1")
    assert importlib.metadata.version("mindspore") == "2.7.1"


def test_the_package_is_there_with_the_alias_only(monkeypatch):
    others = [f for f in sys.meta_path if not isinstance(f, alias.Finder) or f.root != "mindspore"]
    monkeypatch.setattr(sys, "meta_path", others)
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("mindspore")


# MindSpore 2.7 has each in all four places, one object.
TYPES = (
    "byte", "short", "int", "intc", "long", "intp", "ubyte", "ushort", "uintc", "uintp", "half",
    "float", "single", "double", "bool", "float_", "int_", "cfloat", "cdouble",
)  # fmt: skip


@pytest.mark.parametrize("path", ["mindspore.common", "mindspore.dtype", "mindspore.common.dtype"])
def test_shorter_names_of_types_are_in_every_place(path, mindspore):
    # The path is a module, but for mindspore.dtype, which is one under another name.
    place = importlib.import_module(path)
    assert [name for name in TYPES if getattr(place, name) is not getattr(mindspore, name)] == []


def test_what_modules_bring_along(mindspore):
    """Oracle: MindSpore 2.10 has these names there, of what its modules import themselves."""
    from mindspore.common.tensor import mstype
    from mindspore.dataset import context
    from mindspore.train.model import nn as layers

    assert (mstype.float32, layers.Dense) == (ms.float32, ms.nn.Dense)
    assert context is mindspore.context and Path(mindspore.__file__).is_file()
    with pytest.raises(ImportError, match="no such name"):
        from mindspore.dataset import no_such_name  # noqa: F401


# Modules of MindSpore 2.10 whose last word is the name of another one.
HOMONYMS = (
    "rewrite.common", "profiler.common", "scipy.ops", "scipy.utils", "utils.utils", "dataset.utils",
)  # fmt: skip


@pytest.mark.parametrize("path", HOMONYMS)
def test_a_module_is_no_other_one_of_the_same_name(path, mindspore):
    """Oracle: in MindSpore 2.10 each is a module of its own."""
    with pytest.raises(
        AttributeError, match=r"^mindspore\.[a-z]+ has no '[a-z]+' in mycel"
    ) as caught:
        operator.attrgetter(path)(mindspore)
    assert "no such name" not in str(caught.value)
    module = importlib.import_module(f"mindspore.{path}")
    assert module.__name__ == f"mindspore.{path}"
    with pytest.raises(AttributeError):
        _ = module.set_seed


def test_every_module_that_is_there_is_the_one_asked_for(mindspore):
    """Oracle: the paths of MindSpore 2.10 and 2.7."""
    for path in known._modules():
        try:
            found = operator.attrgetter(path)(mindspore) if path else mindspore
        except AttributeError:
            continue
        if isinstance(found, type(mindspore)):
            assert found.__name__ == f"mindspore.{path}".rstrip("."), path


def test_reverses_of_a_programs_own_primitives(mindspore, caplog):
    from mindspore.ops._grad.grad_base import bprop_getters

    class Own(ops.PrimitiveWithInfer):
        pass

    with caplog.at_level("WARNING", logger="mycel"):
        assert bprop_getters.register(Own)(len) is len
    assert "bprop_getters.register(Own) has no effect here" in caplog.text
    for kind in (ops.Sin, "Sin"):
        with pytest.raises(NotImplementedError, match=r"register\(Sin\): the reverse"):
            bprop_getters.register(kind)


def test_what_mindspore_has_in_common_as_well(mindspore):
    common = importlib.import_module("mindspore.common")
    assert common._no_grad is mindspore._no_grad and common._Function is mindspore._Function


def test_functions_that_have_the_name_of_a_module(mindspore):
    """Oracle: in MindSpore 2.10 they take the module's place, also once that was imported."""
    import mindspore.common.tensor
    import mindspore.scipy.optimize.linear_sum_assignment
    from mindspore.common import lazy_inline, recompute, seed, tensor
    from mindspore.common.tensor import Tensor
    from mindspore.parallel import shard
    from mindspore.scipy.optimize import linear_sum_assignment
    from mindspore.train import data_sink

    assert (lazy_inline, recompute, tensor) == (ms.lazy_inline, ms.recompute, ms.tensor)
    assert (shard, data_sink, Tensor) == (ms.shard, ms.data_sink, ms.Tensor)
    assert mindspore.nn.optim.thor is ms.nn.thor and callable(seed)
    assert mindspore.common.tensor is ms.tensor
    assert linear_sum_assignment is ms.scipy.optimize.linear_sum_assignment


# As MindSpore 2.10 does.
FUNCTIONS = "abs all any max min pow range round slice sum"
STARS = {"ops": FUNCTIONS, "ops.functional": FUNCTIONS, "ops.operations": "", "ops.composite": "",
         "numpy": "abs divmod max min sum"}  # fmt: skip


@pytest.mark.parametrize("path", STARS)
def test_what_of_python_a_star_replaces(path, mindspore):
    space: dict = {}
    exec(f"from mindspore.{path} import *", space)
    assert sorted(space.keys() & set(dir(builtins)) - {"__doc__"}) == STARS[path].split()
