# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: scans over time as recorded operators, and MindSpore's operators for layers.

Arrays are [time, batch, features]; weights are [gates · hidden, features].
"""

from __future__ import annotations

import functools

from mycel.kernel.base.errors import wrong
from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import applyn
from mycel.kernel.record.stream import current_stream, record
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.record.value import Value
from mycel.kernel.spell import composite, op
from mycel.ops.array.joining import concat, split
from mycel.ops.array.shape import reshape, swapaxes
from mycel.ops.nn.activation import tanh
from mycel.ops.nn.recurrent_kinds import KINDS
from mycel.ops.nn.recurrent_scans import Form, forward, gradients, product, wide_type

# -- from arrays to recorded operators -------------------------------------------------------------


def _rule(form, inputs, outputs, cotangents, mask):
    """The reverse of a scan: it uses what the scan kept, so that nothing is computed twice.

    A cotangent of what was kept exists in derivatives of second order; they, and lengths that are
    differentiated, take the derivative that JAX makes of the scan.
    """
    shown = 1 + KINDS[form.kind].states
    present = tuple([cotangent is not None for cotangent in cotangents])
    given = tuple([cotangent for cotangent in cotangents if cotangent is not None])
    reversing = current_stream().scope.reversing
    place = None if reversing is None or reversing.at is None else reversing.at[1]
    if any(present[shown:]) or (form.limited and mask[-1]):
        made = record(scan_op(form).reverse(tuple(mask), present), inputs + given, place)
    else:
        backward = _gradients_op(form, present[:shown], tuple(mask))
        made = record(backward, (*inputs, outputs[0], *outputs[shown:], *given), place)
    gradients = iter((made,) if isinstance(made, Value) else made)
    return [next(gradients) if asked else None for asked in mask]


@functools.cache
def scan_op(form: Form) -> Op:
    """The operator of a scan."""
    made = Op(form.kind, functools.partial(forward, form), rule=functools.partial(_rule, form))
    made.names = []
    return made


@functools.cache
def _gradients_op(form: Form, present: tuple, mask: tuple) -> Op:
    made = Op(form.kind + "'", functools.partial(gradients, form, present, mask))
    made.names = []
    return made


def scan(kind, x, weights, states=None, lengths=None, backwards=False):
    """Run one layer of one direction over all times.

    Args:
        kind: a key of `KINDS`.
        x: [time, batch, features].
        weights: of the input, of the hidden state, and their two biases or none.
        states: the hidden state, and the cell of an LSTM, [batch, hidden]; None for zeros.
        lengths: [batch], how many steps of each sequence count; the outputs of the others are 0.
        backwards: begin with the last time.

    Returns:
        The outputs [time, batch, hidden], the last states, and what the reverse keeps: the gates
        of LSTM and GRU, and the cells of an LSTM.

    Example:
        >>> from mycel.ops.nn.recurrent import scan
        >>> x, w_ih, w_hh = ops.ones((2, 1, 1)), ops.ones((1, 1)), ops.ones((1, 1))
        >>> outputs, hidden = scan("RNN relu", x, (w_ih, w_hh))
        >>> print(outputs.reshape(-1), hidden)
        [1. 2.] [[2.]]
    """
    form = Form(kind, backwards, len(weights) == 4, states is not None, lengths is not None)
    inputs = (x, *weights, *(states or ()))
    return applyn(scan_op(form), inputs if lengths is None else (*inputs, lengths))


@op()
def recurrent_step(x, w_ih, w_hh, hidden, cell=None, b_ih=None, b_hh=None, *, kind):
    """One step for inputs [batch, features]: the new hidden state, and the cell of an LSTM.

    Raises:
        TypeError: the element types differ.
        ValueError: the shapes do not fit together.

    Example:
        >>> from mycel.ops.nn.recurrent import recurrent_step
        >>> one = ops.ones((1, 1))
        >>> print(recurrent_step(one, one, one, one, kind="RNN relu"))
        [[2.]]
    """
    states = (hidden,) if cell is None else (hidden, cell)
    _check_step(x, w_ih, w_hh, states)
    wide = wide_type(x.dtype)
    projected, recurrent = product(x, w_ih, 1, wide), product(hidden, w_hh, 1, wide)
    if b_ih is not None:
        assert b_hh is not None
        projected, recurrent = projected + b_ih.astype(wide), recurrent + b_hh.astype(wide)
    new, _ = KINDS[kind].step(projected, recurrent, tuple(s.astype(wide) for s in states))
    made = tuple(state.astype(x.dtype) for state in new)
    return made[0] if len(made) == 1 else made


def _check_step(x, w_ih, w_hh, states):
    kinds = {array.dtype for array in (x, w_ih, w_hh, *states)}
    if len(kinds) > 1:
        names = ", ".join(sorted(map(str, kinds)))
        raise TypeError(
            f"x, hx and the Parameters must have one element type, not {names}; convert x and hx "
            "with `.astype(...)`, or make the Cell with another dtype."
        )
    if x.ndim != 2 or x.shape[1] != w_ih.shape[1]:
        raise ValueError(f"x must be [batch, input_size={w_ih.shape[1]}], not {x.shape}.")
    for state in states:
        if state.shape != (x.shape[0], w_hh.shape[1]):
            raise ValueError(
                f"The state must have the shape {(x.shape[0], w_hh.shape[1])}, [batch of x, "
                f"hidden_size], not {state.shape}."
            )


# -- MindSpore's operators for one layer -----------------------------------------------------------

ONLY = {
    "cell_type": "LSTM",
    "direction": "UNIDIRECTIONAL",
    "cell_depth": 1,
    "use_peephole": False,
    "keep_prob": 1.0,
    "cell_clip": -1.0,
    "num_proj": 0,
    "time_major": True,
    "activation": "tanh",
    "reset_after": True,
    "seq_length": None,
    "num_layers": 1,
    "bidirectional": False,
    "proj_size": 0,
}


def _check_only(name, **given):
    """What MindSpore's operators are declared with, but do not compute otherwise."""
    for key, value in given.items():
        only = ONLY[key]
        if value is not only and (only is None or value != only):
            raise wrong(ValueError, f"{name}: {key}", repr(only), repr(value))


