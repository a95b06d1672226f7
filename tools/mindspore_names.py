# SPDX-License-Identifier: Apache-2.0
"""Write down every name of every module of MindSpore: src/mycel/compat/mindspore_names.txt.gz.

Run once by a Python that has MindSpore, for each version, then by any Python:

    python tools/mindspore_names.py collect 2_10.json
    python tools/mindspore_names.py merge 2_10.json 2_7.json

A line of the file is a path below `mindspore` and the names there. Compilers that are delivered
with MindSpore, tables of kernels and generators of code are left out.
"""

import ast
import gzip
import importlib
import json
import pathlib
import pkgutil
import sys

LEFT_OUT = ("_akg", "ops._op_impl", "ops_generate")
WRITTEN = pathlib.Path(__file__).parents[1] / "src/mycel/compat/mindspore_names.txt.gz"


def paths(folder: str, below: str = ""):
    """The paths of all modules below a folder."""
    for found in pkgutil.iter_modules([folder]):
        path = f"{below}{found.name}"
        if path.startswith(LEFT_OUT) or found.name == "__main__":
            continue
        yield path
        if found.ispkg:
            yield from paths(f"{folder}/{found.name}", f"{path}.")


def names_in_source(file: pathlib.Path) -> set[str]:
    """What the top level of a file binds, where the file cannot be imported here."""
    found = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((each.asname or each.name).partition(".")[0] for each in node.names)
        elif isinstance(node, ast.Assign):
            found.update(each.id for each in node.targets if isinstance(each, ast.Name))
    return found


def names_of(path: str, folder: str) -> set[str]:
    """The names of a module, as it is when it is imported."""
    try:
        return set(vars(importlib.import_module(f"mindspore.{path}".rstrip("."))))
    except BaseException as error:
        print(f"{path}: {error!r:.80}", file=sys.stderr)
        place = pathlib.Path(folder, *path.split("."))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        return names_in_source(file) if file.exists() else set()


def collect(file: str) -> None:
    """Write the names of the installed MindSpore to a file."""
    folder = next(iter(importlib.import_module("mindspore").__path__))
    found = {path: names_of(path, folder) for path in ("", *paths(folder))}
    # Extensions make modules that no file stands for.
    for name, module in list(sys.modules.items()):
        root, _, path = name.partition(".")
        if root == "mindspore" and path not in found and not path.startswith(LEFT_OUT):
            found[path] = set(vars(module))
    pathlib.Path(file).write_text(json.dumps({path: sorted(found[path]) for path in found}))


def merge(*files: str) -> None:
    """Write the names of several versions together."""
    every: dict[str, set[str]] = {}
    for file in files:
        for path, names in json.loads(pathlib.Path(file).read_text()).items():
            shown = {n for n in names if not (n.startswith("__") and n.endswith("__"))}
            every.setdefault(path, set()).update(shown)
    lines = [f"{path}: {' '.join(sorted(every[path]))}\n" for path in sorted(every)]
    WRITTEN.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    count = sum(map(len, every.values()))
    print(f"{count} names of {len(every)} modules, {WRITTEN.stat().st_size} bytes")


if __name__ == "__main__":
    {"collect": collect, "merge": merge}[sys.argv[1]](*sys.argv[2:])
