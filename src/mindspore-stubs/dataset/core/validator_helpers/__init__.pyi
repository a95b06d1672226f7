# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.core.validator_helpers means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.internals import INT32_MAX as INT32_MAX
