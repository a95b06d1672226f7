# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: layers over whole sequences, and Cells for one step."""

from __future__ import annotations

import math
from typing import Any

from mycel.init import Uniform, initializer
from mycel.kernel.base.dtypes import as_dtype, float32, int32, int64
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place, warn_at
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, number, one_of, positive_integer
from mycel.nn.layers.basic import Dropout
from mycel.ops.array.joining import concat, stack
from mycel.ops.array.shape import expand_dims, swapaxes
from mycel.ops.nn.recurrent import recurrent_step, scan
from mycel.ops.nn.recurrent_kinds import KINDS

NO_DROPOUT = (
    "{name}(dropout={dropout}) has one layer: dropout acts between layers, so it does nothing. "
    "Give num_layers=2 or more, or put nn.Dropout behind the layer."
)
OLD_CELL = (
    "nn.LSTMCell is one step with (input_size, hidden_size, has_bias, dtype=...) since MindSpore "
    "1.6. For a layer over a whole sequence, with batch_first, dropout or bidirectional, write "
    "nn.LSTM(...)."
)


def _spread(shape, hidden_size: int, dtype, name: str) -> Parameter:
    """A Parameter spread evenly within ±1/√hidden_size."""
    return Parameter(initializer(Uniform(1 / math.sqrt(hidden_size)), shape, dtype), name=name)


def _check_tensor(cell, what: str, tensor) -> None:
    if not isinstance(tensor, Tensor):
        raise wrong(TypeError, f"{cell}: {what}", "a Tensor", type(tensor).__name__)
    if not tensor.dtype.is_floating:
        raise wrong(TypeError, f"{cell}: {what}", "of real numbers", tensor.dtype)


def _checked_states(cell, hx, x, shape, meaning: str, count: int) -> tuple:
    """The states of `hx`: one Tensor, or a tuple of two for an LSTM."""
    if count == 1:
        _check_tensor(cell, "hx", hx)
        states = (hx,)
    else:
        if not isinstance(hx, tuple) or len(hx) != 2:
            actual = type(hx).__name__
            actual += f" of {len(hx)}" if isinstance(hx, (tuple, list)) else ""
            raise wrong(TypeError, f"{cell}: hx", "a tuple (hidden state, cell state)", actual)
        states = hx
        for position, state in enumerate(states):
            _check_tensor(cell, f"hx[{position}]", state)
    for state in states:
        if state.dtype is not x.dtype:
            expected = f"of the element type of x, {x.dtype}"
            raise wrong(TypeError, f"{cell}: hx", expected, state.dtype)
        if state.shape != shape:
            raise wrong(ValueError, f"{cell}: hx", f"{meaning} = {shape}", f"shape {state.shape}")
    return states


