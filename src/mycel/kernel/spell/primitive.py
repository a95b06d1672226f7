# SPDX-License-Identifier: Apache-2.0
"""Primitive: what the operator classes (`ops.ReLU()`, `ops.Conv2D(...)`) have in common."""

from __future__ import annotations

import functools
from functools import partial
from typing import TYPE_CHECKING, Any

from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.structure import changed_everywhere


@functools.cache
def _in_parts(kind: type[Primitive]) -> type[Primitive]:
    """The class of operators that were given strategies or a stage."""
    if "_undivided" in kind.__dict__:
        return kind

    def call(self, *args, **kwargs):
        if "stage" in self.attrs and division.stage is not None:
            args, kwargs = division.stage(self.attrs["stage"], args, kwargs)
        if division.call is None or "in_strategy" not in self.attrs:
            return kind.__call__(self, *args, **kwargs)
        function = partial(kind.__call__, self, **kwargs)
        in_strategy, out_strategy = self.attrs["in_strategy"], self.attrs.get("out_strategy")
        return division.call(function, args, in_strategy, out_strategy, self)

    members = {"__call__": call, "__module__": kind.__module__, "_undivided": kind}
    return type(kind.__name__, (kind,), members)


class Primitive:
    """An operator as an object: attributes are given at creation, Tensors at the call.

    Source: MindSpore's `mindspore.ops.Primitive`.

    Example:
        >>> import mycel as ms
        >>> print(ms.ops.Add()(ms.Tensor([1, 2]), 3))
        [4 5]
    """

    def __init__(self, name: str):
        self.name = name
        self.attrs: dict[str, object] = {}
        self.instance_name = name

    if TYPE_CHECKING:
        # Those of each operator are generated, and so are its attributes.
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

        def __getattr__(self, name: str) -> Any: ...

    def add_prim_attr(self, name: str, value) -> Primitive:
        """Keep something for the caller, in `attrs` and under its name; it changes nothing."""
        if name in self.attrs or not hasattr(self, name):
            self.__dict__[name] = value
        self.attrs[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Forget an attribute, if there is one of this name.

        Example:
            >>> import mycel as ms
            >>> ms.ops.Add().add_prim_attr("key", 1).del_prim_attr("key").attrs
            {}
        """
        if name in self.attrs:
            del self.attrs[name]
            self.__dict__.pop(name, None)
        return self

    def init_prim_io_names(self, inputs, outputs) -> None:
        """Keep the names of inputs and outputs, as attributes too.

        Raises:
            TypeError: no lists of names.

        Example:
            >>> import mycel as ms
            >>> add = ms.ops.Add()
            >>> add.init_prim_io_names(["x", "y"], ["sum"])
            >>> add.attrs
            {'input_names': ['x', 'y'], 'output_names': ['sum']}
        """
        for kind, names in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(names, (tuple, list)):
                raise wrong(TypeError, f"init_prim_io_names: {kind}", "a list of names", names)
        self.add_prim_attr("input_names", list(inputs))
        self.add_prim_attr("output_names", list(outputs))

    def recompute(self, mode: bool = True) -> Primitive:
        """Kept as an attribute: the reverse of an operator begins from its inputs in any case.

        `Cell.recompute` says it of all that a Cell computes.

        Raises:
            TypeError: not a bool.

        Example:
            >>> import mycel as ms
            >>> ms.ops.ReLU().recompute().attrs
            {'recompute': True}
        """
        if not isinstance(mode, bool):
            raise wrong(TypeError, "recompute: mode", "True or False", repr(mode))
        return self.add_prim_attr("recompute", mode)

    def shard(self, in_strategy=None, out_strategy=None) -> Primitive:
        """How inputs and results are divided among devices, in `semi_auto_parallel`.

        On one device it changes nothing.

        Args:
            in_strategy: for each input a tuple with the number of parts of each dimension, or a
                `Layout` called with names.
            out_strategy: the same for the results; XLA chooses by default.

        Raises:
            TypeError: not a tuple.
            ValueError: of the results only; and, at the call, a dimension that cannot be divided.

        Example:
            >>> import mycel as ms
            >>> print(ms.ops.Add().shard(((1,), (1,)))(ms.Tensor([1]), ms.Tensor([2])))
            [3]
        """
        if in_strategy is None and out_strategy is not None:
            raise wrong(ValueError, "shard: in_strategy", "given with out_strategy", "None")
        for kind, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            if strategy is not None:
                if not isinstance(strategy, tuple):
                    raise wrong(TypeError, f"shard: {kind}", "a tuple", repr(strategy))
                self.add_prim_attr(kind, strategy)
        if in_strategy is not None:
            object.__setattr__(self, "__class__", _in_parts(type(self)))
            changed_everywhere()
        return self

    def set_stage(self, stage: int) -> Primitive:
        """Which stage of a pipeline computes it; see `Cell.pipeline_stage`.

        Raises:
            TypeError: not an integer.
        """
        if not isinstance(stage, int) or isinstance(stage, bool):
            raise wrong(TypeError, f"{self.name}.set_stage: stage", "an integer", repr(stage))
        self.add_prim_attr("stage", stage)
        object.__setattr__(self, "__class__", _in_parts(type(self)))
        changed_everywhere()
        return self

    def place(self, role: str, rank_id: int) -> None:
        """Which process runs it: kept as attributes; there is one process."""
        self.add_prim_attr("ms_role", role)
        self.add_prim_attr("rank_id", rank_id)

    def set_prim_instance_name(self, name: str) -> Primitive:
        """Name this object."""
        self.instance_name = name
        return self

    def set_device(self, device_target: str) -> Primitive:
        """Accepted for MindSpore programs; XLA places operators itself."""
        return self.add_prim_attr("primitive_target", device_target)

    def _arguments(self) -> dict[str, object]:
        """What it was made with."""
        hidden = {"name", "attrs", "instance_name", *self.attrs}
        return {key: value for key, value in vars(self).items() if key not in hidden}

    def __str__(self):
        """As MindSpore prints it: what it was made with, and its attributes.

        Example:
            >>> import mycel as ms
            >>> print(ms.ops.Add().set_stage(0))
            Prim[Add]<stage=0>
        """
        known = {**self._arguments(), **self.attrs}
        shown = ", ".join(f"{key}={value}" for key, value in known.items())
        return f"Prim[{self.name}]" + (f"<{shown}>" if shown else "")

    def __repr__(self):
        body = ", ".join(f"{key}={value!r}" for key, value in self._arguments().items())
        return f"{type(self).__name__}({body})"
