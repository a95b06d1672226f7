# SPDX-License-Identifier: Apache-2.0
"""mycel: MindSpore's programming model on XLA.

Networks are Cells with Parameters. The same code runs in two modes: PyNative (operators run as
they are called) and Graph (`@jit`: recorded, remembered, compiled to one XLA program).

Example:
    >>> import mycel as ms
    >>> print(ms.Tensor([1.0, 2.0]) + 1)
    [2. 3.]
"""

from mycel.base import backend

backend.configure()

from mycel.base.context import (  # noqa: E402
    GRAPH_MODE,
    PYNATIVE_MODE,
    context,
    get_context,
    set_context,
)
from mycel.base.dtypes import *  # noqa: E402
from mycel.execute import direct as _direct  # noqa: E402
from mycel.execute import fused as _fused  # noqa: E402
from mycel.record import stream as _stream  # noqa: E402

# The one place where the machine is put together: lower layers are given what runs them.
_stream.machine.run_segment = _fused.run_segment
_stream.machine.run_for_another = _fused.run_for_another
_stream.machine.run_directly = _direct.run_directly
context.before_device_change = _stream.flush

from mycel.differentiate import api as _api  # noqa: E402
from mycel.execute.graph import Remembered as _Remembered  # noqa: E402
from mycel.nn import cell as _cell  # noqa: E402

_api.given["remember"] = _cell.given["remember"] = _Remembered

from mycel import debug, nn, ops  # noqa: E402
from mycel.base.errors import BudgetError  # noqa: E402
from mycel.base.version import __version__  # noqa: E402
from mycel.differentiate.api import get_grad, grad, value_and_grad  # noqa: E402
from mycel.execute.effects import every_call  # noqa: E402
from mycel.execute.graph import jit  # noqa: E402
from mycel.record.generator import (  # noqa: E402
    Generator,
    default_generator,
    get_seed,
    set_seed,
)
from mycel.record.parameter import Parameter, ParameterTuple  # noqa: E402
from mycel.record.stream import flush  # noqa: E402
from mycel.record.tensor import Tensor  # noqa: E402

ms_function = jit

# MindSpore's module paths below both names, and errors that name the nearest thing there is.
from mycel.compat import alias as _alias  # noqa: E402
from mycel.compat.alias import install_as_mindspore  # noqa: E402

_alias.install_older_paths()
_alias.explain(_alias.sys.modules[__name__], nn, ops)
# MindSpore's `context` is a module of functions; the settings themselves stay in base.context.
context = _alias.find(__name__, "context")
