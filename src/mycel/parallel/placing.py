# SPDX-License-Identifier: Apache-2.0
"""The global view: Tensors are whole arrays, divided among the devices of all processes.

A Parameter lies as the strategies of what uses it say, and whole on every device without one. What
an optimiser keeps of it lies as it does; `enable_parallel_optimizer` divides that along the first
dimension among the devices that would all have the same; of level 2 the gradient too, of level 3
also the Parameter. Batches lie as `dataset_strategy` says. None of this changes a value.

With several processes, what enters a Cell, a compiled function or a derivative is this process's
part of a batch, and goes on as the whole; everything else is the same in all of them, and looked at
that it is.
"""

from __future__ import annotations

import atexit
import sys
from math import prod
from typing import Any
from weakref import WeakSet

import jax

from mycel.kernel.base import backend, processes
from mycel.kernel.base.division import KEPT, Axes, Grid, division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import parallel
from mycel.kernel.base.places import user_place
from mycel.kernel.base.stages import Stages
from mycel.kernel.base.structure import structure
from mycel.kernel.define.constraint import constraint
from mycel.kernel.execute.spread import run_in_all
from mycel.kernel.record.data import to_array
from mycel.kernel.record.dispatch import apply1
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import demand, flush, local, record
from mycel.kernel.record.tensor import Tensor, new_tensor
from mycel.kernel.record.value import Poison, Value, value_of
from mycel.parallel import strategy_files
from mycel.parallel.layout import Layout
from mycel.parallel.pipeline import (
    check_stages,
    enter_stage,
    find_stages,
    mark_part,
    scheduler,
    stage_of,
)
from mycel.parallel.strategies import Strategies, as_of_inputs, axes_of_layout, check_even
from mycel.report.ledger import ledger

TOO_FEW = (
    "{what} asks for {count} devices at {place}, but {who} {there}. On a laptop, "
    "`mycel launch -n {processes} --devices-per-process {more} --here train.py` starts the program "
    "with {all} devices on the CPU."
)
ONE_OF_EACH = (
    "{what}={count} at {place} would leave {rest} of {there} devices without work. "
    "get_group_size() counts processes, here {processes}: leave device_num out to take all "
    "{there}, give their number, or choose a parallel_mode in which a process computes on one "
    "device."
)
NOT_ALL_THE_SAME = (
    "{what}={count} at {place}: the {processes} processes take part with as many devices each, so "
    "it is a multiple of {processes}. Leave device_num out to take all {there}."
)
# What the strategy file tells of.
_told: WeakSet = WeakSet()
# What the ledger tells of, once.
_whole: set[str] = set()
# What is kept of Parameters below so many KiB is not divided, as in MindSpore.
THRESHOLD = 64


