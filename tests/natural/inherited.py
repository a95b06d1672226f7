# SPDX-License-Identifier: Apache-2.0
"""Programs whose classes are made of ours: our code reads what they inherit, and they change it.

By name: what stands before the network, what its part is made as, what it computes of `x`, and what
happens between the calls; `part` is a Cell of a class of the program's or of ours.
"""

from __future__ import annotations

import textwrap

import mycel as ms
from natural.common import weight
from natural.families import NAMES, declare

NAMES.update({"weight": weight, "ms": ms, "Tensor": ms.Tensor})

PROGRAM = """\
def {name}(jit):
{before}

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.part = {made}
            self.w = Parameter(weight(), "w")

        @jit.construct
        def construct(self, x):
            return {computed}

    net = Net()
    part = net.part
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i in (5, 9):
{change}
        return step(batch(i))

    return loop, lambda: None
"""
MINE = "class Mine(nn.{base}):\n    pass"
PATCHED = "first = nn.{owner}.{name}\njit.undo(setattr, nn.{owner}, '{name}', first)"

PROGRAMS = {
    "convolution_stride": (
        MINE.format(base="Conv2d"),
        "Mine(1, 1, 2, weight_init='ones')",
        "self.part(x.reshape((1, 1, 2, 3)))",
        "part.stride = (i, i)",
    ),
    "convolution_settings_of_its_class": (
        MINE.format(base="Conv2d"),
        "Mine(1, 1, 2, weight_init='ones')",
        "self.part(x.reshape((1, 1, 2, 3)))",
        "if i == 5: del part.stride\nMine.stride = (i, i)",
    ),
    "pooling_size": (
        MINE.format(base="MaxPool2d"),
        "Mine(1)",
        "self.part(x.reshape((1, 1, 2, 3)))",
        "part.kernel_size = 2 if i == 5 else 1",
    ),
    "dense_activation": (
        MINE.format(base="Dense"),
        "Mine(3, 3, weight_init='ones')",
        "self.part(x)",
        "part.activation, part.activation_flag = (nn.Tanh() if i == 5 else nn.ReLU()), True",
    ),
    "slope_of_one_with_init": (
        "class Mine(nn.LeakyReLU):\n    def __init__(self):\n"
        "        super().__init__(0.5)\n        self.count = 0",
        "Mine()",
        "self.part(x)",
        "part.alpha, part.count = 0.125 * i, i",
    ),
    "construct_that_calls_super": (
        "class Mine(nn.LeakyReLU):\n    def construct(self, x):\n"
        "        return super().construct(x) * 2",
        "Mine(0.5)",
        "self.part(x)",
        "part.alpha = 0.125 * i",
    ),
    "normalisation_epsilon": (
        MINE.format(base="LayerNorm"),
        "Mine((3,))",
        "self.part(x)",
        "part.epsilon = float(i)",
    ),
    "loss_threshold": (
        MINE.format(base="SmoothL1Loss"),
        "Mine()",
        "self.part(x, x * 3)",
        "part.beta = float(i)",
    ),
    "loss_reduction": (
        MINE.format(base="MSELoss"),
        "Mine()",
        "self.part(x, x * 3)",
        "part.reduction = 'sum' if i == 5 else 'none'",
    ),
    "loss_method_of_the_object": (
        "class Mine(nn.LossBase):\n    def construct(self, x, y):\n"
        "        return self.get_loss(x - y)",
        "Mine()",
        "self.part(x, x * 3)",
        "part.get_loss = lambda x, weights=1.0: x.sum() * i",
    ),
    "loss_method_of_its_class": (
        "class Mine(nn.LossBase):\n    def get_loss(self, x, weights=1.0):\n"
        "        return x.sum()\n\n    def construct(self, x, y):\n"
        "        return self.get_loss(x - y)",
        "Mine()",
        "self.part(x, x * 3)",
        "Mine.get_loss = lambda self, x, weights=1.0: x.sum() * i",
    ),
    "loss_method_of_ours": (
        PATCHED.format(owner="LossBase", name="get_loss")
        + "\nclass Mine(nn.LossBase):\n    def construct(self, x, y):\n"
        "        return self.get_loss(x - y)",
        "Mine()",
        "self.part(x, x * 3)",
        "nn.LossBase.get_loss = lambda self, x, weights=1.0: x.sum() * i",
    ),
    "call_of_all_cells": (
        PATCHED.format(owner="Cell", name="__call__"),
        "nn.Dense(3, 3, weight_init='ones')",
        "self.part(x)",
        "nn.Cell.__call__ = lambda self, *given: first(self, *given) * i",
    ),
    "construct_of_ours": (
        PATCHED.format(owner="Dense", name="construct"),
        "nn.Dense(3, 3, weight_init='ones')",
        "self.part(x)",
        "nn.Dense.construct = lambda self, x: first(self, x) * i",
    ),
    "construct_of_a_declared_layer": (
        PATCHED.format(owner="ELU", name="construct"),
        "nn.ELU()",
        "self.part(-x)",
        "nn.ELU.construct = lambda self, x: first(self, x) * i",
    ),
    "declared_setting_of_its_class": (
        MINE.format(base="ELU"),
        "Mine()",
        "self.part(-x)",
        "if i == 5: del part.alpha\nMine.alpha = 0.125 * i",
    ),
    "construct_among_its_fields": (
        "class Mine(nn.Cell):\n    def construct(self, x):\n        return x * 2",
        "Mine()",
        "self.part(x)",
        "part.__dict__['construct'] = lambda x: x * i",
    ),
    "reverse_among_its_fields": (
        "class Mine(nn.Cell):\n    def construct(self, x):\n        return x * 1",
        "Mine()",
        "ms.grad(lambda v: self.part(v).sum())(x)",
        "part.__dict__['bprop'] = lambda x, out, dout: (dout * i,)",
    ),
    "reverse_of_its_class": (
        "class Mine(nn.Cell):\n    def construct(self, x):\n        return x * 1\n\n"
        "    def bprop(self, x, out, dout):\n        return (dout * 2,)",
        "Mine()",
        "ms.grad(lambda v: self.part(v).sum())(x)",
        "Mine.bprop = lambda self, x, out, dout: (dout * i,)",
    ),
    "reverse_that_its_class_gets": (
        "class Mine(nn.Cell):\n    def construct(self, x):\n        return x * 1",
        "Mine()",
        "ms.grad(lambda v: self.part(v).sum())(x)",
        "Mine.bprop = lambda self, x, out, dout: (dout * i,)",
    ),
    "tensor": (
        "class Mine(Tensor):\n    gain = 2.0\n\n    def scaled(self):\n"
        "        return self * self.gain\n\nmine = Mine(weight())",
        "nn.ReLU()",
        "ops.matmul(self.part(x), mine.scaled())",
        "mine.gain = float(i)",
    ),
    "padding_in_a_sequence": (
        "",
        "nn.SequentialCell(nn.Pad(((0, 1), (0, 0))))",
        "self.part(x)",
        "part[0].paddings = ((0, i), (0, 0))",
    ),
}
TRAINED = """\
def {name}(jit):
    class Mine(nn.{base}):
        pass

    w = Parameter(weight(), "w")
    optimizer = Mine([w], {settings})
    gradient = ms.grad(lambda x: ops.matmul(x, w).sum(), None, [w])

    @jit.step
    def step(x):
        optimizer(gradient(x))

    def loop(i):
        if i in (5, 9):
            {change}
        step(batch(i))
        return w.value()

    return loop, lambda: None
"""
OPTIMIZERS = {
    "momentum_nesterov": ("Momentum", "0.1, 0.5", "optimizer.use_nesterov = i == 5"),
    "adam_beta": ("Adam", "0.1", "optimizer.beta1 = Parameter(np.float32(0.1 * i), 'beta')"),
    "decay": ("SGD", "0.1, weight_decay=0.25", "optimizer.weight_decay = 0.125 * i"),
}


def _indented(text: str, depth: int) -> str:
    return textwrap.indent(text or "pass", " " * depth)


for _name, (_before, _made, _computed, _change) in PROGRAMS.items():
    _text = PROGRAM.replace("{name}", f"inherited_{_name}").replace("{made}", _made)
    _text = _text.replace("{computed}", _computed).replace("{before}", _indented(_before, 4))
    declare(f"inherited_{_name}", _text.replace("{change}", _indented(_change, 12)))
for _name, (_base, _settings, _change) in OPTIMIZERS.items():
    _text = TRAINED.replace("{name}", f"inherited_{_name}").replace("{base}", _base)
    _text = _text.replace("{settings}", _settings).replace("{change}", _change)
    declare(f"inherited_{_name}", _text)
