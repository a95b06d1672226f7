# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel.nn means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.cells import *
from mycel.parallel.cells import PipelineCell as _Pipeline
Pipeline = _Pipeline
from mycel.parallel.cells import GradAccumulationCell as _GradAccumulation
GradAccumulation = _GradAccumulation
