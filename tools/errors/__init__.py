# SPDX-License-Identifier: Apache-2.0
"""docs/errors.md: thirty faults, and what mycel, PyTorch, JAX and MindSpore say to each."""