class _Recurrent(Cell):
    """What RNN, LSTM and GRU have in common: layers and directions, one scan each."""

    _kind: str
    # As in MindSpore, whatever `to_float` says.
    _gives = float32

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        has_bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        dtype=float32,
    ):
        super().__init__()
        name = type(self).__name__
        self.input_size = positive_integer(input_size, f"{name}.input_size")
        self.hidden_size = positive_integer(hidden_size, f"{name}.hidden_size")
        self.num_layers = positive_integer(num_layers, f"{name}.num_layers")
        self.has_bias = boolean(has_bias, f"{name}.has_bias")
        self.batch_first = boolean(batch_first, f"{name}.batch_first")
        self.bidirectional = boolean(bidirectional, f"{name}.bidirectional")
        self.dropout = number(
            dropout, f"{name}.dropout", "from 0 and below 1", lambda n: 0 <= n < 1
        )
        if dropout and num_layers == 1:
            warn_at(NO_DROPOUT.format(name=name, dropout=dropout), user_place())
        self.dropout_op = Dropout(p=float(dropout))
        self._make_parameters(as_dtype(dtype))

    def _make_parameters(self, dtype) -> None:
        """Attributes `weight_ih_l0` and so on, in MindSpore's order: first by what they are."""
        size = self.hidden_size
        rows = KINDS[self._kind].gates * size
        above = 2 * size if self.bidirectional else size
        ends = [
            f"l{layer}{direction}"
            for layer in range(self.num_layers)
            for direction in ("", "_reverse")[: 1 + self.bidirectional]
        ]
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if self.has_bias else 2]
        # By layer and direction: the names of what one scan takes.
        self._weights = [[f"{kind}_{end}" for kind in kinds] for end in ends]
        for kind in kinds:
            for end in ends:
                width = self.input_size if end.startswith("l0") else above
                shape = {"weight_ih": (rows, width), "weight_hh": (rows, size)}.get(kind, (rows,))
                name = f"{kind}_{end}"
                setattr(self, name, _spread(shape, size, dtype, name))

    def _list_of(self, position: int) -> ParameterTuple:
        return ParameterTuple([getattr(self, names[position]) for names in self._weights])

    @property
    def w_ih_list(self) -> ParameterTuple:
        """The weights of the inputs by layer and direction."""
        return self._list_of(0)

    @property
    def w_hh_list(self) -> ParameterTuple:
        """The weights of the states by layer and direction."""
        return self._list_of(1)

    @property
    def b_ih_list(self) -> ParameterTuple:
        """The biases of the inputs by layer and direction; empty without biases."""
        return self._list_of(2) if self.has_bias else ParameterTuple()

    @property
    def b_hh_list(self) -> ParameterTuple:
        """The biases of the states by layer and direction; empty without biases."""
        return self._list_of(3) if self.has_bias else ParameterTuple()

    def construct(self, x, hx=None, seq_length=None) -> tuple[Tensor, Any]:
        """The outputs of the last layer at all times, and the last states of all layers."""
        self._check_inputs(x, seq_length)
        batch = x.shape[0 if self.batch_first else 1]
        states = None
        if hx is not None:
            directions = 2 if self.bidirectional else 1
            shape = (self.num_layers * directions, batch, self.hidden_size)
            meaning = "[num_layers · directions, batch, hidden_size]"
            count = KINDS[self._kind].states
            states = _checked_states(type(self).__name__, hx, x, shape, meaning, count)
        if self.batch_first:
            x = swapaxes(x, 0, 1)
        outputs, last = self._run(x, states, seq_length)
        if self.batch_first:
            outputs = swapaxes(outputs, 0, 1)
        return outputs, last[0] if len(last) == 1 else last

    def _check_inputs(self, x, seq_length) -> None:
        name = type(self).__name__
        _check_tensor(name, "x", x)
        layout = "batch, time" if self.batch_first else "time, batch"
        if x.ndim != 3 or x.shape[2] != self.input_size or 0 in x.shape:
            expected = f"[{layout}, input_size={self.input_size}] and not empty"
            raise wrong(ValueError, f"{name}: x", expected, f"shape {x.shape}")
        if seq_length is None:
            return
        if not isinstance(seq_length, Tensor) or seq_length.dtype not in (int32, int64):
            actual = getattr(seq_length, "dtype", type(seq_length).__name__)
            raise wrong(TypeError, f"{name}: seq_length", "a Tensor of Int32 or Int64", actual)
        batch = x.shape[0 if self.batch_first else 1]
        if seq_length.shape != (batch,):
            expected = f"one length for each of the {batch} sequences of x, which are [{layout}, …]"
            raise wrong(ValueError, f"{name}: seq_length", expected, f"shape {seq_length.shape}")

    def _run(self, x, states, lengths):
        directions = 2 if self.bidirectional else 1
        count = KINDS[self._kind].states
        last: tuple[list, ...] = tuple([] for _ in range(count))
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = self.dropout_op(x)
            outputs = []
            for position in range(layer * directions, (layer + 1) * directions):
                weights = [getattr(self, name) for name in self._weights[position]]
                start = None if states is None else [state[position] for state in states]
                backwards = position % directions == 1
                output, *others = scan(self._kind, x, weights, start, lengths, backwards)
                outputs.append(output)
                for all_states, state in zip(last, others, strict=False):
                    all_states.append(state)
            x = outputs[0] if directions == 1 else concat(outputs, 2)
        return x, tuple(expand_dims(s[0], 0) if len(s) == 1 else stack(s) for s in last)


