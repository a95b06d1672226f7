# SPDX-License-Identifier: Apache-2.0
"""Writes loaded_2_10.json. Run with MindSpore 2.10:

python tests/dataset/record_loaded.py
"""

from __future__ import annotations

import json
import pathlib
import sys

import mindspore
from mindspore.dataset import dataloader

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import loaded  # noqa: E402


def main() -> None:
    answers = {line: loaded.answer(line, dataloader, mindspore) for line in loaded.lines()}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items()]
    (HERE / "loaded_2_10.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
