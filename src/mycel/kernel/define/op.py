# SPDX-License-Identifier: Apache-2.0
"""What an operation is: a pure function on arrays with its static attributes bound."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import backend, errors
from mycel.kernel.base.places import is_ours, user_place
from mycel.kernel.base.signals import came_from_outside, undisturbed
from mycel.kernel.define.aval import Aval, aval_of
from mycel.kernel.define.bounds import Bounds, check_kinds
from mycel.kernel.define.names import name_of, public_name
from mycel.kernel.define.pattern import MOST_PATTERNS, Pattern, open_inputs
from mycel.kernel.define.reasons import called_by, in_our_words

# Signatures whose lengths are open that are kept whole; of older ones only what they are made of.
MOST_OPENED = 2048
# It is also asked for by what it guards: a record that is read makes signatures again.
_lock = threading.RLock()


class Signature:
    """An Op applied to inputs of known avals: its number is what a record keeps of it."""

    __slots__ = (
        "arity",
        "aval",
        "bounds",
        "id",
        "inputs",
        "op",
        "opened",
        "outputs",
        "single",
        "special",
    )

    def __init__(self, op: Op, inputs: tuple[Aval, ...], outputs: tuple[Aval, ...], single: bool):
        # The pattern it is of, with the sizes of its open lengths; None if it is of none.
        self.opened: tuple[Pattern, tuple[int, ...]] | None = None
        self.op = op
        self.inputs = inputs
        self.arity = len(inputs)
        self.outputs = outputs
        self.single = single
        self.aval = outputs[0]
        # What its inputs may hold, if they point to something.
        limits = () if op.bounds is None else op.bounds(inputs)
        self.bounds = tuple([bounds for bounds in limits if bounds.are_limits])
        # Whether only `record` may take it: it looks at indices, or runs what others wait for.
        self.special = bool(self.bounds) or op.collective
        self.id = -1


class Signatures:
    """Signatures by number: a recorded program is a list of these numbers and of slots.

    Where lengths change at each call there are always new ones, 1.2 KB each with what finds them.
    So of those with open lengths the latest are kept whole. Of an older one its pattern and sizes
    are kept, and its number: it is made again where a record has it, or an operator is called so.
    """

    def __init__(self):
        self._known: list[Signature | tuple[Op, Pattern, tuple[int, ...]]] = []
        self._opened: deque[int] = deque()

    def __len__(self):
        return len(self._known)

    def __getitem__(self, number: int) -> Signature:
        known = self._known[number]
        return known if isinstance(known, Signature) else self._made_again(number)

    def add(self, signature: Signature) -> None:
        """Give a signature its number."""
        signature.id = len(self._known)
        self._known.append(signature)

    def opened(self, signature: Signature) -> None:
        """Note one whose lengths are open, and forget the longest known ones if there are many."""
        assert signature.opened is not None
        self._opened.append(signature.id)
        while len(self._opened) > MOST_OPENED:
            oldest = self._known[self._opened.popleft()]
            if isinstance(oldest, Signature) and oldest.opened is not None:
                pattern, sizes = oldest.opened
                pattern.numbers[sizes] = oldest.id
                self._known[oldest.id] = oldest.op, pattern, sizes
                oldest.op.forget(oldest)

    def _made_again(self, number: int) -> Signature:
        with _lock:
            known = self._known[number]
            if isinstance(known, Signature):
                return known
            op, pattern, sizes = known
            again = Signature(op, pattern.avals(sizes), pattern.outputs(sizes), pattern.single)
            again.opened, again.id = (pattern, sizes), number
            self._known[number] = again
            self.opened(again)
            return again


signatures = Signatures()


class Op:
    """A named pure function; its derivative is another Op, so derivatives of any order exist.

    Attributes:
        rule: an optional reverse written in Python over recorded values,
            `rule(inputs, outputs, cotangents, mask) -> list`, for what needs no array function.
        repeats: whether the rule records the same for the same record; not if it calls the user's.
        fallible: it can fail while running, so its segment is waited for.
        names: its public names, as `ops.relu`; of a reverse those of the operator; None for what
            no definition made.
        bounds: what its indices may hold, by the avals of its inputs; None if it has none.
        rearranges: its output has just the elements of its one input, integers unchanged.
        gives_shares: its output lies between 0 and 1, or is NaN.
        origin: what its function is, `make(source, *rest)`, where the source is a definition, or
            the operator that it is the reverse of; None if nobody says.
        reads: how often it reads its inputs in loops that XLA cannot join with what made them; 0
            if it can (see tuning.materialize).
        one, two, many: signatures by the avals of one, two or any inputs.
        patterns: what was traced with open lengths, by its inputs.
    """

    __slots__ = (
        "_batched",
        "_inlined",
        "_jitted",
        "_reverses",
        "bounds",
        "fallible",
        "function",
        "gives_shares",
        "many",
        "name",
        "names",
        "one",
        "origin",
        "patterns",
        "reads",
        "rearranges",
        "repeats",
        "rule",
        "two",
    )

    # Only markers on the tape may be otherwise (see record.marker).
    eager = pairwise = False
    # Whether gradients by its results are asked for, whatever it depends on: another process waits.
    begins = False
    # Whether processes compute it together (see define.collective).
    collective = False

    def __init__(self, name: str, function: Callable, rule: Callable | None = None, fallible=False):
        self.name = name
        self.names: list[str] | None = None
        self.function = function
        self.rule = rule
        self.repeats = True
        self.fallible = fallible
        self.reads = 0
        self.bounds: Callable[[tuple[Aval, ...]], tuple[Bounds, ...]] | None = None
        self.rearranges = self.gives_shares = False
        self.origin: tuple | None = None
        self._jitted = self._inlined = None
        self.one: dict[Aval, Signature] = {}
        self.two: dict[Aval, dict[Aval, Signature]] = {}
        self.many: dict[tuple[Aval, ...], Signature] = {}
        self.patterns: dict[tuple, Pattern] = {}
        self._reverses: dict[tuple, Op] = {}
        self._batched: dict[tuple[bool, ...], Op] = {}

    @property
    def public(self) -> str:
        """What users call it, without what a reverse and `vmap` add to its name."""
        return public_name(name_of(self.name).operator, self.names)

    def called(self, by: str) -> str:
        """What users call it where it was called so, with a ' if it is the reverse."""
        own = name_of(self.name)
        return public_name(own.operator, self.names, by) + "'" * own.reverse

    def set_function(self, function: Callable) -> None:
        """Exchange the function before the first use."""
        self.function = function
        self._jitted = self._inlined = None

    @property
    def inlined(self) -> Callable:
        """The function as part of a program: JAX traces it once for each signature, when its shapes
        are asked for, and repeats what it noted. What the user wrote is traced each time."""
        if self._inlined is None:
            ours = self.can_be_opened
            self._inlined = jax.jit(self.function, inline=True) if ours else self.function
        return self._inlined

    @property
    def jitted(self) -> Callable:
        """The function, compiled for each signature; made when it is first asked for."""
        if self._jitted is None:
            self._jitted = jax.jit(self.function, compiler_options=backend.compiler_options())
        return self._jitted

    def __repr__(self):
        return f"<Op {self.name}>"

    def signature(self, avals: tuple[Aval, ...]) -> Signature:
        """The signature for these inputs: shapes and dtypes are inferred once, and may clash."""
        known = self.many.get(avals)
        if known is not None:
            return known
        if self.bounds is not None:
            check_kinds(self.public, self.bounds(avals), avals)
        opened = self._opened(avals) if self.patterns else None
        if opened is not None:
            outputs, single = opened[0].outputs(opened[1]), opened[0].single
        else:
            outputs, single = self._infer(avals)
        with _lock:
            known = self.many.get(avals)
            if known is None:
                number = opened[0].numbers.get(opened[1]) if opened is not None else None
                if number is not None:
                    known = signatures[number]
                else:
                    known = Signature(self, avals, outputs, single)
                    signatures.add(known)
                    if opened is not None:
                        known.opened = opened
                        signatures.opened(known)
                self._keep(known)
        return known

    def _keep(self, signature: Signature) -> None:
        """Let a signature be found."""
        avals = signature.inputs
        self.many[avals] = signature
        if signature.special:
            return  # the quick ways must not find it
        if len(avals) == 1:
            self.one[avals[0]] = signature
        elif len(avals) == 2:
            self.two.setdefault(avals[0], {})[avals[1]] = signature

    def forget(self, signature: Signature) -> None:
        """Let a signature not be found."""
        avals = signature.inputs
        self.many.pop(avals, None)
        if len(avals) == 1:
            self.one.pop(avals[0], None)
        elif len(avals) == 2:
            row = self.two.get(avals[0], {})
            row.pop(avals[1], None)
            if not row:
                self.two.pop(avals[0], None)

    def _opened(self, avals: tuple[Aval, ...]) -> tuple[Pattern, tuple[int, ...]] | None:
        """The pattern of these inputs, and the sizes of its open lengths; the one that was theirs,
        if they had one."""
        found = None
        for pattern in list(self.patterns.values()):
            sizes = pattern.match(avals)
            if sizes is not None:
                found = found or (pattern, sizes)
                if sizes in pattern.numbers:
                    return pattern, sizes
        return found

    @property
    def can_be_opened(self) -> bool:
        """Whether NumPy may run it: what the user wrote may compare lengths as it likes."""
        function = self.function
        alone = getattr(function, "__closure__", ()) is None
        ours = self.names is not None or (alone and function.__module__.startswith("mycel."))
        return ours and not self.collective and not self.fallible

    def open(self, before: Signature, after: Signature) -> Pattern | None:
        """The pattern that two signatures have in common: made once; None if there is none."""
        opened = open_inputs(before.inputs, after.inputs)
        if opened is None or not self.can_be_opened:
            return None
        pattern = self.patterns.get(opened[0])
        if pattern is None and len(self.patterns) < MOST_PATTERNS:
            pattern = Pattern(self.function, *opened)
            self.patterns[opened[0]] = pattern
        if pattern is None:
            return None
        for signature in (before, after):
            sizes = pattern.match(signature.inputs)
            if sizes is None or pattern.outputs(sizes) != signature.outputs:
                continue
            if signature.opened is None:
                signature.opened = pattern, sizes
                with _lock:
                    signatures.opened(signature)
        return pattern

    def _infer(self, avals):
        try:
            structs = [aval.struct for aval in avals]
            result = undisturbed(jax.eval_shape, self.inlined, *structs)
        except (TypeError, ValueError, IndexError, NotImplementedError) as error:
            if came_from_outside(error):
                raise
            raise _clear_error(self, avals, error) from None
        single = not isinstance(result, (tuple, list))
        results = (result,) if single else result
        return tuple(aval_of(r.shape, r.dtype) for r in results), single

    def reverse(self, mask: tuple[bool, ...], present: tuple[bool, ...]) -> Op:
        """The Op `(inputs…, present cotangents…) -> gradients` of the inputs that `mask` names."""
        backward = self._reverses.get((mask, present))
        if backward is None:
            function = reverse_function(self.function, mask, present)
            backward = self._reverses[(mask, present)] = Op(self.name + "'", function)
            backward.fallible, backward.reads = self.fallible, 2 * self.reads
            backward.names = self.names
            backward.origin = reverse_function, self, mask, present
        return backward

    def batched(self, mask: tuple[bool, ...]) -> Op:
        """The Op over one more leading axis, of the inputs that `mask` names and of all outputs."""
        batched = self._batched.get(mask)
        if batched is None:
            function = _over_rows(self.function, mask)
            batched = self._batched[mask] = Op(f"vmap({self.name})", function)
            batched.origin = _over_rows, self, mask
            batched.fallible, batched.reads = self.fallible, self.reads
            batched.rearranges, batched.names = self.rearranges, self.names
            batched.gives_shares = self.gives_shares
            if self.bounds is not None:
                batched.bounds = partial(_bounds_of_rows, self.bounds, mask)
            if self.rule is nothing_flows:
                batched.rule = nothing_flows
        return batched


