# SPDX-License-Identifier: Apache-2.0
"""How MindSpore divides Tensors and networks among devices; of one device it is the whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any

from jax.sharding import NamedSharding

from mycel.kernel.base.division import COPIES, KEPT, axes_of, division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import parallel
from mycel.kernel.record.stream import demand
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import add_member
from mycel.nn import Cell
from mycel.nn.checks import boolean, positive_integer
from mycel.parallel.context import set_auto_parallel_context
from mycel.parallel.effects import XLA_DECIDES
from mycel.parallel.layout import WHOLE, Layout
from mycel.parallel.pipeline import check_config
from mycel.parallel.placing import shard_function, use_devices
from mycel.report.ledger import ledger


def shard(
    fn: Callable[..., Any], in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None
) -> Callable[..., Any]:
    """A function with its inputs divided among devices. It computes the same.

    Args:
        fn: a Cell or function.
        in_strategy: for each input a tuple with the number of parts of each dimension, or a Layout
            that was called with names; None leaves one as it is.
        out_strategy: the same for the results; XLA chooses by default.
        parameter_plan: the same for Parameters of a Cell, by their names.

    Raises:
        ValueError: a dimension that cannot be divided so, or more parts than there are devices.

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
        if division.call is None:
            _find_devices(given, f"shard: {what}")
    if isinstance(fn, Cell):
        fn.shard(in_strategy, out_strategy, parameter_plan)
        return fn
    if parameter_plan is not None:
        raise wrong(TypeError, "shard: fn", "a Cell, with a parameter_plan", repr(fn))
    return wraps(fn)(shard_function(fn, in_strategy, out_strategy))


def _find_devices(strategy, what: str) -> None:
    """Take the devices that a Layout has.

    Raises:
        ValueError: a strategy divides, but no devices were asked for; or there are not so many.
    """
    if isinstance(strategy, dict):
        strategy = tuple(strategy.values())
    if isinstance(strategy, Layout):
        if prod(strategy.device_matrix) > 1:
            use_devices(prod(strategy.device_matrix), "Layout")
    elif isinstance(strategy, (tuple, list)):
        for part in strategy:
            _find_devices(part, what)
    elif isinstance(strategy, int) and strategy != 1:
        expected = (
            "1 for every dimension: there is one device. All of this process are taken with "
            "set_auto_parallel_context(parallel_mode='semi_auto_parallel')"
        )
        raise wrong(ValueError, what, expected, strategy)


def layout_of(tensor: Tensor) -> Layout | None:
    """How a Tensor lies on several devices; None if every device has the whole, or there is one.

    The axes are those of the grid of devices, whose lengths are prime; `ms.debug.layouts` draws
    which device has what.

    Example:
        >>> print(Tensor([[1.0, 2.0]]).layout)
        None
    """
    sharding = getattr(demand(tensor._value), "sharding", None)
    if not isinstance(sharding, NamedSharding) or sharding.is_fully_replicated:
        return None
    lengths = {n: length for n, length in sharding.mesh.shape.items() if n not in (COPIES, KEPT)}
    axes = axes_of(sharding)
    axes += ((),) * (tensor.ndim - len(axes))
    named = [one[0] if len(one) == 1 else one or WHOLE for one in axes]
    return Layout(tuple(lengths.values()), tuple(lengths))(*named)


add_member("layout", property(layout_of))


