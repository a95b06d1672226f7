# SPDX-License-Identifier: Apache-2.0
"""Layers of Bayesian networks: each weight has a distribution, and each call draws the weights."""

from __future__ import annotations

import numpy as np

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_number, number, positive_integer
from mycel.nn.layers.activation import get_activation
from mycel.nn.layers.convolution import Conv2d
from mycel.nn.probability.line import Normal

__all__ = [
    "ConvReparam",
    "DenseLocalReparam",
    "DenseReparam",
    "NormalPosterior",
    "NormalPrior",
    "WithBNNLossCell",
]
# What keeps the standard deviation of a weight above 0.
LEAST = 1e-6


class NormalPrior(Cell):
    """What is believed of weights before there are data: a normal distribution.

    Args:
        dtype: a real element type; Float32 by default.
        mean: the mean; 0 by default.
        std: the standard deviation, above 0; 0.1 by default.

    Source: MindSpore's `mindspore.nn.probability.bnn_layers.NormalPrior`.

    Example:
        >>> from mycel.nn.probability.bnn_layers import NormalPrior
        >>> print(NormalPrior(std=2.0)("sd"))
        2.0
    """

    def __init__(self, dtype=float32, mean=0, std=0.1):
        super().__init__()
        self.normal = Normal(mean, std, dtype=dtype)

    def construct(self, *inputs):
        """The answer to one question of the distribution, which is named first."""
        return self.normal(*inputs)


class NormalPosterior(Cell):
    """What is learned of weights: a normal distribution for each, with Parameters.

    Args:
        name: how the names of the Parameters begin.
        shape: the shape of the weights.
        dtype: a real element type; Float32 by default.
        loc_mean, loc_std: of the random first means; 0 and 0.1 by default.
        untransformed_scale_mean, untransformed_scale_std: of the random first values of which
            softplus makes the standard deviations; -5 and 0.1 by default.

    Raises:
        TypeError: an argument has another type.
        ValueError: a standard deviation is negative.

    Source: MindSpore's `mindspore.nn.probability.bnn_layers.NormalPosterior`.

    Example:
        >>> from mycel.nn.probability.bnn_layers import NormalPosterior
        >>> NormalPosterior("weight", (2, 3))("sample").shape
        (2, 3)
    """

    def __init__(
        self,
        name,
        shape,
        dtype=float32,
        loc_mean=0,
        loc_std=0.1,
        untransformed_scale_mean=-5,
        untransformed_scale_std=0.1,
    ):
        super().__init__()
        if not isinstance(name, str):
            raise wrong(TypeError, "NormalPosterior: name", "a text", repr(name))
        if not isinstance(shape, (tuple, list)):
            raise wrong(TypeError, "NormalPosterior: shape", "a tuple or a list", repr(shape))
        means = {"loc_mean": loc_mean, "untransformed_scale_mean": untransformed_scale_mean}
        for key, value in means.items():
            if not is_number(value):
                raise wrong(TypeError, f"NormalPosterior: {key}", "a number", repr(value))
        widths = {"loc_std": loc_std, "untransformed_scale_std": untransformed_scale_std}
        for key, value in widths.items():
            number(value, f"NormalPosterior: {key}", "from 0", lambda x: x >= 0)

        def first(mean, deviation):
            return Tensor(np.random.normal(mean, deviation, shape), dtype)

        self.mean = Parameter(first(loc_mean, loc_std), name=f"{name}_mean")
        scales = first(untransformed_scale_mean, untransformed_scale_std)
        self.untransformed_std = Parameter(scales, name=f"{name}_untransformed_std")
        self.normal = Normal(dtype=dtype)

    def construct(self, *inputs):
        """The answer to one question of the distribution, which is named first."""
        deviation = LEAST - ops.logsigmoid(-self.untransformed_std)
        return self.normal(*inputs, mean=self.mean, sd=deviation)


def normal_post_fn(name, shape) -> NormalPosterior:
    """A NormalPosterior as layers make theirs."""
    return NormalPosterior(name=name, shape=shape)


def _prior(make, what: str) -> Cell:
    prior = make if isinstance(make, Cell) else make()
    if set(prior.name_cells()) != {"normal"}:
        raise wrong(TypeError, what, "a Cell with a Normal named `normal`", type(prior).__name__)
    return prior


