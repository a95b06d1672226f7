# SPDX-License-Identifier: Apache-2.0
"""Classes drawn beside the right ones, for losses that look at a few of many classes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.random.drawing import as_key, draw_key


@op()
def drawn_candidates(classes, key, *, count, unique, limit, logarithmic):
    """Classes drawn, and how often each of `classes` and of the drawn is expected among them."""
    key = as_key(key)

    def draw(number):
        share = jax.random.uniform(jax.random.fold_in(key, number), dtype=np.float64)
        if logarithmic:
            share = jnp.expm1(share * jnp.log(limit + 1.0))
        else:
            share = share * limit
        return jnp.minimum(share.astype(np.int64), limit - 1)

    def another(state):
        drawn, taken, found, tries = state
        candidate = draw(tries)
        new = jnp.logical_not(unique & taken[candidate])
        drawn = jnp.where(new, drawn.at[found].set(candidate), drawn)
        return drawn, taken.at[candidate].set(True), found + new, tries + 1

    start = jnp.zeros(count, np.int64), jnp.zeros(limit, bool), np.int64(0), np.int64(0)
    drawn, _, _, tries = lax.while_loop(lambda state: state[2] < count, another, start)

    def expected(of):
        of = of.astype(np.float64)
        share = jnp.full(of.shape, 1 / limit)
        if logarithmic:
            share = jnp.log((of + 2) / (of + 1)) / jnp.log(limit + 1.0)
        # Drawn again until all differ: in so many tries.
        often = jnp.where(tries == count, share * count, -jnp.expm1(tries * jnp.log1p(-share)))
        return often.astype(np.float32)

    return drawn.astype(classes.dtype), expected(classes), expected(drawn)


def _candidates(name, classes, num_true, count, unique, limit, seed, logarithmic):
    if not isinstance(classes, Tensor) or classes.ndim != 2 or classes.shape[1] != num_true:
        expected, actual = f"[batch, num_true={num_true}]", getattr(classes, "shape", classes)
        raise wrong(ValueError, f"{name}: true_classes", expected, actual)
    if unique and count > limit:
        raise wrong(ValueError, f"{name}: num_sampled", f"at most range_max={limit}", count)
    return drawn_candidates(classes, draw_key(seed), count, bool(unique), limit, logarithmic)


@composite(
    "ops.uniform_candidate_sampler(true_classes=classes, num_true=num_true, num_sampled=count,"
    " unique=unique, range_max=limit, seed=0, remove_accidental_hits=False)",
    "UniformCandidateSampler(num_true=num_true, num_sampled=count, unique=unique,"
    " range_max=limit, seed=0, remove_accidental_hits=False)(true_classes=classes)",
)
def uniform_candidate_sampler(
    classes, num_true, count, unique, limit, seed=0, remove_accidental_hits=False
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn from all alike, and how often classes are expected among them.

    Args:
        classes: [batch, num_true], the right classes, integers.
        num_true: how many right classes a row has.
        count: how many classes are drawn.
        unique: whether each is drawn at most once.
        limit: the number of classes.
        seed: an integer that makes the draw repeat from run to run; 0, the default, draws from the
            default generator.
        remove_accidental_hits: no effect, as on a CPU in MindSpore.

    Returns:
        The classes drawn, [count], of the type of `classes`; how often each right class is
        expected, [batch, num_true], and each drawn one, [count], Float32.

    Raises:
        ValueError: the classes have another shape, or more are drawn than there are.

    Example:
        >>> drawn, of_true, of_drawn = ops.uniform_candidate_sampler(Tensor([[1]]), 1, 2, True, 2)
        >>> print(sorted(drawn.tolist()), of_drawn.shape)
        [0, 1] (2,)
    """
    del remove_accidental_hits
    name = "uniform_candidate_sampler"
    return _candidates(name, classes, num_true, count, unique, limit, seed, False)


@composite(
    "ops.log_uniform_candidate_sampler(true_classes=classes, num_true=1, num_sampled=(count, 5),"
    " unique=True, range_max=(limit, 5), seed=0)",
    "LogUniformCandidateSampler(num_true=1, num_sampled=(count, 5), unique=True,"
    " range_max=(limit, 5), seed=0)(true_classes=classes)",
)
def log_uniform_candidate_sampler(
    classes, num_true=1, count=5, unique=True, limit=5, seed=0
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn, the lower the more often, and how often classes are expected among them.

    The share of a class k is log((k + 2) / (k + 1)) / log(limit + 1), as where classes are
    numbered by how frequent they are.

    Args:
        classes: [batch, num_true], the right classes, integers.
        num_true: how many right classes a row has; 1 by default.
        count: how many classes are drawn; 5 by default.
        unique: whether each is drawn at most once; True by default.
        limit: the number of classes; 5 by default.
        seed: an integer that makes the draw repeat from run to run; 0, the default, draws from the
            default generator.

    Returns:
        The classes drawn, [count], of the type of `classes`; how often each right class is
        expected, [batch, num_true], and each drawn one, [count], Float32.

    Raises:
        ValueError: the classes have another shape, or more are drawn than there are.

    Example:
        >>> drawn, *_ = ops.log_uniform_candidate_sampler(Tensor([[1]]), 1, 2, True, 2)
        >>> print(sorted(drawn.tolist()))
        [0, 1]
    """
    name = "log_uniform_candidate_sampler"
    return _candidates(name, classes, num_true, count, unique, limit, seed, True)
