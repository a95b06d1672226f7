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


def _attention(f, w, x, heads: int, at: str = "", causal: bool = False, valid=None):
    """Attention among the elements of a sequence, with its four layers.

    `valid` says which elements there are, [batch, length].
    """
    batch, length, width = x.shape

    def split(name):
        parts = _dense(f, w, f"{at}{name}", x).reshape(batch, length, heads, width // heads)
        return parts.swapaxes(1, 2)

    seen = f.attention(split("query"), split("key"), split("value"), causal, valid)
    return _dense(f, w, f"{at}project", seen.swapaxes(1, 2).reshape(batch, length, width))


def _widened(f, w, x, at: str = ""):
    return _dense(f, w, f"{at}down", f.gelu(_dense(f, w, f"{at}up", x)))


def _normed(f, w, x, name: str):
    return f.layer_norm(x, w[f"{name}.gamma"], w[f"{name}.beta"])


def block(f, w, x, lengths=None, *, heads: int):
    """An encoder block: attention and two layers, each added and normalised behind.

    Behind the end of a sequence nothing is attended to, and zeros are given.
    """
    valid = None if lengths is None else f.valid(lengths, x.shape[1])
    x = _normed(f, w, x + _attention(f, w, x, heads, valid=valid), "norm1")
    x = _normed(f, w, x + _widened(f, w, x), "norm2")
    return x if valid is None else x * valid[:, :, None]


def gpt2(f, w, x):
    """A stack of GPT-2's blocks with its embedding at both ends: logits of [batch * length]."""
    _, width, heads, layers, _ = work.GPT2
    h = f.embedding(w["words"], x) + w["positions"]
    for layer in range(layers):
        at = f"blocks.{layer}."
        h = h + _attention(f, w, _normed(f, w, h, f"{at}norm1"), heads, at, causal=True)
        h = h + _widened(f, w, _normed(f, w, h, f"{at}norm2"), at)
    return _normed(f, w, h, "norm").reshape(-1, width) @ w["words"].T


def classifier(f, w, x):
    """Texts by an LSTM in both directions: logits."""
    h = f.recurrent(f.embedding(w["words"], x), w, "classifier")
    return _dense(f, w, "fc", h.mean(1))


def graph_network(f, w, x):
    """Three layers, each of a node and its neighbours together."""
    begins, ends = f.constants(*work.edges())
    for layer in range(work.GRAPH_LAYERS):
        near = f.segment_sum(f.embedding(x, begins), ends, x.shape[0]) * work.GRAPH_SHARE
        x = _dense(f, w, f"own.{layer}", x) + _dense(f, w, f"near.{layer}", near)
        x = x if layer == work.GRAPH_LAYERS - 1 else f.relu(x)
    return x


def wide_deep(f, w, rows, values):
    """Wide and deep: the logit of one class, from rows of two tables weighted by values."""
    values = values[:, :, None]
    wide = f.sparse_embedding(w["wide.embedding_table"], rows) * values
    deep = f.sparse_embedding(w["deep.embedding_table"], rows) * values
    h, layers = deep.reshape(rows.shape[0], -1), len(work.WIDE_DEEP[2])
    for n in range(layers):
        h = _dense(f, w, f"layers.{n}", h)
        h = h if n == layers - 1 else f.relu(h)
    return h + wide.sum(1)


def unet(f, w, x):
    """U-Net: a logit of every class for each pixel, [pixels, classes]."""
    across, h = [], x
    for at, *_ in work.unet_stages():
        if at.startswith("up"):
            h = f.concatenate([across.pop(), f.lift(h, w[f"{at}.lift.weight"])])
        elif at != "down.0":
            across.append(h)
            h = f.max_pool(h, 2, 2, 0)
        for n in (1, 2):
            h = f.conv(h, w[f"{at}.conv{n}.weight"], 1, 1)
            h = f.relu(f.batch_norm(h, w, f"{at}.bn{n}"))
    h = f.conv(h, w["last.weight"], 1, 0)
    return h.reshape(x.shape[0], work.CLASSES, -1).swapaxes(1, 2).reshape(-1, work.CLASSES)


def inverted(f, w, x, name: str):
    """MobileNetV2 and EfficientNet-B0: logits."""
    function = f.silu if work.INVERTED[name].squeezed else f.relu6
    x = function(f.batch_norm(f.conv(x, w["first.weight"], 2, 1), w, "bn_first"))
    for block in work.inverted_blocks(name):
        at, h = block.name, x
        if block.inside != block.channels:
            h = function(f.batch_norm(f.conv(h, w[f"{at}.widen.weight"], 1, 0), w, f"{at}.bn1"))
        depth = (block.stride, block.kernel // 2, block.inside)
        h = function(f.batch_norm(f.conv(h, w[f"{at}.depth.weight"], *depth), w, f"{at}.bn2"))
        if block.squeeze:
            share = function(_dense(f, w, f"{at}.squeeze", h.mean((2, 3))))
            h = h * f.sigmoid(_dense(f, w, f"{at}.excite", share))[:, :, None, None]
        h = f.batch_norm(f.conv(h, w[f"{at}.narrow.weight"], 1, 0), w, f"{at}.bn3")
        x = h + x if block.adds else h
    x = function(f.batch_norm(f.conv(x, w["last.weight"], 1, 0), w, "bn_last"))
    return _dense(f, w, "fc", x.mean((2, 3)))


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


def output(name: str, f, w, *inputs):
    """What a network of `work` gives."""
    if name in work.RESNETS:
        return resnet(f, w, *inputs, name)
    if name in work.INVERTED:
        return inverted(f, w, *inputs, name)
    if name in work.BLOCKS:
        return block(f, w, *inputs, heads=work.BLOCKS[name][1])
    if name in ("lstm", "gru"):
        return f.recurrent(*inputs, w, name)
    return NETWORKS[name](f, w, *inputs)


NETWORKS = {
    "lenet": lenet,
    "mlp": mlp,
    "gpt2": gpt2,
    "classifier": classifier,
    "graph_network": graph_network,
    "wide_deep": wide_deep,
    "unet": unet,
}


def loss(name: str, f, w, *inputs_and_target):
    """Cross entropy for classes, else the mean square of the difference."""
    *inputs, target = inputs_and_target
    made = output(name, f, w, *inputs)
    if name == "wide_deep":
        return f.binary_cross_entropy(made, target)
    if name in work.REGRESSIONS:
        difference = made - target
        return (difference * difference).mean()
    return f.cross_entropy(made, target)


def is_statistic(label: str) -> bool:
    """Whether a weight is a moving statistic, which no optimiser changes."""
    return ".moving_" in label


def _dense(f, w, name, x):
    return f.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])
