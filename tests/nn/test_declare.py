# SPDX-License-Identifier: Apache-2.0
"""Layers that `@layer` declares are what classes written by hand would be.

What they compute is tested by `check_cell` and recorded answers, as for all layers.
"""

from __future__ import annotations

import importlib
import inspect
import pickle
import re

import pytest

from mycel import mint, nn, ops
from mycel.nn.layers.declare import declarations, layer
from mycel.nn.precision import names_used

DECLARED = [kind for kind in declarations if kind.__module__.startswith("mycel.")]


def name(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def spelling(kind):
    """The spelling that speaks of a class: that of its namespace."""
    namespace = "mint.nn." if kind.__module__.startswith("mycel.mint") else "nn."
    (found,) = [s for s in declarations[kind].spellings if s.startswith(namespace)]
    return found.removeprefix(namespace)


@pytest.mark.parametrize("kind", DECLARED, ids=name)
def test_a_declared_layer_is_a_class_of_its_module(kind):
    assert getattr(importlib.import_module(kind.__module__), kind.__name__) is kind
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert issubclass(kind, nn.Cell)
    for method in (kind.construct, *([kind.__init__] if "__init__" in vars(kind) else [])):
        assert method.__module__ == kind.__module__
        assert method.__qualname__ == f"{kind.__qualname__}.{method.__name__}"
        assert inspect.getsource(method).startswith(f"def {method.__name__}(self")


@pytest.mark.parametrize("kind", DECLARED, ids=name)
def test_its_signatures_are_those_of_its_spelling(kind):
    made, called = inspect.signature(kind), inspect.signature(kind.construct)
    inputs = [str(one) for one in called.parameters.values()][1:]
    settings = f"{made}" if "__init__" in vars(kind) else ""
    assert spelling(kind).replace(" ", "") == (
        f"{kind.__name__}{settings}({', '.join(inputs)})".replace(" ", "")
    )
    assert set(made.parameters) <= names_used(kind) | {"_", "given"}


@pytest.mark.parametrize("kind", DECLARED, ids=name)
def test_its_docstring_is_about_itself(kind):
    text = kind.__doc__
    shown = "mint.nn." if "mint" in kind.__module__ else "nn."
    assert re.findall(rf">>> .*(?<![.\w]){shown}{kind.__name__}\(", text)
    assert ("mint" in text.partition("Example:")[2]) == ("mint" in shown)
    assert text.count("Source: ") == 1
    described = re.findall(r"(?m)^    ([\w, ]+):", text.partition("\n\nExample:")[0])
    described = [one for entry in described for one in entry.split(", ")]
    assert {one for one in described if one.islower()} <= set(inspect.signature(kind).parameters)


def test_each_entry_and_example_of_a_declaration_is_in_one_of_its_docstrings():
    for declaration in {declarations[kind] for kind in DECLARED}:
        kinds = [kind for kind, found in declarations.items() if found is declaration]
        texts = "\n".join(kind.__doc__ for kind in kinds)
        lost = [line for line in declaration.text.split("\n") if line not in texts]
        assert not lost, name(declaration.kind)
        assert len(kinds) == len(declaration.spellings)


def test_a_twin_is_a_class_beside_and_keeps_its_path():
    """Pickles name these paths; oracle: where the classes were before they were declared."""
    assert not issubclass(mint.nn.ELU, nn.ELU)
    assert issubclass(mint.nn.L1Loss, nn.L1Loss)
    for path in (
        *("activation.ELU", "activation.GLU", "activation.LogSoftmax", "activation.ReLU6"),
        *("activation.SELU", "activation.SiLU", "activation.Softmax", "activation.Threshold"),
        *("loss.L1Loss", "loss.MSELoss", "loss.SmoothL1Loss", "loss.SoftMarginLoss"),
        *("linear.Upsample", "pooling.AdaptiveAvgPool1d", "pooling.AdaptiveAvgPool2d"),
        *("pooling.AdaptiveAvgPool3d", "pooling.AdaptiveMaxPool1d"),
    ):
        module, _, own = path.partition(".")
        found = pickle.loads(f"cmycel.mint.nn.{module}\n{own}\n.".encode())
        assert found is getattr(mint.nn, own)


def test_settings_are_checked_under_the_name_of_the_class():
    class Mine(mint.nn.ELU):
        pass

    with pytest.raises(TypeError, match=r"^Mine\.inplace must be True or False, but int 1 "):
        Mine(inplace=1)
    with pytest.raises(TypeError, match=r"^ELU\(\) has no keyword 'aplha' .*; nearest: alpha\.$"):
        nn.ELU(aplha=1.0)


def test_a_class_with_a_second_base_is_made_by_both():
    class Counted(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 0

    class Mine(nn.ELU, Counted):
        pass

    assert Mine(0.5).count == 0


def test_a_declaration_that_contradicts_itself_is_an_error():
    with pytest.raises(
        ValueError, match=r"^Own has no setting \['aplha'\] that could be checked\.$"
    ):
        layer(ops, "elu", "nn.Own(alpha=1.0)(x)", aplha=abs)(type("Own", (nn.Cell,), {}))
    with pytest.raises(ValueError, match=r"^The spelling of Own stands above Other\.$"):
        layer(ops, "elu", "nn.Own(alpha=1.0)(x)")(type("Other", (nn.Cell,), {}))
