# SPDX-License-Identifier: Apache-2.0
"""What an operation is: a pure function on arrays with its static attributes bound."""

from __future__ import annotations

import threading
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
from mycel.kernel.define.reasons import called_by, in_our_words, public_name

# Signatures by number: a recorded program is a list of these numbers and of slots.
signatures: list[Signature] = []
_lock = threading.Lock()


class Signature:
    """An Op applied to inputs of known avals: its number is what a record keeps of it."""

    __slots__ = ("arity", "aval", "bounds", "id", "inputs", "op", "outputs", "single", "special")

    def __init__(self, op: Op, inputs: tuple[Aval, ...], outputs: tuple[Aval, ...], single: bool):
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
        self.id = len(signatures)


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
        reads: how often it reads its inputs in loops that XLA cannot join with what made them; 0
            if it can (see tuning.materialize).
        one, two, many: signatures by the avals of one, two or any inputs.
    """

    __slots__ = (
        "_batched",
        "_jitted",
        "_reverses",
        "bounds",
        "fallible",
        "function",
        "many",
        "name",
        "names",
        "one",
        "reads",
        "rearranges",
        "repeats",
        "rule",
        "two",
    )

    # Only markers on the tape may be otherwise (see record.marker).
    eager = pairwise = False
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
        self.rearranges = False
        self._jitted = None
        self.one: dict[Aval, Signature] = {}
        self.two: dict[Aval, dict[Aval, Signature]] = {}
        self.many: dict[tuple[Aval, ...], Signature] = {}
        self._reverses: dict[tuple, Op] = {}
        self._batched: dict[tuple[bool, ...], Op] = {}

    def set_function(self, function: Callable) -> None:
        """Exchange the function before the first use."""
        self.function = function
        self._jitted = None

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
            check_kinds(self.name, self.bounds(avals), avals)
        outputs, single = self._infer(avals)
        with _lock:
            known = self.many.get(avals)
            if known is None:
                known = Signature(self, avals, outputs, single)
                signatures.append(known)
                self.many[avals] = known
        if known.special:
            return known  # the quick ways must not find it
        if len(avals) == 1:
            self.one[avals[0]] = known
        elif len(avals) == 2:
            self.two.setdefault(avals[0], {})[avals[1]] = known
        return known

    def _infer(self, avals):
        try:
            structs = [aval.struct for aval in avals]
            result = undisturbed(jax.eval_shape, self.function, *structs)
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
        return backward

    def batched(self, mask: tuple[bool, ...]) -> Op:
        """The Op over one more leading axis, of the inputs that `mask` names and of all outputs."""
        batched = self._batched.get(mask)
        if batched is None:
            function = jax.vmap(self.function, tuple([0 if mapped else None for mapped in mask]))
            batched = self._batched[mask] = Op(f"vmap({self.name})", function)
            batched.fallible, batched.reads = self.fallible, self.reads
            batched.rearranges = self.rearranges
            if self.bounds is not None:
                batched.bounds = partial(_bounds_of_rows, self.bounds, mask)
            if self.rule is nothing_flows:
                batched.rule = nothing_flows
        return batched


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

        gradients = _pull(varied, varying, cotangents, present)
        return gradients[0] if len(positions) == 1 else gradients

    return reverse


def _pull(varied, varying, cotangents, present):
    """Gradients of `varied` at `wanted`; an integer input is differentiated as a real number."""
    real = [jnp.issubdtype(w.dtype, jnp.inexact) for w in varying]
    floats = [w if r else w.astype(np.float64) for w, r in zip(varying, real, strict=True)]
    try:
        outputs, pull = jax.vjp(varied, *floats)
    except TypeError:
        if all(real):
            raise
        return _pull_real(varied, varying, real, cotangents, present)
    single = not isinstance(outputs, (tuple, list))
    rest = iter(cotangents)
    seeds = [
        _seed(output, next(rest) if there else None)
        for output, there in zip((outputs,) if single else outputs, present, strict=True)
    ]
    pulled = pull(seeds[0] if single else type(outputs)(seeds))
    return tuple(g.astype(w.dtype) for g, w in zip(pulled, varying, strict=True))


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


def _seed(output, cotangent):
    if not jnp.issubdtype(output.dtype, jnp.inexact):
        return np.zeros(output.shape, jax.dtypes.float0)
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
        operator=public_name(op.name, op.names, called_by(2)),
        inputs=errors.describe_inputs(avals),
        place=place,
        reason=reason if ours and reason else in_our_words(reason),
    )
    if ours or isinstance(error, (IndexError, NotImplementedError)):
        return type(error)(message)
    shape_clash = any(word in text for word in _SHAPE_WORDS)
    return (ValueError if shape_clash else TypeError)(message)
