# SPDX-License-Identifier: Apache-2.0
"""How the Parameters of a Cell are called, and how they lie, in files of other libraries.

A rule leads from a Parameter to the file, so that one set of rules serves loading and saving.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mycel import nn
from mycel.checkpoint.pytorch import own_names
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor

RULES = (
    "a dictionary or a list of (regular expression, replacement), or a function of a name; a "
    "replacement is a string, a Stored, or None for what is not in the file"
)
# What files of MindSpore, and old ones of BERT, have under another last word.
_ALSO = {
    "weight": ("gamma", "embedding_table"),
    "bias": ("beta",),
    "running_mean": ("moving_mean",),
    "running_var": ("moving_variance",),
}
# Cells of ours whose weight lies as (outputs, inputs), by name, as one is in a layer above; and
# those whose weight has one length more here.
_DENSE = {"Dense", "Linear"}
_FLAT = (nn.Conv1d, nn.Conv1dTranspose)


class Stored:
    """Where in a file the value of a Parameter is, if it is not one tensor of the same form.

    The tensors are joined along `axis`; of that a part is taken; that is transposed.

    Args:
        names: what the tensors are called; parts of names where a rule replaces a part.
        axis: along which they are joined, or the tensor is cut.
        parts: into how many equal parts, or the sizes of the parts relative to one another. None
            means as many as there are names.
        part: which of the parts it is, from 0; None means all of them.
        transposed: whether the file has the two axes the other way round.

    Raises:
        ValueError: the arguments contradict one another.

    Example:
        >>> from mycel.checkpoint import Stored
        >>> Stored("query", "key", "value")
        Stored('query', 'key', 'value')
        >>> Stored("c_attn", parts=3, part=2)
        Stored('c_attn', parts=(1, 1, 1), part=2)
    """

    def __init__(
        self,
        *names: str,
        axis: int = 0,
        parts: int | Sequence[int] | None = None,
        part: int | None = None,
        transposed: bool = False,
    ):
        if not names or not all(isinstance(name, str) for name in names):
            raise wrong(ValueError, "The names of Stored", "one or more strings", repr(names))
        if parts is None:
            parts = len(names)
        self.names = names
        self.axis = axis
        self.parts = (1,) * parts if isinstance(parts, int) else tuple(parts)
        self.part = part
        self.transposed = transposed
        if min(self.parts, default=0) < 1 or (len(names) > 1 and len(self.parts) != len(names)):
            expected = "a number, or positive sizes, as many as there are names"
            raise wrong(ValueError, "Stored: parts", expected, repr(parts))
        if part is not None and (len(names) > 1 or part not in range(len(self.parts))):
            raise wrong(ValueError, "Stored: part", "one of the parts of one tensor", repr(part))
        if part is None and len(names) == 1 and len(self.parts) > 1:
            raise wrong(ValueError, "Stored: part", "given with parts of one tensor", "None")

    def __repr__(self):
        options = {"axis": self.axis or None, "part": self.part}
        if self.part is not None or len(set(self.parts)) > 1:
            options = {"axis": self.axis or None, "parts": self.parts, "part": self.part}
        options["transposed"] = self.transposed or None
        said = [f"{name}={value!r}" for name, value in options.items() if value is not None]
        return f"Stored({', '.join([*map(repr, self.names), *said])})"

    @property
    def text(self) -> str:
        """What a table says of it."""
        joined = " + ".join(self.names)
        where = "" if self.part is None else f" [part {self.part} of {len(self.parts)}]"
        return joined + where + (" transposed" if self.transposed else "")

    def called(self, names: Iterable[str]) -> Stored:
        """The same with other names."""
        return Stored(
            *names, axis=self.axis, parts=self.parts, part=self.part, transposed=self.transposed
        )

    def value(self, tensors: Sequence[np.ndarray]) -> np.ndarray:
        """The value of a Parameter out of the tensors of a file.

        Raises:
            ValueError: they cannot be joined, cut or transposed so.
        """
        array = tensors[0] if len(tensors) == 1 else np.concatenate(tensors, self.axis)
        if self.part is not None:
            array = self.pieces(array)[self.part]
        return array.T if self.transposed else array

    def pieces(self, array: np.ndarray) -> list[np.ndarray]:
        """An array cut into the parts.

        Raises:
            ValueError: its length is no multiple of them.
        """
        if not -array.ndim <= self.axis < array.ndim or array.shape[self.axis] % sum(self.parts):
            raise ValueError(f"axis {self.axis} of {array.shape} has no parts {self.parts}")
        one = array.shape[self.axis] // sum(self.parts)
        return np.split(array, np.cumsum(self.parts)[:-1] * one, self.axis)


class Layout(NamedTuple):
    """What is particular to the files of one kind of network.

    Attributes:
        transposed: names of tensors that have (inputs, outputs) where PyTorch has them reversed.
        tied: tensors that a file leaves out, with those whose value they have.
        ties: whether they are tied where config.json does not say.
        ignored: names of tensors that are computed, not learned.
    """

    transposed: str = "$^"
    tied: Mapping[str, str] = {}
    ties: bool = True
    ignored: str = "$^"

    def is_transposed(self, name: str) -> bool:
        """Whether a tensor of this name has its two axes the other way round."""
        return bool(re.search(self.transposed, name))


# By `model_type` in config.json.
LAYOUTS = {
    "bert": Layout(
        tied={
            "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        },
        ignored=r"embeddings\.(position|token_type)_ids$",
    ),
    "gpt2": Layout(
        transposed=r"\.(c_attn|c_proj|c_fc|q_attn)\.weight$",
        tied={"lm_head.weight": "transformer.wte.weight"},
        ignored=r"attn\.(masked_)?bias$",
    ),
    "llama": Layout(
        tied={"lm_head.weight": "model.embed_tokens.weight"},
        ties=False,
        ignored=r"rotary_emb\.inv_freq$",
    ),
    "vit": Layout(),
    "resnet": Layout(),
}
# A count of batches beside moving statistics, which is in every file of PyTorch.
RUNNING_MEAN, COUNTED = "running_mean", "num_batches_tracked"


class Member(NamedTuple):
    """A Parameter or buffer of a Cell.

    Attributes:
        path: its first path in the Cell.
        tensor: itself.
        places: its names in the convention of PyTorch, more than one where Cells share it.
        dense: whether its Cell has it as (outputs, inputs).
        flat: whether PyTorch has it without its third axis, of length 1.
        learned: whether it is a Parameter.
    """

    path: str
    tensor: Tensor
    places: list[str]
    dense: bool
    flat: bool
    learned: bool


def members(net: nn.Cell) -> list[Member]:
    """The Parameters and buffers of a Cell, each once."""
    found: dict[int, Member] = {}
    for path, cell, attribute, place, tensor in own_names(net):
        known = found.get(id(tensor))
        if known is not None:
            known.places.append(place)
            continue
        weight = attribute == "weight"
        learned = attribute in cell._params
        found[id(tensor)] = Member(
            f"{path}.{attribute}".lstrip("."), tensor, [place],
            weight and _is_dense(cell), weight and isinstance(cell, _FLAT), learned,
        )  # fmt: skip
    return list(found.values())


def _is_dense(cell: nn.Cell) -> bool:
    ours = (kind for kind in type(cell).__mro__ if kind.__module__.startswith("mycel."))
    return any(kind.__name__ in _DENSE for kind in ours)


def renamer(rules) -> Callable[[str], Stored | None]:
    """A function from PyTorch's name of a Parameter to where a file has it.

    Raises:
        TypeError: these are no rules.
    """
    if rules is None:
        return Stored
    if callable(rules):
        return lambda name: _stored(name, rules(name))
    if not isinstance(rules, Iterable):
        raise wrong(TypeError, "rules", RULES, repr(rules))
    compiled = []
    for rule in rules.items() if isinstance(rules, Mapping) else rules:
        if not isinstance(rule, tuple) or len(rule) != 2:
            raise wrong(TypeError, "rules", RULES, repr(rule))
        try:
            compiled.append((re.compile(rule[0]), rule[1]))
        except (TypeError, re.error) as error:
            raise wrong(ValueError, "rules", RULES, f"{rule[0]!r} ({error})") from None

    def renamed(name: str) -> Stored | None:
        try:
            return _renamed(name, compiled)
        except (re.error, IndexError) as error:  # a group that is not there
            raise wrong(ValueError, "rules", RULES, f"one for {name!r}: {error}") from None

    return renamed


def _renamed(name: str, compiled) -> Stored | None:
    found = Stored(name)
    for pattern, replacement in compiled:
        if replacement is None:
            if any(pattern.search(one) for one in found.names):
                return None
        elif isinstance(replacement, Stored):
            if len(found.names) == 1 and pattern.search(found.names[0]):
                before = found.names[0]
                found = replacement.called(pattern.sub(n, before) for n in replacement.names)
        elif isinstance(replacement, str):
            found = found.called(pattern.sub(replacement, one) for one in found.names)
        else:
            raise wrong(TypeError, "rules", RULES, repr(replacement))
    return found


def _stored(name: str, answer: Any) -> Stored | None:
    if answer is None or isinstance(answer, Stored):
        return answer
    if not isinstance(answer, str):
        raise wrong(
            TypeError, f"What rules({name!r}) returns", "a string, a Stored or None", answer
        )
    return Stored(answer)


def layout_of(layout: str | None, config: Mapping) -> Layout:
    """The Layout that is named, or that of the network that config.json describes.

    Raises:
        ValueError: there is none of this name.
    """
    if layout is not None and layout not in LAYOUTS:
        raise wrong(ValueError, "layout", f"one of {', '.join(LAYOUTS)} or None", repr(layout))
    found = LAYOUTS.get(layout or str(config.get("model_type")), Layout())
    if config.get("tie_word_embeddings", found.ties) is not True:
        return found._replace(tied={})
    return found


class Names:
    """Finds the names of a file that rules mean.

    Args:
        known: the names in the file.
        wanted: the names that the rules give; from both a prefix follows.
        prefix: what the file has before all names; with '-' before it, what it lacks. None finds
            the one with which most names are there.
        layout: what is particular to the file.
    """

    def __init__(
        self, known: Iterable[str], wanted: Iterable[str], prefix: str | None, layout: Layout
    ):
        self.known = set(known)
        self.tied = layout.tied
        self.prefix = _best_prefix(self.known, set(wanted)) if prefix is None else prefix

    def found(self, name: str, tied: bool) -> str | None:
        """What the file calls this, or with `tied` what it is tied to; or None."""
        with_prefix = add_prefix(name, self.prefix)
        for one in (with_prefix, name):
            also = self._written(one)
            if also is not None:
                return also
        for left_out, source in self.tied.items() if tied else ():
            if left_out in (with_prefix, name):
                return self._written(source) or self._written(source.partition(".")[2])
        return None

    def _written(self, name: str) -> str | None:
        if name in self.known:
            return name
        rest, dot, last = name.rpartition(".")
        also = (rest + dot + word for word in _ALSO.get(last, ()))
        return next((one for one in also if one in self.known), None)


def add_prefix(name: str, prefix: str) -> str:
    """A name with a prefix; with '-' before it, the name without it."""
    return name.removeprefix(prefix[1:]) if prefix.startswith("-") else prefix + name


def _best_prefix(known: set[str], wanted: set[str]) -> str:
    """The prefix with which most names are in the file: none, one more or one less."""
    counted = Counter({"": len(known & wanted)})
    counted.update(prefix for name in known for prefix, rest in _cut(name) if rest in wanted)
    counted.update(f"-{prefix}" for name in wanted for prefix, rest in _cut(name) if rest in known)
    most = max(counted.values())
    return min((prefix for prefix, count in counted.items() if count == most), key=len)


def _cut(name: str) -> Iterable[tuple[str, str]]:
    """A name at each of its dots: the part up to it, and the rest."""
    for match in re.finditer(r"\.", name):
        yield name[: match.end()], name[match.end() :]


def is_ignored(name: str, layout: Layout) -> bool:
    """Whether a tensor of a file is one that no Parameter is expected to have."""
    return name.rpartition(".")[2] == COUNTED or bool(re.search(layout.ignored, name))
