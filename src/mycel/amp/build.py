# SPDX-License-Identifier: Apache-2.0
"""A step of training put together: precision, loss, loss scale and optimiser around a network."""

from __future__ import annotations

from typing import Any

from mycel.amp.lists import get_black_list
from mycel.amp.managers import DynamicLossScaleManager, LossScaleManager
from mycel.amp.mixed import _spare, auto_mixed_precision, cast_real, check_level
from mycel.kernel.base import log
from mycel.kernel.base.dtypes import DType, float16, float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import parallel
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, one_of
from mycel.nn.loss_scale import TrainOneStepWithLossScaleCell
from mycel.nn.wrap import TrainOneStepCell, WithLossCell

# By level: keep_batchnorm_fp32, cast_model_type, and what makes the loss scale manager.
_LEVELS: dict[str, tuple] = {
    "O0": (False, float32, None),
    "O1": (False, float32, None),
    "O2": (True, float16, DynamicLossScaleManager),
    "O3": (False, float16, None),
}
_KEYWORDS = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")


class _WithLossCell(WithLossCell):
    """A network and its loss, which is computed in Float32."""

    def construct(self, data, label) -> Any:
        """The loss."""
        outputs = cast_real(self._backbone(data), float32)
        return self._loss_fn(outputs, cast_real(label, float32))


def build_train_network(
    network: Cell,
    optimizer: Cell,
    loss_fn: Cell | None = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> Cell:
    """A Cell that trains for one step: (data, label) to the loss, or with a loss scale to
    (loss, overflow, loss scale).

    The levels are those of `auto_mixed_precision`; O2 and O3 compute the network in Float16 and
    the loss in Float32, and O2 scales the loss dynamically.

    Args:
        loss_fn: None if the network returns its loss.
        boost_level: 'O1' and 'O2' are noted in the log; nothing of a step is left out.
        kwargs: `cast_model_type`, `keep_batchnorm_fp32` and `loss_scale_manager` in place of what
            the level says.

    Raises:
        TypeError, ValueError: an argument is wrong; names it.

    Source: MindSpore's `mindspore.amp.build_train_network`; it has no dynamic scale on CPU.

    Example:
        >>> net = nn.Dense(2, 1, "ones", "zeros")
        >>> optimizer = nn.SGD(net.trainable_params(), 0.1)
        >>> step = ms.amp.build_train_network(net, optimizer, nn.MSELoss(), level="O2",
        ...     loss_scale_manager=ms.amp.DynamicLossScaleManager(1024))
        >>> loss, overflow, scale = step(Tensor([[1.0, 2.0]]), Tensor([[5.0]]))
        >>> print(loss, overflow, scale)
        4.0 False 1024.0
    """
    check_level(level, "build_train_network: level")
    check_boost(boost_level, "build_train_network")
    _check_keywords(kwargs)
    keep, model_type, manager = _LEVELS[level]
    keep = kwargs.get("keep_batchnorm_fp32", keep)
    model_type = kwargs.get("cast_model_type", model_type)
    if "loss_scale_manager" in kwargs:
        manager = kwargs["loss_scale_manager"]
    elif manager is not None:
        manager = manager()
    network = _in_precision(network, level, model_type, keep)
    if loss_fn is not None:
        network = _with_loss(network, loss_fn, model_type)
    if manager is None:
        return TrainOneStepCell(network, optimizer, _part_of_batch(network)).set_train()
    update = manager.get_update_cell()
    if update is None:
        scale = manager.get_loss_scale() * (_part_of_batch(network) or 1.0)
        return TrainOneStepCell(network, optimizer, scale).set_train()
    return TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update).set_train()


def _part_of_batch(network: Cell) -> float | None:
    """By what gradients are multiplied that are sums over parts of a batch, in a pipeline or where
    they are accumulated: 1 by the number of parts; None where nothing is multiplied."""
    cells = [cell for _, cell in network.cells_and_names()]
    accumulates = any(getattr(cell, "accumulates_gradients", False) for cell in cells)
    if not accumulates and parallel.get("pipeline_stages") == 1:
        return None
    return next((1 / cell.micro_size for cell in cells if hasattr(cell, "micro_size")), None)


def check_boost(level: str, called: str) -> None:
    """Check MindSpore's level of leaving parts out of steps, and say that nothing is left out.

    Raises:
        ValueError: it is none of 'O0', 'O1' and 'O2'.

    Example:
        >>> from mycel.amp.build import check_boost
        >>> check_boost("O0", "Model")
    """
    one_of(level, f"{called}: boost_level", ("O0", "O1", "O2"))
    if level != "O0":
        log.without_effect(called, {"boost_level": level})


def _in_precision(network: Cell, level: str, model_type: DType, keep: bool) -> Cell:
    if model_type is float16:
        network.to_float(float16)
        if keep:
            keep_batchnorm(network)
    elif level == "O2" and not keep:
        network.to_float(float16)
    elif level not in ("O2", "O3"):
        network = auto_mixed_precision(network, level)
    return network


def keep_batchnorm(network: Cell) -> None:
    """Let the normalisations below a network, which computes in Float16, compute in Float32.

    Example:
        >>> from mycel.amp.build import keep_batchnorm
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3)).to_float(ms.float16)
        >>> keep_batchnorm(net)
        >>> net(ops.ones((2, 2))).dtype
        mindspore.float16
    """
    _spare(network, tuple(get_black_list()), float16)


def _with_loss(network: Cell, loss_fn: Cell, model_type: DType) -> Cell:
    if not isinstance(loss_fn, Cell):
        raise wrong(TypeError, "build_train_network: loss_fn", "a Cell or None", repr(loss_fn))
    low = model_type is float16 or getattr(network, "_amp_level", "O0") in ("O2", "O3")
    return (_WithLossCell if low else WithLossCell)(network, loss_fn)


def _check_keywords(kwargs: dict) -> None:
    for name, value in kwargs.items():
        what = f"build_train_network: {name}"
        if name not in _KEYWORDS:
            raise wrong(ValueError, what, f"one of {', '.join(_KEYWORDS)}", f"{name}={value!r}")
        if name == "cast_model_type" and value not in (float16, float32):
            raise wrong(TypeError, what, "mycel.float16 or mycel.float32", repr(value))
        if name == "keep_batchnorm_fp32":
            boolean(value, what)
        if name == "loss_scale_manager" and not isinstance(value, LossScaleManager | None):
            raise wrong(TypeError, what, "a LossScaleManager or None", repr(value))
