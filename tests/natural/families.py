# SPDX-License-Identifier: Apache-2.0
"""Programs of one form each: the ways to come to an object and read it, to change it, and the
methods with two underscores that Python calls by itself and that may be replaced.

Each entry is the part of a `construct` that differs; the rest of the program is the form's.
"""

from __future__ import annotations

import asyncio
import bisect
import collections
import concurrent.futures
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import linecache
import operator
import random
import re
import textwrap
import types

import numpy as np

from mycel import Parameter, nn, ops
from natural.common import Box, Natural, _declared, batch

NAMES = {
    **{module.__name__: module for module in (asyncio, bisect, collections, contextlib, copy)},
    "dataclasses": dataclasses,
    **{module.__name__: module for module in (functools, heapq, itertools, operator, types, re)},
    **{"random": random, "futures": concurrent.futures, "np": np, "nn": nn, "ops": ops},
    **{"Box": Box, "batch": batch, "Parameter": Parameter, "__name__": "natural.families"},
}

# `boxes[1].gain` is what each of them must find.
READING = """\
def {name}(jit):
    boxes = [Box(gain=1.0, at=1), Box(gain=2.0, at=2)]
    table = {"a": boxes[0], "b": boxes[1]}
    owner = Box(box=boxes[1], boxes=boxes, table=table)
    key, place = "b", 1

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
{body}
            return x * gain

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i in (5, 9):
            boxes[1].gain *= 0.5
        return step(batch(i))

    return loop, lambda: boxes[1].gain
"""

