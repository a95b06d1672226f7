# SPDX-License-Identifier: Apache-2.0
"""The faults of docs/errors.md as a user of JAX, without a library of layers, makes them."""

import jax
import jax.numpy as jnp
import numpy as np

VERSION = jax.__version__


def ones(*shape):
    return jnp.ones(shape, jnp.float32)


def dense(parameters, x):
    return x @ parameters["weight"] + parameters["bias"]


def layer(taken, given):
    return {"weight": ones(taken, given), "bias": ones(given)}


def cross_entropy(logits, labels):
    logs = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(logs, labels[:, None], 1).mean()


def convolution(x, weight):
    return jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME")


def dense_width():
    blocks = [layer(13, 12), layer(13, 12)]

    def net(x):
        for block in blocks:
            x = dense(block, x)
        return x

    return net(ones(2, 13))


def broadcast():
    return ones(4, 3) + ones(4)


def concatenate():
    return jnp.concatenate([ones(2, 3), ones(2, 4)], 0)


def channels_last():
    return convolution(ones(8, 32, 32, 3), ones(16, 3, 3, 3))


def no_batch():
    return convolution(ones(28, 28), ones(6, 1, 5, 5))


def flatten_size():
    return ones(32, 16, 4, 4).reshape(-1, 400)


def float_labels():
    return cross_entropy(ones(4, 10), ones(4))


def label_range():
    return cross_entropy(ones(4, 10), jnp.array([1, 2, 10, 3]))


def word_range():
    return ones(100, 8)[jnp.array([[5, 100]])]


def index_range():
    return ones(3, 2)[5]


def truth_of_many():
    if ones(3) > 0:
        pass


def mixed_types():
    return jnp.matmul(ones(2, 4), ones(4, 4).astype(jnp.float16))


def forgotten_return():
    def half(x):
        dense(layer(4, 4), x)

    return dense(layer(4, 2), half(ones(2, 4)))


def wrong_keyword():
    return jnp.sum(ones(2, 3), dim=1)


def list_for_tensor():
    return dense(layer(4, 2), [ones(2, 4), ones(2, 4)])


def backward():
    return jax.grad(dense)(layer(4, 1), ones(2, 4))


def no_path():
    def forward(parameters):
        return np.asarray(dense(parameters, ones(2, 4))).mean()

    return jax.value_and_grad(forward)(layer(4, 1))


def not_called():
    loss, gradients = jax.value_and_grad(dense)


def custom_reverse():
    @jax.custom_vjp
    def scale(x, factor):
        return x * factor

    scale.defvjp(lambda x, f: (x * f, f), lambda f, cotangent: (cotangent * f,))
    return jax.grad(lambda x, f: scale(x, f).sum(), (0, 1))(ones(3), ones(3))


def missing_file():
    return jnp.load("lenet_epoch_12.npz")


def wrong_device():
    return jax.devices("gpu")


def wrong_setting():
    jax.config.update("jax_enable_x46", True)
