# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions that stand on the machine and are no part of it."""
