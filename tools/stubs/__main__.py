# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.stubs [--check]`: write every stub, or say which are stale."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.stubs.classes import CLASS_FILES, class_signatures
from tools.stubs.functions import FILES, signatures
from tools.stubs.packages import PACKAGES, load_everything, mindspore_stubs, package_stub
from tools.stubs.plain import FUNCTION_FILES, function_signatures

SOURCE = Path(__file__).resolve().parents[2] / "src"


def written() -> dict[Path, str]:
    """The text of every generated file."""
    load_everything()
    found = {}
    for namespace, file in FILES.items():
        stub, lead = signatures(namespace)
        found[SOURCE / f"mycel/signatures/{file}.pyi"] = stub
        found[SOURCE / f"mycel/signatures/{file}.py"] = lead
    for path, file in CLASS_FILES.items():
        stub, lead = class_signatures(path)
        found[SOURCE / f"mycel/signatures/{file}.pyi"] = stub
        found[SOURCE / f"mycel/signatures/{file}.py"] = lead
    for path, file in FUNCTION_FILES.items():
        stub, lead = function_signatures(path)
        found[SOURCE / f"mycel/signatures/{file}.pyi"] = stub
        found[SOURCE / f"mycel/signatures/{file}.py"] = lead
    for path in PACKAGES:
        place = SOURCE / path.replace(".", "/")
        file = place / "__init__.pyi" if place.is_dir() else place.with_suffix(".pyi")
        found[file] = package_stub(path)
    for path, text in mindspore_stubs().items():
        found[SOURCE / "mindspore-stubs" / path.replace(".", "/") / "__init__.pyi"] = text
    return found


def stale(texts: dict[Path, str]) -> list[Path]:
    """The generated files that are not as they would be written now."""
    stubs = {*SOURCE.glob("mycel/**/*.pyi"), *SOURCE.glob("mindspore-stubs/**/*.pyi")}
    changed = {f for f, text in texts.items() if not f.exists() or f.read_text("utf-8") != text}
    return sorted(changed | (stubs - texts.keys()))


def main() -> int:
    """Write what is stale; with `--check`, only say so."""
    texts = written()
    old = stale(texts)
    for file in old:
        print(file.relative_to(SOURCE))
        if "--check" in sys.argv:
            continue
        if file in texts:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(texts[file], "utf-8")
        else:
            file.unlink()
    return len(old) if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