READS = {
    "element": "gain = boxes[1].gain",
    "element_by_a_name": "gain = boxes[place].gain",
    "key": "gain = table[key].gain",
    "last_element": "gain = boxes[-1].gain",
    "field_of_a_field": "gain = owner.box.gain",
    "element_of_a_field": "gain = owner.boxes[1].gain",
    "slice": "gain = boxes[1:][0].gain",
    "reversed_slice": "gain = boxes[::-1][0].gain",
    "copied_list": "gain = list(boxes)[1].gain",
    "copied_by_a_method": "gain = boxes.copy()[1].gain",
    "copied_by_copy": "gain = copy.copy(boxes)[1].gain",
    "copied_deeply": "gain = copy.deepcopy(owner).boxes[1].gain",
    "unpacked": "_, box = boxes\ngain = box.gain",
    "unpacked_rest": "first, *rest = boxes\ngain = rest[0].gain",
    "spread": "gain = [*boxes][1].gain",
    "spread_dict": "gain = {**table}[key].gain",
    "values": "gain = list(table.values())[1].gain",
    "items": "gain = [box for name, box in table.items() if name == key][0].gain",
    "loop": "for box in boxes:\n    gain = box.gain",
    "loop_on_one_line": "for box in boxes: gain = box.gain",
    "loop_with_an_else": "for box in boxes:\n    pass\nelse:\n    gain = box.gain",
    "enumerated": "gain = {k: box.gain for k, box in enumerate(boxes)}[1]",
    "zipped": "gain = dict(zip('ab', boxes))['b'].gain",
    "next_of_an_iterator": "walk = iter(boxes)\nnext(walk)\ngain = next(walk).gain",
    "greatest": "gain = max(boxes, key=lambda box: box.at).gain",
    "sorted": "gain = sorted(boxes, key=operator.attrgetter('at'))[-1].gain",
    "filtered": "gain = list(filter(lambda box: box.at == 2, boxes))[0].gain",
    "mapped": "gain = list(map(lambda box: box.gain, boxes))[1]",
    "mapped_getter": "gain = list(map(operator.attrgetter('gain'), boxes))[1]",
    "reduced": "gain = functools.reduce(lambda a, b: b, boxes).gain",
    "chained": "gain = list(itertools.chain(boxes, []))[1].gain",
    "sliced_iterator": "gain = next(itertools.islice(boxes, 1, 2)).gain",
    "largest_of_a_heap": "gain = heapq.nlargest(1, boxes, key=lambda box: box.at)[0].gain",
    "operator_getitem": "gain = operator.getitem(boxes, 1).gain",
    "item_getter": "gain = operator.itemgetter(1)(boxes).gain",
    "deque_of_them": "gain = collections.deque(boxes)[1].gain",
    "tuple_of_them": "gain = tuple(boxes)[1].gain",
    "set_of_them": "gain = max({box.at: box.gain for box in set(boxes)}.items())[1]",
    "choice": "gain = (boxes[1] if place else boxes[0]).gain",
    "either": "gain = (None or boxes[1]).gain",
    "walrus": "gain = box.gain if (box := boxes[place]) else 0",
    "semicolons": "box = boxes[0]; box = boxes[1]; gain = box.gain",
    "made_inside_around": "mine = Box(inner=boxes)\ngain = mine.inner[1].gain",
    "namespace_around": "mine = types.SimpleNamespace(b=boxes[1])\ngain = mine.b.gain",
    "list_inside_around": "mine = []\nmine.append(boxes[1])\ngain = mine.pop().gain",
    "dict_inside_around": "mine = {}\nmine.update(table)\ngain = mine.get('b').gain",
    "partial": "gain = functools.partial(lambda box: box.gain, boxes[1])()",
    "default_of_a_lambda": "gain = (lambda box=boxes[1]: box.gain)()",
    "closure_inside": "box = boxes[1]\n\ndef inner():\n    return box.gain\n\ngain = inner()",
    "star_arguments": "gain = (lambda first, second: second.gain)(*boxes)",
    "star_keywords": "gain = (lambda a, b: b.gain)(**table)",
    "generator": ("def walk():\n    yield from boxes\n\nfor box in walk():\n    gain = box.gain"),
    "generator_expression": "gain = sum(box.gain for box in boxes if box.at == 2)",
    "nested_comprehension": "gain = [b.gain for row in [boxes] for b in row if b.at > 1][0]",
    "context": (
        "@contextlib.contextmanager\ndef open_box():\n    yield boxes[1]\n\n"
        "with open_box() as box:\n    gain = box.gain"
    ),
    "null_context": "with contextlib.nullcontext(boxes[1]) as box:\n    gain = box.gain",
    "exception": (
        "try:\n    raise LookupError(boxes[1])\nexcept LookupError as error:\n"
        "    gain = error.args[0].gain"
    ),
    "matched_class": "match boxes[1]:\n    case Box(gain=found):\n        gain = found",
    "matched_sequence": "match boxes:\n    case [_, Box(gain=found)]:\n        gain = found",
    "matched_mapping": 'match table:\n    case {"b": box}:\n        gain = box.gain',
    "text": "gain = float(f'{boxes[1].gain}')",
    "text_of_format": "gain = float('{0[1].gain}'.format(boxes))",
    "vars": "gain = vars(boxes[1])['gain']",
    "dict_of_the_object": "gain = boxes[1].__dict__['gain']",
    "all_fields": "gain = dict(vars(boxes[1]).items())['gain']",
    "sum_of_fields": "gain = sum(v for k, v in vars(boxes[1]).items() if k == 'gain')",
    "getattr": "gain = getattr(boxes[1], 'gain')",
    "getattr_computed": "gain = getattr(boxes[1], 'ga' + 'in', 0)",
    "getattribute": "gain = object.__getattribute__(boxes[1], 'gain')",
    "method_of_the_dict": "gain = table.__getitem__('b').gain",
    "unbound_method": "gain = dict.get(table, 'b').gain",
    "array_of_objects": "gain = np.array(boxes, dtype=object)[1].gain",
    "numpy_vectorised": "gain = float(np.vectorize(lambda k: boxes[k].gain)(1))",
    "sorted_in_place": "mine = boxes[:]\nmine.sort(key=lambda box: -box.at)\ngain = mine[0].gain",
    "compared": "gain = 2.0 if boxes[1].gain == 2.0 else 1.0 if boxes[1].gain == 1.0 else 0.5",
    "chained_comparison": "gain = 3.0 if 0.75 < boxes[1].gain < 1.5 else 1.0",
    "contained": "gain = 3.0 if 1.0 in (box.gain for box in boxes[1:]) else 1.0",
    "conditional_effect_order": "gain = [0, [b for b in boxes][1].gain][len(boxes) - 1]",
    "evaluated": "gain = eval('boxes[1].gain', {'boxes': boxes})",
    "thread_pool": (
        "with futures.ThreadPoolExecutor(1) as pool:\n"
        "    gain = pool.submit(lambda: boxes[1].gain).result()"
    ),
    "event_loop": (
        "async def find():\n    await asyncio.sleep(0)\n    return boxes[1].gain\n\n"
        "gain = asyncio.run(find())"
    ),
    "recursion": (
        "def down(k):\n    return boxes[k].gain if k == 1 else down(k + 1)\n\ngain = down(0)"
    ),
    "class_inside": "class Mine:\n    box = boxes[1]\n\ngain = Mine.box.gain",
    "property_inside": (
        "class Mine:\n    @property\n    def gain(self):\n        return boxes[1].gain\n\n"
        "gain = Mine().gain"
    ),
    "regular_expression": "gain = float(re.sub('x', lambda m: str(boxes[1].gain), 'x'))",
    "while_loop": "k = 0\nwhile boxes[k].at < 2:\n    k += 1\ngain = boxes[k].gain",
    "finally_block": "try:\n    pass\nfinally:\n    gain = boxes[1].gain",
    "three_lines": "gain = (\n    boxes\n    [1]\n    .gain\n)",
    "bound_method_kept": "find = table.get\ngain = find('b').gain",
    "tuple_key": "mine = {(0, 1): boxes[1]}\ngain = mine[0, 1].gain",
}

