# SPDX-License-Identifier: Apache-2.0
"""Parts of MindSpore's former transformer package that programs still build theirs from.

Source: MindSpore 2.7's `mindspore.parallel._transformer`. Everything is for one device; a mixture
of experts and a memory of past steps are not here, and say so when they are asked for.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable

from mycel import nn, ops
from mycel.compat.checking import check_type_name
from mycel.init import initializer
from mycel.kernel.base.dtypes import float16, float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.parallel.configurations import OpParallelConfig, TransformerOpParallelConfig

NOT_HERE = "{name} is no part of mycel: {what}."
# What is added to the scores of places that a mask hides.
_HIDDEN = -10000.0


class MoEConfig:
    """The settings of a mixture of experts; `expert_num=1`, no mixture, is what works here.

    Example:
        >>> from mycel.compat.transformers import MoEConfig
        >>> MoEConfig().expert_num
        1
    """

    def __init__(self, expert_num=1, capacity_factor=1.1, aux_loss_factor=0.05, **settings):
        self.expert_num, self.capacity_factor = expert_num, capacity_factor
        self.aux_loss_factor = aux_loss_factor
        self.__dict__.update(settings)


default_moe_config = MoEConfig()
default_dpmp_config = OpParallelConfig()
default_transformer_config = TransformerOpParallelConfig()


class MoE(nn.Cell):
    """A mixture of experts: not here.

    Raises:
        NotImplementedError: always, when one is made.

    Example:
        >>> from mycel.compat.transformers import MoE
        >>> issubclass(MoE, nn.Cell)
        True
    """

    def __init__(self, *args, **kwargs):
        del args, kwargs
        super().__init__()
        what = "write the experts as Cells of your own"
        raise NotImplementedError(NOT_HERE.format(name="parallel._transformer's MoE", what=what))


class _Linear(nn.Cell):
    """x · weight + bias in Float16, with the element type of x; the weight is (inputs, outputs)."""

    def __init__(self, inputs, outputs, activation=None, transposed=False, dtype=float32):
        super().__init__()
        self.transposed = transposed
        shape = (outputs, inputs) if transposed else (inputs, outputs)
        self.weight = Parameter(initializer("normal", shape, dtype), name="weight")
        self.bias = Parameter(initializer("zeros", (outputs,), dtype), name="bias")
        self.activation = nn.get_activation(activation) if isinstance(activation, str) else None
        if isinstance(activation, type):
            self.activation = activation()

    def construct(self, x):
        """The result for (…, inputs)."""
        weight = self.weight.astype(float16)
        output = ops.matmul(x.astype(float16), weight.T if self.transposed else weight)
        output = output + self.bias.astype(float16)
        output = output if self.activation is None else self.activation(output)
        return output.astype(x.dtype)


class FeedForward(nn.Cell):
    """Two dense layers with an activation between them, in Float16.

    Args:
        hidden_size: features of input and output.
        ffn_hidden_size: features between the layers.
        dropout_rate: the part of the result that is left out in training.
        hidden_act: the activation, a name or a Cell class.
        param_init_type: the element type of the Parameters.
        expert_num, expert_group_size, parallel_config: for one device without experts only.

    Example:
        >>> from mycel.compat.transformers import FeedForward
        >>> FeedForward(4, 8, 0.0)(ops.ones((2, 3, 4))).shape
        (2, 3, 4)
    """

    def __init__(
        self, hidden_size, ffn_hidden_size, dropout_rate, hidden_act="gelu", expert_num=1,
        expert_group_size=None, param_init_type=float32, parallel_config=default_dpmp_config,
    ):  # fmt: skip
        del expert_group_size, parallel_config
        super().__init__()
        check_moe_config(MoEConfig(expert_num))
        self.mapping = _Linear(hidden_size, ffn_hidden_size, hidden_act, dtype=param_init_type)
        self.projection = _Linear(ffn_hidden_size, hidden_size, dtype=param_init_type)
        self.dropout = nn.Dropout(p=dropout_rate)

    def construct(self, x) -> Tensor:
        """The result, in Float16."""
        return self.dropout(self.projection(self.mapping(x.astype(float16))))


class MultiHeadAttention(nn.Cell):
    """Attention with several heads, in Float16.

    Args:
        batch_size, src_seq_length, tgt_seq_length: kept; the lengths of the inputs count.
        hidden_size: features of query, key and value, divided among the heads.
        num_heads: how many heads there are.
        hidden_dropout_rate, attention_dropout_rate: of the result, and of the weights.
        softmax_compute_type: the element type of the scores.
        param_init_type: the element type of the Parameters.
        use_past, parallel_config: without past steps and for one device only.

    Raises:
        ValueError: a hidden_size that the heads do not divide.
        NotImplementedError: use_past.

    Example:
        >>> from mycel.compat.transformers import MultiHeadAttention
        >>> layer, x = MultiHeadAttention(2, 3, 3, 4, 2), ops.ones((2, 3, 4))
        >>> layer(x, x, x, ops.ones((2, 3, 3)))[0].shape
        (2, 3, 4)
    """

    def __init__(
        self, batch_size, src_seq_length, tgt_seq_length, hidden_size, num_heads,
        hidden_dropout_rate=0.1, attention_dropout_rate=0.1, softmax_compute_type=float32,
        param_init_type=float32, use_past=False, parallel_config=default_dpmp_config,
    ):  # fmt: skip
        del parallel_config
        super().__init__()
        if use_past:
            what = "keep the keys and values of past steps in a Cell of your own"
            raise NotImplementedError(NOT_HERE.format(name="use_past=True", what=what))
        if hidden_size % num_heads:
            expected = f"a multiple of num_heads={num_heads}"
            raise wrong(ValueError, "MultiHeadAttention: hidden_size", expected, hidden_size)
        self.batch_size, self.hidden_size, self.n_head = batch_size, hidden_size, num_heads
        self.src_seq_length, self.tgt_seq_length = src_seq_length, tgt_seq_length
        self.size_per_head = hidden_size // num_heads
        self.projection = _Linear(hidden_size, hidden_size, dtype=param_init_type)
        for name in ("dense1", "dense2", "dense3"):
            layer = _Linear(hidden_size, hidden_size, transposed=True, dtype=param_init_type)
            setattr(self, name, layer)
        self.softmax_dtype = softmax_compute_type
        self.dropout = nn.Dropout(p=hidden_dropout_rate)
        self.prob_dropout = nn.Dropout(p=attention_dropout_rate)

    def construct(
        self, query_tensor, key_tensor, value_tensor, attention_mask, key_past=None,
        value_past=None, batch_valid_length=None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:  # fmt: skip
        """The result with the shape and type of the query, and the heads' keys and values.

        `attention_mask` is 1 where a place is seen, of shape (batch, query, key) or (batch, heads,
        query, key), or None.
        """
        del key_past, value_past, batch_valid_length
        rows = key_tensor.size // (key_tensor.shape[-1] * self.tgt_seq_length)
        query = self._heads(self.dense1(query_tensor.astype(float16)), rows)
        key = self._heads(self.dense2(key_tensor.astype(float16)), rows).transpose(0, 1, 3, 2)
        value = self._heads(self.dense3(value_tensor.astype(float16)), rows)
        # Each side by the root, so that products stay small in Float16.
        factor = math.sqrt(math.sqrt(self.size_per_head))
        scores = ops.matmul(query / factor, key / factor).astype(self.softmax_dtype)
        if attention_mask is not None:
            mask = attention_mask.astype(scores.dtype)
            mask = mask.expand_dims(1) if mask.ndim == 3 else mask
            scores = scores + (1.0 - mask) * _HIDDEN
        weights = self.prob_dropout(ops.softmax(scores, -1).astype(float16))
        merged = ops.matmul(weights, value).transpose(0, 2, 1, 3)
        output = self.dropout(self.projection(merged.reshape(-1, self.hidden_size)))
        return output.reshape(query_tensor.shape).astype(query_tensor.dtype), (key, value)

    def _heads(self, x, rows: int):
        """(batch, heads, length, features of a head)."""
        return x.reshape(rows, -1, self.n_head, self.size_per_head).transpose(0, 2, 1, 3)


class LayerNorm(nn.Cell):
    """The last dimension made normal, with the Parameters `gamma` and `beta`.

    Args:
        normalized_shape: a tuple with the number of features.
        eps: added to the variance.
        param_init_type: the element type of the Parameters.
        is_self_defined: accepted; both ways compute the same.

    Example:
        >>> from mycel.compat.transformers import LayerNorm
        >>> print(LayerNorm((2,))(Tensor([[1.0, 3.0]])))
        [[-0.999995  0.999995]]
    """

    def __init__(self, normalized_shape, eps=1e-5, param_init_type=float32, is_self_defined=False):
        del is_self_defined
        super().__init__()
        self.gamma = Parameter(initializer("ones", normalized_shape, param_init_type), name="gamma")
        self.beta = Parameter(initializer("zeros", normalized_shape, param_init_type), name="beta")
        self.layer_norm = ops.LayerNorm(-1, -1, eps)

    def construct(self, x) -> Tensor:
        """The result for (…, features)."""
        return self.layer_norm(x, self.gamma, self.beta)[0]


class LayerInputCheck:
    """Checks of shapes.

    Example:
        >>> from mycel.compat.transformers import LayerInputCheck
        >>> LayerInputCheck.check_shape_equal((2, 3), "x", "Block", [[2, 3], [3]])
        True
    """

    @staticmethod
    def check_shape_length(input_shape, param_name, func_name, target_len) -> bool:
        """Whether there are so many dimensions, or one of several numbers of them."""
        lengths = target_len if isinstance(target_len, list) else [target_len]
        if len(input_shape) not in lengths:
            expected = f"of {' or '.join(map(str, lengths))} dimensions"
            raise wrong(ValueError, f"{func_name}: {param_name}", expected, input_shape)
        return True

    @staticmethod
    def check_shape_equal(input_shape, param_name, func_name, target_shape) -> bool:
        """Whether a shape is this one, or one of several."""
        shapes = target_shape if isinstance(target_shape[0], list) else [target_shape]
        if list(input_shape) not in shapes:
            expected = f"of shape {' or '.join(map(str, shapes))}"
            raise wrong(ValueError, f"{func_name}: {param_name}", expected, input_shape)
        return True


def args_type_validator_check(*type_args, **type_kwargs) -> Callable:
    """A decorator: each argument is given to the check of its name, with its name, at every call.

    Example:
        >>> from mycel.compat.transformers import args_type_validator_check
        >>> seen = []
        >>> @args_type_validator_check(size=lambda value, name: seen.append((name, value)))
        ... def make(size):
        ...     return size
        >>> make(3), seen
        (3, [('size', 3)])
    """

    def decorate(function):
        signature = inspect.signature(function)
        checks = signature.bind_partial(*type_args, **type_kwargs).arguments
        checks = {**checks, **checks.pop("kwargs", {})}

        @functools.wraps(function)
        def checked(*args, **kwargs):
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in checks:
                    checks[name](value, name)
            return function(*args, **kwargs)

        return checked

    return decorate


def valid_type_checks(types, class_name) -> Callable:
    """A check that a value is of one of these classes.

    Example:
        >>> from mycel.compat.transformers import valid_type_checks
        >>> _ = valid_type_checks([int], "Block")(3, "size")
    """
    return lambda value, name: check_type_name(name, type(value), types, class_name)


def valid_value_checks(types, class_name) -> Callable:
    """A check that a value is one of these element types.

    Example:
        >>> from mycel.compat.transformers import valid_value_checks
        >>> _ = valid_value_checks([mycel.float32], "Block")(mycel.float32, "dtype")
    """
    return lambda value, name: check_type_name(name, value, types, class_name)


def check_input_dtype(input_dtype, param_name, allow_dtypes, cls_name) -> None:
    """Raise unless an element type is among these.

    Raises:
        TypeError: it is another.

    Example:
        >>> from mycel.compat.transformers import check_input_dtype
        >>> check_input_dtype(mycel.float32, "x", [mycel.float32], "Block")
    """
    check_type_name(param_name, input_dtype, allow_dtypes, cls_name)


def check_past_none_input_none(
    use_past, param_name, func_name, default_value, is_tensor, is_default
) -> bool:
    """Whether a past is given exactly where it is used.

    Raises:
        TypeError: it is not.

    Example:
        >>> from mycel.compat.transformers import check_past_none_input_none
        >>> check_past_none_input_none(False, "key_past", "Block", None, False, True)
        True
    """
    if use_past != is_tensor or not (use_past or is_default):
        expected = (
            "a Tensor with use_past=True" if use_past else f"{default_value} without use_past"
        )
        raise wrong(TypeError, f"{func_name}: {param_name}", expected, "something else")
    return True


def check_config(config) -> None:
    """Accepted: on one device every division into parts is a division into one.

    Example:
        >>> from mycel.compat.transformers import check_config, default_dpmp_config
        >>> check_config(default_dpmp_config)
    """
    del config


def check_moe_config(moe_config=None, parallel_config=None) -> None:
    """Raise where a mixture of experts is asked for.

    Raises:
        TypeError: no MoEConfig.
        NotImplementedError: several experts.

    Example:
        >>> from mycel.compat.transformers import check_moe_config, default_moe_config
        >>> check_moe_config(default_moe_config)
    """
    del parallel_config
    if not isinstance(moe_config, MoEConfig):
        raise wrong(TypeError, "moe_config", "a MoEConfig", type(moe_config).__name__)
    if moe_config.expert_num > 1:
        what = "write the experts as Cells of your own"
        name = f"A mixture of {moe_config.expert_num} experts"
        raise NotImplementedError(NOT_HERE.format(name=name, what=what))


def get_lambda_func(total_layer=None) -> Callable:
    """What divides layers among stages of a pipeline, as many in each, and those that are left in
    the last: a function of a layer, its number, how many lie before the first, the configuration,
    and how many there are, unless `total_layer` says so.

    Raises:
        ValueError: fewer layers than stages, when it is called.

    Example:
        >>> from mycel.compat.transformers import get_lambda_func
        >>> from mycel.parallel.configurations import TransformerOpParallelConfig
        >>> get_lambda_func()(nn.Identity(), 0, 0, TransformerOpParallelConfig(), 1)
    """

    def place(network, layer_id, offset, parallel_config, layers) -> None:
        stages, count = parallel_config.pipeline_stage, total_layer or layers
        if count < stages:
            raise wrong(ValueError, "The number of layers", f"at least {stages} stages", count)
        if stages > 1:
            network.pipeline_stage = min((layer_id + offset) // (count // stages), stages - 1)

    return place
