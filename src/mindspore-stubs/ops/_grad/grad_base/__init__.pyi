# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops._grad.grad_base means here; written by `python -m tools.stubs`, which see."""