def _over_rows(function: Callable, mask: tuple[bool, ...]) -> Callable:
    return jax.vmap(function, tuple([0 if mapped else None for mapped in mask]))


def _bounds_of_rows(bounds, mask, avals) -> tuple[Bounds, ...]:
    """Those of an operator over one more leading axis: a limit for each position of the last axis
    stays one."""
    rows = [
        aval_of(aval.shape[1:], aval.numpy) if mapped else aval
        for aval, mapped in zip(avals, mask, strict=True)
    ]
    return bounds(tuple(rows))


def nothing_flows(inputs, outputs, cotangents, mask) -> list:
    """The rule of an operator through which no gradient flows."""
    return [None] * len(mask)


def reverse_function(function, mask, present):
    """The array function `(inputs…, present cotangents…) -> gradients` of another one."""
    positions = [i for i, varying in enumerate(mask) if varying]
    count = len(mask)

    def reverse(*arrays):
        inputs, cotangents = list(arrays[:count]), arrays[count:]
        varying = [inputs[i] for i in positions]

        def varied(*replaced):
            full = list(inputs)
            for i, array in zip(positions, replaced, strict=True):
                full[i] = array
            return function(*full)

        def together(*replaced):
            # Operators of one element type for all: the others of an integer's type follow it.
            kinds = {w.dtype for w in varying if not jnp.issubdtype(w.dtype, jnp.inexact)}
            full = [a.astype(np.float64) if a.dtype in kinds else a for a in inputs]
            for i, array in zip(positions, replaced, strict=True):
                full[i] = array
            return function(*full)

        gradients = _pull(varied, varying, cotangents, present, together)
        return gradients[0] if len(positions) == 1 else gradients

    return reverse


