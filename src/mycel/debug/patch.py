# SPDX-License-Identifier: Apache-2.0
"""patch: interventions as data. What changes from call to call is an input of the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mycel.debug.edits import Site, edit_of
from mycel.debug.operators import begin, check_met, watched
from mycel.debug.paths import Calls, Target, check_called, targets_of
from mycel.kernel.base.places import user_place
from mycel.kernel.record.parameter import ParameterTuple
from mycel.kernel.record.stream import current_stream, machine
from mycel.nn.cell import Cell


class Patched:
    """What is patched, by path: `patched[path] = …` exchanges an edit, `del` ends it.

    A path that begins patched as a pattern can be edited later without another compilation.
    """

    def __init__(self, net: Cell, edits: Mapping[str, Any]):
        self._net = net
        self._targets: dict[str, Target] = {}
        self._sites: dict[str, Site] = {}
        self._handles: list = []
        self._calls = Calls()
        self._ran = (0, 0)
        written: dict[str, dict] = {}
        for pattern, edit in edits.items():
            for target in targets_of(net, (pattern,)):
                self._targets.setdefault(target.named(), target)
                written.setdefault(target.named(), {})[pattern] = edit_of(pattern, edit)
        for path, several in written.items():
            if path in several:  # its own path goes before patterns
                several = {path: several[path]}
            first, *others = [p for p, edit in several.items() if edit is not None] or several
            if others and several[others[0]] is not None:
                raise ValueError(
                    f"Both {first!r} and {others[0]!r} patch {path!r} (at {user_place(3)}): name "
                    "it in one of them, or by its own path too."
                )
            self._sites[path] = Site(path, several[first])
        self._watches = watched(self._targets.values(), self._calls, self._operator)

    def __enter__(self) -> Patched:
        if self._handles:
            raise RuntimeError(f"This patch has begun already (at {user_place(2)}).")
        current_stream().flush()
        self._ran = _ran()
        try:
            if any(target.call for target in self._targets.values()):
                self._handles += self._calls.follow(self._net, self._begin)
            by_path: dict[str, list[Target]] = {}
            for path in self._sites:
                target = self._targets[path]
                if not target.operator:
                    by_path.setdefault(target.path, []).append(target)
            for several in by_path.values():
                hook = self._hook(several)
                self._handles.append(several[0].cell.register_forward_hook(hook))
            self._handles += begin(self._watches)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind, *_) -> None:
        self._end()
        if kind is None:
            most = dict(self._calls.most)
            most.update((path, 1) for path, site in self._sites.items() if site.met)
            if most or _ran() != self._ran or current_stream().segment.outputs:
                check_called(self._targets.values(), most)
                check_met(self._watches)

    def _end(self) -> None:
        while self._handles:
            self._handles.pop().remove()
        self._calls.forget()

    def _begin(self) -> None:
        self._calls.begins(True)

    def _hook(self, targets: list[Target]):
        if len(targets) == 1 and targets[0].call is None:
            return self._sites[targets[0].named()].hook

        def patched(cell, args, output):
            self._calls.begins()
            call = self._calls.number(targets[0].path)
            returned = None
            for target in targets:
                if target.is_at(call):
                    changed = self._sites[target.named()].changed(output)
                    if changed is not None:
                        returned = output = changed
            return returned

        return patched

    def _operator(self, target: Target, call: int, name: str, number: int, output):
        return self._sites[target.named()].changed(output)

    def __setitem__(self, path: str, edit) -> None:
        self._site(path).set(edit_of(path, edit))

    def __delitem__(self, path: str) -> None:
        self._site(path).set(None)

    def __getitem__(self, path: str):
        return self._site(path).edit

    def __contains__(self, path: object) -> bool:
        return path in self._sites

    def __iter__(self):
        return iter(self._sites)

    def __len__(self) -> int:
        return len(self._sites)

    def clear(self) -> None:
        """End all edits; the Cells stay prepared for others."""
        for site in self._sites.values():
            site.set(None)

    @property
    def values(self) -> ParameterTuple:
        """The values of all edits, for derivatives by them; they are there after the first call."""
        return ParameterTuple(
            [state.value for site in self._sites.values() for state in site.states.values()]
        )

    def _site(self, path: str) -> Site:
        if path not in self._sites:
            raise KeyError(
                f"{path!r} is not patched here (at {user_place(3)}): name it where the block "
                f"begins, also with None. Patched are {', '.join(map(repr, self._sites))}."
            )
        return self._sites[path]


def _ran() -> tuple[int, int]:
    """What changes where anything runs."""
    counts = machine.account.counts
    return counts.segments, counts.replays


def patch(net: Cell, edits: Mapping[str, Any]) -> Patched:
    """Change what Cells and operators give, while a block runs: ablate, replace, steer, swap.

    In a compiled function an edit is data: which Cell, which part, which value and how strong it is
    may be other ones at every call, and nothing is compiled again.

    Args:
        net: the network.
        edits: by the paths of Cells and operators (patterns as of `capture`; without a number all
            calls, and all operators of that name): a number, array or Tensor that takes the place
            of what is given; `(index, value)` for a part of it; an `Edit` for one with a strength,
            or that is added; a function of what is given; or None, to be edited later. The path of
            one Cell goes before patterns that mean it too.

    Returns:
        A context manager that gives the edits by path: `patched[path] = …` exchanges one and
        `del patched[path]` ends it. `patched.values` are the values as Parameters, to differentiate
        by.

    Raises:
        IndexError: there is no such part or output.
        TypeError: an edit is neither a value nor a function, or of another kind than the elements.
        ValueError: no Cell has such a path, or a value does not fit. At the end of a
            block in which something ran: a Cell, a call `#2` of it, or an operator that a path
            means never came.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1))
        >>> x = Tensor([[1.0, 2.0]])
        >>> with ms.debug.patch(net, {"1": 0.0}) as patched:  # ablated
        ...     bias = net(x)
        ...     patched["1"] = (np.s_[:, 0], 2.0)  # the first unit of the layer is 2
        ...     first = net(x)
        ...     del patched["1"]
        ...     same = net(x)
        >>> bool((bias == net[2].bias).all()), bool((same == net(x)).all())
        (True, True)
        >>> with ms.debug.patch(net, {"**:relu": 0.0}):
        ...     bool((net(x) == net[2].bias).all())
        True
    """
    if not isinstance(edits, Mapping):
        raise TypeError(
            f"patch takes a dict by path, as {{'blocks.3': 0.0}}, not {type(edits).__name__} "
            f"(at {user_place(2)})."
        )
    return Patched(net, edits)
