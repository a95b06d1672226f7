# SPDX-License-Identifier: Apache-2.0
"""Programs of one form each: states that change and come back within a line, and values that
compare equal though a program can tell them apart."""

from __future__ import annotations

import dataclasses
import decimal
import textwrap

import mycel as ms
from natural.families import NAMES, declare


class Text(str):
    pass


class Number(int):
    pass


class Pair(tuple):
    pass


@dataclasses.dataclass
class Data:
    value: object


NAMES.update(ms=ms, decimal=decimal, Text=Text, Number=Number, Pair=Pair, Data=Data)

# `boxes[1].gain` is what each of them must find; all that was changed is put back.
AND_BACK = """\
def {name}(jit):
    boxes = [Box(gain=1.0), Box(gain=2.0)]
    owner, stack, table = Box(box=boxes[0], k=0), [boxes[0]], {"b": boxes[0]}
    row, array, place = [0], np.zeros(1), 0

    @contextlib.contextmanager
    def using(box):
        before, owner.box = owner.box, box
        yield box
        owner.box = before

    def put(k):
        nonlocal place
        place = k
        return k

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            nonlocal place
{body}
            return x * gain

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i in (5, 9):
            boxes[1].gain *= 0.5
        return step(batch(i))

    return loop, lambda: (owner.k, len(stack), sorted(table), row, array, place)
"""

ORDERS = {
    "stack_on_one_line": "stack.append(boxes[1]); gain = stack[-1].gain; stack.pop()",
    "stack_in_a_tuple": "gain = (stack.append(boxes[1]), stack[-1].gain, stack.pop())[1]",
    "stack_on_three_lines": "stack.append(boxes[1])\ngain = stack[-1].gain\nstack.pop()",
    "field_on_one_line": "owner.box = boxes[1]; gain = owner.box.gain; owner.box = boxes[0]",
    "field_on_three_lines": "owner.box = boxes[1]\ngain = owner.box.gain\nowner.box = boxes[0]",
    "field_by_setattr": (
        "gain = [setattr(owner, 'box', boxes[1]), owner.box.gain, "
        "setattr(owner, 'box', boxes[0])][1]"
    ),
    "key_on_one_line": "table['c'] = boxes[1]; gain = table['c'].gain; del table['c']",
    "key_in_a_tuple": "gain = (table.update(c=boxes[1]), table['c'].gain, table.pop('c'))[1]",
    "number_on_one_line": "place = 1; gain = boxes[place].gain; place = 0",
    "number_by_a_function": "gain = (put(1), boxes[place].gain, put(0))[1]",
    "number_as_an_index": "gain = boxes[put(1)].gain; put(0)",
    "item_on_one_line": "row[0] = 1; gain = boxes[row[0]].gain; row[0] = 0",
    "array_on_one_line": "array[0] = 1; gain = boxes[int(array[0])].gain; array[0] = 0",
    "with_on_one_line": "with using(boxes[1]): gain = owner.box.gain",
    "with_on_two_lines": "with using(boxes[1]):\n    gain = owner.box.gain",
    "with_by_an_exit_stack": (
        "with contextlib.ExitStack() as exits:\n"
        "    exits.enter_context(using(boxes[1]))\n    gain = owner.box.gain"
    ),
    "loop_on_one_line": "for owner.k in (0, 1): gain = boxes[owner.k].gain\nowner.k = 0",
    "while_on_one_line": (
        "while owner.k < 1: owner.k += 1; gain = boxes[owner.k].gain\nowner.k = 0"
    ),
    "comprehension_on_one_line": (
        "gain = [(put(k), boxes[place].gain)[1] for k in (0, 1)][1]; put(0)"
    ),
    "swapped_on_one_line": "a, b = boxes; a, b = b, a; gain = a.gain",
    "list_swapped_on_one_line": "boxes.reverse(); gain = boxes[0].gain; boxes.reverse()",
    "class_swapped": (
        "before, owner.__class__ = owner.__class__, type('Other', (Box,), {'b': boxes[1]}); "
        "gain = owner.b.gain; owner.__class__ = before"
    ),
    "generator_between": (
        "def walk():\n    owner.box = boxes[1]\n    yield\n    owner.box = boxes[0]\n\n"
        "g = walk(); next(g); gain = owner.box.gain; next(g, None)"
    ),
    "finally_on_the_way": (
        "try:\n    owner.box = boxes[1]\n    gain = owner.box.gain\nfinally:\n"
        "    owner.box = boxes[0]"
    ),
    "error_on_the_way": (
        "try:\n    table['c'] = boxes[1]; table['missing']\nexcept KeyError:\n"
        "    gain = table.pop('c').gain"
    ),
    "popped_and_put_back": "box = boxes.pop(); gain = box.gain; boxes.append(box)",
    "argument_order": "gain = (lambda k, box: box.gain)(put(1), boxes[place]); put(0)",
    "default_order": (
        "def inner(k=put(1), box=boxes[place]):\n    return box.gain\n\ngain = inner(); put(0)"
    ),
    "keyword_order": "gain = dict(k=put(1), gain=boxes[place].gain)['gain']; put(0)",
    "text_order": "gain = float(f'{put(1)}:{boxes[place].gain}'[2:]); put(0)",
    "subscript_order": "gain = {0: 0, 1: boxes}[put(1)][place].gain; put(0)",
    "comparison_order": "gain = 3.0 if put(1) <= boxes[place].gain < 9 else 1.5; put(0)",
    "condition_order": "gain = boxes[place].gain if put(1) else 0; put(0)",
    "shortcut_order": "gain = put(1) and boxes[place].gain; put(0)",
    "unpacking_order": "owner.k, gain = 1, boxes[1].gain; owner.k = 0",
    "target_order": "row[0], gain = 1, [boxes[k].gain for k in (row[0] + 1,)][0]; row[0] = 0",
    "augmented": "gain = 0.0; gain += boxes[put(1)].gain; gain -= put(0)",
    "deep_chain": "owner.k = 1; gain = [boxes][0][[owner][0].k].gain; owner.k = 0",
}

