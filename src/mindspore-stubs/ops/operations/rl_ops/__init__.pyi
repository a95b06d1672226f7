# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.operations.rl_ops means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.replay_buffers import *
