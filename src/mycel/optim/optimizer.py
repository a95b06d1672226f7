# SPDX-License-Identifier: Apache-2.0
"""Optimizer: what all optimisers share: Parameters and groups, rates, decay, the step counter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mycel.kernel.base.context import get_context
from mycel.kernel.base.division import division
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor, update
from mycel.nn.cell import Cell
from mycel.nn.checks import is_number, number
from mycel.nn.containers import CellList
from mycel.ops.update import rules
from mycel.ops.user.composite import HyperMap, Map
from mycel.optim.fused_update import Formula, FusedUpdate
from mycel.optim.groups import Member, members_of
from mycel.optim.schedule import LearningRateSchedule


class _IteratorLearningRate(LearningRateSchedule):
    """A list of rates, one for each step; the last one goes on."""

    def __init__(self, rates, name: str):
        super().__init__()
        self.learning_rate = Parameter(rates, name=name)

    def construct(self, global_step):
        """The rate of this step, of the shape of the step."""
        return rules.take_rate(self.learning_rate, global_step)


class _ConvertToCell(LearningRateSchedule):
    """One rate for all steps, where other groups have schedules."""

    def __init__(self, rate: Parameter):
        super().__init__()
        self.learning_rate = rate

    def construct(self, global_step):
        """The rate."""
        return self.learning_rate


class _WrappedWeightDecay(Cell):
    """A weight decay that depends on the step, multiplied by the loss scale."""

    def __init__(self, weight_decay: Cell, loss_scale: float):
        super().__init__()
        self.weight_decay = weight_decay
        self.loss_scale = loss_scale

    def construct(self, global_step):
        """The weight decay of this step."""
        return (self.weight_decay(global_step) * self.loss_scale).reshape(())


class Optimizer(Cell):
    """The base of optimisers: called with a gradient for each Parameter, it changes them in place.

    Args:
        learning_rate: a float, int or Tensor without dimensions; a list or Tensor of one for each
            step; or a LearningRateSchedule.
        parameters: Parameters, or groups of them: dictionaries with 'params' and perhaps 'lr',
            'weight_decay', 'grad_centralization'; one with 'order_params' alone gives the order.
        weight_decay: this part of each Parameter is added to its gradient; a number, or a Cell of
            the step. Parameters whose names have 'beta' or 'gamma' are spared, unless in groups.
        loss_scale: gradients are divided by it.

    Raises:
        TypeError: an argument of another type.
        ValueError: not Parameters, two of the same name, or a number out of range.
        KeyError: a group with an unknown key.

    Source: MindSpore's `mindspore.nn.Optimizer`.

    Example:
        >>> class Descent(nn.Optimizer):
        ...     def __init__(self, params, learning_rate):
        ...         super().__init__(learning_rate, params)
        ...     def construct(self, gradients):
        ...         for parameter, gradient in zip(self.parameters, gradients):
        ...             parameter.set_data(parameter - self.get_lr() * gradient)
        ...         return True
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> done = Descent([w], 0.5)((Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    learning_rate: Any  # a Parameter, a schedule, or a tuple of one for each group
    _begins_segment = False
    # Of MindSpore's sparse gradients; kept for the caller. Gradients of rows are summed here.
    unique = True

    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        self.loss_scale = float(
            number(loss_scale, f"{name}: loss_scale", "above 0", lambda n: n > 0)
        )
        members, self.is_group = members_of(parameters)
        self.is_group_lr = any(member.rate is not None for member in members)
        self.dynamic_lr = self.dynamic_weight_decay = False
        self.global_step = Parameter(np.zeros(1, np.int32), name="global_step")
        self._set_rates(learning_rate, members)
        self.parameters = ParameterTuple(member.parameter for member in members)
        self.param_length = len(self.parameters)
        self._centralized = tuple(member.centralize for member in members)
        if self.is_group:
            self.grad_centralization_flags = self._centralized
        self._set_decays(weight_decay, members)
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, float32)
        self.need_scale = self.loss_scale != 1.0
        self.map_, self.map_reverse = Map(), Map(reverse=True)
        self.hyper_map, self.hyper_map_reverse = HyperMap(), HyperMap(reverse=True)
        # Every process holds all Parameters and changes all of them.
        self.use_parallel, self.optim_filter = False, (True,) * self.param_length
        self._target = get_context("device_target")
        self._done = Tensor(True)

    # -- learning rates -----------------------------------------------------------------

    def _set_rates(self, learning_rate, members: list[Member]) -> None:
        if not self.is_group_lr:
            self.learning_rate = self._built_rate(learning_rate, "learning_rate")
            return
        by_group: dict[int, object] = {}
        default = None
        for member in members:
            if member.rate is not None and member.group not in by_group:
                name = f"learning_rate_group_{member.group}"
                by_group[member.group] = self._built_rate(member.rate, name)
            elif member.rate is None and default is None:
                default = self._built_rate(learning_rate, "learning_rate")
        rates = [by_group.get(member.group, default) for member in members]
        if self.dynamic_lr:
            self.learning_rate = self._as_cells(rates)
        else:
            self.learning_rate = tuple(rates)
            self._insert_tuple({id(rate): rate for rate in rates}.values())

    def _as_cells(self, rates) -> CellList:
        converted: dict[int, Cell] = {}
        for rate in rates:
            if id(rate) not in converted:
                converted[id(rate)] = rate if isinstance(rate, Cell) else _ConvertToCell(rate)
        return CellList([converted[id(rate)] for rate in rates], auto_prefix=False)

    def _built_rate(self, rate, name: str):
        """A Parameter for a fixed rate, a schedule for one that changes."""
        owner = f"{type(self).__name__}: the learning rate"
        if isinstance(rate, LearningRateSchedule):
            self.dynamic_lr = True
            return rate
        if is_number(rate):
            return Parameter(
                Tensor(number(rate, owner, "of at least 0", lambda n: n >= 0), float32), name=name
            )
        if isinstance(rate, Tensor) and rate.ndim == 0:
            return Parameter(Tensor(rate.asnumpy(), float32), name=name)
        if isinstance(rate, str) or not isinstance(rate, (Tensor, np.ndarray, Iterable)):
            kind = ValueError if isinstance(rate, str) else TypeError
            expected = "a number, a list of numbers, a Tensor or a LearningRateSchedule"
            raise wrong(kind, owner, expected, f"{type(rate).__name__} {rate!r:.40}")
        self.dynamic_lr = True
        rates = np.asarray(
            rate.asnumpy() if isinstance(rate, Tensor) else list(rate), dtype=np.float32
        )
        if rates.ndim != 1 or not rates.size:
            expected = "a list of one or more numbers"
            raise wrong(ValueError, owner, expected, f"shape {rates.shape}")
        return _IteratorLearningRate(rates, name)

    def get_lr(self) -> Any:
        """The rate of the current step, 0-d; a tuple of them if groups have their own.

        Example:
            >>> print(nn.SGD([Parameter(Tensor(1.0), name="w")], 0.5).get_lr().asnumpy())
            0.5
        """
        if not self.dynamic_lr:
            return self.learning_rate
        if not self.is_group_lr:
            return self.learning_rate(self.global_step).reshape(())
        known: dict[int, Tensor] = {}
        for cell in self.learning_rate:
            if id(cell) not in known:
                known[id(cell)] = cell(self.global_step).reshape(())
        return tuple(known[id(cell)] for cell in self.learning_rate)

    def get_lr_parameter(self, param) -> Any:
        """The Parameter that holds the rate of `param`, or its schedule; a list for a list.

        Raises:
            TypeError: neither a Parameter nor a list of them.
            ValueError: a Parameter that this optimiser does not change.

        Example:
            >>> w = Parameter(Tensor(1.0), name="w")
            >>> nn.SGD([w], 0.5).get_lr_parameter(w).name
            'learning_rate'
        """
        if isinstance(param, list):
            return [self.get_lr_parameter(one) for one in param]
        if not isinstance(param, Parameter):
            expected = "a Parameter or a list of them"
            raise wrong(TypeError, "get_lr_parameter: param", expected, type(param).__name__)
        position = next((n for n, p in enumerate(self.parameters) if p is param), None)
        if position is None:
            expected = "one that this optimiser changes"
            raise wrong(ValueError, "get_lr_parameter: param", expected, repr(param.name))
        rate = self.learning_rate[position] if self.is_group_lr else self.learning_rate
        fixed = isinstance(rate, (_ConvertToCell, _IteratorLearningRate))
        return rate.learning_rate if fixed else rate

    # -- weight decay -------------------------------------------------------------------

    def _set_decays(self, weight_decay, members: list[Member]) -> None:
        built: dict[int, object] = {}
        default = self._built_decay(weight_decay)
        decays = []
        for member in members:
            if member.weight_decay is not None and member.group not in built:
                built[member.group] = self._built_decay(member.weight_decay)
            decays.append(built.get(member.group, default))
        flags = [isinstance(decay, Cell) or decay > 0 for decay in decays]
        if not self.is_group:
            names = [parameter.name for parameter in self.parameters]
            spared = ["beta" in name or "gamma" in name for name in names]
            self.exec_weight_decay = any(flags)
            flags = [not s for s in spared]
            self.weight_decay = self._held_decay(default)
            self._decays = (self.weight_decay,) * len(decays)
        else:
            self.exec_weight_decay = any(flags)
            held = {id(decay): self._held_decay(decay) for decay in decays}
            self.weight_decay = self._decays = tuple(held[id(decay)] for decay in decays)
        self.decay_flags = tuple(flags)

    def _built_decay(self, weight_decay):
        """The decay multiplied by the loss scale, because gradients are divided by it later."""
        what = f"{type(self).__name__}: weight_decay"
        if isinstance(weight_decay, Cell):
            self.dynamic_weight_decay = True
            return _WrappedWeightDecay(weight_decay, self.loss_scale)
        if not is_number(weight_decay):
            actual = f"{type(weight_decay).__name__} {weight_decay!r:.40}"
            raise wrong(TypeError, what, "a number or a Cell", actual)
        return float(number(weight_decay, what, "of at least 0", lambda n: n >= 0)) * (
            self.loss_scale
        )

    def _held_decay(self, decay):
        return decay if isinstance(decay, Cell) else Tensor(decay, float32)

    def get_weight_decay(self):
        """The weight decay of the current step; a tuple of them for groups.

        Example:
            >>> print(nn.SGD([Parameter(Tensor(1.0), name="w")], 0.5, weight_decay=0.25)
            ...       .get_weight_decay())
            0.25
        """
        return self._decayed_by() if self.is_group else self._decayed_by()[0]

    def _decayed_by(self) -> tuple[Tensor, ...]:
        known: dict[int, Tensor] = {}
        for decay in self._decays:
            if id(decay) not in known:
                dynamic = isinstance(decay, Cell)
                known[id(decay)] = decay(self.global_step) if dynamic else decay
        return tuple(known[id(decay)] for decay in self._decays)

    # -- one step -----------------------------------------------------------------------

    def construct(self, gradients):
        """Change the Parameters; every optimiser writes its own.

        Raises:
            NotImplementedError: in the base.
        """
        raise NotImplementedError(f"{type(self).__name__} has no construct(self, gradients).")

    def _begin(self, gradients) -> Iterator[tuple]:
        """For each Parameter: itself, gradient, rate, decay or None, scale or None, and whether
        its gradient is centred.

        Advances the step counter; the rates are those before it.
        """
        gradients = checked_gradients(self, gradients)
        rates = self.get_lr()
        if not isinstance(rates, tuple):
            rates = (rates,) * self.param_length
        decays = self._decayed_by() if self.exec_weight_decay else (None,) * self.param_length
        scale = self.reciprocal_scale if self.need_scale else None
        update(self.global_step, rules.next_step(self.global_step))
        for n, parameter in enumerate(self.parameters):
            decay = decays[n] if self.decay_flags[n] else None
            yield parameter, gradients[n], rates[n], decay, scale, self._centralized[n]

    def _step(self, gradients, formula: Formula) -> Tensor:
        """Change every Parameter by a formula, recorded as one operator; True."""
        step = FusedUpdate()
        step.apply(formula, self._begin(gradients))
        step.record()
        return self._done

    def states(self, prefix: str, fill: float = 0.0) -> ParameterTuple:
        """One Parameter beside each, of its shape and type: `prefix.name`, filled with a number.

        Example:
            >>> optimizer = nn.SGD([Parameter(Tensor([1.0]), name="w")], 0.5)
            >>> optimizer.states("mean")[0].name
            'mean.w'
        """
        return ParameterTuple(new_states(self.parameters, prefix, fill))

    # -- steps that optimisers of users are made of ------------------------------------------

    def flatten_gradients(self, gradients):
        """The gradients as they are: memory is laid out by XLA."""
        return gradients

    def decay_weight(self, gradients) -> tuple[Tensor, ...]:
        """The gradients with weight decay added.

        Example:
            >>> optimizer = nn.SGD([Parameter(Tensor([1.0]), name="w")], 0.5, weight_decay=0.5)
            >>> print(optimizer.decay_weight((Tensor([1.0]),))[0])
            [1.5]
        """
        if not self.exec_weight_decay:
            return tuple(gradients)
        rows = zip(gradients, self.parameters, self._decayed_by(), self.decay_flags, strict=True)
        decayed = rules.gradient_with_decay
        return tuple(decayed(g, p, d) if flag else g for g, p, d, flag in rows)

    def gradients_centralization(self, gradients) -> tuple[Tensor, ...]:
        """The gradients of groups with 'grad_centralization' less their means."""
        rows = zip(gradients, self._centralized, strict=True)
        centered = rules.centered
        return tuple(centered(g) if flag and g.ndim > 1 else g for g, flag in rows)

    def scale_grad(self, gradients) -> tuple[Tensor, ...]:
        """The gradients divided by the loss scale."""
        if not self.need_scale:
            return tuple(gradients)
        return tuple(gradient * self.reciprocal_scale for gradient in gradients)

    def assignadd(self, parameter: Parameter, value) -> Parameter:
        """Add to a Parameter in place, as to the step counter."""
        update(parameter, (parameter + value).astype(parameter.dtype))
        return parameter

    @property
    def global_step_increase_tensor(self) -> Tensor:
        """What the step counter grows by."""
        return Tensor([1], self.global_step.dtype)

    @property
    def _parameters(self) -> ParameterTuple:
        """The Parameters, as optimisers of users call them."""
        return self.parameters

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        """Whether a rate or a decay needs the step counter."""
        return self.dynamic_lr or self.dynamic_weight_decay

    def _grad_sparse_indices_deduplicate(self, gradients):
        """The gradients as they are: none of them has an index twice."""
        return gradients

    def broadcast_params(self, optim_result):
        """The result of a step as it is: every process changes all Parameters itself."""
        return optim_result

    @property
    def target(self) -> str:
        """The kind of device that was asked for; XLA places the update where the Parameters are.

        Raises:
            TypeError: set to what is no text.
            ValueError: set to a kind that is none of 'CPU', 'GPU' and 'Ascend'.

        Example:
            >>> optimizer = nn.SGD([Parameter(Tensor([1.0]), name="w")], 0.5)
            >>> optimizer.target = "CPU"
            >>> optimizer.target
            'CPU'
        """
        return self._target

    @target.setter
    def target(self, value: str) -> None:
        self._set_base_target(value)

    def _set_base_target(self, value: str) -> None:
        kinds = ("CPU", "GPU", "Ascend")
        if value not in kinds:
            kind = ValueError if isinstance(value, str) else TypeError
            raise wrong(kind, "Optimizer: target", f"one of {', '.join(kinds)}", repr(value))
        self._target = value


def new_states(parameters: Iterable[Parameter], prefix: str, fill: float) -> list[Parameter]:
    """One Parameter beside each, of its shape and type: `prefix.name`, filled with a number."""
    return [
        Parameter(
            np.full(p.shape, fill, p.dtype.numpy),
            name=f"{prefix}.{p.name}",
            requires_grad=p.requires_grad,
        )
        for p in parameters
    ]


def new_numbers(parameters: Iterable[Parameter], prefix: str, value: float) -> list[Parameter]:
    """A number beside each Parameter, `prefix_name`."""
    return [Parameter(np.float32(value), name=f"{prefix}_{p.name}") for p in parameters]


def checked_gradients(optimizer: Any, gradients) -> Any:
    """The gradients, if there is one for each Parameter of the optimiser, of its shape.

    Raises:
        ValueError: not one for each, or one of another shape.
        TypeError: one of them is not a Tensor.
    """
    if isinstance(gradients, Tensor):
        gradients = (gradients,)
    parameters = optimizer.parameters
    if len(gradients) != len(parameters):
        expected = f"one for each of its {len(parameters)} Parameters"
        what = f"The gradients given to {type(optimizer).__name__}"
        raise wrong(ValueError, what, expected, len(gradients))
    for parameter, gradient in zip(parameters, gradients, strict=True):
        if gradient.__class__ is Tensor and gradient._value.aval is parameter._value.aval:
            continue
        if not isinstance(gradient, Tensor) or gradient.shape != parameter.shape:
            kind, actual = TypeError, type(gradient).__name__
            if isinstance(gradient, Tensor):
                kind, actual = ValueError, gradient.shape
            elif hasattr(gradient, "shape"):
                actual = f"{type(gradient).__module__}.{actual} of shape {gradient.shape}"
            what = f"The gradient for Parameter {parameter.name!r}"
            raise wrong(kind, what, f"a Tensor of shape {parameter.shape}", actual)
    if division.gradient is not None:
        return tuple(map(division.gradient, parameters, gradients))
    return gradients


def set_betas(optimizer: Any, beta1, beta2, eps) -> None:
    """Keep the settings as Tensors: inputs of the step, so that changing them compiles nothing.

    Raises:
        TypeError: not a float.
        ValueError: out of range.
    """
    name = type(optimizer).__name__
    unit_interval(beta1, f"{name}: beta1")
    unit_interval(beta2, f"{name}: beta2")
    floating(eps, f"{name}: eps", "above 0", lambda n: n > 0)
    optimizer.beta1 = Tensor(beta1, float32)
    optimizer.beta2 = Tensor(beta2, float32)
    optimizer.eps = Tensor(eps, float32)


def unit_interval(value, what: str) -> float:
    """The value, if it is a float between 0 and 1, both excluded.

    Raises:
        TypeError: not a float.
        ValueError: out of range.
    """
    return floating(value, what, "between 0 and 1", lambda n: 0 < n < 1)


def floating(value, what: str, expected: str, fits: Callable) -> float:
    """The value, if it is a float that fits.

    Raises:
        TypeError: not a float.
        ValueError: out of range.
    """
    if not isinstance(value, float):
        raise wrong(TypeError, what, f"a float {expected}", f"{type(value).__name__} {value!r}")
    return number(value, what, expected, fits)
