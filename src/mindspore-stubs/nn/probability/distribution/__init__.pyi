# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.distribution means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.distribution import *
from mindspore.nn.probability.distribution import bernoulli as bernoulli
from mindspore.nn.probability.distribution import beta as beta
from mindspore.nn.probability.distribution import categorical as categorical
from mindspore.nn.probability.distribution import cauchy as cauchy
from mindspore.nn.probability.distribution import distribution as distribution
from mindspore.nn.probability.distribution import exponential as exponential
from mindspore.nn.probability.distribution import gamma as gamma
from mindspore.nn.probability.distribution import geometric as geometric
from mindspore.nn.probability.distribution import gumbel as gumbel
from mindspore.nn.probability.distribution import half_normal as half_normal
from mindspore.nn.probability.distribution import laplace as laplace
from mindspore.nn.probability.distribution import log_normal as log_normal
from mindspore.nn.probability.distribution import logistic as logistic
from mindspore.nn.probability.distribution import normal as normal
from mindspore.nn.probability.distribution import poisson as poisson
from mindspore.nn.probability.distribution import student_t as student_t
from mindspore.nn.probability.distribution import transformed_distribution as transformed_distribution
from mindspore.nn.probability.distribution import uniform as uniform
