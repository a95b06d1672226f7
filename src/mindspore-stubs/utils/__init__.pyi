# SPDX-License-Identifier: Apache-2.0
"""What mindspore.utils means here; written by `python -m tools.stubs`, which see."""


from mycel.checkpoint.interop import *
from mindspore.utils import dlpack as dlpack
from mycel.debug.devices import sdc_detect_start as sdc_detect_start
from mycel.debug.devices import sdc_detect_stop as sdc_detect_stop
from mycel.debug.devices import get_sdc_detect_result as get_sdc_detect_result
