# SPDX-License-Identifier: Apache-2.0
"""Settings of a Cell: its training state, flags, and what concerns other machines than this one.

MindSpore's settings for several devices, other hardware and its own compiler are checked and kept;
they change nothing in what a Cell computes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from types import MethodType
from typing import Any

from mycel.kernel.base import errors
from mycel.kernel.base.division import division
from mycel.kernel.base.log import note_once
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import is_integer
from mycel.nn.members import is_called
from mycel.nn.precision import Precise
from mycel.ops.array.casting import cast

_RECOMPUTE = ("mp_comm_recompute", "parallel_optimizer_comm_recompute")


class Settings(Precise):
    """What can be set on a Cell beside its members."""

    _flags: dict
    training: bool
    requires_grad: bool
    cell_type: str | None
    construct: Callable[..., Any]
    __call__: Callable[..., Any]

    # -- the training state --------------------------------------------------------------

    @property
    def phase(self) -> str:
        """'train' or 'predict', or what was assigned to it since `set_train`."""
        return self.__dict__.get("_phase") or ("train" if self.training else "predict")

    @phase.setter
    def phase(self, value: str):
        if not isinstance(value, str):
            raise errors.wrong(TypeError, "The phase of a Cell", "a string", repr(value))
        self.__dict__["_phase"] = value

    # As the programs write it that reach into a Cell.
    _phase = phase

    def set_train(self, mode: bool = True):
        """Put this Cell and its children into training (or prediction) state."""
        mode = bool(mode)
        for _, cell in self.cells_and_names():
            cell.__dict__.pop("_phase", None)
            cell._flags["training"] = mode
            cell.training = mode
        return self

    def set_grad(self, requires_grad: bool = True):
        """Note that gradients will be asked for; nothing depends on it here."""
        self.requires_grad = requires_grad
        return self

    # -- flags ---------------------------------------------------------------------------

    def add_flags(self, **flags):
        """Set attributes and keep them as flags; `fp16`, `bf16` and `fp32` as `to_float` does.

        Example:
            >>> net = nn.ReLU().add_flags(stage=2)
            >>> net.stage, net.get_flags()
            (2, {'stage': 2})
        """
        for name, value in flags.items():
            self._flags[name] = value
            setattr(self, name, value)
        self._take_precision(flags)
        return self

    def add_flags_recursive(self, **flags):
        """`add_flags` on this Cell and all its children."""
        for _, cell in self.cells_and_names():
            cell._flags.update(flags)
            for name, value in flags.items():
                setattr(cell, name, value)
        self._take_precision(flags, recurse=True)
        return self

    def get_flags(self) -> dict:
        """The flags set with `add_flags`, and the training state once it was set."""
        return self._flags

    # -- memory --------------------------------------------------------------------------

    def recompute(
        self,
        *given,
        use_reentrant: bool = True,
        output_recompute: bool = False,
        early_stop: bool = True,
        context_fn=None,
        **kwargs,
    ) -> None:
        """Keep nothing of what `construct` computes for the reverse: it computes it again.

        A network of many such Cells needs much less memory for its gradients and about a third
        more time. Results are the same: Python, hooks, random numbers and assignments run once.

        Args:
            use_reentrant, output_recompute, early_stop: accepted; there is one way here.
            context_fn: not possible here, as Python does not run a second time.
            kwargs: `mp_comm_recompute`, `parallel_optimizer_comm_recompute` and
                `recompute_slice_activation`, which concern several devices.

        Raises:
            TypeError: one of them is not a bool, or has no keyword.
            ValueError: a keyword is unknown, or `context_fn` is given with `use_reentrant=False`.

        Source: MindSpore's `Cell.recompute`.

        Example:
            >>> net = nn.SequentialCell(nn.Dense(2, 2, "ones"), nn.ReLU())
            >>> net.recompute()
            >>> print(ms.grad(net)(ops.ones((1, 2))))
            [[2. 2.]]
        """
        if given:
            what = "What recompute is given"
            raise errors.wrong(TypeError, what, "keywords, as use_reentrant=True", repr(given[0]))
        for name in kwargs.keys() - {*_RECOMPUTE, "recompute_slice_activation"}:
            known = ", ".join((*_RECOMPUTE, "recompute_slice_activation"))
            raise errors.wrong(ValueError, "A keyword of recompute", f"one of {known}", repr(name))
        flags = {
            "use_reentrant": use_reentrant,
            "output_recompute": output_recompute,
            "early_stop": early_stop,
            **kwargs,
        }
        for name, value in flags.items():
            if not isinstance(value, bool):
                raise errors.wrong(TypeError, f"recompute: {name}", "True or False", repr(value))
        if context_fn is not None and not (use_reentrant or output_recompute):
            raise errors.wrong(
                ValueError,
                "recompute: context_fn",
                "None (Python does not run a second time here)",
                repr(context_fn),
            )
        self.add_flags(output_recompute=output_recompute)
        for cell in self._called_cells():
            cell.__dict__["_recomputed"] = True
            cell._cell_changed(f"recompute was called on {type(cell).__name__} inside")

    def _called_cells(self) -> Iterator:
        """This Cell, or in place of one that is never called its children."""
        if is_called(self):
            yield self
            return
        for child in self.cells():
            yield from child._called_cells()

    # -- several devices, other hardware -------------------------------------------------

    @property
    def pipeline_stage(self) -> int:
        """Which stage of a pipeline of devices computes this Cell, and has its Parameters.

        It holds for the Cells inside, too, unless they have their own. Without `pipeline_stages`
        of `set_auto_parallel_context`, or with one device, it changes nothing.

        Raises:
            AttributeError: it was not set.
            TypeError, ValueError: it is set to something else than an integer from 0.

        Example:
            >>> net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 1))
            >>> net[0].pipeline_stage, net[1].pipeline_stage = 0, 1
            >>> net[1].pipeline_stage
            1
        """
        if "_pipeline_stage" in self.__dict__:
            return self.__dict__["_pipeline_stage"]
        raise AttributeError(f"{type(self).__name__}.pipeline_stage was not set.")

    @pipeline_stage.setter
    def pipeline_stage(self, value: int):
        stage = self.__dict__["_pipeline_stage"] = _count(value, "pipeline_stage")
        if division.stage_count == 1:
            note_once("pipeline_stage has no effect without pipeline_stages: see docs/scale.md")
        for cell in self._called_cells():
            cell.__dict__["_stage"] = cell.__dict__.get("_pipeline_stage", stage)
            cell._divide_construct()

    @property
    def pipeline_segment(self) -> int:
        """Which segment of its stage has this Cell; see `pipeline_stage`."""
        if "_pipeline_segment" in self.__dict__:
            return self.__dict__["_pipeline_segment"]
        raise AttributeError(f"{type(self).__name__}.pipeline_segment was not set.")

    @pipeline_segment.setter
    def pipeline_segment(self, value: int):
        self.__dict__["_pipeline_segment"] = _count(value, "pipeline_segment")

    @property
    def parameter_layout_dict(self) -> dict:
        """How Parameters are divided among devices: nothing is."""
        return self.__dict__.setdefault("_parameter_layout_dict", {})

    @parameter_layout_dict.setter
    def parameter_layout_dict(self, value: dict):
        self.__dict__["_parameter_layout_dict"] = dict(value)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True):
        """Note on the trainable Parameters how devices are to group their communication."""
        fusion_type = _count(fusion_type, "set_comm_fusion: fusion_type")
        for parameter in self.trainable_params(recurse):
            parameter.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Accepted and harmless: Parameters are here, not on a server."""

    def set_broadcast_flag(self, mode: bool = True):
        """Keep a flag that devices are to start from the same values."""
        return self.add_flags_recursive(broadcast_flag=mode)

    def set_data_parallel(self) -> None:
        """Accepted and harmless on one device."""

    def shard(self, in_strategy, out_strategy=None, parameter_plan=None) -> None:
        """How inputs, results and Parameters are divided among devices; see `mindspore.shard`.

        On one device it changes nothing.

        Args:
            in_strategy: for each input a tuple with the number of parts of each dimension, a
                `Layout` called with names, or None to leave it as it is.
            out_strategy: the same for the results.
            parameter_plan: the same for Parameters, by their names within this Cell.
        """
        self.__dict__["_strategies"] = in_strategy, out_strategy
        self._divide_construct()
        for name, strategy in (parameter_plan or {}).items():
            _parameter_named(self, name).__dict__["_strategy"] = strategy

    def _divide_construct(self) -> None:
        """Let `construct` compute with what `shard` and `pipeline_stage` said."""
        construct = partial(
            _construct_divided,
            plan=self.__dict__.get("_strategies"),
            stage=self.__dict__.get("_stage"),
        )
        # Who asks for the signature hears that of the Cell's own.
        self.construct = MethodType(update_wrapper(construct, type(self).construct), self)

    def place(self, role: str, rank_id: int) -> None:
        """Accepted and harmless on one device."""

    def offload(self, backward_prefetch: str | int = "Auto") -> None:
        """Accepted and harmless: it says where intermediate results wait; see `recompute`.

        Raises:
            ValueError: the value is neither "Auto" nor a number from 0.
        """
        if backward_prefetch != "Auto":
            _count(backward_prefetch, "offload: backward_prefetch", "'Auto' or ", ValueError)

    def set_boost(self, boost_type: str):
        """Keep a flag of this name.

        Raises:
            ValueError: the word is not 'less_bn'.
        """
        if boost_type != "less_bn":
            raise errors.wrong(ValueError, "set_boost: boost_type", "'less_bn'", repr(boost_type))
        return self.add_flags_recursive(less_bn=True)

    def update_cell_type(self, cell_type: str) -> None:
        """Set `cell_type`."""
        self.cell_type = cell_type

    # -- MindSpore's compiler ------------------------------------------------------------

    def compile(self, *args, **kwargs) -> None:
        """Accepted and harmless: what repeats is compiled by itself."""

    def compile_and_run(self, *args, **kwargs):
        """Call the Cell."""
        return self(*args, **kwargs)

    def set_inputs(self, *inputs, **kwargs) -> None:
        """Note which inputs are to come; lengths that change need no announcement here.

        A Tensor with an open length, as `ms.Tensor(shape=[None, 64], dtype=ms.float32)`, says that
        lengths change. Where calls of this Cell are compiled, in Graph mode or by `ms.jit(cell)`,
        its inputs are then padded to a few lengths (see `dynamic="padded"` of `ms.jit`). Calls are
        not compared with what was announced.

        Raises:
            ValueError: an input is given both by position and by name, or `construct` has no input
                of this name.
        """
        if inputs and kwargs:
            raise errors.wrong(
                ValueError, "The inputs", "given either by position or by name", "both"
            )
        names = inspect.signature(self.construct).parameters
        for name in kwargs.keys() - names.keys():
            owner = f"An input of {type(self).__name__}"
            raise errors.wrong(ValueError, owner, f"one of {', '.join(names)}", repr(name))
        self.__dict__["_announced_inputs"] = tuple(kwargs.values()) if kwargs else inputs

    def get_inputs(self):
        """What `set_inputs` was given; None at first."""
        return self.__dict__.get("_announced_inputs")

    @property
    def jit_config_dict(self) -> dict:
        """The settings of `set_jit_config`."""
        return self.__dict__.get("_jit_config_dict", {})

    def set_jit_config(self, jit_config) -> None:
        """Keep settings of MindSpore's compiler; they have no effect here."""
        settings = getattr(jit_config, "jit_config_dict", jit_config)
        self.__dict__["_jit_config_dict"] = dict(settings)

    def get_func_graph_proto(self):
        """Not possible here.

        Raises:
            NotImplementedError: always; the text says what to use instead.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no graph of MindSpore's; mycel.debug.ledger() lists what "
            "was compiled."
        )

    def register_saved_tensors_hooks(self, pack_hook, unpack_hook):
        """Not possible here: nothing is saved operator by operator.

        Raises:
            NotImplementedError: always; the text says what to use instead.
        """
        raise NotImplementedError(
            f"{type(self).__name__}: nothing is saved operator by operator for the reverse here; "
            "recompute() keeps less of it."
        )

    def register_parameter_forward_hook(self, hook):
        """Not there: a hook on the Cell sees its Parameters too.

        Raises:
            NotImplementedError: always; the text says what to use instead.
        """
        raise NotImplementedError(
            f"{type(self).__name__}: register_forward_pre_hook sees the Cell and its Parameters."
        )

    @property
    def has_bprop(self) -> bool:
        """Whether the Cell has a reverse of its own."""
        return hasattr(self, "bprop")

    def _get_attr_from_cell(self, network) -> None:
        """Take over the settings for MindSpore's compiler."""
        if hasattr(network, "jit_config_dict"):
            self.__dict__["_jit_config_dict"] = network.jit_config_dict

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict:
        """Accepted and harmless: the values of Parameters are there from the start."""
        del auto_parallel_mode
        return {parameter: parameter for parameter in self.get_parameters()}

    def remove_redundant_parameters(self) -> None:
        """Accepted and harmless."""

    def generate_scope(self) -> None:
        """Let every Cell below this one know its path as `get_scope` gives it."""
        for path, cell in self._children_scope_recursive():
            cell.__dict__.setdefault("_scope", path)

    def get_scope(self) -> str | None:
        """The path that `generate_scope` noted, as 'Default/body-Dense'; None before.

        Example:
            >>> net = nn.SequentialCell(nn.Dense(1, 1))
            >>> net.generate_scope()
            >>> net[0].get_scope()
            'Default/0-Dense'
        """
        return self.__dict__.get("_scope")

    def _children_scope_recursive(self, parent_prefix: str = "Default") -> Iterator[tuple]:
        children = [
            (f"{parent_prefix}/{name}-{type(cell).__name__}", cell)
            for name, cell in self.name_cells().items()
        ]
        yield from children
        for path, cell in children:
            yield from cell._children_scope_recursive(path)

    # -- older ways to cast --------------------------------------------------------------

    def cast_inputs(self, inputs, dst_type) -> tuple:
        """Real Tensors of a tuple in another element type.

        Example:
            >>> nn.ReLU().cast_inputs((Tensor([1.0]), 2), mycel.float16)
            (Tensor(shape=[1], dtype=Float16, value= [ 1.00000000e+00]), 2)
        """
        return tuple(
            cast(one, dst_type) if isinstance(one, Tensor) and one.dtype.is_floating else one
            for one in inputs
        )

    def auto_cast_inputs(self, inputs) -> tuple:
        """`cast_inputs` to the type of `to_float`, if there is one."""
        return (
            tuple(inputs)
            if self._computes_in is None
            else self.cast_inputs(inputs, self._computes_in)
        )


def _construct_divided(cell, *args, plan, stage, **kwargs):
    """What `construct` gives, on the devices of a stage, its inputs and results divided as `shard`
    said."""
    if stage is not None and division.stage is not None:
        args, kwargs = division.stage(stage, args, kwargs)
    by_steps = cell.__dict__.get("_by_steps", type(cell).construct)
    construct = partial(by_steps, cell, **kwargs)
    if plan is None or division.call is None:
        return construct(*args)
    return division.call(construct, args, *plan)


def _parameter_named(cell, name: str):
    """The Parameter of a Cell with this name, or with this path of attributes.

    Raises:
        ValueError: there is none.
    """
    for path, parameter in cell.parameters_and_names():
        if name in (path, parameter.name):
            return parameter
    known = ", ".join(path for path, _ in cell.parameters_and_names())
    raise errors.wrong(ValueError, "shard: parameter_plan", f"names among {known}", repr(name))


def _count(value, what: str, otherwise: str = "", kind: type = TypeError) -> int:
    """The value, if it is an integer from 0."""
    if not is_integer(value):
        raise errors.wrong(kind, what, f"{otherwise}an integer", repr(value))
    if value < 0:
        raise errors.wrong(ValueError, what, f"{otherwise}at least 0", value)
    return int(value)