class RNN(_Recurrent):
    """Layers of a plain recurrent network: h = tanh(W_ih·x + b_ih + W_hh·h + b_hh).

    Parameters start evenly spread within ±1/√hidden_size.

    Args:
        input_size, hidden_size: features of the input, and of the state.
        num_layers: how many layers; each takes the outputs of the one below.
        has_bias: whether there are b_ih and b_hh.
        batch_first: x and the outputs are [batch, time, features] instead of [time, batch, ...].
        dropout: the share of the outputs put to 0 between layers, in training.
        bidirectional: a second set of layers runs backwards; features are doubled.
        dtype: the element type of the Parameters; x is computed with in its own.
        nonlinearity: 'tanh' or 'relu'.

    Inputs: x; hx, the states at the start, [num_layers · directions, batch, hidden_size] (zeros if
    left out); seq_length, Int32 or Int64 [batch], how many steps of each sequence count. Outputs
    of steps behind are 0, and the last state is that of the last step that counts.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range, or the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.RNN`.

    Example:
        >>> layer = nn.RNN(3, 4, num_layers=2, batch_first=True)
        >>> outputs, hidden = layer(ops.ones((2, 5, 3)))
        >>> outputs.shape, hidden.shape
        ((2, 5, 4), (2, 2, 4))
    """

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        has_bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        dtype=float32,
        *,
        nonlinearity="tanh",
    ):
        self._kind = "RNN " + one_of(nonlinearity, "RNN.nonlinearity", ("tanh", "relu"))
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            has_bias,
            batch_first,
            dropout,
            bidirectional,
            dtype,
        )


class LSTM(_Recurrent):
    """Layers of long short-term memory.

    At each step the gates i, f, o = sigmoid(W·x + b + W·h + b) and g = tanh(the same); then the
    cell c = f·c + i·g and the hidden state h = o·tanh(c). Rows of the weights: i, f, g, o.

    Arguments and inputs are those of `RNN` without nonlinearity, but hx is a tuple of two Tensors,
    hidden state and cell, and so are the last states.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range, or the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.LSTM`.

    Example:
        >>> layer = nn.LSTM(3, 4, bidirectional=True)
        >>> outputs, (hidden, cell) = layer(ops.ones((5, 2, 3)))
        >>> outputs.shape, hidden.shape, cell.shape
        ((5, 2, 8), (2, 2, 4), (2, 2, 4))
    """

    _kind = "LSTM"


class GRU(_Recurrent):
    """Layers of gated recurrent units.

    At each step the gates r, z = sigmoid(W·x + b + W·h + b) and n = tanh(W·x + b + r·(W·h + b));
    then the hidden state h = (1 - z)·n + z·h. Rows of the weights: r, z, n.

    Arguments and inputs are those of `RNN` without nonlinearity.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range, or the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.GRU`.

    Example:
        >>> layer = nn.GRU(3, 4)
        >>> outputs, hidden = layer(ops.ones((5, 2, 3)), None, Tensor([5, 2]))
        >>> print(outputs[2:, 1].sum())
        0.0
    """

    _kind = "GRU"


class RNNCellBase(Cell):
    """The Parameters of a Cell for one step; for classes that say in `construct` what a step is.

    Args:
        input_size, hidden_size: features of the input and of the state.
        has_bias: whether there are `bias_ih` and `bias_hh`; they are None otherwise.
        num_chunks: how many blocks of `hidden_size` rows each weight has, one for each gate.
        dtype: the element type of the Parameters.

    Source: MindSpore's `mindspore.nn.layer.rnn_cells.RNNCellBase`.

    Example:
        >>> from mycel.nn.layers.recurrent import RNNCellBase
        >>> RNNCellBase(2, 3, has_bias=True, num_chunks=4).weight_ih.shape
        (12, 2)
    """

    def __init__(self, input_size, hidden_size, has_bias, num_chunks, dtype=float32):
        super().__init__()
        name = type(self).__name__
        self.input_size = positive_integer(input_size, f"{name}.input_size")
        self.hidden_size = positive_integer(hidden_size, f"{name}.hidden_size")
        self.has_bias = boolean(has_bias, f"{name}.has_bias")
        dtype = as_dtype(dtype)
        rows = num_chunks * hidden_size
        self.weight_ih = _spread((rows, input_size), hidden_size, dtype, "weight_ih")
        self.weight_hh = _spread((rows, hidden_size), hidden_size, dtype, "weight_hh")
        self.bias_ih = self.bias_hh = None
        if has_bias:
            self.bias_ih = _spread((rows,), hidden_size, dtype, "bias_ih")
            self.bias_hh = _spread((rows,), hidden_size, dtype, "bias_hh")


