# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline on eight devices of one process. Oracles are named in `pipeline_checks`."""

from __future__ import annotations

import pytest

from support import together

MODULE = "pipeline_checks"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline")
    return together.run_checks(MODULE, 1, folder, JAX_NUM_CPU_DEVICES="8")


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_on_eight_devices(found, name):
    together.assert_all_found(found, name)


def test_the_example_of_the_page(tmp_path):
    """Oracle: the text in docs/scale.md."""
    printed, expected = together.run_example("staged.py", tmp_path)
    assert printed == expected
