# SPDX-License-Identifier: Apache-2.0
"""The processes that compute together: which of how many this is, and how they meet.

A launcher tells each process by environment variables. They meet through `jax.distributed`, which
must happen before XLA starts: so the first use of XLA joins them. A process that no launcher
started never asks for it.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import logging
import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jax._src import api, dispatch, distributed, xla_bridge

from mycel.kernel.base import errors
from mycel.kernel.base.places import user_place
from mycel.kernel.base.version import __version__
from mycel.kernel.base.watch import Watch

# What JAX meets the others with.
_xla: Any = vars(distributed)["_jax"]
# What launchers tell each process about how many there are.
VARIABLES = ("RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "MS_WORKER_NUM", "PMI_SIZE")
# What `mycel launch` and `msrun` tell: where the processes meet, and which of them this is.
_COORDINATOR = "MYCEL_COORDINATOR"
_RANKS = ("RANK_ID", "MS_NODE_ID")
_SIZES = ("RANK_SIZE", "MS_WORKER_NUM")
# The id of the process that joined: those that it starts inherit its environment, and are no rank.
_JOINED = "MYCEL_JOINED"
# Set if a launcher keeps the values of the processes: else the first of them does, and its end is
# that of all.
KEPT = "MYCEL_COORDINATOR_KEPT"
# The id of the launcher that ends the process: one whose launcher has gone ends, too.
LAUNCHER = "MYCEL_LAUNCHER"
# Seconds between looks whether it is there, and that its program has to save when it is not.
LOOKS, GRACE = 1.0, 10.0
# Seconds that a process waits for the others, at the start and in a collective operator.
_TIMEOUT = "MYCEL_TIMEOUT"
DEFAULT_TIMEOUT = 600
_CHECKS = "MYCEL_CHECK_COLLECTIVES"
# Seconds without a sign of life after which a process counts as ended.
MOST_SILENCE = 100
# Seconds that a process that has ended waits for the others to end, so that they lose nothing.
MOST_PATIENCE = 7 * 24 * 3600
# Seconds that the process which keeps the values stays for the others, when something failed.
MOST_FAREWELL = 10.0
# The name of the only axis of every mesh of processes.
AXIS = "ranks"


class World:
    """What is known of the processes.

    Attributes:
        rank, size: which of how many this is.
        joined: whether they met.
        timeout: how many seconds this process waits for others.
        watch: what waits for the others and knows where they are; None before they have met.
        ended: with which code the program has ended, while its process still ends; None before.
        words: what it gave `sys.exit` to print.
    """

    __slots__ = ("ended", "joined", "rank", "size", "timeout", "watch", "words")

    def __init__(self):
        self.ended: int | None = None
        self.words = ""
        self.rank, self.size, self.joined = 0, 1, False
        self.timeout = DEFAULT_TIMEOUT
        self.watch: Watch | None = None


world = World()


class Asked(NamedTuple):
    """What a launcher asks of this process: where to meet, which of how many it is."""

    coordinator: str
    rank: int
    size: int


def started_as_many() -> tuple[str, int] | None:
    """The variable by which a launcher told of more than one process, and of how many."""
    for variable in VARIABLES:
        count = os.environ.get(variable, "")
        if count.isdigit() and int(count) > 1:
            return variable, int(count)
    return None


def asked() -> Asked | None:
    """What a launcher asks of this process; None if none did, or if its parent is the one asked.

    Raises:
        ValueError: one of the launcher's variables is no number, or no address.
    """
    environment = os.environ
    size = _number_of(_SIZES)
    if size is None or size < 2:
        return None
    rank = _number_of(_RANKS)
    if rank is None:
        return None
    if not rank < size:
        raise errors.wrong(
            ValueError, " or ".join(_RANKS), f"below {size}, how many there are", rank
        )
    if environment.get(_JOINED, str(os.getpid())) != str(os.getpid()):
        return None
    address = environment.get(_COORDINATOR)
    if not address and environment.get("MS_ROLE") == "MS_WORKER":
        parts = (environment.get("MS_SCHED_HOST"), environment.get("MS_SCHED_PORT"))
        address = ":".join(part for part in parts if part) if all(parts) else None
    if address and not address.rpartition(":")[2].isdigit():
        raise errors.wrong(ValueError, _COORDINATOR, "host:port", repr(address))
    return Asked(address, rank, size) if address else None


def _number_of(variables: tuple[str, ...]) -> int | None:
    """What the first of some variables says that is set."""
    for variable in variables:
        if text := os.environ.get(variable):
            if not text.isdigit():
                raise errors.wrong(ValueError, variable, "a whole number, at least 0", repr(text))
            return int(text)
    return None


def count() -> int:
    """How many processes there are, or are to be once they have met."""
    wanted = None if world.joined else asked()
    return world.size if wanted is None else wanted.size


def number() -> int:
    """Which of them this is."""
    wanted = None if world.joined else asked()
    return world.rank if wanted is None else wanted.rank


def join() -> None:
    """Meet the other processes, if a launcher asks for it and it has not happened.

    Raises:
        RuntimeError: XLA has begun already, or the others did not come in time.
    """
    if world.joined:
        return
    wanted = asked()
    if wanted is None:
        return
    seconds = timeout_asked()
    os.environ[_JOINED] = str(os.getpid())
    try:
        with _keeping_no_values() if os.environ.get(KEPT) else contextlib.nullcontext():
            jax.distributed.initialize(
                wanted.coordinator,
                wanted.size,
                wanted.rank,
                local_device_ids=_own_device(),
                cluster_detection_method="deactivate",
                initialization_timeout=seconds,
                heartbeat_timeout_seconds=MOST_SILENCE,
                shutdown_timeout_seconds=MOST_PATIENCE,
            )
    except RuntimeError as error:
        text = errors.NOT_JOINED.format(
            rank=wanted.rank, size=wanted.size, address=wanted.coordinator, reason=error
        )
        raise RuntimeError(text) from error
    world.rank, world.size, world.joined, world.timeout = wanted.rank, wanted.size, True, seconds
    _agree_on_checks()
    world.watch = Watch(wanted.rank, client(), seconds)
    _listen_to_signals()


def keep_values(port: int, count: int) -> Any:
    """Keep at this port what so many processes share; the result has a method `shutdown`.

    Raises:
        OSError: something listens at the port.
    """
    check_free(port)
    return _xla.get_distributed_runtime_service(
        f"[::]:{port}",
        count,
        heartbeat_timeout=MOST_SILENCE,
        shutdown_timeout=MOST_PATIENCE,
    )


def check_free(port: int) -> None:
    """Raise if something listens at a port of this machine: XLA would listen there as well.

    Raises:
        OSError: it does.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("", port))


