# SPDX-License-Identifier: Apache-2.0
"""Calls with a keyword that is not there: which ones there are, and which was probably meant.

Nothing of this runs in a call that succeeds.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from types import FrameType

from mycel.kernel.base import errors
from mycel.kernel.base.places import expression_at, is_ours, user_place

# Words for one idea: MindSpore's operators, its layers, `mint` and PyTorch choose differently.
ALIKE = (
    ("axis", "dim", "dims", "axes"),
    ("keepdim", "keepdims", "keep_dims"),
    ("has_bias", "bias"),
    ("group", "groups"),
    ("stride", "strides"),
    ("padding", "pad", "paddings"),
    ("eps", "epsilon"),
    ("sigma", "std"),
    ("in_channels", "in_features", "input_size"),
    ("out_channels", "out_features", "hidden_size"),
    ("vocab_size", "num_embeddings"),
    ("embedding_size", "embedding_dim"),
    ("input", "x", "input_x", "logits", "tensors", "inputs"),
    ("target", "labels", "label"),
    ("size", "shape"),
    ("clip_value_min", "min"),
    ("clip_value_max", "max"),
    ("minval", "low"),
    ("maxval", "high"),
    ("alpha", "negative_slope"),
    ("num_features", "num_channels"),
    ("learning_rate", "lr"),
    ("beta1", "betas", "momentum"),
    ("weight_decay", "l2", "wd"),
    ("decay", "alpha", "rho"),
    ("milestone", "milestones"),
    ("reduction", "reduce", "size_average"),
)
_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")


def keywords_of(function) -> list[str] | None:
    """The keywords a callable takes; None if it takes any, or does not tell."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return [p.name for p in parameters if p.kind in kinds and p.name != "self"]


def nearest_keyword(keyword: str, known: list[str]) -> str:
    """The keyword that was probably meant, or "none"."""
    for words in ALIKE:
        if keyword in words:
            for word in words:
                if word in known:
                    return word
    near = difflib.get_close_matches(keyword, known, 1)
    return near[0] if near else "none"


def no_keyword(name: str, keyword: str, known: list[str], place) -> str:
    """What is wrong, what there is, and what is nearest.

    Example:
        >>> from mycel.report.keywords import no_keyword
        >>> no_keyword("ops.sum", "axis", ["input", "dim"], "train.py:3")
        "ops.sum() has no keyword 'axis' (at train.py:3); it takes input, dim; nearest: dim."
    """
    return errors.UNKNOWN_KEYWORD.format(
        name=name,
        keyword=keyword,
        place=place,
        known=", ".join(known) or "none",
        nearest=nearest_keyword(keyword, known),
    )


def check_keywords(kind: type, keywords: dict) -> None:
    """Raise a clear error if a class is created with a keyword that its `__init__` does not take.

    Raises:
        TypeError: names the keyword, those there are, and the nearest.
    """
    method = kind.__init__
    # A decorator takes whatever it is given; what it stands for says what is right.
    code = getattr(getattr(method, "__wrapped__", method), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for keyword in keywords:
        if keyword not in names:
            text = no_keyword(kind.__name__, keyword, list(names[1:]), user_place(3))
            raise TypeError(text)


def explain_keyword(error: TypeError) -> None:
    """Say more in Python's error about an unknown keyword, if one of our callables was called."""
    match = _UNEXPECTED.search(str(error))
    trace = error.__traceback__
    if match is None or trace is None:
        return
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    called = _called(frame, trace.tb_lasti)
    if called is None:
        return
    name, function = called
    known = keywords_of(function)
    if known is None or match[1] in known or not _is_of_this_package(function):
        return
    place = f"{frame.f_code.co_filename}:{trace.tb_lineno}"
    error.args = (no_keyword(name, match[1], known, place),)


def _is_of_this_package(function) -> bool:
    code = getattr(function, "__code__", None)
    if code is not None:
        return is_ours(code.co_filename)
    kind = function if isinstance(function, type) else type(function)
    return kind.__module__.partition(".")[0] == "mycel"


def _called(frame: FrameType, instruction: int):
    """The callable of the call at an instruction, as it is written there, and itself."""
    if is_ours(frame.f_code.co_filename):
        return None
    call = expression_at(frame.f_code, instruction)
    if not isinstance(call, ast.Call):
        return None
    function = _value_of(call.func, frame)
    return None if function is None else (ast.unparse(call.func), function)


def _value_of(written: ast.expr, frame: FrameType):
    """What a name, or attributes of one, mean in a frame."""
    if isinstance(written, ast.Name):
        for names in (frame.f_locals, frame.f_globals):
            if written.id in names:
                return names[written.id]
        return None
    if isinstance(written, ast.Attribute):
        owner = _value_of(written.value, frame)
        return None if owner is None else getattr(owner, written.attr, None)
    if isinstance(written, ast.Call):
        # What a class is called to make takes what its `__call__` does.
        kind = _value_of(written.func, frame)
        return kind.__call__ if isinstance(kind, type) and "__call__" in vars(kind) else None
    return None
