# SPDX-License-Identifier: Apache-2.0
"""GraphCell: an exported program as a Cell."""

from __future__ import annotations

from typing import Any

import jax

from mycel.checkpoint.program import Program
from mycel.kernel.base.errors import wrong
from mycel.kernel.define.op import Op
from mycel.kernel.record.dispatch import applyn
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell

WRONG_INPUTS = "The exported {name} takes {expected}, but {actual} were given."
NO_DERIVATIVE = (
    "The exported {name} cannot be differentiated: export it with vjp_order=1, or with the number "
    "of derivatives that are taken of one another."
)


class GraphCell(Cell):
    """A network that was exported, as a Cell with its Parameters.

    Args:
        graph: what `load` returns.
        params_init: other values of Parameters, by name; names it does not have are ignored.
        obf_random_seed: only None.

    Raises:
        TypeError: an argument of another type.
        NotImplementedError: an `obf_random_seed`.

    Source: MindSpore's `mindspore.nn.GraphCell`.

    Example:
        >>> import tempfile
        >>> x = Tensor(np.ones((1, 2), np.float32))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.export(nn.Dense(2, 1, "ones", "zeros"), x, file_name=f"{folder}/net",
        ...               file_format="STABLEHLO", platforms=("cpu",))
        ...     net = nn.GraphCell(ms.load(f"{folder}/net.stablehlo"))
        >>> print(net(x), list(net.parameters_dict()))
        [[2.]] ['weight', 'bias']
    """

    def __init__(self, graph: Program, params_init: dict | None = None, obf_random_seed=None):
        super().__init__()
        if not isinstance(graph, Program):
            actual = type(graph).__name__
            raise wrong(TypeError, "GraphCell: graph", "what mycel.load returns", actual)
        if obf_random_seed is not None:
            raise NotImplementedError("GraphCell knows no obfuscated programs: no obf_random_seed.")
        starts = _checked(params_init)
        self.graph = graph
        for path, array in graph.weights.items():
            trained = path in graph.description["trainable"]
            parameter = Parameter(starts.get(path, Tensor(array)), path, requires_grad=trained)
            self.insert_param_to_cell(path, parameter, False)
        self._weights = tuple(sorted(graph.weights))  # in the order of JAX's dictionaries
        self._name = graph.description["name"]
        self._ops: dict = {}

    def construct(self, *inputs) -> Any:
        """The result of the program."""
        arrays, tree = jax.tree.flatten(inputs)
        exported = self.graph.exported
        count = len(exported.in_avals) - len(self._weights)
        if len(arrays) != count:
            expected = f"{count} Tensors ({', '.join(self.graph.description['inputs'])})"
            raise TypeError(
                WRONG_INPUTS.format(name=self._name, expected=expected, actual=len(arrays))
            )
        if tree not in self._ops:
            rule = None if exported.has_vjp() else self._no_derivative
            self._ops[tree] = Op(self._name, self._function(tree), rule)
        outputs = applyn(
            self._ops[tree], (*[self._params[path] for path in self._weights], *arrays)
        )
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return jax.tree.unflatten(exported.out_tree, outputs)

    def _function(self, tree):
        names, call = self._weights, self.graph.exported.call

        def function(*arrays):
            weights = dict(zip(names, arrays, strict=False))
            inputs = jax.tree.unflatten(tree, arrays[len(names) :])
            outputs = tuple(jax.tree.leaves(call(weights, *inputs)))
            return outputs[0] if len(outputs) == 1 else outputs

        return function

    def _no_derivative(self, *_):
        raise NotImplementedError(NO_DERIVATIVE.format(name=self._name))

    def extend_repr(self) -> str:
        """What stands between the brackets of `repr`."""
        return f"graph={self.graph!r}"


def _checked(params_init) -> dict:
    if params_init is None:
        return {}
    if not isinstance(params_init, dict):
        actual = type(params_init).__name__
        raise wrong(TypeError, "GraphCell: params_init", "a dictionary of Tensors", actual)
    for name, value in params_init.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            actual = f"{type(value).__name__} under {name!r}"
            raise wrong(TypeError, "GraphCell: params_init", "a dictionary of Tensors", actual)
    return params_init
