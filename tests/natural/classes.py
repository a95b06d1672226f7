# SPDX-License-Identifier: Apache-2.0
"""Class machinery: mixins, abstract bases, metaclasses, decorators, registries, callables."""

from __future__ import annotations

import abc
import types
import typing
from collections import UserDict, UserList

from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, program, vector, weight


@program
def mixins_and_super(jit):
    class Base(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(), name="w")

        @jit.construct
        def construct(self, x):
            return self.post(ops.matmul(self.pre(x), self.w))

        def pre(self, x):
            return x

        def post(self, x):
            return x

    class Scaled:
        scale = 2.0

        def pre(self, x):
            return super().pre(x) * self.scale

    class Counted:
        count = 0

        def post(self, x):
            self.count += 1
            return super().post(x) + self.count

    class Net(Scaled, Counted, Base):
        pass

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 7:
            Scaled.scale = 0.5
        return step(batch(i))

    return loop, lambda: (net.count, Net.scale)


@program
def bases_replaced(jit):
    class Quiet:
        def volume(self):
            return 1.0

    class Loud:
        def volume(self):
            return 8.0

    class Speaker(Quiet):
        pass

    speaker = Speaker()

    @jit.step
    def step(x):
        return x * speaker.volume()

    def loop(i):
        if i == 6:
            Speaker.__bases__ = (Loud,)
        return step(batch(i))

    return loop, lambda: Speaker.__mro__[1].__name__


@program
def abstract_strategy(jit):
    class Strategy(abc.ABC):
        @abc.abstractmethod
        def rate(self, step): ...

    class Constant(Strategy):
        def rate(self, step):
            return 1.0

    class Decay(Strategy):
        def __init__(self):
            self.seen = []

        def rate(self, step):
            self.seen.append(step)
            return 0.5**step

    strategies = {"constant": Constant(), "decay": Decay()}
    choice = "constant"

    @jit.step
    def step(x, i):
        return x * strategies[choice].rate(i)

    def loop(i):
        nonlocal choice
        choice = "decay" if i > 4 else "constant"
        return step(batch(i), i % 3)

    return loop, lambda: strategies["decay"].seen


@program
def metaclass_that_counts(jit):
    class Counting(type):
        made = 0

        def __call__(cls, *args):
            Counting.made += 1
            return super().__call__(*args)

    class Scale(metaclass=Counting):
        def __init__(self, by):
            self.by = by

    @jit.step
    def step(x):
        return x * Scale(2.0).by * Counting.made

    return (lambda i: step(batch(i))), lambda: Counting.made


@program
def methods_with_names_that_are_no_words(jit):
    class Scale:
        def by(self):
            return 1.0

    for name in ("class", "two words", "ﬁne", "__private", "for"):
        setattr(Scale, name, lambda self: 2.0)
    scale = Scale()

    def step(x):
        factors = [getattr(scale, name)() for name in ("class", "two words", "ﬁne", "__private")]
        return x * sum(factors) * scale.by()

    step = jit.step(step)

    def loop(i):
        if i == 6:
            setattr(Scale, "two words", lambda self: 3.0)
        if i == 8:
            Scale.by = lambda self: 5.0
        return step(batch(i))

    return loop, lambda: None


@program
def methods_that_come_from_elsewhere(jit):
    class Base:
        def factor(self):
            return 2.0

    class Scale(Base):
        factor = Base.factor

        def shift(self):
            return 1.0

    scale = Scale()
    step = jit.step(lambda x: x * scale.factor() + scale.shift())

    def loop(i):
        if i == 4:
            del Scale.factor  # the base has the same
        if i == 6:
            Base.factor = lambda self: 4.0
        if i == 8:
            Scale.shift = property(lambda self: lambda: 7.0)
        return step(batch(i))

    return loop, lambda: None


@program
def class_method_with_state(jit):
    class Ids:
        next_id = 0

        @classmethod
        def take(cls):
            cls.next_id += 1
            return cls.next_id

    @jit.step
    def step(x):
        return x + Ids.take()

    return (lambda i: step(batch(i))), lambda: Ids.next_id


@program
def static_method_patched(jit):
    class Maths:
        @staticmethod
        def act(x):
            return ops.relu(x)

    @jit.step
    def step(x):
        return Maths.act(x)

    def loop(i):
        if i == 7:
            Maths.act = staticmethod(ops.tanh)
        return step(batch(i))

    return loop, lambda: None


@program
def callable_object(jit):
    class Step:
        def __init__(self, net):
            self.net, self.calls, self.gain = net, 0, 1.0

        def __call__(self, x):
            self.calls += 1
            return self.net(x) * self.gain

    inner = Step(linear(jit))
    step = jit.step(inner)

    def loop(i):
        inner.gain = 1.0 + i // 6
        return step(batch(i))

    return loop, lambda: inner.calls


