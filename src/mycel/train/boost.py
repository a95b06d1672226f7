# SPDX-License-Identifier: Apache-2.0
"""MindSpore's helpers that change a network and its optimiser for speed; nothing is left out here.

Source: MindSpore's `mindspore.boost`.
"""

from __future__ import annotations

from mycel import nn
from mycel.amp.build import check_boost
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import note_once
from mycel.kernel.record.parameter import Parameter
from mycel.nn.cell import Cell
from mycel.optim.layerwise import LARS
from mycel.optim.optimizer import Optimizer

ONLY_GROUPS = "OptimizerProcess: gradients are only centralized where the optimiser has groups"
# What the names of Parameters contain whose gradients are never centralized.
_LEFT = ("beta", "gamma", "bias")


class AutoBoost:
    """Accepts MindSpore's level of leaving parts out of steps, and leaves nothing out.

    Args:
        level: 'O0', 'O1' or 'O2'; what is not 'O0' is noted in the log.
        boost_config_dict: kept for whoever asks.

    Raises:
        ValueError: the level is another.

    Example:
        >>> from mycel.train.boost import AutoBoost
        >>> net = nn.Dense(3, 2)
        >>> optimizer = nn.SGD(net.trainable_params())
        >>> AutoBoost("O1").network_auto_process_train(net, optimizer) == (net, optimizer)
        True
    """

    def __init__(self, level="O0", boost_config_dict=""):
        check_boost(level, "AutoBoost")
        self.level, self.boost_config_dict = level, boost_config_dict

    def network_auto_process_train(self, network, optimizer) -> tuple:
        """The network and the optimiser as they are."""
        return network, optimizer

    def network_auto_process_eval(self, network):
        """The network as it is."""
        return network


class OptimizerProcess:
    """Makes an optimiser like another one, whose groups are divided by what is centralized.

    Args:
        opt: an optimiser that keeps what it was made with, as those of `nn` do; or a LARS.

    Raises:
        TypeError: it is none.

    Example:
        >>> from mycel.train.boost import OptimizerProcess
        >>> net = nn.Dense(3, 2)
        >>> process = OptimizerProcess(nn.Momentum([{"params": net.trainable_params()}], 0.1, 0.9))
        >>> process.add_grad_centralization(net)
        >>> [group.get("grad_centralization", False) for group in process.origin_params]
        [True, False]
        >>> type(process.generate_new_optimizer()).__name__
        'Momentum'
    """

    def __init__(self, opt):
        inner = opt.opt if isinstance(opt, LARS) else opt
        if not isinstance(inner, Optimizer) or "init_params" not in vars(inner):
            expected = "an optimiser that keeps what it was made with"
            raise wrong(TypeError, "OptimizerProcess: opt", expected, type(opt).__name__)
        self.is_lars = isinstance(opt, LARS)
        self.lars_init_args = opt.init_args if self.is_lars else {}
        self.single_opt, self.opt_class = inner, type(inner)
        self.opt_init_args = inner.init_args
        self.learning_rate = inner.init_learning_rate
        self.origin_params = inner.init_params["params"]

    @staticmethod
    def build_params_dict(network) -> dict[int, Cell]:
        """The Cell that each Parameter belongs to, by the identity of the Parameter."""
        return {
            id(parameter): cell
            for _, cell in network.cells_and_names()
            for parameter in cell.get_parameters(expand=False)
        }

    @staticmethod
    def build_gc_params_group(params_dict, parameters) -> list[dict]:
        """Groups, each divided into what is centralized and what is not.

        Not centralized are biases, the scales and shifts of normalisation, and convolutions whose
        channels are in groups.
        """
        made = []
        for group in parameters:
            if "order_params" in group:
                made.append(group)
                continue
            parts: dict[bool, list] = {True: [], False: []}
            for parameter in group["params"]:
                cell = params_dict[id(parameter)]
                in_groups = isinstance(cell, nn.Conv2d) and cell.group > 1
                left = in_groups or any(word in parameter.name for word in _LEFT)
                parts[not left].append(parameter)
            if parts[True]:
                made.append({**group, "params": parts[True], "grad_centralization": True})
            if parts[False]:
                made.append({**group, "params": parts[False]})
        return made

    def add_grad_centralization(self, network) -> None:
        """Divide the groups; without groups this is noted, and nothing is done.

        Raises:
            ValueError: there are no Parameters.
        """
        parameters = list(self.origin_params or ())
        if not parameters:
            raise wrong(ValueError, "The parameters of the optimiser", "at least one", "none")
        if isinstance(parameters[0], Parameter):
            note_once(ONLY_GROUPS)
            return
        known = self.build_params_dict(network)
        self.origin_params = self.build_gc_params_group(known, parameters)

    def generate_new_optimizer(self):
        """An optimiser of the same class and settings, over the groups as they are now."""
        rate = self.learning_rate
        rate = self.single_opt.learning_rate if rate is None else rate
        given = {"params": self.origin_params, "learning_rate": rate, **self.opt_init_args}
        made = self.opt_class(**given)
        return LARS(made, **self.lars_init_args) if self.is_lars else made


class ParameterProcess:
    """Divides Parameters into groups.

    Example:
        >>> from mycel.train.boost import ParameterProcess
        >>> weights = nn.Dense(3, 2).trainable_params()
        >>> [p.comm_fusion for p in ParameterProcess().assign_parameter_group(weights)]
        [1, 2]
    """

    def __init__(self):
        self._number = 1

    def assign_parameter_group(self, parameters, split_point=None):
        """Number the Parameters by group, in `comm_fusion`.

        Args:
            parameters: a list or a tuple; anything else is given back.
            split_point: the places where new groups begin; the middle by default.

        Returns:
            the parameters.
        """
        if not isinstance(parameters, (list, tuple)) or not parameters:
            return parameters
        begins = split_point or [len(parameters) // 2]
        for place, parameter in enumerate(parameters):
            self._number += place in begins
            parameter.comm_fusion = self._number
        return parameters

    @staticmethod
    def generate_group_params(parameters, origin_params) -> list[dict]:
        """Groups of other Parameters, divided as those of the same names are.

        Args:
            parameters: the Parameters.
            origin_params: Parameters or groups, as an optimiser was made with. What is in none of
                its groups gets one with the settings of the group that has most.

        Raises:
            ValueError: there are no origin_params.
            TypeError: they are neither Parameters nor groups.
        """
        origin: list = list(origin_params or ())
        if not origin:
            raise wrong(ValueError, "origin_params", "at least one Parameter or group", "none")
        if isinstance(origin[0], Parameter):
            return [{"params": parameters}]
        if not isinstance(origin[0], dict):
            actual = type(origin[0]).__name__
            raise wrong(TypeError, "origin_params", "Parameters or groups", actual)
        left = {parameter.name: parameter for parameter in parameters}
        made = []
        for group in origin:
            if "order_params" in group:
                made.append({**group, "order_params": parameters})
                continue
            names = [p.name for p in group["params"] if p.name in left]
            made.append({**group, "params": [left.pop(name) for name in names]})
        if left:
            groups = [group for group in origin if "order_params" not in group]
            most = max(groups, key=len, default={})
            made.append({**most, "params": list(left.values())})
        return made
