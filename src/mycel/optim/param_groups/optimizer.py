# SPDX-License-Identifier: Apache-2.0
"""Optimisers with `param_groups`: groups of Parameters as dictionaries, changed at any time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from mycel.kernel.base.cell import of_base
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor, update
from mycel.nn.cell import Cell
from mycel.nn.checks import is_number, number
from mycel.ops.update import rules
from mycel.ops.user.composite import HyperMap, Map
from mycel.optim.fused_update import Formula, FusedUpdate
from mycel.optim.groups import AT_LEAST_ONE, EMPTY
from mycel.optim.optimizer import checked_gradients, new_states


class Group(dict):
    """The settings of some Parameters; a rate that is set goes into the Parameter that holds it.

    So a compiled step sees the new rate and compiles nothing; any other change is noted.
    """

    def __init__(self, settings: dict, changed: Callable[[str], None]):
        super().__init__(settings)
        self._changed = changed

    def __setitem__(self, key, value):
        rate = self.get("lr")
        if key == "lr" and isinstance(rate, Parameter) and value is not rate:
            rate.set_data(value if isinstance(value, Tensor) else Tensor(value, float32))
            return
        super().__setitem__(key, value)
        self._changed(f"{key!r} of a group of Parameters was set inside")

    def __reduce__(self):
        # A copy is made whole: filled key by key it would tell an optimiser that is not one yet.
        return type(self), (dict(self), self._changed)

    def update(self, *settings, **more):
        for key, value in dict(*settings, **more).items():
            self[key] = value


def not_negative(value, what: str):
    """The value, if it is a number (or a Tensor) of at least 0.

    Raises:
        TypeError: not a number.
        ValueError: below 0.
    """
    if isinstance(value, Tensor):
        return value
    return number(value, what, "of at least 0", lambda n: n >= 0)


def positive(value, what: str):
    """The value, if it is a number (or a Tensor) above 0.

    Raises:
        TypeError: not a number.
        ValueError: not above 0.
    """
    if isinstance(value, Tensor):
        return value
    return number(value, what, "above 0", lambda n: n > 0)


def below_one(values, what: str) -> tuple[float, float]:
    """Two numbers from 0 to below 1.

    Raises:
        TypeError: no pair of numbers.
        ValueError: out of range.
    """
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise wrong(TypeError, what, "two numbers", f"{values!r:.40}")
    for n, value in enumerate(values):
        number(value, f"{what}[{n}]", "from 0 to below 1", lambda n: 0 <= n < 1)
    return tuple(values)


class Optimizer(Cell):
    """The base of optimisers with groups: called with a gradient for each Parameter.

    Args:
        params: Parameters, or dictionaries with 'params' and settings of their own.
        defaults: the settings of groups that do not have their own; 'lr' is a number or a Tensor.

    Raises:
        TypeError: an argument of another type.
        ValueError: not Parameters, one in two groups, or a number out of range.

    Source: MindSpore's `mindspore.experimental.optim.Optimizer`.

    Example:
        >>> from mycel.optim import experimental
        >>> class Descent(experimental.Optimizer):
        ...     def __init__(self, params, lr):
        ...         super().__init__(params, {"lr": lr})
        ...     def construct(self, gradients):
        ...         for parameter, gradient in zip(self.parameters, gradients):
        ...             parameter.set_data(parameter - self.lrs[0] * gradient)
        >>> w = Parameter(Tensor([1.0]), name="w")
        >>> Descent([w], 0.5)((Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    _begins_segment = False

    def __init__(self, params, defaults):
        super().__init__(auto_prefix=False)
        # Plain fields: the rates and the states of groups are not named by this Cell.
        fields = self.__dict__
        fields["defaults"] = defaults
        fields["state"] = defaultdict(dict)
        fields["param_groups"], fields["lrs"], fields["group_start_id"] = [], [], [0]
        fields["_added"], fields["_numbers"] = [], {}
        self.map_, self.hyper_map = Map(), HyperMap()
        fields["parameters"] = ()
        for group in _groups_of(params):
            self.add_param_group(group)
        self.parameters = ParameterTuple(self.parameters)

    def add_param_group(self, param_group) -> None:
        """Add Parameters with settings of their own.

        Raises:
            TypeError: no dictionary of Parameters.
            ValueError: one of them is in another group already.
        """
        if not isinstance(param_group, dict) or "params" not in param_group:
            raise wrong(TypeError, "A group", "a dictionary with 'params'", f"{param_group!r:.60}")
        number_of_it = len(self.param_groups)
        settings = {**param_group, "params": self._new_members(param_group["params"])}
        for key, value in self.defaults.items():
            settings.setdefault(key, value)
        settings["lr"] = _rate(settings["lr"], f"learning_rate_group_{number_of_it}")
        what = f"{type(self).__name__}: weight_decay"
        decay = settings.get("weight_decay", 0.0)
        settings["weight_decay"] = float(not_negative(decay, what))
        self.lrs.append(settings["lr"])
        members = settings["params"]
        self.group_start_id.append(self.group_start_id[-1] + len(members))
        self.param_groups.append(Group(settings, self._cell_changed))
        self._extend(members)

    def _new_members(self, params) -> list[Parameter]:
        if isinstance(params, Parameter):
            params = [params]
        if isinstance(params, (set, str, dict)) or not isinstance(params, Iterable):
            actual = type(params).__name__
            raise wrong(TypeError, "The 'params' of a group", "a list of Parameters", actual)
        members, known = list(params), {id(p) for p in self.parameters}
        for parameter in members:
            if not isinstance(parameter, Parameter):
                actual = type(parameter).__name__
                raise wrong(TypeError, "Each of the 'params' of a group", "a Parameter", actual)
            if id(parameter) in known:
                expected = "in one group, once"
                raise wrong(ValueError, "A Parameter", expected, repr(parameter.name))
            known.add(id(parameter))
        return members

    def _extend(self, members) -> None:
        """Take Parameters in, with states if the others have them."""
        parameters = (*self.parameters, *members)
        if not self._added:
            self.__dict__["parameters"] = parameters
            return
        self.parameters = ParameterTuple(parameters)
        for attribute, prefix, fill in self._added:
            more = new_states(members, prefix, fill)
            setattr(self, attribute, ParameterTuple((*getattr(self, attribute), *more)))

    def _add_states(self, attribute: str, prefix: str, fill: float = 0.0) -> None:
        """One Parameter beside each, `prefix.name`, as an attribute; new groups get theirs too.

        Example:
            >>> from mycel.optim import experimental
            >>> optimizer = experimental.SGD([Parameter(Tensor([1.0]), name="w")], 0.5)
            >>> optimizer._add_states("means", "mean")
            >>> optimizer.means[0].name
            'mean.w'
        """
        self._added.append((attribute, prefix, fill))
        setattr(self, attribute, ParameterTuple(new_states(self.parameters, prefix, fill)))

    def _decay_weight(self, weight_decay, params, gradients):
        """The gradients with weight decay added."""
        if weight_decay == 0.0:
            return tuple(gradients)
        decay = self._number(weight_decay)
        rows = zip(params, gradients, strict=True)
        return tuple(rules.gradient_with_decay(gradient, p, decay) for p, gradient in rows)

    # -- one step -----------------------------------------------------------------------

    def construct(self, *hyper_params):
        """Change the Parameters; every optimiser writes its own.

        Raises:
            NotImplementedError: in the base.
        """
        raise NotImplementedError(f"{type(self).__name__} has no construct(self, gradients).")

    def _number(self, value) -> Tensor:
        """A setting as an input of the step, the same one for the same number."""
        if isinstance(value, Tensor):
            return value
        known = self._numbers.get(value)
        if known is None:
            known = self._numbers[value] = Tensor(value, float32)
        return known

    def _count(self, step: Parameter) -> Parameter:
        """The counter of steps, one further."""
        update(step, rules.next_step(step))
        return step

    def _settings(self, group, *names: str) -> list[Tensor]:
        """Settings of a group as inputs of the step."""
        return [self._number(group[name]) for name in names]

    def _formula(self, group, members: slice, step) -> Formula:
        """What `_step` does to the Parameters of a group.

        Args:
            members: which of all Parameters they are.
            step: the counter that `_step` was given.
        """
        raise of_base(self)

    def _rate(self, group, step) -> Tensor:
        """The rate of a group at this step."""
        return self._number(group["lr"])

    def _step(self, gradients, step=None) -> bool:
        """Change every Parameter by the formula of its group, recorded as one operator; True.

        Raises:
            ValueError: not one gradient for each, or one of another shape.
            TypeError: a gradient is not a Tensor.
        """
        gradients, fused = checked_gradients(self, gradients), FusedUpdate()
        for number_of_it, group in enumerate(self.param_groups):
            members = slice(*self.group_start_id[number_of_it : number_of_it + 2])
            formula, rate = self._formula(group, members, step), self._rate(group, step)
            decay = self._number(group["weight_decay"]) if group["weight_decay"] else None
            centralize = "grad_centralization" in self.defaults and group["grad_centralization"]
            own = gradients[members]
            if group.get("maximize"):
                own = [-gradient for gradient in own]
            pairs = zip(self.parameters[members], own, strict=True)
            rows = ((p, gradient, rate, decay, None, centralize) for p, gradient in pairs)
            fused.apply(formula, rows)
        fused.record()
        return True

    def __repr__(self):
        blocks = []
        for n, group in enumerate(self.param_groups):
            lines = [f"Parameter Group {n}"]
            for key in sorted(key for key in group if key != "params"):
                value = group[key].value() if isinstance(group[key], Parameter) else group[key]
                lines.append(f"    {key}: {value}")
            blocks.append("\n".join(lines))
        return f"{type(self).__name__} (\n" + "\n\n".join(blocks) + "\n)"


def _groups_of(params) -> list[dict]:
    if params is None:
        raise wrong(ValueError, "The parameters of an optimiser", "a list of Parameters", None)
    if isinstance(params, (str, dict, Parameter)) or not isinstance(params, Iterable):
        actual = type(params).__name__
        raise wrong(TypeError, "The parameters of an optimiser", "a list of Parameters", actual)
    listed = list(params)
    if not listed:
        raise wrong(ValueError, "The parameters of an optimiser", AT_LEAST_ONE, EMPTY)
    return listed if isinstance(listed[0], dict) else [{"params": listed}]


def _rate(value, name: str) -> Parameter:
    if isinstance(value, Tensor) and value.ndim == 0:
        return Parameter(value.astype(float32), name=name)
    if is_number(value):
        return Parameter(Tensor(float(not_negative(value, "The learning rate")), float32), name)
    kind = ValueError if isinstance(value, Tensor) else TypeError
    expected = "a number or a Tensor without dimensions"
    raise wrong(kind, "The learning rate", expected, f"{type(value).__name__} {value!r:.40}")