@program
def operators_overloaded(jit):
    class Scaled:
        uses = 0

        def __init__(self, value):
            self.value = value

        def __rmul__(self, other):
            Scaled.uses += 1
            return other * self.value

        def __bool__(self):
            return self.value > 1

        def __len__(self):
            return 3

    factor = Scaled(1.0)

    @jit.step
    def step(x):
        y = factor.__rmul__(x)
        return y * len(factor) if factor else y

    def loop(i):
        if i == 8:
            factor.value = 2.0
        return step(batch(i))

    return loop, lambda: Scaled.uses


@program
def user_containers(jit):
    class Notes(UserDict):
        writes = 0

        def __setitem__(self, key, value):
            self.writes += 1
            super().__setitem__(key, value)

    notes, stages = Notes(scale=1.0), UserList([1.0])

    @jit.step
    def step(x):
        for stage in stages:
            x = x * stage
        return x * notes["scale"]

    def loop(i):
        if i == 5:
            notes["scale"] = 2.0
        if i == 9:
            stages.append(0.5)
        return step(batch(i))

    return loop, lambda: (notes.writes, notes.data, stages.data)


@program
def own_sequence(jit):
    class Schedule:
        def __init__(self):
            self.values, self.reads = [1.0, 0.5, 0.25], 0

        def __getitem__(self, k):
            self.reads += 1
            return self.values[k]

        def __len__(self):
            return len(self.values)

    schedule = Schedule()

    @jit.step
    def step(x, k):
        return x * schedule[k % len(schedule)]

    return (lambda i: step(batch(i), i)), lambda: schedule.reads


@program
def own_iterator(jit):
    class Loader:
        def __init__(self):
            self.position = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.position == 5:
                self.position = 0
                raise StopIteration
            self.position += 1
            return self.position

    loader = Loader()

    @jit.step
    def step(x):
        for k in loader:
            return x * k
        return None

    return (lambda i: step(batch(i))), lambda: loader.position


@program
def typed_generic(jit):
    T = typing.TypeVar("T")

    class Ref(typing.Generic[T]):
        def __init__(self, value: T):
            self.value = value

    rate: Ref[float] = Ref[float](1.0)

    @jit.step
    def step(x):
        return x * rate.value

    def loop(i):
        if i % 6 == 5:
            rate.value *= 2
        return step(batch(i))

    return loop, lambda: rate.value


@program
def attribute_written_by_name(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls_0 = self.calls_1 = 0

        @jit.construct
        def construct(self, x, k):
            name = f"calls_{k}"
            setattr(self, name, getattr(self, name) + 1)
            return x * getattr(self, name)

    net = Net()
    step = jit.step(lambda x, k: net(x, k))
    return (lambda i: step(batch(i), i % 2)), lambda: (net.calls_0, net.calls_1)


@program
def dict_written_inside(jit):
    class State:
        def __init__(self):
            self.n = 0

    state = State()

    @jit.step
    def step(x):
        state.__dict__["n"] += 1
        vars(state)["extra"] = state.n * 2
        return x * state.extra

    return (lambda i: step(batch(i))), lambda: vars(state)


@program
def methods_bound_at_the_start(jit):
    class Net:
        gain = 1.0

        def act(self, x):
            return x * self.gain

    net = Net()
    act = net.act
    bound = types.MethodType(Net.act, net)

    @jit.step
    def step(x):
        return act(x) + bound(x)

    def loop(i):
        if i == 4:
            net.gain = 3.0
        if i == 9:
            Net.act = lambda self, x: x
        return step(batch(i))

    return loop, lambda: net.gain


@effect_free
def deep_hierarchy(jit):
    class Base(nn.Cell):
        width = 3

        def scale(self):
            return self.width**-0.5

    class Middle(Base):
        @property
        def gain(self):
            return self.scale() * 2

    class Net(Middle):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(), name="w")
            self.options = {"bias": True, "names": ("a", "b")}

        @jit.construct
        def construct(self, x):
            y = ops.matmul(x, self.w) * self.gain
            return y + 1 if self.options["bias"] else y

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None


@program
def a_number_class_on_the_right(jit):
    class Dual:
        uses = 0

        def __init__(self, value, slope):
            self.value, self.slope = value, slope

        def __radd__(self, other):
            return Dual(other + self.value, self.slope)

        def __rmul__(self, other):
            Dual.uses += 1
            return Dual(other * self.value, other * self.slope)

    number = Dual(Tensor(vector(1)), 1.0)

    def body(x):
        number.slope = float(Dual.uses % 3)
        result = x + x * number
        return result.value, result.slope

    step = jit.step(body)
    return (lambda i: step(Tensor(vector(i)))), lambda: Dual.uses
