# SPDX-License-Identifier: Apache-2.0
"""Optimisers with `param_groups`, as `experimental.optim` and `mint.optim` have them."""
