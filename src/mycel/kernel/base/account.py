# SPDX-License-Identifier: Apache-2.0
"""What the machine tells of its work, to whoever keeps account of it (see report.ledger), and what
it leaves to whoever talks to people (see report)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from mycel.kernel.base.places import Place


class Account(Protocol):
    """Takes what happens, and may limit it.

    Attributes:
        counts: numbers that the machine adds to itself: `captures`, `replays`, `misses`.
        limits: while there are any, `raise_if_over` is called where no value can be lost.
    """

    counts: Any
    limits: list

    def working_on(self, name: str) -> AbstractContextManager:
        """Name what compilations in a block belong to."""
        ...

    def working_for(self) -> str:
        """What compilations belong to now; empty if nothing was named."""
        ...

    def compiling(self, nodes: int, name: str = "") -> AbstractContextManager:
        """A program of so many operators is compiled in a block, for a function of this name."""
        ...

    def compiled(self, nodes: int, seconds: float, layout: str = "") -> None:
        """A program of so many operators was compiled; `layout` says which input of it lies on the
        devices otherwise than before, if that is why."""
        ...

    def accepted(self, name: str, what: str) -> None:
        """A setting is taken while something else decides."""
        ...

    def changes(self, nodes: int, refused: str) -> None:
        """A program runs operator by operator, since its shapes change from call to call; or is
        compiled nevertheless, for the sake of an operator that cannot be run so."""
        ...

    def pads(self, what: str, refused: str) -> None:
        """A program is padded, to what; or is not although that was asked for, and why."""
        ...

    def ran(self, nodes: int) -> None:
        """A segment is being run."""
        ...

    def raise_if_over(self) -> None:
        """Raise for a limit that was passed."""
        ...

    def unreplayed(
        self,
        name: str,
        kind: str,
        what: str,
        place: Place,
        cell: str = "",
        remedy: str = "",
        seconds: float = 0.0,
        replays: int = 0,
        who: object = None,
    ) -> None:
        """One call of a compiled function ran in PyNative."""
        ...

    def warn_stopped(self, name: str, place: Place, who: object = None) -> None:
        """A breakpoint keeps a function from being compiled."""
        ...


class Report(Protocol):
    """Texts for people, and what stands for `print` and logging while a call is recorded."""

    def tensor_repr(self, array: np.ndarray, dtype=None) -> str:
        """`repr(tensor)`."""
        ...

    def tensor_str(self, array: np.ndarray) -> str:
        """`print(tensor)`."""
        ...

    def tensor_html(
        self, array: np.ndarray, dtype=None, name: str = "Tensor", facts: tuple = ()
    ) -> str:
        """A Tensor as a notebook shows it."""
        ...

    def parameters_html(self, parameters: Iterable) -> str:
        """Parameters as a notebook shows them."""
        ...

    def explain_keyword(self, error: TypeError) -> None:
        """Say more in Python's error about a keyword that is not there."""
        ...

    def watch_printing(self, on: bool) -> None:
        """Whether this thread records a call, in which a `print` is a site."""
        ...

    def watch_logging(self, on: bool) -> None:
        """Whether any thread records a call, in which a message is a site."""
        ...
