# SPDX-License-Identifier: Apache-2.0
"""MindSpore's cache server, which is not needed here."""

from __future__ import annotations

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import note_once

NO_SERVER = (
    "DatasetCache has no effect: there is no cache server. The operating system keeps files that "
    "are read again in memory."
)


class DatasetCache:
    """Accepted by all datasets, and without effect; the log says so once.

    Args:
        session_id, size, spilling, hostname, port, num_connections, prefetch_size: as in MindSpore.

    Example:
        >>> cache = ds.DatasetCache(session_id=1, size=0)
        >>> cache.get_stat() is None
        True
    """

    def __init__(
        self,
        session_id,
        size=0,
        spilling=False,
        hostname=None,
        port=None,
        num_connections=None,
        prefetch_size=None,
    ):
        if isinstance(session_id, bool) or not isinstance(session_id, int):
            raise wrong(TypeError, "DatasetCache: session_id", "an integer", repr(session_id))
        self.session_id, self.size, self.spilling = session_id, size, spilling
        self.hostname, self.port = hostname, port
        self.num_connections, self.prefetch_size = num_connections, prefetch_size
        note_once(NO_SERVER)

    def get_stat(self) -> None:
        """Nothing: there are no statistics.

        Example:
            >>> print(ds.DatasetCache(1).get_stat())
            None
        """
