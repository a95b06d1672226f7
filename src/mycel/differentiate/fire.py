# SPDX-License-Identifier: Apache-2.0
"""Running reverse hooks when the whole gradient of a Value is known."""

from __future__ import annotations

from mycel.record.stream import current_stream
from mycel.record.tensor import Tensor, new_tensor, resolve
from mycel.record.value import Value


def fire_hooks(hooks: dict, value: Value, gradient: Value | None) -> Value | None:
    """The gradient after the hooks registered for `value`, each of them a site."""
    if gradient is None or id(value) not in hooks:
        return gradient
    stream = current_stream()
    for hook in list(hooks[id(value)][1].values()):
        given = new_tensor(gradient)
        changed = hook(given) if stream.capture is None else stream.capture.site(hook, (given,))
        if changed is not None:
            if not isinstance(changed, Tensor):
                raise TypeError(
                    f"A hook on a Tensor returns a Tensor or None, not {type(changed).__name__}."
                )
            gradient = resolve(changed)
    return gradient
