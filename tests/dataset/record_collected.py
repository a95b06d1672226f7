# SPDX-License-Identifier: Apache-2.0
"""Writes collected_2_10.json. Run with MindSpore 2.10, SciPy and Pillow:

python tests/dataset/record_collected.py
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile

import mindspore.dataset as ds

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import collected  # noqa: E402


def main() -> None:
    ds.config.set_num_parallel_workers(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        collected.write(folder)
        answers = {line: collected.answer(line, ds, folder) for line in collected.lines()}
    for line, answer in answers.items():
        if "refused" in answer:
            print(line, answer["refused"])
            answers[line] = {"refused": True}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items()]
    (HERE / "collected_2_10.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
