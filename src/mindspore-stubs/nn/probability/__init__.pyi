# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability means here; written by `python -m tools.stubs`, which see."""


from mindspore.nn.probability import bijector as bijector
from mindspore.nn.probability import distribution as distribution