class AutoParallel(Cell):
    """A network that is divided among the devices of this process. It computes the same.

    It sets `parallel_mode` to 'semi_auto_parallel' (see `set_auto_parallel_context`).

    Args:
        network: a Cell.
        parallel_mode: "semi_auto", "sharding_propagation" or "recursive_programming"; what has no
            strategy is divided by XLA in all of them.

    Raises:
        TypeError: not a Cell.
        ValueError: another word.

    Source: MindSpore's `mindspore.parallel.auto_parallel.AutoParallel`.

    Example:
        >>> from mycel.parallel import AutoParallel
        >>> net = AutoParallel(nn.Dense(2, 1, "ones", "zeros"), parallel_mode="semi_auto")
        >>> print(net(Tensor([[1.0, 2.0]])))
        [[3.]]
        >>> ms.reset_auto_parallel_context()
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
        set_auto_parallel_context(parallel_mode="semi_auto_parallel")

    def construct(self, *args, **kwargs) -> Any:
        """What the network gives."""
        return self.network(*args, **kwargs)

    def __call__(self, *args, **kwargs) -> Any:
        """What the network gives; the strategy file, if one is wanted, is written then."""
        results = super().__call__(*args, **kwargs)
        if division.enter is not None:
            division.enter(self, (), {})
        return results

    def save_param_strategy_file(self, file_path) -> None:
        """Write how the Parameters that are trained are divided, when the network is called.

        Args:
            file_path: the strategy file, as JSON if its name ends with '.json'; its folder exists.

        Raises:
            TypeError: the name is not a string.

        Example:
            >>> from mycel.parallel import AutoParallel
            >>> net = AutoParallel(nn.Dense(2, 1))
            >>> net.save_param_strategy_file("strategy.json")
            >>> ms.get_auto_parallel_context("strategy_ckpt_save_file")
            'strategy.json'
            >>> ms.reset_auto_parallel_context()
        """
        path = _path(file_path, "save_param_strategy_file")
        set_auto_parallel_context(strategy_ckpt_save_file=path)

    def disable_strategy_file_only_for_trainable_params(self) -> None:
        """Let the strategy file tell of all Parameters, also of those that are not trained."""
        set_auto_parallel_context(strategy_ckpt_config={"only_trainable_params": False})

    def dataset_strategy(self, config) -> None:
        """How the data is divided: 'data_parallel', 'full_batch', or a strategy for each input."""
        set_auto_parallel_context(dataset_strategy=config)

    def pipeline(self, stages=1, output_broadcast=False, interleave=False, scheduler="1f1b"):
        """Into how many stages the network is divided, as `pipeline_stages` and `pipeline_config`
        of `set_auto_parallel_context` say it.

        Args:
            stages: how many; they have as many devices each.
            output_broadcast: accepted: the process has the results of all stages in any case.
            interleave: accepted: each stage is one part of the network.
            scheduler: '1f1b' or 'gpipe'; MindSpore's other words are accepted and run as '1f1b'.

        Raises:
            TypeError: an argument of another type.
            ValueError: less than one stage, or another word.

        Example:
            >>> from mycel.parallel import AutoParallel
            >>> net = AutoParallel(nn.Dense(2, 1))
            >>> net.pipeline(stages=1, scheduler="gpipe")
            >>> net.get_pipeline_stages()
            1
            >>> ms.reset_auto_parallel_context()
        """
        what = "AutoParallel.pipeline"
        stages = positive_integer(stages, f"{what}: stages")
        boolean(output_broadcast, f"{what}: output_broadcast")
        config = {"pipeline_interleave": interleave, "pipeline_scheduler": scheduler}
        check_config(config, what)
        set_auto_parallel_context(
            pipeline_stages=stages,
            pipeline_config=config,
            pipeline_result_broadcast=output_broadcast,
        )

    def get_pipeline_stages(self) -> int:
        """Into how many stages the network is divided."""
        return parallel.get("pipeline_stages")

    def hsdp(self, shard_size=-1, threshold=64, optimizer_level="level1") -> None:
        """Divide what optimisers keep of Parameters among devices.

        Args:
            shard_size: among how many devices; -1 is as many as there are.
            threshold: not those below so many KiB.
            optimizer_level: 'level1' divides that alone, 'level2' gradients too, 'level3' also the
                Parameters, which are gathered where they are used.

        Raises:
            ValueError: another number or word.
        """
        if type(shard_size) is not int or (shard_size < 1 and shard_size != -1):
            expected = "a positive number of devices, or -1"
            raise wrong(ValueError, "AutoParallel.hsdp: shard_size", expected, shard_size)
        config = {"parallel_optimizer_threshold": threshold, "optimizer_level": optimizer_level}
        set_auto_parallel_context(
            enable_parallel_optimizer=True,
            optimizer_weight_shard_size=shard_size,
            parallel_optimizer_config=config,
        )

    def load_param_strategy_file(self, file_path) -> None:
        """Let Parameters lie as a strategy file says, where the program does not say it.

        Raises:
            TypeError: the name is not a string.
        """
        path = _path(file_path, "load_param_strategy_file")
        set_auto_parallel_context(strategy_ckpt_load_file=path)

    def save_operator_strategy_file(self, file_path) -> None:
        """Accepted: XLA finds how operators are divided, and no file is written.

        Raises:
            TypeError: the name is not a string.
            KeyError: it is not that of a JSON file from the root.
        """
        _accept_operators("save_operator_strategy_file", file_path)

    def load_operator_strategy_file(self, file_path) -> None:
        """Accepted: XLA finds how operators are divided that have no strategy of their own.

        Raises:
            TypeError: the name is not a string.
            KeyError: it is not that of a JSON file from the root.
        """
        _accept_operators("load_operator_strategy_file", file_path)

    def set_group_ckpt_save_file(self, file_path) -> None:
        """Accepted: slices of a checkpoint can be read without a file of groups."""
        path = _path(file_path, "set_group_ckpt_save_file")
        set_auto_parallel_context(group_ckpt_save_file=path)

    def comm_fusion(self, config) -> None:
        """Accepted: XLA decides what is sent together."""
        set_auto_parallel_context(comm_fusion=config)

    def enable_fp32_communication(self) -> None:
        """Accepted: XLA decides in which element type it reduces."""
        set_auto_parallel_context(force_fp32_communication=True)

    def disable_gradient_fp32_sync(self) -> None:
        """Accepted: XLA decides in which element type it reduces."""
        set_auto_parallel_context(gradient_fp32_sync=False)

    def enable_gradients_mean(self) -> None:
        """Accepted: a gradient is that of the whole batch, as on one device."""
        set_auto_parallel_context(gradients_mean=True)

    def disable_loss_repeated_mean(self) -> None:
        """Accepted: a gradient is that of the whole batch, as on one device."""
        set_auto_parallel_context(loss_repeated_mean=False)

    def print_local_norm(self) -> None:
        """Accepted: a hook on a Parameter sees its gradient."""
        set_auto_parallel_context(dump_local_norm=True)

    def dump_local_norm(self, file_path) -> None:
        """Accepted: a hook on a Parameter sees its gradient."""
        path = _path(file_path, "dump_local_norm")
        set_auto_parallel_context(dump_local_norm=True, dump_local_norm_path=path)

    def enable_device_local_norm(self) -> None:
        """Accepted: a hook on a Parameter sees its gradient."""
        set_auto_parallel_context(dump_device_local_norm=True)

    def no_init_parameters_in_compile(self) -> None:
        """Accepted: Parameters get their values where they are made."""
        set_auto_parallel_context(init_param_in_compile=False)

    def transformer_opt(self, file_path) -> None:
        """Accepted: XLA decides what computes while something is sent."""
        ledger.accepted(f"AutoParallel.transformer_opt({file_path!r})", XLA_DECIDES)


def _path(given, method: str) -> str:
    if not isinstance(given, str):
        raise wrong(TypeError, f"AutoParallel.{method}: file_path", "a string", repr(given))
    return given


def _accept_operators(method: str, given) -> None:
    path = _path(given, method)
    if not os.path.isabs(path) or not path.endswith(".json"):
        expected = "the name of a .json file, from the root"
        raise wrong(KeyError, f"AutoParallel.{method}: file_path", expected, repr(path))
    ledger.accepted(f"AutoParallel.{method}({path!r})", XLA_DECIDES)


def sync_pipeline_shared_parameters(net: Any) -> None:
    """Give Parameters that stages share one value: they have one, in the first of their stages.

    Source: MindSpore's `mindspore.sync_pipeline_shared_parameters`.

    Example:
        >>> ms.sync_pipeline_shared_parameters(nn.Dense(2, 1))
    """
    if not isinstance(net, Cell):
        raise wrong(TypeError, "sync_pipeline_shared_parameters: net", "a Cell", repr(net))


__all__ = ["AutoParallel", "shard", "sync_pipeline_shared_parameters"]
