# SPDX-License-Identifier: Apache-2.0
"""The Tensors that are given to be written what was communicated."""

from __future__ import annotations

from mycel.kernel.base.errors import wrong
from mycel.kernel.spell.assign import assigned
from mycel.ops.collectives.primitives import check_tensor


def alike(output, given, what: str) -> None:
    """Raise unless a Tensor can be written what another one is."""
    check_tensor(output, f"{what}: the Tensor to write")
    check_tensor(given, f"{what}: the Tensor to send")
    if output.shape != given.shape or output.dtype != given.dtype:
        expected = f"{given.dtype}{list(given.shape)}, as what is sent"
        actual = f"{output.dtype}{list(output.shape)}"
        raise wrong(ValueError, f"{what}: the Tensor to write", expected, actual)


def write_all(outputs, parts, what: str) -> None:
    """Give Tensors the rows of one."""
    for output, part in zip(outputs, parts, strict=True):
        write(output, part, what)


def write(output, given, what: str) -> None:
    """Give a Tensor that is to be written into the values of another one of the same shape."""
    alike(output, given, what)
    assigned(output, given)
