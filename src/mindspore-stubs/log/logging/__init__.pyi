# SPDX-License-Identifier: Apache-2.0
"""What mindspore.log.logging means here; written by `python -m tools.stubs`, which see."""


from logging import *
