# SPDX-License-Identifier: Apache-2.0
"""Ways to compile and to call: methods, lambdas, partials, nested, from threads."""

from __future__ import annotations

import functools
import threading

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import BATCHES, batch, effect_free, linear, program, vector, weight


@program
def method_of_two_objects(jit):
    class Scale:
        def __init__(self, by):
            self.by, self.calls = by, 0

        @jit.step
        def apply(self, x):
            self.calls += 1
            return x * self.by

    one, two = Scale(1.0), Scale(2.0)

    def loop(i):
        if i == 8:
            two.by = 3.0
        return (one if i % 3 else two).apply(batch(i))

    return loop, lambda: (one.calls, two.calls)


@effect_free(states=2)
def method_of_two_objects_without_effect(jit):
    class Model:
        def __init__(self, scale):
            self.net = linear(jit, scale)

        @jit.step
        def predict(self, x):
            return self.net(x)

    one, two = Model(1.0), Model(2.0)
    return (lambda i: (one if i % 2 else two).predict(batch(i))), lambda: None


@program
def class_method_compiled(jit):
    class Maths:
        scale = 1.0

        @classmethod
        @jit.step
        def scaled(cls, x):
            return x * cls.scale

        @staticmethod
        @jit.step
        def doubled(x):
            return x * 2

    class Loud(Maths):
        scale = 4.0

    def loop(i):
        if i == 7:
            Maths.scale = 0.5
        kind = Loud if i % 4 == 3 else Maths
        return kind.scaled(kind.doubled(batch(i)))

    return loop, lambda: None


@program
def compiled_in_a_dict(jit):
    counts = {"train": 0, "eval": 0}

    def make(name):
        def run(x):
            counts[name] += 1
            return x * counts[name] if name == "train" else x

        return jit.step(run)

    runs = {name: make(name) for name in counts}
    return (lambda i: runs["eval" if i % 3 == 2 else "train"](batch(i))), lambda: counts


@program
def compiled_inside_compiled(jit):
    calls = []

    @jit.step
    def inner(x):
        calls.append("inner")
        return x * 2

    @jit.step
    def outer(x):
        calls.append("outer")
        return inner(x) + 1

    def loop(i):
        return inner(batch(i)) if i % 4 == 3 else outer(batch(i))

    return loop, lambda: calls


@program
def compiled_within_the_step(jit):
    scale = 1.0

    @jit.step
    def step(x):
        scaled = jit.step(lambda y: y * scale)
        return scaled(x)

    def loop(i):
        nonlocal scale
        scale = 1.0 + i // 5
        return step(batch(i))

    return loop, lambda: None


@program
def compiled_anew_at_every_call(jit):
    factor = 1.0

    def loop(i):
        nonlocal factor
        factor = 1.0 + i % 2
        step = jit.step(lambda x: x * factor)
        return step(batch(i)), step(batch(i))

    return loop, lambda: None


@program
def lambda_compiled(jit):
    state = {"k": 0}
    step = jit.step(lambda x: (state.update(k=state["k"] + 1), x * state["k"])[1])

    def loop(i):
        return step(batch(i))

    return loop, lambda: state


@program
def short_circuit_effects(jit):
    seen = []
    step = jit.step(lambda x, k: (k > 1 and seen.append(k)) or x * (len(seen) + 1))
    return (lambda i: step(batch(i), i % 3)), lambda: seen


@program
def partial_compiled(jit):
    counts = []

    def train(counts, x, *, scale):
        counts.append(scale)
        return x * scale * len(counts)

    step = jit.step(functools.partial(train, counts, scale=0.5))
    return (lambda i: step(batch(i))), lambda: counts