def _check_shape(name, what, tensor, shape):
    if tensor is not None and tuple(tensor.shape) != shape:
        raise wrong(ValueError, f"{name}: {what}", f"of shape {shape}", tuple(tensor.shape))


def _transposed(weight, order):
    """A weight [features, gates · hidden] as ours, with its gates in another order."""
    parts = split(weight, weight.shape[1] // len(order), 1)
    return swapaxes(concat([parts[i] for i in order], 1), 0, 1)


def _ordered(bias, order):
    parts = split(bias, bias.shape[0] // len(order))
    return [parts[i] for i in order]


@composite(
    "DynamicRNN(cell_type='LSTM', direction='UNIDIRECTIONAL', cell_depth=1, use_peephole=False,"
    " keep_prob=1.0, cell_clip=-1.0, num_proj=0, time_major=True, activation='tanh',"
    " forget_bias=0.0, is_training=True)(x, w, b, seq_length, init_h, init_c)"
)
def dynamic_rnn(
    x,
    w,
    b,
    seq_length=None,
    init_h=None,
    init_c=None,
    cell_type="LSTM",
    direction="UNIDIRECTIONAL",
    cell_depth=1,
    use_peephole=False,
    keep_prob=1.0,
    cell_clip=-1.0,
    num_proj=0,
    time_major=True,
    activation="tanh",
    forget_bias=0.0,
    is_training=True,
) -> tuple[Tensor, ...]:
    """One layer of an LSTM in one direction, with its gates.

    Args:
        x: [time, batch, features].
        w: [features + hidden, 4 · hidden], gates in the order input, new, forget, output.
        b: [4 · hidden].
        seq_length: None, the only value.
        init_h, init_c: [1, batch, hidden]; None for zeros.
        cell_type: 'LSTM', the only value.
        direction: 'UNIDIRECTIONAL', the only value.
        cell_depth: 1, the only value.
        use_peephole: False, the only value.
        keep_prob: 1, the only value.
        cell_clip: -1, the only value.
        num_proj: 0, the only value.
        time_major: True, the only value.
        activation: 'tanh', the only value.
        forget_bias: a number added to the bias of the forget gate.
        is_training: no effect.

    Returns:
        At all times: the output, hidden state (the same), cell, gates input, new, forget, output,
        and tanh of the cell; [time, batch, hidden] each.

    Raises:
        ValueError: the shapes do not fit together, or an attribute is not its default, where
            MindSpore computes nothing else either.

    Source: MindSpore's `ops.DynamicRNN`, which runs on Ascend only.

    Example:
        >>> x, w, b = ops.ones((2, 1, 1)), ops.ones((2, 4)), ops.zeros((4,))
        >>> outputs, *others = ops.DynamicRNN()(x, w, b, None, None, None)
        >>> print(outputs.reshape(-1).asnumpy().round(5), len(others))
        [0.36961 0.65054] 7
    """
    del is_training
    _check_only(
        "DynamicRNN", cell_type=cell_type, direction=direction, cell_depth=cell_depth,
        use_peephole=use_peephole, keep_prob=keep_prob, cell_clip=cell_clip, num_proj=num_proj,
        time_major=time_major, activation=activation, seq_length=seq_length,
    )  # fmt: skip
    _, batch, features = _lengths_of("DynamicRNN", x)
    hidden = w.shape[-1] // 4
    _check_shape("DynamicRNN", "w", w, (features + hidden, 4 * hidden))
    _check_shape("DynamicRNN", "b", b, (4 * hidden,))
    for name, state in (("init_h", init_h), ("init_c", init_c)):
        _check_shape("DynamicRNN", name, state, (1, batch, hidden))
    weight = _transposed(w, (0, 2, 1, 3))
    entering, forgetting, new, leaving = _ordered(b, (0, 2, 1, 3))
    bias = concat([entering, forgetting + forget_bias, new, leaving])
    states = None
    given = init_h if init_c is None else init_c
    if given is not None:
        states = [reshape(given * 0 if s is None else s, (batch, hidden)) for s in (init_h, init_c)]
    weights = (weight[:, :features], weight[:, features:], bias, bias * 0)
    outputs, _, _, gates, cells = scan("LSTM", x, weights, states)
    entering, forgetting, new, leaving = split(gates, hidden, 2)
    results = (outputs, outputs, cells, entering, new, forgetting, leaving, tanh(cells))
    return tuple([part.astype(b.dtype) for part in results])


@composite(
    "LSTM(input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, proj_size=0)"
    "(input=x, h=h, c=c, w=w)"
)
def lstm_of_one_weight(
    x, h, c, w, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, proj_size=0
) -> tuple[Tensor, ...]:
    """One layer of an LSTM in one direction, whose weights are one Tensor.

    Args:
        x: [time, batch, input_size].
        h: the first hidden state, [1, batch, hidden_size].
        c: the first cell, [1, batch, hidden_size].
        w: the weights of the input, those of the hidden state, then the biases, row by row, in any
            shape: gates in the order input, forget, new, output; one bias or two, which are added.
        input_size: the number of features of x.
        hidden_size: the number of features of the states.
        num_layers: 1, the only value.
        has_bias: whether `w` ends with biases.
        bidirectional: False, the only value.
        dropout: no effect between layers, of which there is one.
        proj_size: 0, the only value.

    Returns:
        The outputs [time, batch, hidden_size], the last states [1, batch, hidden_size], and two
        Tensors without elements, in which MindSpore keeps what its own reverse needs.

    Raises:
        ValueError: the shapes do not fit together, or an attribute is not its only value.

    Example:
        >>> x, state, w = ops.ones((2, 1, 1)), ops.ones((1, 1, 1)), ops.ones((12,))
        >>> outputs, h, c, *rest = ops.LSTM(1, 1, 1, True, False, 0.0)(x, state, state, w)
        >>> print(outputs.reshape(-1).asnumpy().round(5))
        [0.91092 0.94059]
    """
    del dropout
    _check_only("LSTM", num_layers=num_layers, bidirectional=bidirectional, proj_size=proj_size)
    _, batch, features = _lengths_of("LSTM", x)
    gates = 4 * hidden_size
    _check_shape("LSTM", "input", x, (x.shape[0], batch, input_size))
    for name, state in (("h", h), ("c", c)):
        _check_shape("LSTM", name, state, (1, batch, hidden_size))
    sizes = [gates * features, gates * hidden_size]
    biases = (w.size - sum(sizes)) / gates
    if biases not in ((1, 2) if has_bias else (0,)):
        expected = f"{sum(sizes)} weights and {'one or two times' if has_bias else 'no'} {gates}"
        raise wrong(ValueError, "LSTM: w", f"of {expected} biases", f"{w.size} elements")
    w = reshape(w, (-1,))
    weights = [
        reshape(w[: sizes[0]], (gates, features)),
        reshape(w[sizes[0] : sum(sizes)], (gates, hidden_size)),
    ]
    if has_bias:
        given = reshape(w[sum(sizes) :], (int(biases), gates))
        weights += [given[0], given[1] if biases == 2 else given[0] * 0]
    states = [reshape(state, (batch, hidden_size)) for state in (h, c)]
    outputs, h, c, *_ = scan("LSTM", x, weights, states)
    nothing = w[:0]
    shape = (1, batch, hidden_size)
    return outputs, reshape(h, shape), reshape(c, shape), nothing, nothing


def _lengths_of(name, x):
    if x.ndim != 3:
        raise wrong(ValueError, f"{name}: x", "[time, batch, features]", f"shape {x.shape}")
    return x.shape


@composite(
    "DynamicGRUV2(direction='UNIDIRECTIONAL', cell_depth=1, keep_prob=1.0, cell_clip=-1.0,"
    " num_proj=0, time_major=True, activation='tanh', gate_order='rzh', reset_after=True,"
    " is_training=True)(x, weight_input, weight_hidden, bias_input, bias_hidden, seq_length,"
    " init_h)"
)
def dynamic_gru(
    x,
    weight_input,
    weight_hidden,
    bias_input=None,
    bias_hidden=None,
    seq_length=None,
    init_h=None,
    direction="UNIDIRECTIONAL",
    cell_depth=1,
    keep_prob=1.0,
    cell_clip=-1.0,
    num_proj=0,
    time_major=True,
    activation="tanh",
    gate_order="rzh",
    reset_after=True,
    is_training=True,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """One layer of a GRU in one direction, with its gates.

    Args:
        x: [time, batch, features].
        weight_input, weight_hidden: [features, 3 · hidden] and [hidden, 3 · hidden].
        bias_input, bias_hidden: [3 · hidden], or None.
        seq_length: None, the only value.
        init_h: [batch, hidden]; None for zeros.
        direction: 'UNIDIRECTIONAL', the only value.
        cell_depth: 1, the only value.
        keep_prob: 1, the only value.
        cell_clip: -1, the only value.
        num_proj: 0, the only value.
        time_major: True, the only value.
        activation: 'tanh', the only value.
        gate_order: 'rzh' (reset, update, new) or 'zrh'.
        reset_after: True, the only value.
        is_training: no effect.

    Returns:
        At all times: the output, hidden state (the same), gates update, reset and new, and what
        the reset gate is multiplied by; [time, batch, hidden] each.

    Raises:
        ValueError: the shapes do not fit together, or an attribute is not its default.

    Source: MindSpore's `ops.DynamicGRUV2`, which runs on Ascend only.

    Example:
        >>> x, w_input, w_hidden = ops.ones((2, 1, 1)), ops.ones((1, 3)), ops.ones((1, 3))
        >>> outputs, *others = ops.DynamicGRUV2()(x, w_input, w_hidden)
        >>> print(outputs.reshape(-1).asnumpy().round(5), len(others))
        [0.20482 0.34675] 5
    """
    del is_training
    _check_only(
        "DynamicGRUV2", direction=direction, cell_depth=cell_depth, keep_prob=keep_prob,
        cell_clip=cell_clip, num_proj=num_proj, time_major=time_major, activation=activation,
        reset_after=reset_after, seq_length=seq_length,
    )  # fmt: skip
    if gate_order not in ("rzh", "zrh"):
        raise wrong(ValueError, "DynamicGRUV2: gate_order", "'rzh' or 'zrh'", repr(gate_order))
    _, batch, features = _lengths_of("DynamicGRUV2", x)
    hidden = weight_input.shape[-1] // 3
    _check_shape("DynamicGRUV2", "weight_input", weight_input, (features, 3 * hidden))
    _check_shape("DynamicGRUV2", "weight_hidden", weight_hidden, (hidden, 3 * hidden))
    _check_shape("DynamicGRUV2", "bias_input", bias_input, (3 * hidden,))
    _check_shape("DynamicGRUV2", "bias_hidden", bias_hidden, (3 * hidden,))
    _check_shape("DynamicGRUV2", "init_h", init_h, (batch, hidden))
    order = tuple(gate_order.index(gate) for gate in "rzh")
    weights = (_transposed(weight_input, order), _transposed(weight_hidden, order))
    biases = [bias for bias in (bias_input, bias_hidden) if bias is not None]
    if biases:
        both = (biases[0] * 0 if b is None else b for b in (bias_input, bias_hidden))
        weights += tuple(concat(_ordered(bias, order)) for bias in both)
    outputs, _, gates = scan("GRU", x, weights, None if init_h is None else (init_h,))
    reset, update, new, inner = split(gates, hidden, 2)
    dtype = next((array.dtype for array in (*biases, init_h) if array is not None), x.dtype)
    results = (outputs, outputs, update, reset, new, inner)
    outputs, states, update, reset, new, inner = (part.astype(dtype) for part in results)
    return outputs, states, update, reset, new, inner
