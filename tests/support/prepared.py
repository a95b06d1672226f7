# SPDX-License-Identifier: Apache-2.0
"""Programs in processes that have imported mycel already: forks of one process that did only that.

A start and the import take seconds of a processor. Where a test asks what a program prints or how
it ends, and not what a fresh interpreter does, it runs here: with arguments, folder, environment,
standard streams, `__main__` and end as Python gives them. What is read from the environment while
mycel is imported cannot be other than the tests' own, and is refused.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Sequence
from unittest import mock

from mycel.cli import job

SERVER = str(pathlib.Path(__file__).with_name("prepared_server.py"))
# What is read while mycel is imported; MYCEL_LEDGER, which is too, is read again in the fork.
READ_EARLY = re.compile(
    r"JAX_(?!NUM_CPU_DEVICES$)|PYTHON(?!PATH$|IOENCODING$)|GLOG_|XDG_|HOME$"
    r"|MYCEL_(CACHE|CHECK_NUMERICS)$"
)
UTF8 = {"PYTHONIOENCODING": "utf-8"}
# A request has to fit into one message.
MOST = 1 << 17
# Seconds after which one who waits lets others wait.
MOMENT = 0.2


class Process:
    """A fork that runs a program, as `subprocess.Popen` shows it."""

    def __init__(self, server: _Server, pid: int, session: bool):
        self._server, self.pid, self.stdout = server, pid, None
        self._send = os.killpg if session else os.kill

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; None while it was not seen to end."""
        return self._server.codes.get(self.pid)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended.

        Raises:
            TimeoutExpired: it did not end within so many seconds.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.returncode) is None:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._server.hear(MOMENT if left is None else min(left, MOMENT))
        return code

    def kill(self) -> None:
        """End it at once, with all of its session if it has one."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._send(self.pid, signal.SIGKILL)


class _Server:
    """The process that forks, as its parent sees it."""

    def __init__(self):
        self.codes: dict[int, int] = {}
        self._lock = threading.RLock()
        self._connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, SERVER, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                env=os.environ | UTF8,
            )
        self.environment = os.environ | UTF8
        atexit.register(self.end)

    def start(self, request: list, streams: list[int]) -> int:
        """The id of a fork that does what is asked."""
        message = json.dumps(request).encode()
        assert len(message) < MOST, "what is asked is too long"
        with self._lock:
            socket.send_fds(self._connection, [message], streams)
            kind, pid, _ = self._next()
            while kind != "started":
                kind, pid, _ = self._next()
        return pid

    def hear(self, seconds: float) -> None:
        """Wait so long for what the server tells."""
        with self._lock:
            if select.select([self._connection], [], [], seconds)[0]:
                self._next()

    def _next(self):
        text = self._connection.recv(MOST)
        assert text, "the process that forks has ended"
        kind, pid, code = told = json.loads(text)
        if kind == "ended":
            self.codes[pid] = code
        else:
            self.codes.pop(pid, None)  # the system may give a number again
        return told

    def end(self) -> None:
        """Let it end."""
        self._connection.close()
        self._process.wait()


_server = functools.cache(_Server)


def start(
    arguments: Sequence[str], *, env=None, cwd=None, stdout=None, stderr=None, session=False
) -> Process:
    """Start what `python arguments` does; the streams are files.

    Args:
        session: whether it gets a session of its own.
    """
    server, environment = _server(), dict(os.environ if env is None else env)
    for name in filter(READ_EARLY.match, {*environment, *server.environment}):
        same = environment.get(name) == server.environment.get(name)
        assert same, f"{name} is read while mycel is imported: start a process of its own"
    request = [[*map(str, arguments)], environment, str(cwd or os.getcwd()), session]
    with open(os.devnull, "rb") as nothing:
        files = (nothing, stdout or sys.__stdout__, stderr or sys.__stderr__)
        pid = server.start(request, [file.fileno() for file in files])
    return Process(server, pid, session)


def popen(command, env, stdin, stdout, stderr, start_new_session) -> Process:
    """What `mycel launch` starts: `subprocess.Popen` with these arguments."""
    known = command[0], stdin, stdout, stderr
    assert known == (sys.executable, subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT)
    reading, writing = os.pipe()
    with open(writing, "wb") as end:
        made = start(command[1:], env=env, stdout=end, stderr=end, session=start_new_session)
    made.stdout = open(reading, "rb")  # noqa: SIM115 - the reader closes it
    return made


def launching_forks():
    """Within this `mycel launch`, in this process, starts forks."""
    known = vars(subprocess) | {"Popen": popen}
    return mock.patch.object(job, "subprocess", types.SimpleNamespace(**known))


def run(
    arguments: Sequence[str], *, env=None, cwd=None, timeout: float = 300, session=False
) -> subprocess.CompletedProcess:
    """What `subprocess.run([sys.executable, *arguments], capture_output=True, text=True)` gives."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = start(arguments, env=env, cwd=cwd, stdout=out, stderr=err, session=session)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode().replace("\r\n", "\n"))
    return subprocess.CompletedProcess([sys.executable, *arguments], code, *texts)
