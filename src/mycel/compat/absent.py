# SPDX-License-Identifier: Apache-2.0
"""What we say about a name that is not there: the nearest thing that is, and why."""

from __future__ import annotations

import difflib
import functools
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from mycel.compat import known
from mycel.kernel.base.missing import tell_nearest
from mycel.kernel.base.version import __version__

ABSENT = "{path} has no {name!r} in mycel {version}{nearest}"
UNKNOWN_MODULE = "There is no module {path} in mycel {version}{nearest}"
_NO_TREE = (
    "A network is an object of Python here, not a tree of nodes: assign its Cells "
    "(`net.layer = nn.ReLU()`), go through them with cells_and_names(), or change what passes "
    "with hooks."
)
# Paths below `mindspore`, and why nothing is there; the first pattern that fits counts.
WHY = {
    "dataset.OBSMindDataset": "It reads from the object storage of a cloud.",
    "rewrite*": _NO_TREE,
    "SymbolTree": _NO_TREE,
    "ScopedValue": _NO_TREE,
    "Node": _NO_TREE,
    "NodeType": _NO_TREE,
    "boost*": "What it changes in a network is left to you; steps are compiled here anyway. Pass "
    "network and optimizer on as they are.",
    "dataset.*WaitedDSCallback": "Rows are read ahead of training; a DSCallback is called between "
    "rows, a Callback of Model.train between steps.",
    "*[Qq]uant*": "Quantised arithmetic is no part of mycel.",
    "*qint4*": "Quantised arithmetic is no part of mycel.",
    "*[Mm]oe*": "It is made for the kernels of Ascend hardware.",
    "*FixedSparseAttention": "It is made for the kernels of Ascend hardware.",
    "*ransformer.Transformer": "Make it of TransformerEncoder and TransformerDecoder, which are "
    "there: hidden, _ = encoder(x, mask), then decoder(y, mask, hidden, memory_mask).",
    "_c_expression.TensorTransform": "It moves Tensors between layouts inside of MindSpore; use "
    "mycel.shard.",
    "*GroupedMatmul*": "It is made for the kernels of Ascend hardware.",
    "*KVCache": "It is made for the kernels of Ascend hardware.",
    "ops.*RegOp": "It registers kernels of MindSpore's own; XLA has no use for them.",
    "ops.CustomOpBuilder": "It builds kernels of MindSpore's own; ops.Custom takes functions.",
    "ops.Pu[sl][hl]": "There is no parameter server here.",
}

# Members of MindSpore's classes that are not here, by the reason and what to write instead.
_MACHINERY = "It is a part of MindSpore's own machinery, which XLA takes the place of."
MEMBERS: dict[str, dict[str, str]] = {
    "Tensor": {
        "XLA moves values, so that an address means nothing; use to_dlpack.": "data_ptr",
        "Tensors share no memory here; use assign_value.": "set_ storage untyped_storage",
        "Values go to the device by themselves; leave the call out.": "pin_memory",
        "Memory is freed with its last reference; write `del x`.": "delete_",
        "Values are not moved to files; use save_checkpoint.": "offload offload_file_path",
        "It takes a number of MindSpore's own; use `remove()` of what register_hook returns.": (
            "remove_hook"
        ),
        "Whether there are values is told by `is_init()`.": "init_finished",
        _MACHINERY: "assign_value_cpp delta_seed getitem_index_info index index_of_parent_"
        " parent_tensor_ set_cast_dtype set_device_address set_param_info setitem_index_info"
        " symbolic_shape virtual_flag",
    },
    "Cell": {
        "Element types are chosen with `to_float`.": (
            "get_mixed_precision_type set_mixed_precision_type"
        ),
        "Hooks on the reverse pass need no switch.": "enable_backward_hook",
        _MACHINERY: "IGNORE_LIST T_destination cell_init_args compile_cache compile_phase"
        " compiled create_time exist_names exist_objs global_cells"
        " parallel_parameter_merge_net_dict parallel_parameter_name_list phase_cache"
        " total_instance_count",
    },
    "Primitive": {
        "Attributes are set with `add_prim_attr`, removed with `del_prim_attr`, and in `attrs`.": (
            "add_attr del_attr get_attr_dict get_user_data set_user_data"
        ),
        "Use ops.HookBackward or `register_hook`.": "set_hook_fn",
        "The name is set with `set_prim_instance_name`.": "set_instance_name",
        _MACHINERY: "check_elim set_const_input_indexes set_const_prim set_inplace_prim"
        " set_prim_type set_signatures update_parameter",
    },
}


