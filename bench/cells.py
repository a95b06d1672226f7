# SPDX-License-Identifier: Apache-2.0
"""The work as MindSpore users write it: the same source for mycel and for MindSpore itself."""

from __future__ import annotations

import numpy as np

from bench import work


class Networks:
    """The networks as Cells of one framework, mycel or MindSpore, with the weights of `work`."""

    def __init__(self, ms):
        self.ms = ms
        nn, ops = ms.nn, ms.ops

        class LeNet(nn.Cell):
            def __init__(self):
                super().__init__()
                self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
                self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
                self.fc1, self.fc2 = nn.Dense(400, 120), nn.Dense(120, 84)
                self.fc3 = nn.Dense(84, work.CLASSES)
                self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

            def construct(self, x):
                x = self.pool(self.relu(self.conv1(x)))
                x = self.flatten(self.pool(self.relu(self.conv2(x))))
                return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))

        class Mlp(nn.Cell):
            def __init__(self):
                super().__init__()
                self.fc1, self.fc2 = nn.Dense(512, 512), nn.Dense(512, 512)
                self.fc3, self.fc4 = nn.Dense(512, 512), nn.Dense(512, work.CLASSES)
                self.relu = nn.ReLU()

            def construct(self, x):
                x = self.relu(self.fc2(self.relu(self.fc1(x))))
                return self.fc4(self.relu(self.fc3(x)))

        class Block(nn.Cell):
            def __init__(self, width, heads):
                super().__init__()
                self.heads, self.size = heads, width // heads
                self.query, self.key = nn.Dense(width, width), nn.Dense(width, width)
                self.value, self.project = nn.Dense(width, width), nn.Dense(width, width)
                self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
                self.norm1 = nn.LayerNorm((width,), epsilon=1e-5)
                self.norm2 = nn.LayerNorm((width,), epsilon=1e-5)
                self.gelu = nn.GELU(approximate=False)

            def split(self, x, shape):
                batch, length, _ = shape
                return x.reshape((batch, length, self.heads, self.size)).transpose((0, 2, 1, 3))

            def construct(self, x):
                query = self.split(self.query(x), x.shape)
                key = self.split(self.key(x), x.shape).transpose((0, 1, 3, 2))
                scores = ops.matmul(query, key) / self.size**0.5
                seen = ops.matmul(ops.softmax(scores, -1), self.split(self.value(x), x.shape))
                seen = self.project(seen.transpose((0, 2, 1, 3)).reshape(x.shape))
                x = self.norm1(x + seen)
                return self.norm2(x + self.down(self.gelu(self.up(x))))

        class Recurrent(nn.Cell):
            def __init__(self):
                super().__init__()
                width = work.LSTM_WIDTH
                self.lstm = nn.LSTM(width, width, work.LSTM_LAYERS, batch_first=True)

            def construct(self, x):
                return self.lstm(x)[0]

        class Residual(nn.Cell):
            def __init__(self, channels, width, stride, bottleneck):
                super().__init__()
                out = width * (4 if bottleneck else 1)
                plan = [(channels, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)]
                if not bottleneck:
                    plan = [(channels, width, 3, stride), (width, width, 3, 1)]
                self.count = len(plan)
                for n, (given, made, kernel, step) in enumerate(plan, 1):
                    pad = {"pad_mode": "pad", "padding": kernel // 2, "has_bias": False}
                    setattr(self, f"conv{n}", nn.Conv2d(given, made, kernel, step, **pad))
                    setattr(self, f"bn{n}", nn.BatchNorm2d(made))
                self.shortened = stride != 1 or channels != out
                if self.shortened:
                    self.shortcut = nn.Conv2d(channels, out, 1, stride, has_bias=False)
                    self.bn_shortcut = nn.BatchNorm2d(out)
                self.relu = nn.ReLU()

            def construct(self, x):
                h = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
                if self.count == 3:
                    h = self.bn3(self.conv3(self.relu(h)))
                if self.shortened:
                    x = self.bn_shortcut(self.shortcut(x))
                return self.relu(h + x)

        class ResNet(nn.Cell):
            def __init__(self, stages, bottleneck):
                super().__init__()
                self.conv1 = nn.Conv2d(3, 64, 7, 2, pad_mode="pad", padding=3, has_bias=False)
                self.bn1, self.relu = nn.BatchNorm2d(64), nn.ReLU()
                self.pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
                blocks = work.resnet_blocks(stages, bottleneck)
                for stage, count in enumerate(stages):
                    made = [Residual(*blocks.pop(0)[1:], bottleneck) for _ in range(count)]
                    setattr(self, f"layer{stage + 1}", nn.SequentialCell(*made))
                self.fc = nn.Dense(512 * (4 if bottleneck else 1), work.CLASSES)

            def construct(self, x):
                x = self.pool(self.relu(self.bn1(self.conv1(x))))
                x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
                return self.fc(x.mean((2, 3)))

        self.made = {
            "lenet": LeNet,
            "mlp": Mlp,
            "lstm": Recurrent,
            **{name: lambda sizes=sizes: Block(*sizes) for name, sizes in work.BLOCKS.items()},
            **{name: lambda sizes=sizes: ResNet(*sizes) for name, sizes in work.RESNETS.items()},
        }

    def build(self, name: str):
        """A network with its weights."""
        net = self.made[name]()
        given = work.weights(name)
        for parameter in net.get_parameters():
            array = given.pop(parameter.name)
            parameter.set_data(self.ms.Tensor(array.reshape(parameter.shape)))
        assert not given, f"not in the network: {list(given)}"
        return net


def make(ms, networks: Networks, name: str, compiled: bool):
    """A function that does one call of a piece of work; `compiled` says whether under `jit`."""
    if name.startswith("chain"):
        return _chain(ms, compiled, *name.split("_")[1:])
    inference = name.endswith("_inference")
    name = name.removesuffix("_inference")
    x, target = map(ms.Tensor, work.batch(name))
    if inference:
        net = networks.build(name)
        net.set_train(False)
        run = ms.jit(net.construct) if compiled else net
        return lambda: np.asarray(run(x))
    step = training(ms, networks, name)
    run = ms.jit(step) if compiled else step
    return lambda: float(run(x, target).asnumpy())


def training(ms, networks: Networks, name: str):
    """A step of training, of an input and a target: the loss."""
    nn = ms.nn
    net = networks.build(name)
    net.set_train(True)
    target = ms.Tensor(work.batch(name)[1])
    recipe = work.RECIPES[name]
    trained = net.trainable_params()
    if recipe.optimizer == "adam":
        optimizer = nn.Adam(trained, recipe.rate)
    else:
        optimizer = nn.Momentum(trained, recipe.rate, work.MOMENTUM)
    classes = target.dtype == ms.int32
    criterion = nn.CrossEntropyLoss() if classes else nn.MSELoss()

    # MindSpore reads the source: a function of its own, not a lambda among arguments.
    def loss_of(x, target):
        return criterion(net(x), target)

    derivative = ms.value_and_grad(loss_of, None, trained)

    def step(x, target):
        loss, gradients = derivative(x, target)
        optimizer(gradients)
        return loss

    return step


def _chain(ms, compiled, function, size, what):
    x, y = map(ms.Tensor, work.chain_inputs(size))
    function = {"tanh": ms.ops.tanh, "relu": ms.ops.relu}[function]

    def forward(x, y):
        return work.chain(x, y, function)

    run = forward if what == "forward" else ms.grad(forward)
    run = ms.jit(run) if compiled else run
    return lambda: np.asarray(run(x, y))