# One value is put where an equal one was.
EQUAL = """\
def {name}(jit):
    nan = float("nan")
    first, second = {first}, {second}
    config, row = {"v": first}, [first]
    owner, value = Box(v=first), first

    def tag(v):
        return f"{type(v).__name__} {v!r}"

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            v = {read}
            return x * 2, tag(v), v is second

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        nonlocal value
        now = second if 5 <= i < 9 else first
        config["v"] = row[0] = owner.v = value = now
        return step(batch(i))

    return loop, lambda: None
"""

# It is given out, and nothing else tells it.
GIVEN_OUT = EQUAL.replace("return x * 2, tag(v), v is second", "{how}")
WAYS_OUT = {
    "returned": "return x * 2, v",
    "printed": "print('seen', v); return x * 2",
    "printed_by_a_method": "x = x * 2; print(f'seen {[v]}'); return x",
    "kept": "return {'x': x * 2, 'v': [v]}",
    "given_to_a_site": "return ms.every_call(lambda x, v: (print(repr(v)), x)[1])(x * 2, v)",
    "enclosed": "return ms.every_call(lambda x: (print(repr(v)), x)[1])(x * 2)",
}

PAIRS = {
    "true": ("1", "True"),
    "float": ("1", "1.0"),
    "complex": ("1.0", "1 + 0j"),
    "minus_zero": ("0.0", "-0.0"),
    "complex_minus_zero": ("complex(0.0, 0.0)", "complex(0.0, -0.0)"),
    "text_subclass": ("'a'", "Text('a')"),
    "number_subclass": ("2", "Number(2)"),
    "tuple_of_true": ("(1, 2)", "(True, 2)"),
    "tuple_of_minus_zero": ("(0.0,)", "(-0.0,)"),
    "tuple_subclass": ("(1,)", "Pair((1,))"),
    "frozen_set_of_true": ("frozenset({1})", "frozenset({True})"),
    "numpy_integer": ("1", "np.int64(1)"),
    "numpy_float": ("0.5", "np.float32(0.5)"),
    "numpy_minus_zero": ("np.float32(0.0)", "np.float32(-0.0)"),
    "numpy_type": ("np.float32(0.5)", "np.float64(0.5)"),
    "not_a_number": ("nan", "0.5"),
    "list_of_true": ("[1]", "[True]"),
    "dict_of_true": ("{1: 0}", "{True: 0}"),
    "dict_order": ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
    "array_type": ("np.zeros(2, np.int32)", "np.zeros(2, np.int64)"),
    "array_minus_zero": ("np.zeros(1)", "-np.zeros(1)"),
    "array_shape": ("np.zeros((1, 2))", "np.zeros((2, 1))"),
    "array_layout": ("np.eye(2)", "np.asfortranarray(np.eye(2))"),
    "range_of_equal_length": ("range(0, 2)", "range(0, 2, 1)"),
    "slice_of_true": ("slice(0, 1)", "slice(0, True)"),
    "decimal_digits": ("decimal.Decimal('1.0')", "decimal.Decimal('1.00')"),
    "set_of_true": ("{1}", "{True}"),
    "queue_of_true": ("collections.deque([1])", "collections.deque([True])"),
    "bytes_array": ("b'a'", "bytearray(b'a')"),
    "data": ("Data(1)", "Data(True)"),
    "complex_in_a_list": ("[0j]", "[-0.0 + 0j]"),
}
PLACES = {"key": "config['v']", "element": "row[0]", "field": "owner.v", "closure": "value"}

for _name, _body in ORDERS.items():
    _text = AND_BACK.replace("{name}", f"order_{_name}")
    declare(f"order_{_name}", _text.replace("{body}", textwrap.indent(_body, " " * 12)))

for _number, (_name, (_first, _second)) in enumerate(PAIRS.items()):
    # Each pair in two of the four places.
    for _place in [*PLACES, *PLACES][_number % 4 :][:2]:
        _full = f"equal_{_name}_{_place}"
        _text = EQUAL.replace("{name}", _full).replace("{read}", PLACES[_place])
        declare(_full, _text.replace("{first}", _first).replace("{second}", _second))
    for _way in [*WAYS_OUT, *WAYS_OUT][_number % len(WAYS_OUT) :][:3]:
        _full = f"{_way}_{_name}"
        _text = GIVEN_OUT.replace("{name}", _full).replace("{how}", WAYS_OUT[_way])
        _text = _text.replace("{read}", PLACES["field"])
        declare(_full, _text.replace("{first}", _first).replace("{second}", _second))