@contextlib.contextmanager
def _keeping_no_values() -> Iterator[None]:
    """Within this JAX's first process does not keep the values, as it does otherwise."""
    keep = _xla.get_distributed_runtime_service
    _xla.get_distributed_runtime_service = lambda *args, **kwargs: None
    try:
        yield
    finally:
        _xla.get_distributed_runtime_service = keep


def _end_with_launcher() -> None:
    """End this process when the launcher that started it has gone."""
    launcher = os.environ.get(LAUNCHER, "")
    if launcher != str(os.getppid()):
        return

    def watch():
        while launcher == str(os.getppid()):
            time.sleep(LOOKS)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="mycel watches its launcher", daemon=True).start()


_end_with_launcher()


_left: list[object] = []


def _end() -> None:
    """Tell the others how this process ends, and wait until they end well, as JAX does; end it now
    if one of them failed, for JAX would wait for that one. It is the last but JAX's own of what is
    done at the end."""
    watch = world.watch
    if watch is None or os.environ.get(_JOINED) != str(os.getpid()):  # a fork is no rank
        return
    error = getattr(sys, "last_value", None)
    code = world.ended if error is None else world.ended or 1
    if error is not None:
        how = f"by {type(error).__name__}: {error!s:.200}"
    elif code is None:
        how = "at the end of its program or by sys.exit"
    else:
        how = f"with exit code {code}" + (world.words and f": {world.words:.200}")
    watch.close(how, well=not code)
    if not code and watch.all_end_well(range(world.size)):
        return
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    if distributed.global_state.service is None:
        watch.leave()
    else:
        # The others end at once when their values are lost: let them save and end first.
        watch.wait_for_end(range(world.size), MOST_FAREWELL)
    if code is not None or not _end_with_own_code():
        os._exit(code or 0)


def _end_with_own_code() -> bool:
    """Let Python end as it does, with the code that nobody but itself knows (`sys.exit` leaves no
    trace), without what waits for others: JAX's own end, and destructors in C++. False where the
    library of C does not tell that code."""
    library: Any = ctypes.CDLL(None) if os.name == "posix" else None
    if not hasattr(library, "on_exit"):
        return False
    state, backends = distributed.global_state, xla_bridge._backends.values()
    for kept in (state.client, state.service, *backends):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    for function in (api.clean_up, dispatch.wait_for_tokens):
        atexit.unregister(function)
    library.on_exit(library._exit, None)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(math.ceil(MOST_FAREWELL))
    return True


