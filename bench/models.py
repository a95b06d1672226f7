# SPDX-License-Identifier: Apache-2.0
"""The networks as functions, for PyTorch and plain JAX: each brings its own primitives as `f`.

Weights `w` are a dictionary (see work.weights). Networks with moving statistics read and write
them in `w` through `f.batch_norm`.
"""

from __future__ import annotations

from bench import work


def lenet(f, w, x):
    """LeNet-5: logits."""
    h = f.max_pool(f.relu(f.conv(x, w["conv1.weight"], 1, 0)), 2, 2, 0)
    h = f.max_pool(f.relu(f.conv(h, w["conv2.weight"], 1, 0)), 2, 2, 0)
    h = f.relu(_dense(f, w, "fc1", h.reshape(x.shape[0], -1)))
    return _dense(f, w, "fc3", f.relu(_dense(f, w, "fc2", h)))


def mlp(f, w, x):
    """Four layers of width 512: logits."""
    for n in range(1, 4):
        x = f.relu(_dense(f, w, f"fc{n}", x))
    return _dense(f, w, "fc4", x)


def block(f, w, x, heads: int):
    """An encoder block: attention and two layers, each added and normalised behind."""
    batch, length, width = x.shape

    def split(name):
        made = _dense(f, w, name, x).reshape(batch, length, heads, width // heads)
        return made.swapaxes(1, 2)

    seen = f.attention(split("query"), split("key"), split("value"))
    seen = seen.swapaxes(1, 2).reshape(batch, length, width)
    x = f.layer_norm(x + _dense(f, w, "project", seen), w["norm1.gamma"], w["norm1.beta"])
    made = _dense(f, w, "down", f.gelu(_dense(f, w, "up", x)))
    return f.layer_norm(x + made, w["norm2.gamma"], w["norm2.beta"])


def resnet(f, w, x, name: str):
    """A residual network: logits."""
    stages, bottleneck = work.RESNETS[name]
    x = f.relu(f.batch_norm(f.conv(x, w["conv1.weight"], 2, 3), w, "bn1"))
    x = f.max_pool(x, 3, 2, 1)
    for at, _, _, stride in work.resnet_blocks(stages, bottleneck):
        plan = [(1, 0), (stride, 1), (1, 0)] if bottleneck else [(stride, 1), (1, 1)]
        h = x
        for n, (step, pad) in enumerate(plan, 1):
            h = f.batch_norm(f.conv(h, w[f"{at}.conv{n}.weight"], step, pad), w, f"{at}.bn{n}")
            h = f.relu(h) if n < len(plan) else h
        if f"{at}.shortcut.weight" in w:
            x = f.conv(x, w[f"{at}.shortcut.weight"], stride, 0)
            x = f.batch_norm(x, w, f"{at}.bn_shortcut")
        x = f.relu(h + x)
    return _dense(f, w, "fc", x.mean((2, 3)))


def output(name: str, f, w, x):
    """What a network of `work` gives."""
    if name in work.RESNETS:
        return resnet(f, w, x, name)
    if name in work.BLOCKS:
        return block(f, w, x, work.BLOCKS[name][1])
    return {"lenet": lenet, "mlp": mlp, "lstm": lstm}[name](f, w, x)


def lstm(f, w, x):
    """Two layers: the hidden states of the last for all steps."""
    return f.lstm(x, w, work.LSTM_LAYERS)


def loss(name: str, f, w, x, target):
    """Cross entropy for classes, else the mean square of the difference."""
    made = output(name, f, w, x)
    if name in work.BLOCKS or name == "lstm":
        difference = made - target
        return (difference * difference).mean()
    return f.cross_entropy(made, target)


def is_statistic(label: str) -> bool:
    """Whether a weight is a moving statistic, which no optimiser changes."""
    return ".moving_" in label


def _dense(f, w, name, x):
    return f.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])
