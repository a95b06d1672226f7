# SPDX-License-Identifier: Apache-2.0
"""Attributes that an object does not have: the nearest that it has, looked for when the text is."""

from __future__ import annotations

import difflib
from typing import TypeVar

Kind = TypeVar("Kind", bound=type)
ABSENT = "{kind!r} object has no attribute {name!r}"
NEAREST = "; nearest: {names}"
# So many names are told, each at least so much alike.
_MOST, _ALIKE = 3, 0.6


class MissingAttribute(AttributeError):
    """An AttributeError of ours. `hasattr` and `getattr` with a default drop it unread, so that
    names are compared when it is shown."""

    def __init__(self, owner, name: str):
        # Without `obj`: Python would look for a near name too, and tell it once more.
        super().__init__(ABSENT.format(kind=type(owner).__name__, name=name), name=name)
        self._owner, self._nearest = owner, ""

    def __str__(self):
        owner, self._owner = self._owner, None
        if owner is not None:
            # Members that say why they are not there are no help.
            there = [known for known in dir(owner) if _is_there(owner, known)]
            names = ", ".join(near(self.name or "", there))
            self._nearest = NEAREST.format(names=names) if names else ""
        return self.args[0] + self._nearest

    def __reduce__(self):
        return AttributeError, (str(self),)


# It is shown, and pickled, as what programs know.
MissingAttribute.__name__ = MissingAttribute.__qualname__ = "AttributeError"
MissingAttribute.__module__ = "builtins"


def _is_there(owner, name: str) -> bool:
    kind = type(owner)
    if hasattr(kind, name) or name in getattr(owner, "__dict__", ()):
        return True
    return not any(name in vars(base) for base in kind.__mro__)


def near(name: str, names) -> list[str]:
    """The names most like one, without private ones; those that differ by case only come first.

    Example:
        >>> from mycel.kernel.base.missing import near
        >>> near("wieght", ["bias", "weight", "_weight"])
        ['weight']
    """
    public = [known for known in names if not known.startswith("_")]
    same = [known for known in public if known.lower() == name.lower()]
    return same or difflib.get_close_matches(name, public, _MOST, _ALIKE)


def look_again(self, name: str):
    """The `__getattr__` of a class whose objects tell the nearest names.

    Python asks it also where a property has raised an AttributeError; that one is raised again.

    Raises:
        AttributeError: there is no such attribute.
    """
    if name[:1] == "_":
        return object.__getattribute__(self, name)
    try:
        return object.__getattribute__(self, name)
    except AttributeError as error:
        if error.args != (ABSENT.format(kind=type(self).__name__, name=name),):
            raise
    raise MissingAttribute(self, name)


def tell_nearest(kind: Kind) -> Kind:
    """Let the objects of a class tell the nearest names, unless the class looks for itself."""
    if not hasattr(kind, "__getattr__"):
        # Not in the class itself, where a type checker would take every name for an attribute.
        setattr(kind, "__getattr__", look_again)  # noqa: B010
    return kind
