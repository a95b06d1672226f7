# SPDX-License-Identifier: Apache-2.0
"""The tools of `ms.debug` in two processes, and on eight devices of one. Oracles are named in
`ranks_debug` and `devices_debug`."""

from __future__ import annotations

import pytest

from support import together

RANKS, DEVICES = "ranks_debug", "devices_debug"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    return together.run_checks(RANKS, 2, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", together.names_of(RANKS))
def test_in_every_process(ranks, name):
    together.assert_all_found(ranks, name)


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    return together.run_checks(DEVICES, 1, tmp_path_factory.mktemp("d"), JAX_NUM_CPU_DEVICES="8")


@pytest.mark.parametrize("name", together.names_of(DEVICES))
def test_on_eight_devices(devices, name):
    together.assert_all_found(devices, name)
