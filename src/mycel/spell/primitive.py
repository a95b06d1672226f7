# SPDX-License-Identifier: Apache-2.0
"""Primitive: what the operator classes (`ops.ReLU()`, `ops.Conv2D(...)`) have in common."""

from __future__ import annotations


class Primitive:
    """An operator as an object: attributes are given at creation, Tensors at the call.

    Source: MindSpore's `mindspore.ops.Primitive`.

    Example:
        >>> import mycel as ms
        >>> print(ms.ops.Add()(ms.Tensor([1, 2]), 3))
        [4 5]
    """

    def __init__(self, name: str):
        self.name = name
        self.attrs: dict[str, object] = {}
        self.instance_name = name

    def add_prim_attr(self, name: str, value) -> Primitive:
        """Keep an attribute for the caller; it changes nothing."""
        self.attrs[name] = value
        return self

    def set_prim_instance_name(self, name: str) -> Primitive:
        """Name this object."""
        self.instance_name = name
        return self

    def set_device(self, device_target: str) -> Primitive:
        """Accepted for MindSpore programs; XLA places operators itself."""
        return self.add_prim_attr("primitive_target", device_target)

    def __repr__(self):
        shown = {k: v for k, v in vars(self).items() if k not in ("name", "attrs", "instance_name")}
        body = ", ".join(f"{key}={value!r}" for key, value in shown.items())
        return f"{type(self).__name__}({body})"
