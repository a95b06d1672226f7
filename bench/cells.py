# SPDX-License-Identifier: Apache-2.0
"""The work as MindSpore users write it: the same source for mycel and for MindSpore itself."""

from __future__ import annotations

import itertools

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

            def scores(self, x):
                query = self.split(self.query(x), x.shape)
                key = self.split(self.key(x), x.shape).transpose((0, 1, 3, 2))
                return ops.matmul(query, key) / self.size**0.5

            def seen(self, x, scores):
                seen = ops.matmul(ops.softmax(scores, -1), self.split(self.value(x), x.shape))
                return self.project(seen.transpose((0, 2, 1, 3)).reshape(x.shape))

            def construct(self, x):
                x = self.norm1(x + self.seen(x, self.scores(x)))
                return self.norm2(x + self.down(self.gelu(self.up(x))))

        class MaskedBlock(Block):
            def construct(self, x, lengths):
                behind = ops.arange(x.shape[1]) >= lengths.expand_dims(1)
                scores = self.scores(x).masked_fill(behind[:, None, None], -1e9)
                x = self.norm1(x + self.seen(x, scores))
                x = self.norm2(x + self.down(self.gelu(self.up(x))))
                return x.masked_fill(behind[:, :, None], 0.0)

        class CausalBlock(Block):
            def construct(self, x, later):
                h = self.norm1(x)
                x = x + self.seen(h, self.scores(h).masked_fill(later, -1e9))
                return x + self.down(self.gelu(self.up(self.norm2(x))))

        class Gpt2(nn.Cell):
            def __init__(self):
                super().__init__()
                words, width, heads, layers, length = work.GPT2
                self.words = ms.Parameter(ops.zeros((words, width), ms.float32), name="words")
                shape = (length, width)
                self.positions = ms.Parameter(ops.zeros(shape, ms.float32), name="positions")
                self.blocks = nn.CellList([CausalBlock(width, heads) for _ in range(layers)])
                self.norm = nn.LayerNorm((width,), epsilon=1e-5)
                self.later = ms.Tensor(~np.tri(length, dtype=bool))
                self.width = width

            def construct(self, x):
                h = ops.gather(self.words, x, 0) + self.positions
                for block in self.blocks:
                    h = block(h, self.later)
                return ops.matmul(self.norm(h).reshape((-1, self.width)), self.words.T)

        class Recurrent(nn.Cell):
            def __init__(self, name):
                super().__init__()
                layers, width, gates, directions = work.RECURRENT[name]
                kind = nn.LSTM if gates == 4 else nn.GRU
                inputs = work.WORDS[1] if name == "classifier" else width
                both = {"batch_first": True, "bidirectional": directions == 2}
                self.rnn = kind(inputs, width, layers, **both)

            def construct(self, x):
                return self.rnn(x)[0]

        class Classifier(Recurrent):
            def __init__(self):
                super().__init__("classifier")
                self.words = ms.Parameter(ops.zeros(work.WORDS, ms.float32), name="words")
                self.fc = nn.Dense(2 * work.RECURRENT["classifier"][1], work.CLASSES)

            def construct(self, x):
                return self.fc(self.rnn(ops.gather(self.words, x, 0))[0].mean(1))

        class GraphNetwork(nn.Cell):
            def __init__(self):
                super().__init__()
                nodes, inputs = work.RECIPES["graph_network"].inputs
                widths = [inputs, *[work.GRAPH_WIDTH] * work.GRAPH_LAYERS]
                pairs = list(itertools.pairwise(widths))
                self.own = nn.CellList([nn.Dense(*pair) for pair in pairs])
                self.near = nn.CellList([nn.Dense(*pair) for pair in pairs])
                self.begins, self.ends = map(ms.Tensor, work.edges())
                self.nodes, self.last = nodes, len(pairs) - 1

            def construct(self, x):
                for layer in range(self.last + 1):
                    near = ops.unsorted_segment_sum(x[self.begins], self.ends, self.nodes)
                    near = near * work.GRAPH_SHARE
                    x = self.own[layer](x) + self.near[layer](near)
                    if layer < self.last:
                        x = ops.relu(x)
                return x

        class WideDeep(nn.Cell):
            def __init__(self):
                super().__init__()
                rows, width, layers = work.WIDE_DEEP
                # Their gradients are rows in MindSpore.
                self.wide = nn.EmbeddingLookup(rows, 1, "zeros", sparse=True)
                self.deep = nn.EmbeddingLookup(rows, width, "zeros", sparse=True)
                self.inputs = work.RECIPES["wide_deep"].inputs[1] * width
                widths = itertools.pairwise((self.inputs, *layers))
                self.layers = nn.CellList([nn.Dense(*pair) for pair in widths])
                self.last = len(layers) - 1

            def construct(self, rows, values):
                values = values.expand_dims(-1)
                wide, deep = self.wide(rows) * values, self.deep(rows) * values
                h = deep.reshape((-1, self.inputs))
                for n in range(self.last):
                    h = ops.relu(self.layers[n](h))
                return self.layers[self.last](h) + wide.sum(1)

        class Pair(nn.Cell):
            def __init__(self, channels, width):
                super().__init__()
                pad = {"pad_mode": "pad", "padding": 1, "has_bias": False}
                self.conv1 = nn.Conv2d(channels, width, 3, **pad)
                self.conv2 = nn.Conv2d(width, width, 3, **pad)
                self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
                self.relu = nn.ReLU()

            def construct(self, x):
                x = self.relu(self.bn1(self.conv1(x)))
                return self.relu(self.bn2(self.conv2(x)))

        class Up(Pair):
            def __init__(self, channels, width):
                super().__init__(channels, width)
                self.lift = nn.Conv2dTranspose(channels, width, 2, 2, pad_mode="valid")

            def construct(self, x, across):
                x = ops.cat((across, self.lift(x)), 1)
                x = self.relu(self.bn1(self.conv1(x)))
                return self.relu(self.bn2(self.conv2(x)))

        class Unet(nn.Cell):
            def __init__(self):
                super().__init__()
                stages = work.unet_stages()
                self.down = nn.CellList([Pair(*s[1:]) for s in stages if s[0].startswith("down")])
                self.up = nn.CellList([Up(*s[1:]) for s in stages if s[0].startswith("up")])
                self.last = nn.Conv2d(work.UNET[0], work.CLASSES, 1, has_bias=False)
                self.pool = nn.MaxPool2d(2, 2)

            def construct(self, x):
                across = [self.down[0](x)]
                for pair in self.down[1:]:
                    across.append(pair(self.pool(across[-1])))
                h = across.pop()
                for up in self.up:
                    h = up(h, across.pop())
                h = self.last(h).reshape((x.shape[0], work.CLASSES, -1))
                return h.swapaxes(1, 2).reshape((-1, work.CLASSES))

        class Inverted(nn.Cell):
            def __init__(self, block, function):
                super().__init__()
                inside, plain = block.inside, {"has_bias": False}
                self.widens, self.adds = inside != block.channels, block.adds
                self.squeezed = block.squeeze > 0
                if self.widens:
                    self.widen = nn.Conv2d(block.channels, inside, 1, **plain)
                    self.bn1 = nn.BatchNorm2d(inside)
                pad = {"pad_mode": "pad", "padding": block.kernel // 2, "group": inside}
                sizes = (inside, inside, block.kernel, block.stride)
                self.depth = nn.Conv2d(*sizes, **pad, **plain)
                self.bn2 = nn.BatchNorm2d(inside)
                if self.squeezed:
                    self.squeeze = nn.Dense(inside, block.squeeze)
                    self.excite = nn.Dense(block.squeeze, inside)
                self.narrow = nn.Conv2d(inside, block.out, 1, **plain)
                self.bn3, self.function = nn.BatchNorm2d(block.out), function

            def construct(self, x):
                h = x
                if self.widens:
                    h = self.function(self.bn1(self.widen(h)))
                h = self.function(self.bn2(self.depth(h)))
                if self.squeezed:
                    share = self.function(self.squeeze(h.mean((2, 3))))
                    share = ops.sigmoid(self.excite(share))
                    h = h * share.expand_dims(-1).expand_dims(-1)
                h = self.bn3(self.narrow(h))
                return h + x if self.adds else h

        class InvertedNet(nn.Cell):
            def __init__(self, name):
                super().__init__()
                kind = work.INVERTED[name]
                pad = {"pad_mode": "pad", "padding": 1, "has_bias": False}
                self.first, self.bn_first = nn.Conv2d(3, 32, 3, 2, **pad), nn.BatchNorm2d(32)
                self.function = nn.SiLU() if kind.squeezed else nn.ReLU6()
                blocks = [Inverted(block, self.function) for block in work.inverted_blocks(name)]
                self.blocks = nn.SequentialCell(*blocks)
                self.last = nn.Conv2d(kind.stages[-1][1], 1280, 1, has_bias=False)
                self.bn_last = nn.BatchNorm2d(1280)
                self.fc = nn.Dense(1280, work.CLASSES)

            def construct(self, x):
                x = self.blocks(self.function(self.bn_first(self.first(x))))
                x = self.function(self.bn_last(self.last(x)))
                return self.fc(x.mean((2, 3)))

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
            "gpt2": Gpt2,
            "lstm": lambda: Recurrent("lstm"),
            "gru": lambda: Recurrent("gru"),
            "classifier": Classifier,
            "graph_network": GraphNetwork,
            "wide_deep": WideDeep,
            "unet": Unet,
            **{name: lambda name=name: InvertedNet(name) for name in work.INVERTED},
            **{name: lambda sizes=sizes: Block(*sizes) for name, sizes in work.BLOCKS.items()},
            "masked": lambda: MaskedBlock(*work.BLOCKS["masked"]),
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
    *inputs, target = map(ms.Tensor, work.batch(name))
    if inference:
        net = networks.build(name)
        net.set_train(False)
        run = ms.jit(net.construct) if compiled else net
        return lambda: np.asarray(run(*inputs))
    step = training(ms, networks, name)
    run = ms.jit(step) if compiled else step
    return lambda: float(run(*inputs, target).asnumpy())


def training(ms, networks: Networks, name: str):
    """A step of training, of inputs and a target: the loss."""
    nn = ms.nn
    net = networks.build(name)
    net.set_train(True)
    if work.MIXED:
        net = ms.amp.auto_mixed_precision(net, "O2", ms.bfloat16)
    recipe = work.RECIPES[name]
    trained = net.trainable_params()
    if recipe.optimizer == "adam":
        optimizer = nn.Adam(trained, recipe.rate)
    elif recipe.optimizer == "lazy adam":
        optimizer = nn.LazyAdam(trained, recipe.rate)
        # MindSpore then sums the gradients of a row that is named twice, as the others do.
        optimizer.target = "CPU"
    else:
        optimizer = nn.Momentum(trained, recipe.rate, work.MOMENTUM)
    if name == "wide_deep":
        criterion = nn.BCEWithLogitsLoss()
    else:
        criterion = nn.MSELoss() if name in work.REGRESSIONS else nn.CrossEntropyLoss()

    # MindSpore reads the source: a function of its own, not a lambda among arguments.
    def loss_of(*inputs_and_target):
        return criterion(net(*inputs_and_target[:-1]), inputs_and_target[-1])

    derivative = ms.value_and_grad(loss_of, None, trained)

    def step(*inputs_and_target):
        loss, gradients = derivative(*inputs_and_target)
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
