# SPDX-License-Identifier: Apache-2.0
"""Names that few programs use, where no answer of MindSpore can be recorded (the others are in
rarer_pipelines.py); and that every public name is in some test.
"""

from __future__ import annotations

import logging
import operator
import pathlib
import pickle
import re
import sys
import types

import numpy as np
import pytest
from PIL import Image

import mycel as ms
import mycel.dataset as ds
from mycel import Tensor
from mycel.dataset import text, transforms, vision
from mycel.kernel.base import log

TEN = np.arange(10)


@pytest.fixture(autouse=True)
def settings():
    ds.config.settings.seed = None
    ms.kernel.record.generator.restore_seed(None)
    yield
    ds.config.settings.__init__()


def numbers(**settings):
    return ds.NumpySlicesDataset(TEN, ["x"], **settings)


def values(data):
    return [int(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


# -- datasets ----------------------------------------------------------------------------------


def test_batch_info_is_what_functions_get():
    # Oracle: the documented rule that their last argument is a BatchInfo.
    seen = []

    def size(info):
        seen.append(info)
        return 4

    list(numbers(shuffle=False).batch(size).create_dict_iterator(num_epochs=1))
    assert all(isinstance(info, ds.BatchInfo) for info in seen)
    assert [info.get_batch_num() for info in seen][:3] == [0, 1, 2]
    assert {info.get_epoch_num() for info in seen} == {0}


def test_subset_random_sampler_draws_anew():
    # Oracle: the documented rule: the chosen rows in random order, which a seed decides.
    def epochs():
        ds.config.set_seed(3)
        sampler = ds.SubsetRandomSampler(range(8))
        data = numbers(sampler=sampler)
        iterator = data.create_tuple_iterator(num_epochs=3, output_numpy=True)
        return [[int(row[0]) for row in iterator] for _ in range(3)]

    found = epochs()
    assert all(sorted(epoch) == list(range(8)) for epoch in found)
    assert len({tuple(epoch) for epoch in [*found, range(8)]}) == 4
    assert epochs() == found


def test_a_part_of_a_subset_is_drawn_too():
    # Oracle: each of the rows is among two of four in half of the draws.
    ds.config.set_seed(1)
    data = numbers(sampler=ds.SubsetRandomSampler([1, 3, 5, 7], num_samples=2))
    iterator = data.create_tuple_iterator(num_epochs=80, output_numpy=True)
    drawn = [int(row[0]) for _ in range(80) for row in iterator]
    counts = np.bincount(drawn, minlength=10)
    assert counts.sum() == counts[[1, 3, 5, 7]].sum() == 160
    assert counts[[1, 3, 5, 7]].min() > 25


def test_random_order_within_a_concatenation_stays_within_its_parts():
    # Oracle: the documented rule: the rows of one dataset after those of the other.
    data = ds.ConcatDataset([numbers(shuffle=True), numbers(shuffle=True)])
    found = values(data)
    assert sorted(found[:10]) == sorted(found[10:]) == TEN.tolist()
    assert data.children[0].get_dataset_size() == 10


def test_concatenation_refuses_what_is_no_list():
    # Oracle: the documented rule.
    with pytest.raises(TypeError, match="datasets"):
        ds.ConcatDataset(numbers())


def test_decrypted_faces(tmp_path):
    # Oracle: the bytes that the function gives.
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "1.jpg").write_bytes(bytes([1, 2, 3]))
    (tmp_path / "list_attr_celeba.txt").write_text("1\nBald Smiling\n1.jpg -1 1\n")
    data = ds.CelebADataset(tmp_path, decrypt=lambda path: pathlib.Path(path).read_bytes()[::-1])
    ((image, attributes),) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert image.tolist() == [3, 2, 1] and attributes.tolist() == [0, 1]


def test_fake_images_of_any_order():
    # Oracle: the documented rule: an image depends on its number and the seed only.
    straight = ds.FakeImageDataset(4, (2, 2, 3), shuffle=False)
    turned = ds.FakeImageDataset(4, [2, 2, 3], sampler=ds.SubsetSampler([3, 1]))
    first, second = (
        [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        for data in (straight, turned)
    )
    np.testing.assert_array_equal(second, [first[3], first[1]])
    with pytest.raises(ValueError, match=r"image_size.*height, width, channels"):
        ds.FakeImageDataset(4, (2, 2))


def test_a_cache_has_no_effect_and_says_so(caplog, monkeypatch):
    # Oracle: the documented rule; MindSpore's needs a server.
    monkeypatch.setattr(log, "_noted", set())
    caplog.set_level(logging.INFO, "mycel")
    cache = ds.DatasetCache(session_id=1, size=0, spilling=True, prefetch_size=20)
    data = ds.FakeImageDataset(3, (2, 2, 3), shuffle=False, cache=cache)
    data = data.project("label").map(lambda x: x * 0 + 7, ["label"], cache=cache)
    assert values(data) == [7, 7, 7] and cache.get_stat() is None
    ds.DatasetCache(2)
    assert len([note for note in caplog.messages if "DatasetCache has no effect" in note]) == 1
    with pytest.raises(TypeError, match="session_id"):
        ds.DatasetCache("1")


def test_debug_hook(capsys):
    # Oracle: MindSpore 2.10: around the operations of maps alone, with a tuple; what it returns
    # has no effect.
    class Shapes(ds.DebugHook):
        def compute(self, args):
            seen.append((type(args), [np.shape(value) for value in args], self.prev_op_name))
            return (0,)

    def first(x):
        return x[:2], x

    seen = []
    ds.config.set_debug_mode(True, debug_hook_list=[Shapes()])
    data = ds.NumpySlicesDataset({"x": [[1, 2, 3]], "y": [4]}, shuffle=False)
    data = data.map([first, lambda x, z: x], ["x"]).map(transforms.OneHot(5), ["y"]).batch(1)
    rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert rows[0]["x"].tolist() == [[1, 2]] and rows[0]["y"].tolist() == [[0, 0, 0, 0, 1]]
    assert seen == [
        (tuple, [(3,)], "first"),
        (tuple, [(2,), (3,)], "first"),
        (tuple, [(2,)], "<lambda>"),
        (tuple, [()], "OneHot"),
        (tuple, [(5,)], "OneHot"),
    ]
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 5
    assert told[0] == "[Dataset debugger] Print the [INPUT] of the operation [first]."
    assert told[1] == "[Dataset debugger] Print the [OUTPUT] of the operation [first]."
    ds.config.set_debug_mode(True, debug_hook_list=[Shapes])
    with pytest.raises(TypeError, match="DebugHooks"):
        list(data.create_dict_iterator(num_epochs=1))


def test_states_of_iterators_by_their_names():
    # Oracle: the rows of an iterator that is not interrupted.
    data = numbers(shuffle=True)
    first = ds.TupleIterator(data, "x", output_numpy=True)
    next(first)
    second = ds.TupleIterator(data, "x", output_numpy=True)
    second.set_state(first.get_state())
    assert list(second) == list(first)
    row = next(ds.DictIterator(data))
    assert list(row) == ["x"] and isinstance(row["x"], Tensor)


# -- images with boxes -------------------------------------------------------------------------


def bright(left, top, width, height):
    """An image that is white in a rectangle and black elsewhere, and its box."""
    image = np.zeros((20, 24, 3), np.uint8)
    image[top : top + height, left : left + width] = 255
    return image, np.float32([[left, top, width, height, 7]])


def extent(image):
    """The box of what is bright in the image."""
    rows, columns = (np.flatnonzero(image[..., 0].max(axis) > 127) for axis in (1, 0))
    return [columns[0], rows[0], len(columns), len(rows)]


def test_random_resized_crop_moves_boxes_with_the_pixels():
    # Oracle: where the pixels of the rectangle are afterwards, up to rounding.
    ds.config.set_seed(4)
    crop = vision.RandomResizedCropWithBBox(
        (40, 48), (0.3, 1.0), interpolation=vision.Inter.NEAREST
    )
    found = []
    for _ in range(30):
        image, boxes = crop(*bright(9, 7, 8, 9))
        assert image.shape == (40, 48, 3) and boxes.shape == (1, 5)
        if boxes[0, :4].any():
            np.testing.assert_allclose(boxes[0, :4], extent(image), atol=3)
            assert boxes[0, 4] == 7
            found.append(tuple(boxes[0]))
        else:
            assert not image.any()
    assert len(set(found)) > 10


def test_random_resize_chooses_an_interpolation():
    # Oracle: each result is that of ResizeWithBBox with one of the four interpolations.
    ds.config.set_seed(4)
    image = np.random.default_rng(1).integers(0, 256, (6, 5, 3), dtype=np.uint8)
    boxes = np.float32([[1, 2, 3, 3]])
    names = ("LINEAR", "NEAREST", "CUBIC", "AREA")
    expected = [vision.ResizeWithBBox((4, 9), vision.Inter[name])(image, boxes) for name in names]
    resize = vision.RandomResizeWithBBox((4, 9))
    found = set()
    for _ in range(40):
        made, moved = resize(image, boxes)
        np.testing.assert_array_equal(moved, expected[0][1])
        found |= {number for number, (each, _) in enumerate(expected) if (made == each).all()}
    assert found == {0, 1, 2, 3}


def test_written_files_are_read(tmp_path):
    # Oracle: what was written.
    path = str(tmp_path / "three.bin")
    vision.write_file(path, Tensor(np.uint8([1, 2, 255])))
    assert vision.read_file(path).tolist() == [1, 2, 255]
    image = np.random.default_rng(2).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    vision.write_file(path, vision.encode_png(image))
    np.testing.assert_array_equal(vision.Decode()(vision.read_file(path)), image)


# -- operations --------------------------------------------------------------------------------


class Doubled(transforms.TensorOperation):
    def _arrays(self, array):
        return array * 2


class Halved(transforms.PyTensorOperation):
    def _execute_py(self, img):
        return img // 2


def test_operations_of_your_own():
    # Oracle: the documented rule, and NumPy.
    assert issubclass(transforms.Compose, transforms.CompoundOperation)
    chain = transforms.Compose([Doubled(), Halved(), Doubled()])
    assert values(numbers(shuffle=False).map(chain, ["x"])) == (TEN * 2).tolist()
    assert values(numbers(shuffle=False).map([Doubled(), Halved()], ["x"])) == TEN.tolist()
    assert pickle.loads(pickle.dumps(Doubled()))([1, 2]).tolist() == [2, 4]
    assert Doubled().device("CPU")(3) == 6
    with pytest.raises(RuntimeError, match="CPU"):
        Doubled().device("Ascend")


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (transforms.TensorOperation, "Mine does not say what it does to an array"),
        (transforms.PyTensorOperation, r"Mine needs a method _execute_py\(self, img\)"),
    ],
)
def test_operations_that_say_nothing(base, message):
    # Oracle: the documented rule.
    mine = type("Mine", (base,), {})
    with pytest.raises(NotImplementedError, match=message):
        mine()(TEN)


