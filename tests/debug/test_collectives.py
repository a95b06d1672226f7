# SPDX-License-Identifier: Apache-2.0
"""`ms.debug.collectives` on one device; `support/devices_checks.py` has several."""

from __future__ import annotations

import numpy as np

import mycel as ms
from mycel import nn


def test_one_device_sends_nothing():
    """Oracle: the network without it."""
    net = nn.Dense(3, 2)
    x = ms.Tensor(np.ones((4, 3), np.float32))
    found = ms.debug.collectives(net)(x)
    assert isinstance(found, ms.debug.Collectives)
    assert len(found) == 0 and found.counts == {}
    np.testing.assert_array_equal(found.result.asnumpy(), net(x).asnumpy())
    assert str(found)
