# SPDX-License-Identifier: Apache-2.0
"""Cells around networks: with a loss, with gradients, with one step of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import parallel, reduces_gradients
from mycel.kernel.base.processes import count
from mycel.kernel.differentiate.api import GradOperation, grad, value_and_grad
from mycel.kernel.record.parameter import ParameterTuple
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_number
from mycel.nn.layers.linear import Identity
from mycel.nn.reducing import (
    DistributedGradReducer,
    broadcast_parameters,
    broadcasts_parameters,
)


def _cell(value: Callable[..., Any], what: str) -> Callable[..., Any]:
    """The value, if it can be called as a network.

    Raises:
        TypeError: it cannot be called.
    """
    if not callable(value):
        raise wrong(TypeError, what, "a Cell", f"{type(value).__name__} {value!r}")
    return value


class WithLossCell(Cell):
    """A network and its loss as one Cell: (data, label) to the loss of its outputs.

    Parameters keep the names they have in the network.

    Raises:
        TypeError: network or loss cannot be called.

    Source: MindSpore's `mindspore.nn.WithLossCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> print(nn.WithLossCell(net, nn.MSELoss())(Tensor([[1.0, 2.0]]), Tensor([[5.0]])))
        4.0
    """

    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone = _cell(backbone, "WithLossCell.backbone")
        self._loss_fn = _cell(loss_fn, "WithLossCell.loss_fn")

    def construct(self, data, label) -> Any:
        """The loss."""
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Callable[..., Any]:
        """The network without the loss."""
        return self._backbone


class WithEvalCell(Cell):
    """A network and its loss for evaluation: (data, label) to (loss, outputs, label).

    Args:
        add_cast_fp32: whether outputs become Float32 before the loss is taken.

    Source: MindSpore's `mindspore.nn.WithEvalCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> evaluate = nn.WithEvalCell(net, nn.MSELoss())
        >>> loss, outputs, _ = evaluate(ops.ones((1, 2)), ops.ones((1, 1)))
        >>> print(loss, outputs)
        1.0 [[2.]]
    """

    def __init__(self, network, loss_fn, add_cast_fp32=False):
        super().__init__(auto_prefix=False)
        self._network = _cell(network, "WithEvalCell.network")
        self._loss_fn = _cell(loss_fn, "WithEvalCell.loss_fn")
        self.add_cast_fp32 = boolean(add_cast_fp32, "WithEvalCell.add_cast_fp32")

    def construct(self, data, label) -> Any:
        """(loss, outputs, label)."""
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs = ops.cast(outputs, float32)
            label = ops.mixed_precision_cast(float32, label)  # class numbers stay integers
        return self._loss_fn(outputs, label), outputs, label


class WithGradCell(Cell):
    """A network with its loss: (data, label) to the gradients of its trainable Parameters.

    The network is put into training mode.

    Args:
        loss_fn: None differentiates the sum of what the network returns.
        sens: the gradient of the loss; None means 1.

    Source: MindSpore's `mindspore.nn.WithGradCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> gradients = nn.WithGradCell(net, nn.MSELoss())(ops.ones((1, 2)), ops.ones((1, 1)))
        >>> print(gradients[0])
        [[2. 2.]]
    """

    def __init__(self, network, loss_fn=None, sens=None):
        super().__init__(auto_prefix=False)
        self.network = _cell(network, "WithGradCell.network")
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs) -> Any:
        """One gradient for each trainable Parameter."""
        if self.sens is None:
            return grad(self.network_with_loss, None, self.weights)(*inputs)
        taken = GradOperation(get_by_list=True, sens_param=True)
        return taken(self.network_with_loss, self.weights)(*inputs, self.sens)


class ForwardValueAndGrad(Cell):
    """A network that returns its value and its gradients.

    Args:
        weights: the Parameters to differentiate by, with `get_by_list`.
        get_all: gradients of all inputs; otherwise of the first.
        get_by_list: gradients of `weights` (beside those of the inputs with `get_all`).
        sens_param: the last input is the gradient of the output.

    Raises:
        TypeError: a flag is not a bool.

    Source: MindSpore's `mindspore.nn.ForwardValueAndGrad`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> value, gradient = nn.ForwardValueAndGrad(net)(Tensor([[1.0, 2.0]]))
        >>> print(value, gradient)
        [[3.]] [[1. 1.]]
    """

    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        self.network = _cell(network, "ForwardValueAndGrad.network")
        self.weights = weights
        self.get_all = boolean(get_all, "ForwardValueAndGrad.get_all")
        self.get_by_list = boolean(get_by_list, "ForwardValueAndGrad.get_by_list")
        self.sens_param = boolean(sens_param, "ForwardValueAndGrad.sens_param")

    def construct(self, *inputs) -> Any:
        """(value, gradients)."""
        taken = GradOperation(self.get_all, self.get_by_list, self.sens_param)
        kept = []

        def function(*arguments):
            kept.append(self.network(*arguments))
            return kept[0]

        gradients = taken(function, self._listed())(*inputs)
        return kept[0], gradients

    def _listed(self):
        if self.weights is None and isinstance(self.network, Cell):
            return self.network.trainable_params()
        return self.weights


class TrainOneStepCell(Cell):
    """One step of training: inputs of `network` to its loss; the optimiser changes the weights.

    Args:
        network: a Cell that returns a loss, such as a WithLossCell.
        optimizer: what changes its Parameters.
        sens: a factor for the gradients; None means 1.
        return_grad: return (loss, gradients by the names of Parameters).

    Raises:
        TypeError: the network is not a Cell, or the optimiser not an optimiser.

    Source: MindSpore's `mindspore.nn.TrainOneStepCell`.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> step = nn.TrainOneStepCell(
        ...     nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
        >>> print(step(Tensor([[1.0, 2.0]]), Tensor([[5.0]])), net.weight.asnumpy())
        4.0 [[1.4 1.8]]
    """

    def __init__(self, network, optimizer, sens=None, return_grad=False):
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            actual = f"{type(network).__name__} {network!r}"
            raise wrong(TypeError, "TrainOneStepCell.network", "a Cell", actual)
        if not isinstance(optimizer, Cell) or not hasattr(optimizer, "parameters"):
            actual = f"{type(optimizer).__name__} {optimizer!r}"
            raise wrong(TypeError, "TrainOneStepCell.optimizer", "an optimiser", actual)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        # Where gradients of several processes meet; one process hands them on.
        self.parallel_mode = parallel.get("parallel_mode")
        self.reducer_flag = reduces_gradients()
        self.grad_reducer = Identity()
        if self.reducer_flag:
            self.mean, self.degree = parallel.get("gradients_mean"), count()
            self.grad_reducer = DistributedGradReducer(self.weights, self.mean, self.degree)
        self._to_broadcast = broadcasts_parameters()
        # What subclasses with a construct of their own take gradients with.
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.sens = 1.0 if sens is None else sens
        self.sense_flag = not (is_number(self.sens) and self.sens == 1.0)
        self.return_grad = boolean(return_grad, "TrainOneStepCell.return_grad")

    def construct(self, *inputs) -> Any:
        """The loss before the step."""
        if self._to_broadcast:
            self.broadcast()
        loss, gradients = self._loss_and_gradients(inputs)
        gradients = self.grad_reducer(gradients)
        self.optimizer(gradients)
        if self.return_grad:
            named = zip(self.weights, gradients, strict=True)
            return loss, {parameter.name: gradient for parameter, gradient in named}
        return loss

    def broadcast(self) -> None:
        """Give all processes what the first one trains, once."""
        self._to_broadcast = False
        every = (*self.network.get_parameters(), *self.optimizer.get_parameters())
        broadcast_parameters({id(parameter): parameter for parameter in every}.values())

    def _loss_and_gradients(self, inputs):
        if not self.sense_flag:
            return value_and_grad(self.network, None, self.weights)(*inputs)

        def scaled(*arguments):
            loss = self.network(*arguments)
            return loss * self.sens, loss

        (_, loss), gradients = value_and_grad(scaled, None, self.weights, has_aux=True)(*inputs)
        return loss, gradients
