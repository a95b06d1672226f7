# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of Tensors, Parameters, Cells and data.

Oracles: statistics by NumPy, pictures as Pillow reads them, the text of a page as Python's own
parser finds it.
"""

from __future__ import annotations

import base64
import html.parser
import io
import re
import time

import numpy as np
import PIL.Image
import pytest

import mycel as ms
import mycel.dataset as ds
from harness import EXECUTIONS, execution
from mycel import Parameter, ParameterTuple, Tensor, nn
from mycel.report import html as pieces
from mycel.report import picture

RNG = np.random.default_rng(0)


class Page(html.parser.HTMLParser):
    """Text, tags in the order of opening, and whether each was closed in its turn."""

    def __init__(self, source: str):
        super().__init__()
        self.text, self.tags, self.open = "", [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + " "


def page_of(thing) -> Page:
    source = thing._repr_html_()
    assert "<script" not in source
    assert not re.search(r"(src|href)='(?!data:)", source)
    return Page(source)


def picture_of(thing) -> np.ndarray:
    (attributes,) = [attributes for tag, attributes in page_of(thing).tags if tag == "img"]
    data = base64.b64decode(attributes["src"].partition("base64,")[2])
    return np.asarray(PIL.Image.open(io.BytesIO(data)))


# -- Tensors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8])
def test_statistics_are_numpys(dtype):
    array = (RNG.normal(size=(3, 40, 50)) * 20).round().clip(0, 100).astype(dtype)
    text = page_of(Tensor(array)).text
    wide = array.astype(np.float64)
    for name, value in (
        ("mean", wide.mean()), ("std", wide.std()), ("min", wide.min()), ("max", wide.max()),
    ):  # fmt: skip
        assert f"{name} {value:.4g}" in text
    assert f"{(array == 0).mean():.1%} zeros" in text
    assert f"{Tensor(array).dtype}[3, 40, 50]" in text


def test_what_is_not_finite_is_counted_and_left_out_of_the_statistics():
    array = np.array([[1, np.nan, 3], [np.inf, -np.inf, 0]], np.float32)
    text = page_of(Tensor(array)).text
    assert "1 NaN, 2 infinite" in text
    assert f"mean {4 / 3:.4g}" in text and "max 3" in text
    # 5 of 6 cells are opaque or partly so; what is not finite has one colour.
    drawn = picture_of(Tensor(array))
    bad = ~np.isfinite(array)
    assert (drawn[bad] == (220, 0, 200, 255)).all()
    assert drawn[1, 2, 3] == 0
    assert "NaN" in page_of(Tensor(np.full((4, 4), np.nan, np.float32))).text


def test_the_heat_map_shows_sign_and_size():
    array = RNG.normal(size=(20, 30)).astype(np.float32)
    drawn = picture_of(Tensor(array)).astype(int)
    assert drawn.shape == (20, 30, 4)
    assert ((drawn[..., 0] > drawn[..., 2]) == (array >= 0)).all()
    np.testing.assert_allclose(drawn[..., 3], 255 * np.abs(array) / np.abs(array).max(), atol=0.51)


def test_a_large_heat_map_is_of_the_means_of_blocks():
    signs = np.where(RNG.random((48, 96)) < 0.5, -1.0, 1.0).astype(np.float32)
    array = np.kron(signs, np.ones((7, 5), np.float32))
    drawn = picture_of(Tensor(np.stack([array, -array]))).astype(int)  # the first of the two
    assert ((drawn[..., 0] > drawn[..., 2]) == (signs > 0)).all()
    assert (drawn[..., 3] == 255).all()


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.float32(2.5), "2.5"),
        (np.zeros((3, 0), np.float32), "no elements"),
        (np.array([True, False, True, True]), "75.0% True"),
        (np.array([3 + 4j, 0]), "max magnitude 5"),
        (np.array([2**62] * 4), "max 4.612e+18"),
        (np.array([1, 2], np.uint8), "[1 2]"),
    ],
)
def test_other_kinds(array, said):
    assert said in page_of(Tensor(array)).text


def test_bfloat16_is_shown_as_numbers():
    text = page_of(Tensor(np.array([[1.5, -2.0], [0.0, 3.0]], np.float32)).astype(ms.bfloat16)).text
    assert "BFloat16[2, 2]" in text and "max 3" in text and "-2." in text


def test_a_large_tensor_is_sampled_says_so_and_is_cheap():
    array = np.zeros((5000, 4001), np.float32)
    array[:, ::2] = 1
    tensor = Tensor(array)
    tensor._repr_html_()
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        shown = tensor._repr_html_()
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.05
    assert "of a sample of 262,144 elements of 20,005,000" in shown
    assert abs(float(re.search(r"mean ([\d.]+)", shown)[1]) - 0.5) < 0.01
    assert len(shown) < 40_000
    assert "sample" not in Tensor(array.reshape(-1)[: picture.MOST_COUNTED])._repr_html_()


def test_a_tensor_that_only_announces_an_input_shows_its_text():
    assert Tensor(shape=[None, 3], dtype=ms.float32)._repr_html_() is None


@pytest.mark.parametrize("mode", EXECUTIONS)
def test_showing_within_a_function_is_reading(mode):
    seen = []

    @ms.every_call
    def kept(tensor):
        seen.append(tensor._repr_html_())

    def show(x):
        y = x * 2
        kept(y)
        return y, len(y._repr_html_())

    run = ms.jit(show) if mode == "graph" else show
    with execution(mode):
        for number in range(6):
            x = np.full(4, number, np.float32)
            y, length = run(Tensor(x))
            np.testing.assert_array_equal(y.asnumpy(), 2 * x)
            assert length == len(Tensor(2 * x)._repr_html_())
            assert seen[-1] == Tensor(2 * x)._repr_html_()


def test_text_is_mindspores_still():
    assert repr(Tensor([1.0])) == "Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])"
    assert str(Tensor([1.0])) == "[1.]"


# -- what holds Tensors ---------------------------------------------------------------------------


def test_parameters():
    weight = Parameter(Tensor([[1.0, 2.0]]), name="a<b>", requires_grad=False)
    weight.register_hook(lambda gradient: None)
    text = page_of(weight).text
    assert "Parameter a<b>" in text and "frozen" in text and "with hooks" in text
    text = page_of(ParameterTuple((weight, Parameter(Tensor(1.0), name="w")))).text
    assert "3 elements" in text and "a<b>" in text and "Float32[1, 2]" in text


def test_sparse_tensors():
    coo = ms.COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (3, 4))
    row = ms.RowTensor(Tensor([1]), Tensor([[1.0, 2.0]]), (3, 2))
    for sparse, parts in (
        (coo, ("indices", "values")),
        (coo.to_csr(), ("indptr", "indices", "values")),
        (row, ("indices", "values")),
    ):
        text = page_of(sparse).text
        assert all(part in text for part in parts)
        assert f"2 values of {np.prod(sparse.shape)}" in text


def test_cells_are_a_tree_with_shared_parameters_once():
    net = nn.SequentialCell(nn.Dense(4, 8), nn.SequentialCell(nn.Dense(4, 8), nn.ReLU()))
    net[1][0].weight = net[0].weight
    net[1][0].bias.requires_grad = False
    net[0].register_forward_hook(lambda cell, inputs, output: None)
    page = page_of(net)
    assert [tag for tag, _ in page.tags].count("details") == 2
    assert "48 elements of Parameters, 40 of them trained" in page.text  # 32 + 8 + 8
    assert page.text.count("shared: ") == 1 and page.text.count("hooks: forward") == 1
    assert page.text.count("frozen: ") == 1
    twice = nn.CellList([net, net])
    assert page_of(twice).text.count("shown above") == 1
    assert page_of(nn.ReLU()).text.split()[0] == "ReLU"


def test_a_tree_of_any_form_is_closed():
    for _ in range(50):
        depths = [0, *(int(RNG.integers(1, 5)) for _ in range(8))]
        page = Page(pieces.tree([pieces.Entry(depth, f"<b>{depth}</b>") for depth in depths]))
        assert page.text.split() == list(map(str, depths))


def test_data():
    data = ds.NumpySlicesDataset({"x": np.ones((10, 3)), "y": np.arange(10)}).batch(2)
    text = page_of(data).text
    assert "5 rows" in text and "BatchDataset ← NumpySlicesDataset" in text
    assert text.count("[2, 3]") == 0  # nothing has been read yet
    data.output_shapes()
    assert "[2, 3]" in page_of(data).text
