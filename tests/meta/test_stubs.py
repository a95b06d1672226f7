# SPDX-License-Identifier: Apache-2.0
"""What editors and type checkers know of us. Oracles: pyright; what Python itself answers
(`dir`, `inspect.signature`); the generator of the stubs.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import pathlib
import subprocess
import sys

import pytest

import mycel as ms
from meta.language_server import editing, pyright

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = pathlib.Path(ms.__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Names that a page defines while it is read, so that nobody can know them: adding_an_op.md.
MADE_BY_PAGES = ("soft_sign_page", "SoftSignPage", "clipped_page", "row_page", "centred_page")
# Shown because it is not there.
LACKING = ("Conv4d",)
NAMESPACES = ("mycel", "mycel.ops", "mycel.nn", "mycel.mint", "mycel.numpy", "mycel.mint.nn")


def test_no_stub_is_stale():
    # In a process of its own: tests define operators.
    command = [sys.executable, "-W", "ignore", "-m", "tools.stubs", "--check"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("", 0), f"run `python -m tools.stubs`\n{ran.stderr}"


# What pyright is to complain of, and a word of what it says: so that no test here passes because
# everything is `Any`.
WRONG = {
    "ops.relu(None)": "None",
    "nn.Dense(3)": "out_channels",
    "ops.softmaxx": "softmaxx",
    "Tensor([1.0]).meen()": "meen",
    'ms.set_seed("1")': "seed",
    "ms.grad(abs, grad_position=1.5)": "grad_position",
    "mint.sin()": "input",
    "ms.numpy.size(3, axis='a', b=1)": "b",
}
# What pyright knows of results: of a Cell, what its `construct` returns.
TYPES = {
    "Annotated()(Tensor([1.0]))": "tuple[Tensor, int]",
    "Plain()(Tensor([1.0]))": "Tensor",
    "nn.Dense(3, 4)(Tensor([1.0]))": "Tensor",
    "nn.LSTM(3, 4)(Tensor([1.0]))": "tuple[Tensor, Any]",
    "ops.ReLU()(Tensor([1.0]))": "Tensor",
    "mint.nn.ReLU6()(Tensor([1.0]))": "Tensor",
    "Tensor([1.0]) + 1": "Tensor",
    "ms.numpy.sqrt(4)": "Tensor",
    "compiled(Tensor([1.0]))": "Tensor",
    "nn.Dense(3, 4).trainable_params()": "list[Parameter]",
}
PROGRAM = """
import mycel as ms
from mycel import Tensor, mint, nn, ops

class Annotated(nn.Cell):
    def construct(self, x: Tensor) -> tuple[Tensor, int]:
        return x, 1

class Plain(nn.Cell):
    def construct(self, x):
        return ops.relu(x)

@ms.jit
def compiled(x: Tensor) -> Tensor:
    return x

