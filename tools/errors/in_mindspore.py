# SPDX-License-Identifier: Apache-2.0
"""The faults of docs/errors.md as a user of MindSpore makes them: in mycel, or, where the variable
FRAMEWORK says so, in MindSpore itself."""

import importlib
import os
import tempfile

import numpy as np

ms = importlib.import_module(os.environ.get("FRAMEWORK", "mycel"))
Tensor, nn, ops, GeneratorDataset = ms.Tensor, ms.nn, ms.ops, ms.dataset.GeneratorDataset

VERSION = ms.__version__


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


class Mixer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.out = nn.Dense(13, 12)

    def construct(self, x):
        return self.out(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Mixer(), Mixer()])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Half(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 4).to_float(ms.float16)

    def construct(self, x):
        self.layer(x)


def dense_width():
    """A layer is given another width than it was made for."""
    return Net()(ones(2, 13))


def broadcast():
    """Two shapes do not broadcast."""
    return ones(4, 3) + ones(4)


def concatenate():
    """Tensors of different widths are joined."""
    return ops.cat([ones(2, 3), ones(2, 4)], 0)


def channels_last():
    """Images with their channels last."""
    return nn.Conv2d(3, 16, 3)(ones(8, 32, 32, 3))


def no_batch():
    """An image without batch and channels."""
    return nn.Conv2d(1, 6, 5)(ones(28, 28))


def flatten_size():
    """Flattened to the wrong size."""
    return ones(32, 16, 4, 4).reshape(-1, 400)


def float_labels():
    """Class numbers that are real numbers."""
    return nn.CrossEntropyLoss()(ones(4, 10), ones(4))


def label_range():
    """A class number beyond the classes."""
    labels = Tensor(np.array([1, 2, 10, 3], np.int32))
    return nn.CrossEntropyLoss()(ones(4, 10), labels)


def word_range():
    """A word beyond the vocabulary."""
    return nn.Embedding(100, 8)(Tensor(np.array([[5, 100]], np.int32)))


def index_range():
    """An index beyond the end."""
    return ones(3, 2)[5]


def truth_of_many():
    """`if` with a condition of many elements."""
    if ones(3) > 0:
        pass


def mixed_types():
    """Half and single precision in one product."""
    layer = nn.Dense(4, 4).to_float(ms.float16)
    layer.weight.set_dtype(ms.float16)
    return ops.matmul(ones(2, 4), layer.weight)


def forgotten_super():
    """`super().__init__()` is forgotten."""

    class Forgetful(nn.Cell):
        def __init__(self):
            self.layer = nn.Dense(4, 4)

    return Forgetful()


def forgotten_return():
    """`return` is forgotten."""
    net = nn.SequentialCell(Half(), nn.Dense(4, 2))
    return net(ones(2, 4))


def list_of_layers():
    """Layers in a plain list."""

    class Listed(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Dense(4, 4), nn.Dense(4, 4)]

    return nn.Adam(Listed().trainable_params(), 0.001)


def wrong_keyword():
    """A keyword of another framework."""
    return nn.Conv2d(3, 16, kernel_size=3, bias=True)


def list_for_tensor():
    """A list where a Tensor is meant."""
    return nn.Dense(4, 2)([ones(2, 4), ones(2, 4)])


def backward():
    """The derivative as another framework takes it."""
    loss = nn.Dense(4, 1)(ones(2, 4)).mean()
    loss.backward()


def no_path():
    """The loss left the record through NumPy."""
    net = nn.Dense(4, 1)

    def forward(x):
        return Tensor(net(x).asnumpy().mean())

    loss, gradients = ms.value_and_grad(forward, None, net.trainable_params())(ones(2, 4))
    return gradients[0]


def not_called():
    """The function of the derivative is not called."""
    net = nn.Dense(4, 1)
    loss, gradients = ms.value_and_grad(net, None, net.trainable_params())


def hook_raises():
    """A hook raises."""
    net = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU())
    scale = {}
    net[1].register_forward_hook(lambda cell, inputs, output: output * scale["relu"])
    return net(ones(2, 4))


def custom_reverse():
    """A custom reverse returns too few gradients."""

    class Scale(nn.Cell):
        def construct(self, x, factor):
            return x * factor

        def bprop(self, x, factor, out, dout):
            return dout * factor

    return ms.grad(Scale(), (0, 1))(ones(3), ones(3))


def missing_file():
    """A file that is not there."""
    return ms.load_checkpoint("lenet_epoch_12.ckpt")


def checkpoint_shape():
    """A checkpoint of another width."""
    file = os.path.join(tempfile.mkdtemp(), "net.ckpt")
    ms.save_checkpoint(nn.Dense(4, 10), file)
    return ms.load_param_into_net(nn.Dense(4, 100), ms.load_checkpoint(file))


def checkpoint_keys():
    """A checkpoint with other names."""
    net = nn.SequentialCell(nn.Dense(4, 4), nn.Dense(4, 2))
    saved = {f"module.{p.name}": p for p in net.get_parameters()}
    ms.load_param_into_net(net, saved, strict_load=True)


def ragged_batch():
    """Rows of different lengths in a batch."""
    rows = [np.arange(3), np.arange(5)]
    data = GeneratorDataset(lambda: ((row,) for row in rows), ["words"]).batch(2)
    for _ in data:
        pass


def map_raises():
    """A function of a dataset raises."""
    data = GeneratorDataset([np.float32(0), np.float32(1)], ["pixel"])
    for _ in data.map(lambda pixel: pixel.reshape(2, 2), ["pixel"]):
        pass


def columns():
    """A dataset with a column too many."""
    rows = [(np.ones(4, np.float32), np.zeros(1, np.float32), np.ones(1, np.float32))] * 4
    data = GeneratorDataset(rows, ["x", "y", "weight"]).batch(2)
    net = nn.Dense(4, 1)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    return model.train(1, data)


def wrong_device():
    """A device that is not there."""
    ms.set_context(device_target="GPU")
    return ones(2) + 1


def wrong_setting():
    """A setting that is spelled wrong."""
    ms.set_context(mod=ms.GRAPH_MODE)
