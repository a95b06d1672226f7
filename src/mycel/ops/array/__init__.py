# SPDX-License-Identifier: Apache-2.0
"""Operators that make, cast, index and rearrange Tensors."""
