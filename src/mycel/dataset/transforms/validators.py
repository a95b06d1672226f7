# SPDX-License-Identifier: Apache-2.0
"""A check that programs import from MindSpore's `transforms.validators`."""

from __future__ import annotations

import functools
import inspect

from mycel.dataset.transforms import checks

__all__ = ["check_random_transform_ops"]


def check_random_transform_ops(method):
    """Let a constructor check its first argument, a list of operations, and its `prob`.

    Example:
        >>> from mycel.dataset.transforms.validators import check_random_transform_ops
        >>> class Twice:
        ...     @check_random_transform_ops
        ...     def __init__(self, transforms):
        ...         self.transforms = transforms
        >>> Twice([])
        Traceback (most recent call last):
        ValueError: ...
    """
    signature = inspect.signature(method)

    @functools.wraps(method)
    def checked(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        _, transforms, *others = given.arguments.values()
        checks.operations(transforms)
        if others:
            checks.probability(others[0])
        return method(*args, **kwargs)

    return checked
