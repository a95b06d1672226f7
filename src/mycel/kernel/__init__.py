# SPDX-License-Identifier: Apache-2.0
"""The machine: what an operation is, how it is recorded, run, differentiated and remembered.

It imports nothing of ours that stands outside of it; see docs/essay.md.
"""
