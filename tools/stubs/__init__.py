# SPDX-License-Identifier: Apache-2.0
"""Stubs: what editors and type checkers know of names that are generated or looked up.

`python -m tools.stubs` writes them all, `--check` says which are stale.
"""
