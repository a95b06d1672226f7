# SPDX-License-Identifier: Apache-2.0
"""What each line of a function touches, read off its bytecode once.

A line event comes before the line runs, so what the line will read or change can be looked at
first. Expressions are small trees of names, attributes, items and calls; everything else is
`UNKNOWN`, and whatever goes into it is said to be used. Bytecode differs between versions of
Python; an instruction that is not known here uses all that lies on the stack.
"""

from __future__ import annotations

import dis
from collections import defaultdict
from functools import cache
from types import CodeType
from typing import NamedTuple

# Expressions are tuples that begin with one of these.
LOCAL, CLOSED, GLOBAL, CONSTANT, ATTRIBUTE, ITEM, CALL, SUPER, IMPORTED, OTHER = range(10)
UNKNOWN = (OTHER,)
# The keywords of a call with stars, whose arguments are the keywords, if any, and a sequence.
STARRED = ("*",)
# What the interpreter pushes beside a function that is to be called.
_NOTHING = (OTHER, "nothing")

# Accesses are tuples that begin with one of these.
READ, USE, STORE_ATTRIBUTE, STORE_ITEM, STORE_GLOBAL, STORE_CLOSED, MATCHED = range(7)


class Summary(NamedTuple):
    """What is known of a code object.

    `lines` has the accesses of each line in order, each with the instruction that makes it, or None
    if all before it only load: it can be looked at when the line begins. `instructions` has those
    that are named there, `loops` the jumps back to where their own line begins, and `inner` the
    code objects inside.
    """

    lines: dict[int, tuple]
    instructions: frozenset[int]
    loops: frozenset[int]
    inner: tuple[CodeType, ...]


def summary(code: CodeType) -> Summary:
    """The summary of a code object, made once."""
    # Code objects compare by content, which costs and mixes up those of equal functions.
    known = _summaries.get(id(code))
    if known is None:
        reader = _Reader(code)
        lines = reader.read()
        named = frozenset(access[0] for accesses in lines.values() for access in accesses) - {None}
        inner = tuple([part for part in code.co_consts if isinstance(part, CodeType)])
        if len(_summaries) >= MOST_SUMMARIES:
            _summaries.clear()  # as of a program that compiles code at every call
        known = _summaries[id(code)] = (Summary(lines, named, frozenset(reader.loops), inner), code)
    return known[0]


MOST_SUMMARIES = 1 << 14
_summaries: dict[int, tuple[Summary, CodeType]] = {}


