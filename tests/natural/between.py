# SPDX-License-Identifier: Apache-2.0
"""Programs of one form each: state that is read before a site, changed in it, and read, or put
back, behind it."""

from __future__ import annotations

import array
import contextvars
import textwrap

import mycel as ms
from natural.families import NAMES, declare

NAMES.update(ms=ms, contextvars=contextvars, array_of=array.array)

# `{set}` sets the state to `new`; sites do it where they are told to.
PROGRAM = """\
def {name}(jit):
    box, table, row, array, members = Box(gain=1.0), {"gain": 1.0}, [1.0], np.ones(1), {1.0}
    queue, pairs, value = collections.deque([1.0]), [{"box": Box(gain=1.0)}], 1.0
    late, order = {"gain": 0.5}, {"a": 1, "b": 1}

    class Shared:
        gain = 1.0

        def ask(self):
            return 1.0

    class Slots:
        __slots__ = ("gain",)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gain, self.config = 1.0, {"gain": 1.0}

    slots, net, variable = Slots(), Net(), contextvars.ContextVar("gain", default=1.0)
    slots.gain = 1.0
    objects = np.array([1.0, None], object)
    raw, numbers = bytearray([1]), array_of("d", [1.0])
    cached = functools.lru_cache(lambda at: at)

    def put(new):
        nonlocal value
        {set}

    @ms.every_call
    def first(y):
{first}
        return y

    @ms.every_call
    def second(y):
{second}
        return y * 2

    @jit.step
    def step(x):
        nonlocal value
        y = x * {read}
        y = first(y)
{body}
        return second(y), {read}, box.__dict__.get("other", 3)

    def loop(i):
{outside}
        return step(batch(i)), step(batch(i + 1))

    def state():
        asked = cached.cache_info()
        return box.gain, table, row, array, sorted(members), queue, value, {read}, asked

    return loop, state
"""

# How a place is read and set.
PLACES = {
    "field": ("box.gain", "box.gain = new"),
    "key": ("table['gain']", "table['gain'] = new"),
    "element": ("row[0]", "row[0] = new"),
    "array": ("float(array[0])", "array[0] = new"),
    "closure": ("value", "value = new"),
    "objects": ("objects[0]", "objects[0] = new"),
    "bytes": ("float(raw[-1])", "raw.append(int(2 * new))"),
    "numbers": ("numbers[-1]", "numbers.append(new)"),
    "cache": ("cached(1.0)", "cached(new)"),
    "cache_cleared": ("cached(float(cached.cache_info().currsize))", "cached.cache_clear()"),
    "cache_emptied": ("cached(1.0)", "cached.cache_clear() if new < 1 else None"),
    "set": ("sum(members)", "members.clear(); members.add(new)"),
    "queue": ("queue[-1]", "queue.pop(); queue.append(new)"),
    "deep": ("pairs[0]['box'].gain", "pairs[0]['box'].gain = new"),
    "deep_object": ("pairs[0]['box'].gain", "pairs[0]['box'] = Box(gain=new)"),
    "length": ("float(len(row))", "row[1:] = [0] * int(2 * new)"),
    "new_key": ("table.get('a', 1.0)", "table.update(a=new) if new < 1 else table.pop('a', 0)"),
    "slot": ("slots.gain", "slots.gain = new"),
    "cell": ("net.gain", "net.gain = new"),
    "cell_dict": ("net.config['gain']", "net.config['gain'] = new"),
    "cell_fields": ("net.gain", "net.__dict__['gain'] = new"),
    "variable": ("variable.get()", "variable.set(new)"),
    "deleted": ("getattr(box, 'late', 1.0)", "box.late = new; new < 1 or delattr(box, 'late')"),
    "order": (
        "float([*order].index('a') + 1)",
        "key = 'b' if new == 1 else 'a'; order.update({key: order.pop(key)})",
    ),
    "method": ("Shared().ask()", "Shared.ask = lambda self: new"),
    "class": ("Shared.gain", "Shared.gain = new"),
}
# What the two sites, the body between them and the loop do.
FORMS = {
    # A replay is broken off behind the first site: the body has read the state before it.
    "now_and_then": ("if bool(y.sum() > 0.3): put(0.5)", "pass", "pass", "put(1.0)"),
    "once": ("if late['gain'] < 0.5: put(0.5)", "pass", "y = y + {read}", "late['gain'] = i == 9"),
    "behind_another": ("pass", "if bool(y.sum() > 0.3): put(0.5)", "y = y + {read}", "put(1.0)"),
    "in_both": (
        "if bool(y.sum() > 0.3): put(0.5)", "if bool(y.sum() > 0.6): put(0.25)",
        "y = y + {read}", "put(1.0)",
    ),
    # The body puts it back: a replay would leave what the site set.
    "put_back": ("put(0.5)", "pass", "put(1.0)", "pass"),
    "put_back_after_reading": ("put(0.5)", "pass", "y = y + {read}; put(1.0)", "pass"),
    # The second site puts it back, and the body reads between them what the first one set.
    "back_by_a_site": ("put(0.5)", "put(1.0)", "y = y + {read}", "pass"),
    "back_by_a_site_late": (
        "put(late['gain'])", "put(1.0)", "y = y + {read}", "late['gain'] = 0.5 if i < 7 else 0.25",
    ),
    "back_now_and_then": (
        "if bool(y.sum() > 0.3): put(0.5)", "put(1.0)", "y = y + {read}", "pass",
    ),
    # Something that nobody has read.
    "unread": ("box.other = 1", "del box.other", "put(1.0)", "pass"),
}  # fmt: skip

for _place, (_read, _set) in PLACES.items():
    for _form, (_first, _second, _body, _outside) in FORMS.items():
        _name = f"between_{_place}_{_form}"
        _text = PROGRAM.replace("{name}", _name).replace("{set}", _set)
        for _part, _lines in {
            "first": _first, "second": _second, "body": _body, "outside": _outside,
        }.items():  # fmt: skip
            _text = _text.replace(f"{{{_part}}}", textwrap.indent(_lines, " " * 8))
        declare(_name, _text.replace("{read}", _read))
