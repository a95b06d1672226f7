# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer.layers means here; written by `python -m tools.stubs`, which see."""


