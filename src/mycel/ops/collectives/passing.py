# SPDX-License-Identifier: Apache-2.0
"""`Send` and `Receive`: one operator that two processes call, the one with values, the other for
them. In the reverse the gradient goes the other way, at once when either comes to it: the other one
waits for it, whether or not this one needs it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.processes import AXIS, world
from mycel.kernel.define.collective import Collective
from mycel.kernel.differentiate.reverse import ZEROS
from mycel.kernel.record.dispatch import apply1
from mycel.kernel.record.stream import record
from mycel.kernel.spell import Primitive
from mycel.ops.array.creation import zeros
from mycel.ops.collectives.groups import (
    HCCL_WORLD_COMM_GROUP,
    check_group,
    check_rank,
    nobody,
    ranks_of_own,
)
from mycel.ops.collectives.primitives import check_tensor


class _Passing(Collective):
    """Gives the second of two processes what the first has, and the first one zeros."""

    __slots__ = ("_back", "_forth", "_tag")

    eager = begins = True

    def __init__(self, tag: int, ranks: tuple[int, int], forth: bool):
        way = [(0, 1)] if forth else [(1, 0)]
        name = f"Send to Receive(sr_tag={tag})" if forth else f"Send to Receive(sr_tag={tag})'"
        super().__init__(name, lambda x: lax.ppermute(x, AXIS, way), ranks)
        self._tag, self._forth = tag, forth
        self.rule = self._reverse

    def _reverse(self, inputs, outputs, cotangents, mask):
        """The gradient by what was sent is what comes back from the other process."""
        del inputs
        if not outputs[0].aval.inexact:
            return [None]
        cotangent: Any = cotangents[0]
        if cotangent is None:
            cotangent = record(ZEROS, (outputs[0],))
        come = record(_op(self._tag, self.ranks, not self._forth), (cotangent,))
        return [come if mask[0] else None]


@cache
def _op(tag: int, ranks: tuple[int, int], forth: bool) -> _Passing:
    return _Passing(tag, ranks, forth)


class _End(Primitive):
    """What both ends share."""

    def __init__(self, sr_tag, rank, group, what: str):
        super().__init__(type(self).__name__)
        if isinstance(sr_tag, bool) or not isinstance(sr_tag, int):
            raise wrong(TypeError, f"{self.name}: sr_tag", "an integer", repr(sr_tag))
        self.sr_tag, self.group = sr_tag, check_group(group)
        ranks = ranks_of_own(group, self.name)
        if len(ranks) == 1:
            raise nobody(self.name)
        self.rank = check_rank(rank, f"{self.name}: {what}", len(ranks))
        self._other = ranks[self.rank]
        if self._other == world.rank:
            raise wrong(ValueError, f"{self.name}: {what}", "the number of another process", rank)


class Send(_End):
    """Send a Tensor to another process of a group, which calls `Receive` with the same tag.

    The result is zeros of the shape: what was sent is in the other process. In a derivative the
    gradient by the Tensor is the one by what the other process received, which has to differentiate
    as well. It waits for the other process; two that send to each other first wait in vain.

    Args:
        sr_tag: a number that both give.
        dest_rank: the number within the group of the process that receives.
        group: the name of a group of processes.
        group_back: accepted; gradients come through the same group.

    Raises:
        TypeError: the tag is no integer, or the input no Tensor.
        ValueError: `dest_rank` is this process or not in the group.
        RuntimeError: there is no other process, or it ended, or called something else.

    Source: MindSpore's `mindspore.ops.Send`.
    """

    def __init__(
        self, sr_tag, dest_rank, group=HCCL_WORLD_COMM_GROUP, group_back=HCCL_WORLD_COMM_GROUP
    ):
        super().__init__(sr_tag, dest_rank, group, "dest_rank")
        check_group(group_back)
        self.dest_rank = dest_rank

    def __call__(self, input_x):
        x = check_tensor(input_x, "Send: input_x")
        return apply1(_op(self.sr_tag, (world.rank, self._other), True), x)


class Receive(_End):
    """Receive the Tensor that another process of a group sends by `Send` with the same tag.

    Args:
        sr_tag: a number that both give.
        src_rank: the number within the group of the process that sends.
        shape, dtype: of what is received.
        group: the name of a group of processes.
        group_back: accepted; gradients go through the same group.

    Raises:
        TypeError: the tag is no integer.
        ValueError: `src_rank` is this process or not in the group.
        RuntimeError: there is no other process, or it ended, or sent another shape or type.

    Source: MindSpore's `mindspore.ops.Receive`.
    """

    def __init__(
        self,
        sr_tag,
        src_rank,
        shape,
        dtype,
        group=HCCL_WORLD_COMM_GROUP,
        group_back=HCCL_WORLD_COMM_GROUP,
    ):
        super().__init__(sr_tag, src_rank, group, "src_rank")
        check_group(group_back)
        self.src_rank, self.shape, self.dtype = src_rank, tuple(shape), dtype

    def __call__(self, x=None):
        del x  # MindSpore's has an input too, of which nothing is used
        like = zeros(self.shape, self.dtype)
        return apply1(_op(self.sr_tag, (self._other, world.rank), True), like)


class BatchISendIRecv(Primitive):
    """Send Tensors to other processes and receive some from others, without waiting in between.

    What goes from one process to another arrives in the order of both their lists. It has a
    derivative: gradients come back the other way, so all of these processes have to differentiate.

    Args:
        op_types: "isend" or "irecv" for each.
        remote_ranks: the number within the group of the other process of each.
        receive_shapes, receive_dtypes: shape and element type of each that is received.
        group: the name of a group of processes.

    Raises:
        TypeError: no lists, or no Tensors to send.
        ValueError: lists of other lengths, another word, or a process that is not there.
        RuntimeError: there is no other process, or it ended, or called something else.

    Source: MindSpore's `mindspore.ops.BatchISendIRecv`.
    """

    def __init__(
        self,
        op_types,
        remote_ranks,
        receive_shapes=None,
        receive_dtypes=None,
        group=HCCL_WORLD_COMM_GROUP,
    ):
        super().__init__("BatchISendIRecv")
        self.op_types, self.remote_ranks = op_types, remote_ranks
        self.receive_shapes = () if receive_shapes is None else receive_shapes
        self.receive_dtypes = () if receive_dtypes is None else receive_dtypes
        self.group = check_group(group)
        received = sum(kind == "irecv" for kind in self._list("op_types"))
        for what, length in (
            ("remote_ranks", len(op_types)),
            ("receive_shapes", received),
            ("receive_dtypes", received),
        ):
            if len(self._list(what)) != length:
                raise wrong(ValueError, f"{self.name}: {what}", f"of length {length}", "another")
        for kind in op_types:
            if kind not in ("isend", "irecv"):
                raise wrong(ValueError, f"{self.name}: op_types", "'isend' or 'irecv'", repr(kind))
        ranks = ranks_of_own(group, self.name)
        if len(ranks) == 1:
            raise nobody(self.name)
        for rank in remote_ranks:
            if ranks[check_rank(rank, f"{self.name}: remote_ranks", len(ranks))] == world.rank:
                expected = "the numbers of other processes"
                raise wrong(ValueError, f"{self.name}: remote_ranks", expected, rank)

    def _list(self, what: str):
        given = getattr(self, what)
        if not isinstance(given, (list, tuple)):
            raise wrong(TypeError, f"{self.name}: {what}", "a list", type(given).__name__)
        return given

    def __call__(self, input_x):
        sends = [index for index, kind in enumerate(self.op_types) if kind == "isend"]
        given = [] if input_x is None else [x for x in input_x if x is not None]
        if len(given) != len(sends):
            expected = f"{len(sends)} Tensors, as 'isend' in op_types"
            raise wrong(RuntimeError, f"{self.name}: input_x", expected, len(given))
        arrays = dict(zip(sends, given, strict=True))
        receives = [index for index, kind in enumerate(self.op_types) if kind == "irecv"]
        for index, shape, dtype in zip(
            receives, self.receive_shapes, self.receive_dtypes, strict=True
        ):
            arrays[index] = zeros(tuple(shape), dtype)
        results = {}
        # In one order for all processes, so that none waits for one that waits for it.
        for pair, index in sorted((self._pair(index), index) for index in arrays):
            x = check_tensor(arrays[index], f"{self.name}: input_x")
            come: Any = apply1(_op(0, pair[2:], True), x)
            results[index] = come if index in receives else come.sum().astype(x.dtype)
        return tuple(results[index] for index in range(len(self.op_types)))

    def _pair(self, index: int) -> tuple[int, int, int, int]:
        """The lower and the higher of both processes; then the one that sends, and the other."""
        own, other = world.rank, ranks_of_own(self.group, self.name)[self.remote_ranks[index]]
        src, dst = (own, other) if self.op_types[index] == "isend" else (other, own)
        return min(own, other), max(own, other), src, dst


__all__ = ["BatchISendIRecv", "Receive", "Send"]
