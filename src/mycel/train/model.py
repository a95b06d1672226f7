# SPDX-License-Identifier: Apache-2.0
"""Model: a network trained, evaluated and asked, with callbacks and metrics."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from mycel.amp.build import build_train_network, check_boost
from mycel.amp.managers import FixedLossScaleManager, LossScaleManager
from mycel.amp.mixed import check_level
from mycel.kernel.base.errors import END_OF_EPOCH, wrong
from mycel.kernel.base.missing import tell_nearest
from mycel.kernel.base.parallel_settings import shares_training
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.record.stream import flush
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, one_of, positive_integer
from mycel.nn.wrap import WithEvalCell, WithLossCell
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP
from mycel.ops.collectives.primitives import wait_for_all
from mycel.parallel.context import get_device_num, get_parallel_mode
from mycel.train.callbacks.base import POINTS, CallbackManager, InternalCallbackParam
from mycel.train.callbacks.monitors import TimeMonitor, count
from mycel.train.feed import Feed, as_sink_size
from mycel.train.loop import Loop, SinkNetwork
from mycel.train.metrics.base import Metric
from mycel.train.metrics.losses import Loss
from mycel.train.metrics.names import get_metrics
from mycel.train.progress import Epoch, progress, shows

NO_METRICS = "Model: metrics"
TWO_COLUMNS = "A batch of the dataset of a Model with a loss_fn"
OLD_METHODS = (
    "{name} has {methods}, which in Model.fit would run in training and in evaluation alike. Call "
    "them on_train_... or on_eval_... (see Callback)."
)
NO_EVAL_NETWORK = (
    "metrics need an eval_network, or a loss_fn from which one is built; Model was given neither."
)
NOTHING_LEFT = (
    "A backup has %d epochs of this training, which was asked for %d: nothing is left to do. "
    "Remove it to train anew."
)
_log = logging.getLogger("mycel")
_KEYWORDS = ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level")
_PLAIN = (int, float, str, type(None))


@tell_nearest
class Model:
    """A network with its loss, its optimiser and its metrics, and the loops over their data.

    `train`, `fit` and `eval` take any object with `create_tuple_iterator(num_epochs=...)`, or an
    iterable of batches such as a list of tuples; arrays become Tensors. Where stderr is a terminal
    they show a progress bar with the loss and the metrics, elsewhere a line there for each epoch,
    and nothing if the environment has MYCEL_PROGRESS=0.

    Args:
        network: a Cell.
        loss_fn: a Cell of (outputs, label); None if the network returns its loss.
        optimizer: what changes the Parameters; None for a network that is not trained.
        metrics: for `eval` and `fit`: names of metrics in a set, or a dictionary of Metrics by
            name.
        eval_network: a Cell for evaluation; None builds (data, label) to (loss, outputs, label).
        eval_indexes: where loss, outputs and label are in what `eval_network` returns; None
            gives a metric all of it.
        amp_level: 'O0' to 'O3', see `amp.auto_mixed_precision`.
        boost_level: 'O1' and 'O2' are noted in the log; nothing of a step is left out.
        kwargs: `loss_scale_manager`, `keep_batchnorm_fp32`; `boost_config_dict` and `acc_level`
            are accepted.

    Raises:
        TypeError, ValueError: an argument is wrong or missing; the text says which.

    Source: MindSpore's `mindspore.train.Model`.

    Example:
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25), {"loss"})
        >>> data = [(np.ones((2, 1), np.float32), np.zeros((2, 1), np.float32))]
        >>> model.eval(data)
        {'loss': 1.0}
        >>> model.train(1, data)
        >>> model.eval(data), print(model.predict(ops.ones((1, 1))))
        [[0.]]
        ({'loss': 0.0}, None)
    """

    def __init__(
        self,
        network: Cell,
        loss_fn: Cell | None = None,
        optimizer: Cell | None = None,
        metrics=None,
        eval_network: Cell | None = None,
        eval_indexes: list[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs,
    ):
        for name, value in kwargs.items():
            if name not in _KEYWORDS:
                expected = f"one of {', '.join(_KEYWORDS)}"
                raise wrong(ValueError, "A keyword of Model", expected, f"{name}={value!r:.40}")
        if not isinstance(network, Cell):
            raise wrong(TypeError, "Model: network", "a Cell", type(network).__name__)
        check_level(amp_level, "Model: amp_level")
        check_boost(kwargs.get("acc_level", boost_level), "Model")
        self._network = network
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._loss_scale_manager: LossScaleManager | None = kwargs.get("loss_scale_manager")
        self._amp_level = amp_level
        self._metrics = metrics
        if optimizer is None and (amp_level != "O0" or self._loss_scale_manager is not None):
            actual = "None with an amp_level or a loss_scale_manager"
            raise wrong(ValueError, "Model: optimizer", "an optimiser", actual)
        keywords = {k: v for k, v in kwargs.items() if k in _KEYWORDS[:2]}
        self._train_network = self._built(keywords)
        self._metric_fns: dict[str, Metric] = get_metrics(metrics) or {}
        self._eval_network: Any = eval_network
        self._eval_indexes = eval_indexes
        if self._metric_fns:
            self._build_evaluation()
        self._predict_network = network
        self._current_epoch_num = 0
        self._current_step_num = 0
        self._backbone_is_train = True
        self.epoch_iter = 0
        self.batch_num = -1

    def _built(self, keywords: dict) -> Cell:
        """The Cell of one step of training, or what there is of it."""
        if self._optimizer is not None:
            if keywords.get("keep_batchnorm_fp32", True) is None:
                del keywords["keep_batchnorm_fp32"]
            return build_train_network(
                self._network, self._optimizer, self._loss_fn, self._amp_level, **keywords
            )
        if self._loss_fn is not None:
            return WithLossCell(self._network, self._loss_fn)
        return self._network

    def _build_evaluation(self) -> None:
        if self._eval_network is None:
            if self._loss_fn is None:
                raise ValueError(NO_EVAL_NETWORK)
            low = self._amp_level in ("O2", "O3")
            self._eval_network = WithEvalCell(self._network, self._loss_fn, low)
            self._eval_indexes = [0, 1, 2]
        elif self._eval_indexes is not None and (
            not isinstance(self._eval_indexes, list) or len(self._eval_indexes) != 3
        ):
            expected = "None, or a list of three numbers"
            raise wrong(ValueError, "Model: eval_indexes", expected, repr(self._eval_indexes))

    @property
    def train_network(self) -> Cell:
        """The Cell of one step of training."""
        return self._train_network

    @property
    def eval_network(self) -> Cell | None:
        """The Cell of one step of evaluation."""
        return self._eval_network

    @property
    def predict_network(self) -> Cell:
        """The network that `predict` calls."""
        return self._predict_network

    # -- training -----------------------------------------------------------------------

    def train(
        self,
        epoch: int,
        train_dataset,
        callbacks=None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train the network.

        Args:
            epoch: the number of the last epoch.
            train_dataset: what gives the batches: (data, label) with a loss_fn, else the inputs
                of the network.
            callbacks: a Callback or a list of them.
            dataset_sink_mode: accepted; the loop is the same, as XLA computes while Python
                fetches the next batch. Callbacks run after each step, and are told a
                `train_network` whose `network` is the step.
            sink_size: in sink mode, how many batches an epoch has; -1 means all.
            initial_epoch: how many epochs are done already.

        Raises:
            TypeError, ValueError: an argument is wrong, or there is no data.

        Source: MindSpore's `Model.train`.

        Example:
            >>> net = nn.Dense(1, 1, "ones", "zeros")
            >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
            >>> model.train(1, [(ops.ones((1, 1)), ops.zeros((1, 1)))])
            >>> print(net.weight.asnumpy())
            [[0.5]]
        """
        self._run(
            "train", epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch
        )

    def fit(
        self,
        epoch: int,
        train_dataset,
        valid_dataset=None,
        valid_frequency=1,
        callbacks=None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train the network, and evaluate it after epochs.

        Args:
            valid_dataset: what it is evaluated on; None evaluates nothing.
            valid_frequency: after every so many epochs, or a list of epochs.

        The other arguments are those of `train`. The callbacks of this module but TimeMonitor
        run in training only; those of one's own in both.

        Raises:
            TypeError, ValueError: as in `train`, or `valid_dataset` is given and the Model has no
                metrics.

        Source: MindSpore's `Model.fit`. `eval_loss`, which callbacks can follow, is the mean over
        the batches here; there it is that of the last batch.

        Example:
            >>> net = nn.Dense(1, 1, "ones", "zeros")
            >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25), {"mse"})
            >>> data = [(ops.ones((1, 1)), ops.zeros((1, 1)))]
            >>> model.fit(1, data, data, callbacks=ms.train.LossMonitor(0))
            Eval result: epoch 1, metrics: {'mse': 0.0}
        """
        if not isinstance(valid_frequency, (int, list)):
            expected = "an integer or a list of them"
            raise wrong(TypeError, "fit: valid_frequency", expected, repr(valid_frequency))
        if valid_frequency == 0:
            raise wrong(ValueError, "fit: valid_frequency", "a number of epochs", valid_frequency)
        boolean(valid_dataset_sink_mode, "fit: valid_dataset_sink_mode")
        if valid_dataset is not None and not self._metric_fns:
            raise wrong(ValueError, NO_METRICS, "given with a valid_dataset", "None")
        _check_methods(callbacks)
        self._run(
            "fit",
            epoch,
            train_dataset,
            callbacks,
            dataset_sink_mode,
            sink_size,
            initial_epoch,
            valid_dataset,
            valid_frequency,
        )

    def _run(
        self,
        name: str,
        epochs: int,
        dataset,
        callbacks,
        sink: bool,
        sink_size: int,
        initial: int,
        valid_dataset=None,
        valid_frequency=1,
    ) -> None:
        boolean(sink, f"{name}: dataset_sink_mode")
        as_sink_size(sink_size, name)
        positive_integer(epochs, f"{name}: epoch")
        if count(initial, f"{name}: initial_epoch") >= epochs:
            raise wrong(ValueError, f"{name}: initial_epoch", f"below epoch={epochs}", initial)
        feed = Feed(dataset, epochs - initial, sink_size if sink and sink_size != -1 else None)
        told = self._told("train", feed, callbacks)
        told.epoch_num = epochs - initial
        told.train_dataset = dataset
        if sink:
            told.train_network = SinkNetwork(self._train_network)
        with (
            CallbackManager(callbacks) as manager,
            progress(_title(initial, epochs), _steps(feed, epochs - initial)) as move,
        ):
            loop = Loop("train", self._step, told, manager, move, self._check_batch)
            try:
                self._epochs(loop, feed, initial, epochs, valid_dataset, valid_frequency)
            except BaseException:
                for callback in manager._callbacks:
                    save = getattr(callback, "_save_breakpoint", None)
                    if save is not None:
                        save(told)
                raise

    def _epochs(self, loop: Loop, feed: Feed, initial, epochs, valid_dataset, frequency) -> None:
        told = loop.told
        self._set_mode(self._train_network, True, always=True)
        loop.at("begin")
        done = self._resumed(loop, feed, initial, epochs)
        for number in range(done + 1, epochs + 1):
            told.cur_epoch_num = self._current_epoch_num = number
            self._current_step_num = 0
            before, began = told.cur_step_num, time.perf_counter()
            loop.epoch(feed.epoch())
            if shares_training():
                # One with fewer batches would give what it does next to what others still do.
                flush()
                wait_for_all(HCCL_WORLD_COMM_GROUP, END_OF_EPOCH)
            told.batch_num = self.batch_num = feed.batches or told.cur_step_num
            if valid_dataset is not None and _is_due(number, frequency):
                self._evaluate_between(valid_dataset, loop)
            loop.at("epoch_end")
            if shows(loop.move):
                metrics, seconds = told.get("eval_results", {}), time.perf_counter() - began
                steps = told.cur_step_num - before
                loop.move(epoch=Epoch(number, epochs, told.net_outputs, metrics, seconds, steps))
            for name in ("metrics", "eval_results"):
                told.pop(name, None)
            self.epoch_iter = number - initial
            if loop.stopped:
                break
            loop.move(what=_title(number, epochs), total=_steps(feed, epochs - initial))
        loop.at("end")

    @staticmethod
    def _resumed(loop: Loop, feed: Feed, initial: int, epochs: int) -> int:
        """How many epochs are done: those that the caller says, or a callback that has found more
        and tells `resumed_epoch_num`."""
        done = loop.told.pop("resumed_epoch_num", 0)
        if done >= epochs:
            _log.warning(NOTHING_LEFT, done, epochs)
        if done > initial:
            steps = _steps(feed, done - initial) or 0
            loop.move(advance=steps, what=_title(done, epochs))
        done = max(initial, done)
        feed.begin_behind(done, epochs)
        return done

    def _step(self, *batch):
        """One step of training; a loss scale manager is told whether it overflowed."""
        self._current_step_num += 1
        self._set_mode(self._train_network, True)
        outputs = self._train_network(*batch)
        manager = self._loss_scale_manager
        # A fixed scale needs no look at the flag, for which Python would have to wait.
        if manager is not None and type(manager) is not FixedLossScaleManager:
            drops = getattr(manager, "get_drop_overflow_update", None)
            if drops is not None and drops():
                manager.update_loss_scale(bool(np.all(outputs[1].asnumpy())))
        return outputs

    def _check_batch(self, batch: tuple) -> None:
        if self._loss_fn is not None and len(batch) != 2:
            expected = "two columns: data and label"
            raise wrong(ValueError, TWO_COLUMNS, expected, f"{len(batch)} columns")

    # -- evaluation ---------------------------------------------------------------------

    def eval(self, valid_dataset, callbacks=None, dataset_sink_mode: bool = False) -> dict:
        """The metrics of the network on some data.

        Args:
            dataset_sink_mode: accepted; the loop is the same.

        Returns:
            The value of each metric by its name.

        Raises:
            ValueError: the Model has no metrics.

        Source: MindSpore's `Model.eval`.

        Example:
            >>> net = nn.Dense(1, 1, "ones", "zeros")
            >>> model = ms.Model(net, nn.MSELoss(), metrics={"loss", "mae"})
            >>> print(sorted(model.eval([(ops.ones((1, 1)), ops.zeros((1, 1)))]).items()))
            [('loss', 1.0), ('mae', 1.0)]
        """
        boolean(dataset_sink_mode, "eval: dataset_sink_mode")
        if not self._metric_fns:
            raise wrong(ValueError, NO_METRICS, "given for eval", "None")
        feed = Feed(valid_dataset)
        told = self._told("eval", feed, callbacks)
        with CallbackManager(callbacks) as manager, progress("evaluation", feed.batches) as move:
            return self._evaluate(valid_dataset, feed, told, manager, move)

    def _evaluate(self, dataset, feed: Feed, told, manager, move, losses: Loss | None = None):
        for metric in self._metric_fns.values():
            metric.clear()
        told.update(mode="eval", cur_step_num=0, valid_dataset=dataset)
        told.eval_network = self._eval_network

        def behind(outputs):
            self._update_metrics(outputs)
            if losses is not None:
                losses.update(outputs[self._eval_indexes[0]] if self._eval_indexes else outputs[0])

        loop = Loop("eval", self._eval_network, told, manager, move, behind=behind)
        loop.at("begin")
        self._set_mode(self._eval_network, False, always=True)
        loop.epoch(feed.epoch())
        loop.at("epoch_end")
        told.metrics = results = {name: metric.eval() for name, metric in self._metric_fns.items()}
        if losses is not None:
            told.eval_results = {**results, "eval_loss": losses.eval()}
        loop.at("end")
        return results

    def _evaluate_between(self, dataset, loop: Loop) -> None:
        """Evaluate after an epoch of training."""
        told = loop.told
        kept = {name: told[name] for name in ("mode", "cur_step_num", "batch_num", "net_outputs")}
        shared = [c for c in loop.callbacks._callbacks if isinstance(c, TimeMonitor) or _is_own(c)]
        feed = Feed(dataset)
        told.batch_num = feed.batches or sys.maxsize
        self._evaluate(dataset, feed, told, CallbackManager(shared), _stay, Loss())
        told.update(kept)
        self._set_mode(self._train_network, True)

    def _update_metrics(self, outputs) -> None:
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        if not isinstance(outputs, tuple):
            expected = "a Tensor or a tuple"
            raise wrong(ValueError, "What eval_network returns", expected, type(outputs).__name__)
        indexes = self._eval_indexes
        if indexes is not None and len(outputs) < 3:
            expected = "at least three: loss, outputs, label"
            raise wrong(ValueError, "What eval_network returns", expected, len(outputs))
        for metric in self._metric_fns.values():
            if indexes is None:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                metric.update(outputs[indexes[0]])
            else:
                metric.update(outputs[indexes[1]], outputs[indexes[2]])

    # -- prediction ---------------------------------------------------------------------

    def predict(self, *predict_data, backend: str | None = None, config: dict | None = None):
        """What the network returns for some inputs, in prediction.

        Args:
            backend, config: accepted; MindSpore Lite is not there.

        Raises:
            TypeError: an input is not a Tensor, number, string, None, or tuple, list or dictionary
                of them.
            ValueError: a Tensor has no elements.

        Source: MindSpore's `Model.predict`.

        Example:
            >>> print(ms.Model(nn.Dense(1, 1, "ones", "zeros")).predict(Tensor([[2.0]])))
            [[2.]]
        """
        one_of(backend, "predict: backend", ("lite", None))
        for leaf in tree_leaves(predict_data):
            if isinstance(leaf, Tensor):
                if leaf.size == 0:
                    actual = f"one of shape {leaf.shape}"
                    raise wrong(ValueError, "An input", "a Tensor with elements", actual)
            elif not isinstance(leaf, _PLAIN):
                expected = "a Tensor, a number, a string or None"
                raise wrong(TypeError, "An input of predict", expected, type(leaf).__name__)
        self._set_mode(self._predict_network, False)
        return self._predict_network(*predict_data)

    # -- for programs on several devices -------------------------------------------------

    def build(
        self, train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1, sink_mode=True
    ) -> None:
        """Accepted and harmless: what repeats is compiled by itself.

        Example:
            >>> ms.Model(nn.ReLU()).build()
        """
        as_sink_size(sink_size, "build")
        positive_integer(epoch, "build: epoch")

    def infer_train_layout(self, train_dataset, dataset_sink_mode=True, sink_size=-1) -> dict:
        """How the Parameters are divided among devices: nothing is.

        Example:
            >>> ms.Model(nn.ReLU()).infer_train_layout([])
            {}
        """
        return self._train_network.parameter_layout_dict

    def infer_predict_layout(self, *predict_data, skip_backend_compile=False) -> dict:
        """How the Parameters are divided among devices: nothing is.

        Example:
            >>> ms.Model(nn.ReLU()).infer_predict_layout(Tensor([1.0]))
            {}
        """
        return self._predict_network.parameter_layout_dict

    # -- what all share -----------------------------------------------------------------

    def _told(self, mode: str, feed: Feed, callbacks) -> InternalCallbackParam:
        """What callbacks are told from the beginning."""
        listed = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
        return InternalCallbackParam(
            mode=mode,
            cur_step_num=0,
            batch_num=feed.batches or sys.maxsize,
            network=self._network,
            train_network=self._train_network,
            loss_fn=self._loss_fn,
            optimizer=self._optimizer,
            list_callback=[callback for callback in listed if callback is not None],
            parallel_mode=get_parallel_mode(),
            device_number=get_device_num(),
            dataset_sink_mode=False,
            train_dataset_element=None,
            last_save_ckpt_step=None,
            latest_ckpt_file=None,
            loss_scale_mananger=self._loss_scale_manager,
            initial_step=None,
        )

    def _set_mode(self, network: Cell, is_train: bool, always: bool = False) -> None:
        """Put the network into training or prediction, where it is not so already."""
        if always or self._backbone_is_train != is_train:
            network.set_train(is_train)
            self._backbone_is_train = is_train


def _title(done: int, epochs: int) -> str:
    return f"epoch {min(done + 1, epochs)}/{epochs}"


def _steps(feed: Feed, epochs: int) -> int | None:
    """How many steps so many epochs have; None while that is unknown."""
    return None if feed.batches is None else feed.batches * epochs


def _stay(**changes) -> None:
    """A progress bar that belongs to the training does not move in an evaluation."""


def _is_due(epoch: int, frequency) -> bool:
    return epoch % frequency == 0 if is_integer(frequency) else epoch in frequency


def _is_own(callback) -> bool:
    """Whether a callback was written by the program."""
    return not type(callback).__module__.startswith(__name__.rpartition(".")[0])


def _check_methods(callbacks) -> None:
    """Callbacks for `fit` must say whether they mean training or evaluation."""
    for callback in callbacks if isinstance(callbacks, list) else [callbacks]:
        older = [name for name in POINTS if name in vars(type(callback))]
        if callback is not None and _is_own(callback) and older:
            text = OLD_METHODS.format(name=type(callback).__name__, methods=", ".join(older))
            raise ValueError(text)
