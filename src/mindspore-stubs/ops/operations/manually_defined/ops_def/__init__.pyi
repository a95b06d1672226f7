# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.operations.manually_defined.ops_def means here; written by `python -m tools.stubs`, which see."""


