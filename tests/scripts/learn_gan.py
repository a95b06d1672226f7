# SPDX-License-Identifier: Apache-2.0
"""A generator learns where a cloud of points lies: two networks, two optimisers."""

import argparse

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np

LATENT = 4
CENTRE = np.array([2.0, -1.0], np.float32)
SPREAD = np.array([0.3, 0.6], np.float32)


class Generator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.model = nn.SequentialCell(nn.Dense(LATENT, 16), nn.LeakyReLU(0.2), nn.Dense(16, 2))

    def construct(self, z):
        return self.model(z)


class Discriminator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.model = nn.SequentialCell(nn.Dense(2, 16), nn.LeakyReLU(0.2), nn.Dense(16, 1))

    def construct(self, points):
        return self.model(points)


parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=1)
parser.add_argument("--n_steps", type=int, default=400)
parser.add_argument("--batch_size", type=int, default=64)
parser.add_argument("--lr_g", type=float, default=0.01)
parser.add_argument("--lr_d", type=float, default=0.04)
parser.add_argument("--b1", type=float, default=0.2, help="adam: decay of the first moment")
opt = parser.parse_args()

ms.set_context(mode=opt.mode)
ms.set_seed(0)

generator = Generator()
generator.update_parameters_name("generator.")
discriminator = Discriminator()
discriminator.update_parameters_name("discriminator.")
generator.set_train()
discriminator.set_train()

optimizer_g = nn.Adam(generator.trainable_params(), learning_rate=opt.lr_g, beta1=opt.b1)
optimizer_d = nn.Adam(discriminator.trainable_params(), learning_rate=opt.lr_d, beta1=opt.b1)
adversarial_loss = nn.BCEWithLogitsLoss()


def generator_forward(z, valid):
    made = generator(z)
    g_loss = adversarial_loss(discriminator(made), valid)
    return g_loss, made


def discriminator_forward(real, made, valid, fake):
    real_loss = adversarial_loss(discriminator(real), valid)
    fake_loss = adversarial_loss(discriminator(made), fake)
    return (real_loss + fake_loss) / 2


grad_generator_fn = ms.value_and_grad(generator_forward, None, optimizer_g.parameters, has_aux=True)
grad_discriminator_fn = ms.value_and_grad(
    discriminator_forward, None, optimizer_d.parameters, has_aux=False
)


def train_step(real, z):
    valid = ops.ones((real.shape[0], 1), ms.float32)
    fake = ops.zeros((real.shape[0], 1), ms.float32)
    (g_loss, made), g_grads = grad_generator_fn(z, valid)
    optimizer_g(g_grads)
    made = ops.stop_gradient(made)
    d_loss, d_grads = grad_discriminator_fn(real, made, valid, fake)
    optimizer_d(d_grads)
    return g_loss, d_loss


def distance(points):
    return float(np.abs(points.mean(0) - CENTRE).max())


if __name__ == "__main__":
    np.random.seed(0)
    watched = ms.Tensor(np.random.randn(256, LATENT), ms.float32)
    print(f"distance before: {distance(generator(watched).asnumpy()):.4f}")
    for step in range(opt.n_steps):
        real = ms.Tensor(CENTRE + SPREAD * np.random.randn(opt.batch_size, 2), ms.float32)
        z = ms.Tensor(np.random.randn(opt.batch_size, LATENT), ms.float32)
        g_loss, d_loss = train_step(real, z)
        if step % 100 == 0:
            print(f"[Step {step}/{opt.n_steps}] [D loss: {d_loss}] [G loss: {g_loss}]")
    generator.set_train(False)
    points = generator(watched).asnumpy()
    names = {p.name.split(".")[0] for p in (*optimizer_g.parameters, *optimizer_d.parameters)}
    print("parameters of:", sorted(names))
    print(f"distance after: {distance(points):.4f}")
    print(f"discriminator loss: {d_loss.asnumpy():.4f}")
