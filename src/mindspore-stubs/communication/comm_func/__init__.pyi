# SPDX-License-Identifier: Apache-2.0
"""What mindspore.communication.comm_func means here; written by `python -m tools.stubs`, which see."""


from mycel.communication.comm_func import *
