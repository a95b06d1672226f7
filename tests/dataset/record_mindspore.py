# SPDX-License-Identifier: Apache-2.0
"""Writes mindspore_2_10.json and the files that only MindSpore writes. Run with MindSpore 2.10:

python tests/dataset/record_mindspore.py
"""

from __future__ import annotations

import json
import pathlib
import shutil
import sys
import tempfile

import mindspore.dataset as ds
from mindspore.mindrecord import FileWriter

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from dataset import pipelines, rarer_pipelines  # noqa: E402, F401
from dataset.record_rows import write_integers, write_mindrecord  # noqa: E402


def main() -> None:
    files = HERE / "files"
    files.mkdir(exist_ok=True)
    for old in files.glob("*mindrecord*"):
        old.unlink()
    write_mindrecord(FileWriter, str(files / "a.mindrecord"))
    write_mindrecord(FileWriter, str(files / "many.mindrecord"), 8, 2)
    write_integers(FileWriter, str(files / "integers.mindrecord"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pipelines.write_files(folder)
        shutil.copytree(files, folder, dirs_exist_ok=True)
        answers = {key: pipelines.answer(key, ds, folder) for key in pipelines.PIPELINES}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items()]
    (HERE / "mindspore_2_10.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