def test_plugins_are_refused():
    # Oracle: the documented rule: the error names what to write instead.
    with pytest.raises(NotImplementedError, match=r"a Python function.*plugin lib\.so"):
        transforms.Plugin("lib.so", "Decode", user_args="a")


# -- texts -------------------------------------------------------------------------------------


def written(tmp_path, content):
    path = tmp_path / "any.name"
    path.write_text(content, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("kind", [text.Vectors, text.GloVe, text.FastText, text.CharNGram])
def test_vectors_of_any_file(kind, tmp_path):
    # Oracle: the numbers in the file. MindSpore asks for certain names of files, mycel for none.
    made = kind.from_file(written(tmp_path, "2 2\n2gram-é#END# 1 -2.5\n3gram-x 3 1e-3\n"))
    assert type(made) is kind and made.dimension == 2
    word, expected = ("é", [1, -2.5]) if kind is text.CharNGram else ("3gram-x", [3, 1e-3])
    np.testing.assert_array_equal(made.look_up(word), np.float32(expected))
    assert made.look_up("y") is None
    found = text.ToVectors(made, unk_init=[5, 6])(np.array([word, "y"]))
    np.testing.assert_array_equal(found, np.float32([expected, [5, 6]]))


def test_files_without_vectors(tmp_path):
    # Oracle: the documented rule. MindSpore reads a word for a number as 0.
    with pytest.raises(RuntimeError, match=r"a word and numbers.*deep 1 x"):
        text.Vectors.from_file(written(tmp_path, "sea 1 2\ndeep 1 x\n"))
    with pytest.raises(RuntimeError, match="a file with vectors"):
        text.GloVe.from_file(written(tmp_path, "1000 300\n"))
    with pytest.raises(ValueError, match=r"unk_init.*as long as a vector, 2"):
        text.ToVectors(text.FastText.from_file(written(tmp_path, "sea 1 2\n")), [1, 2, 3])


def test_what_needs_other_packages_names_them(tmp_path, monkeypatch):
    # Oracle: the documented rule.
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(NotImplementedError, match=r"PythonTokenizer\(jieba\.lcut\).*pip install"):
        text.JiebaTokenizer("hmm.utf8", "mp.utf8", mode=text.JiebaMode.MP, with_offsets=True)
    model = written(tmp_path, "model")
    with pytest.raises(ImportError, match="pip install sentencepiece"):
        text.SentencePieceTokenizer(model, text.SPieceTokenizerOutType.STRING)
    with pytest.raises(ValueError, match="the path of a model"):
        text.SentencePieceTokenizer(f"{model}.missing", text.SPieceTokenizerOutType.STRING)
    kind = text.SentencePieceModel.UNIGRAM
    for make in (text.SentencePieceVocab.from_file, text.SentencePieceVocab.from_dataset):
        given = ["words.txt"], 100, 0.99, kind, {}
        given = given if make.__name__ == "from_file" else (numbers(), *given)
        with pytest.raises(NotImplementedError, match="Train one with the package sentencepiece"):
            make(*given)


class Letters:
    """A processor of SentencePiece whose pieces are letters."""

    def __init__(self, model_file):
        self.path = model_file

    def encode(self, content, out_type):
        return [out_type(ord(letter)) if out_type is int else letter for letter in content]


def test_pieces_of_an_installed_package(tmp_path, monkeypatch):
    # Oracle: what the processor of the package gives.
    package = types.SimpleNamespace(SentencePieceProcessor=Letters)
    monkeypatch.setitem(sys.modules, "sentencepiece", package)
    model = written(tmp_path, "model")
    pieces = text.SentencePieceTokenizer(model, text.SPieceTokenizerOutType.STRING)
    assert pieces(np.array("你b")).tolist() == ["你", "b"]
    counted = text.SentencePieceTokenizer(model, text.SPieceTokenizerOutType.INT)
    found = pickle.loads(pickle.dumps(counted))(np.array("ab"))
    assert found.tolist() == [97, 98] and found.dtype == np.int32
    with pytest.raises(RuntimeError, match="a single text"):
        pieces(np.array(["a", "b"]))
    with pytest.raises(TypeError, match="out_type"):
        text.SentencePieceTokenizer(model, text.SPieceTokenizerLoadType.FILE)


# -- that all names are in a test --------------------------------------------------------------

SPACES = ("dataset", "dataset.vision", "dataset.transforms", "dataset.text", "dataset.audio")
WORD = re.compile(r"[A-Za-z_]\w*")
# These list names without using them.
LISTS = ("signatures.py", "mint_names.py")


def public(space):
    found = operator.attrgetter(space)(ms)
    names = [name for name in dir(found) if not name.startswith("_")]
    return {name for name in names if not isinstance(getattr(found, name), types.ModuleType)}


def test_every_public_name_is_in_a_test():
    # A coarse check: the name stands in the source of a test.
    words = set()
    for path in pathlib.Path(__file__).parents[1].rglob("*.py"):
        if path.name not in LISTS:
            words.update(WORD.findall(path.read_text(encoding="utf-8")))
    assert {space: public(space) - words for space in SPACES} == {space: set() for space in SPACES}


def test_what_functions_in_a_chain_give_becomes_arrays():
    """Oracle: MindSpore 2.10, where a chain that is called gives arrays."""
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    chain = transforms.Compose([lambda x: x + 1, Image.fromarray])
    np.testing.assert_array_equal(chain(image), image + 1)
    number = transforms.Compose([lambda x: 3])(image)
    assert isinstance(number, np.ndarray) and number.shape == () and number == 3
    first, second = transforms.Compose([lambda x: (x, [1, 2])])(image)
    assert first is image and second.tolist() == [1, 2] and isinstance(second, np.ndarray)


def test_a_hook_among_the_operations_of_a_map():
    """As MindSpore's page on debugging pipelines has it; the oracle is what the others compute."""
    seen = []

    class Look(ds.DebugHook):
        def compute(self, *args):
            seen.append(args[0].tolist())
            return args

    data = ds.NumpySlicesDataset(np.array([[1, 2], [3, 4]]), shuffle=False)
    data = data.map([lambda x: x + 1, Look(), lambda x: x * 10])
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    rows = [row[0].tolist() for row in iterator]
    assert seen == [[2, 3], [4, 5]] and rows == [[20, 30], [40, 50]]
