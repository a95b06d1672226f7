# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops._grad means here; written by `python -m tools.stubs`, which see."""


from mindspore.ops._grad import grad_base as grad_base
