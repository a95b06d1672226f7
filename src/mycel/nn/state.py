# SPDX-License-Identifier: Apache-2.0
"""The state of a Cell as a dictionary, and back; its element type."""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from weakref import ref

from mycel.kernel.base import backend, errors
from mycel.kernel.base.context import get_context
from mycel.kernel.base.dtypes import DType, as_dtype
from mycel.kernel.base.places import user_place
from mycel.kernel.record.hooks import HookHandle, Hooks, check_hook
from mycel.kernel.record.parameter import own_value
from mycel.kernel.record.stream import note_changed
from mycel.kernel.record.tensor import Tensor, update
from mycel.nn.members import Members

# The key of what `get_extra_state` returns, behind the path of its Cell.
EXTRA = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """What `load_state_dict` did not find in the state, and what it found there too much."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<every key was found>"


class StateHooks:
    """What runs before and after the state of one Cell is read or loaded."""

    KINDS = ("save_pre", "save", "load_pre", "load")
    __slots__ = KINDS

    def __init__(self, cell):
        owner = ref(cell)
        self.save_pre = Hooks("state_dict pre-hook", owner)
        self.save = Hooks("state_dict hook", owner)
        self.load_pre = Hooks("load_state_dict pre-hook", owner)
        self.load = Hooks("load_state_dict hook", owner)

    def copy_to(self, cell) -> StateHooks:
        """The same hooks on a copy of the Cell."""
        copied = StateHooks(cell)
        for kind in self.KINDS:
            for hook in getattr(self, kind).values():
                HookHandle(getattr(copied, kind), hook)
        return copied


class Stateful(Members):
    """Reading and loading the state of a Cell: its Parameters, buffers and what else it adds."""

    _state_hooks: StateHooks | None = None

    # -- reading --------------------------------------------------------------------------

    def state_dict(
        self,
        *args,
        destination: dict | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict:
        """The Parameters and buffers of this Cell and its children, by their paths.

        They are the Parameters and buffers themselves, no copies.

        Args:
            destination: a dictionary to add them to.
            prefix: put before the paths.
            keep_vars: accepted and harmless.

        Raises:
            TypeError: an argument is of another type.

        Source: MindSpore's `Cell.state_dict`.

        Example:
            >>> net = nn.SequentialCell(nn.Dense(2, 1))
            >>> list(net.state_dict())
            ['0.weight', '0.bias']
        """
        if args:
            warnings.warn(
                "state_dict takes its arguments by name: destination=, prefix=, keep_vars=.",
                FutureWarning,
                stacklevel=2,
            )
            names = ("destination", "prefix", "keep_vars")
            positional = dict(zip(names, args, strict=False))
            destination = positional.get("destination", destination)
            prefix = positional.get("prefix", prefix)
        _check(destination, (dict, type(None)), "destination", "a dictionary")
        _check(prefix, str, "prefix", "a string")
        _check(keep_vars, bool, "keep_vars", "True or False")
        if destination is None:
            destination = OrderedDict()
            destination.__dict__["_metadata"] = OrderedDict()
        metadata: dict = {}
        of_paths: dict | None = getattr(destination, "_metadata", None)
        if of_paths is not None:
            of_paths[prefix[:-1]] = metadata
        hooks = self._state_hooks
        for hook in list(hooks.save_pre.values()) if hooks else ():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, cell in self._cells.items():
            if cell is not None:
                cell.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in list(hooks.save.values()) if hooks else ():
            if hook(self, destination, prefix, metadata) is not None:
                raise RuntimeError("A state_dict hook changes the state in place; it returns None.")
        return destination

    def _save_to_state_dict(self, destination, prefix: str, keep_vars: bool) -> None:
        """Add the state of this Cell alone; subclasses may add to it."""
        destination.update(
            (prefix + name, member) for name, member in self._saved_members().items()
        )
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def _saved_members(self) -> dict[str, Tensor]:
        """The Parameters and persistent buffers of this Cell alone, by name."""
        members = {n: b for n, b in self._buffers.items() if n not in self._unsaved_buffers}
        members = {**self._params, **members}
        return {name: member for name, member in members.items() if member is not None}

    def get_extra_state(self):
        """What else belongs to the state; a subclass that writes this writes `set_extra_state`.

        Raises:
            RuntimeError: always, unless a subclass defines it.
        """
        raise RuntimeError(f"{type(self).__name__} has no extra state: write get_extra_state.")

    def set_extra_state(self, state) -> None:
        """Take back what `get_extra_state` gave.

        Raises:
            RuntimeError: always, unless a subclass defines it.
        """
        raise RuntimeError(f"{type(self).__name__} has no extra state: write set_extra_state.")

    # -- loading --------------------------------------------------------------------------

    def load_state_dict(self, state_dict: Mapping, strict: bool = True) -> IncompatibleKeys:
        """Give Parameters and buffers the values that a state has under their paths.

        Values are converted to the element types there are; nobody shares them afterwards.
        Compiled calls use the new values at their next call.

        Args:
            state_dict: Tensors by path, as `state_dict` gives them.
            strict: whether a key too much or too few is an error.

        Returns:
            `missing_keys` and `unexpected_keys`, two lists.

        Raises:
            RuntimeError: keys differ and `strict` is set, or a value does not fit; what fits is
                loaded in any case.
            TypeError: the argument is not a dictionary.

        Source: MindSpore's `Cell.load_state_dict`.

        Example:
            >>> net, other = nn.Dense(2, 1, "ones"), nn.Dense(2, 1, "zeros")
            >>> other.load_state_dict(net.state_dict())
            <every key was found>
            >>> print(other.weight.asnumpy())
            [[1. 1.]]
        """
        if not isinstance(state_dict, Mapping):
            actual = f"{type(state_dict).__name__} {state_dict!r:.60}"
            raise errors.wrong(TypeError, "The state to load", "a dictionary of Tensors", actual)
        metadata = getattr(state_dict, "_metadata", {})
        incompatible = IncompatibleKeys([], [])
        problems: list[str] = []
        _load(self, OrderedDict(state_dict), "", metadata, incompatible, problems)
        if strict:
            for what, keys in (("missing", incompatible[0]), ("too much", incompatible[1])):
                if keys:
                    problems.insert(0, f"{what}: {', '.join(map(repr, keys))}")
        if problems:
            owner, lines = type(self).__name__, "\n  ".join(problems)
            remedy = (
                "" if not strict or not any(incompatible) else " (strict=False allows other keys)"
            )
            raise RuntimeError(
                f"The state does not fit {owner}, at {user_place(2)}{remedy}:\n  {lines}"
            )
        return incompatible

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ) -> None:
        """Load the state of this Cell alone; subclasses may change `state_dict` before it.

        Args:
            state_dict: the keys that begin with `prefix`; may be changed.
            missing_keys, unexpected_keys, error_msgs: lists to add to.
        """
        told = (strict, missing_keys, unexpected_keys, error_msgs)
        hooks = self._state_hooks
        for hook in list(hooks.load_pre.values()) if hooks else ():
            hook(self, state_dict, prefix, local_metadata, *told)
        saved = self._saved_members()
        own = set(saved)
        for name, member in saved.items():
            if prefix + name in state_dict:
                problem = _load_one(prefix + name, member, state_dict[prefix + name])
                error_msgs += [problem] if problem else []
            elif strict:
                missing_keys.append(prefix + name)
        extra = prefix + EXTRA
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
            own.add(EXTRA)
        if strict:
            children = [name for name, cell in self._cells.items() if cell is not None]
            for key in state_dict:
                name, dot, _ = key.removeprefix(prefix).partition(".")
                if key.startswith(prefix) and name not in (children if dot else own):
                    unexpected_keys.append(key)

    # -- hooks ----------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable) -> HookHandle:
        """Call `hook(cell, prefix, keep_vars)` before the state of this Cell is read.

        Source: MindSpore's `Cell.register_state_dict_pre_hook`.

        Example:
            >>> net = nn.Dense(1, 1)
            >>> handle = net.register_state_dict_pre_hook(lambda cell, *_: print("now"))
            >>> state = net.state_dict()
            now
            >>> handle.remove()
        """
        return self._register_state_hook("save_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable) -> HookHandle:
        """Call `hook(cell, state, prefix, metadata)` when this Cell's state is in `state`.

        It may change the state in place, and returns None.

        Source: MindSpore's `Cell.register_state_dict_post_hook`.

        Example:
            >>> net = nn.Dense(1, 1)
            >>> def without_bias(cell, state, prefix, metadata):
            ...     del state[prefix + "bias"]
            >>> handle = net.register_state_dict_post_hook(without_bias)
            >>> list(net.state_dict())
            ['weight']
        """
        return self._register_state_hook("save", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> HookHandle:
        """Call a hook before a state is loaded into this Cell.

        It is `hook(cell, state, prefix, metadata, strict, missing_keys, unexpected_keys, errors)`,
        and may change the state and the lists in place.

        Source: MindSpore's `Cell.register_load_state_dict_pre_hook`.

        Example:
            >>> net = nn.Dense(1, 1, "zeros", "zeros")
            >>> def rename(cell, state, prefix, *_):
            ...     state[prefix + "bias"] = state.pop(prefix + "b")
            >>> handle = net.register_load_state_dict_pre_hook(rename)
            >>> loaded = net.load_state_dict({"weight": Tensor([[2.0]]), "b": Tensor([3.0])})
            >>> print(net.bias.asnumpy())
            [3.]
        """
        return self._register_state_hook("load_pre", hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> HookHandle:
        """Call `hook(cell, keys)` when this Cell and its children are loaded.

        `keys.missing_keys` and `keys.unexpected_keys` may be changed in place; it returns None.

        Source: MindSpore's `Cell.register_load_state_dict_post_hook`.

        Example:
            >>> net = nn.Dense(1, 1)
            >>> def forgive(cell, keys):
            ...     keys.missing_keys.remove("bias")
            >>> handle = net.register_load_state_dict_post_hook(forgive)
            >>> net.load_state_dict({"weight": Tensor([[2.0]])})
            <every key was found>
        """
        return self._register_state_hook("load", hook)

    def _register_state_hook(self, kind: str, hook) -> HookHandle:
        check_hook(hook)
        if self._state_hooks is None:
            self.__dict__["_state_hooks"] = StateHooks(self)
        return HookHandle(getattr(self._state_hooks, kind), hook)

    # -- element type and device ------------------------------------------------------------

    def to(self, *args, **kwargs):
        """Change the element type of all real and complex Parameters and buffers, in place.

        Args:
            device: the device in use, by its name; there is no other to move to.
            dtype: a real or complex element type, or a Tensor that has it.
            non_blocking: accepted; every operator is.

        Returns:
            This Cell.

        Raises:
            TypeError: the element type is neither real nor complex, or the arguments are others.
            ValueError: the device is not the one in use.

        Source: MindSpore's `Cell.to`.

        Example:
            >>> nn.Dense(1, 1).to(mycel.float16).weight
            Parameter (name=weight, shape=(1, 1), dtype=Float16, requires_grad=True)
        """
        device, dtype = _device_and_dtype(*args, **kwargs)
        _check_device(device)
        if dtype is None:
            return self
        if not dtype.is_inexact:
            raise errors.wrong(
                TypeError, "The element type of a Cell", "real or complex", str(dtype)
            )
        note_changed(None, "the element type of a Cell was changed inside", "do it before the call")
        return self._apply(lambda member: member.astype(dtype) if _is_inexact(member) else member)

    def to_empty(self, *, device: str | None = None, recurse: bool = True):
        """Accepted and harmless: every Parameter has its values from the start.

        Raises:
            ValueError: the device is not the one in use.
        """
        _check_device(device)
        return self

    def _apply(self, fn: Callable, recurse: bool = True):
        """Give every Parameter and buffer what `fn` makes of it."""
        for child in self.cells() if recurse else ():
            child._apply(fn)
        for member in (*self._params.values(), *self._buffers.values()):
            if member is not None:
                changed = fn(member)
                if changed is not member:
                    update(member, own_value(changed))
        return self


def _is_inexact(member: Tensor) -> bool:
    return member.dtype.is_inexact


def _check(value, kinds, name: str, expected: str) -> None:
    if not isinstance(value, kinds):
        actual = f"{type(value).__name__} {value!r:.60}"
        raise errors.wrong(TypeError, f"state_dict: {name}", expected, actual)


def _load(cell, state, prefix: str, metadata, incompatible: IncompatibleKeys, problems) -> None:
    """Load a state into a Cell and its children."""
    cell._load_from_state_dict(
        state, prefix, metadata.get(prefix[:-1], {}), True, *incompatible, problems
    )
    for name, child in cell._cells.items():
        if child is not None:
            path = f"{prefix}{name}."
            part = OrderedDict((key, state[key]) for key in state if key.startswith(path))
            _load(child, part, path, metadata, incompatible, problems)
    hooks = cell._state_hooks
    for hook in list(hooks.load.values()) if hooks else ():
        if hook(cell, incompatible) is not None:
            raise RuntimeError("A load_state_dict hook changes the keys in place; it returns None.")


def _load_one(key: str, member: Tensor, value) -> str | None:
    """Give a Parameter or buffer a value; why it does not fit, if so."""
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        return f"{key!r} needs a Tensor, but {kind} was given; write Tensor(...)"
    if value.shape != member.shape:
        return f"{key!r} has shape {member.shape}, but the state has shape {value.shape}"
    if value.dtype.is_inexact and not value.dtype.is_floating and member.dtype.is_floating:
        return f"{key!r} is {member.dtype}, which cannot hold {value.dtype} without loss"
    update(member, own_value(value.astype(member.dtype)))
    return None


def _device_and_dtype(*args, **kwargs) -> tuple:
    """The device and the element type meant by the arguments of `to`."""
    unknown = kwargs.keys() - {"device", "dtype", "tensor", "non_blocking"}
    device, dtype = kwargs.get("device"), kwargs.get("tensor", kwargs.get("dtype"))
    rest = list(args)
    if rest and (rest[0] is None or isinstance(rest[0], str)):
        device = rest.pop(0)
    if rest and isinstance(rest[0], (Tensor, DType, type(None))):
        dtype = rest.pop(0)
    if rest and isinstance(rest[0], bool):
        rest.pop(0)
    if rest or unknown or not isinstance(device, (str, type(None))):
        actual = ", ".join([*map(repr, args), *(f"{name}={kwargs[name]!r}" for name in kwargs)])
        raise errors.wrong(
            TypeError,
            "What is given to Cell.to",
            "(device, dtype, non_blocking)",
            f"({actual:.80})",
        )
    if isinstance(dtype, Tensor):
        dtype = dtype.dtype
    return device, None if dtype is None else as_dtype(dtype)


def _check_device(device: str | None) -> None:
    """Raise unless it is the device in use, or MYCEL_DEVICE says what to do with such names."""
    if device is None:
        return
    name = device.partition(":")[0]
    known = {target.lower(): target for target in backend.PLATFORMS}
    target = os.environ.get(backend.DEVICE_VARIABLE) or known.get(name.lower(), name)
    present = get_context("device_target")
    if target != present:
        raise errors.wrong(
            ValueError,
            "The device of a Cell",
            f"the one in use, {present!r} (set_context(device_target=...) chooses it)",
            repr(device),
        )
