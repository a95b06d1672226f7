# SPDX-License-Identifier: Apache-2.0
"""How tutorials are read and counted. Oracle: small documents and results, counted by hand."""

from __future__ import annotations

import json

from wild import tutorials
from wild.cells import Torch, cells, expected, meaning

PAGE = """Words.

```python
x = 1
```

- an entry:

    ```Python
    y = 2
    ```

```text
z = 3
```
"""


def test_the_cells_of_a_page_and_of_a_notebook(tmp_path):
    page, notebook = tmp_path / "a.md", tmp_path / "b.ipynb"
    page.write_text(PAGE, "utf-8")
    kinds = [("code", ["x = 1\n"]), ("markdown", ["words"]), ("code", [" "]), ("code", ["y = 2"])]
    rows = [{"cell_type": kind, "source": source} for kind, source in kinds]
    rows[0]["outputs"] = [{"text": ["1", "2"]}, {"ename": "TypeError"}]
    notebook.write_text(json.dumps({"cells": rows}), "utf-8")
    assert cells(page) == [("x = 1\n", ""), ("y = 2\n", "")]
    assert cells(notebook) == [("x = 1\n", "12TypeError"), ("y = 2", "")]
    assert expected({}) == ""


def test_a_translation_is_known_by_its_code():
    assert meaning("x = 1  # eins") == meaning("# one\nx  =  1")
    assert meaning("x = 1") != meaning("x = 2")
    assert meaning("f(  # oben") == meaning("f(")


def test_pytorch_in_a_comparison_takes_every_call():
    finder = Torch()
    assert finder.find_spec("torchless") is None
    module = finder.create_module(finder.find_spec("torchvision.transforms"))
    assert list(module.Compose([module.ToTensor()])(1)) == []
    assert not isinstance(1, module.Tensor)


def test_what_is_missing_runs_in_a_mindspore():
    row = {"cells": 4, "mycel": [0, 3], "mindspore-2.10.0": [0, 1], "mindspore-2.7.0": [2, 3]}
    assert tutorials.missing(row) == [1, 2]
    assert tutorials.missing({"cells": 4, "mycel": []}) == []


def test_every_cell_that_runs_in_mindspore_runs_here():
    found = json.loads(tutorials.KEPT.read_text("utf-8"))
    assert sum("mycel" in row for row in found.values()) >= 50
    stopped = {name for name, row in found.items() if "mycel" in row and tutorials.missing(row)}
    assert stopped <= set(tutorials.CAUSES)
    text = tutorials.PAGE.read_text("utf-8")
    assert tutorials.table(found) in text
