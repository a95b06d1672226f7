# SPDX-License-Identifier: Apache-2.0
"""Programs of one form: something is set to what it is already, until the loop sets it back."""

from __future__ import annotations

import textwrap

from natural.families import declare

AGAIN = """\
def {name}(jit):
    import contextvars, decimal, gc, logging, os, sys, threading, warnings

    box, table, row, array = Box(v=0), {"v": 0}, [0], np.zeros(2)
    variable, local, seen = contextvars.ContextVar("v", default=0), threading.local(), set()
    cells = nn.CellList([nn.ReLU()])
    weight, number = Parameter(np.zeros(2, np.float32), name="w"), 0

    class Kind:
        v = 0

    def function(by=0):
        return by

{setup}

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner, self.v = nn.Dropout(p=0.5), 0

        @jit.construct
        def construct(self, x):
            nonlocal number
{body}
            return x * 2

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        nonlocal number
        out, found = step(batch(i)), {show}
        if i in (4, 5, 9):
            {reset}
        return out, found

    return loop, lambda: {show}
"""

# What is set in the step, how the loop sets it back, and what is looked at.
WRITES = {
    "field": ("box.v = 1", "box.v = 0", "box.v"),
    "field_by_setattr": ("setattr(box, 'v', 1)", "box.v = 0", "box.v"),
    "field_through_vars": ("vars(box).update(v=1)", "box.v = 0", "box.v"),
    "field_without_setattr": ("object.__setattr__(box, 'v', 1)", "box.v = 0", "box.v"),
    "new_field": ("box.extra = 1", "del box.extra", "hasattr(box, 'extra')"),
    "field_removed": ("vars(box).pop('v', None)", "box.v = 3", "sorted(vars(box))"),
    "key": ("table['v'] = 1", "table['v'] = 0", "table"),
    "key_by_update": ("table.update(v=1)", "table['v'] = 0", "table"),
    "key_by_default": ("table.setdefault('w', 1)", "table.pop('w')", "table"),
    "key_removed": ("table.pop('v', None)", "table['v'] = 0", "table"),
    "dict_cleared": ("table.clear()", "table['v'] = 0", "table"),
    "element": ("row[0] = 1", "row[0] = 0", "row"),
    "element_by_slice": ("row[:] = [1]", "row[0] = 0", "row"),
    "list_cleared": ("row.clear()", "row.append(2)", "row"),
    "list_sorted": ("row.sort()", "row[:] = [3, 1, 2]", "row"),
    "list_reversed_twice": ("row.reverse(); row.reverse()", "row.append(1)", "row"),
    "array_item": ("array[0] = 1", "array[0] = 0", "array"),
    "array_filled": ("array.fill(1)", "array[1] = 0", "array"),
    "array_clipped": ("np.clip(array, 0, 1, out=array)", "array[1] = 5", "array"),
    "array_copied_into": ("np.copyto(array, 1)", "array[1] = 5", "array"),
    "set_added": ("seen.add(1)", "seen.clear()", "seen"),
    "set_removed": ("seen.discard(1)", "seen.add(1)", "seen"),
    "closure": ("number = 1", "number = 0", "number"),
    "class_attribute": ("Kind.v = 1", "Kind.v = 0", "Kind.v"),
    "class_attribute_by_setattr": ("setattr(Kind, 'v', 1)", "Kind.v = 0", "Kind.v"),
    "function_field": ("function.v = 1", "function.v = 0", "function.v"),
    "function_default": (
        "function.__defaults__ = (1,)",
        "function.__defaults__ = (0,)",
        "function()",
    ),
    "cell_field": ("self.v = 1", "net.v = 0", "net.v"),
    "cell_field_through_the_dict": ("self.__dict__['v'] = 1", "net.v = 0", "net.v"),
    "cell_rate": ("self.inner.p = 0.25", "net.inner.p = 0.5", "net.inner.p"),
    "cell_training": ("self.inner.set_train(False)", "net.set_train()", "net.inner.training"),
    "cell_list": ("cells[0].v = 1", "cells[0].v = 0", "getattr(cells[0], 'v', 0)"),
    "weight_flag": (
        "weight.requires_grad = False",
        "weight.requires_grad = True",
        "weight.requires_grad",
    ),
    "weight_name": ("weight.name = 'frozen'", "weight.name = 'w'", "weight.name"),
    "weight_field": ("weight.v = 1", "weight.v = 0", "weight.v"),
    "weight_value": ("weight.set_data(weight * 0 + 1)", "weight[0] = 5.0", "weight"),
    "context_variable": ("variable.set(1)", "variable.set(0)", "variable.get()"),
    "thread_local": ("local.v = 1", "local.v = 0", "local.v"),
    "environment": (
        "os.environ['NATURAL'] = '1'",
        "os.environ['NATURAL'] = '0'",
        "os.environ['NATURAL']",
    ),
    "log_level": (
        "logging.getLogger('natural.again').setLevel('ERROR')",
        "logging.getLogger('natural.again').setLevel('INFO')",
        "logging.getLogger('natural.again').level",
    ),
    "numpy_errors": (
        "np.seterr(divide='ignore')",
        "np.seterr(divide='raise')",
        "np.geterr()['divide']",
    ),
    "numpy_printing": (
        "np.set_printoptions(precision=3)",
        "np.set_printoptions(precision=8)",
        "np.get_printoptions()['precision']",
    ),
    "decimals": (
        "decimal.getcontext().prec = 5",
        "decimal.getcontext().prec = 28",
        "decimal.getcontext().prec",
    ),
    "collector": ("gc.disable()", "gc.enable()", "gc.isenabled()"),
    "recursion_limit": (
        "sys.setrecursionlimit(limit + 1)",
        "sys.setrecursionlimit(limit)",
        "sys.getrecursionlimit() - limit",
    ),
    "seed_of_python": ("random.seed(1)", "random.random()", "random.getstate()[1][-1]"),
    "seed_of_numpy": ("np.random.seed(1)", "np.random.rand()", "np.random.get_state()[2]"),
    "state_of_a_generator": ("rng.setstate(start)", "rng.random()", "rng.getstate()[1][-1]"),
    "module_field": ("module.v = 1", "module.v = 0", "module.v"),
    "global": ("globals()['NATURAL'] = 1", "globals()['NATURAL'] = 0", "globals()['NATURAL']"),
    "deque": ("queue.append(1)", "queue.clear()", "queue"),
    "iterator_made_anew": ("box.v = iter([1, 2])", "next(box.v)", "next(box.v)"),
    "list_made_anew": ("box.v = [1]", "box.v.append(2)", "box.v"),
    "object_made_anew": ("box.v = Box(w=1)", "box.v.w = 2", "box.v.w"),
    "lambda_made_anew": ("box.v = lambda: 1", "box.v.w = 2", "getattr(box.v, 'w', 0)"),
    "array_made_anew": ("box.v = np.ones(1)", "box.v[0] = 2", "box.v"),
    "tensor_made_anew": ("box.v = x * 1", "box.v[0] = 2.0", "box.v"),
    "signal_handler": (
        "signal.signal(signal.SIGUSR2, signal.SIG_IGN)",
        "signal.signal(signal.SIGUSR2, signal.SIG_DFL)",
        "signal.getsignal(signal.SIGUSR2).name",
    ),
}