class _Step(RNNCellBase):
    """What the Cells for one step have in common."""

    _kind: str

    def __init__(self, input_size, hidden_size, has_bias, dtype):
        super().__init__(input_size, hidden_size, has_bias, KINDS[self._kind].gates, dtype)

    def construct(self, x, hx) -> Any:
        """The state after the step."""
        name = type(self).__name__
        _check_tensor(name, "x", x)
        if x.ndim != 2 or x.shape[1] != self.input_size:
            expected = f"[batch, input_size={self.input_size}]"
            raise wrong(ValueError, f"{name}: x", expected, f"shape {x.shape}")
        shape = (x.shape[0], self.hidden_size)
        count = KINDS[self._kind].states
        hidden, *cell = _checked_states(name, hx, x, shape, "[batch, hidden_size]", count)
        weights, biases = (self.weight_ih, self.weight_hh), (self.bias_ih, self.bias_hh)
        return recurrent_step(x, *weights, hidden, *(cell or [None]), *biases, self._kind)


class RNNCell(_Step):
    """One step of a plain recurrent network: h = tanh(W_ih·x + b_ih + W_hh·h + b_hh).

    Args:
        input_size, hidden_size: features of x [batch, input_size] and hx [batch, hidden_size].
        has_bias: whether there are b_ih and b_hh.
        nonlinearity: 'tanh' or 'relu'.
        dtype: the element type of the Parameters, x and hx.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range, or the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.RNNCell`.

    Example:
        >>> nn.RNNCell(3, 4)(ops.ones((2, 3)), ops.zeros((2, 4))).shape
        (2, 4)
    """

    def __init__(
        self, input_size, hidden_size, has_bias=True, nonlinearity="tanh", dtype=float32
    ):  # fmt: skip
        if not isinstance(nonlinearity, str):
            actual = f"{type(nonlinearity).__name__} {nonlinearity!r}"
            raise wrong(TypeError, "RNNCell.nonlinearity", "'tanh' or 'relu'", actual)
        one_of(nonlinearity, "RNNCell.nonlinearity", ("tanh", "relu"))
        self._kind = f"RNN {nonlinearity}"
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self.nonlinearity = nonlinearity


class LSTMCell(_Step):
    """One step of long short-term memory; see `LSTM` for the formulas.

    Args:
        input_size, hidden_size: features of x [batch, input_size], and of the states.
        has_bias: whether there are biases.
        dtype: the element type of the Parameters, x and the states.

    Inputs: x, and a tuple of the hidden state and the cell, [batch, hidden_size] each, which is
    also the output.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range, or the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.LSTMCell`.

    Example:
        >>> zeros = ops.zeros((2, 4))
        >>> hidden, cell = nn.LSTMCell(3, 4)(ops.ones((2, 3)), (zeros, zeros))
        >>> hidden.shape
        (2, 4)
    """

    _kind = "LSTM"

    def __new__(cls, *args, **given):
        """One without Parameters yet; the arguments it had when it was a layer are recognised."""
        old = {"batch_first", "batch_size", "dropout", "bidirectional"} & given.keys()
        if old or len(args) > 4 or (len(args) == 4 and isinstance(args[3], bool)):
            raise ValueError(OLD_CELL)
        return super().__new__(cls, *args, **given)

    def __init__(self, input_size, hidden_size, has_bias=True, dtype=float32):
        super().__init__(input_size, hidden_size, has_bias, dtype)


class GRUCell(_Step):
    """One step of a gated recurrent unit; see `GRU` for the formulas.

    Args:
        input_size, hidden_size: features of x [batch, input_size] and hx [batch, hidden_size].
        has_bias: whether there are biases.
        dtype: the element type of the Parameters, x and hx.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range, or the shapes do not fit together.

    Source: MindSpore's `mindspore.nn.GRUCell`.

    Example:
        >>> nn.GRUCell(3, 4)(ops.ones((2, 3)), ops.zeros((2, 4))).shape
        (2, 4)
    """

    _kind = "GRU"

    def __init__(self, input_size, hidden_size, has_bias=True, dtype=float32):
        super().__init__(input_size, hidden_size, has_bias, dtype)