def use_devices(count: int | None, what: str = "device_num") -> None:
    """Divide among so many devices from now on, as many of each process; None takes all of them.

    Raises:
        ValueError: there are fewer; or it is the number of processes, which have more; or it is
            no multiple of that; or `pipeline_stages` does not divide them.
    """
    backend.begin()
    processes.check_joined()
    there, size = _devices(), processes.world.size
    all_of_them = len(there) * size
    place = user_place(3)
    count = all_of_them if count is None else count
    if count > all_of_them:
        text = TOO_FEW.format(
            what=what, count=count, place=place, there=all_of_them, processes=size,
            who=f"the {size} processes together have" if size > 1 else "this process has",
            more=-(-count // size), all=-(-count // size) * size,
        )  # fmt: skip
        raise ValueError(text)
    if count % size:
        text = NOT_ALL_THE_SAME.format(
            what=what, count=count, place=place, processes=size, there=all_of_them
        )
        raise ValueError(text)
    if count == size and len(there) > 1:
        text = ONE_OF_EACH.format(
            what=what, count=count, place=place, processes=size, there=all_of_them,
            rest=all_of_them - size,
        )  # fmt: skip
        raise ValueError(text)
    stages = check_stages(count)
    if count == 1:
        leave()
        return
    if count < all_of_them:
        ledger.accepted(f"{what}={count}", f"{count} of {all_of_them} devices compute")
    chosen = _of_each(count // size) if size > 1 else there[:count]
    piped = stages > 1 and size == 1
    if not _is_known(chosen, stages):
        division.grid = (
            Stages(chosen, stages, scheduler())
            if piped
            else Grid(chosen, size, run_in_all if size > 1 else None, stages)
        )
    if size > 1 and not _at_exit:
        _at_exit.append(atexit.register(_run_the_rest))
    division.assign, division.batch, division.call = _assigned, _batch, _called
    division.enter, division.take, division.gradient = _entered, _taken, _gradient
    division.stage, division.micro, division.stage_of = (
        (enter_stage, mark_part, stage_of) if piped else (None, None, None)
    )


def _is_known(devices: list, stages: int) -> bool:
    """Whether the present grid is of these devices, in so many stages."""
    grid = division.grid
    if grid is None or list(grid.devices) != devices or grid.stage_count != stages:
        return False
    return not isinstance(grid, Stages) or grid.scheduler == scheduler()


def leave() -> None:
    """Divide nothing that is not divided already."""
    division.assign = division.batch = division.call = None
    division.enter = division.take = division.gradient = None
    division.stage = division.micro = division.stage_of = None


def _devices() -> list:
    device = getattr(jax.config, "jax_default_device", None)
    return jax.local_devices(backend=getattr(device, "platform", device))


_at_exit: list = []


def _run_the_rest() -> None:
    """What is recorded when the program ends: another process may have looked at it."""
    watch = processes.world.watch
    failed = getattr(sys, "last_value", None) is not None
    if not failed and watch is not None and not watch.gives_up:
        flush()


def _of_each(count: int) -> list:
    """So many devices of each process, those of the first one first."""
    found: dict[int, list] = {}
    for device in jax.devices(_devices()[0].platform):
        found.setdefault(device.process_index, []).append(device)
    fewest = min(map(len, found.values()))
    if fewest < count:
        raise ValueError(UNLIKE.format(counts=[len(found[n]) for n in sorted(found)]))
    return [device for number in sorted(found) for device in found[number][:count]]


UNLIKE = (
    "The processes have different numbers of devices, {counts}. 'semi_auto_parallel' takes as many "
    "of each: start them with the same --devices-per-process, or set device_num."
)


def _grid() -> Grid:
    assert division.grid is not None
    return division.grid


# -- Parameters ------------------------------------------------------------------------------------


def axes_for(parameter: Parameter) -> Axes:
    """Along which axes the dimensions of a Parameter are divided."""
    of = parameter.__dict__.get("_lies_as")
    if of is not None and of.shape == parameter.shape:
        return _divided_further(of, _own_axes(of))
    axes = _own_axes(parameter)
    if _level() < 3 or not parameter.requires_grad:
        return axes
    further = _divided_further(parameter, axes)
    if further == axes:
        return axes
    own = axes[0] if axes else ()
    return (*own, KEPT, *further[0][len(own) :]), *further[1:]


def _own_axes(parameter: Parameter) -> Axes:
    """The same, as strategies say it."""
    grid, fields = _grid(), parameter.__dict__
    given, axes = fields.get("_strategy"), ()
    if given is None:
        given = strategy_files.layout_for(parameter, grid)
    if given is not None:
        what, names = f"Parameter {parameter.name!r}", ()
        if isinstance(given, Layout):
            axes, names = axes_of_layout(given, grid)
        elif len(given) == parameter.ndim:
            axes = Strategies(grid, what).inputs([given], [parameter.shape], [what])[0] or ()
        else:
            expected = f"of {parameter.ndim} numbers"
            raise wrong(ValueError, f"The strategy of {what}", expected, given)
        check_even(what, parameter.shape, axes, grid, names)
    elif fields.get("_used_as") is not None and fields["_used_as"][0] == grid.size:
        axes = fields["_used_as"][1]
    return axes


def _level() -> int:
    """What is divided among devices that have the same: 0 nothing, 1 what optimisers keep, 2 also
    gradients, 3 also Parameters."""
    if not parallel.values["enable_parallel_optimizer"]:
        return 0
    config = parallel.values["parallel_optimizer_config"]
    default = "level2" if config.get("gradient_accumulation_shard") else "level1"
    return int(config.get("optimizer_level", default)[-1])


def _gradient(parameter: Parameter, gradient: Any) -> Any:
    """The gradient that an optimiser is given, where it belongs."""
    if _level() < 2 or not isinstance(gradient, Tensor) or gradient.shape != parameter.shape:
        return gradient
    axes = _own_axes(parameter)
    further = _divided_further(parameter, axes)
    return gradient if further == axes else _constrained(gradient, further)


def _divided_further(parameter: Parameter, axes: Axes) -> Axes:
    """The same, with the first dimension divided among the devices that have the same part."""
    if not _level() or not parameter.parallel_optimizer:
        return axes
    grid, config = _grid(), parallel.get("parallel_optimizer_config")
    threshold = config.get("parallel_optimizer_threshold", THRESHOLD)
    if not parameter.ndim or parameter._value.aval.nbytes < 1024 * threshold:
        return axes
    used = {name for part in axes for name in part}
    size = config.get("optimizer_weight_shard_size", parallel.get("optimizer_weight_shard_size"))
    # Neighbouring devices first: those of the last axes.
    further: list[str] = []
    for name in [name for name in grid.lengths if name not in used][::-1]:
        if size == -1 or prod(grid.lengths[n] for n in (*further, name)) <= size:
            further.insert(0, name)
    first = (*(axes[0] if axes else ()), *further)
    if parameter.shape[0] % prod(grid.lengths[name] for name in first):
        told = f"what the optimiser keeps of {parameter.name!r} of shape {parameter.shape}"
        if told not in _whole:
            _whole.add(told)
            text = "as the Parameter on every device: its first dimension cannot be divided further"
            ledger.accepted(told, text)
        return axes
    return first, *axes[1:]


def _lay_out(parameter: Parameter) -> None:
    """Let a Parameter lie where it belongs, if its array is there."""
    stage = stage_of(parameter)
    trained = parameter.requires_grad and parameter.ndim
    if division.stage is None or stage is not None or trained:
        told = f"Parameter {parameter.name!r}"
        _put(parameter._value, axes_for(parameter), told, stage or 0)


def _put(value: Value, axes: Axes, told: str = "a Tensor", stage: int = 0) -> None:
    grid, array = _grid(), value.array
    if grid.stages:
        grid = grid.stages[stage]
    if array is None and value.source is not None and value.source.apart:
        value.source.produce(value)
        array = value.array
    if array is None or array.__class__ is Poison:
        return
    sharding = grid.sharding(axes)
    if getattr(array, "sharding", None) != sharding:
        # The same values: whoever has this Value sees no difference.
        value.array = grid.put(array, sharding, told)


def _assigned(handle: Tensor, value: Value) -> Value:
    """The Value that a Parameter is given, where it belongs."""
    if not isinstance(handle, Parameter) or local.stream.scope.traced:
        return value
    stage = None if division.stage is None else stage_of(handle)
    if stage is None and division.stage is not None:
        return value
    axes = axes_for(handle)
    if value.source is None and value.capture is None:
        _put(value, axes, f"what Parameter {handle.name!r} is given,", stage or 0)
        return value
    constrained = record(constraint(_grid(), axes, stage), (value,))
    assert isinstance(constrained, Value)
    return constrained


def _prepare(cell) -> None:
    """Let the Parameters of a Cell lie where they belong; once, until something changed."""
    state = (_grid(), structure.changes, parallel.version)
    fields = cell.__dict__
    if fields.get("_laid_out") == state:
        return
    if division.stage_count > 1:
        find_stages(cell, division.stage_count)
    for one in (cell, *[child for _, child in cell.cells_and_names()]):
        trained = one.__dict__.get("parameters")
        if isinstance(trained, tuple) and hasattr(one, "learning_rate"):
            _follow(one, trained)
    for parameter in cell.get_parameters():
        _lay_out(parameter)
    fields["_laid_out"] = state
    if strategy_files.wanted():
        if division.stage is not None:
            ledger.accepted("a strategy file", "one for all stages: it tells of no stage")
        told = [(parameter, axes_for(parameter)) for parameter in cell.get_parameters()]
        strategy_files.tell(_grid(), told)
        _told.add(cell)


@atexit.register
def _tell_at_exit() -> None:
    """Let the strategy file say what a last call has found."""
    for cell in list(_told):
        if division.enter is not None and strategy_files.wanted():
            _prepare(cell)


def _follow(optimizer, trained) -> None:
    """What an optimiser keeps of a Parameter lies as that does; its name ends in the other's."""
    by_name = {parameter.name: parameter for parameter in trained}
    for parameter in trained:
        _lay_out(parameter)
    for kept in optimizer.get_parameters():
        if by_name.get(kept.name) is kept:
            continue
        name = kept.name
        while "." in name:
            name = name.partition(".")[2]
            if name in by_name and by_name[name].shape == kept.shape:
                kept.__dict__["_lies_as"] = by_name[name]
                break


# -- what enters -----------------------------------------------------------------------------------


def _entered(cell, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """A Cell that no other one calls is called."""
    if local.stream.scope.traced:
        return args, kwargs
    _prepare(cell)
    return _taken(args, kwargs)


def _taken(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Let the inputs of a call lie as the data does, where nothing laid them out before.

    In one process they stay the Tensors that they are: a hook is given the caller's own. With
    several, each that was one process's part is another Tensor from here on, the whole.
    """
    place = _laid_out_here if _grid().meet is None else _whole_of_parts
    if _grid().meet is not None and local.stream.scope.capture is not None:
        return args, kwargs  # what a call that is remembered makes itself is whole
    number, replaced = 0, []
    for x in (*args, *kwargs.values()):
        if isinstance(x, Tensor) and not isinstance(x, Parameter) and x.ndim:
            x, number = place(x, number), number + 1
        replaced.append(x)
    named = dict(zip(kwargs, replaced[len(args) :], strict=True))
    return tuple(replaced[: len(args)]), named


def _laid_out_here(x: Tensor, number: int) -> Tensor:
    value, grid, scope = x._value, _grid(), local.stream.scope
    if isinstance(grid, Stages) and scope.capture is None and scope.tape is None:
        # What a last stage gave may be given to the first one again, by another call.
        array = demand(value)
        if grid.has(array):
            value.array = grid.moved(array, 0)
            return x
    if value.array is not None and grid.has(value.array):
        return x
    if value.array is not None:
        _put(value, _axes_of_batch(x.shape, number, f"input {number}", strict=False))
    return x


def _whole_of_parts(x: Tensor, number: int) -> Tensor:
    """The Tensor of which each process has a part, as `dataset_strategy` says; itself if it lies on
    the devices already."""
    grid, array = _grid(), demand(x._value)
    if grid.has(array):
        return x
    what = f"input {number}"
    if getattr(x, "_hooks", None):
        raise NotImplementedError(HOOK_ON_A_PART.format(what=what, place=user_place(3)))
    axes = _axes_of_batch(x.shape, number, what, strict=True)
    if not any(axes):
        return new_tensor(value_of(grid.put(array, told=what)))
    if grid.copies > 1:
        flush()  # what is recorded runs before, so that parts are compared with those of its step
    return new_tensor(value_of(grid.share(array, axes, what)))


HOOK_ON_A_PART = (
    "{what} has a hook (at {place}), and is one process's part of a batch, whose gradient is that "
    "of the whole. Register the hook on what the first Cell gives, or give whole batches: "
    "full_batch=True."
)


def _batch(array, column: int):
    """A column of data as an array of the devices; of several processes each keeps its part, which
    becomes the whole where it enters a call."""
    grid = _grid()
    if grid.meet is not None:
        return to_array(array, None)
    axes = _axes_of_batch(array.shape, column, f"column {column} of the data")
    backend.begin()
    return grid.put(to_array(array, None), grid.sharding(axes))


def _axes_of_batch(shape: tuple, number: int, what: str, strict: bool = True) -> Axes:
    grid, strategy = _grid(), parallel.get("dataset_strategy")
    if parallel.get("full_batch") or strategy == "full_batch" or not shape:
        return ()
    if strategy == "data_parallel":
        axes: Axes = (tuple(grid.lengths),)
        whole = grid.shape_of_all(shape, axes)
        if whole[0] % grid.size and not strict and "dataset_strategy" not in parallel.chosen:
            below = whole[0] // grid.size * grid.size
            near = " and ".join([str(n) for n in (below, below + grid.size) if n])
            ledger.accepted(
                f"{what} of shape {shape}",
                f"whole on each of {grid.size} devices, which all compute the same of it: they do "
                f"not divide {whole[0]} rows; the nearest lengths that can be divided are {near}",
            )
            return ()
        check_even(_in_all(what, shape, whole), whole, axes, grid, at="" if strict else None)
        return axes
    if not isinstance(strategy, tuple):
        expected = "'data_parallel', 'full_batch', or a strategy for each input"
        raise wrong(ValueError, "dataset_strategy", expected, repr(strategy))
    known = number < len(strategy)
    if not strict and not (known and _is_for(strategy[number], len(shape))):
        ledger.accepted(
            f"{what} of shape {shape}",
            f"whole on each of {grid.size} devices: dataset_strategy={strategy} has none for it",
        )
        return ()
    if not known:
        expected = "with a strategy for each input"
        raise wrong(ValueError, "dataset_strategy", expected, f"{len(strategy)}, for {what}")
    strategies = Strategies(
        grid,
        "dataset_strategy",
        at="" if strict else None,
        whole=lambda name, part, axes: (
            _in_all(name, part, grid.shape_of_all(part, axes)),
            grid.shape_of_all(part, axes),
        ),
    )
    (given,) = strategies.inputs([strategy[number]], [shape], [what])
    return given or ()


def _is_for(strategy: Any, dimensions: int) -> bool:
    return isinstance(strategy, Layout) or len(strategy) == dimensions


def _in_all(what: str, part: tuple, whole: tuple) -> str:
    return what if part == whole else f"{what}, in this process {part} and in all of them"


# -- what is divided by strategies -----------------------------------------------------------------


def _called(function, args: tuple, in_strategy, out_strategy=None, primitive=None) -> Any:
    """Call a function with its inputs and results divided."""
    grid = _grid()
    what = primitive.name if primitive is not None else _name_of(function)
    strategies = Strategies(grid, what, primitive)
    nested = len(args) == 1 and isinstance(args[0], (tuple, list))
    inputs = tuple(args[0]) if nested else args
    in_strategy, out_strategy = as_of_inputs(primitive, in_strategy, out_strategy)
    if in_strategy is not None:
        if isinstance(in_strategy, Layout):
            in_strategy = (in_strategy,)
        if len(in_strategy) > len(inputs):
            expected = f"for at most {len(inputs)} inputs"
            raise wrong(ValueError, f"The strategy of {what}", expected, in_strategy)
        given = [*in_strategy, *[None] * (len(inputs) - len(in_strategy))]
        shapes = [x.shape if isinstance(x, Tensor) else () for x in inputs]
        names = [f"input {n} of {what}" for n in range(len(inputs))]
        for n, x in enumerate(inputs):
            if isinstance(x, Parameter):
                names[n] = f"Parameter {x.name!r} ({names[n]})"
        axes = strategies.inputs(given, shapes, names)
        inputs = tuple([_divided(x, a) for x, a in zip(inputs, axes, strict=True)])
        args = (type(args[0])(inputs),) if nested else inputs
    results = function(*args)
    if out_strategy is None:
        return results
    if isinstance(results, Tensor):
        one = out_strategy
        if isinstance(one, tuple) and len(one) == 1 and not isinstance(one[0], int):
            (one,) = one
        return _divided(results, strategies.output(one, results.shape, 0))
    if len(out_strategy) != len(results):
        expected = f"a strategy for each of its {len(results)} results"
        raise wrong(ValueError, f"The out_strategy of {what}", expected, out_strategy)
    return type(results)([
        _divided(x, strategies.output(one, x.shape, n))
        for n, (x, one) in enumerate(zip(results, out_strategy, strict=True))
    ])  # fmt: skip


def _name_of(function) -> str:
    function = getattr(function, "func", function)
    return getattr(function, "__qualname__", type(function).__name__).removesuffix(".construct")


def _divided(x: Any, axes: Axes | None) -> Any:
    if axes is None or not isinstance(x, Tensor):
        return x
    grid = _grid()
    if isinstance(x, Parameter) and "_strategy" not in x.__dict__:
        used = grid.size, axes
        if x.__dict__.get("_used_as") != used:
            x.__dict__["_used_as"] = used
            structure.changes += 1
            if x._value.source is None:
                _lay_out(x)
    return _constrained(x, axes)


def _constrained(x: Tensor, axes: Axes) -> Tensor:
    divided = apply1(constraint(_grid(), axes), x)
    assert isinstance(divided, Tensor)
    return divided


def shard_function(function, in_strategy, out_strategy):
    """A function whose inputs and results are divided; itself while nothing is."""

    def sharded(*args, **kwargs):
        call = division.call
        if call is None:
            return function(*args, **kwargs)
        inner = function if not kwargs else lambda *inputs: function(*inputs, **kwargs)
        return call(inner, args, in_strategy, out_strategy)

    return sharded
