# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.core means here; written by `python -m tools.stubs`, which see."""


from mindspore.dataset.core import validator_helpers as validator_helpers
