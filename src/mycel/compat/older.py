# SPDX-License-Identifier: Apache-2.0
"""What MindSpore programs tell its compiler and ask of its inside, with the meaning it has here."""

from __future__ import annotations

import enum
import functools
import gc
from collections.abc import Callable
from typing import Any

from mycel import ops
from mycel.kernel.base import log
from mycel.kernel.base.context import get_context
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.version import __version__
from mycel.kernel.define.definition import static_key, static_value
from mycel.kernel.record.generator import get_seed
from mycel.kernel.record.stream import current_stream, flush
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.transform.recompute import call_recomputed


class AmpLevel(enum.IntEnum):
    """MindSpore's words for how much of a network is computed in half precision. Programs have them
    as defaults of arguments; `mindspore.amp.auto_mixed_precision` takes "O0" to "O3" and "auto"."""

    AmpO0 = 0
    AmpO1 = 1
    AmpO2 = 2
    AmpO3 = 3
    AmpAuto = 4

    __str__ = enum.Enum.__str__


class JitConfig:
    """Settings of MindSpore's compiler; kept for whoever asks, and noted once in the log.

    Args:
        jit_level: "", "O0", "O1" or "O2".
        exc_mode, jit_syntax_level, debug_level, infer_boost: MindSpore's words.
        kwargs: further ones.

    Raises:
        ValueError: another level.

    Source: MindSpore's `mindspore.JitConfig`.

    Example:
        >>> ms.JitConfig(jit_level="O1").jit_config_dict["jit_level"]
        'O1'
    """

    def __init__(
        self,
        jit_level="",
        exc_mode="auto",
        jit_syntax_level="",
        debug_level="RELEASE",
        infer_boost="off",
        **kwargs,
    ):
        if jit_level not in ("", "O0", "O1", "O2", "O3"):
            raise wrong(ValueError, "JitConfig: jit_level", "'O0', 'O1' or 'O2'", repr(jit_level))
        usual = {
            "jit_level": "",
            "exc_mode": "auto",
            "jit_syntax_level": "",
            "debug_level": "RELEASE",
            "infer_boost": "off",
        }
        values = jit_level, exc_mode, jit_syntax_level, debug_level, infer_boost
        self.jit_config_dict = {**dict(zip(usual, values, strict=True)), **kwargs}
        asked = {k: v for k, v in self.jit_config_dict.items() if v != usual.get(k)}
        log.without_effect("JitConfig", asked)


def lazy_inline(fn: Callable[..., Any] | None = None, attrs: Any = None, policy: Any = None) -> Any:
    """Mark a Cell's `__init__`, so that MindSpore compiles the Cell once; here nothing is needed.

    Args:
        fn: the function; may be left out to give options.
        attrs, policy: noted once, without effect.

    Source: MindSpore's `mindspore.lazy_inline`.

    Example:
        >>> class Block(nn.Cell):
        ...     @ms.lazy_inline
        ...     def __init__(self):
        ...         super().__init__()
        >>> Block()
        Block()
    """
    if attrs is not None or policy is not None:
        log.note_once(f"lazy_inline(attrs={attrs!r}, policy={policy!r}) has no effect here")
    return lazy_inline if fn is None else fn


def cell_attr_register(fn: Callable[..., Any] | None = None, attrs: Any = None) -> Any:
    """Mark a Cell's `__init__`, so that MindSpore shares what it compiled; nothing is needed here.

    Source: MindSpore's `mindspore._extends.cell_attr_register`.

    Example:
        >>> from mycel.compat.older import cell_attr_register
        >>> class Block(nn.Cell):
        ...     @cell_attr_register(attrs=["size"])
        ...     def __init__(self, size):
        ...         super().__init__()
        >>> Block(3)
        Block()
    """
    del attrs
    return cell_attr_register if fn is None else fn


