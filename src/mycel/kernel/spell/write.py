# SPDX-License-Identifier: Apache-2.0
"""Writing the callables of a spelling: real Python functions with real signatures.

The source is generated, as for a named tuple, so that `inspect.signature`, keywords and
tracebacks are right and a call costs one frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import indent

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.operators import REFLECTED
from mycel.kernel.base.where import tell_line
from mycel.kernel.base.written import compiled, defined_at
from mycel.kernel.define.definition import Definition
from mycel.kernel.record.dispatch import apply0, apply1, apply2, applyn, defers
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell.assign import assigned
from mycel.kernel.spell.other_keywords import ABSENT, call_renamed
from mycel.kernel.spell.spelling import REQUIRED, Argument, Spelling

INPLACE = "inplace"
# Costs nothing in a call that succeeds.
TOLD = """    try:
        return {call}
    except Exception as error:
        tell_line(error)
        raise
"""
# Lengths are given one after another, or all of them by this name.
SHAPE = "shape"


def listed(tensors, name: str):
    """The Tensors that were given as a tuple or list.

    Raises:
        TypeError: it is one Tensor, whose rows would be taken for them.
    """
    if isinstance(tensors, Tensor):
        raise wrong(TypeError, f"What {name} takes", "a tuple or list of Tensors", "one Tensor")
    return tensors


def spread(values):
    """The numbers of `x.reshape(2, 3)`, `x.reshape((2, 3))` and `x.reshape([2, 3])` alike."""
    if len(values) == 1 and not isinstance(values[0], int):
        return tuple(values[0]) if isinstance(values[0], (tuple, list)) else values[0]
    return values


def apply_optional(definition: Definition, arrays: tuple, statics: tuple):
    """Call a definition of which some optional arrays are left out."""
    present = tuple([array is not None for array in arrays])
    op = definition.bind(*statics, present=present)
    return applyn(op, [array for array in arrays if array is not None])


class Writer:
    """Collects the parameters and the globals of one generated function."""

    def __init__(self, definition: Definition):
        self.definition = definition
        self.globals: dict[str, object] = {
            "apply0": apply0,
            "apply1": apply1,
            "apply2": apply2,
            "applyn": applyn,
            "listed": listed,
            "apply_optional": apply_optional,
            "assigned": assigned,
            "bind": definition.bind,
            "defers": defers,
            "definition": definition,
            "spread": spread,
            "tell_line": tell_line,
            "function": definition.function,
        }

    def parameters(self, arguments: list[Argument]) -> str:
        """The parameter list of a generated function."""
        written, after_default = [], False
        for argument in arguments:
            if argument.spread:
                named = argument.public == SHAPE
                written.append(f"*lengths, {SHAPE}=None" if named else f"*{argument.public}")
                continue
            default = argument.default
            if default is REQUIRED and after_default:
                # Python wants defaults last; what is missing is found out by the definition.
                default = None
            if default is REQUIRED:
                written.append(argument.public)
            else:
                after_default = True
                written.append(f"{argument.public}={self.constant(default)}")
        return ", ".join(written)

    def constant(self, value) -> str:
        """A name for a default value that has no literal of its own."""
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        name = f"default_{len(self.globals)}"
        self.globals[name] = value
        return name

    def call(self, expressions: dict[str, str]) -> str:
        """The expression that calls the definition; its parameters are `expressions`."""
        definition = self.definition
        statics = [self._value(name, expressions) for name in definition.statics]
        arrays = [self._value(name, expressions) for name in definition.arrays]
        if len(definition.optional) > 1:
            return f"apply_optional(definition, ({_tuple(arrays)}), ({_tuple(statics)}))"
        if definition.optional:
            (optional,) = definition.optional
            others = tuple([name != optional for name in definition.arrays])
            without = self._apply(arrays, statics, others)
            whole = self._apply(arrays, statics, (True,) * len(arrays))
            return f"{without} if {self._value(optional, expressions)} is None else {whole}"
        if definition.variadic:
            rest = expressions[definition.variadic]
            rest = f"*listed({rest}, {definition.name!r})"
            return f"applyn(bind({', '.join(statics)}), ({_tuple(arrays)}{rest},))"
        return self._apply(arrays, statics)

    def _apply(
        self, arrays: list[str], statics: list[str], present: tuple[bool, ...] | None = None
    ) -> str:
        """The expression that applies the Op with these statics to arrays."""
        if not statics:
            op = f"op_{len(self.globals)}"
            self.globals[op] = self.definition.bind(present=present)
        else:
            op = f"bind({', '.join(statics)}{'' if present is None else f', present={present}'})"
        if present is not None:
            arrays = [array for array, there in zip(arrays, present, strict=True) if there]
        if len(arrays) > 2:
            return f"applyn({op}, ({_tuple(arrays)}))"
        return f"apply{len(arrays)}({', '.join([op, *arrays])})"

    def call_composite(self, expressions: dict[str, str]) -> str:
        """The expression that calls a plain function over operators."""
        return f"function({', '.join(f'{inner}={text}' for inner, text in expressions.items())})"

    def body(self, spelling: Spelling, expressions: dict[str, str], composite: bool) -> str:
        """The lines that return what the definition makes, or assign it to the target.

        `inplace` may stand in the spelling of an operator: then its first array has the result too.
        """
        call = self.call_composite(expressions) if composite else self.call(expressions)
        if spelling.target:
            plain = spelling.name.removesuffix("_")
            return TOLD.format(call=f"assigned({expressions[spelling.target]}, {call}, {plain!r})")
        if spelling.name in REFLECTED:
            other, reflected = expressions["y"], REFLECTED[spelling.name]
            return (
                f"    try:\n        return {call}\n    except TypeError:\n"
                f"        if not defers({other}, {reflected!r}):\n            raise\n"
                "    return NotImplemented\n"
            )
        if composite or INPLACE not in expressions:
            return TOLD.format(call=call)
        first = expressions[self.definition.arrays[0]]
        return f"    if {INPLACE}:\n        return assigned({first}, {call})\n    return {call}\n"

    def _value(self, name: str, expressions: dict[str, str]) -> str:
        if name in expressions:
            return expressions[name]
        if name not in self.definition.defaults:
            raise ValueError(f"A spelling of {self.definition.name!r} leaves out {name!r}.")
        return self.constant(self.definition.defaults[name])

    def make(self, name: str, source: str, target: str = "") -> Callable:
        """What the source makes, documented as the definition is; for `target`, see
        `documentation`."""
        title = f"{self.definition.name} as {name}"
        written = compiled(name, source, self.globals, title, defined_at(self.definition.function))
        written.__doc__ = documentation(self.definition, target)
        return written


ASSIGNED = """

    The result is assigned to `{}`, which is returned and keeps its shape and element type: another
    shape is a ValueError; real numbers for integers, or complex ones for real ones, are a
    TypeError."""


def documentation(definition: Definition, target: str = "") -> str | None:
    """The docstring of a definition with the names that MindSpore has for it; they stand in the
    spellings already, so that nobody writes them again.

    Args:
        target: the public name of the parameter that is assigned the result, if one is.
    """
    text = definition.function.__doc__
    if text and target:
        head, blank, rest = text.partition("\n\n")
        text = f"{head}{ASSIGNED.format(target)}{blank}{rest}"
    if not text or "\n    Source:" in text:
        return text
    names = [name for name in (definition.names or ()) if "__" not in name]
    if not names:
        return text
    source = f"\n\n    Source: MindSpore's {', '.join(f'`{name}`' for name in names)}."
    head, example, rest = text.rstrip().partition("\n\n    Example:")
    return f"{head}{source}{example}{rest}\n    "


def _tuple(parts: list[str]) -> str:
    return "".join(f"{part}, " for part in parts)


def _given_by(arguments: list[Argument], prefix: str = "") -> dict[str, str]:
    """Definition parameter -> expression, for the public parameters of a function."""
    shape = f"spread(lengths if {SHAPE} is None else (*lengths, {SHAPE}))"
    return {
        a.inner: (shape if a.public == SHAPE else f"spread({a.public})")
        if a.spread
        else prefix + a.public
        for a in arguments
    }


def write_function(
    definition, spelling: Spelling, arguments: list[Argument], composite: bool
) -> Callable:
    """The function that is spelled so, with these public parameters."""
    writer = Writer(definition)
    expressions = _given_by(arguments)
    body = writer.body(spelling, expressions | dict(spelling.fixed), composite)
    source = f"def {spelling.name}({writer.parameters(arguments)}):\n{body}"
    return writer.make(spelling.name, source, expressions.get(spelling.target, ""))


def write_renaming(
    definition,
    spelling: Spelling,
    arguments: list[Argument],
    composite: bool,
    renamed: Mapping[str, str],
) -> Callable:
    """As `write_function`, for a function that takes other keywords behind its parameters."""
    name, writer, expressions = spelling.name, Writer(definition), _given_by(arguments)
    newer = [
        a._replace(default=ABSENT) if a.default is REQUIRED and a.public in renamed.values() else a
        for a in arguments
    ]
    former = [Argument(word, word, ABSENT) for word in renamed]
    body = writer.body(spelling, expressions | dict(spelling.fixed), composite)
    taken = f"{writer.parameters(newer)}, *, {writer.parameters(former)}"
    writer.globals |= {"absent": ABSENT, "call_renamed": call_renamed}
    unsure = [a.public for a in newer if a.default is ABSENT]
    test = " or ".join([f"{p} is absent" for p in unsure] + [f"{p} is not absent" for p in renamed])
    spelled = f"{spelling.namespace}.{name}"
    source = (
        f"def {name}({taken}):\n    if {test}:\n"
        f"        return call_renamed({name}, {spelled!r}, {_dict(newer)}, {_dict(former)})\n{body}"
    )
    return writer.make(name, source, expressions.get(spelling.target, ""))


def _dict(arguments: list[Argument]) -> str:
    return "{" + ", ".join(f"{a.public!r}: {a.public}" for a in arguments) + "}"


def write_primitive(
    definition, spelling: Spelling, called: list[Argument], base: type, composite: bool
) -> type:
    """The Primitive class that is spelled so: attributes at creation, Tensors at the call."""
    name, created, writer = spelling.name, spelling.created or [], Writer(definition)
    writer.globals["Primitive"] = base
    expressions = _given_by(called) | _given_by(created, "self.") | dict(spelling.fixed)
    call = writer.call_composite(expressions) if composite else writer.call(expressions)
    lines = [f"class {name}(Primitive):"]
    made_with = writer.parameters(created)
    lines.append(f"    def __init__(self{', ' + made_with if made_with else ''}):")
    lines.append(f"        Primitive.__init__(self, {name!r})")
    lines += [f"        self.{a.public} = {a.public}" for a in created]
    taken = writer.parameters(called)
    lines.append(f"    def __call__(self{', ' + taken if taken else ''}):")
    lines.append(indent(TOLD.format(call=call), "    "))
    return writer.make(name, "\n".join(lines) + "\n")  # type: ignore
