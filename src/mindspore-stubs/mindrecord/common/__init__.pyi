# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mindrecord.common means here; written by `python -m tools.stubs`, which see."""


from mindspore.mindrecord.common import exceptions as exceptions
