# SPDX-License-Identifier: Apache-2.0
"""The faults of docs/errors.md as a user of PyTorch makes them."""

import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

VERSION = torch.__version__.partition("+")[0]


def ones(*shape):
    return torch.ones(shape)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(13, 12)

    def forward(self, x):
        return self.out(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Mixer(), Mixer()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        self.layer(x)


def dense_width():
    return Net()(ones(2, 13))


def broadcast():
    return ones(4, 3) + ones(4)


def concatenate():
    return torch.cat([ones(2, 3), ones(2, 4)], 0)


def channels_last():
    return nn.Conv2d(3, 16, 3)(ones(8, 32, 32, 3))


def no_batch():
    return nn.Conv2d(1, 6, 5)(ones(28, 28))


def flatten_size():
    return ones(32, 16, 4, 4).reshape(-1, 400)


def float_labels():
    return nn.CrossEntropyLoss()(ones(4, 10), ones(4))


def label_range():
    return nn.CrossEntropyLoss()(ones(4, 10), torch.tensor([1, 2, 10, 3]))


def word_range():
    return nn.Embedding(100, 8)(torch.tensor([[5, 100]]))


def index_range():
    return ones(3, 2)[5]


def truth_of_many():
    if ones(3) > 0:
        pass


def mixed_types():
    return torch.matmul(ones(2, 4), ones(4, 4).half())


def forgotten_super():
    class Forgetful(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(4, 4)

    return Forgetful()


def forgotten_return():
    net = nn.Sequential(Half(), nn.Linear(4, 2))
    return net(ones(2, 4))


def list_of_layers():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]

    return torch.optim.Adam(Listed().parameters(), 0.001)


def wrong_keyword():
    return nn.Conv2d(3, 16, kernel_size=3, has_bias=True)


def list_for_tensor():
    return nn.Linear(4, 2)([ones(2, 4), ones(2, 4)])


def backward():
    return nn.Linear(4, 1)(ones(2, 4)).backward()


def no_path():
    net = nn.Linear(4, 1)
    return torch.tensor(net(ones(2, 4)).detach().numpy().mean()).backward()


def not_called():
    net = nn.Linear(4, 1)
    loss, gradients = torch.func.grad_and_value(net)


def hook_raises():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    scale = {}
    net[1].register_forward_hook(lambda module, inputs, output: output * scale["relu"])
    return net(ones(2, 4))


def custom_reverse():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(factor)
            return x * factor

        @staticmethod
        def backward(ctx, dout):
            (factor,) = ctx.saved_tensors
            return dout * factor

    x, factor = ones(3).requires_grad_(), ones(3).requires_grad_()
    return Scale.apply(x, factor).sum().backward()


def missing_file():
    return torch.load("lenet_epoch_12.pt")


def checkpoint_shape():
    file = os.path.join(tempfile.mkdtemp(), "net.pt")
    torch.save(nn.Linear(4, 10).state_dict(), file)
    return nn.Linear(4, 100).load_state_dict(torch.load(file))


def checkpoint_keys():
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    saved = {f"module.{name}": value for name, value in net.state_dict().items()}
    return net.load_state_dict(saved)


def ragged_batch():
    rows = [torch.arange(3), torch.arange(5)]
    for _ in DataLoader(rows, batch_size=2):
        pass


def map_raises():
    class Pixels(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return np.float32(index).reshape(2, 2)

    for _ in DataLoader(Pixels()):
        pass


def columns():
    net = nn.Linear(4, 1)
    for x, y in DataLoader(TensorDataset(ones(4, 4), ones(4, 1), ones(4, 1)), batch_size=2):
        functional.mse_loss(net(x), y)


def wrong_device():
    return ones(2).to("cuda")


def wrong_setting():
    torch.set_default_dtype("float32")