def _posterior(make, shape, name: str, what: str) -> Cell:
    posterior = make(shape=shape, name=name)
    if set(posterior.name_cells()) != {"normal"}:
        actual = type(posterior).__name__
        raise wrong(TypeError, what, "one that makes a Cell with a Normal named `normal`", actual)
    return posterior


class _Uncertain(Cell):
    """What layers with uncertain weights have in common; `has_bias` is theirs."""

    has_bias: bool

    def _believe(self, weights, bias, priors, posteriors) -> None:
        """Make the distributions of the weights and of the bias."""
        (weight_prior, bias_prior), (weight_posterior, bias_posterior) = priors, posteriors
        self.weight_prior = _prior(weight_prior, "weight_prior_fn")
        self.weight_posterior = _posterior(
            weight_posterior, weights, "bnn_weight", "weight_posterior_fn"
        )
        if self.has_bias:
            self.bias_prior = _prior(bias_prior, "bias_prior_fn")
            self.bias_posterior = _posterior(bias_posterior, bias, "bnn_bias", "bias_posterior_fn")

    def compute_kl_loss(self):
        """The divergence of what is learned from what was believed, summed over all weights."""
        pairs = [(self.weight_prior, self.weight_posterior)]
        if self.has_bias:
            pairs.append((self.bias_prior, self.bias_posterior))
        return sum(
            prior("kl_loss", posterior("get_dist_type"), *posterior("get_dist_args")).sum()
            for prior, posterior in pairs
        )


class DenseReparam(_Uncertain):
    """A Dense layer whose weights are drawn at each call.

    Args:
        in_channels, out_channels: the lengths of the last dimension.
        activation: a Cell or the name of one, applied to the result; None by default.
        has_bias: True by default.
        weight_prior_fn, bias_prior_fn: what is believed before, a Cell like NormalPrior or what
            makes one; NormalPrior by default.
        weight_posterior_fn, bias_posterior_fn: makes what is learned, a Cell like NormalPosterior,
            of `name` and `shape`.

    Raises:
        TypeError: a distribution is no such Cell, or an argument has another type.
        ValueError: the activation is unknown.

    Source: MindSpore's `mindspore.nn.probability.bnn_layers.DenseReparam`.

    Example:
        >>> from mycel.nn.probability.bnn_layers import DenseReparam
        >>> layer = DenseReparam(3, 2)
        >>> layer(ops.ones((4, 3))).shape, layer.compute_kl_loss().shape
        ((4, 2), ())
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        activation=None,
        has_bias=True,
        weight_prior_fn=NormalPrior,
        weight_posterior_fn=normal_post_fn,
        bias_prior_fn=NormalPrior,
        bias_posterior_fn=normal_post_fn,
    ):
        super().__init__()
        self.in_channels = positive_integer(in_channels, "in_channels")
        self.out_channels = positive_integer(out_channels, "out_channels")
        self.has_bias = boolean(has_bias, "has_bias")
        shapes = (out_channels, in_channels), (out_channels,)
        priors, posteriors = (
            (weight_prior_fn, bias_prior_fn),
            (weight_posterior_fn, bias_posterior_fn),
        )
        self._believe(*shapes, priors, posteriors)
        if activation is not None and not isinstance(activation, (str, Cell)):
            raise wrong(ValueError, "activation", "a name or a Cell", repr(activation))
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def _weighted(self, x):
        return ops.matmul(x, self.weight_posterior("sample").T)

    def construct(self, x):
        """The layer with weights that are drawn now."""
        x = self._weighted(x)
        if self.has_bias:
            x = x + self.bias_posterior("sample")
        return x if self.activation is None else self.activation(x)


class DenseLocalReparam(DenseReparam):
    """A Dense layer whose outputs are drawn at each call, as those of drawn weights lie.

    The arguments are those of DenseReparam. Each row has random numbers of its own, so that
    gradients vary less.

    Source: MindSpore's `mindspore.nn.probability.bnn_layers.DenseLocalReparam`.

    Example:
        >>> from mycel.nn.probability.bnn_layers import DenseLocalReparam
        >>> DenseLocalReparam(3, 2)(ops.ones((4, 3))).shape
        (4, 2)
    """

    def _weighted(self, x):
        mean = ops.matmul(x, self.weight_posterior("mean").T)
        variance = ops.matmul(x.square(), self.weight_posterior("sd").square().T)
        return mean + variance.sqrt() * ops.standard_normal(mean.shape).astype(mean.dtype)


class ConvReparam(_Uncertain):
    """A Conv2d whose kernels are drawn at each call.

    Args:
        in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group,
            has_bias: those of Conv2d.
        weight_prior_fn, weight_posterior_fn, bias_prior_fn, bias_posterior_fn: those of
            DenseReparam.

    Raises:
        TypeError: a distribution is no such Cell, or an argument has another type.
        ValueError: an argument of Conv2d is wrong.

    Source: MindSpore's `mindspore.nn.probability.bnn_layers.ConvReparam`.

    Example:
        >>> from mycel.nn.probability.bnn_layers import ConvReparam
        >>> ConvReparam(1, 2, 3)(ops.ones((1, 1, 5, 5))).shape
        (1, 2, 5, 5)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_prior_fn=NormalPrior,
        weight_posterior_fn=normal_post_fn,
        bias_prior_fn=NormalPrior,
        bias_posterior_fn=normal_post_fn,
    ):
        super().__init__()
        placed = stride, pad_mode, padding, dilation, group
        checked = Conv2d(in_channels, out_channels, kernel_size, *placed, has_bias=has_bias)
        self.has_bias = boolean(has_bias, "has_bias")
        self.stride, self.padding = checked.stride, checked.padding
        self.pad_mode, self.dilation, self.group = pad_mode, checked.dilation, group
        # As in MindSpore, the weights of a plain convolution are there, and are not trained.
        self.weight = checked.weight
        self.weight.requires_grad = False
        if checked.bias is not None:
            self.bias = checked.bias
            self.bias.requires_grad = False
        priors, posteriors = (
            (weight_prior_fn, bias_prior_fn),
            (weight_posterior_fn, bias_posterior_fn),
        )
        self._believe(checked.weight.shape, (out_channels,), priors, posteriors)
        self.conv2d = ops.Conv2D(
            out_channels,
            checked.kernel_size,
            1,
            pad_mode,
            padding,
            checked.stride,
            checked.dilation,
            group,
        )

    def construct(self, x):
        """The convolution with kernels that are drawn now."""
        x = self.conv2d(x, self.weight_posterior("sample"))
        return ops.bias_add(x, self.bias_posterior("sample")) if self.has_bias else x