@program
def cell_compiled_whole(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.calls = Parameter(weight(), name="w"), 0

        def construct(self, x):
            self.calls += 1
            return ops.matmul(x, self.w) * self.calls

    net = Net()
    step = jit.step(net) if jit.way in ("step", "script") else net
    return (lambda i: step(batch(i))), lambda: net.calls


@program
def step_from_a_thread(jit):
    results = []

    @jit.step
    def step(x):
        results.append(threading.current_thread() is threading.main_thread())
        return x * len(results)

    def loop(i):
        if i % 3 < 2:
            return step(batch(i))
        out = []
        thread = threading.Thread(target=lambda: out.append(step(batch(i)).asnumpy()))
        thread.start()
        thread.join()
        return out

    return loop, lambda: results


@program
def state_changed_by_a_thread(jit):
    state = {"scale": 1.0}

    @jit.step
    def step(x):
        return x * state["scale"]

    def loop(i):
        if i == 7:
            thread = threading.Thread(target=lambda: state.update(scale=2.0))
            thread.start()
            thread.join()
        return step(batch(i))

    return loop, lambda: state


@program
def keyword_or_position(jit):
    @jit.step
    def step(x, scale=1.0, *, shift=0.0):
        return x * scale + shift

    def loop(i):
        x = batch(i)
        forms = [
            lambda: step(x),
            lambda: step(x, 2.0),
            lambda: step(x, scale=2.0),
            lambda: step(scale=2.0, x=x),
            lambda: step(x=x, shift=1.0),
            lambda: step(x, shift=1.0, scale=2.0),
        ]
        return forms[i % 6]()

    return loop, lambda: None


@program
def wrong_arguments(jit):
    @jit.step
    def step(x, scale):
        return x * scale

    def loop(i):
        if i % 4 == 2:
            try:
                step(batch(i))
            except TypeError as error:
                return "missing" in str(error)
        return step(batch(i), 2.0)

    return loop, lambda: None


@program
def static_arguments_of_all_kinds(jit):
    @jit.step
    def step(x, what):
        if isinstance(what, slice):
            return x[:, what]
        if what is Ellipsis or what is None:
            return x
        if isinstance(what, range):
            return sum(x[:, k] for k in what)
        return x * (len(what) if hasattr(what, "__len__") else 2), repr(what)

    kinds = [slice(0, 2), slice(1, 3), None, ..., range(2), range(1, 3), (1, 2.0), (1, 2)]
    kinds += ["ab", b"ab", frozenset({1}), 1j, 2**80, ms.float32]
    return (lambda i: step(batch(i), kinds[i])), lambda: None


@program
def nested_static_values(jit):
    @jit.step
    def step(x, options):
        return x * 1, repr(options)

    values = [(0.0,), (-0.0,), (0,), (False,), ([1],), ([True],), ({"a": 1},), ({"a": 1.0},)]
    return (lambda i: step(batch(i), values[i % 8])), lambda: None


@program
def not_a_number_as_argument(jit):
    @jit.step
    def step(x, best):
        return x if best != best else x * best

    nan = float("nan")
    return (lambda i: step(batch(i), nan if i % 5 < 3 else 2.0)), lambda: None


@program
def numpy_scalars_as_arguments(jit):
    @jit.step
    def step(x, k):
        return x * k, type(k).__name__

    kinds = [np.float32(1), np.float64(1), np.int64(1), 1.0, 1, np.bool_(True), True]
    return (lambda i: step(batch(i), kinds[i % 7])), lambda: None


@program
def iterator_as_argument(jit):
    @jit.step
    def step(xs):
        return sum(xs)

    def loop(i):
        data = [batch(i), batch(i + 1)]
        return step(iter(data)) if i % 2 else step(x * 2 for x in data)

    return loop, lambda: None


@program
def one_iterator_for_all_calls(jit):
    @jit.step
    def step(x, numbers):
        return x * next(numbers)

    numbers = iter(range(1, 100))
    return (lambda i: step(batch(i), numbers)), lambda: None


@program
def parameters_as_arguments(jit):
    ps = [Parameter(vector(), name="a"), Parameter(vector(2.0, 2.0, 2.0), name="b")]

    @jit.step
    def step(p, x):
        p.set_data(p * 0.5)
        return x * p, p.name

    return (lambda i: step(ps[i % 2], batch(i))), lambda: ps


@program
def view_of_an_argument_changed(jit):
    @jit.step
    def step(x):
        row = x[0]
        row += 1
        return x.sum(), row

    def loop(i):
        x = batch(i)
        return step(x), x

    return loop, lambda: None


@program
def result_changed_by_the_loop(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        return net(x), [x, {"y": x * 2}]

    def loop(i):
        out, rest = step(batch(i))
        out += 1
        rest.append(i)
        rest[1]["y"] = None
        return out, rest

    return loop, lambda: None


@program
def result_that_is_kept_state(jit):
    results = {"all": []}

    @jit.step
    def step(x):
        results["last"] = x * 2
        return results

    def loop(i):
        out = step(batch(i))
        out["all"].append(i)
        return out is results, len(out["all"])

    return loop, lambda: results


@program
def constant_results(jit):
    table = {"a": 1}

    @jit.step
    def step(x):
        x * 2
        return table, "text", (1, None)

    def loop(i):
        out = step(batch(i))
        if i == 6:
            table["a"] = 2
        return out, out[0] is table

    return loop, lambda: table


@program
def same_tensor_returned_twice(jit):
    @jit.step
    def step(x):
        y = x * 2
        return y, y, [y]

    def loop(i):
        a, b, c = step(batch(i))
        a += 1
        return a is b, c[0] is a, b

    return loop, lambda: None


@program
def kept_parameter_returned(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        net.weight.set_data(net.weight * 0.5)
        return net.weight, net

    def loop(i):
        w, same = step(batch(i))
        return w is net.weight, same is net, w

    return loop, lambda: net.weight


@program
def function_returned(jit):
    calls = [0]

    @jit.step
    def step(x):
        y = x * 2

        def again(k):
            calls[0] += 1
            return y * k

        return again

    return (lambda i: step(batch(i))(i)), lambda: calls


@program
def generator_returned(jit):
    @jit.step
    def step(x):
        return (x * k for k in range(2))

    def loop(i):
        made = step(batch(i))
        return [y for y in made], [y for y in made]

    return loop, lambda: None


@program
def object_returned(jit):
    class Out:
        made = 0

        def __init__(self, y):
            Out.made += 1
            self.y, self.number = y, Out.made

    @jit.step
    def step(x):
        return Out(x * 2)

    def loop(i):
        out = step(batch(i))
        return out.y, out.number

    return loop, lambda: Out.made


@effect_free
def fresh_object_returned(jit):
    class Out:
        def __init__(self, **values):
            self.__dict__.update(values)

    net = linear(jit)

    @jit.step
    def step(x):
        y = net(x)
        return [y, {"loss": y.sum(), "n": 2}, ("a", None)]

    def loop(i):
        y, rest, names = step(batch(i))
        rest["seen"] = i
        return Out(y=y).y, rest, names

    return loop, lambda: None


@program
def step_replaces_itself(jit):
    def first(x):
        nonlocal step
        step = jit.step(later)
        return x * 0

    def later(x):
        return x * 2

    step = jit.step(first)

    def loop(i):
        nonlocal step
        if i == 8:
            step = jit.step(first)
        return step(batch(i))

    return loop, lambda: None


@program
def types_of_inputs_vary(jit):
    kinds = []

    @jit.step
    def step(x):
        kinds.append(str(x.dtype))
        return x + x

    def loop(i):
        data = BATCHES[i % 3]
        kind = (np.float32, np.int32, np.float16, np.bool_)[i % 4]
        return step(Tensor(data.astype(kind)) if kind != np.bool_ else Tensor(data))

    return loop, lambda: kinds
