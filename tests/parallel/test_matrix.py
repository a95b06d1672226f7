# SPDX-License-Identifier: Apache-2.0
"""Every network in every arrangement of devices. Oracles are named in `matrix_checks`.

It takes minutes, so that it runs where it is asked for: `MYCEL_MATRIX=1 python -m pytest
tests/parallel/test_matrix.py`. `test_several_processes` has what is cheap of it.
"""

from __future__ import annotations

import os

import pytest

from support import together

MODULE = "matrix_checks"
# Processes, and the devices of each.
ARRANGEMENTS = ((1, 1), (1, 8), (2, 1), (2, 4)) if os.environ.get("MYCEL_MATRIX") == "1" else ()


@pytest.mark.parametrize("count, devices", ARRANGEMENTS)
def test_losses_are_those_of_one_device(count, devices, tmp_path):
    ranks = together.run_checks(MODULE, count, tmp_path, JAX_NUM_CPU_DEVICES=str(devices))
    for name in together.names_of(MODULE):
        together.assert_all_found(ranks, name)
    print(ranks[0].text)
