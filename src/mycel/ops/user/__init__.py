# SPDX-License-Identifier: Apache-2.0
"""Operators of users: their own, functions of functions, loops and hooks."""
