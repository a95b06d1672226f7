# SPDX-License-Identifier: Apache-2.0
"""Connectionist temporal classification: the likelihood of labels whose places are not known."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base import errors
from mycel.kernel.define.bounds import LEAST, MOST, Bounds, integers
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op

# Stands for the logarithm of 0: finite, so that differences and derivatives are numbers.
NOTHING = -1e30
IMPOSSIBLE = -1e29


def _states(labels, blank):
    """Blanks in front of, between and behind the labels: [B, 2 L + 1]."""
    states = jnp.full((labels.shape[0], 2 * labels.shape[1] + 1), blank, labels.dtype)
    return states.at[:, 1::2].set(labels)


def _shifted(alpha, count):
    return jnp.pad(alpha, ((0, 0), (count, 0)), constant_values=NOTHING)[:, : alpha.shape[1]]


def forward_table(logs, labels, lengths, steps, blank, repeats_merge=True):
    """The logarithms of the likelihoods of all beginnings.

    Args:
        logs: logarithms of probabilities, [T, B, C].
        labels: [B, L], as many as `lengths` count.
        steps: how many of T count for each sequence.
        repeats_merge: a label may last for several steps, and needs a blank before it repeats.

    Returns:
        [T, B, 2 L + 1], and the likelihood of all labels in all steps, [B]: 1 without any of both.
    """
    if not logs.shape[0]:
        count = 2 * labels.shape[1] + 1
        return jnp.zeros((0, labels.shape[0], count), logs.dtype), logs.sum((0, 2))
    states = _states(labels, blank)
    number = np.arange(states.shape[1])
    there = number < 2 * lengths[:, None] + 1
    label = number % 2 == 1
    before = jnp.pad(states, ((0, 0), (2, 0)), constant_values=-1)[:, : states.shape[1]]
    skips = label & (number >= 2) & (states != before if repeats_merge else True)
    stays = there if repeats_merge else there & ~label
    emitted = jnp.take_along_axis(logs, states[None].astype(np.int32), 2, mode="clip")
    first = jnp.where(there & (number < 2), emitted[0], NOTHING)

    def step(alpha, row):
        ways = (
            jnp.where(stays, alpha, NOTHING),
            _shifted(alpha, 1),
            jnp.where(skips, _shifted(alpha, 2), NOTHING),
        )
        following = jax.nn.logsumexp(jnp.stack(ways), 0) + row
        following = jnp.maximum(jnp.where(there, following, NOTHING), NOTHING)
        return following, following

    _, rest = lax.scan(step, first, emitted[1:])
    table = jnp.concatenate([first[None], rest])
    last = jnp.take_along_axis(table, (jnp.maximum(steps, 1) - 1)[None, :, None], 0)[0]
    ends = jnp.stack([2 * lengths, jnp.maximum(2 * lengths - 1, 0)], 1)
    last_two = jnp.take_along_axis(last, ends, 1)
    # Without labels both ends are one.
    last_two = last_two.at[:, 1].set(jnp.where(lengths > 0, last_two[:, 1], NOTHING))
    return table, jnp.where(steps > 0, jax.nn.logsumexp(last_two, 1), 0)


def _counted(count, steps):
    return np.arange(count)[:, None] < steps


# -- dense labels ------------------------------------------------------------------------------


def _check(logs, labels, steps, lengths, blank):
    if len(logs) != 3 or len(labels) not in (1, 2):
        raise ValueError(f"ctc_loss needs [T, N, C] and [N, S], not {logs}, {labels}.")
    rows = labels[0] if len(labels) == 2 else logs[1]
    if {steps, lengths, (rows,)} != {logs[1:2]}:
        raise ValueError(
            f"{logs[1]} sequences have as many lengths and rows of labels, not {steps}, "
            f"{lengths}, {labels}."
        )
    if not 0 <= blank < logs[2]:
        raise ValueError(f"The blank must be one of {logs[2]} classes, not {blank}.")


def _check_kind(logs, operator):
    if not jnp.issubdtype(logs.dtype, np.floating):
        raise TypeError(f"{operator} needs real numbers, not {logs.dtype}.")


def _lengths_within(labels, steps, lengths, *, logs, blank):
    """No length is more than there is; how many labels that is shows only later."""
    return [
        integers(0, what="label", operator="ctc_loss"),
        Bounds(1, 0, logs[0] + 1, what="input length", operator="ctc_loss"),
        Bounds(2, 0, labels.shape[-1] + 1, what="target length", operator="ctc_loss"),
    ]


@op(indices=_lengths_within)
def ctc_counted(labels, steps, lengths, *, logs, blank):
    """The labels in rows, with 0 for those that do not count, and what is wrong with the lengths.

    Args:
        labels: as `ctc_loss` takes them.
        logs: the shape of the logarithms.

    Returns:
        Labels [N, S]; by how many the steps are more than the labels, [N]; and the sum of the
        lengths.
    """
    _check(logs, labels.shape, steps.shape, lengths.shape, blank)
    lengths, number = lengths.astype(np.int64), np.arange(labels.shape[-1])
    labels = labels.astype(np.int64)
    if labels.ndim == 1:
        # One sequence after another.
        starts = jnp.cumsum(lengths) - lengths
        labels = jnp.take(labels, starts[:, None] + number, mode="clip")
    labels = jnp.where(number < lengths[:, None], labels, 0)
    return labels, steps.astype(np.int64) - lengths, lengths.sum()


def _labels_within(logs, labels, steps, lengths, spare, total, *, given, **_):
    count, _, classes = logs.shape
    bounds = functools.partial(Bounds, operator="ctc_loss")
    all_labels = (given[0], given[0] + 1) if len(given) == 1 else (LEAST, MOST)
    return [
        bounds(4, 0, count + 1, what="number of spare steps",
               where=" (input length less target length)"),
        bounds(5, *all_labels, what="sum of the target lengths"),
        bounds(1, 0, classes, what="label"),
    ]  # fmt: skip


@op(indices=_labels_within)
def ctc_of_counted(
    logs, labels, steps, lengths, spare, total, *, given, blank, reduction, zero_infinity
):
    """What `ctc_loss` returns, of what `ctc_counted` does; `given` is the shape of its labels."""
    _check_kind(logs, "ctc_loss")
    wide = logs.astype(np.promote_types(logs.dtype, np.float32))
    lengths, steps = lengths.astype(np.int64), steps.astype(np.int64)
    table, likelihood = forward_table(wide, labels, lengths, steps, blank)
    counted = _counted(logs.shape[0], steps)
    # The part of log_softmax in the derivative: its value is 0.
    share = jnp.where(counted, jax.nn.logsumexp(wide, 2), 0).sum(0)
    possible = likelihood > IMPOSSIBLE
    losses = jnp.where(possible, -likelihood + share - lax.stop_gradient(share), jnp.inf)
    if zero_infinity:
        losses = jnp.where(possible, losses, 0)
    else:
        losses = losses + _without_slope(wide, (counted & ~possible)[:, :, None])
    losses = _reduced(losses, lengths, reduction).astype(logs.dtype)
    table = jnp.where(counted[:, :, None] & (table > IMPOSSIBLE), table, -jnp.inf)
    return losses, lax.stop_gradient(table.transpose(1, 0, 2)).astype(logs.dtype)


@composite("CTCLossV2(blank=0, reduction='none', zero_infinity=False)"
    "(log_probs=logs, targets=labels, input_lengths=steps, target_lengths=lengths)",
    "ops.ctc_loss(log_probs=logs, targets=labels, input_lengths=steps, target_lengths=lengths,"
    " blank=0, reduction='mean', zero_infinity=False)",
)  # fmt: skip
def ctc_loss(
    logs, labels, steps, lengths, blank=0, reduction="none", zero_infinity=False
) -> tuple[Tensor, Tensor]:
    """The negative log-likelihood of labels, summed over all places at which they can stand.

    Args:
        logs: logarithms of probabilities (of `log_softmax`), [T, N, C].
        labels: class numbers, [N, S]; or a vector of all that count, one after another.
        steps: how many of T count for each sequence, [N].
        lengths: how many of S do.
        blank: the class that stands for no label.
        reduction: 'mean' divides each loss by its number of labels first.
        zero_infinity: labels that cannot stand in so few steps count 0 instead of infinity.

    Returns:
        The loss, and the logarithms of the likelihoods of all beginnings, [N, T, 2 S + 1]. The
        derivative is the one in front of `log_softmax`, as if it were part of the loss.

    Raises:
        ValueError: the shapes do not fit together, or the blank is not a class.
        OutOfRangeError: a label that counts is not a class; a length is more than there is, or
            there are more labels than steps.
        TypeError: labels or lengths are not integers, or the logarithms are.

    Example:
        >>> logs = ops.log_softmax(ops.zeros((1, 1, 2), mycel.float32))
        >>> one = Tensor([1])
        >>> print(ops.ctc_loss(logs, Tensor([[1]]), one, one, reduction="sum")[0])
        0.6931472
    """
    rows, *checks = ctc_counted(labels, steps, lengths, logs=np.shape(logs), blank=blank)
    settings = {"blank": blank, "reduction": reduction, "zero_infinity": zero_infinity}
    return ctc_of_counted(logs, rows, steps, lengths, *checks, given=np.shape(labels), **settings)


@jax.custom_jvp
def _without_slope(logs, lost):
    """0 for each sequence, whose derivative by what is lost is NaN.

    An infinite loss has no derivative; with 0 training would go on as if there were no such loss.
    """
    return jnp.zeros(logs.shape[1], logs.dtype)


_without_slope.defjvps(
    lambda t, y, logs, lost: jnp.sum(t * jnp.where(lost, jnp.nan, 0).astype(t.dtype), (0, 2)), None
)


def _reduced(losses, lengths, reduction):
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction != "mean":
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none', not {reduction!r}.")
    return (losses / jnp.maximum(lengths, 1).astype(losses.dtype)).mean()


# -- sparse labels -----------------------------------------------------------------------------


def _gathered(places, values, count, blank):
    """Labels in rows [B, all], as they follow each other."""
    rows = places[:, 0]
    mine = rows[:, None] == np.arange(count)
    columns = jnp.sum(jnp.where(mine, jnp.cumsum(mine, 0) - 1, 0), 1)
    labels = jnp.full((count, values.shape[0]), blank, np.int64)
    # What is not a label ends the labels, as the blank does.
    values = jnp.where((values >= 0) & (values < blank), values, blank)
    return labels.at[rows, columns].set(values, mode="drop")


def _without_repeats(labels, lengths):
    """Labels that follow an equal one are left out."""
    number = np.arange(labels.shape[1])
    new = jnp.pad(labels[:, 1:] != labels[:, :-1], ((0, 0), (1, 0)), constant_values=True)
    new &= number < lengths[:, None]
    order = jnp.argsort(~new, 1, stable=True)
    return jnp.take_along_axis(labels, order, 1), new.sum(1)


_bounds = functools.partial(Bounds, operator="CTCLoss")


def _places_within(places, values, steps, *, logits, collapse):
    return [
        _bounds(0, (0, LEAST), (logits[1], MOST), what="sequence number"),
        integers(1, what="label", operator="CTCLoss"),
        _bounds(2, 1, logits[0] + 1, what="sequence length"),
    ]


@op(indices=_places_within)
def ctc_gathered(places, values, steps, *, logits, collapse):
    """The labels in rows, and what is wrong with them.

    Args:
        places, values, steps, collapse: as `ctc_loss_of_logits` takes them.
        logits: the shape of those.

    Returns:
        Labels [N, all], and how many stand before a blank, [N]; the label of least number behind a
        blank, or the blank, [N]; and by how many the steps are more than the labels, [N].
    """
    if len(logits) != 3 or places.shape != (values.size, 2):
        raise ValueError(
            f"CTCLoss needs logits [T, N, C], and a place for each label, not {logits}, "
            f"{places.shape}, {values.shape}."
        )
    if steps.shape != logits[1:2]:
        raise ValueError(f"There is a length for each of {logits[1]}, not {steps.shape}.")
    blank = logits[2] - 1
    places, values = places.astype(np.int64), values.astype(np.int64)
    labels = _gathered(places, values, logits[1], blank)
    in_front = jnp.cumprod(labels != blank, 1)
    behind = jnp.where(in_front, blank, labels).min(1, initial=blank)
    lengths = in_front.sum(1)
    if collapse:
        labels, lengths = _without_repeats(labels, lengths)
    return labels, lengths, behind, steps.astype(np.int64) - lengths


def _gathered_within(logits, labels, lengths, steps, behind, spare, *, merge, ignore_longer):
    count, _, classes = logits.shape
    there = _bounds(
        4,
        classes - 1,
        classes,
        what="label",
        where=" behind a blank, which ends the labels of its sequence,",
    )
    fits = _bounds(5, LEAST if ignore_longer else 0, count + 1, what="number of spare steps",
                   where=" (sequence length less number of labels)")  # fmt: skip
    return [there, fits]


@op(indices=_gathered_within)
def ctc_of_gathered(logits, labels, lengths, steps, behind, spare, *, merge, ignore_longer):
    """What `ctc_loss_of_logits` returns, of what `ctc_gathered` does."""
    _check_kind(logits, "CTCLoss")
    count, _, classes = logits.shape
    steps, fits = steps.astype(np.int64), spare >= 0
    # More labels than steps have no likelihood: they need no states.
    labels, shorter = labels[:, :count], jnp.minimum(lengths, min(count, labels.shape[1]))

    def losses_of(logits):
        wide = logits.astype(np.promote_types(logits.dtype, np.float32))
        logs = jax.nn.log_softmax(wide, 2)
        _, likelihood = forward_table(logs, labels, shorter, steps, classes - 1, merge)
        possible = fits & (likelihood > IMPOSSIBLE)
        losses = jnp.where(possible, -likelihood, jnp.inf)
        return jnp.where(fits, losses, 0) if ignore_longer else losses

    losses, pull = jax.vjp(losses_of, logits)
    gradient = pull(jnp.ones_like(losses))[0]
    return losses.astype(logits.dtype), lax.stop_gradient(gradient)


@composite("CTCLoss(preprocess_collapse_repeated=(collapse, False),"
    " ctc_merge_repeated=(merge, True), ignore_longer_outputs_than_inputs=(ignore_longer, False))"
    "(x=logits, labels_indices=places, labels_values=values, sequence_length=steps)")  # fmt: skip
def ctc_loss_of_logits(
    logits, places, values, steps, collapse=False, merge=True, ignore_longer=False
) -> tuple[Tensor, Tensor]:
    """The negative log-likelihood of labels, and its gradient; the last class is the blank.

    Args:
        logits: predictions before softmax, [T, N, C].
        places: sequence and position of each label, [labels, 2], those of a sequence in order.
        values: their class numbers. The blank, or what is not a class, ends the labels of a
            sequence.
        steps: how many of T count for each sequence, [N].
        collapse: leave out labels that follow an equal one.
        merge: a label may last for several steps; otherwise each step is a label of its own.
        ignore_longer: more labels than steps count 0; otherwise they are an error.

    Returns:
        Losses [N], and their gradients by the logits, [T, N, C].

    Raises:
        ValueError: the shapes do not fit together.
        OutOfRangeError: a place is in no sequence, a label stands behind a blank, a length is 0 or
            more than there is, or there are more labels than steps.
        TypeError: places, labels or lengths are not integers, or the logits are.

    Example:
        >>> logits, labels = ops.zeros((1, 1, 2), mycel.float32), (Tensor([[0, 0]]), Tensor([0]))
        >>> print(ops.CTCLoss()(logits, *labels, Tensor([1]))[0])
        [0.6931472]
    """
    rows, *more = ctc_gathered(places, values, steps, logits=np.shape(logits), collapse=collapse)
    lengths, *checks = more
    settings = {"merge": merge, "ignore_longer": ignore_longer}
    return ctc_of_gathered(logits, rows, lengths, steps, *checks, **settings)


# -- decoding ----------------------------------------------------------------------------------


def _counts(steps, count) -> list[int]:
    """The lengths of all sequences as numbers; less than none counts as none."""
    lengths = steps.asnumpy()
    if lengths.dtype.kind not in "iu":
        raise errors.no_integers("ctc_greedy_decoder", "length", str(steps.dtype))
    if lengths.max(initial=0) > count:
        what = "each length of ctc_greedy_decoder"
        raise errors.wrong(errors.OutOfRangeError, what, f"{count} at most", lengths.max())
    return np.maximum(lengths, 0).tolist()


@composite(
    "ops.ctc_greedy_decoder(inputs=x, sequence_length=steps, merge_repeated=True)",
    "CTCGreedyDecoder(merge_repeated=True)(inputs=x, sequence_length=steps)",
)
def ctc_greedy_decoder(x, steps, merge_repeated=True) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The most likely class of each step, without blanks; the last class is the blank.

    The values are read.

    Args:
        x: [T, N, C].
        steps: how many of T count for each sequence, [N].
        merge_repeated: equal classes in a row count once.

    Returns:
        The places (sequence, position) of the labels, the labels, the shape (sequences, most
        labels), all Int64, and for each sequence the sum of -x of what was chosen, [N, 1].

    Raises:
        ValueError: the shapes do not fit together.
        OutOfRangeError: a length is more than there is.

    Example:
        >>> x = Tensor([[[9.0, 0.0, 0.0]], [[0.0, 0.0, 9.0]], [[0.0, 9.0, 0.0]]])
        >>> print(ops.ctc_greedy_decoder(x, Tensor([3]))[1])
        [0 1]
    """
    values = x.asnumpy()
    if values.shape[1:2] != steps.shape:
        raise ValueError(f"There is a length for each of {values.shape[1]}, not {steps.shape}.")
    blank = values.shape[2] - 1
    places, labels, scores = [], [], []
    for sequence, length in enumerate(_counts(steps, len(values))):
        chosen = values[:length, sequence].argmax(1)
        scores.append([-values[:length, sequence].max(1).sum()])
        kept = chosen != blank
        if merge_repeated:
            kept[1:] &= chosen[1:] != chosen[:-1]
        labels += chosen[kept].tolist()
        places += [[sequence, position] for position in range(kept.sum())]
    longest = max((position + 1 for _, position in places), default=0)
    shape = np.array([values.shape[1], longest], np.int64)
    places, labels = np.array(places, np.int64).reshape(-1, 2), np.array(labels, np.int64)
    scores = np.array(scores, values.dtype)
    return Tensor(places), Tensor(labels), Tensor(shape), Tensor(scores)