class Symbol:
    """What MindSpore's compiler may suppose of a length that changes; here nothing is supposed.

    Args:
        max, min: the greatest and the smallest length.
        divisor, remainder: what the length leaves when it is divided.
        unique: whether equal Symbols mean equal lengths.

    Raises:
        TypeError, ValueError: numbers that cannot be.

    Source: MindSpore's `mindspore.Symbol`.

    Example:
        >>> ms.Symbol(max=64, divisor=8).divisor
        8
    """

    def __init__(self, max=0, min=1, divisor=1, remainder=0, unique=False, **kwargs):
        for name, value in kwargs.items():
            log.note_once(f"Symbol({name}={value!r}) has no effect here")
        for name, value in {"max": max, "min": min, "divisor": divisor}.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise wrong(TypeError, f"Symbol: {name}", "an integer", repr(value))
        if min < 1 or (max and max < min) or divisor < 1:
            actual = f"max={max}, min={min}, divisor={divisor}"
            raise wrong(ValueError, "Symbol", "1 <= min <= max and divisor >= 1", actual)
        self.max = max
        self.min = min
        self.divisor = divisor
        self.remainder = remainder
        self.unique = unique


def run_check() -> None:
    """Multiply two matrices, and say on which device that was done.

    Source: MindSpore's `mindspore.run_check`.

    Example:
        >>> ms.run_check()  # doctest: +ELLIPSIS
        mycel ... multiplies matrices correctly on ...
    """
    product = ops.matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]))
    if float(product) != 11.0:
        raise RuntimeError(f"mycel {__version__} multiplies wrongly: 1*3 + 2*4 gave {product}.")
    target = get_context("device_target")
    print(f"mycel {__version__} multiplies matrices correctly on {target}.")


def recompute(
    block: Any,
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Any = None,
    **kwargs: Any,
) -> Any:
    """Call a Cell, and keep nothing of it for the reverse: it is computed again there.

    Args:
        block: a Cell.
        args, kwargs: its inputs.
        use_reentrant, output_recompute, early_stop: accepted; there is one way here.
        context_fn: not possible here, as Python does not run a second time.

    Raises:
        TypeError: not a Cell.
        ValueError: a `context_fn`.

    Source: MindSpore's `mindspore.recompute`.

    Example:
        >>> block = nn.SequentialCell(nn.Dense(2, 2, "ones"), nn.ReLU())
        >>> print(ms.grad(lambda x: ms.recompute(block, x).sum())(ops.ones((1, 2))))
        [[2. 2.]]
    """
    del use_reentrant, output_recompute, early_stop
    if not isinstance(block, Cell):
        raise wrong(TypeError, "recompute: block", "a Cell", type(block).__name__)
    if context_fn is not None:
        raise wrong(ValueError, "recompute: context_fn", "None: Python runs once here", context_fn)
    stream = current_stream()
    if not stream.scope.is_taped:
        return block(*args, **kwargs)
    return call_recomputed(stream, block, args, kwargs)


def ms_memory_recycle() -> None:
    """Free what nobody uses any more.

    Source: MindSpore's `mindspore.ms_memory_recycle`.

    Example:
        >>> ms.ms_memory_recycle()
    """
    flush()
    gc.collect()


def set_offload_context(offload_config: dict[str, Any]) -> None:
    """Settings of MindSpore for moving data to the host; noted once, without effect.

    Example:
        >>> ms.set_offload_context({"offload_param": "cpu"})
    """
    log.note_once(f"set_offload_context({offload_config!r}) has no effect here")


def precision_mode(mode: str) -> None:
    """Which precision Ascend hardware chooses; noted once, without effect here.

    Source: MindSpore's `mindspore.device_context.ascend.op_precision.precision_mode`.

    Example:
        >>> from mycel.compat.older import precision_mode
        >>> precision_mode("must_keep_origin_dtype")
    """
    log.note_once(f"precision_mode({mode!r}) has no effect here")


def threads_num(num: int) -> None:
    """How many threads compute an operator on CPU: XLA decides. Noted once, without effect.

    Source: MindSpore's `mindspore.device_context.cpu.op_tuning.threads_num`.

    Example:
        >>> from mycel.compat.older import threads_num
        >>> threads_num(4)
    """
    log.note_once(f"threads_num({num!r}) has no effect here")


