# SPDX-License-Identifier: Apache-2.0
"""Debug mode: hooks that are called with each row on its way."""

from __future__ import annotations

from abc import ABC, abstractmethod

from mycel.dataset import config
from mycel.dataset.engine.machinery import Row
from mycel.kernel.base.errors import wrong


class DebugHook(ABC):
    """What `ds.config.set_debug_mode(True, [hook])` calls with the columns of each row.

    Args:
        prev_op_name: what the row comes from; set before each call.

    Example:
        >>> class Shapes(ds.DebugHook):
        ...     def compute(self, args):
        ...         print([value.shape for value in args])
        ...         return args
        >>> ds.config.set_debug_mode(True, [Shapes()])
        >>> for row in ds.NumpySlicesDataset([[1, 2]]).map(lambda x: x[:1]):
        ...     pass
        [(2,)]
        [(1,)]
        >>> ds.config.set_debug_mode(False)
    """

    def __init__(self, prev_op_name=None):
        self.prev_op_name = prev_op_name

    @abstractmethod
    def compute(self, args):
        """Look at the columns of a row; only within a `map` what it returns goes on."""

    def __call__(self, *args):
        """As one of the operations of a `map`."""
        return self.compute(*args)


def show(row: Row, name: str) -> Row:
    """Show a row to the hooks of debug mode."""
    for hook in config.settings.debug_hooks:
        if not isinstance(hook, DebugHook):
            raise wrong(TypeError, "set_debug_mode: debug_hook_list", "DebugHooks", repr(hook))
        hook.prev_op_name = name
        hook.compute(list(row.values()))
    return row
