# SPDX-License-Identifier: Apache-2.0
"""As older MindSpore scripts are written: train cells, wrappers, GradOperation, callbacks."""

from __future__ import annotations

import numpy as np

import mycel as ms
from mycel import Parameter, ParameterTuple, Tensor, nn, ops
from natural.common import batch, linear, program, vector, weight


@program
def train_one_step_with_a_counter(jit):
    class TrainStep(nn.TrainOneStepCell):
        def __init__(self, network, optimizer):
            super().__init__(network, optimizer)
            self.step_count = 0

        @jit.construct
        def construct(self, x, y):
            self.step_count += 1
            loss = self.network(x, y)
            grads = self.grad(self.network, self.weights)(
                x, y, ops.fill(loss.dtype, loss.shape, self.sens)
            )
            if self.step_count % 2:
                loss = ops.depend(loss, self.optimizer(grads))
            return loss

    net = linear(jit)
    optimizer = nn.Momentum(net.trainable_params(), 0.125, 0.5)
    train = TrainStep(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()
    step = jit.step(lambda x, y: train(x, y))
    return (lambda i: step(batch(i), batch(i + 1))), lambda: (train.step_count, net.weight)


@program
def plain_train_one_step(jit):
    net = linear(jit)
    optimizer = nn.SGD(net.trainable_params(), 0.125)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()

    def loop(i):
        return train(batch(i), batch(i + 1))

    return loop, lambda: net.weight


@program
def loss_with_weights_by_epoch(jit):
    class MultiLoss(nn.LossBase):
        def __init__(self):
            super().__init__()
            self.epoch, self.weights = 0, [1.0, 0.0]

        @jit.construct
        def construct(self, logits, labels):
            a = ops.abs(logits - labels).mean()
            b = ((logits - labels) ** 2).mean()
            return a * self.weights[0] + b * self.weights[1]

    net, criterion = linear(jit), MultiLoss()
    with_loss = nn.WithLossCell(net, criterion)
    train = nn.TrainOneStepCell(with_loss, nn.SGD(net.trainable_params(), 0.125)).set_train()

    def loop(i):
        if i % 5 == 4:
            criterion.epoch += 1
            criterion.weights[0] *= 0.5
            criterion.weights[1] += 0.5
        return train(batch(i), batch(i + 1))

    return loop, lambda: (criterion.weights, net.weight)


@program
def grad_operation_with_a_sens(jit):
    class GradWrap(nn.Cell):
        def __init__(self, network):
            super().__init__()
            self.network = network
            self.weights = ParameterTuple(network.trainable_params())
            self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
            self.sens = 1.0

        @jit.construct
        def construct(self, x):
            out = self.network(x)
            return self.grad(self.network, self.weights)(x, ops.ones_like(out) * self.sens)

    wrap = GradWrap(linear(jit))
    step = jit.step(lambda x: wrap(x))

    def loop(i):
        if i == 6:
            wrap.sens = 0.5
        return step(batch(i))

    return loop, lambda: wrap.sens


@program
def gan_that_alternates(jit):
    generator, critic = linear(jit), linear(jit, 0.5)
    g_opt = nn.SGD(generator.trainable_params(), 0.0625)
    c_opt = nn.SGD(critic.trainable_params(), 0.0625)
    g_grad = ms.value_and_grad(
        lambda z: -critic(generator(z)).mean(), None, generator.trainable_params()
    )
    c_grad = ms.value_and_grad(
        lambda x, z: critic(generator(z)).mean() - critic(x).mean(),
        None,
        critic.trainable_params(),
    )
    rounds = {"g": 0, "c": 0}

    @jit.step
    def step(x, z):
        if (rounds["g"] + rounds["c"]) % 3 == 2:
            rounds["g"] += 1
            loss, grads = g_grad(z)
            g_opt(grads)
        else:
            rounds["c"] += 1
            loss, grads = c_grad(x, z)
            c_opt(grads)
        return loss

    return (lambda i: step(batch(i), batch(i + 1))), lambda: (rounds, generator.weight)


@program
def target_network_by_a_period(jit):
    class DQN(nn.Cell):
        def __init__(self):
            super().__init__()
            self.online, self.target = linear(jit), linear(jit)
            self.updates, self.period = 0, 3

        def learn(self):
            self.updates += 1
            if self.updates % self.period == 0:
                pairs = zip(self.online.get_parameters(), self.target.get_parameters())
                for online, target in pairs:
                    target.set_data(online)

        @jit.construct
        def construct(self, x):
            self.learn()
            return self.online(x) - self.target(x)

    net = DQN()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.online.weight.set_data(net.online.weight * 0.5 + 0.25)
        return step(batch(i))

    return loop, lambda: (net.updates, net.target.weight)


@program
def freezing_schedule(jit):
    net = nn.SequentialCell(linear(jit), linear(jit, 0.5), linear(jit, 2.0))

    def train_step(x):
        params = net.trainable_params()
        if not params:
            return None
        loss, grads = ms.value_and_grad(lambda x: net(x).mean(), None, params)(x)
        for p, g in zip(params, grads):
            p.set_data(p - 0.0625 * g)
        return loss

    step = jit.step(train_step)

    def loop(i):
        if i in (4, 8, 12):
            for p in net[i // 4 - 1].get_parameters():
                p.requires_grad = False
        return step(batch(i))

    return loop, lambda: list(net.get_parameters())


@program
def learning_rate_of_the_optimizer(jit):
    net = linear(jit)
    optimizer = nn.SGD(net.trainable_params(), 0.25)
    grad_fn = ms.value_and_grad(lambda x: net(x).mean(), None, net.trainable_params())

    @jit.step
    def step(x):
        loss, grads = grad_fn(x)
        optimizer(grads)
        return loss

    def loop(i):
        if i % 4 == 3:
            ops.assign(optimizer.learning_rate, Tensor(0.25 / i, ms.float32))
        return step(batch(i))

    return loop, lambda: (net.weight, optimizer.get_lr())


@program
def schedule_as_a_cell(jit):
    class Halving(nn.learning_rate_schedule.LearningRateSchedule):
        def __init__(self):
            super().__init__()
            self.base = 0.5

        def construct(self, global_step):
            return self.base / (global_step + 1)

    net, schedule = linear(jit), Halving()
    optimizer = nn.SGD(net.trainable_params(), schedule)
    grad_fn = ms.grad(lambda x: net(x).mean(), None, net.trainable_params())

    @jit.step
    def step(x):
        optimizer(grad_fn(x))
        return net(x)

    def loop(i):
        if i == 7:
            schedule.base = 2.0
        return step(batch(i))

    return loop, lambda: (net.weight, schedule.base)


@program
def own_optimizer_with_a_python_step(jit):
    class Own(nn.Optimizer):
        def __init__(self, params):
            super().__init__(0.25, params)
            self.t = 0

        @jit.construct
        def construct(self, grads):
            self.t += 1
            for p, g in zip(self.parameters, grads):
                p.set_data(p - g * (0.25 / self.t))
            return True

    net = linear(jit)
    optimizer = Own(net.trainable_params())
    grad_fn = ms.value_and_grad(lambda x: net(x).mean(), None, net.trainable_params())

    @jit.step
    def step(x):
        loss, grads = grad_fn(x)
        optimizer(grads)
        return loss

    return (lambda i: step(batch(i))), lambda: (optimizer.t, net.weight)


@program
def own_bprop_that_counts(jit):
    class Straight(nn.Cell):
        def __init__(self):
            super().__init__()
            self.backwards, self.slope = 0, 1.0

        def construct(self, x):
            return ops.sign(x)

        def bprop(self, x, out, dout):
            self.backwards += 1
            return (dout * self.slope,)

    net = Straight()
    grad_fn = ms.grad(lambda x: (net(x) * x).sum())
    step = jit.step(lambda x: grad_fn(x))

    def loop(i):
        if i == 8:
            net.slope = 0.5
        return step(batch(i))

    return loop, lambda: net.backwards


@program
def quantisation_observer(jit):
    class FakeQuant(nn.Cell):
        def __init__(self):
            super().__init__()
            self.lowest, self.highest, self.batches = 0.0, 0.0, 0

        @jit.construct
        def construct(self, x):
            if self.training:
                self.lowest = min(self.lowest, float(x.min()))
                self.highest = max(self.highest, float(x.max()))
                self.batches += 1
            scale = max(self.highest - self.lowest, 0.25) / 4
            return ops.round(x / scale) * scale

    net = FakeQuant()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.set_train(i < 6)
        return step(batch(i))

    return loop, lambda: (net.lowest, net.highest, net.batches)


@program
def recurrent_cell_with_a_python_hidden(jit):
    class Recurrent(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(0.5), name="w")
            self.hidden, self.length = None, 0

        def reset(self):
            self.hidden, self.length = None, 0

        @jit.construct
        def construct(self, x):
            if self.hidden is None:
                self.hidden = ops.zeros_like(x)
            self.hidden = ops.tanh(ops.matmul(self.hidden, self.w) + x)
            self.length += 1
            return self.hidden / self.length

    net = Recurrent()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 6 == 0:
            net.reset()
        return step(batch(i))

    return loop, lambda: (net.hidden, net.length)


@program(rounded=True)
def metric_object_updated_inside(jit):
    class MeanAbsolute(ms.train.Metric):
        def __init__(self):
            super().__init__()
            self.clear()

        def clear(self):
            self._total, self._count = 0.0, 0

        def update(self, *inputs):
            x, y = (self._convert_data(value) for value in inputs)
            self._total += float(np.abs(x - y).sum())
            self._count += x.size

        def eval(self):
            return self._total / self._count

    metric, net = MeanAbsolute(), linear(jit)

    @jit.step
    def step(x, y):
        out = net(x)
        metric.update(out, y)
        return out

    def loop(i):
        if i == 7:
            metric.clear()
        return step(batch(i), batch(i + 1)), metric.eval()

    return loop, lambda: (metric._total, metric._count)


@program
def library_metric_inside(jit):
    metric, net = ms.train.Accuracy("classification"), linear(jit)

    @jit.step
    def step(x, y):
        out = net(x)
        metric.update(out, y)
        return out

    def loop(i):
        labels = Tensor(np.array([i % 3, 1]), ms.int32)
        out = step(batch(i), labels)
        return out, metric.eval()

    return loop, lambda: metric.eval()


@program
def scaler_of_the_library(jit):
    scaler = ms.amp.DynamicLossScaler(scale_value=8.0, scale_factor=2, scale_window=3)
    w = Parameter(vector(), name="w")

    @jit.step
    def step(x, bad):
        loss = scaler.scale((x * w).sum())
        finite = ms.amp.all_finite([loss / 0 if bad else loss])
        scaler.adjust(finite)
        return scaler.unscale(loss)

    return (lambda i: step(batch(i), i % 5 == 4)), lambda: scaler.scale_value


@program
def model_with_a_callback(jit):
    class Note(ms.train.Callback):
        def __init__(self):
            self.steps = []

        def on_train_step_end(self, run_context):
            params = run_context.original_args()
            self.steps.append(params.cur_step_num)

    net, note = linear(jit), Note()
    optimizer = nn.SGD(net.trainable_params(), 0.0625)
    model = ms.train.Model(net, nn.MSELoss(), optimizer)

    def loop(i):
        rows = [(batch(k).asnumpy()[0], batch(k + 1).asnumpy()[0]) for k in range(2)]
        data = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(1)
        model.train(1, data, callbacks=[note], dataset_sink_mode=False)
        return len(note.steps)

    return loop, lambda: net.weight


@program
def network_with_flags(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = linear(jit)

        @jit.construct
        def construct(self, x):
            y = self.body(x)
            return y if self.augment else y * 2

    net = Net()
    net.add_flags(augment=False)
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            net.add_flags(augment=True)
        return step(batch(i))

    return loop, lambda: net.augment
