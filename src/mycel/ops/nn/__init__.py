# SPDX-License-Identifier: Apache-2.0
"""Operators that networks are made of."""
