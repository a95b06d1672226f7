# SPDX-License-Identifier: Apache-2.0
"""Memories of results (`functools.lru_cache`): what they hold, for comparing it."""

from __future__ import annotations

import gc

from mycel.kernel.prove.sources import MOST_ELEMENTS, PUT, TooLarge, elements


def memo_state(memo, *_) -> tuple:
    """What a memory of results has: its counts, and, as the very objects, all that is kept: it may
    have been cleared and filled with other results."""
    info = memo.cache_info()
    if info.currsize > MOST_ELEMENTS:
        raise TooLarge
    return (info.misses, info.currsize, *elements(_cache_of(memo)))


def _put_back(memo, _, state: tuple) -> None:
    """Empty it again. What else it holds makes no difference to who asks it: it gives the same."""
    if not state[1]:
        memo.cache_clear()


PUT[memo_state] = _put_back


def kept_by(memo) -> list:
    """The arguments and results that a memory of results keeps."""
    own = (memo.__dict__, memo.__wrapped__, _cache_of(memo))
    parts = [part for part in gc.get_referents(memo) if all(part is not other for other in own)]
    return parts + elements(_cache_of(memo))


def _cache_of(memo) -> dict:
    """The dict in which it keeps them; of a bounded one its values are elements of a list in C."""
    parts = gc.get_referents(memo)
    return next(part for part in parts if type(part) is dict and part is not memo.__dict__)
