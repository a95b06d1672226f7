# SPDX-License-Identifier: Apache-2.0
"""Options of XLA's compiler are tried before they are used. XLA is the oracle."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from mycel.kernel.base import backend
from mycel.tuning import options


def test_what_xla_does_not_know_is_not_accepted():
    assert not options.accepts((("xla_no_such_option", True),))
    with pytest.raises(jax.errors.JaxRuntimeError):
        jax.jit(lambda: np.int32(0), compiler_options={"xla_no_such_option": True})()


def test_values_that_xla_does_not_know_are_not_accepted():
    for name in options._ON_CPU:
        assert not options.accepts(((name, "NO_SUCH_VALUE"),))


def test_every_option_that_is_used_is_one_that_was_tried():
    chosen = options.compiler_options()
    for name, value in options._ON_CPU.items():
        assert (name in chosen) is options.accepts(((name, value),))
    assert not chosen.keys() - options._ON_CPU.keys()
    jax.jit(lambda: np.int32(3), compiler_options=chosen)()


def test_an_unknown_option_that_was_asked_for_is_an_error(monkeypatch):
    monkeypatch.setitem(backend._options, "xla_no_such_option", True)
    with pytest.raises(NotImplementedError, match="no option xla_no_such_option"):
        backend.compiler_options()


def test_determinism_is_an_option_that_xla_has():
    assert options.accepts(((backend._DETERMINISTIC, True),))
