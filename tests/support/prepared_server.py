# SPDX-License-Identifier: Apache-2.0
"""The process that `prepared` starts: it imports mycel, and forks for each program it is asked for.

It has no threads, for a fork would lack them, and uses nothing of XLA.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import types

import jax
from contexts import share_contexts

import mycel.cli.main  # noqa: F401 - what the forks need is there already
from mycel.debug import at_exit
from mycel.kernel.base import backend

# The longest request.
MOST = 1 << 17


def _serve(connection: socket.socket):
    """Fork for each request, and tell who has ended; returns in a fork, with what it is to do."""
    ended, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tell)

    def say(kind, pid, code=None):
        connection.send(json.dumps([kind, pid, code]).encode())

    while True:
        ready, _, _ = select.select([connection, ended], [], [])
        if connection in ready:
            message, streams, _, _ = socket.recv_fds(connection, MOST, 3)
            if not message:
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                for descriptor in (*streams, ended, tell, connection.detach()):
                    os.close(descriptor)
                *request, session = json.loads(message)
                if session:
                    os.setsid()
                return request
            for stream in streams:
                os.close(stream)
            say("started", pid)
        if ended in ready:
            os.read(ended, 1 << 12)
            with contextlib.suppress(ChildProcessError):
                while (found := os.waitpid(-1, os.WNOHANG))[0]:
                    say("ended", found[0], os.waitstatus_to_exitcode(found[1]))


def _become(arguments: list[str], environment: dict[str, str], folder: str) -> types.CodeType | str:
    """Set this process up as Python does; gives the program, or the name of the module."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    at_exit.register()
    if devices := environment.get("JAX_NUM_CPU_DEVICES"):
        jax.config.update("jax_num_cpu_devices", int(devices))
    first, *rest = arguments
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    if first in ("-c", "-m"):
        text, *rest = rest
        sys.path[:1] = ["" if first == "-c" else folder, *paths]
        sys.argv[:] = [first, *rest]
        return compile(text, "<string>", "exec", dont_inherit=True) if first == "-c" else text
    sys.path[:1] = [os.path.dirname(os.path.realpath(first)), *paths]
    sys.argv[:] = arguments
    with open(first, "rb") as file:
        return compile(file.read(), first, "exec", dont_inherit=True)


def _main():
    """Wait to be asked; what is returned is what a fork runs."""
    assert not backend.has_begun()
    share_contexts()
    gc.collect()
    gc.freeze()
    return _become(*_serve(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    _program = _main()
    if isinstance(_program, str):
        runpy.run_module(_program, run_name="__main__", alter_sys=True)
    else:
        _module = types.ModuleType("__main__")
        _module.__dict__.update(__builtins__=__builtins__)
        if _program.co_filename != "<string>":
            _module.__dict__.update(__file__=_program.co_filename)
        sys.modules["__main__"] = _module
        exec(_program, _module.__dict__)
