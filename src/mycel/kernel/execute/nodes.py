# SPDX-License-Identifier: Apache-2.0
"""The nodes of a record, decoded from its integers."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from mycel.kernel.define.op import Signature, signatures


class Node(NamedTuple):
    """One decoded node: its signature, the slots of its inputs, the slot of its first output."""

    signature: Signature
    inputs: tuple[int, ...]
    first: int


def decode(key) -> list[Node]:
    """The nodes of a record, in order. Callers share the list, and leave it as it is."""
    return _decoded(tuple(key))


# A record whose lengths are new is asked for several times while it runs.
@lru_cache(4)
def _decoded(key: tuple[int, ...]) -> list[Node]:
    nodes, position, first = [], 0, 0
    while position < len(key):
        signature = signatures[key[position]]
        end = position + 1 + signature.arity
        nodes.append(Node(signature, tuple(key[position + 1 : end]), first))
        first += len(signature.outputs)
        position = end
    return nodes
