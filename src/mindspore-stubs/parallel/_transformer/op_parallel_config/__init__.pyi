# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._transformer.op_parallel_config means here; written by `python -m tools.stubs`, which see."""


