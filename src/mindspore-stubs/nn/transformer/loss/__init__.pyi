# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer.loss means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.transformer_stacks import CrossEntropyLoss as CrossEntropyLoss
