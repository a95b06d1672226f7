# SPDX-License-Identifier: Apache-2.0
"""Pipelines give what real MindSpore 2.10 gave (recorded by record_mindspore.py): rows, order,
element types, shapes, sizes, and the kinds of errors.
"""

from __future__ import annotations

import json
import pathlib
import shutil

import pytest

import mycel.dataset as ds
from dataset import pipelines, rarer_pipelines  # noqa: F401

HERE = pathlib.Path(__file__).parent
RECORDED = json.loads((HERE / "mindspore_2_10.json").read_text())


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    pipelines.write_files(made)
    shutil.copytree(HERE / "files", made, dirs_exist_ok=True)
    return made


def test_everything_is_recorded():
    assert set(RECORDED) == set(pipelines.PIPELINES)


@pytest.mark.parametrize("name", pipelines.PIPELINES)
def test_pipeline(name, folder):
    assert pipelines.answer(name, ds, folder) == RECORDED[name]
