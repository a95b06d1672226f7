# SPDX-License-Identifier: Apache-2.0
"""Operators that draw random numbers."""
