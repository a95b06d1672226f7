# SPDX-License-Identifier: Apache-2.0
"""THOR: natural gradients from the second moments that layers keep, then momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import note_once
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import op
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, number
from mycel.nn.layers.normalization import LayerNorm
from mycel.nn.layers.second_order import Conv2dThor, DenseThor, LookedUp, to_second_order
from mycel.nn.reducing import reduces_gradients, together
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP, ranks_of
from mycel.ops.update import rules
from mycel.optim.fused_update import Formula, FusedUpdate
from mycel.optim.optimizer import Optimizer, checked_gradients, floating

# Of larger matrices, blocks of this size along the diagonal are inverted each on its own.
BLOCK = 128
# The norm that gradients are clipped to.
MOST_NORM = 1.0


def _blocks(size: int) -> tuple[int, int]:
    """How many blocks a matrix has, and their size."""
    block = min(BLOCK, size)
    return -(-size // block), block


@op()
def inverse_blocks(matrix, damping, *, blocks, block):
    """The inverses of the blocks on the diagonal of matrix + damping · 1: (blocks, block, block).

    The last block is filled up with ones on its diagonal.

    Example:
        >>> from mycel.optim.second_order import inverse_blocks
        >>> print(inverse_blocks(Tensor([[1.0, 0.0], [0.0, 3.0]]), Tensor(1.0), 1, 2))
        [[[0.5  0.  ]
          [0.   0.25]]]
    """
    size = matrix.shape[0]
    missing = blocks * block - size
    whole = jnp.pad(matrix + damping * jnp.eye(size, dtype=matrix.dtype), (0, missing))
    filled = np.arange(blocks * block) >= size
    whole = whole + jnp.diag(jnp.asarray(filled, matrix.dtype))
    places = np.arange(blocks)
    parts = whole.reshape(blocks, block, blocks, block)[places, :, places, :]
    unit = jnp.broadcast_to(jnp.eye(block, dtype=matrix.dtype), parts.shape)
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(parts, lower=True), unit)


@op()
def between_blocks(left, gradient, right):
    """left · gradient · right, where left and right are the blocks of a diagonal.

    Example:
        >>> from mycel.optim.second_order import between_blocks
        >>> left, right = Tensor([[[2.0]]]), Tensor([[[3.0]], [[5.0]]])
        >>> print(between_blocks(left, Tensor([[1.0, 1.0]]), right))
        [[ 6. 10.]]
    """
    rows, columns = gradient.shape[0], int(np.prod(gradient.shape[1:]))
    tall, wide = left.shape[0] * left.shape[1], right.shape[0] * right.shape[1]
    flat = jnp.pad(gradient.reshape(rows, columns), ((0, tall - rows), (0, wide - columns)))
    parts = flat.reshape(*left.shape[:2], *right.shape[:2])
    found = jnp.einsum("hij,hjwk,wkl->hiwl", left, parts, right).reshape(tall, wide)
    return found[:rows, :columns].reshape(gradient.shape)


class _Layer(NamedTuple):
    """A layer of a network and the places of its Parameters among those of the optimiser."""

    cell: Cell
    weight: int


class Thor(Optimizer):
    """The optimiser that `thor` makes: MindSpore's `ThorGpu`, on every device.

    Args:
        as in `thor`; the layers of `net` are those for THOR.

    Raises:
        TypeError, ValueError: as `thor`.

    Example:
        >>> net = nn.SequentialCell(nn.DenseThor(2, 1))
        >>> rate = Tensor([0.1, 0.1], mycel.float32)
        >>> nn.optim.thor.ThorGpu(net, rate, rate, 0.9).get_frequency()
        100
    """

    thor = True

    def __init__(
        self, net, learning_rate, damping, momentum, weight_decay=0.0, loss_scale=1.0,
        batch_size=32, use_nesterov=False, decay_filter: Callable = lambda x: True,
        split_indices=None, enable_clip_grad=False, frequency=100,
    ):  # fmt: skip
        for what, value in (("learning_rate", learning_rate), ("damping", damping)):
            if not isinstance(value, Tensor):
                raise wrong(TypeError, f"thor: {what}", "a Tensor", type(value).__name__)
        trained = [p for p in net.get_parameters() if p.requires_grad]
        super().__init__(learning_rate, trained, 0.0, loss_scale)
        floating(momentum, "thor: momentum", "of at least 0", lambda n: n >= 0)
        if not is_integer(frequency):
            raise wrong(TypeError, "thor: frequency", "an integer", type(frequency).__name__)
        self.frequency = int(
            number(frequency, "thor: frequency", "of at least 2", lambda n: n >= 2)
        )
        self.weight_decay = float(
            number(weight_decay, "thor: weight_decay", "of at least 0", lambda n: n >= 0)
        )
        if split_indices is not None:
            note_once("thor: split_indices has no effect: matrices are not sent in groups.")
        self.use_nesterov = boolean(use_nesterov, "thor: use_nesterov")
        self.enable_clip_grad = boolean(enable_clip_grad, "thor: enable_clip_grad")
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        self.damping = Parameter(damping.asnumpy().astype(np.float32).reshape(-1), name="damping")
        self.cov_step = Parameter(np.zeros(1, np.int32), name="cov_step", requires_grad=False)
        self.batch_size = float(batch_size)
        self.decayed = tuple(bool(decay_filter(p)) for p in self.parameters)
        self.moments = self.states("moments")
        self._find_layers(net)

    def _find_layers(self, net: Cell) -> None:
        places = {id(p): n for n, p in enumerate(self.parameters)}
        self._layers: list[_Layer] = []
        self._spread: list[int] = []
        for _, cell in net.cells_and_names():
            if isinstance(cell, (DenseThor, Conv2dThor, LookedUp)):
                weight = cell.embedding_table if isinstance(cell, LookedUp) else cell.weight
                if id(weight) in places:
                    self._layers.append(_Layer(cell, places[id(weight)]))
            elif isinstance(cell, LayerNorm):
                own = (cell.gamma, cell.beta)
                self._spread += [places[id(p)] for p in own if id(p) in places]
        self.matrix_a = ParameterTuple(self._inverses("matrix_a"))
        self.matrix_g = ParameterTuple(self._inverses("matrix_g"))

    def _inverses(self, name: str) -> list[Parameter]:
        """What will hold the inverses of a matrix of each layer."""
        found = []
        for number_, layer in enumerate(self._layers):
            matrix = getattr(layer.cell, name)
            size = matrix.shape[0]
            count, block = _blocks(size)
            zeros = np.zeros((size,) if matrix.ndim == 1 else (count, block, block), np.float32)
            label = f"{name}_inv_{number_}"
            found.append(Parameter(zeros, name=label, requires_grad=False))
        return found

    def get_frequency(self) -> int:
        """After how many steps a Model computes the matrices anew."""
        return self.frequency

    def _kept(self) -> list[Tensor]:
        """The matrices of all layers; of processes that share a batch, their mean."""
        kept = [matrix for cell, _ in self._layers for matrix in (cell.matrix_a, cell.matrix_g)]
        processes = len(ranks_of(HCCL_WORLD_COMM_GROUP))
        if processes == 1 or not reduces_gradients():
            return kept
        sums = together("AllReduce", HCCL_WORLD_COMM_GROUP, kept, op="sum")
        return [total * (1.0 / processes) for total in sums]

    def _invert(self, damping: Tensor) -> None:
        """Set the inverses by what the layers have kept."""
        to_losses = (self.batch_size / self.loss_scale) ** 2
        kept = self._kept()
        for (cell, _), matrix_a, matrix_g, a_inverse, g_inverse in zip(
            self._layers, kept[::2], kept[1::2], self.matrix_a, self.matrix_g, strict=True
        ):
            matrix_g = matrix_g * to_losses
            scale, of_a, of_g = 1.0, damping, damping
            if isinstance(cell, Conv2dThor):
                of_a, of_g = damping / cell.a_normalizer, damping / cell.g_normalizer
                scale = 1 / ops.sqrt(cell.a_normalizer)
            root_a, root_g = ops.sqrt(of_a).reshape(()), ops.sqrt(of_g).reshape(())
            if isinstance(cell, LookedUp):
                found = 1 / (matrix_a / self.batch_size + root_a)
            else:
                found = inverse_blocks(matrix_a, root_a, *_blocks(matrix_a.shape[0]))
            update(a_inverse, found * scale)
            blocks = _blocks(matrix_g.shape[0])
            update(g_inverse, inverse_blocks(matrix_g, root_g, *blocks) * scale)

    def _natural(self, gradients: list, damping: Tensor) -> list:
        """The gradients multiplied by the inverses."""
        for (cell, place), a_inverse, g_inverse in zip(
            self._layers, self.matrix_a, self.matrix_g, strict=True
        ):
            if isinstance(cell, LookedUp):
                rows = gradients[place] * a_inverse.expand_dims(1)
                unit = Tensor(np.ones((rows.shape[0], 1, 1), np.float32))
                gradients[place] = between_blocks(unit, rows, g_inverse)
            else:
                gradients[place] = between_blocks(g_inverse, gradients[place], a_inverse)
        for place in self._spread:
            spread = ops.square(gradients[place]) / self.batch_size + ops.sqrt(damping)
            gradients[place] = gradients[place] / spread
        return gradients

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        gradients = [self._scaled(g) for g in checked_gradients(self, gradients)]
        damping = rules.take_rate(self.damping, self.cov_step).reshape(())
        if self.thor:
            self._invert(damping)
        gradients = self._natural(gradients, damping)
        update(self.cov_step, rules.next_step(self.cov_step))
        if self.weight_decay:
            rows = zip(self.parameters, gradients, self.decayed, strict=True)
            gradients = [g + self.weight_decay * p if decay else g for p, g, decay in rows]
        if self.enable_clip_grad:
            gradients = [ops.clip_by_norm(g, MOST_NORM) for g in gradients]
        rate = self.get_lr()
        update(self.global_step, rules.next_step(self.global_step))
        step = FusedUpdate()
        formula = Formula(rules.momentum, (self.moments,), (self.momentum,), (self.use_nesterov,))
        rows = zip(self.parameters, gradients, strict=True)
        step.apply(formula, [(p, g.astype(p.dtype), rate, None, None, False) for p, g in rows])
        step.record()
        return self._done

    def _scaled(self, gradient):
        return gradient * self.reciprocal_scale if self.need_scale else gradient


def thor(
    net: Cell, learning_rate: Tensor, damping: Tensor, momentum: float, weight_decay: float = 0.0,
    loss_scale: float = 1.0, batch_size: int = 32, use_nesterov: bool = False,
    decay_filter: Callable[[Parameter], bool] = lambda x: True,
    split_indices: list[int] | None = None, enable_clip_grad: bool = False, frequency: int = 100,
) -> Thor:  # fmt: skip
    """The second-order optimiser THOR for a network, whose layers are replaced in place.

    With A the second moments of a layer's inputs, G those of the gradient of its outputs:
    moment = momentum · moment + (G + √damping)⁻¹ · gradient · (A + √damping)⁻¹. Of matrices larger
    than 128, blocks along the diagonal are inverted.

    Args:
        net: the network; its `Dense`, `Conv2d`, `Embedding` and `EmbeddingLookup` layers become
            those for THOR. Their Parameters stay the same objects.
        learning_rate, damping: Tensors with a number for each step; the last one goes on.
        momentum: a float of at least 0: how much of the last moment stays.
        weight_decay: this part of each Parameter is added to its natural gradient; 0 by default.
        loss_scale: gradients are divided by it; 1.0 by default.
        batch_size: how many samples a batch has, whose losses are averaged; 32 by default.
        use_nesterov: whether to step by gradient + momentum · moment; False by default.
        decay_filter: which Parameters `weight_decay` is for; by default all.
        split_indices: accepted; MindSpore's, for sending matrices between devices.
        enable_clip_grad: whether each gradient is shortened to a norm of 1; False by default.
        frequency: after how many steps the matrices are computed anew, in a Model from
            `ConvertModelUtils`; elsewhere they are in every step. At least 2; 100 by default.

    Raises:
        TypeError: learning_rate or damping is no Tensor, momentum no float, frequency no integer.
        ValueError: a number is out of range.

    Source: MindSpore's `mindspore.nn.thor` as on GPU; it has none for CPU. `G` of a table of
    embeddings is inverted as its document says.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(2, 1))
        >>> rate = Tensor([0.1, 0.05], mycel.float32)
        >>> optimizer = nn.thor(net, rate, rate, 0.9, batch_size=4, frequency=2)
        >>> type(net[0]).__name__, [p.name for p in optimizer.parameters]
        ('DenseThor', ['0.weight', '0.bias'])
    """
    to_second_order(net)
    return Thor(
        net, learning_rate, damping, momentum, weight_decay, loss_scale, batch_size, use_nesterov,
        decay_filter, split_indices, enable_clip_grad, frequency,
    )  # fmt: skip
