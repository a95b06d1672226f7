# SPDX-License-Identifier: Apache-2.0
"""Record MindSpore's answers to the pieces: run where MindSpore is installed, with no arguments.

python tests/wild/record_mindspore.py
"""

from __future__ import annotations

import json
import pathlib
import re
import sys

import mindspore  # type: ignore[import-not-found]

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from pieces import FORMER, PIECES, answer_of  # noqa: E402


def main() -> None:
    """Write one line for each piece that this version has."""
    lines = []
    former = mindspore.__version__.startswith("2.7.")
    for pieces in [FORMER] if former else PIECES.values():
        for name, source in pieces.items():
            lines.append(f"{json.dumps(name)}: {json.dumps(answer_of(source))}")
    version = re.sub(r"\W", "_", ".".join(mindspore.__version__.split(".")[:2]))
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (HERE / f"mindspore_{version}.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
