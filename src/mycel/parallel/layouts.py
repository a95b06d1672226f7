# SPDX-License-Identifier: Apache-2.0
"""How MindSpore divides Tensors and networks among devices; of one device it is the whole."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.nn import Cell
from mycel.parallel.context import set_auto_parallel_context

# What a Layout calls a dimension that is not divided, and an axis that divides work in time.
WHOLE = "None"
INTERLEAVED = "interleaved_parallel"


class Layout:
    """Devices in a grid whose axes have names; called with names, which axis divides what.

    Args:
        device_matrix: how many devices lie along each axis.
        alias_name: the names of the axes.
        rank_list: which devices; all by default.

    Raises:
        TypeError, ValueError: other than that.

    Source: MindSpore's `mindspore.Layout`.

    Example:
        >>> ms.Layout((1, 1), ("dp", "mp"))("dp", "None").to_dict()["tensor_map"]
        (1, -1)
    """

    def __init__(self, device_matrix, alias_name, rank_list=None):
        for what, given in (("device_matrix", device_matrix), ("alias_name", alias_name)):
            if not isinstance(given, tuple):
                raise wrong(TypeError, f"Layout: {what}", "a tuple", repr(given))
        _check_all(device_matrix, int, "Layout: device_matrix")
        _check_all(alias_name, str, "Layout: alias_name")
        if len(device_matrix) != len(alias_name) or len(set(alias_name)) != len(alias_name):
            raise wrong(ValueError, "Layout: alias_name", "a name of its own per axis", alias_name)
        if WHOLE in alias_name or INTERLEAVED in alias_name[:-1]:
            expected = f"without {WHOLE!r}, and with {INTERLEAVED!r} last if at all"
            raise wrong(ValueError, "Layout: alias_name", expected, alias_name)
        if rank_list is None:
            rank_list = list(range(prod(device_matrix)))
        if not isinstance(rank_list, list):
            raise wrong(TypeError, "Layout: rank_list", "a list", repr(rank_list))
        _check_all(rank_list, int, "Layout: rank_list")
        if len(rank_list) != prod(device_matrix):
            expected = f"a list of {prod(device_matrix)}, as many as the grid has devices"
            raise wrong(ValueError, "Layout: rank_list", expected, rank_list)
        self.device_matrix = device_matrix
        self.alias_name = alias_name
        self.rank_list = rank_list
        self.tensor_map: tuple | None = None

    def __call__(self, *tensor_map) -> Layout:
        """The layout of a Tensor: for each dimension the axis that divides it, or "None".

        Raises:
            ValueError: no such axis, or one that divides two dimensions.
        """
        named = [
            name
            for axis in tensor_map
            for name in (axis if isinstance(axis, tuple) else (axis,))
            if name != WHOLE
        ]
        if len(set(named)) != len(named):
            raise wrong(ValueError, "Each axis of a Layout", "used once", tensor_map)
        placed = Layout(self.device_matrix, self.alias_name, self.rank_list)
        placed.tensor_map = tuple(self._axis(axis) for axis in tensor_map)
        return placed

    def _axis(self, name):
        if isinstance(name, tuple):
            return tuple(self._axis(part) for part in name)
        if name == WHOLE:
            return -1
        if name not in self.alias_name:
            known = ", ".join([*self.alias_name, WHOLE])
            raise wrong(ValueError, "An axis of this Layout", f"one of {known}", repr(name))
        return len(self.alias_name) - 1 - self.alias_name.index(name)

    def to_dict(self) -> dict:
        """The layout as MindSpore writes it: axes are counted from the last.

        Raises:
            ValueError: it was not called with names.
        """
        if self.tensor_map is None:
            expected = "called with an axis, or 'None', for each dimension of a Tensor"
            raise wrong(ValueError, "A Layout", expected, "no call")
        return {
            "device_matrix": self.device_matrix,
            "tensor_map": self.tensor_map,
            "interleaved_parallel": INTERLEAVED in self.alias_name,
            "alias_name": self.alias_name,
            "rank_list": self.rank_list,
        }


def _check_all(given, kind: type, what: str) -> None:
    if not all(type(part) is kind for part in given):
        raise wrong(TypeError, what, f"all {kind.__name__}", repr(given))


def shard(
    fn: Callable[..., Any], in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None
) -> Callable[..., Any]:
    """A function with its inputs divided among devices: on one device, the function itself.

    Args:
        fn: a Cell or function.
        in_strategy: for each input a tuple of 1s or a Layout; None leaves one whole.
        out_strategy, parameter_plan: the same for results and Parameters.

    Raises:
        ValueError: a dimension that is to be divided: there is one device.

    Source: MindSpore's `mindspore.shard`.

    Example:
        >>> double = ms.shard(lambda x: x * 2, in_strategy=((1, 1),))
        >>> print(double(Tensor([[1.0, 2.0]])))
        [[2. 4.]]
    """
    if not callable(fn):
        raise wrong(TypeError, "shard: fn", "a Cell or function", repr(fn))
    for what, given in (
        ("in_strategy", in_strategy),
        ("out_strategy", out_strategy),
        ("parameter_plan", parameter_plan),
    ):
        _check_whole(given, f"shard: {what}")
    return fn


def _check_whole(strategy, what: str) -> None:
    if isinstance(strategy, dict):
        strategy = tuple(strategy.values())
    if isinstance(strategy, Layout):
        strategy = strategy.device_matrix
    if isinstance(strategy, (tuple, list)):
        for part in strategy:
            _check_whole(part, what)
    elif isinstance(strategy, int) and strategy != 1:
        raise wrong(ValueError, what, "1 for every dimension: there is one device", strategy)


class AutoParallel(Cell):
    """A network that MindSpore divides among devices: on one device, the network itself.

    Args:
        network: a Cell.
        parallel_mode: "semi_auto", "sharding_propagation" or "recursive_programming".

    Raises:
        TypeError: not a Cell.
        ValueError: another word.

    Source: MindSpore's `mindspore.parallel.auto_parallel.AutoParallel`.

    Example:
        >>> from mycel.parallel import AutoParallel
        >>> net = AutoParallel(nn.Dense(2, 1, "ones", "zeros"), parallel_mode="semi_auto")
        >>> print(net(Tensor([[1.0, 2.0]])))
        [[3.]]
    """

    _MODES = ("semi_auto", "sharding_propagation", "recursive_programming")

    def __init__(self, network, parallel_mode="semi_auto"):
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise wrong(TypeError, "AutoParallel: network", "a Cell", repr(network))
        if parallel_mode not in self._MODES:
            expected = f"one of {', '.join(self._MODES)}"
            raise wrong(ValueError, "AutoParallel: parallel_mode", expected, repr(parallel_mode))
        self.network = network

    def construct(self, *args, **kwargs) -> Any:
        """What the network gives."""
        return self.network(*args, **kwargs)

    def dataset_strategy(self, config) -> None:
        """How the data is divided; noted once."""
        set_auto_parallel_context(dataset_strategy=config)

    def pipeline(self, stages=1, output_broadcast=False, interleave=False, scheduler="1f1b"):
        """Into how many stages the network is divided; more than one needs more devices."""
        del output_broadcast, interleave, scheduler
        if stages != 1:
            raise wrong(ValueError, "AutoParallel.pipeline: stages", "1, for one device", stages)

    def get_pipeline_stages(self) -> int:
        """Into how many stages the network is divided: 1."""
        return 1

    def __getattr__(self, name: str):
        if name in _NOTED:
            return lambda *args, **kwargs: log.note_once(f"AutoParallel.{name} has no effect here")
        return super().__getattribute__(name)


# Settings of AutoParallel that mean nothing on one device.
_NOTED = frozenset(
    """
    comm_fusion disable_gradient_fp32_sync disable_loss_repeated_mean
    disable_strategy_file_only_for_trainable_params dump_local_norm enable_device_local_norm
    enable_fp32_communication enable_gradients_mean hsdp load_operator_strategy_file
    load_param_strategy_file no_init_parameters_in_compile print_local_norm
    save_operator_strategy_file save_param_strategy_file set_group_ckpt_save_file transformer_opt
    """.split()  # noqa: SIM905 - a list of words reads better as words
)


def sync_pipeline_shared_parameters(net: Any) -> None:
    """Give Parameters that stages share one value; there is one stage.

    Source: MindSpore's `mindspore.sync_pipeline_shared_parameters`.

    Example:
        >>> ms.sync_pipeline_shared_parameters(nn.Dense(2, 1))
    """
    if not isinstance(net, Cell):
        raise wrong(TypeError, "sync_pipeline_shared_parameters: net", "a Cell", repr(net))


__all__ = ["AutoParallel", "Layout", "shard", "sync_pipeline_shared_parameters"]
