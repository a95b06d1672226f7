# SPDX-License-Identifier: Apache-2.0
"""Networks, layers, weights and methods that are replaced, patched, frozen or recast."""

from __future__ import annotations

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, program, vector, weight


@program
def network_rebound(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        return net(x)

    def loop(i):
        nonlocal net
        if i == 5:
            net = linear(jit, 2.0)
        return step(batch(i))

    return loop, lambda: net.weight


@program
def network_of_the_trainer_replaced(jit):
    class Trainer:
        def __init__(self, net):
            self.net = net

        @jit.step
        def predict(self, x):
            return self.net(x)

    trainer = Trainer(linear(jit))

    def loop(i):
        if i in (4, 9):
            trainer.net = linear(jit, float(i))
        return trainer.predict(batch(i))

    return loop, lambda: trainer.net.weight


@program
def layers_in_a_plain_list(jit):
    layers = [linear(jit), nn.ReLU(), linear(jit, 0.5)]

    @jit.step
    def step(x):
        for layer in layers:
            x = layer(x)
        return x

    def loop(i):
        if i == 5:
            layers[1] = nn.Tanh()
        if i == 10:
            layers.pop()
        return step(batch(i))

    return loop, lambda: len(layers)


@program
def plain_list_of_layers_in_a_cell(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.acts = [nn.ReLU(), nn.Tanh()]
            self.w = Parameter(weight(), name="w")

        @jit.construct
        def construct(self, x):
            for act in self.acts:
                x = act(ops.matmul(x, self.w))
            return x

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            net.acts[0] = nn.Sigmoid()
        if i == 11:
            net.acts.reverse()
        return step(batch(i))

    return loop, lambda: [type(act).__name__ for act in net.acts]


@program
def heads_in_a_dict(jit):
    heads = {"a": linear(jit), "b": linear(jit, -1.0)}

    @jit.step
    def step(x, task):
        return heads[task](x)

    def loop(i):
        if i == 7:
            heads["a"] = heads["b"]
        if i == 12:
            del heads["b"]
        return step(batch(i), "ab"[i % 2])

    return loop, lambda: sorted(heads)


@program
def sub_cell_replaced(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body, self.head = linear(jit), nn.ReLU()

        @jit.construct
        def construct(self, x):
            return self.head(self.body(x))

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 4:
            net.head = nn.Tanh()
        if i == 9:
            setattr(net, "body", linear(jit, 3.0))
        return step(batch(i))

    return loop, lambda: type(net.head).__name__


@program
def cell_in_a_class_attribute(jit):
    class Backbones:
        default = nn.ReLU()

    @jit.step
    def step(x):
        return Backbones.default(x)

    def loop(i):
        if i == 7:
            Backbones.default = nn.Sigmoid()
        return step(batch(i))

    return loop, lambda: type(Backbones.default).__name__


@program
def frozen_and_thawed(jit):
    net = nn.SequentialCell(linear(jit), linear(jit, 0.5))
    weights = list(net.get_parameters())

    @jit.step
    def step(x):
        trained = [p for p in weights if p.requires_grad]
        return ms.grad(lambda x: net(x).sum(), None, trained)(x)

    def loop(i):
        weights[0].requires_grad = i // 4 % 2 == 0
        return step(batch(i))

    return loop, lambda: [p.requires_grad for p in weights]


@program
def trainable_params_read_inside(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        params = net.trainable_params()
        if not params:
            return net(x)
        return ms.value_and_grad(lambda x: net(x).sum(), None, params)(x)

    def loop(i):
        if i == 6:
            net.weight.requires_grad = False
        if i == 11:
            net.set_grad(True)
            net.weight.requires_grad = True
        return step(batch(i))

    return loop, lambda: net.weight.requires_grad


@program
def weight_of_another_shape(jit):
    class Growing(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(), name="w")

        @jit.construct
        def construct(self, x):
            return ops.matmul(x, self.w)

    net = Growing()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 4 == 3:
            old = net.w.asnumpy()
            net.w = Parameter(np.concatenate([old, old[:, :1]], 1), name="w")
        return step(batch(i))

    return loop, lambda: net.w


@program
def weight_of_another_type(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        return net(x.astype(net.weight.dtype))

    def loop(i):
        if i == 5:
            net.weight.set_dtype(ms.float16)
        if i == 10:
            net.weight.set_dtype(ms.float32)
        return step(batch(i))

    return loop, lambda: net.weight


@effect_free(states=2)
def training_and_prediction_in_turn(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = linear(jit)

        @jit.construct
        def construct(self, x):
            y = self.body(x)
            return y * 2 if self.training else y

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.set_train(i % 2 == 0)
        return step(batch(i))

    return loop, lambda: net.training


@program
def batch_norm_in_turn(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3, momentum=0.5)

        @jit.construct
        def construct(self, x):
            return self.norm(x)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.set_train(i % 3 > 0)
        return step(batch(i))

    return loop, lambda: (net.norm.moving_mean, net.norm.moving_variance)


@program
def evaluation_inside_the_step(jit):
    net = nn.SequentialCell(linear(jit), nn.Dropout(p=0.5))

    @jit.step
    def step(x):
        net.set_train(False)
        y = net(x)
        net.set_train(True)
        return y, net.training

    return (lambda i: step(batch(i))), lambda: net.training


@program
def shared_layer_untied(jit):
    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = linear(jit)
            self.b = self.a

        @jit.construct
        def construct(self, x):
            return self.b(self.a(x))

    net = Tied()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 7:
            net.b = linear(jit, -1.0)
        return step(batch(i))

    return loop, lambda: net.a is net.b


@program
def shared_parameter_untied(jit):
    shared = Parameter(weight(), name="shared")

    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            self.embed = shared
            self.out = shared

        @jit.construct
        def construct(self, x):
            return ops.matmul(ops.matmul(x, self.embed), self.out.T)

    net = Tied()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            shared.set_data(Tensor(weight(2.0)))
        if i == 10:
            net.out = Parameter(weight(-1.0), name="out")
        return step(batch(i))

    return loop, lambda: net.embed is net.out


@program
def pruned_by_a_mask(jit):
    net = linear(jit)
    masks = {}

    @jit.step
    def step(x):
        for p in net.trainable_params():
            if p.name in masks:
                p.set_data(p * masks[p.name])
        return net(x)

    def loop(i):
        if i == 6:
            masks[net.weight.name] = Tensor((weight() > 0).astype(np.float32))
        return step(batch(i))

    return loop, lambda: (sorted(masks), net.weight)


@program
def lora_added_later(jit):
    class Adapted(nn.Cell):
        def __init__(self, base):
            super().__init__()
            self.base, self.lora = base, None

        @jit.construct
        def construct(self, x):
            y = self.base(x)
            if self.lora is not None:
                y = y + ops.matmul(x, self.lora)
            return y

    net = Adapted(linear(jit))
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            net.lora = Parameter(weight(0.5), name="lora")
        if i == 11:
            net.base.weight.set_data(net.base.weight + net.lora)
            net.lora = None
        return step(batch(i))

    return loop, lambda: net.lora


@program
def cells_appended(jit):
    class Progressive(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stages = nn.CellList([linear(jit)])

        @jit.construct
        def construct(self, x):
            for stage in self.stages:
                x = stage(x)
            return x

    net = Progressive()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 5 == 4:
            net.stages.append(linear(jit, 0.5))
        return step(batch(i))

    return loop, lambda: len(net.stages)


@program
def indexed_sequence(jit):
    net = nn.SequentialCell(nn.ReLU(), linear(jit), nn.Tanh())
    taps = [0, 1]

    @jit.step
    def step(x):
        outs = []
        for k in range(len(net)):
            x = net[k](x)
            if k in taps:
                outs.append(x)
        return outs

    def loop(i):
        if i == 6:
            taps.append(2)
        if i == 10:
            net[0] = nn.Sigmoid()
        return step(batch(i))

    return loop, lambda: taps


@program
def weights_assigned_from_a_list(jit):
    nets = [linear(jit, float(k)) for k in (1, 2)]
    target = linear(jit, 0.0)

    @jit.step
    def step(x, tau=0.5):
        for net in nets:
            target.weight.set_data(target.weight * (1 - tau) + net.weight * tau)
        return target(x)

    def loop(i):
        if i == 8:
            nets.append(linear(jit, -4.0))
        return step(batch(i))

    return loop, lambda: target.weight


@program
def parameter_replaced_in_a_tuple(jit):
    params = (Parameter(vector(), name="a"), Parameter(vector(), name="b"))

    @jit.step
    def step(x):
        return x * params[0] + params[1]

    def loop(i):
        nonlocal params
        if i == 6:
            params = (params[1], Parameter(vector(2.0, 2.0, 2.0), name="c"))
        return step(batch(i))

    return loop, lambda: params


@program
def layers_of_another_class(jit):
    class Tripled(nn.ReLU):
        @jit.construct
        def construct(self, x):
            return x * 3

    net = nn.SequentialCell(nn.ReLU(), nn.Tanh())
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            net[0].__class__ = Tripled
        if i == 9:
            fields = dict(net[1].__dict__)
            fields["construct"] = lambda x: x * 7
            net[1].__dict__ = fields
        return step(batch(i))

    return loop, lambda: [type(layer).__name__ for layer in net]
