# SPDX-License-Identifier: Apache-2.0
"""Scope: what holds while something is recorded, and what holds again afterwards, come what may.

The oracle is the scope object itself, which is there again; results are NumPy's.
"""

from __future__ import annotations

import ast
import pathlib

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.record.scope import OUTSIDE, Scope
from mycel.kernel.record.stream import Stream, current_stream
from support.interrupts import AtMoment, TimeLimit, left_open

SOURCE = pathlib.Path(ms.__file__).parent
FIELDS = frozenset(Scope.__slots__)


def test_another_scope_holds_within_and_the_former_one_again():
    stream = Stream()
    inner = OUTSIDE.but(tape=[], depth=1)
    seen = stream.within(inner, lambda *given, **named: (stream.scope, given, named), 1, two=2)
    assert seen == (inner, (1,), {"two": 2}) and stream.scope is OUTSIDE

    def fails():
        assert stream.scope is inner
        raise LookupError

    with pytest.raises(LookupError):
        stream.within(inner, fails)
    assert stream.scope is OUTSIDE


def test_but_changes_what_is_named_and_nothing_of_the_scope_itself():
    tape, hooks = [], {}
    before = Scope(tape=tape, hooks=hooks, depth=2, floor=1, plain=True)
    after = before.but(depth=3, tape=None)
    assert [getattr(before, name) for name in ("tape", "depth")] == [tape, 2]
    assert after.depth == 3 and after.tape is None
    for name in FIELDS - {"depth", "tape"}:
        assert getattr(after, name) is getattr(before, name)
    with pytest.raises(AttributeError):
        before.but(deepth=3)


def test_a_derivative_opens_a_tape_and_hooks_and_one_inside_goes_on_with_them():
    outer = OUTSIDE.differentiating()
    inner = outer.differentiating()
    assert (OUTSIDE.depth, outer.depth, inner.depth) == (0, 1, 2)
    assert outer.tape == [] and inner.tape is outer.tape and inner.hooks is outer.hooks
    assert outer.reversing is inner.reversing is not None
    assert [scope.is_taped for scope in (OUTSIDE, outer, inner)] == [False, True, True]
    # In a site the derivatives around have no tape any more; one that is opened in it has.
    site = outer.but(tape=[], floor=outer.depth)
    assert not site.is_taped and site.differentiating().is_taped


def test_what_holds_is_seen_by_what_runs_within():
    seen = {}

    class Net(nn.Cell):
        def construct(self, x):
            scope = current_stream().scope
            seen.update({name: getattr(scope, name) for name in FIELDS})
            seen["called"] = current_stream().called
            return x * x

    net, x = Net(), Tensor([1.0, 3.0])
    np.testing.assert_array_equal(ms.grad(net)(x).asnumpy(), [2.0, 6.0])
    assert seen["depth"] == 1 and seen["tape"] is not None and seen["hooks"] == {}
    assert seen["called"] == (net, None)
    net(x)
    assert seen["depth"] == 0 and seen["tape"] is seen["hooks"] is None
    assert current_stream().scope is OUTSIDE and current_stream().called is None


def test_what_a_remembered_call_meets_from_outside_is_made_unobserved():
    stream, observer = Stream(), object()
    seen = stream.within(
        OUTSIDE.but(capture=observer), stream.unobserved, lambda: stream.scope.capture
    )
    assert seen is None and stream.scope is OUTSIDE


def test_a_call_that_is_broken_off_stays_counted():
    stream = Stream()
    assert stream.attempt(lambda x: x + 1, 1) == 2 and stream.unfinished == 0
    with pytest.raises(ZeroDivisionError):
        stream.attempt(lambda: 1 / 0)
    assert stream.unfinished == 1


def test_a_block_without_gradients_puts_back_what_was():
    before = current_stream().scope
    with pytest.raises(LookupError), ms._no_grad():
        raise LookupError
    assert current_stream().scope is before


class Squared(nn.Cell):
    """A Cell with a reverse of its own."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (2 * x * dout,)


def _everything():
    """Every kind of scope, in one another."""
    x, weight = Tensor([1.0, -2.0]), Parameter(Tensor([0.5, 2.0]), name="w")
    part = nn.SequentialCell(Squared(), nn.Tanh())
    part.recompute()
    part[1].register_backward_hook(lambda cell, inner, outer: None)

    def body(x):
        with ms._no_grad():
            scale = x.sum()
        ops.assign(weight, weight * 2.0)
        return (part(x) * scale * weight).sum()

    used = ms.ops.GradOperation(get_by_list=True)(lambda x: (x * weight).sum())(x)
    rows = ms.vmap(lambda row: row * row)(x)
    return [*used, rows, ms.grad(body)(x), ms.jvp(lambda x: x * x, x, x)[1]]


def test_nothing_holds_any_more_wherever_an_exception_comes_from_outside():
    expected = [x.asnumpy() for x in _everything()]
    moments = AtMoment(-1, TimeLimit, within="record/stream.py")
    moments.run(lambda: [x.asnumpy() for x in _everything()])
    assert moments.count > 100
    for number in range(1, moments.count + 1, max(1, moments.count // 60)):
        moment = AtMoment(number, TimeLimit, within="record/stream.py")
        interruption = moment.run(lambda: [x.asnumpy() for x in _everything()])
        assert not interruption.problems() + left_open(), moment.where
    for found, wanted in zip(_everything(), expected, strict=True):
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)


def _assigned(path: pathlib.Path) -> list[str]:
    """What is assigned of scopes and streams in a file, as text."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            owner = ast.unparse(node.value)
            if node.attr in FIELDS and owner.split(".")[-1] == "scope":
                found.append(ast.unparse(node))
            if owner.split(".")[-1] in ("stream", "current_stream()", "_stream"):
                found.append(ast.unparse(node))
    return found


def test_no_scope_is_changed_and_streams_have_another_only_by_their_own_methods():
    record = SOURCE / "kernel" / "record"
    for path in SOURCE.rglob("*.py"):
        found = _assigned(path)
        if path.is_relative_to(record):
            found = [text for text in found if ".scope." in text]
        assert not [text for text in found if text != "local.stream"], (path, found)