SETUPS = {
    "log_level": "jit.undo(logging.getLogger('natural.again').setLevel, 0)",
    "numpy_errors": "jit.undo(lambda errors=np.geterr(): np.seterr(**errors))",
    "numpy_printing": "jit.undo(lambda now=np.get_printoptions(): np.set_printoptions(**now))",
    "decimals": "jit.undo(setattr, decimal.getcontext(), 'prec', decimal.getcontext().prec)",
    "collector": "jit.undo(gc.enable)",
    "recursion_limit": "limit = sys.getrecursionlimit()\njit.undo(sys.setrecursionlimit, limit)",
    "state_of_a_generator": "rng = random.Random(3)\nstart = rng.getstate()",
    "module_field": "module = types.ModuleType('natural_module')\nmodule.v = 0",
    "deque": "queue = collections.deque(maxlen=2)",
    "signal_handler": "import signal\njit.undo(signal.signal, signal.SIGUSR2, signal.SIG_DFL)",
}

for _name, (_body, _reset, _show) in WRITES.items():
    _text = AGAIN.replace("{name}", f"again_{_name}").replace("{reset}", _reset)
    _text = _text.replace("{setup}", textwrap.indent(SETUPS.get(_name, ""), " " * 4))
    _text = _text.replace("{show}", _show)
    declare(f"again_{_name}", _text.replace("{body}", textwrap.indent(_body, " " * 12)))
