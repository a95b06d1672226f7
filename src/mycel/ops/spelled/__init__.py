# SPDX-License-Identifier: Apache-2.0
"""Operators that are further spellings of others: older names, names of `mint`, Tensor methods."""
