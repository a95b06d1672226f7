# SPDX-License-Identifier: Apache-2.0
"""The formulas of updates: pure functions, each one recorded node for one Parameter.

Every rule takes arrays and returns the new ones in the same order. What varies from step to step
(rates, powers) and what a program may change (momentum, decay) are inputs, so changing them never
compiles anything; only choices of formula are static. The optimisers of `nn`, of
`experimental.optim` and of `mint.optim` share them with the Primitive classes of `ops`.
"""

from mycel.ops.update.adam_rules import (
    ada_max,
    ada_max_of_step,
    adam,
    adam_corrected,
    adam_of_step,
    adam_weight_decay,
    ahead_adam,
    lamb,
    rectified_adam,
)
from mycel.ops.update.descent_rules import (
    averaged_descent,
    descend,
    keras_momentum,
    momentum,
    momentum_of_step,
    proximal_descend,
    resilient,
    sign_agreement,
    stochastic,
)
from mycel.ops.update.gradient_rules import (
    centered,
    gradient_with_decay,
    layerwise,
    layerwise_scaled,
    next_step,
    take_rate,
)
from mycel.ops.update.square_rules import (
    adadelta,
    adagrad,
    adagrad_beside,
    dual_averaging,
    factored,
    ftrl,
    proximal_adagrad,
    root_mean_square,
    root_mean_square_beside,
)

__all__ = [
    "ada_max",
    "ada_max_of_step",
    "adadelta",
    "adagrad",
    "adagrad_beside",
    "adam",
    "adam_corrected",
    "adam_of_step",
    "adam_weight_decay",
    "ahead_adam",
    "averaged_descent",
    "centered",
    "descend",
    "dual_averaging",
    "factored",
    "ftrl",
    "gradient_with_decay",
    "keras_momentum",
    "lamb",
    "layerwise",
    "layerwise_scaled",
    "momentum",
    "momentum_of_step",
    "next_step",
    "proximal_adagrad",
    "proximal_descend",
    "rectified_adam",
    "resilient",
    "root_mean_square",
    "root_mean_square_beside",
    "sign_agreement",
    "stochastic",
    "take_rate",
]
