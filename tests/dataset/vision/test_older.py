# SPDX-License-Identifier: Apache-2.0
"""Older module paths, files, and what MindSpore 2.10 does wrongly; oracles: NumPy and Pillow."""

from __future__ import annotations

import doctest
import importlib
import inspect

import numpy as np
import pytest
from PIL import Image

import mycel as ms
from mycel.dataset import text, transforms, vision
from mycel.dataset.transforms import py_transforms as older_transforms
from mycel.dataset.vision import c_transforms, py_transforms, py_transforms_util

NUMBERS = np.random.default_rng(0)
IMAGE = NUMBERS.integers(0, 256, (6, 5, 3), dtype=np.uint8)
PLANES = IMAGE.transpose(2, 0, 1) / np.float32(255)


def test_normalize_on_planes():
    made = py_transforms.Normalize((0.5, 0.4, 0.3), (0.1, 0.2, 0.3))(PLANES)
    mean, std = np.array([[0.5, 0.4, 0.3], [0.1, 0.2, 0.3]], np.float32)[..., None, None]
    np.testing.assert_allclose(made, (PLANES - mean) / std, rtol=1e-6)
    with pytest.raises(NotImplementedError):
        py_transforms.Normalize([0.5], [0.5])(IMAGE)
    with pytest.raises(ValueError):
        py_transforms.Normalize([1.5], [0.5])
    padded = py_transforms.NormalizePad([0.5], [0.1], "float16")(PLANES)
    assert (padded.shape, padded.dtype) == ((4, 6, 5), np.float16)


def test_the_usual_chain_of_the_older_module():
    file = vision.encode_png(IMAGE)
    chain = py_transforms.Compose([py_transforms.Decode(), py_transforms.ToTensor()])
    (made,) = chain(file)
    np.testing.assert_allclose(made, PLANES, rtol=1e-6)
    np.testing.assert_array_equal(c_transforms.Decode()(file), IMAGE)


def test_one_hot_of_the_older_module():
    made = older_transforms.OneHotOp(3, 0.3)(np.array([[0], [2]]))
    np.testing.assert_allclose(made, 0.7 * np.eye(3)[[[0], [2]]] + 0.1)


def test_normalize_pad():
    """MindSpore 2.10 writes rows of (H, W, C) into the wrong places."""
    made = vision.NormalizePad([120.0, 110.0, 100.0], [50.0, 60.0, 70.0])(IMAGE)
    expected = (IMAGE - np.float32([120, 110, 100])) / np.float32([50, 60, 70])
    np.testing.assert_allclose(made[..., :3], expected, rtol=1e-5, atol=1e-6)
    assert not made[..., 3].any()


def test_colours_of_a_rotation():
    """MindSpore 2.10 has the fill value of Rotate in the order blue, green, red."""
    corner = vision.Rotate(45, fill_value=(1, 2, 3))(IMAGE)[0, 0]
    np.testing.assert_array_equal(corner, [1, 2, 3])


def test_texts_that_confuse_mindspore():
    basic = text.BasicTokenizer(lower_case=True)(np.array("Café [UNK] x[SEP]Y"))
    assert basic.tolist() == ["cafe", "[UNK]", "x", "[SEP]", "y"]
    replaced = text.RegexReplace("(l+)o", "<$1>")(np.array(["hello", "lolo"]))
    assert replaced.tolist() == ["he<ll>", "<l><l>"]


def pixels(path: str) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image)