class _Reader:
    """Runs over the instructions in order with a stack of expressions."""

    def __init__(self, code: CodeType):
        self.code = code
        self.stack: list[tuple] = []
        self.lines: dict[int, list] = defaultdict(list)
        self.line = code.co_firstlineno
        # Stacks of the jumps to an instruction, by its offset.
        self.arriving: dict[int, list[list]] = defaultdict(list)
        self.is_reached = True
        self.keywords: tuple[str, ...] = ()
        self.loops: list[int] = []
        # The present instruction, and whether those on the line before it only load.
        self.offset = 0
        self.is_quiet = True

    def read(self) -> dict[int, tuple]:
        lines: dict[int, int | None] = {}
        for instruction in dis.get_instructions(self.code):
            line = instruction.positions.lineno if instruction.positions else None
            if line is not None and line != self.line:
                self.line = line
                self.is_quiet = True
            self.offset = instruction.offset
            lines[instruction.offset] = line
            if "JUMP_BACKWARD" in instruction.opname and lines.get(instruction.argval) == line:
                self.loops.append(instruction.offset)
            if instruction.is_jump_target:
                self.is_quiet = False
                self._arrive(instruction.offset)
            self._step(instruction)
            if not instruction.opname.startswith(_QUIET):
                self.is_quiet = False
        return {line: tuple(dict.fromkeys(parts)) for line, parts in self.lines.items()}

    def _step(self, instruction) -> None:
        name, argument = instruction.opname, instruction.arg or 0
        if name in _IGNORED:
            return
        if name in _JUMPS:
            self._jump(name, instruction)
        elif name in _POPS:
            self._take(_POPS[name](argument))
        elif name in _POPS_PUSHES:
            self._take(_POPS_PUSHES[name](argument))
            self.stack.append(UNKNOWN)
        else:
            handle = getattr(self, "do_" + name, None)
            if handle is None:
                self._unknown_instruction(instruction)
            else:
                handle(instruction, argument)
        if name in _ENDS:
            self.stack, self.is_reached = [], False

    # -- the stack ------------------------------------------------------------------------

    def pop(self) -> tuple:
        return self.stack.pop() if self.stack else UNKNOWN

    def _note(self, *access) -> None:
        self.lines[self.line].append((None if self.is_quiet else self.offset, *access))

    def _push(self, expression: tuple) -> None:
        """What is pushed is read, whatever becomes of it."""
        self.stack.append(expression)
        if expression[0] not in (LOCAL, CONSTANT, OTHER):
            self._note(READ, expression)

    def _use(self, expression: tuple) -> None:
        if expression[0] not in (CONSTANT, OTHER):
            self._note(USE, expression)

    def _take(self, count: int) -> None:
        for _ in range(count):
            self._use(self.pop())

    def _unknown_instruction(self, instruction) -> None:
        for expression in self.stack:
            self._use(expression)
        argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
        depth = len(self.stack) + dis.stack_effect(instruction.opcode, argument, jump=False)
        self.stack = [UNKNOWN] * max(depth, 0)

    # -- jumps ----------------------------------------------------------------------------

    def _jump(self, name: str, instruction) -> None:
        if name in _CONDITIONS:
            self._use(self.pop())
        elif name.startswith("JUMP_IF"):  # Python 3.11: the value stays where it jumps
            self._use(self.stack[-1] if self.stack else UNKNOWN)
        elif name == "FOR_ITER":
            self.arriving[instruction.argval].append([*self.stack])
            self.stack.append(UNKNOWN)
            return
        elif name == "SEND":
            self._take(1)
            self.stack.append(UNKNOWN)
        self.arriving[instruction.argval].append([*self.stack])
        if name.startswith("JUMP_IF"):
            self.pop()

    def _arrive(self, offset: int) -> None:
        """Several ways meet: what they agree on stays known."""
        stacks = self.arriving.pop(offset, [])
        if self.is_reached:
            stacks.append(self.stack)
        self.is_reached = True
        if not stacks:
            self.stack = []
            return
        depth = min(map(len, stacks))
        met = []
        for ways in zip(*[stack[len(stack) - depth :] for stack in stacks], strict=True):
            if any(way != ways[0] for way in ways):
                for way in ways:
                    self._use(way)
                met.append(UNKNOWN)
            else:
                met.append(ways[0])
        self.stack = met

    # -- names ------------------------------------------------------------------------------

    def _load(self, kind: int, name: str) -> None:
        self._push((kind, name))

    def do_LOAD_FAST(self, instruction, _):
        for name in _names(instruction):
            self._load(LOCAL, name)

    do_LOAD_FAST_CHECK = do_LOAD_FAST_BORROW = do_LOAD_FAST_AND_CLEAR = do_LOAD_FAST
    do_LOAD_FAST_LOAD_FAST = do_LOAD_FAST_BORROW_LOAD_FAST_BORROW = do_LOAD_FAST

    def do_STORE_FAST(self, instruction, _):
        for _ in _names(instruction):
            self.pop()

    do_STORE_FAST_STORE_FAST = do_STORE_FAST

    def do_STORE_FAST_LOAD_FAST(self, instruction, _):
        self.pop()
        self.stack.append((LOCAL, instruction.argval[1]))

    def do_DELETE_FAST(self, *_):
        """A name is gone."""

    def do_LOAD_DEREF(self, instruction, _):
        self._load(CLOSED, instruction.argval)

    do_LOAD_CLASSDEREF = do_LOAD_DEREF

    def do_LOAD_FROM_DICT_OR_DEREF(self, instruction, _):
        self._take(1)
        self._load(CLOSED, instruction.argval)

    def do_STORE_DEREF(self, instruction, _):
        self._note(STORE_CLOSED, instruction.argval)
        self.pop()

    def do_DELETE_DEREF(self, instruction, _):
        self._note(STORE_CLOSED, instruction.argval)

    def do_LOAD_CLOSURE(self, *_):
        self.stack.append(UNKNOWN)

    def do_LOAD_GLOBAL(self, instruction, argument):
        if argument & 1:
            self.stack.append(_NOTHING)
        self._load(GLOBAL, instruction.argval)

    def do_LOAD_NAME(self, instruction, _):
        self._load(GLOBAL, instruction.argval)

    def do_STORE_GLOBAL(self, instruction, _):
        self._note(STORE_GLOBAL, instruction.argval)
        self.pop()

    def do_DELETE_GLOBAL(self, instruction, _):
        self._note(STORE_GLOBAL, instruction.argval)

    def do_STORE_NAME(self, *_):
        self._take(1)

    def do_LOAD_CONST(self, instruction, _):
        self.stack.append((CONSTANT, _Same(instruction.argval)))

    do_LOAD_SMALL_INT = do_LOAD_CONST

    def do_PUSH_NULL(self, *_):
        self.stack.append(_NOTHING)

    def do_POP_TOP(self, *_):
        self.pop()

    def do_COPY(self, _, argument):
        self.stack.append(self.stack[-argument] if argument <= len(self.stack) else UNKNOWN)

    def do_SWAP(self, _, argument):
        if argument <= len(self.stack):
            stack = self.stack
            stack[-1], stack[-argument] = stack[-argument], stack[-1]

    # -- attributes, items, calls -------------------------------------------------------------

    def do_LOAD_ATTR(self, instruction, argument):
        self._push((ATTRIBUTE, self.pop(), instruction.argval))
        if _METHODS_BY_FLAG and argument & 1:
            self.stack.append(_NOTHING)

    def do_LOAD_METHOD(self, instruction, _):
        self._push((ATTRIBUTE, self.pop(), instruction.argval))
        self.stack.append(_NOTHING)

    def do_LOAD_SUPER_ATTR(self, instruction, argument):
        owner, kind, _ = (self.pop() for _ in range(3))
        self._push((ATTRIBUTE, (SUPER, kind, owner), instruction.argval))
        if argument & 1:
            self.stack.append(_NOTHING)

    def do_STORE_ATTR(self, instruction, _):
        owner = self.pop()
        self._note(STORE_ATTRIBUTE, owner, instruction.argval)
        self._take(1)

    def do_DELETE_ATTR(self, instruction, _):
        self._note(STORE_ATTRIBUTE, self.pop(), instruction.argval)

    def do_BINARY_SUBSCR(self, *_):
        key = self.pop()
        self._push((ITEM, self.pop(), key))

    def do_BINARY_OP(self, instruction, _):
        if instruction.argrepr == "[]":  # Python 3.14
            self.do_BINARY_SUBSCR()
            return
        right = self.pop()
        left = self.pop()
        self._use(left)
        self._use(right)
        self.stack.append(UNKNOWN)

    def do_STORE_SUBSCR(self, *_):
        key = self.pop()
        self._note(STORE_ITEM, self.pop(), key)
        self._take(1)

    def do_DELETE_SUBSCR(self, *_):
        key = self.pop()
        self._note(STORE_ITEM, self.pop(), key)

    def do_STORE_SLICE(self, *_):
        self._take(2)
        self._note(STORE_ITEM, self.pop(), UNKNOWN)
        self._take(1)

    def do_IS_OP(self, *_):
        self.pop()
        self.pop()
        self.stack.append(UNKNOWN)

    def do_IMPORT_NAME(self, instruction, _):
        names, level = self.pop(), self.pop()
        dots = level[1].value if level[0] == CONSTANT else 0
        # Without names to take from it, `import a.b` is worth `a`.
        self._push((IMPORTED, "." * dots + instruction.argval, _is_none(names)))

    def do_IMPORT_FROM(self, instruction, _):
        module = self.stack[-1] if self.stack else UNKNOWN
        self._push((ATTRIBUTE, module, instruction.argval))

    def do_CALL(self, _, argument):
        arguments = tuple([self.pop() for _ in range(argument)])[::-1]
        first, second = self.pop(), self.pop()
        function = second if first is _NOTHING else first
        if first is not _NOTHING and second is not _NOTHING and second[0] != OTHER:
            # Python 3.11 and 3.12: what follows a function without NULL is an argument.
            function, arguments = second, (first, *arguments)
        names, self.keywords = self.keywords, ()
        if function == (GLOBAL, "super"):
            self.stack.append((SUPER, *arguments))
        else:
            self._push((CALL, function, arguments, names))

    def do_KW_NAMES(self, _, argument):
        self.keywords = self.code.co_consts[argument]

    def do_CALL_KW(self, instruction, argument):
        names = self.pop()
        known = names[0] == CONSTANT and isinstance(names[1].value, tuple)
        self.keywords = names[1].value if known else ("",)
        self.do_CALL(instruction, argument)

    def do_CALL_FUNCTION_EX(self, _, argument):
        count = 2 if argument & 1 or _ALWAYS_KEYWORDS else 1
        arguments = tuple([self.pop() for _ in range(count)])
        for expression in arguments:
            self._use(expression)
        first, second = self.pop(), UNKNOWN
        if self.stack and self.stack[-1] is _NOTHING:
            second = self.pop()
        elif first is _NOTHING:
            first = self.pop()
        del second
        self._push((CALL, first, arguments, STARRED))

    def do_MAKE_FUNCTION(self, _, argument):
        if not _FUNCTION_ATTRIBUTES:
            self._take(bin(argument & 15).count("1"))
        self.pop()
        self.stack.append(UNKNOWN)

    def do_SET_FUNCTION_ATTRIBUTE(self, *_):
        self.pop()
        self._take(1)
        self.stack.append(UNKNOWN)

    def do_UNPACK_SEQUENCE(self, _, argument):
        self._take(1)
        self.stack += [UNKNOWN] * argument

    def do_UNPACK_EX(self, _, argument):
        self._take(1)
        self.stack += [UNKNOWN] * (1 + (argument & 0xFF) + (argument >> 8))

    def do_MATCH_CLASS(self, _, argument):
        names, kind = self.pop(), self.pop()
        self._use(self.pop())
        self._note(MATCHED, kind, names, argument)
        self.stack.append(UNKNOWN)

    def do_MATCH_SEQUENCE(self, *_):
        if self.stack:
            self._use(self.stack[-1])
        self.stack.append(UNKNOWN)

    do_MATCH_MAPPING = do_GET_LEN = do_MATCH_SEQUENCE

    def do_MATCH_KEYS(self, *_):
        if len(self.stack) > 1:
            self._use(self.stack[-2])
        self.stack.append(UNKNOWN)

    def do_BEFORE_WITH(self, *_):
        self._push((CALL, (ATTRIBUTE, self.pop(), "__enter__"), (), ()))
        self.stack[-1:] = [UNKNOWN, UNKNOWN]

    def do_LOAD_SPECIAL(self, *_):  # Python 3.14: methods of `with`
        self._push((CALL, (ATTRIBUTE, self.pop(), "__enter__"), (), ()))
        self.stack[-1:] = [UNKNOWN, _NOTHING]


