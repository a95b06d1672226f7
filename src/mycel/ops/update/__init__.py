# SPDX-License-Identifier: Apache-2.0
"""Operators that change Parameters in place, and what looks after gradients."""
