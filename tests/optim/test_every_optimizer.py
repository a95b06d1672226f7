# SPDX-License-Identifier: Apache-2.0
"""Every optimiser: recorded steps with groups and a moving rate, and training that is taken up.

The optimisers are found by looking: one that is added and has no row here fails. Oracles:
MindSpore 2.10 for `nn`, PyTorch for `mint.optim`, the run without a break for the others.
"""

from __future__ import annotations

import copy
import inspect
import json
import pickle

import numpy as np
import pytest

import mycel as ms
from fixtures.case import decode
from fixtures.families import every_optimizer as family
from fixtures.load import FOLDER, rows
from harness import execution
from mycel import Parameter, Tensor, mint, nn
from mycel.optim import experimental

OF_MINDSPORE = rows("every_optimizer")
OF_PYTORCH = json.loads((FOLDER.parent / "pytorch" / "torch_optimizers.json").read_text())
EXPERIMENTAL = {
    name: f"experimental.{name}({family.GROUPS}, 0.1)"
    for name in experimental.__all__
    if name not in ("Optimizer", "lr_scheduler")
}
TEXTS = {
    **{f"nn.{name}": text for name, text in family.IN_NN.items()},
    **{
        f"mint.optim.{name}": f"mint.optim.{name}({family.GROUPS}, {arguments})"
        for name, arguments in family.IN_PYTORCH.items()
    },
    "mint.optim.FusedAdamW": f"mint.optim.FusedAdamW({family.GROUPS}, 0.1, (0.5, 0.75), 1e-3)",
    **{f"experimental.{name}": text for name, text in EXPERIMENTAL.items()},
}
# As in MindSpore, checkpoints of these lack a number for each Parameter.
UNSAVED = ("experimental.ASGD", "experimental.NAdam")
# To be derived from; tests/optim/test_optimizers.py does.
BASES = {"nn.Optimizer", "mint.optim.Optimizer", "experimental.Optimizer"}


def test_every_optimizer_has_a_row():
    found = {
        f"{space}.{name}"
        for space, owner in (("nn", nn), ("mint.optim", mint.optim), ("experimental", experimental))
        for name, item in vars(owner).items()
        if inspect.isclass(item)
        and issubclass(item, nn.Cell)
        and item.__module__.startswith(("mycel.optim", "mycel.mint.optim"))
        and not name.startswith("_")
        and not name.endswith("LR")
    }
    assert found - BASES == set(TEXTS)


def expected(name: str):
    """What was recorded; FusedAdamW is AdamW, and two have no kernel in MindSpore for CPU."""
    space, _, last = name.rpartition(".")
    row = OF_MINDSPORE[last] if space == "nn" else None
    if space == "mint.optim":
        row = OF_PYTORCH[last.removeprefix("Fused")]
    if row is None or "absent" in row["output"]:
        return None
    assert "error" not in row["output"]
    return [tuple(part.values for part in step) for step in decode(row["output"])]


def made(name: str, values=family.START):
    w, b = (Parameter(array, name=key) for key, array in zip("wb", values, strict=True))
    names = {"nn": nn, "mint": mint, "experimental": experimental, "w": w, "b": b}
    return eval(TEXTS[name], names), (w, b)


def steps(optimizer, handles, numbers) -> list:
    found = []
    for step in numbers:
        optimizer(tuple(map(Tensor, family.taken(step))))
        found.append(tuple(p.asnumpy() for p in handles))
    return found


def compare(found, wanted, exact=False):
    for one, other in zip(found, wanted, strict=True):
        for actual, value in zip(one, other, strict=True):
            tolerance = (0, 0) if exact else (5e-5, 2e-6)
            np.testing.assert_allclose(actual, value, *tolerance)


@pytest.mark.parametrize("mode", ["fused", "graph"])
@pytest.mark.parametrize("name", TEXTS)
def test_steps_and_training_that_is_taken_up(name, mode, tmp_path):
    with execution(mode):
        whole = steps(*made(name), range(family.STEPS))
        if (recorded := expected(name)) is not None:
            compare(whole, recorded)
        optimizer, handles = made(name)
        first = steps(optimizer, handles, [0, 1])
        path = str(tmp_path / "optimizer.ckpt")
        ms.save_checkpoint(optimizer, path)
        copied = copy.deepcopy(optimizer)
        assert repr(pickle.loads(pickle.dumps(optimizer))) == repr(optimizer)
        again, others = made(name)
        assert ms.load_param_into_net(again, ms.load_checkpoint(path)) == ([], [])
        if name not in UNSAVED:
            compare(first + steps(again, others, [2]), whole, exact=mode == "fused")
        # A copy has Parameters of its own: the first two steps stay as they were.
        own = [p for p in copied.get_parameters() if p.name in ("w", "b")]
        compare([*first, *steps(copied, sorted(own, key=lambda p: p.name)[::-1], [2])], whole)
        compare([tuple(p.asnumpy() for p in handles)], first[1:])


def test_every_optimizer_names_its_keywords():
    """The oracle is the text."""
    for name in TEXTS:
        kind = type(made(name)[0])
        with pytest.raises(TypeError) as caught:
            kind([], 0.1, nearly=1)
        assert str(caught.value).startswith(
            f"{kind.__name__}() has no keyword 'nearly' (at {__file__}"
        ), name
    with pytest.raises(TypeError, match=r"it takes params, .*; nearest: use_lazy\."):
        nn.Adam([], use_lasy=True)
