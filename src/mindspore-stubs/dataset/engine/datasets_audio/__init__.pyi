# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.engine.datasets_audio means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset import *
