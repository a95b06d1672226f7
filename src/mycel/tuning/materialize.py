# SPDX-License-Identifier: Apache-2.0
"""Which arrays of a program are written down once, in place of being computed wherever they are
read.

XLA on CPU puts elementwise operators into every loop that reads them. Where a sum of residuals is
read by convolutions, by their derivatives and by the next sum, each computes it anew, with all sums
before it, and often along the wrong dimension (measured: a tenth of a ResNet-50 step).
"""

from __future__ import annotations

import collections
from collections.abc import Container

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.backend import on_cpu
from mycel.kernel.base.division import division
from mycel.tuning.chains import ends_of_chains

# Smaller arrays are computed as fast as they are read.
LARGE = 1 << 18
# A record of fewer operators is compiled fast as it is.
DEEP = 32


def to_materialize(nodes) -> Container[int]:
    """The slots of what is large and read through windows and at least once more (reverses read
    twice), and of what several loops would compute anew from a long chain (see chains).

    Args:
        nodes: those of `execute.compile.decode`.
    """
    # Where arrays are divided, the element that is looked at would have to be sent to all.
    if not on_cpu() or division.grid is not None:
        return ()
    reads: collections.Counter[int] = collections.Counter()
    by_windows: set[int] = set()
    for node in nodes:
        times = node.signature.op.reads
        slots = {slot for slot in node.inputs if slot >= 0}
        reads.update(dict.fromkeys(slots, max(1, times)))
        if times:
            by_windows |= slots
    sizes = {
        slot: aval.nbytes // aval.numpy.itemsize
        for node in nodes
        for slot, aval in enumerate(node.signature.outputs, node.first)
    }
    found = {slot for slot in by_windows if reads[slot] > 1 and sizes[slot] >= LARGE}
    if len(nodes) >= DEEP:
        found.update(ends_of_chains(nodes, LARGE))
    return found


def materialize(array):
    """The same array, for XLA the result of a loop: nothing of what made it goes through it.

    The loop never runs, which XLA cannot know: no number is beyond infinity. An optimisation
    barrier would say it better; XLA on CPU takes it away before it fuses.
    """
    is_open = not all(isinstance(length, int) for length in array.shape)
    if is_open or not array.size or not jnp.issubdtype(array.dtype, jnp.floating):
        return array
    times = (array[(0,) * array.ndim] > np.inf).astype(np.int32)

    def body(state):
        return state[0] + 1, -state[1]

    return lax.while_loop(lambda state: state[0] < times, body, (np.int32(0), array))[1]
