# SPDX-License-Identifier: Apache-2.0
"""One process with eight devices. Oracles are named in `devices_checks` and those beside it."""

from __future__ import annotations

import pytest

from support import together

MODULE = "devices_checks,devices_layers,devices_settings"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    # Compiled as users do: what XLA makes is counted.
    folder = tmp_path_factory.mktemp("devices")
    return together.run_checks(MODULE, 1, folder, JAX_NUM_CPU_DEVICES="8")


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_on_eight_devices(found, name):
    together.assert_all_found(found, name)


def test_the_example_of_the_page(tmp_path):
    """Oracle: the text in docs/scale.md."""
    printed, expected = together.run_example("divided.py", tmp_path)
    assert printed == expected
