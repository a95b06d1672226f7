# SPDX-License-Identifier: Apache-2.0
"""Bad arguments and inputs; oracle: the kinds of errors that real MindSpore 2.10 raises."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from mycel.dataset import text, transforms, vision

IMAGE = np.zeros((6, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("error", "made"),
    [
        (TypeError, lambda: vision.Resize("3")),
        (TypeError, lambda: vision.Resize((3, 4, 5))),
        (ValueError, lambda: vision.Resize(0)),
        (TypeError, lambda: vision.Resize(3, 2)),
        (TypeError, lambda: vision.Resize(3, vision.Inter.ANTIALIAS)(IMAGE)),
        (TypeError, lambda: vision.CenterCrop(2.5)),
        (ValueError, lambda: vision.RandomHorizontalFlip(1.5)),
        (TypeError, lambda: vision.RandomHorizontalFlip("0.5")),
        (TypeError, lambda: vision.RandomHorizontalFlip(True)),
        (ValueError, lambda: vision.Normalize([0.5], [0.0])),
        (ValueError, lambda: vision.Normalize([0.5, 0.5], [0.5])),
        (ValueError, lambda: vision.Normalize([-0.5], [0.5])),
        (TypeError, lambda: vision.Normalize(0.5, 0.5)),
        (RuntimeError, lambda: vision.Normalize([1.0, 2.0], [1.0, 2.0])(IMAGE)),
        (TypeError, lambda: vision.HWC2CHW()([1, 2])),
        (RuntimeError, lambda: vision.HWC2CHW()(IMAGE[0, 0])),
        (RuntimeError, lambda: vision.RandomCrop(9)(IMAGE)),
        (ValueError, lambda: vision.RandomCrop(9)(vision.ToPIL()(IMAGE))),
        (RuntimeError, lambda: vision.Crop((4, 4), 3)(IMAGE)),
        (ValueError, lambda: vision.Pad((1, 2, 3))),
        (TypeError, lambda: vision.Pad(1, 0.5)),
        (TypeError, lambda: vision.Pad(1, 0, "constant")),
        (TypeError, lambda: vision.Grayscale()(IMAGE)),
        (ValueError, lambda: vision.GaussianBlur(4)),
        (RuntimeError, lambda: vision.CutOut(7)(IMAGE)),
        (RuntimeError, lambda: vision.Invert()(IMAGE[..., 0])),
        (RuntimeError, lambda: vision.Decode()(np.arange(9, dtype=np.uint8))),
        (ValueError, lambda: vision.Decode(True)(np.arange(9, dtype=np.uint8))),
        (TypeError, lambda: vision.Decode()(IMAGE)),
        (RuntimeError, lambda: vision.read_image("/nowhere.png")),
        (RuntimeError, lambda: vision.encode_jpeg(IMAGE, 101)),
        (RuntimeError, lambda: vision.encode_png(IMAGE.astype(np.float32))),
        (RuntimeError, lambda: vision.MixUpBatch()(IMAGE, np.eye(2))),
        (RuntimeError, lambda: vision.MixUpBatch()(IMAGE[None], np.array([1]))),
        (TypeError, lambda: vision.ToPIL()(IMAGE.astype(np.float32))),
        (ValueError, lambda: vision.RandomSelectSubpolicy([])),
        (ValueError, lambda: vision.UniformAugment([vision.Invert()], 2)),
        (ValueError, lambda: vision.HWC2CHW().device("TPU")),
        (ValueError, lambda: transforms.Compose([])),
        (ValueError, lambda: transforms.Compose([vision.ToPIL])),
        (TypeError, lambda: transforms.Compose((vision.ToPIL(),))),
        (TypeError, lambda: transforms.Compose([1])),
        (RuntimeError, lambda: transforms.OneHot(2)(np.array(2))),
        (RuntimeError, lambda: transforms.OneHot(2)(np.array(1.0))),
        (TypeError, lambda: transforms.TypeCast(None)),
        (RuntimeError, lambda: transforms.PadEnd([3, 3])(np.array([1]))),
        (RuntimeError, lambda: transforms.Slice(9)(np.array([1, 2]))),
        (ValueError, lambda: text.Vocab.from_list(["a", "a"])),
        (RuntimeError, lambda: text.Lookup(text.Vocab.from_list(["a"]))(np.array("b"))),
        (RuntimeError, lambda: text.ToNumber(ms.int8)(np.array(["300"]))),
        (RuntimeError, lambda: text.WhitespaceTokenizer()(np.array(["a", "b"]))),
        (RuntimeError, lambda: text.RegexTokenizer("(")(np.array("a"))),
        (ValueError, lambda: text.Ngram(0)),
    ],
)
def test_the_kind_of_error(error, made):
    with pytest.raises(error):
        made()


def test_errors_tell_the_line():
    """Oracle: the text itself."""
    with pytest.raises(ValueError, match=r"prob must be in \[0, 1\], but 1.5 .*test_errors.py:\d+"):
        vision.RandomVerticalFlip(1.5)


def test_pillow_is_asked_for_where_it_is_needed(monkeypatch):
    """Oracle: the text itself."""
    from mycel.dataset.vision import pillow

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(pillow, "_module", missing)
    with pytest.raises(ImportError, match=r"Decode needs Pillow.*mycel\[data\]"):
        vision.Decode()(np.zeros(3, np.uint8))
    assert vision.Resize((2, 2))(IMAGE).shape == (2, 2, 3)


@pytest.mark.parametrize("shape", [(), (4,)])
@pytest.mark.parametrize(
    "operation",
    [
        vision.Resize(2),
        vision.RandomResize(2),
        vision.RandomCrop(1),
        vision.RandomResizedCrop(1),
        vision.RandomAffine(1),
    ],
)
def test_what_is_no_image_has_no_height(operation, shape):
    """Oracle: MindSpore 2.10 raises a RuntimeError."""
    name = type(operation).__name__
    with pytest.raises(RuntimeError, match=f"^The input of {name} must be of shape"):
        operation(np.zeros(shape, np.uint8))
