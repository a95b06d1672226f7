# SPDX-License-Identifier: Apache-2.0
"""What is public in `mycel.dataset` and `mycel.mindrecord` says what it is, with an example that
does what it says.
"""

from __future__ import annotations

import doctest
import inspect

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel import mindrecord
from mycel.dataset import config
from mycel.dataset.engine import chance, tfrecord
from mycel.mindrecord import packing, reading

# Made by methods of a dataset, which have the example; and bases.
WITHOUT_EXAMPLE = {
    "AudioBaseDataset",
    "BatchDataset",
    "BucketBatchByLengthDataset",
    "BuiltinSampler",
    "FilterDataset",
    "Iterator",
    "MRMDefineIndexError",
    "MRMGetMetaError",
    "MRMInvalidSchemaError",
    "MRMOpenError",
    "MRMValidateDataError",
    "MapDataset",
    "MappableDataset",
    "PaddedBatchDataset",
    "ProjectDataset",
    "RenameDataset",
    "RepeatDataset",
    "ShuffleDataset",
    "SkipDataset",
    "SourceDataset",
    "SyncWaitDataset",
    "TakeDataset",
    "TextBaseDataset",
    "UnionBaseDataset",
    "VisionBaseDataset",
    "ZipDataset",
}


def public():
    seen = set()
    for module in (ds, config, mindrecord, chance, tfrecord, packing, reading):
        inner = module in (chance, tfrecord, packing, reading)
        for name, item in sorted(vars(module).items()):
            if name.startswith("_") or inspect.ismodule(item) or not callable(item):
                continue
            made = getattr(item, "__module__", "")
            if made not in (module.__name__, *OURS) and not made.startswith(OURS):
                continue
            if inner and made != module.__name__:
                continue
            if module is config and name not in config.__all__:
                continue
            yield from _with_members(name, item, seen, inner)


OURS = ("mycel.dataset.engine", "mycel.dataset.samplers", "mycel.mindrecord")


def _with_members(name, item, seen, inner):
    if id(item) in seen:
        return
    seen.add(id(item))
    yield pytest.param(name, item, inner, id=name)
    if inspect.isclass(item):
        for member, value in vars(item).items():
            if not member.startswith("_") and inspect.isroutine(value):
                function = getattr(value, "__func__", value)
                if id(function) not in seen:
                    seen.add(id(function))
                    yield pytest.param(member, function, True, id=f"{name}.{member}")


@pytest.fixture(autouse=True)
def settings():
    yield
    config.settings.__init__()


@pytest.mark.parametrize(("name", "item", "may_lack"), list(public()))
def test_documented(name, item, may_lack, request):
    text = (item.__doc__ or "").strip()
    assert text, "no docstring"
    if ">>>" not in text:
        assert may_lack or name in WITHOUT_EXAMPLE, "no example"
        return
    config.settings.__init__()
    known = {
        "ds": ds,
        "ms": ms,
        "np": np,
        "mindrecord": mindrecord,
        "getfixture": request.getfixturevalue,
    }
    parsed = doctest.DocTestParser().get_doctest(item.__doc__, known, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(parsed).failed == 0