def _end_by_signal(number, frame) -> None:
    """The handler of SIGTERM: the program ends as by `sys.exit`, so that it can save. One that ends
    already, since something among processes failed, is left alone. The second signal ends it in any
    case."""
    signal.signal(number, signal.SIG_DFL)
    if world.watch is None or not world.watch.gives_up:
        world.ended = 128 + number
        raise SystemExit(world.ended)


def _listen_to_signals() -> None:
    mine = threading.current_thread() is threading.main_thread()
    if mine and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end_by_signal)


def _be_no_rank() -> None:
    """In a process that is forked, as by `multiprocessing`: SIGTERM ends it at once, since a pool
    ends its workers by it, which cannot stand an exception; and JAX leaves nobody at its end."""
    if signal.getsignal(signal.SIGTERM) is _end_by_signal:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    state = distributed.global_state
    # What meets the others is not taken apart either: its threads are not in a fork.
    _left.extend((state.client, state.service))
    state.client = state.service = None


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_be_no_rank)


def is_own_device(index: int) -> bool:
    """Whether a number is that of the device that a launcher meant for this process, which then
    sees no other."""
    return world.joined and os.environ.get("DEVICE_ID") == str(index)


def _own_device() -> int | None:
    """The number of the device that a launcher meant for this process; None leaves it open."""
    number = os.environ.get("DEVICE_ID", "")
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")  # then the rest are not seen anyway
    return int(number) if number.isdigit() and hidden is None else None


def timeout_asked() -> int:
    """How many seconds to wait for others, as MYCEL_TIMEOUT says.

    Raises:
        ValueError: it is no whole number above 0.
    """
    text = os.environ.get(_TIMEOUT, "")
    if not text:
        return DEFAULT_TIMEOUT
    if not text.isdigit() or not int(text):
        raise errors.wrong(ValueError, _TIMEOUT, "a whole number of seconds above 0", repr(text))
    return int(text)


def checks() -> bool:
    """Whether processes look that they call the same before they exchange values: XLA's exchange
    does not; it adds the bits of numbers to those of integers, or ends the process.

    Raises:
        ValueError: MYCEL_CHECK_COLLECTIVES is neither 0 nor 1.
    """
    text = os.environ.get(_CHECKS) or "1"
    if text not in ("0", "1"):
        raise errors.wrong(ValueError, _CHECKS, "1 (the default) or 0", repr(text))
    return text == "1"


def _agree_on_checks() -> None:
    """Raise if another process looks and this one does not: what they exchange would be mixed up.

    Raises:
        RuntimeError: MYCEL_CHECK_COLLECTIVES is another in the first process.
    """
    own, key = str(int(checks())), "mycel/checks"
    if world.rank == 0:
        client().key_value_set(key, own)
        return
    first = client().blocking_key_value_get(key, world.timeout * 1000)
    if first != own:
        text = errors.CHECKED_OTHERWISE.format(rank=world.rank, own=own, first=first)
        raise RuntimeError(text)


def check_joined() -> None:
    """Raise if a launcher started several processes that cannot meet.

    Raises:
        RuntimeError: it told their number, but not where they meet; or a process that one of them
            started wants to take part.
    """
    if world.joined:
        return
    many = started_as_many()
    if many is not None:
        variable, count = many
        raise RuntimeError(
            errors.MANY_PROCESSES.format(
                count=count, variable=variable, version=__version__, place=user_place()
            )
        )


def client() -> Any:
    """What the processes exchange small things through: values by key, barriers."""
    return distributed.global_state.client


def mesh_of(ranks: tuple[int, ...]) -> jax.sharding.Mesh:
    """The mesh of one device of each of these processes, in this order."""
    device = getattr(jax.config, "jax_default_device", None)
    return _mesh_of(ranks, getattr(device, "platform", device))


@functools.cache
def _mesh_of(ranks: tuple[int, ...], platform: str | None) -> jax.sharding.Mesh:
    first: dict[int, Any] = {}
    for device in jax.devices(platform):
        first.setdefault(device.process_index, device)
    return jax.sharding.Mesh(np.array([first[rank] for rank in ranks]), (AXIS,))
