# SPDX-License-Identifier: Apache-2.0
"""Operators among processes, and the groups of processes that they run in."""

from mycel.ops.collectives.passing import BatchISendIRecv, Receive, Send
from mycel.ops.collectives.primitives import (
    AllGather,
    AllReduce,
    AlltoAll,
    Barrier,
    Broadcast,
    CollectiveGather,
    CollectiveScatter,
    Reduce,
    ReduceOp,
    ReduceScatter,
)
from mycel.ops.collectives.uneven_primitives import (
    AllGatherV,
    AlltoAllV,
    AlltoAllVC,
    NeighborExchange,
    NeighborExchangeV2,
    ReduceScatterV,
)
