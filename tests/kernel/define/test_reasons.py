# SPDX-License-Identifier: Apache-2.0
"""What is said for JAX. Oracles: NumPy, which says whether shapes broadcast; the texts of JAX
itself, made here; and the names that the operators are public by."""

from __future__ import annotations

import itertools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn, ops
from mycel.kernel.define.definition import definitions
from mycel.kernel.define.names import PARTS, public_name
from mycel.kernel.define.reasons import NO_SUCH_INPUTS, in_our_words
from mycel.kernel.record.stream import machine

SHAPES = [(), (1,), (2,), (3,), (2, 3), (3, 2), (3, 1), (4, 2, 3)]


def said_by_jax(function, *arguments) -> str:
    with pytest.raises((TypeError, ValueError)) as caught:
        jax.eval_shape(function, *arguments)
    return str(caught.value).splitlines()[0]


@pytest.mark.parametrize(("first", "second"), [*itertools.product(SHAPES, SHAPES)])
def test_broadcasting_names_the_axis_where_shapes_clash(first, second):
    try:
        np.broadcast_shapes(first, second)
        return
    except ValueError:
        pass
    arrays = [jax.ShapeDtypeStruct(shape, np.float32) for shape in (first, second)]
    text = in_our_words(said_by_jax(jnp.add, *arrays))
    axis, one, other = map(
        int, re.search(r"axis (-\d+) has the lengths (\d+) and (\d+)", text).groups()
    )
    assert (first[axis], second[axis]) == (one, other)
    remedy = re.search(r"x\.expand_dims\(-1\) for the shape (\(.*\))\.", text)
    if remedy:
        shorter, longer = sorted((first, second), key=len)
        assert remedy[1] == str(shorter)
        np.broadcast_shapes((*shorter, 1), longer)


@pytest.mark.parametrize(
    ("function", "shapes", "dtype", "words"),
    [
        (jnp.subtract, [(2,), (2,)], np.bool_, "it takes integers, real numbers or complex"),
        (jnp.bitwise_not, [(2,)], np.complex64, "it takes integers or bools, not Complex64"),
        (lambda x: x.reshape(4), [(3,)], np.float32, "the shape (3,) has 3 elements"),
        (jnp.dot, [(2, 3), (4, 5)], np.float32, "the lengths (3,) and (4,) that are summed over"),
        (lambda x: x.sum(2), [(3,)], np.float32, "there is no axis 2 in 1 dimension(s)"),
        (lambda x: jnp.broadcast_to(x, ()), [(3,)], np.float32, "(3,) does not fit into ()"),
        (lambda x: np.asarray(x), [(3,)], np.float32, NO_SUCH_INPUTS),
    ],
)
def test_what_jax_says_is_said_in_our_words(function, shapes, dtype, words):
    text = in_our_words(
        said_by_jax(function, *[jax.ShapeDtypeStruct(shape, dtype) for shape in shapes])
    )
    assert words in text
    assert not re.search(r"jax|dot_general|floating|Tracer|_", text.replace("expand_dims", ""))


def test_operators_have_their_public_names():
    """Oracle: the names that are there."""
    for name, definition in definitions.items():
        if not definition.function.__module__.startswith("mycel."):
            continue  # another test defined it
        told = public_name(name, definition.names)
        public = {written.rpartition(".")[2] for written in definition.names}
        stem = len(public) > 1 and all(re.fullmatch(rf"{told}\dd", other) for other in public)
        assert told in public or stem or not public or told == PARTS.get(name)
    assert public_name("affine", [], "Dense") == "Dense"
    assert public_name("mine", None, "Dense") == "mine"


def test_the_parts_of_public_operators_are_named_by_them():
    """Oracle: the public names of all operators and Cells."""
    public = {n.rpartition(".")[2] for d in definitions.values() for n in d.names}
    public |= {re.sub(r"\dd$", "", name) for name in public}
    public |= {name.lower() for name in (*dir(ms.ops), *dir(ms.nn), *dir(ms.mint), *dir(Tensor))}
    public |= {name.strip("_") for name in dir(Tensor)}
    public |= set(dir(ms.ops)) | {"all_finite", "rnn_cell", "weight_decay"}
    for part, told in PARTS.items():
        assert part in definitions
        assert told in public or told.replace("_", "") in public, (part, told)


def test_an_op_is_named_alike_in_its_reverse_and_its_map():
    x = Tensor(np.ones((2, 5), np.float32))
    seen = []
    machine.on_record = lambda executable, *rest: seen.append(executable)
    try:
        ms.vmap(ms.grad(lambda row: (row**3).sum()))(x).asnumpy()
    finally:
        machine.on_record = None
    ops_ = [node.signature.op for executable in seen for node in executable.parts[0]]
    powers = [op for op in ops_ if "integer_pow" in op.name]
    assert powers and all(op.public == "pow" for op in powers)
    assert {op.called("") for op in powers} == {"pow", "pow'"}
    assert {op.called("Mine") for op in powers} == {"Mine", "Mine'"}


def test_a_part_of_a_layer_is_named_by_the_layer():
    x = Tensor(np.ones((2, 5), np.float32))
    with pytest.raises(ValueError, match=r"^Dense\(Float32\[2, 5\]"):
        nn.Dense(3, 4)(x)
    with pytest.raises(ValueError, match=r"^conv2d\(Float32\[2, 5\]"):
        ops.conv2d(x, Tensor(np.ones((1, 1, 2, 2), np.float32)))


def test_an_operator_as_an_object_is_named_by_its_class():
    """It was `call`, the method of Python. The oracle is MindSpore's text: "For 'MatMul', …"."""
    x, y = ms.Tensor(np.ones((1, 2))), ms.Tensor(np.ones((2, 3), np.float32))
    with pytest.raises(TypeError, match=r"^MatMul\(Float64\[1, 2\], Float32\[2, 3\]\)"):
        ops.MatMul()(x, y)
    with pytest.raises(ValueError, match=r"^Conv2D\("):
        ops.Conv2D(2, 3)(ms.ops.ones((1, 3, 5, 5)), ms.ops.ones((2, 2, 3, 3)))
