# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.operations.manually_defined means here; written by `python -m tools.stubs`, which see."""


from mindspore.ops.operations.manually_defined import ops_def as ops_def
