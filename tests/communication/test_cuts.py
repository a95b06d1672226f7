# SPDX-License-Identifier: Apache-2.0
"""Two processes that cut the same programs at different places. Oracles are named in `ranks_cuts`.

`MYCEL_CUTS=1000 python -m pytest tests/communication/test_cuts.py` runs as many programs.
"""

from __future__ import annotations

import os

import pytest

from support import together

MODULE = "ranks_cuts"


@pytest.mark.parametrize("name", together.names_of(MODULE))
def test_in_every_process(name, tmp_path):
    command = [str(together.HERE / "together.py"), MODULE, str(tmp_path)]
    seconds = 10 * together.PATIENCE + 2 * int(os.environ.get("MYCEL_CUTS", "0"))
    ranks = together.ended(together.start(command, 2, tmp_path), tmp_path, seconds)
    together.assert_all_found(ranks, name)
    print(ranks[0].text)
