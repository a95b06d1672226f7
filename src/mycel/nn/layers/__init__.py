# SPDX-License-Identifier: Apache-2.0
"""Layers, by what they do."""
