# SPDX-License-Identifier: Apache-2.0
"""What mindspore.multiprocessing means here; written by `python -m tools.stubs`, which see."""


from multiprocessing import *
