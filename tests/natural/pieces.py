# SPDX-License-Identifier: Apache-2.0
"""Pieces of the programs that generator.py draws: what holds a state, how it is read and changed.

In texts, `{h}` is the holder's name, `{v}` a drawn number, `{r}` something that is read.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Holder:
    """A way to keep a number.

    Attributes:
        declare: statements that make it; empty for what the network's `__init__` makes (`inside`).
        reads: expressions that are numbers.
        changes: statements.
        show: what `state()` shows of it.
        rebinds: changes bind its name anew, so that a function must declare it `nonlocal`.
        lasting: reading it changes it, or cannot be proved not to.
        noise: statements that change what none of the reads looks at.
        inside: a line of the network's `__init__`.
        argument: it is passed to `step` under its own name.
    """

    declare: str
    reads: tuple
    changes: tuple
    show: str
    rebinds: bool = False
    lasting: bool = False
    noise: tuple = ()
    inside: str = ""
    argument: bool = False


def attributes(target: str) -> tuple[tuple, tuple]:
    """Reads and changes of the attribute `a` of an object."""
    reads = (f"{target}.a", f'getattr({target}, "a")', f"(lambda: {target}.a)()")
    changes = (
        f"{target}.a = {{v}}",
        f"{target}.a = ({target}.a + {{v}}) % 2.5",
        f'setattr({target}, "a", {{v}})',
    )
    return reads, changes


def _holder(declare: str, target: str, show: str | None = None, **options) -> Holder:
    reads, changes = attributes(target)
    return Holder(declare, reads, changes, show or f"{target}.a", **options)


_DICT_CHANGES = (
    '{h}["a"] = {v}',
    '{h}["a"] = ({h}["a"] + {v}) % 2.5',
    "{h}.update(a={v})",
    '{h} |= {"a": {v}}',
)
_DICT_READS = ('{h}["a"]', '{h}.get("a", 0.5)')
_LIST_CHANGES = (
    "{h}[0] = {v}",
    "{h}[0] = ({h}[0] + {v}) % 2.5",
    "{h}.append({v})\ndel {h}[:-3]",
    "{h}.insert(0, {v})\ndel {h}[3:]",
    "{h}.reverse()",
    "{h}[:] = [{v}]",
    "{h}.extend([{v}, 0.5])\n{h}.sort()\ndel {h}[2:]",
)

HOLDERS = {
    "number": Holder(
        "{h} = {v}",
        ("{h}", "(lambda: {h})()", "max({h}, 0.25)"),
        ("{h} = {v}", "{h} = ({h} + {v}) % 2.5"),
        "{h}",
        rebinds=True,
    ),
    "tuple": Holder(
        "{h} = ({v}, 1.0)",
        ("{h}[0]", "sum({h})", "len({h})"),
        ("{h} = ({v}, *{h}[:2])", "{h} = {h}[-1:]"),
        "{h}",
        rebinds=True,
    ),
    "namedtuple": Holder(
        '{h} = collections.namedtuple("P", "a b")({v}, 1.0)',
        ("{h}.a", "{h}[0]", "sum({h})"),
        ("{h} = {h}._replace(a={v})",),
        "{h}",
        rebinds=True,
    ),
    "list": Holder(
        "{h} = [{v}, 0.5]",
        ("{h}[0]", "sum({h})", "len({h})", "{h}[-1]", "max({h})", "sum(k for k in {h} if k)"),
        _LIST_CHANGES,
        "{h}",
    ),
    "dict": Holder(
        '{h} = {"a": {v}, "b": 0.5}',
        _DICT_READS,
        _DICT_CHANGES,
        "{h}",
        rebinds=True,
        noise=('{h}["unread"] = i',),
    ),
    "keys": Holder(
        '{h} = {"a": {v}}',
        (
            "len({h})",
            "sum({h}.values())",
            'int("b" in {h})',
            "[*{h}.values()][-1]",
            '[*map({h}.get, ["a"])][0]',
            '{**{h}}["a"]',
        ),
        (
            '{h}["b"] = {v}',
            '{h}.pop("b", None)',
            '{h}.setdefault("c", {v})',
            '{h}["a"] = {h}.pop("a")',
        ),
        "{h}",
    ),
    "namespace": _holder("{h} = types.SimpleNamespace(a={v})", "{h}", noise=("{h}.unread = i",)),
    "object": _holder("{h} = Box()\n{h}.a = {v}", "{h}", noise=("{h}.unread = i", "{h}.log = [i]")),
    "object's dict": Holder(
        "{h} = Box()\n{h}.a = {v}",
        ("{h}.a", 'vars({h})["a"]', '{h}.__dict__["a"]'),
        ('vars({h})["a"] = {v}', "{h}.__dict__.update(a={v})", "{h}.a = {v}"),
        "vars({h})",
    ),
    "slots": _holder("{h} = Slots()\n{h}.a = {v}", "{h}"),
    "property": Holder(
        "{h} = Guarded({v})",
        ("{h}.value", "{h}.twice"),
        ("{h}.value = {v}", "{h}._value = {v}"),
        "{h}._value",
    ),
    "class": _holder("class {h}:\n    a = {v}", "{h}", noise=("{h}.unread = i",)),
    "class of an object": Holder(
        '{h} = type("Kind", (), {"a": {v}})()',
        ("{h}.a", "type({h}).a", 'getattr({h}, "a", 0)'),
        ("type({h}).a = {v}", "{h}.a = {v}"),
        "({h}.a, type({h}).a)",
    ),
    "dataclass": _holder("{h} = Config({v})", "{h}", "{h}", noise=("{h}.unread = i",)),
    "array": Holder(
        "{h} = np.array([{v}, 0.5])",
        ("float({h}[0])", "float({h}.sum())", "{h}.tolist()[1]", "len({h})"),
        (
            "{h}[0] = {v}",
            "{h}[:] = {h}[::-1].copy()",
            "np.add({h}, {v}, out={h})\nnp.mod({h}, 2, out={h})",
            "{h}.fill({v})",
        ),
        "{h}",
    ),
    "deque": Holder(
        "{h} = collections.deque([{v}], maxlen=3)",
        ("sum({h})", "{h}[-1]", "len({h})"),
        ("{h}.append({v})", "{h}.appendleft({v})", "{h}.rotate(1)"),
        "{h}",
    ),
    "counter": Holder(
        "{h} = collections.Counter(a=1)",
        ('{h}["a"]', "sum({h}.values())", '{h}["missing"]'),
        ('{h}["a"] = ({h}["a"] + 1) % 4', '{h}.update("b")\n{h}["b"] %= 3'),
        "{h}",
    ),
    "set": Holder(
        "{h} = {1}",
        ("len({h})", "sum({h})", "int(2 in {h})"),
        ("{h}.add(2)", "{h}.discard(1)", "{h} ^= {1, 3}"),
        "{h}",
        rebinds=True,
    ),
    "bytes": Holder(
        "{h} = bytearray([1, 2])",
        ("{h}[0]", "sum({h})", "len({h})"),
        ("{h}[0] = ({h}[0] + 1) % 4", "{h}.append(1)\ndel {h}[3:]"),
        "{h}",
    ),
    "cell attribute": _holder("", "net", "net.a", inside="self.a = {v}"),
    "list in a cell": Holder(
        "",
        ("net.{h}[0]", "len(net.{h})", "sum(net.{h})"),
        tuple(change.replace("{h}", "net.{h}") for change in _LIST_CHANGES),
        "net.{h}",
        inside="self.{h} = [{v}]",
    ),
    "dict in a cell": Holder(
        "",
        ('net.{h}["a"]', 'net.{h}.get("b", 0)'),
        ('net.{h}["a"] = {v}', 'net.{h}["b"] = {v}', 'net.{h}.pop("b", None)'),
        "net.{h}",
        noise=('net.{h}["unread"] = i',),
        inside='self.{h} = {"a": {v}}',
    ),
    "dict of a cell": Holder(
        "",
        ("net.{h}",),
        ('net.__dict__["{h}"] = {v}', "vars(net).update({h}={v})", "net.{h} = {v}"),
        "net.{h}",
        inside="self.{h} = {v}",
    ),
    "training flag": Holder(
        "",
        ("int(net.training)",),
        ("net.set_train(not net.training)", "net.set_train()", "net.set_train(False)"),
        "net.training",
        inside="self.{h} = None",
    ),
    "nested": _holder('{h} = [{"box": Box()}]\n{h}[0]["box"].a = {v}', '{h}[0]["box"]'),
    "argument dict": Holder(
        '{h} = {"a": {v}}', _DICT_READS, _DICT_CHANGES[:3], "{h}", argument=True
    ),
    "argument list": Holder(
        "{h} = [{v}]", ("{h}[0]", "len({h})"), _LIST_CHANGES[:4], "{h}", argument=True
    ),
    "argument object": _holder("{h} = Box()\n{h}.a = {v}", "{h}", argument=True),
    "argument array": Holder(
        "{h} = np.array([{v}])", ("float({h}[0])",), ("{h}[0] = {v}",), "{h}", argument=True
    ),
    "function": Holder(
        "def {h}(by={v}):\n    return by\n{h}.a = 1.0",
        ("{h}()", "{h}.a"),
        ("{h}.a = {v}", "{h}.__defaults__ = ({v},)"),
        "({h}.a, {h}.__defaults__)",
    ),
    "rebound function": Holder(
        "def {h}():\n    return {v}",
        ("{h}()",),
        ("{h} = lambda: {v}", "{h} = functools.partial(float, {v})"),
        "{h}()",
        rebinds=True,
    ),
    "closure": Holder(
        "{h}_set, {h} = keeper({v})",
        ("{h}()",),
        ("{h}_set({v})", "{h}_set(({h}() + {v}) % 2.5)"),
        "{h}()",
    ),
    "partial": Holder(
        "{h} = functools.partial(lambda by: by, by={v})",
        ("{h}()", '{h}.keywords["by"]'),
        ('{h}.keywords["by"] = {v}', "{h} = functools.partial({h}, by={v})"),
        "{h}()",
        rebinds=True,
    ),
    "method": Holder(
        "{h} = Guarded({v})",
        ("{h}.get()",),
        ("{h}.get = lambda: {v}", "{h}._value = {v}"),
        "{h}.get()",
    ),
    "environment": Holder(
        'os.environ["{h}"] = str({v})',
        ('float(os.environ["{h}"] == "1.0")', 'len(os.getenv("{h}", ""))'),
        ('os.environ["{h}"] = str({v})',),
        'os.environ["{h}"]',
        lasting=True,
    ),
    "context variable": Holder(
        '{h} = contextvars.ContextVar("{h}", default={v})',
        ("{h}.get()",),
        ("{h}.set({v})",),
        "{h}.get()",
        lasting=True,
    ),
    "memo": Holder(
        "{h} = {}",
        ("{h}.setdefault(y.shape, len({h}) + {v})",),
        ("{h}.clear()", "{h}[y.shape] = {v}"),
        "sorted({h}.values())",
        lasting=True,
    ),
    "cached function": Holder(
        "{h}_a = [{v}]\n@functools.lru_cache\ndef {h}(k):\n    return {h}_a[0] + k",
        ("{h}(1)", "{h}({h}_a[0])"),
        ("{h}.cache_clear()", "{h}_a[0] = {v}"),
        "{h}.cache_info().currsize",
        lasting=True,
    ),
    "iterator": Holder(
        "{h} = itertools.cycle([{v}, 0.5, 2.0])", ("next({h})",), ("next({h})",), "0", lasting=True
    ),
    "generator": Holder(
        "{h} = counting({v})", ("next({h})",), ("next({h})\n{h}.send({v})",), "0", lasting=True
    ),
    "random": Holder(
        "{h} = random.Random(3)",
        ("{h}.randrange(3)", "{h}.choice([0.5, 1.0, 2.0])"),
        ("{h}.seed(5)", "{h}.random()"),
        "{h}.getstate()[1][-1]",
        lasting=True,
    ),
    "numpy random": Holder(
        "{h} = np.random.RandomState(3)",
        ("{h}.randint(3)", "{h}.choice([0.5, 1.0])"),
        ("{h}.seed(5)", "{h}.rand()"),
        "{h}.get_state()[2]",
        lasting=True,
    ),
    "parameter": Holder(
        '{h} = Parameter(Tensor({v}, ms.float32), name="{h}")',
        ("{h}", "float({h})", "(1.0 if {h} > 1 else 0.5)"),
        ("{h}.set_data(Tensor({v}, ms.float32))", "{h}.set_data(({h} + 0.5) % 2)"),
        "{h}",
        lasting=True,
    ),
    "tensor": Holder(
        "{h} = Tensor({v}, ms.float32)",
        ("{h}", "int({h})"),
        ("{h} = {h} * 0 + {v}", "{h} = Tensor({v}, ms.float32)"),
        "{h}",
        rebinds=True,
        lasting=True,
    ),
    "layers": Holder(
        "{h} = [nn.ReLU(), abs]",
        ("float({h}[0](Tensor([1.0, -1.0])).sum())", "len({h})", "{h}[-1](-1.5)"),
        ("{h}[0] = nn.Tanh()", "{h}.append(lambda k: k)\ndel {h}[:-2]", "{h}[1:] = [bool]"),
        "len({h})",
        lasting=True,
    ),
}

# What is done with a number that was read; `y` is the Tensor on its way.
USES = {
    "multiply": "y = y * {r}",
    "add": "y = y + {r}",
    "branch": "if {r} > 1:\n    y = y * 2\nelse:\n    y = y - 1",
    "choose": "y = ops.relu(y) if {r} else -y",
    "repeat": "for _ in range(int({r}) % 3):\n    y = y + 0.5",
    "while": "left = int({r}) % 4\nwhile left > 0:\n    y, left = y + 0.25, left - 1",
    "pick": "y = y * (1.0, 0.5, 2.0)[int({r}) % 3]",
    "print": 'print("seen", {r})',
    "format": 'print("{!r:>8}|".format({r}))',
    "comprehension": "y = y + sum([k * {r} for k in range(2)])",
    "lambda": "y = (lambda value: value * {r})(y)",
    "default": "def scaled(value, by={r}):\n    return value * by\n\ny = scaled(y)",
    "inner": "def inner(value):\n    return value + {r}\n\ny = inner(y)",
    "caught": (
        'try:\n    if {r} > 1:\n        raise KeyError("large")\n    y = y + 1\n'
        "except KeyError:\n    y = y * 0.5"
    ),
    "match": "match {r}:\n    case 1:\n        y = y * 3\n    case _:\n        y = y + 2",
    "local": "parts = [y]\nparts.append(y * {r})\ny = sum(parts)",
    "partial": "y = functools.partial(operator.mul, {r})(y)",
    "column": "y = y + y[:, int({r}) % 3].reshape(2, 1)",
    "raise": 'if {r} > 1.5:\n    raise ValueError("%s is not allowed" % {r})',
    "log": 'log.info("seen %s", {r})',
    "keep": "notes.append({r})\ndel notes[:-3]",
    "keep the tensor": "notes.append(y)\ndel notes[:-2]",
    "decide": "if bool(y.sum() > 0.3):\n    y = y * {r}",
    "value": "notes.append(float(y.sum()) > {r})\ndel notes[:-3]",
}
# Uses that have effects or depend on values: no replay can be asked for.
LASTING_USES = {"raise", "log", "keep", "keep the tensor", "decide", "value"}

# When the loop changes something; the first kinds happen once.
OUTSIDE = ("i == {k}", "i == {k}", "i % 3 == 2", "i % 2", "4 <= i < 9", "True")
# When the program itself does.
INSIDE = ("True", "True", "flag", "bool(y.sum() > 0.3)", "{r} > 1", "int({r}) % 2 == 0")

VALUES = ("0.5", "1.0", "1.5", "2.0", "0.25", "1.5", "1", "True", "0.0", "-0.0", "2", "0")

# Definitions that come first where a holder is made of them.
PREAMBLE = {
    "Box": "class Box:\n    pass",
    "Slots": 'class Slots:\n    __slots__ = ("a",)',
    "Guarded": """\
class Guarded:
    def __init__(self, value):
        self._value = value

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        self._value = value

    @property
    def twice(self):
        return self.value * 2

    def get(self):
        return self._value""",
    "Config": """\
@dataclasses.dataclass
class Config:
    a: float
    b: list = dataclasses.field(default_factory=list)""",
    "keeper": """\
def keeper(value):
    def put(new):
        nonlocal value
        value = new

    return put, lambda: value""",
    "counting": """\
def counting(start):
    k = start
    while True:
        got = yield k
        k = got if got is not None else (k + 0.5) % 2""",
}
