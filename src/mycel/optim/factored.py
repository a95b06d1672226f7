# SPDX-License-Identifier: Apache-2.0
"""AdaFactor: mean squares kept as rows and columns, with a fraction of the memory of Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor, update
from mycel.nn.checks import boolean, is_number, number
from mycel.ops import minimum
from mycel.ops.update import rules
from mycel.optim.arguments import opt_init_args_register
from mycel.optim.fused_update import Formula, FusedUpdate
from mycel.optim.optimizer import Optimizer, floating


class AdaFactor(Optimizer):
    """Adam whose mean squares are products of those of rows and columns, with a rate of its own.

    Args:
        params: Parameters; see Optimizer.
        learning_rate: None with `relative_step`; else see Optimizer.
        eps: added to squared gradients; the smallest scale of a Parameter.
        clip_threshold: the largest root mean square of a step, before the rate.
        decay_rate: how fast the mean squares forget less and less.
        beta1: how slowly steps follow; 0 or None keeps no mean.
        weight_decay: this part of each Parameter, times the rate, is taken away.
        scale_parameter: multiply the rate by the root mean square of the Parameter.
        relative_step: the rate is 0.01 at first, and 1 / √step later.
        warmup_init: the rate begins with a millionth of the step; with `relative_step`.
        compression: keep states of vectors in half precision.
        loss_scale: gradients are divided by it.

    Raises:
        ValueError: `learning_rate` with `relative_step` or none without, or a number out of range.
        TypeError: an argument of another type.

    Source: MindSpore's `mindspore.nn.AdaFactor`.

    Example:
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> optimizer = nn.AdaFactor([w], 0.5, scale_parameter=False, relative_step=False,
        ...                          beta1=0.0)
        >>> print(optimizer((Tensor([1.0]),)), w.asnumpy())
        True [0.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params,
        learning_rate=None,
        eps=(1e-30, 0.001),
        clip_threshold=1.0,
        decay_rate=0.8,
        beta1=0.9,
        weight_decay=0.0,
        scale_parameter=True,
        relative_step=True,
        warmup_init=False,
        compression=False,
        loss_scale=1.0,
    ):
        self._check_rate(learning_rate, relative_step, warmup_init)
        dynamic = learning_rate is not None and not is_number(learning_rate)
        super().__init__(0.0 if learning_rate is None else learning_rate, params, 0.0, loss_scale)
        self._check(eps, clip_threshold, decay_rate, beta1, weight_decay)
        self.scale_parameter = boolean(scale_parameter, "AdaFactor: scale_parameter")
        # A schedule is the rate as it is.
        self.scale_parameter = scale_parameter and not dynamic
        self.relative_step = boolean(relative_step, "AdaFactor: relative_step")
        self.warmup_init = boolean(warmup_init, "AdaFactor: warmup_init")
        self.compression = boolean(compression, "AdaFactor: compression")
        self.eps = tuple(Tensor(value, float32) for value in eps)
        self.clip_threshold = Tensor(clip_threshold, float32)
        self.decay_rate = Tensor(-decay_rate, float32)
        self.beta1 = Tensor(beta1 or 0.0, float32)
        self.weight_decay = Tensor(weight_decay, float32)
        self.use_first_moment = bool(beta1)
        if self.use_first_moment:
            self.exp_avg = self.states("exp_avg")
        self._set_squares()
        self.step = Parameter(np.zeros(1, np.float32), name="afactor_step")

    @staticmethod
    def _check_rate(learning_rate, relative_step, warmup_init) -> None:
        if (learning_rate is None) is not bool(relative_step):
            expected = "None with relative_step=True, and a rate without"
            raise wrong(ValueError, "AdaFactor: learning_rate", expected, repr(learning_rate))
        if warmup_init and not relative_step:
            raise wrong(ValueError, "AdaFactor: warmup_init", "False without relative_step", True)

    @staticmethod
    def _check(eps, clip_threshold, decay_rate, beta1, weight_decay) -> None:
        if not isinstance(eps, (tuple, list)):
            raise wrong(TypeError, "AdaFactor: eps", "two floats", type(eps).__name__)
        if len(eps) != 2:
            raise wrong(ValueError, "AdaFactor: eps", "two floats", eps)
        for value in eps:
            floating(value, "AdaFactor: eps", "of at least 0", lambda n: n >= 0)
        floating(clip_threshold, "AdaFactor: clip_threshold", "of at least 0", lambda n: n >= 0)
        floating(decay_rate, "AdaFactor: decay_rate", "between 0 and 1", lambda n: 0 < n < 1)
        number(beta1 or 0.0, "AdaFactor: beta1", "of at least 0", lambda n: n >= 0)
        number(weight_decay, "AdaFactor: weight_decay", "from 0 to 1", lambda n: 0 <= n < 1)

    def _set_squares(self) -> None:
        """Mean squares: of rows and columns for matrices and more, else of elements."""
        rows, columns, squares = [], [], []
        for parameter in self.parameters:
            shape, kind, name = parameter.shape, parameter.dtype.numpy, parameter.name
            large = len(shape) > 1
            half = np.float16 if self.compression and not large else kind
            row = np.zeros(shape[:-1] if large else 1, kind)
            column = np.zeros(shape[:-2] + shape[-1:] if large else 1, kind)
            rows.append(Parameter(row, name=f"exp_avg_sq_row_{name}"))
            columns.append(Parameter(column, name=f"exp_avg_sq_col_{name}"))
            square = np.zeros(1 if large else shape, half)
            squares.append(Parameter(square, name=f"exp_avg_sq_{name}"))
        self.exp_avg_sq_row = ParameterTuple(rows)
        self.exp_avg_sq_col = ParameterTuple(columns)
        self.exp_avg_sq = ParameterTuple(squares)

    def construct(self, gradients) -> Any:
        """Take one step; True."""
        update(self.step, self.step + 1.0)
        count = self.step.reshape(())
        relative = None
        if self.relative_step:
            lowest = count * 1e-6 if self.warmup_init else 0.01
            relative = minimum(lowest, 1.0 / count.sqrt())
        forget = 1.0 - count**self.decay_rate
        settings = forget, *self.eps, self.clip_threshold, self.beta1, self.weight_decay
        states = self.exp_avg_sq_row, self.exp_avg_sq_col, self.exp_avg_sq
        mean = self.exp_avg if self.use_first_moment else None
        formula = Formula(rules.factored, states, settings, (self.scale_parameter,), mean)
        step = FusedUpdate()
        rows = (
            (parameter, gradient, rate if relative is None else relative, None, scale, False)
            for parameter, gradient, rate, _, scale, _ in self._begin(gradients)
        )
        step.apply(formula, rows)
        step.record()
        return self._done
