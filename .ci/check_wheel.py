# SPDX-License-Identifier: Apache-2.0
"""`check_wheel.py SOURCE WHEEL`: the wheel holds every file below SOURCE, and its metadata."""

import pathlib
import sys
import zipfile

source, wheel = map(pathlib.Path, sys.argv[1:])
files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
expected = {str(path) for path in files if "__pycache__" not in path.parts}
held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
for typed in ("mycel/py.typed", "mycel/__init__.pyi", "mindspore-stubs/__init__.pyi"):
    assert typed in held, f"{wheel.name} has no {typed}"
assert held == expected, f"{wheel.name} and {source} differ in {sorted(held ^ expected)}"
print(f"{wheel.name}: {len(held)} files, {sum(name.endswith('.pyi') for name in held)} stubs")