def _pull(varied, varying, cotangents, present, together=None):
    """Gradients of `varied` at `wanted`; an integer input is differentiated as a real number, with
    all inputs of its type (`together`) if the operator wants them alike.

    Those of complex numbers point where a real result grows, as MindSpore's do; JAX's are their
    conjugates.
    """
    real = [jnp.issubdtype(w.dtype, jnp.inexact) for w in varying]
    floats = [w if r else w.astype(np.float64) for w, r in zip(varying, real, strict=True)]
    inexact: list[bool] = []

    def varied_inexact(varied, *replaced):
        # A reverse inside gives real numbers for integers as well, so that it is differentiated.
        outer, _pulled.is_varied = _pulled.is_varied, True
        try:
            outputs = varied(*replaced)
        finally:
            _pulled.is_varied = outer
        listed = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        inexact[:] = [jnp.issubdtype(output.dtype, jnp.inexact) for output in listed]
        return [output for output, real in zip(listed, inexact, strict=True) if real]

    for attempt in filter(None, (varied, together)):
        try:
            outputs, pull = jax.vjp(partial(varied_inexact, attempt), *floats)
            break
        except TypeError:
            if all(real):
                raise
    else:
        return _pull_real(varied, varying, real, cotangents, present)
    rest = iter(cotangents)
    given = [next(rest) if there else None for there in present]
    differentiable = [c for c, real in zip(given, inexact, strict=True) if real]
    seeds = [_conjugate(_seed(o, c)) for o, c in zip(outputs, differentiable, strict=True)]
    pulled = [_conjugate(gradient) for gradient in pull(seeds)]
    if _pulled.is_varied:
        return tuple(pulled)
    return tuple(g.astype(w.dtype) for g, w in zip(pulled, varying, strict=True))


