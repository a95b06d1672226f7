# SPDX-License-Identifier: Apache-2.0
"""Metrics and loss scaling of a user's own, and what few programs ask of train and amp."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Tensor, amp, nn, train

IMAGE = np.float32([[0.1, 0.2, 0.3, 0.4]])


class MeanDifference(train.Metric):
    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.total, self.count = 0.0, 0

    @train.rearrange_inputs
    def update(self, *inputs):
        first, second = map(self._convert_data, inputs[:2])
        self.total += float((first - second).sum())
        self.count += first.shape[0]

    def eval(self):
        return self.total / self.count


class Powers(amp.LossScaleManager):
    """Halves its scale at every overflow, outside of the step."""

    def __init__(self, scale):
        self.scale = scale

    def get_loss_scale(self):
        return self.scale

    def update_loss_scale(self, overflow):
        self.scale /= 2 if overflow else 1


class Doubling(amp.LossScaler):
    def scale(self, inputs):
        return inputs * 2

    def unscale(self, inputs):
        return tuple(gradient / 2 for gradient in inputs)

    def adjust(self, grads_finite):
        return False


def test_a_metric_of_ones_own():
    # Oracle: MindSpore 2.10 answered the same to the same class.
    metric = MeanDifference()
    assert metric.indexes is None
    metric.update(Tensor([1.0, 2.0]), np.array([0.0, 4.0]))
    metric.update([3.0], [1.0])
    assert metric.eval() == pytest.approx(1 / 3)
    assert metric.set_indexes([2, 0]) is metric
    assert metric.indexes == [2, 0]
    # It is cleared before: 9 - 1 and 9 - 2.
    assert metric(Tensor([1.0, 2.0]), Tensor([5.0, 6.0]), Tensor([9.0, 9.0])) == 7.5


def test_a_metric_of_ones_own_in_a_model():
    # Oracle: Python. A Model gives it the outputs and the labels of each batch.
    net = nn.Dense(1, 1, "ones", "zeros")
    model = ms.Model(net, nn.MSELoss(), metrics={"difference": MeanDifference()})
    data = [(np.float32([[3.0]]), np.float32([[1.0]])), (np.float32([[5.0]]), np.float32([[4.0]]))]
    assert model.eval(data, dataset_sink_mode=False) == {"difference": 1.5}


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: MeanDifference().set_indexes([1.0]), ValueError, "a list of integers"),
        (lambda: MeanDifference().set_indexes((1, 0)), ValueError, "a list of integers"),
        (lambda: MeanDifference().update(3.0, 1.0), TypeError, "MeanDifference is given"),
        (lambda: MeanDifference().update((3.0,), [1.0]), TypeError, "a list or a NumPy array"),
        (lambda: train.Metric(), TypeError, "abstract"),
        (lambda: amp.LossScaler(), TypeError, "abstract"),
        (lambda: train.OcclusionSensitivity().eval(), RuntimeError, "update first"),
        (lambda: train.OcclusionSensitivity(pad_val=1), TypeError, "pad_val must be a float"),
        (lambda: train.OcclusionSensitivity(b_box=(0, 1)), TypeError, "b_box must be a list"),
    ],
)
def test_errors_are_of_the_kind_that_mindspore_raises(make, kind, text):
    # Oracle: MindSpore 2.10 raises the same kinds.
    with pytest.raises(kind, match=text):
        make()


# Recorded from MindSpore 2.10 for the class 1, and for the class 0.
@pytest.mark.parametrize(
    ("settings", "ones", "zeros"),
    [
        ({}, [0.3, 0.6, 1.0, 0.9], [0.17, 0.2, 0.24, 0.23]),
        ({"margin": 1, "n_batch": 3}, [0.1, 0.3, 0.5, 0.7], [0.01, 0.17, 0.19, 0.07]),
        (
            {"pad_val": 0.5, "n_batch": 2, "b_box": [1, -1]},
            [-0.9, -1.0, -0.6],
            [-0.3, -0.31, -0.27],
        ),
    ],
)
@pytest.mark.parametrize("name", EXECUTIONS)
def test_where_a_network_looks(settings, ones, zeros, name):
    weight = np.float32([[0.1, 0.8, 0.1, 0.1], [1, 1, 1, 1]])
    net = nn.Dense(4, 2, Tensor(weight), Tensor(np.float32([0.3, 0.6])))
    metric = train.OcclusionSensitivity(**settings)
    with execution(name):
        for number, expected in enumerate((zeros, ones)):
            metric.clear()
            metric.update(net, IMAGE, np.array(number, np.int32))
            assert_close(np.float32(metric.eval()), np.float32(expected))


def test_a_loss_scale_manager_of_ones_own():
    # Oracle: MindSpore 2.10: the base can be made, and answers nothing.
    assert train.LossScaleManager is amp.LossScaleManager
    base = amp.LossScaleManager()
    assert (base.get_loss_scale(), base.update_loss_scale(True), base.get_update_cell()) == (
        *(None, None, None),
    )
    manager = Powers(8.0)
    manager.update_loss_scale(False)
    manager.update_loss_scale(True)
    assert manager.get_loss_scale() == 4.0
    assert manager.get_update_cell() is None


def test_a_loss_scale_manager_of_ones_own_trains():
    # Oracle: Python. Without a Cell that changes the scale only the loss is scaled; the optimiser
    # divides, as MindSpore's own example has it.
    net = nn.Dense(1, 1, "ones", has_bias=False)
    optimizer = nn.SGD(net.trainable_params(), 0.25, loss_scale=4.0)
    model = ms.Model(net, nn.MSELoss(), optimizer, loss_scale_manager=Powers(4.0))
    one = np.ones((1, 1), np.float32)
    model.train(1, [(one, one - 1)], dataset_sink_mode=False)
    # The slope of w**2 at 1 is 2.
    assert_close(net.weight.asnumpy(), np.float32([[0.5]]))


def test_a_loss_scaler_of_ones_own():
    # Oracle: Python: what is scaled and unscaled is as it was.
    scaler = Doubling()
    slope = ms.grad(lambda w: scaler.scale((w * w).sum()))(Tensor([1.5, -2.0]))
    assert_close(slope.asnumpy(), np.float32([6, -8]))
    assert_close(scaler.unscale((slope,))[0].asnumpy(), np.float32([3, -4]))
    assert scaler.adjust(amp.all_finite((slope,))) is False


def test_a_status_of_older_programs():
    # Oracle: the documentation of MindSpore 2.0: eight numbers, and whether gradients are finite
    # is the same with and without them.
    status = amp.init_status()
    assert (status.shape, status.dtype, status.asnumpy().any()) == ((8,), ms.float32, np.False_)
    for value, expected in ((1.0, True), (np.inf, False), (np.nan, False)):
        gradients = (Tensor([1.0, value]),)
        assert bool(amp.all_finite(gradients, status)) is expected
        assert bool(amp.all_finite(gradients)) is expected


def test_models_for_an_optimiser():
    # Oracle: MindSpore 2.10: without THOR the Model is the one it is given.
    net = nn.Dense(1, 1)
    model = ms.Model(net)
    convert = train.ConvertModelUtils.convert_to_thor_model
    assert convert(model, net, nn.MSELoss(), nn.SGD(net.trainable_params())) is model
    rate = Tensor([0.1], ms.float32)
    optimizer = nn.thor(net, rate, rate, 0.9)
    made = convert(model, net, nn.MSELoss(), optimizer)
    assert type(made).__name__ == "ModelThor" and made is not model
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    assert type(convert(model, step, optimizer=optimizer)).__name__ == "ModelThor"


def test_networks_for_an_optimiser():
    # Oracle: the layers that MindSpore 2.10 has for THOR, and the network's own results.
    net, x = nn.SequentialCell(nn.Dense(2, 1), nn.ReLU()), Tensor([[1.0, 2.0]])
    before = net(x).asnumpy()
    train.ConvertNetUtils().convert_to_thor_net(net)
    assert type(net[0]) is nn.DenseThor
    np.testing.assert_allclose(net(x).asnumpy(), before, 1e-6)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_cell_that_replaces_a_parameter(name):
    # Oracle: NumPy.
    w = ms.Parameter(Tensor([1.0, 2.0]), name="w")
    with execution(name):
        net = train.ParameterUpdate(w)
        for k in range(3):
            made = net(Tensor([3.0 + k, 4.0]))
            assert_close(made.asnumpy(), np.float32([3 + k, 4]))
            assert_close(w.asnumpy(), np.float32([3 + k, 4]))