def disable_multi_thread() -> None:
    """Whether MindSpore prepares work on other threads; noted once, without effect here.

    Example:
        >>> from mycel.compat.older import disable_multi_thread
        >>> disable_multi_thread()
    """
    log.note_once("disable_multi_thread() has no effect here")


class StubTensor:
    """A Tensor that is still being computed. Here every result is a Tensor: this has no objects.

    Example:
        >>> from mycel.compat.older import StubTensor
        >>> isinstance(Tensor([1]) + 1, StubTensor)
        False
    """

    def __new__(cls, *args, **kwargs):
        raise TypeError("There are no StubTensors in mycel: every result is a Tensor.")


# Filled by programs that compile Cells themselves; nothing here reads it.
cells_compile_cache: dict[Any, Any] = {}


class GraphExecutor:
    """What programs ask of MindSpore's compiler.

    Example:
        >>> from mycel.compat.older import graph_executor
        >>> graph_executor.compile(nn.Dense(2, 1), ops.ones((3, 2)))
        ('', True)
    """

    def compile(self, obj, *args, phase="predict", do_convert=True, jit_config_dict=None, **kwargs):
        """Call a Cell once, which finds the errors that compiling it would find.

        Returns:
            ("", True): an empty number of a graph, and that it is new.
        """
        del phase, do_convert, jit_config_dict
        obj(*args, **kwargs)
        flush()
        return "", True

    def __call__(self, obj, *args, phase="predict", **kwargs):
        """Call a Cell."""
        del phase
        return obj(*args, **kwargs)


graph_executor = GraphExecutor()


def set_current_network(net: Any) -> None:
    """Accepted: which network MindSpore's compiler is at; saving and loading ask no such thing.

    Example:
        >>> from mycel.compat.older import set_current_network
        >>> set_current_network(nn.Dense(2, 1))
    """
    del net


class MSContext:
    """The settings as MindSpore's own extension hands them out: which Ascend hardware there is.

    Example:
        >>> from mycel.compat.older import MSContext
        >>> MSContext.get_instance().get_ascend_soc_version()
        ''
    """

    @staticmethod
    def get_instance() -> MSContext:
        """The settings."""
        return MSContext()

    def get_ascend_soc_version(self) -> str:
        """The kind of Ascend hardware: none."""
        return ""


def get_graph_seed(op_seed: int | None, op_name: str) -> tuple[int, int]:
    """The seeds of an operator: that of `set_seed` and its own, 0 where there is none.

    Args:
        op_seed: the operator's own.
        op_name: accepted; which operator asks.

    Example:
        >>> from mycel.compat.older import get_graph_seed
        >>> ms.set_seed(3)
        >>> get_graph_seed(5, "dropout")
        (3, 5)
    """
    del op_name
    return get_seed() or 0, op_seed or 0


@functools.cache
def _primitive(kind: type) -> Callable:
    known: dict = {}

    @functools.wraps(kind, updated=())
    def made(*args, **kwargs):
        arguments = static_value((args, tuple(kwargs), tuple(kwargs.values())))
        key = arguments, static_key(arguments)
        if key not in known:
            known[key] = kind(*args, **kwargs)
        return known[key]

    return made


def get_cache_prim(cls: type[Any]) -> Callable[..., Any]:
    """A function that makes a Primitive once for each choice of attributes, and gives it again.

    Source: MindSpore's `mindspore.ops._primitive_cache._get_cache_prim`.

    Example:
        >>> from mycel.compat.older import get_cache_prim
        >>> get_cache_prim(ops.Concat)(1) is get_cache_prim(ops.Concat)(1)
        True
    """
    return _primitive(cls)


__all__ = [
    "JitConfig",
    "Symbol",
    "lazy_inline",
    "ms_memory_recycle",
    "recompute",
    "run_check",
    "set_offload_context",
]
