# SPDX-License-Identifier: Apache-2.0
"""The same work in mycel, PyTorch and plain JAX, alternating in one run: `python -m bench`."""