# Each of them changes something of the outside at every call, and reads nothing for the result.
WRITING = """\
def {name}(jit):
    boxes = [Box(n=0, items=[]), Box(n=0, items=[])]
    table = {"a": {"n": 0}, "b": {"n": 0}}
    owner, row, rows = Box(box=boxes[1]), [0], [[0], [0]]
    array, queue, seen = np.zeros(3), collections.deque(), set()

    def pick():
        return boxes[1]

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
{body}
            return x * 2

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        return step(batch(i))

    def state():
        fields = [vars(box) for box in boxes]
        return fields, table, row, rows, array, queue, sorted(seen)

    return loop, state
"""

WRITES = {
    "field": "boxes[1].n += 1",
    "field_of_a_result": "pick().n += 1",
    "field_of_a_field": "owner.box.n += 1",
    "field_in_a_loop": "for box in boxes:\n    box.n += 1",
    "field_on_one_line": "for box in boxes: box.n += 1",
    "field_by_setattr": "setattr(boxes[1], 'n', boxes[1].n + 1)",
    "field_by_a_computed_name": "setattr(pick(), 'n' + '', boxes[1].n + 1)",
    "field_without_setattr": "object.__setattr__(boxes[1], 'n', boxes[1].n + 1)",
    "field_through_vars": "vars(boxes[1])['n'] += 1",
    "field_through_the_dict": "boxes[1].__dict__.update(n=boxes[1].n + 1)",
    "new_field": "boxes[1].__dict__.setdefault('made', []).append(1)",
    "list_of_a_field": "boxes[1].items.append(1)",
    "list_of_a_result": "pick().items.append(1)",
    "list_by_unbound_method": "list.append(boxes[1].items, 1)",
    "list_by_a_kept_method": "add = boxes[1].items.append\nadd(1)",
    "list_by_map": "list(map(boxes[1].items.append, [1]))",
    "list_extended": "mine = row\nmine += [1]",
    "list_by_operator": "operator.iadd(row, [1])",
    "list_sliced": "row[len(row):] = [1]",
    "list_inserted": "row.insert(0, len(row))",
    "list_of_lists": "rows[1][0] += 1",
    "list_unpacked_into": "rows[0][0], rows[1][0] = rows[1][0] + 1, rows[0][0]",
    "loop_variable_in_a_list": "for row[0] in range(row[0] + 2):\n    pass",
    "list_sorted_insert": "bisect.insort(row, -len(row))",
    "list_as_a_heap": "heapq.heappush(row, -len(row))",
    "list_shuffled": "row.append(len(row))\nrandom.Random(1).shuffle(row)",
    "list_deleted_from": "row.extend([5, 6])\ndel row[0]",
    "dict_item": "table['b']['n'] += 1",
    "dict_item_by_operator": "operator.setitem(table['b'], 'n', table['b']['n'] + 1)",
    "dict_updated": "table['b'].update(n=table['b']['n'] + 1)",
    "dict_unbound": "dict.update(table['b'], n=table['b']['n'] + 1)",
    "dict_joined": "inner = table['b']\ninner |= {'n': inner['n'] + 1}",
    "dict_of_a_loop": "for inner in table.values():\n    inner['n'] += 1",
    "dict_by_comprehension": "[inner.__setitem__('n', inner['n'] + 1) for inner in table.values()]",
    "dict_new_key": "table[len(table)] = {'n': 0}",
    "dict_popped": "table[len(table)] = table.pop('b', 0)",
    "set_added": "seen.add(len(seen))",
    "set_joined": "more = seen\nmore |= {len(seen)}",
    "deque_appended": "queue.append(len(queue))",
    "array_item": "array[1] += 1",
    "array_whole": "mine = array\nmine += 1",
    "array_by_out": "np.add(array, 1, out=array)",
    "array_by_at": "np.add.at(array, [0, 0], 1)",
    "array_through_a_view": "view = array[1:]\nview[0] += 1",
    "array_filled": "array.fill(array[0] + 1)",
    "array_by_copyto": "np.copyto(array, array + 1)",
    "array_reshaped_view": "array.reshape(3, 1)[2, 0] += 1",
    "array_sorted": "array[0] += 5\narray.sort()",
    "inside_a_function": "def add():\n    boxes[1].n += 1\n\nadd()",
    "inside_a_lambda": "(lambda: boxes[1].items.append(1))()",
    "inside_a_key": "sorted([2, 1], key=lambda k: row.append(k) or k)",
    "inside_a_comprehension": "[row.append(k) for k in range(2)]",
    "inside_a_generator": "def walk():\n    row.append(1)\n    yield 1\n\nlist(walk())",
    "inside_an_exception": ("try:\n    raise KeyError\nexcept KeyError:\n    boxes[1].n += 1"),
    "inside_a_finally": "try:\n    pass\nfinally:\n    boxes[1].n += 1",
    "inside_a_context": (
        "@contextlib.contextmanager\ndef scope():\n    yield\n    boxes[1].n += 1\n\n"
        "with scope():\n    pass"
    ),
    "inside_a_comparison": (
        "class Mine:\n    def __lt__(self, other):\n        boxes[1].n += 1\n"
        "        return True\n\nmin([Mine(), Mine()])"
    ),
    "inside_a_text": (
        "class Mine:\n    def __str__(self):\n        boxes[1].n += 1\n"
        "        return ''\n\nf'{Mine()}'"
    ),
    "inside_an_init": ("class Mine:\n    def __init__(self):\n        boxes[1].n += 1\n\nMine()"),
    "inside_a_class_body": "class Mine:\n    boxes[1].n += 1",
    "inside_a_decorator": (
        "def note(f):\n    row.append(1)\n    return f\n\n@note\ndef mine():\n    pass"
    ),
    "inside_a_vectorised": "np.vectorize(lambda k: row.append(int(k)) or 0)(1)",
    "inside_a_thread": (
        "with futures.ThreadPoolExecutor(1) as pool:\n"
        "    pool.submit(lambda: row.append(1)).result()"
    ),
    "inside_an_event_loop": "async def add():\n    row.append(1)\n\nasyncio.run(add())",
    "inside_a_substitution": "re.sub('x', lambda m: row.append(1) or 'y', 'x')",
    "by_short_circuit": "boxes and boxes[1].items.append(1)",
    "by_a_conditional": "boxes[1].items.append(1) if boxes else None",
    "by_a_walrus": "setattr(box := boxes[1], 'n', box.n + 1)",
    "by_semicolons": "box = boxes[0]; box = boxes[1]; box.n += 1",
    "by_executed_text": "exec('boxes[1].n += 1', {'boxes': boxes})",
    "by_a_partial": "functools.partial(setattr, boxes[1], 'n', boxes[1].n + 1)()",
    "by_an_argument": "def add(box):\n    box.n += 1\n\nadd(boxes[1])",
    "by_star_arguments": "def add(a, b):\n    b.n += 1\n\nadd(*boxes)",
    "in_a_copy_that_shares": "copy.copy(boxes[1]).items.append(1)",
    "in_a_list_that_shares": "[*boxes][1].n += 1",
    "by_a_match": "match boxes:\n    case [_, box]:\n        box.n += 1",
    "by_a_method_of_a_slice": "boxes[1:][0].n += 1",
    "by_a_sorted_copy": "sorted(boxes, key=id)[0].n += 1\nsorted(boxes, key=id)[1].n += 1",
    "by_an_iterator": "walk = iter(boxes)\nnext(walk).n += 1",
    "by_a_class_attribute": "type(self).boxes = boxes\nself.boxes[1].n += 1",
    "by_a_deep_field": "owner.__dict__['box'].__dict__['items'] += [1]",
}