class _Pulled(threading.local):
    """Whether what is traced is differentiated once more."""

    is_varied = False


_pulled = _Pulled()


def _pull_real(varied, varying, real, cotangents, present):
    """Gradients where an integer input chooses (an index, a length): nothing flows to it."""
    if not any(real):
        return tuple(jnp.zeros(w.shape, w.dtype) for w in varying)

    def varied_real(*replaced):
        rest = iter(replaced)
        return varied(*[next(rest) if r else w for w, r in zip(varying, real, strict=True)])

    chosen = [w for w, r in zip(varying, real, strict=True) if r]
    gradients = iter(_pull(varied_real, chosen, cotangents, present))
    return tuple(
        next(gradients) if r else jnp.zeros(w.shape, w.dtype)
        for w, r in zip(varying, real, strict=True)
    )


def _conjugate(x):
    return jnp.conj(x) if jnp.issubdtype(x.dtype, jnp.complexfloating) else x


def _seed(output, cotangent):
    if cotangent is None:
        return jnp.zeros(output.shape, output.dtype)
    return cotangent.astype(output.dtype)


_SHAPE_WORDS = ("shape", "dimension", "broadcast", "axis", "axes", "size", "rank", "reshape")


def _clear_error(op, avals, error):
    """The same complaint with the operator, its inputs and the user's line; ours stay as raised."""
    text = str(error)
    place = user_place(2)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    ours = trace is not None and is_ours(trace.tb_frame.f_code.co_filename)
    reason = text.partition("\n")[0]
    message = errors.OPERATOR_INPUT.format(
        operator=op.called(called_by(2)),
        inputs=errors.describe_inputs(avals),
        place=place,
        reason=reason if ours and reason else in_our_words(reason),
    )
    if ours or isinstance(error, (IndexError, NotImplementedError)):
        return type(error)(message)
    shape_clash = any(word in text for word in _SHAPE_WORDS)
    return (ValueError if shape_clash else TypeError)(message)