class _Same:
    """A constant, equal to itself only: 1 and True, 0.0 and -0.0 are not one."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def _names(instruction) -> tuple:
    name = instruction.argval
    return name if isinstance(name, tuple) else (name,)


@cache
def _has(name: str) -> bool:
    return name in dis.opmap


_METHODS_BY_FLAG = not _has("LOAD_METHOD") or _has("LOAD_SUPER_ATTR")
_FUNCTION_ATTRIBUTES = _has("SET_FUNCTION_ATTRIBUTE")
_ALWAYS_KEYWORDS = _has("LOAD_SMALL_INT")

# Instructions that change nothing that another on the same line could see.
_QUIET = (
    "LOAD", "PUSH", "COPY", "SWAP", "POP_TOP", "NOP", "RESUME", "PRECALL", "KW_NAMES", "CACHE",
    "EXTENDED_ARG", "BUILD", "IS_OP", "RETURN", "MAKE", "SET_FUNCTION", "BINARY_SUBSCR", "LIST_TO",
)  # fmt: skip
_IGNORED = {
    "CACHE", "COPY_FREE_VARS", "END_FOR", "EXTENDED_ARG", "GEN_START", "MAKE_CELL",
    "NOP", "NOT_TAKEN", "PRECALL", "RESUME", "RETURN_GENERATOR", "LIST_TO_TUPLE", "TO_BOOL",
    "LOAD_BUILD_CLASS", "POP_EXCEPT", "SETUP_ANNOTATIONS",
}  # fmt: skip
if _has("RETURN_GENERATOR"):
    # It pushes a generator, which the next instruction takes away.
    _IGNORED.discard("RETURN_GENERATOR")
_CONDITIONS = {name for name in dis.opmap if name.startswith("POP_JUMP")}
_JUMPS = {name for name in dis.opmap if "JUMP" in name} | {"FOR_ITER", "SEND"}
_ENDS = {
    "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT", "JUMP", "JUMP_NO_INTERRUPT",
}  # fmt: skip
# How many values an instruction takes; what it takes is used.
_POPS = {
    "RETURN_VALUE": lambda n: 1,
    "RETURN_CONST": lambda n: 0,
    "RAISE_VARARGS": lambda n: n,
    "LIST_APPEND": lambda n: 1,
    "SET_ADD": lambda n: 1,
    "MAP_ADD": lambda n: 2,
    "LIST_EXTEND": lambda n: 1,
    "SET_UPDATE": lambda n: 1,
    "DICT_UPDATE": lambda n: 1,
    "DICT_MERGE": lambda n: 1,
    "POP_ITER": lambda n: 1,
    "PRINT_EXPR": lambda n: 1,
    "IMPORT_STAR": lambda n: 1,
}
_POPS_PUSHES = {
    "RETURN_GENERATOR": lambda n: 0,
    "COMPARE_OP": lambda n: 2,
    "CONTAINS_OP": lambda n: 2,
    "BINARY_SLICE": lambda n: 3,
    "UNARY_NEGATIVE": lambda n: 1,
    "UNARY_POSITIVE": lambda n: 1,
    "UNARY_NOT": lambda n: 1,
    "UNARY_INVERT": lambda n: 1,
    "GET_ITER": lambda n: 1,
    "GET_YIELD_FROM_ITER": lambda n: 1,
    "FORMAT_SIMPLE": lambda n: 1,
    "FORMAT_WITH_SPEC": lambda n: 2,
    "FORMAT_VALUE": lambda n: 1 + (n & 4 == 4),
    "CONVERT_VALUE": lambda n: 1,
    "BUILD_TUPLE": lambda n: n,
    "BUILD_LIST": lambda n: n,
    "BUILD_SET": lambda n: n,
    "BUILD_STRING": lambda n: n,
    "BUILD_SLICE": lambda n: n,
    "BUILD_MAP": lambda n: 2 * n,
    "BUILD_CONST_KEY_MAP": lambda n: n + 1,
    "CALL_INTRINSIC_1": lambda n: 1,
    "CALL_INTRINSIC_2": lambda n: 2,
    "YIELD_VALUE": lambda n: 1,
    "LOAD_ASSERTION_ERROR": lambda n: 0,
    "LOAD_COMMON_CONSTANT": lambda n: 0,
    "PUSH_EXC_INFO": lambda n: 0,
}


def _is_none(expression) -> bool:
    return expression[0] == CONSTANT and expression[1].value is None


def written_out(expression) -> str:
    """An expression as its author wrote it, for messages."""
    if not isinstance(expression, tuple):
        return str(expression)
    kind, *parts = expression
    if kind in (LOCAL, CLOSED, GLOBAL, IMPORTED):
        return parts[0]
    if kind == CONSTANT:
        return repr(parts[0].value) if isinstance(parts[0], _Same) else "…"
    if kind == ATTRIBUTE:
        return f"{written_out(parts[0])}.{parts[1]}"
    if kind == ITEM:
        return f"{written_out(parts[0])}[{written_out(parts[1])}]"
    if kind == CALL:
        return f"{written_out(parts[0])}({', '.join(map(written_out, parts[1]))})"
    return "super()" if kind == SUPER else "…"