class WithBNNLossCell(Cell):
    """A network and a loss, with the divergences of its uncertain layers.

    Args:
        backbone: the network.
        loss_fn: the loss of its output and a label.
        dnn_factor: what the loss is multiplied by, from 0; 1 by default.
        bnn_factor: what the divergences are multiplied by, from 0; 1 by default.

    Raises:
        TypeError: a factor is not a number.
        ValueError: a factor is negative.

    Source: MindSpore's `mindspore.nn.probability.bnn_layers.WithBNNLossCell`.

    Example:
        >>> from mycel.nn.probability.bnn_layers import DenseReparam, WithBNNLossCell
        >>> net = WithBNNLossCell(DenseReparam(3, 2), nn.MSELoss(), bnn_factor=0.01)
        >>> net(ops.ones((4, 3)), ops.ones((4, 2))).shape
        ()
    """

    def __init__(self, backbone, loss_fn, dnn_factor=1, bnn_factor=1):
        super().__init__(auto_prefix=False)
        for name, factor in (("dnn_factor", dnn_factor), ("bnn_factor", bnn_factor)):
            number(factor, name, "from 0", lambda x: x >= 0)
        self._backbone, self._loss_fn = backbone, loss_fn
        self.dnn_factor, self.bnn_factor = dnn_factor, bnn_factor

    @property
    def backbone_network(self):
        """The network."""
        return self._backbone

    def construct(self, x, label):
        """The loss and the divergences, each times its factor."""
        loss = self._loss_fn(self._backbone(x), label) * self.dnn_factor
        layers = [c for _, c in self._backbone.cells_and_names() if isinstance(c, _Uncertain)]
        return loss + sum(layer.compute_kl_loss() for layer in layers) * self.bnn_factor