"""


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> list[tuple[str, str, str]]:
    """What pyright says of all programs of this file at once: severity, file and line, message."""
    folder = tmp_path_factory.mktemp("programs")
    for page in PAGES:
        examples = doctest.DocTestParser().get_examples(page.read_text())
        if examples:
            text = "".join(example.source for example in examples)
            (folder / f"{page.stem}_page.py").write_text(text)
    for script in (ROOT / "tests" / "scripts").glob("*.py"):
        (folder / script.name).write_text(script.read_text())
    head = "import mycel as ms\nfrom mycel import Tensor, mint, nn, ops\n"
    for number, line in enumerate(WRONG):
        (folder / f"wrong_{number}.py").write_text(head + line + "\n")
    lines = [f"reveal_type({expression})" for expression in TYPES]
    (folder / "types_of_results.py").write_text(PROGRAM + "\n".join(lines) + "\n")
    settings = {"typeCheckingMode": "basic", "pythonVersion": "3.11"}
    # For `import mindspore`; an installed copy needs none.
    settings |= {"extraPaths": [str(SOURCE)], "stubPath": str(SOURCE)}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [pyright("pyright"), "--outputjson", "--pythonpath", sys.executable]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found = json.loads(ran.stdout)
    assert found["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py")))
    return [
        (
            one["severity"],
            f"{pathlib.Path(one['file']).name}:{one['range']['start']['line'] + 1}",
            one["message"],
        )
        for one in found["generalDiagnostics"]
    ]


def test_examples_of_pages_and_scripts_have_no_errors(told):
    found = [
        f"{place}: {message}"
        for severity, place, message in told
        if severity == "error" and not place.startswith("wrong_")
    ]
    known = MADE_BY_PAGES + LACKING
    # A variable that only a loop sets, and a name that a page uses twice, are the program's own.
    ours = [one for one in found if "obscured by a declaration" not in one]
    assert [one for one in ours if not any(f'"{name}"' in one for name in known)] == []


def test_wrong_programs_are_complained_of(told):
    for number, word in enumerate(WRONG.values()):
        place = f"wrong_{number}.py:3"
        assert any((s, p) == ("error", place) and word in m for s, p, m in told), (number, told)


def test_types_of_results_are_known(told):
    found = [
        message.rpartition(" is ")[2].strip('"')
        for severity, place, message in told
        if severity == "information" and place.startswith("types_of_results.py")
    ]
    assert found == [*TYPES.values()]


DEFINED = {
    "ops.relu": "mycel/ops/nn/activation.py",
    "ops.ReLU": "mycel/ops/nn/activation.py",
    "ops.conv2d": "mycel/ops/nn/convolution.py",
    "mint.sin": "mycel/ops/math/trigonometry.py",
    "nn.Dense": "mycel/nn/layers/linear.py",
    "ms.grad": "mycel/kernel/differentiate/api.py",
    "ms.numpy.array": "mycel/numpy/creation.py",
    "mindspore.ops.relu": "mycel/ops/nn/activation.py",
    "mindspore.nn.Dense": "mycel/nn/layers/linear.py",
}


def test_go_to_definition_leads_to_the_definition(tmp_path):
    head = "import mindspore\nimport mindspore.nn, mindspore.ops\n"
    head += "import mycel as ms\nfrom mycel import mint, nn, ops\n"
    file = tmp_path / "program.py"
    file.write_text(head + "\n".join(DEFINED) + "\n")
    # `import mindspore` is found by its stubs, which an installed copy has beside mycel.
    settings = {"extraPaths": [str(SOURCE)], "stubPath": str(SOURCE)}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    first = head.count("\n")
    with editing(file) as editor:
        for number, (text, wanted) in enumerate(DEFINED.items()):
            found = editor.definitions(first + number, len(text) - 1)
            lines = {f"{path}": line for path, line in found}
            ends = [path for path in lines if path.endswith(wanted)]
            assert ends, (text, found)
            assert text.rpartition(".")[2].lower() in _definition(ends[0], lines[ends[0]]), text


def _definition(path: str, line: int) -> str:
    """A definition with the lines of its decorator above it."""
    return "\n".join(pathlib.Path(path).read_text().split("\n")[max(line - 12, 0) : line]).lower()


def test_methods_of_tensors_are_offered_with_their_facts(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("from mycel import Tensor\nTensor([1.0]).\n")
    with editing(file) as editor:
        offered = editor.completions(1, 14)
    # Names of MindSpore's that only explain themselves are not offered.
    tensor = ms.Tensor([[1.0]])
    public = {n for n in dir(tensor) if not n.startswith("_") and hasattr(tensor, n)}
    public -= {name for name in public if "for_tests" in name}  # what other tests define
    assert len(public) > 400
    assert public - offered == set()


def stub_names(path: str) -> dict[str, ast.AST | None]:
    """The public names of a stub, with their definitions if they are in a generated file."""
    place = SOURCE / path.replace(".", "/")
    file = place / "__init__.pyi" if place.is_dir() else place.with_suffix(".pyi")
    found: dict[str, ast.AST | None] = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            found |= {n: d for n, d in stub_names(node.module).items() if not n.startswith("_")}
        elif isinstance(node, ast.ImportFrom | ast.Import):
            for alias in node.names:
                if alias.asname and not alias.asname.startswith("_"):
                    found[alias.asname] = None
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            found[target.id] = None
    return {name: node for name, node in found.items() if not name.startswith("_")}


LIST = """
import importlib, json, types
found = {}
for path in %r:
    module = importlib.import_module(path)
    # Files of a package are listed too, as every package lists them; no stub need say so.
    found[path] = [
        (name, isinstance(getattr(module, name), types.ModuleType))
        for name in dir(module) if not name.startswith("_")
    ]
print(json.dumps(found))
"""


def test_dir_lists_what_the_stub_has():
    # In a process of its own: what tests ask for is kept in the modules.
    command = [sys.executable, "-W", "ignore", "-c", LIST % (NAMESPACES,)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    for path, rows in json.loads(ran.stdout).items():
        listed = {name for name, _ in rows}
        written = set(stub_names(path))
        assert written - listed == set(), path
        assert {name for name, is_module in rows if not is_module} - written == set(), path


@pytest.mark.parametrize("path", ["mycel.ops", "mycel.mint", "mycel.numpy"])
def test_signatures_are_those_that_python_knows(path):
    module = importlib.import_module(path)
    compared = 0
    for name, node in stub_names(path).items():
        function = getattr(module, name)
        if not (isinstance(node, ast.FunctionDef) and inspect.isfunction(function)):
            continue
        arguments = node.args
        written = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        if arguments.vararg:
            written.append(arguments.vararg.arg)
        own = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
        ]
        assert written == own, name
        compared += 1
    assert compared > 150
