# SPDX-License-Identifier: Apache-2.0
"""What one process sends to another: values by key, which the other takes when it asks.

Both count what goes from one to the other, by group and tag, so the first that is sent is the first
that is received. Sending never waits. It goes through the process that keeps the values, which is
meant for what is small beside the work.
"""

from __future__ import annotations

import collections
import json
import pickle

import numpy as np

from mycel.kernel.base import processes
from mycel.kernel.base.errors import BECAUSE_OF_ANOTHER, TogetherError, wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.base.processes import world
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.base.watch import SLICE
from mycel.kernel.record.tensor import Tensor

_LATE = (
    "Nothing came from process {src} to process {rank} at {place}: {reason}. "
    + BECAUSE_OF_ANOTHER
    + ", or may not send anything.{others}"
)
_OBJECTS = "objects"  # in the place of a tag
# By the other process, group and tag: how many were sent and asked for.
_sent: collections.Counter = collections.Counter()
_asked: collections.Counter = collections.Counter()


def post(tensor: Tensor, dst: int, group: str, tag: int = 0) -> None:
    """Send a Tensor; waits for its values, but for nobody."""
    array = np.ascontiguousarray(tensor.asnumpy())
    head = json.dumps([array.dtype.name, list(tensor.shape)]).encode()
    number = _sent[dst, group, tag]
    _sent[dst, group, tag] += 1
    key = _key(world.rank, dst, group, tag, number)
    processes.client().key_value_set_bytes(key, head + b"\n" + array.tobytes())


def claim(src: int, group: str, tag: int | str = 0) -> int:
    """Which of the messages of a process is to be received."""
    number = _asked[src, group, tag]
    _asked[src, group, tag] += 1
    return number


def collect(like: Tensor, src: int, group: str, tag: int, number: int) -> Tensor:
    """What another process sent.

    Raises:
        RuntimeError: nothing came in time.
        ValueError: another shape or type came.
    """
    bits = _take(_key(src, world.rank, group, tag, number), src, "recv")
    head, _, content = bits.partition(b"\n")
    name, shape = json.loads(head)
    wanted = like.asnumpy().dtype
    if tuple(shape) != like.shape or name != wanted.name:
        expected = f"{name}{shape}, as what process {src} sent"
        raise wrong(ValueError, "recv: tensor", expected, f"{like.dtype}{list(like.shape)}")
    return Tensor(np.frombuffer(content, wanted).reshape(shape).copy())


def post_object(thing, dst: int, group: str) -> None:
    """Send an object, by pickling; waits for nobody."""
    number = _sent[dst, group, _OBJECTS]
    _sent[dst, group, _OBJECTS] += 1
    key = _key(world.rank, dst, group, _OBJECTS, number)
    processes.client().key_value_set_bytes(key, pickle.dumps(thing))


def collect_object(src: int, group: str):
    """The next object that another process sent.

    Raises:
        RuntimeError: nothing came in time.
    """
    number = claim(src, group, _OBJECTS)
    return pickle.loads(_take(_key(src, world.rank, group, _OBJECTS, number), src, "an object"))


def _key(src: int, dst: int, group: str, tag: int | str, number: int) -> str:
    return f"mycel/{group}/{src}/{dst}/{tag}/{number}"


def _take(key: str, src: int, what: str, keeps: bool = False) -> bytes:
    """What process `src` gives under a key, once it is there.

    Args:
        what: what asks for it, for messages.
        keeps: whether others read it, too.

    Raises:
        RuntimeError: it did not come in time, or the processes wait for each other.
    """
    client, place, watch = processes.client(), user_place(), world.watch
    assert watch is not None

    def poll():
        try:
            return client.blocking_key_value_get_bytes(key, int(SLICE * 1000))
        except Exception as error:
            if "DEADLINE_EXCEEDED" not in str(error):
                raise
            return None

    try:
        bits = watch.wait_for((src,), f"{what} from process {src} at {place}", poll)
    except Exception as error:
        if came_from_outside(error):
            raise
        text = _LATE.format(
            src=src, rank=world.rank, place=place, reason=error, others=watch.describe((src,))
        )
        raise TogetherError(text) from error
    if not keeps:
        client.key_value_delete(key)
    return bits


def share(thing, ranks: tuple[int, ...], what: str) -> list:
    """The objects of all these processes, in their order; each gives one. By pickling.

    Args:
        what: what tells this exchange from others among the same processes, such as a group.
    """
    if len(ranks) == 1:
        return [pickle.loads(pickle.dumps(thing))]
    name = (ranks, what)
    number = _sent[name]
    _sent[name] += 1
    root = f"mycel/objects/{what}/{number}"
    client = processes.client()
    client.key_value_set_bytes(f"{root}/{world.rank}", pickle.dumps(thing))
    found = []
    for rank in ranks:
        bits = _take(f"{root}/{rank}", rank, what, keeps=True)
        found.append(pickle.loads(bits))
    if number:  # everybody has read what came before, or would not be here
        client.key_value_delete(f"mycel/objects/{what}/{number - 1}/{world.rank}")
    return found
