# SPDX-License-Identifier: Apache-2.0
"""What is generated says where it is defined, and what MindSpore calls it. Oracle: the file at that
line, and the names of the spellings."""

from __future__ import annotations

import inspect
import linecache
import re
from pathlib import Path

import pytest

import mycel as ms
from mycel import ops
from mycel.kernel.spell import namespaces

FOLDER = Path(ms.__file__).parents[1]


@pytest.mark.parametrize("namespace", ["ops", "mint"])
def test_where_a_function_or_primitive_is_defined(namespace):
    written = 0
    for name in namespaces[namespace]:
        item = namespaces[namespace][name]
        function = item.__call__ if inspect.isclass(item) else item
        code = getattr(function, "__code__", None)
        # What is defined otherwise, under another name; and what a test defined.
        if code is None or not code.co_filename.startswith("<mycel "):
            continue
        text = "".join(linecache.getlines(code.co_filename))
        if "# defined at <doctest " in text:  # a document did, in this process
            continue
        found = re.search(r"    # defined at (.*\.py):(\d+)\n", text)
        assert found is not None, (name, text)
        file, line = found.groups()
        written += file.startswith("mycel/")
        definition = "".join(
            linecache.getline(str(FOLDER / file), int(line) + more) for more in range(16)
        )
        assert re.match(r"\s*(@|def )", definition), name
        assert "def " in definition, name
    assert written > 200


def test_of_a_function_everybody_knows():
    text = inspect.getsource(ops.softmax)
    assert "# defined at mycel/ops/nn/activation.py:" in text


def test_documentation_names_the_source_once():
    # Made of the spellings; a text that says more of its source has a paragraph of its own.
    assert "\n    Source: MindSpore's `ops.sin`, `ops.Sin`, `Tensor.sin`" in ops.sin.__doc__
    assert ops.sin.__doc__ == ops.Sin.__doc__ == ms.Tensor.sin.__doc__
    assert "which runs on Ascend only" in ops.DynamicRNN.__doc__
    texts = {name: inspect.getdoc(namespaces["ops"][name]) for name in namespaces["ops"]}
    documented = {name: text for name, text in texts.items() if text and "Example:" in text}
    assert len(documented) > 1000
    for name, text in documented.items():
        assert text.count("\nSource:") <= 1, name
        assert text.find("\nSource:") < text.find("\nExample:"), name
