# SPDX-License-Identifier: Apache-2.0
"""SummaryCollector: what happens in a training, written for TensorBoard."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, is_integer, positive_integer
from mycel.summary import SummaryRecord
from mycel.train.callbacks.base import Callback
from mycel.train.folders import make_directory

NO_IMAGE = "The input of the network is not an image; SummaryCollector does not write it."
NO_LOSS = "What the network returned has no loss in front; SummaryCollector does not write it."
# How many Parameters have a histogram when nothing says which, and how often tensors are written
# when nothing says how often.
MOST_HISTOGRAMS = 5
MOST_TENSORS = 20

_SWITCHES = (
    "collect_metric",
    "collect_graph",
    "collect_train_lineage",
    "collect_eval_lineage",
    "collect_input_data",
    "collect_dataset_graph",
)


class SummaryCollector(Callback):
    """Writes loss, input, weights and structure of a network that trains, for TensorBoard.

    Args:
        summary_dir: the folder; it is made.
        collect_freq: write after every so many steps, and after the first.
        num_process: accepted; files are written by the calling thread.
        collect_specified_data: what to write: 'collect_metric' (the loss), 'collect_graph' (the
            Cells), 'collect_input_data' (if it is an image), each True or False, and
            'histogram_regular', an expression for the names of Parameters; None takes the first
            five. What is for MindInsight alone ('collect_train_lineage', 'collect_eval_lineage',
            'collect_dataset_graph', 'collect_landscape') is accepted and not written.
        keep_default_action: whether what is not named is written.
        custom_lineage_data: accepted and not written.
        collect_tensor_freq: write what `ops.TensorSummary` was given after every so many steps;
            None chooses a number so that there are about 20.
        max_file_size, export_options: as for a SummaryRecord.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.
        ImportError: tensorboardX is not installed; `pip install 'mycel[summary]'`.

    Source: MindSpore's `mindspore.train.SummaryCollector`.

    Example:
        >>> import os, tempfile
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> chosen = {"collect_input_data": False}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     collector = ms.train.SummaryCollector(folder, collect_specified_data=chosen)
        ...     data = [(ops.ones((1, 1)), ops.zeros((1, 1)))]
        ...     model.train(1, data, callbacks=[collector])
        ...     print(len(os.listdir(folder)))
        1
    """

    def __init__(
        self,
        summary_dir,
        collect_freq=10,
        num_process=32,
        collect_specified_data=None,
        keep_default_action=True,
        custom_lineage_data=None,
        collect_tensor_freq=None,
        max_file_size=None,
        export_options=None,
    ):
        super().__init__()
        del num_process
        self._summary_dir = make_directory(summary_dir, "summary_dir")
        name = type(self).__name__
        self._collect_freq = positive_integer(collect_freq, f"{name}: collect_freq")
        if collect_tensor_freq is not None:
            positive_integer(collect_tensor_freq, f"{name}: collect_tensor_freq")
        self._tensor_freq = collect_tensor_freq
        boolean(keep_default_action, f"{name}: keep_default_action")
        self._chosen = _choice(collect_specified_data, keep_default_action)
        _check_lineage(custom_lineage_data)
        self._options: dict[str, Any] = {
            "max_file_size": max_file_size,
            "export_options": export_options,
        }
        self._record: Any = None  # a SummaryRecord, while the block is open
        self._first_step = True

    def __enter__(self):
        self._record = SummaryRecord(self._summary_dir, **self._options)
        self._first_step = True
        return self

    def __exit__(self, *error):
        self._record.close()

    def begin(self, run_context):
        """Training or evaluation begins.

        Raises:
            ValueError: there are two of these callbacks.
        """
        told = run_context.original_args()
        same = [c for c in told.list_callback if type(c) is type(self)]
        if len(same) > 1:
            raise wrong(ValueError, "The callbacks", "with one SummaryCollector", len(same))
        self._record.set_mode(told.mode)

    def step_end(self, run_context):
        """Write if it is time."""
        told = run_context.original_args()
        if told.mode != "train":
            return
        step = told.cur_step_num
        tensors = self._tensors_are_due(told)
        if self._first_step and self._chosen["collect_graph"]:
            self._record.add_value("graph", "train_network/auto", told.train_network)
        if self._first_step or step % self._collect_freq == 0:
            self._add(told)
            kept = None if tensors or self._first_step else (lambda plugin: plugin != "tensor")
            self._record.record(step, plugin_filter=kept)
        elif tensors:
            self._record.record(step, plugin_filter=lambda plugin: plugin == "tensor")
        self._first_step = False

    def epoch_end(self, run_context):
        """Have on the disk what was written."""
        self._record.flush()

    def end(self, run_context):
        """Nothing of an evaluation is written after the training."""
        self._record.set_mode("eval")

    def _tensors_are_due(self, told) -> bool:
        frequency = self._tensor_freq
        if frequency is None:
            steps = told.epoch_num * told.batch_num
            frequency = max(self._collect_freq, steps // (MOST_TENSORS - 1))
        return told.cur_step_num % frequency == 0

    def _add(self, told) -> None:
        record = self._record
        if self._chosen["collect_metric"]:
            self._add_loss(told.net_outputs)
        if self._chosen["collect_input_data"]:
            try:
                record.add_value("image", "input_data/auto", told.train_dataset_element[0])
            except (TypeError, ValueError):
                warnings.warn(NO_IMAGE, stacklevel=2)
                self._chosen["collect_input_data"] = False
        for parameter in self._shown(told.optimizer):
            record.add_value("histogram", f"{parameter.name}/auto", parameter.value())

    def _add_loss(self, outputs) -> None:
        loss = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
        if not isinstance(loss, (int, float, Tensor)):
            warnings.warn(NO_LOSS, stacklevel=3)
            self._chosen["collect_metric"] = False
            return
        mean = np.mean(loss.asnumpy()) if isinstance(loss, Tensor) else loss
        self._record.add_value("scalar", "loss/auto", Tensor(mean))

    def _shown(self, optimizer) -> list:
        """The Parameters that have a histogram."""
        if "histogram_regular" not in self._chosen or optimizer is None:
            return []
        parameters = getattr(optimizer, "parameters", ())
        pattern = self._chosen["histogram_regular"]
        if pattern is None:
            return list(parameters[:MOST_HISTOGRAMS])
        return [parameter for parameter in parameters if re.match(pattern, parameter.name)]


def _choice(asked, default: bool) -> dict:
    """What is written, from what was asked for."""
    what = "SummaryCollector: collect_specified_data"
    if asked is not None and not isinstance(asked, dict):
        raise wrong(TypeError, what, "a dictionary or None", repr(asked))
    known = (*_SWITCHES, "histogram_regular", "collect_landscape")
    for name, value in (asked or {}).items():
        if name not in known:
            raise wrong(ValueError, f"A key of {what}", f"one of {', '.join(known)}", repr(name))
        if name in _SWITCHES:
            boolean(value, f"{what}: {name}")
    chosen: dict[str, Any] = dict.fromkeys(_SWITCHES, default)
    if default:
        chosen["histogram_regular"] = None
    chosen |= asked or {}
    pattern = chosen.get("histogram_regular")
    if pattern is not None:
        try:
            re.compile(pattern)
        except (re.error, TypeError):
            expected = "a regular expression or None"
            raise wrong(ValueError, f"{what}: histogram_regular", expected, repr(pattern)) from None
    return chosen


def _check_lineage(data) -> None:
    what = "SummaryCollector: custom_lineage_data"
    if data is not None and not isinstance(data, dict):
        raise wrong(TypeError, what, "a dictionary or None", repr(data))
    for name, value in (data or {}).items():
        if not isinstance(name, str) or not (is_integer(value) or isinstance(value, (str, float))):
            expected = "of names with numbers or strings"
            raise wrong(TypeError, what, expected, f"{name!r}: {value!r}")