# What users of PyTorch look for.
OF_PYTORCH: dict[str, dict[str, str]] = {
    "Tensor": {
        "Derivatives are taken of functions: write loss, gradients = ms.value_and_grad(forward, "
        "None, net.trainable_params())(x) and optimizer(gradients).": "backward grad retain_grad",
        "Derivatives are taken of functions, for any of their inputs: ms.grad(f, 0)(x).": (
            "requires_grad"
        ),
        "Values are on the device of the program already; leave the call out.": "cuda cpu npu",
    },
    "Cell": {
        "Gradients are results here and are not added up; leave the call out.": "zero_grad",
        "Write set_train(False).": "eval",
        "Write set_train().": "train",
        "Write `construct` in the class, and call the object: net(x).": "forward",
        "Write get_parameters(), or trainable_params() for an optimiser.": "parameters",
        "Write parameters_and_names().": "named_parameters",
        "Write cells_and_names().": "named_modules modules",
        "Write cells(), or name_cells().": "children named_children",
        "Values are on the device of the program already; leave the call out.": "cuda cpu npu",
    },
    "Optimizer": {
        "An optimiser is called with the gradients: loss, gradients = ms.value_and_grad(forward, "
        "None, optimizer.parameters)(x), then optimizer(gradients).": "step",
    },
}


class _AbsentMember:
    """In the place of a member: asking for it says why it is not there; it may be assigned."""

    def __init__(self, kind: str, name: str, why: str):
        self._text = ABSENT.format(path=kind, name=name, version=__version__, nearest="")
        self._name, self._why = name, why

    def __get__(self, instance, owner=None):
        raise AttributeError(f"{self._text}. {self._why}", name=self._name, obj=instance)


def explain_members(*kinds: type) -> None:
    """Let classes say why members of MindSpore's are not there.

    Example:
        >>> Tensor([1.0]).pin_memory()
        Traceback (most recent call last):
        ...
        AttributeError: Tensor has no 'pin_memory' in mycel ... Values go to the device by ...
    """
    for kind in kinds:
        tell_nearest(kind)
        habits = OF_PYTORCH.get(kind.__name__, {})
        for why, names in (MEMBERS.get(kind.__name__, {}) | habits).items():
            for name in names.split():
                setattr(kind, name, _AbsentMember(kind.__name__, name, why))


def absent_name(path: str, name: str, names: Iterable[str], elsewhere: Iterable[str]) -> str:
    """The text for an attribute that `path` does not have.

    Args:
        path: the module that was asked, as the program spells it.
        name: the attribute that is missing.
        names: what the module does have.
        elsewhere: full paths where the very name does exist.

    Example:
        >>> from mycel.compat.absent import absent_name
        >>> text = absent_name("mindspore.nn", "Conv2D", ["Conv1d", "Conv2d"], [])
        >>> print(text.split("; ")[1])
        nearest: mindspore.nn.Conv2d. MindSpore 2.10 has no such name either.
    """
    nearest = list(elsewhere) or [f"{path}.{n}" for n in _near(name, names)]
    text = ABSENT.format(path=path, name=name, version=__version__, nearest=_nearest(nearest))
    return _because(text, f"{path}.{name}")


def absent_module(path: str, known: Iterable[str]) -> str:
    """The text for a module path that nothing here serves."""
    nearest = _near(path, known)
    text = UNKNOWN_MODULE.format(path=path, version=__version__, nearest=_nearest(nearest))
    return _because(text, path)


def _because(text: str, fullname: str) -> str:
    return f"{text}. {reason(fullname.partition('.')[2])}"


def reason(inner: str) -> str:
    """Why a name below `mindspore` is not here.

    Example:
        >>> from mycel.compat.absent import reason
        >>> reason("ops.Sum")
        'MindSpore 2.10 has no such name either.'
    """
    for pattern, why in WHY.items():
        if fnmatchcase(inner, pattern):
            return why
    path, _, name = inner.rpartition(".")
    if name in _public().get(path, ()):
        return "It is not written yet."
    if known.is_name(inner) or known.is_module(inner):
        return "MindSpore has it, but does not list it among its public names."
    if known.is_none(inner):
        return "MindSpore 2.10 has no such name either."
    return "It is no public name of MindSpore 2.10."


@functools.cache
def _public() -> dict[str, set[str]]:
    """The public names of MindSpore by namespace."""
    text = (Path(__file__).parent / "public_names.toml").read_text("utf-8")
    return {path: set(names.split()) for path, names in tomllib.loads(text)["namespaces"].items()}


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Names that differ by case only come first, then those spelled alike."""
    names = [n for n in names if not n.startswith("_")]
    same = [n for n in names if n.lower() == name.lower()]
    return same or difflib.get_close_matches(name, names, 3, 0.6)


def _nearest(found: list[str]) -> str:
    return f"; nearest: {', '.join(found)}" if found else ""
