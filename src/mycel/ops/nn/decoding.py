# SPDX-License-Identifier: Apache-2.0
"""What decoders of sequences need: distances of sequences, and tokens that would repeat."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op


@op(
    "NoRepeatNGram(ngram_size=(size, 1))(state_seq=tokens, log_probs=scores)",
    indices=lambda tokens, scores, *, size: [Bounds(0, 0, scores.shape[-1], what="token")],
)
def no_repeat_ngram(tokens, scores, *, size):
    """Scores of the next token, the least possible for one that would repeat an n-gram.

    Args:
        tokens: [batch, beams, length], integers from 0: what was written so far.
        scores: [batch, beams, vocabulary], the scores of the next token.
        size: n, the number of tokens of an n-gram, from 1.

    Raises:
        ValueError: an n-gram is longer than the tokens and the next one.

    Example:
        >>> print(ops.NoRepeatNGram(2)(Tensor([[[1, 2, 1]]]), ops.zeros((1, 1, 4))))
        [[[ 0.0000000e+00  0.0000000e+00 -3.4028235e+38  0.0000000e+00]]]
    """
    length = tokens.shape[-1]
    if not 1 <= size <= length + 1:
        raise ValueError(f"ngram_size must be from 1 to {length + 1}, not {size}.")
    tokens = tokens.astype(np.int64)
    begins = np.arange(length - size + 1)
    windows = tokens[..., begins[:, None] + np.arange(size - 1)]
    again = (windows == tokens[..., None, length - size + 1 :]).all(-1)
    followers = tokens[..., size - 1 :]
    repeats = (followers[..., None] == np.arange(scores.shape[-1])) & again[..., None]
    return jnp.where(repeats.any(-2), jnp.finfo(scores.dtype).min, scores)


@composite(
    "EditDistance(normalize=True)(hypothesis_indices, hypothesis_values, hypothesis_shape,"
    " truth_indices, truth_values, truth_shape)"
)
def edit_distance(
    hypothesis_indices,
    hypothesis_values,
    hypothesis_shape,
    truth_indices,
    truth_values,
    truth_shape,
    normalize=True,
) -> Tensor:
    """How many insertions, deletions and replacements make sequences of tokens equal; Float32.

    All Tensors are read: what is compared has lengths of its own in each row.

    Args:
        hypothesis_indices: [N, R], the places of tokens in a sparse Tensor; the last number of a
            place counts the tokens of a sequence.
        hypothesis_values: [N], the tokens.
        hypothesis_shape: [R], the shape of the sparse Tensor.
        truth_indices, truth_values, truth_shape: the same of the right sequences.
        normalize: whether the distance is divided by the length of the right sequence; True by
            default. That to an empty one is infinite, or 0 if both are empty.

    Raises:
        ValueError: both have places of different lengths.

    Example:
        >>> places, shape = Tensor([[0, 0], [0, 1]]), Tensor([1, 2])
        >>> given = places, Tensor([1, 2]), shape, places, Tensor([1, 3]), shape
        >>> print(ops.EditDistance()(*given))
        [0.5]
    """
    sides = [
        [part.asnumpy() for part in side]
        for side in (
            (hypothesis_indices, hypothesis_values, hypothesis_shape),
            (truth_indices, truth_values, truth_shape),
        )
    ]
    if len(sides[0][2]) != len(sides[1][2]):
        expected, actual = f"{len(sides[0][2])} numbers", len(sides[1][2])
        raise wrong(ValueError, "EditDistance: truth_shape", f"of {expected}", actual)
    ours, right = (_sequences(*side[:2]) for side in sides)
    shape = tuple(map(max, zip(*(side[2][:-1].tolist() for side in sides), strict=True)))
    found = np.zeros(shape, np.float32)
    for place in {*ours, *right}:
        tokens, wanted = ours.get(place, []), right.get(place, [])
        distance = _levenshtein(tokens, wanted)
        if normalize and wanted:
            distance /= len(wanted)
        elif normalize:
            distance = np.inf if distance else 0
        found[place] = distance
    return Tensor(found)


def _sequences(places, values) -> dict[tuple, list]:
    """The tokens of each sequence, by its place."""
    found: dict[tuple, list] = {}
    for place, value in zip(places.tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(place[:-1]), []).append(value)
    return found


def _levenshtein(first: list, second: list) -> float:
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return float(row[-1])
