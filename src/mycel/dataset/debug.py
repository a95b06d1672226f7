# SPDX-License-Identifier: Apache-2.0
"""Hooks for `config.set_debug_mode`: the base of yours, and two that print."""

from __future__ import annotations

from mycel.dataset.engine.debugging import DebugHook, PrintDataHook, PrintMetaDataHook

__all__ = ["DebugHook", "PrintDataHook", "PrintMetaDataHook"]
