# SPDX-License-Identifier: Apache-2.0
"""mycel: MindSpore's programming model on XLA.

Networks are Cells with Parameters. The same code runs in two modes: PyNative (operators run as
they are called) and Graph (`@jit`: recorded, remembered, compiled to one XLA program).

Example:
    >>> import mycel as ms
    >>> print(ms.Tensor([1.0, 2.0]) + 1)
    [2. 3.]
"""

# ruff: noqa: E402 - JAX is configured before anything makes an array.
import typing as _typing

from mycel.kernel.base import backend as _backend
from mycel.kernel.base import context as _settings
from mycel.kernel.base import signals as _signals
from mycel.kernel.base import variables as _variables

_variables.tell_unknown()
_backend.configure()
_signals.keep_what_python_drops()

from mycel import debug, init, nn, ops, optim
from mycel import report as _report
from mycel.compat import absent as _absent
from mycel.compat import alias as _alias
from mycel.compat import context as _older_settings
from mycel.compat import keywords as _keywords
from mycel.compat import mint_operators as _mint_operators
from mycel.compat import moved as _moved
from mycel.compat import operators as _operators
from mycel.compat.alias import install_as_mindspore
from mycel.debug import at_exit as _at_exit
from mycel.debug import breakpoints as _breakpoints
from mycel.init.initializer import initializer_of as _initializer_of
from mycel.kernel.base.context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from mycel.kernel.base.dtypes import *
from mycel.kernel.base.errors import (
    BudgetError,
    HookOrderError,
    NoIntegersError,
    OutOfRangeError,
)
from mycel.kernel.base.version import __version__
from mycel.kernel.differentiate import api as _api
from mycel.kernel.differentiate.api import get_grad, grad, value_and_grad
from mycel.kernel.execute import changing as _changing
from mycel.kernel.execute import ending as _ending
from mycel.kernel.execute import forked as _forked
from mycel.kernel.execute import fused as _fused
from mycel.kernel.execute import numerics as _numerics
from mycel.kernel.execute.graph import Remembered as _Remembered
from mycel.kernel.execute.graph import jit
from mycel.kernel.execute.sites import every_call
from mycel.kernel.record import stream as _stream
from mycel.kernel.record import tensor as _tensor
from mycel.kernel.record.generator import (
    Generator,
    default_generator,
    get_rng_state,
    get_seed,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
    set_seed,
)
from mycel.kernel.record.parameter import Parameter, ParameterTuple
from mycel.kernel.record.stream import flush
from mycel.kernel.record.tensor import Tensor, from_numpy, tensor
from mycel.kernel.spell.other_keywords import other_keywords as _other_keywords
from mycel.nn import cell as _cell
from mycel.nn import operator_hooks as _operator_hooks
from mycel.ops.sparse.sparse_tensors import COOTensor, CSRTensor, RowTensor
from mycel.ops.spelled.hints import constexpr, is_tensor, jit_class, mutable
from mycel.report import tracebacks as _tracebacks
from mycel.report.ledger import ledger as _ledger
from mycel.transform.jacobian import jacfwd, jacrev, jvp, vjp
from mycel.transform.vmap import vmap
from mycel.tuning import by_numpy as _by_numpy
from mycel.tuning import malloc as _malloc
from mycel.tuning import materialize as _materialize
from mycel.tuning import numpy_rules as _numpy_rules
from mycel.tuning import options as _options
from mycel.tuning import padding as _padding
from mycel.tuning import together as _together

if _typing.TYPE_CHECKING:
    # These packages are loaded when a name of theirs is first asked for: see compat/names.toml.
    from mycel import amp, checkpoint, mint, train
    from mycel.checkpoint import from_dlpack, to_dlpack
    from mycel.train import *

# The one place where the machine is put together: lower layers are given what they need of
# higher ones, so that imports go one way.
_stream.machine.account = _ledger
_stream.machine.report = _report
_stream.machine.begin_step = _numerics.begin_step
_stream.machine.note_gradients = _numerics.note_gradients
_stream.machine.on_operator = _operator_hooks.call_operator_hooks
_stream.machine.run_segment = _fused.run_segment
_stream.machine.run_by_operator = _fused.run_for_another
_stream.machine.run_directly = _changing.run_alone
_forked.watch_forks()
_ending.watch_end()
_backend.tuning.prepare = _malloc.keep_freed_memory
_backend.tuning.accepts = _options.accepts
_backend.tuning.compiler_options = _options.compiler_options
_backend.tuning.to_materialize = _materialize.to_materialize
_backend.tuning.materialize = _materialize.materialize
_backend.tuning.together = _together.together
_backend.tuning.open_lengths = _numpy_rules.lengths
_backend.tuning.by_numpy = _by_numpy.compiled
_backend.tuning.to_arrays = _by_numpy.to_arrays
_backend.tuning.padding = _padding
_settings.context.before_device_change = _stream.flush
_stream.machine.remember = _Remembered
_stream.machine.initializer = _initializer_of

_at_exit.register()
_breakpoints.stop_in_notebooks()
_tracebacks.show_short_tracebacks()
_numerics.heed_jax()

# Names that MindSpore has in other places, has given up, or has two of.
_other_keywords.update(_keywords.OTHER)
_settings.without_effect.update(_older_settings.WITHOUT_EFFECT)
_alias.offer(nn, optim.PUBLIC)
_alias.offer(ops, _operators.PUBLIC)

# MindSpore's module paths below both names, and errors that name the nearest thing there is.
_moved.install()
_alias.install_older_paths()
_alias.explain(_alias.sys.modules[__name__], nn, ops)
_absent.explain_members(Tensor, Parameter, nn.Cell, nn.Optimizer, ops.Primitive)
# MindSpore's `context` is a module of functions; the settings themselves are in base.context.
context = _alias.find(__name__, "context")