# `thing` belongs to a class of which one method is replaced by the loop.
CALLED_BY_PYTHON = """\
def {name}(jit):
    class Thing:
        value = 2.0

        def {method}:
            return {first}

    thing = Thing()

    def later({arguments}):
        return {second}

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            return x * ({expression})

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            Thing.{called} = later
        if i == 10:
            Thing.value = 4.0
        return step(batch(i))

    return loop, lambda: None
"""

# By method: its arguments, what it gives first and later, and the expression that calls it.
METHODS = {
    "__add__": ("self, other", "self.value", "self.value + other", "thing + 1"),
    "__radd__": ("self, other", "self.value", "self.value + other", "1 + thing"),
    "__mul__": ("self, other", "self.value", "self.value * other", "thing * 2"),
    "__neg__": ("self", "self.value", "-self.value", "-thing"),
    "__eq__": ("self, other", "self.value > 3", "self.value == other", "1.0 + (thing == 2.0)"),
    "__lt__": ("self, other", "self.value > 3", "True", "1.0 + (thing < 1)"),
    "__bool__": ("self", "self.value > 3", "True", "2.0 if thing else 1.0"),
    "__len__": ("self", "int(self.value)", "1", "len(thing)"),
    "__contains__": ("self, other", "self.value > 3", "other == 1", "1.0 + (1 in thing)"),
    "__getitem__": ("self, key", "self.value", "key", "thing[3]"),
    "__iter__": ("self", "iter([self.value])", "iter([1.0, self.value])", "sum(thing)"),
    "__call__": ("self, k", "self.value", "k", "thing(3.0)"),
    "__float__": ("self", "self.value", "self.value + 1", "float(thing)"),
    "__int__": ("self", "int(self.value)", "7", "int(thing)"),
    "__index__": ("self", "int(self.value) % 3", "0", "[1.0, 2.0, 3.0][thing]"),
    "__str__": ("self", "str(self.value)", "'3.5'", "float(str(thing))"),
    "__repr__": ("self", "str(self.value)", "'3.5'", "float(f'{thing!r}')"),
    "__format__": ("self, how", "str(self.value)", "'3.5'", "float(f'{thing}')"),
    "__hash__": ("self", "int(self.value)", "9", "hash(thing)"),
    "__abs__": ("self", "self.value", "9.0", "abs(thing)"),
    "__round__": ("self, n=0", "self.value", "9.0", "round(thing)"),
    "__getattr__": ("self, name", "self.value", "len(name)", "thing.missing"),
    "__getattribute__": (
        "self, name",
        "object.__getattribute__(self, name)",
        "5.0",
        "thing.value",
    ),
    "__enter__": (
        "self",
        "self.value",
        "9.0",
        "(lambda: [t for t in [type(thing).__enter__(thing)]][0])()",
    ),
    "__matmul__": ("self, other", "self.value", "other", "thing @ 3.0"),
    "__divmod__": ("self, other", "(self.value, 1)", "(other, 2)", "divmod(thing, 3)[0]"),
    "__reversed__": ("self", "iter([self.value])", "iter([3.0])", "next(reversed(thing))"),
    "__pow__": ("self, other", "self.value", "other", "thing ** 3"),
    "__ror__": ("self, other", "self.value", "other", "3 | thing"),
    "__invert__": ("self", "self.value", "3.0", "~thing"),
    "__sizeof__": ("self", "int(self.value)", "3", "thing.__sizeof__()"),
    "__array__": (
        "self, dtype=None, copy=None",
        "np.array(self.value)",
        "np.array(3.0)",
        "float(np.asarray(thing))",
    ),
}


