# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of several devices, each with its parts of the Parameters."""
