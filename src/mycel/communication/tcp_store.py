# SPDX-License-Identifier: Apache-2.0
"""Values by key that several processes share: one of them keeps them, the others ask it by TCP.

A message is a line of JSON; bytes stand in it as the characters of Latin-1.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import socket
import socketserver
import threading
import time
import weakref
from typing import Any

from mycel.kernel.base.errors import wrong

WAIT = datetime.timedelta(seconds=300)


class _Kept:
    """The values, and the answers to what is asked of them."""

    def __init__(self):
        self.values: dict[str, str] = {}
        self.changed = threading.Condition()

    def answer(self, asked: str, key: str, given: Any) -> dict:
        """What one message is answered."""
        with self.changed:
            return getattr(self, f"_{asked}")(key, given)

    def _set(self, key, value):
        self.values[key] = value
        self.changed.notify_all()
        return {}

    def _add(self, key, amount):
        before = self.values.get(key, "0")
        try:
            total = int(before) + amount
        except ValueError:
            return {"error": f"{key!r} holds {before!r}, which is no number."}
        self._set(key, str(total))
        return {"value": total}

    def _get(self, key, seconds):
        if not self.changed.wait_for(lambda: key in self.values, seconds):
            return {"error": f"Nobody set {key!r} within {seconds} seconds."}
        return {"value": self.values[key]}

    def _delete(self, key, _):
        return {"value": self.values.pop(key, None) is not None}


class _Client(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self):
        with contextlib.suppress(ConnectionError):  # who asked may be gone
            for line in self.rfile:
                answer = self.server.kept.answer(*json.loads(line))
                self.wfile.write(json.dumps(answer).encode() + b"\n")


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True

    def __init__(self, address):
        super().__init__(address, _Client)
        self.kept = _Kept()


class TCPStore:
    """Values by key that several processes share by TCP.

    Args:
        host_name: the address of the process that keeps the values.
        port: its port; 0 lets the one that keeps them choose, see the attribute.
        is_master: whether this process keeps them; False by default.
        timeout: how long to wait for that process, and for a value, a `timedelta`; 300 seconds by
            default.
        world_size, wait_for_workers: no effect: nobody is waited for.
        multi_tenant, master_listen_fd, use_libuv: no effect.

    Attributes:
        port: the port.

    Raises:
        RuntimeError: the process that keeps the values is not reached, or the port is taken.

    Source: MindSpore's `mindspore.mint.distributed.TCPStore`.

    Example:
        >>> from mycel.mint.distributed import TCPStore
        >>> store = TCPStore("127.0.0.1", 0, is_master=True)
        >>> store.add("steps", 2), store.add("steps", 3), store.get("steps")
        (2, 5, b'5')
    """

    def __init__(
        self,
        host_name,
        port,
        world_size=None,
        is_master=False,
        timeout=WAIT,
        wait_for_workers=True,
        multi_tenant=False,
        master_listen_fd=None,
        use_libuv=True,
    ):
        del world_size, wait_for_workers, multi_tenant, master_listen_fd, use_libuv
        self._seconds = timeout.total_seconds()
        self._turn = threading.Lock()
        server = None
        if is_master:
            try:
                server = _Server((host_name, port))
            except OSError as error:
                raise RuntimeError(
                    f"TCPStore at {host_name}:{port} cannot be opened there: {error}"
                ) from None
            port = server.server_address[1]
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.host_name, self.port = host_name, port
        self._connection = self._connect()
        self._lines = self._connection.makefile("rb")
        self._end = weakref.finalize(self, _end, self._lines, self._connection, server)

    def _connect(self) -> socket.socket:
        ends = time.monotonic() + self._seconds
        while True:
            try:
                return socket.create_connection((self.host_name, self.port), self._seconds)
            except OSError as error:
                if time.monotonic() >= ends:
                    place = f"{self.host_name}:{self.port}"
                    raise RuntimeError(f"TCPStore at {place} is not reached: {error}") from None
                time.sleep(0.05)

    def _ask(self, asked: str, key: str, given=None):
        if not isinstance(key, str):
            raise wrong(TypeError, f"TCPStore.{asked}: key", "text", type(key).__name__)
        with self._turn:
            self._connection.settimeout(self._seconds + 5)
            self._connection.sendall(json.dumps([asked, key, given]).encode() + b"\n")
            answer = json.loads(self._lines.readline() or '{"error": "The master has ended."}')
        if "error" in answer:
            raise RuntimeError(f"TCPStore.{asked} of {key!r} was refused: {answer['error']}")
        return answer.get("value")

    def set(self, key: str, value: str | bytes) -> None:
        """Keep a value.

        Raises:
            TypeError: the key is no text, or the value neither text nor bytes.
        """
        if not isinstance(value, (str, bytes)):
            raise wrong(TypeError, "TCPStore.set: value", "text or bytes", type(value).__name__)
        value = value.encode() if isinstance(value, str) else value
        self._ask("set", key, value.decode("latin-1"))

    def get(self, key: str) -> bytes:
        """A value; waits until somebody sets it.

        Raises:
            RuntimeError: nobody set it within the timeout.
        """
        return self._ask("get", key, self._seconds).encode("latin-1")

    def add(self, key: str, amount: int) -> int:
        """Add to a counter, which begins with 0; what it is then.

        Raises:
            RuntimeError: the key holds something else.
            TypeError: the amount is no integer.
        """
        if not isinstance(amount, int):
            raise wrong(TypeError, "TCPStore.add: amount", "an integer", type(amount).__name__)
        return self._ask("add", key, amount)

    def delete_key(self, key: str) -> bool:
        """Keep a value no longer; whether there was one."""
        return self._ask("delete", key)

    def close(self) -> None:
        """End the connection; the process that keeps the values answers nobody any more."""
        self._end()


def _end(lines, connection: socket.socket, server: _Server | None) -> None:
    lines.close()
    connection.close()
    if server is not None:
        server.shutdown()
        server.server_close()