def declare(name: str, text: str) -> None:
    file = f"{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = dict(NAMES)
    exec(compile(text, file, "exec", dont_inherit=True), namespace)
    _declared(Natural(namespace[name]))


# A class is changed whose objects are made inside; `made` is one that `Made` makes.
MADE_INSIDE = """\
def {name}(jit):
    class Mother:
        kept, table = 1.0, {"a": 1.0}

        def inherited(self):
            return 1.0

    class Made(Mother):
        def __init__(self, gain=1.0):
            self.gain = gain

        def ask(self):
            return self.gain

        def __call__(self):
            return self.gain

        def __len__(self):
            return 1

        def __iter__(self):
            return iter((self.gain,))

        def __add__(self, other):
            return other + 1.0

        @property
        def asked(self):
            return self.gain

        @staticmethod
        def fixed():
            return 1.0

        @classmethod
        def make(cls):
            return cls(1.0)

    @dataclasses.dataclass
    class Data:
        gain: float = 1.0

        def ask(self):
            return self.gain

    outside = Made()

    def factory():
        return Made()

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            made = {made}
            return x * {read}

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            {change}
        return step(batch(i))

    return loop, lambda: None
"""

MAKERS = {
    "by_its_class": "Made()",
    "by_a_function": "factory()",
    "by_a_class_method": "Made.make()",
    "by_the_class_of_another": "type(outside)()",
    "by_the_field_class": "outside.__class__()",
    "by_copying": "copy.copy(outside)",
    "by_a_partial": "functools.partial(Made, 1.0)()",
    "in_a_list": "[Made()][0]",
    "in_a_loop": "[kind() for kind in (Made, Data)][0]",
    "of_a_new_class": "type('Child', (Made,), {})()",
    "by_new": "Made.__new__(Made, 1.0); made.gain = 1.0",
}
CHANGES = {
    "method": ("made.ask()", "Made.ask = lambda self: 2.0"),
    "inherited": ("made.inherited()", "Mother.inherited = lambda self: 2.0"),
    "overridden": ("made.inherited()", "Made.inherited = lambda self: 2.0"),
    "attribute": ("made.kept", "Mother.kept = 2.0"),
    "content": ("made.table['a']", "Mother.table['a'] = 2.0"),
    "by_name": ("getattr(made, 'kept')", "Mother.kept = 2.0"),
    "property": ("made.asked", "Made.asked = property(lambda self: 2.0)"),
    "static": ("made.fixed()", "Made.fixed = staticmethod(lambda: 2.0)"),
    "initializer": ("Made().gain", "Made.__init__ = lambda self: setattr(self, 'gain', 2.0)"),
    "called": ("made()", "Made.__call__ = lambda self: 2.0"),
    "length": ("len(made)", "Made.__len__ = lambda self: 2"),
    "iterated": ("sum(made)", "Made.__iter__ = lambda self: iter((2.0,))"),
    "operator": ("(made + 1.0)", "Made.__add__ = lambda self, other: 2.0"),
    "shadowed": ("made.gain", "Made.gain = property(lambda self: 2.0, lambda self, new: None)"),
    "code": ("made.ask()", "Made.ask.__code__ = (lambda self: 2.0).__code__"),
    "defaults": ("Made().gain", "Made.__init__.__defaults__ = (2.0,)"),
    "data": ("Data().ask()", "Data.ask = lambda self: 2.0"),
    "data_made": ("Data().gain", "Data.__init__ = lambda self: setattr(self, 'gain', 2.0)"),
    "bases": ("made.kept", "Made.__bases__ = (type('Other', (), {'kept': 2.0}),)"),
}

for _number, (_name, (_read, _change)) in enumerate(CHANGES.items()):
    for _maker in [*MAKERS, *MAKERS][_number % len(MAKERS) :][:4]:
        _full = f"made_{_maker}_{_name}"
        _text = MADE_INSIDE.replace("{name}", _full).replace("{made}", MAKERS[_maker])
        declare(_full, _text.replace("{read}", _read).replace("{change}", _change))

for _name, _body in READS.items():
    _text = READING.replace("{name}", f"read_{_name}")
    declare(f"read_{_name}", _text.replace("{body}", textwrap.indent(_body, " " * 12)))

for _name, _body in WRITES.items():
    _text = WRITING.replace("{name}", f"write_{_name}")
    declare(f"write_{_name}", _text.replace("{body}", textwrap.indent(_body, " " * 12)))

for _method, (_arguments, _first, _second, _expression) in METHODS.items():
    _name = f"replaced_{_method.strip('_')}"
    _text = CALLED_BY_PYTHON.replace("{name}", _name).replace("{arguments}", _arguments)
    _text = _text.replace("{method}", f"{_method}({_arguments})").replace("{called}", _method)
    _text = _text.replace("{first}", _first).replace("{second}", _second)
    declare(_name, _text.replace("{expression}", _expression))
