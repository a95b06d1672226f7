# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops._grad_experimental.grad_base means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.internals import reverses as _bprop_getters
bprop_getters = _bprop_getters