def test_files(tmp_path):
    """Oracle: Pillow reads what was written, and the other way round."""
    path = str(tmp_path / "image.png")
    vision.write_png(path, ms.Tensor(IMAGE), 3)
    np.testing.assert_array_equal(pixels(path), IMAGE)
    np.testing.assert_array_equal(vision.read_image(path), IMAGE)
    np.testing.assert_array_equal(vision.Decode()(vision.read_file(path)), IMAGE)
    jpeg = str(tmp_path / "image.jpg")
    vision.write_jpeg(jpeg, IMAGE, 95)
    np.testing.assert_array_equal(vision.read_image(jpeg), pixels(jpeg))
    Image.fromarray(IMAGE[..., 0]).save(path)
    np.testing.assert_array_equal(vision.read_image(path)[..., 0], IMAGE[..., 0])
    assert vision.read_image(path, vision.ImageReadMode.COLOR).shape == (6, 5, 3)
    with Image.open(path) as image:
        assert vision.get_image_size(image) == [6, 5]
        assert vision.get_image_num_channels(image) == 1


def test_vocabularies(tmp_path):
    """Oracle: real MindSpore 2.10, tried by hand."""
    path = tmp_path / "words.txt"
    path.write_text("deep\nlearning\n你\n", "utf-8")
    vocab = text.Vocab.from_file(str(path), "", 2, ["<pad>"], False)
    assert vocab.vocab() == {"deep": 0, "learning": 1, "<pad>": 2}
    assert vocab.tokens_to_ids(["deep"]) == 0
    assert vocab.tokens_to_ids(np.array(["deep", "sea"])) == [0, -1]
    assert (vocab.ids_to_tokens([1]), vocab.ids_to_tokens(7)) == ("learning", "")


def test_python_tokenizer():
    """Oracle: real MindSpore 2.10, tried by hand."""
    made = text.PythonTokenizer(str.split)(np.array(["a b", "c d"]))
    assert made.tolist() == [["a", "b"], ["c", "d"]]
    assert text.to_str(np.array([b"a"])).tolist() == ["a"]


def test_helpers():
    """Oracle: the operations they are named after."""
    image = vision.ToPIL()(IMAGE)
    brighter = py_transforms_util.adjust_brightness(image, 1.5)
    np.testing.assert_array_equal(brighter, vision.AdjustBrightness(1.5)(image))
    with pytest.raises(TypeError, match="img should be PIL image"):
        py_transforms_util.adjust_contrast(IMAGE, 1.5)
    assert transforms.not_random(lambda x: x).random is False


MODULES = [
    f"mycel.dataset.{name}"
    for name in (
        *(f"transforms.{m}" for m in ("arrays", "chains", "operations", "py_transforms")),
        "transforms.randomness",
        "transforms.validators",
        *(f"text.{m}" for m in ("libraries", "sequences", "strings", "tokenizers", "vocabulary")),
        *(f"vision.{m}" for m in ("adjusting", "automatic", "boxes", "codecs", "cropping")),
        *(f"vision.{m}" for m in ("erasing", "geometry", "layout", "mixing", "names", "pillow")),
        *(f"vision.{m}" for m in ("random_tones", "resizing", "operation", "c_transforms")),
        *(f"vision.{m}" for m in ("py_transforms", "py_transforms_util")),
    )
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp_path, monkeypatch):
    """Oracle: what the documentation says."""
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    names = {"ms": ms, "np": np, "mycel": ms}
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        assert runner.run(test).failed == 0, test.name
    assert runner.tries > 0


@pytest.mark.parametrize("package", [transforms, vision, text], ids=lambda one: one.__name__)
def test_public_names_have_examples(package):
    """Oracle: the documentation itself."""
    for name in package.__all__:
        item = getattr(package, name)
        assert ">>>" in inspect.getdoc(item), name


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("vision.transforms", "Normalize", vision.Normalize),
        ("vision.utils", "Inter", vision.Inter),
        ("transforms.vision.c_transforms", "Decode", c_transforms.Decode),
        ("transforms.transforms", "TypeCast", transforms.TypeCast),
        ("transforms.py_transforms_util", "Implementation", transforms.Implementation),
        ("text.utils", "Vocab", text.Vocab),
        ("text.transforms", "Lookup", text.Lookup),
    ],
)
def test_older_paths(path, name, expected):
    """Oracle: the object itself."""
    assert getattr(importlib.import_module(f"mycel.dataset.{path}"), name) is expected
