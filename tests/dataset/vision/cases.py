# SPDX-License-Identifier: Apache-2.0
"""Operations whose results real MindSpore 2.10 gave; read by record.py and by the tests.

A case is a name, the expression that makes the operation (with `vision`, `V` its enumerations …)
and the names of its inputs.
"""

from __future__ import annotations

import io

import numpy as np


def inputs() -> dict:
    """Small images: random, smooth, of one channel, of floats, and encoded."""
    from PIL import Image

    numbers = np.random.default_rng(7)
    y, x = np.mgrid[:12, :10]
    smooth = np.stack([20 * x + 3 * y, 255 - 11 * x - 9 * y, 8 * ((x - 5) ** 2 + y)], -1)
    image = numbers.integers(0, 256, (6, 5, 3), dtype=np.uint8)
    made = {
        "image": image,
        "smooth": smooth.clip(0, 255).astype(np.uint8),
        "grey": numbers.integers(0, 256, (6, 5), dtype=np.uint8),
        "floats": numbers.random((6, 5, 3), dtype=np.float32),
        "channels_first": numbers.random((3, 6, 5), dtype=np.float32),
        "four": numbers.integers(0, 256, (6, 5, 4), dtype=np.uint8),
        "batch": numbers.integers(0, 256, (2, 4, 5, 3), dtype=np.uint8),
    }
    for name, options in (("png", {}), ("jpeg", {"quality": 90})):
        file = io.BytesIO()
        Image.fromarray(made["smooth"]).save(file, name, **options)
        made[name] = np.frombuffer(file.getvalue(), np.uint8)
    return made


# Expressions on arrays; a name behind "@" is the input, "image" without it.
ARRAYS = """
Resize((3, 4))
Resize((9, 7))
Resize((9, 7))@floats
Resize((9, 7))@grey
Resize(4)
Resize(9)@grey
Resize(7)@smooth
Resize((3, 4), Inter.NEAREST)
Resize((9, 7), Inter.NEAREST)
Resize((9, 7), Inter.BICUBIC)
Resize((4, 3), Inter.BICUBIC)@floats
Resize((4, 3), Inter.AREA)
Resize((9, 7), Inter.AREA)
Resize((9, 4), Inter.AREA)
Resize((3, 2), Inter.AREA)@smooth
Resize((4, 3), Inter.PILCUBIC)
ResizedCrop(1, 0, 4, 3, (5, 6))
Crop((1, 2), (3, 2))
CenterCrop(3)
CenterCrop((4, 2))
CenterCrop((9, 8))
CenterCrop((9, 2))@grey
Pad(1)
Pad((1, 2), (7, 8, 9))
Pad((1, 2, 3, 0), 5, Border.REFLECT)
Pad([1, 2, 3, 0], 5, Border.EDGE)@grey
Pad(2, 0, Border.SYMMETRIC)@floats
PadToSize(9)
PadToSize((8, 9), 1, 4)
RandomCrop((6, 5))
RandomCrop((8, 5), padding=(0, 1, 0, 1), fill_value=(1, 2, 3))
RandomCrop((10, 9), padding=2, padding_mode=Border.EDGE)
RandomResizedCrop((4, 4), (1.0, 1.0), (5 / 6, 5 / 6))
RandomResizedCrop((4, 4), (1.0, 1.0), (9.0, 9.0))
RandomResizedCrop((4, 4), (1.0, 1.0), (0.3, 0.3), Inter.NEAREST)
HorizontalFlip()
VerticalFlip()@grey
RandomHorizontalFlip(1.0)
RandomHorizontalFlip(0.0)
RandomVerticalFlip(1.0)
Rotate(30)
Rotate(30, Inter.BILINEAR)
Rotate(-77.5, Inter.BICUBIC, fill_value=9)@smooth
Rotate(30, Inter.BILINEAR, True)@smooth
Rotate(100, Inter.NEAREST, True)
Rotate(20, Inter.BILINEAR, False, (1, 2), 50)@grey
Rotate(90)
Rotate(180, expand=True)
RandomRotation((40, 40), Inter.BILINEAR)
RandomRotation((40, 40), Inter.BILINEAR, expand=True, fill_value=3)
Affine(20, (0.2, -0.1), 1.3, (5, 10), Inter.BILINEAR)@smooth
Affine(-40, [0.0, 0.0], 0.7, 20, Inter.NEAREST, 7)@smooth
Affine(10, [0.3, 0.4], 1.0, 0, Inter.BICUBIC, (1, 2, 3))@smooth
RandomAffine((15, 15), (0.2, 0.2, -0.1, -0.1), (1.2, 1.2), (5, 5, 3, 3))@smooth
RandomAffine((15, 15), None, (0.8, 0.8), (5, 5), Inter.BILINEAR, 60)@smooth
Perspective(CORNERS, [[1, 1], [8, 0], [9, 9], [0, 11]])@smooth
Perspective(CORNERS, [[1, 1], [8, 0], [9, 9], [0, 11]], Inter.NEAREST)@smooth
Perspective(CORNERS, [[1, 1], [8, 0], [9, 9], [0, 11]], Inter.BICUBIC)@smooth
SlicePatches(2, 2)
SlicePatches(2, 2, SliceMode.DROP)
SlicePatches(1, 3, SliceMode.PAD, 9)
AdjustBrightness(1.7)
AdjustBrightness(0.3)
AdjustContrast(1.6)
AdjustContrast(0.4)@smooth
AdjustSaturation(1.6)
AdjustSaturation(0.3)@smooth
AdjustHue(0.3)
AdjustHue(-0.2)@smooth
AdjustSharpness(2.5)
AdjustSharpness(0.0)@smooth
AdjustGamma(0.7)
AdjustGamma(2.0, 1.3)
AdjustGamma(0.7)@floats
AutoContrast()@smooth
AutoContrast(10.0, [10, 20])
AutoContrast(30.0)@smooth
Equalize()@smooth
Equalize()
Invert()
Posterize(3)
Posterize(0)
Solarize(100)
Solarize((50, 150))
GaussianBlur(3)
GaussianBlur(5, 1.5)@smooth
GaussianBlur((3, 5), (0.8, 2.0))@floats
GaussianBlur((3, 5), (0.8, 2.0))@grey
RandomColorAdjust((1.5, 1.5))
RandomColorAdjust(contrast=(1.5, 1.5))
RandomColorAdjust(saturation=(0.5, 0.5))
RandomColorAdjust(hue=(0.1, 0.1))@smooth
RandomColorAdjust()
RandomColor((1.5, 1.5))
RandomColor((0.2, 0.2))@smooth
RandomSharpness((1.5, 1.5))
RandomSharpness((0.2, 0.2))@smooth
RandomAdjustSharpness(1.4, 1.0)
RandomAutoContrast(0.0, None, 1.0)@smooth
RandomEqualize(1.0)@smooth
RandomInvert(1.0)
RandomPosterize((2, 2))
RandomPosterize(5)
RandomSolarize((90, 90))
RandomLighting(0.0)
AdjustBrightness(1.7)@grey
Resize((2, 3))@batch
CenterCrop(2)@batch
RandomHorizontalFlip(1.0)@batch
RandomResizedCrop((3, 2), (1.0, 1.0), (5 / 4, 5 / 4))@batch
HWC2CHW()
HWC2CHW()@grey
ToTensor()
ToTensor(np.float64)@grey
ToType(np.int32)@floats
Rescale(1 / 255, -0.5)
Normalize([120.0, 110.0, 100.0], (50.0, 60.0, 70.0))
Normalize([0.5], [0.25])@floats
Normalize([0.5, 0.4, 0.3], [0.2, 0.3, 0.4], False)@channels_first
Normalize([120.0], [50.0])@grey
Normalize([120.0, 110.0, 100.0], (50.0, 60.0, 70.0))@batch
NormalizePad([0.5, 0.4, 0.3], [0.2, 0.3, 0.4], is_hwc=False)@channels_first
LinearTransformation(np.arange(900.0).reshape(30, 30), np.arange(30.0))@grey
RgbToHsv(True)@floats
HsvToRgb(False)@channels_first
ConvertColor(ConvertMode.COLOR_RGB2GRAY)
ConvertColor(ConvertMode.COLOR_BGR2GRAY)
ConvertColor(ConvertMode.COLOR_RGB2BGRA)
ConvertColor(ConvertMode.COLOR_GRAY2RGBA)@grey
ConvertColor(ConvertMode.COLOR_BGRA2RGBA)@four
ConvertColor(ConvertMode.COLOR_BGRA2GRAY)@four
ConvertColor(ConvertMode.COLOR_RGB2GRAY)@floats
Decode()@png
Decode()@jpeg
RandomCropDecodeResize((4, 4), (1.0, 1.0), (10 / 12, 10 / 12))@png
Erase(4, 2, 3, 4, (1, 2, 3))
Erase(4, 0, 2, 2, 0.5)@floats
RandomErasing(0.0)@channels_first
Resize((3, 4))@image!
Resize(4)@image!
Resize((9, 7), Inter.ANTIALIAS)@smooth!
Resize((5, 7), Inter.BICUBIC)@grey!
CenterCrop((9, 2))@image!
Pad((1, 2, 3, 0), (7, 8, 9))@image!
Pad((1, 2, 3, 0), 5, Border.REFLECT)@grey!
RandomCrop((8, 5), padding=(0, 1, 0, 1), fill_value=(1, 2, 3))@image!
RandomResizedCrop((4, 4), (1.0, 1.0), (5 / 6, 5 / 6))@image!
RandomHorizontalFlip(1.0)@image!
RandomVerticalFlip(1.0)@image!
RandomRotation((40, 40), Inter.BILINEAR, True, None, (1, 2, 3))@smooth!
RandomRotation((40, 40), Inter.NEAREST, False, (1, 2))@image!
RandomAffine((15, 15), (0.0, 0.0), (1.2, 1.2), (5, 5, 3, 3))@smooth!
RandomAffine((15, 15), None, (0.8, 0.8), (5, 5), Inter.BILINEAR)@smooth!
Perspective([[1, 1], [8, 1], [8, 10], [1, 10]], [[2, 1], [7, 2], [8, 9], [1, 8]])@smooth!
FiveCrop(2)@image!
TenCrop((2, 3), True)@image!
AdjustBrightness(1.7)@image!
AdjustContrast(1.7)@image!
AdjustSaturation(1.7)@image!
AdjustHue(0.3)@image!
AdjustHue(-0.2)@image!
AdjustGamma(0.7)@image!
AutoContrast(10.0, 10)@smooth!
Equalize()@smooth!
Invert()@image!
RandomColorAdjust(hue=(0.1, 0.1))@image!
RandomColor((1.5, 1.5))@image!
RandomSharpness((1.5, 1.5))@image!
RandomLighting(0.0)@image!
Grayscale()@image!
Grayscale(3)@image!
RandomGrayscale(1.0)@image!
ToTensor()@image!
HWC2CHW()@image!
ToNumpy()@grey!
Normalize([120.0, 110.0, 100.0], (50.0, 60.0, 70.0))@image!
Decode(to_pil=True)@png
Decode(to_pil=True)@jpeg
"""


def split(line: str) -> tuple[str, str]:
    """The expression of a case and the name of its input."""
    expression, _, name = line.partition("@")
    return expression, name or "image"


def run(line: str, vision, given: dict) -> tuple:
    """What the operation of a case makes of its input, as arrays."""
    expression, name = split(line)
    image = given[name.removesuffix("!")]
    if name.endswith("!"):
        image = vision.ToPIL()(image)
    corners = [[0, 0], [9, 0], [9, 11], [0, 11]]
    operation = eval(expression, {"np": np, "CORNERS": corners, **vars(vision)})
    result = operation(image)
    return tuple(map(np.asarray, result if isinstance(result, (tuple, list)) else [result]))


# Operations of `text`; what follows "<-" is evaluated to the columns they are given.
TEXTS = r"""
UnicodeCharTokenizer() <- "Hi, 你好!"
UnicodeCharTokenizer(True) <- "Hé你!"
UnicodeCharTokenizer() <- ""
WhitespaceTokenizer() <- " deep  learning\tis fun "
WhitespaceTokenizer(with_offsets=True) <- "dé ep  你"
WhitespaceTokenizer() <- "   "
UnicodeScriptTokenizer() <- "Welcome to 北京! 1+1 Привет"
UnicodeScriptTokenizer(True, True) <- "Hi  北京!"
RegexTokenizer("[ ,]", ",") <- "one, two,three"
RegexTokenizer(" ", " ", True) <- "a  bé c"
RegexTokenizer("\\d+", "") <- "ab12cd3"
BasicTokenizer() <- "Welcome to Beijing, 北京! [CLS] don't"
BasicTokenizer(lower_case=True) <- "Café ÀÉ Straße, don't"
BasicTokenizer(True, True, NormalizeForm.NONE, False, True) <- "A b  [CLS]北c."
BasicTokenizer(False, False, NormalizeForm.NFKC, True, True) <- "ﬁne, ok"
BertTokenizer(VOCAB, lower_case=True) <- "My favorite books, unknown [UNK]"
BertTokenizer(VOCAB, with_offsets=True, unknown_token="") <- "my favorite 你x"
WordpieceTokenizer(VOCAB) <- ["my", "favorite", "book", "books", "x"]
WordpieceTokenizer(VOCAB, with_offsets=True) <- ["favorite", "my"]
WordpieceTokenizer(VOCAB, max_bytes_per_token=3, unknown_token="") <- ["favorite", "my"]
CaseFold() <- ["STRASSE Straße", "ﬁ ÀÉ"]
NormalizeUTF8() <- "ﬁ é ㎏"
NormalizeUTF8(NormalizeForm.NFD) <- "é"
NormalizeUTF8(NormalizeForm.NFC) <- ["e\u0301", "Å"]
NormalizeUTF8(NormalizeForm.NFKD) <- "ﬁé"
NormalizeUTF8(NormalizeForm.NONE) <- "ﬁ"
RegexReplace("(l+)o", "<$1>") <- ["hello"]
RegexReplace("o", "0", False) <- "foo"
FilterWikipediaXML() <- "Welcome    to    China 2024 &amp; &lt;b&gt; [[Link|Text]] {{x}}"
ToNumber(INT32) <- ["1", "-2", "3"]
ToNumber(FLOAT32) <- ["1.5", "-2e3"]
Ngram(2) <- ["a", "b", "c"]
Ngram([2, 3], ("<", 2), (">", 1), "-") <- ["a", "b", "c"]
Ngram(4) <- ["a", "b"]
SlidingWindow(2) <- [1, 2, 3, 4]
SlidingWindow(3) <- ["a", "b", "c"]
SlidingWindow(5) <- [1, 2]
Truncate(2) <- ["a", "b", "c"]
Truncate(2) <- [["a", "b", "c"], ["d", "e", "f"]]
TruncateSequencePair(4) <- [1, 2, 3], [4, 5]
TruncateSequencePair(5) <- [1, 2, 3, 4], [5, 6, 7, 8]
TruncateSequencePair(2) <- ["a"], ["b", "c", "d"]
AddToken("[S]") <- ["a", "b"]
AddToken("E", False) <- [["a"], ["b"]]
Lookup(VOCAB) <- ["my", "book"]
Lookup(VOCAB, "[UNK]") <- ["my", "zzz"]
Lookup(VOCAB, None, INT64) <- "book"
"""
VOCABULARY = ["[UNK]", "my", "favor", "##ite", "book", "你", ","]

# Operations of `transforms`, in the same way.
TRANSFORMS = r"""
OneHot(4) <- 2
OneHot(4) <- [2, 1]
OneHot(4) <- [[2, 1]]
OneHot(4, 0.1) <- np.int32(2)
Fill(3) <- [1.5, 2.5]
Fill(-3) <- np.array([1, 2], np.uint8)
Fill("ab") <- ["x", "yyy"]
Duplicate() <- [1, 2]
Concatenate(0, np.array([7, 8]), np.array([9])) <- [1, 2]
Concatenate() <- ["a", "bcd"], ["x"]
Mask(Relational.GE, 2) <- [1, 2, 3]
Mask(Relational.EQ, 2, INT32) <- [1, 2, 3]
Mask(Relational.LT, 2.5) <- np.array([1, 2, 3], np.float32)
Mask(Relational.NE, "b") <- ["a", "b"]
PadEnd([4], 9) <- [1, 2]
PadEnd([1, 4], 5) <- [[1, 2], [3, 4]]
PadEnd([3], "z") <- ["a", "bb"]
PadEnd([3]) <- [1.5]
Slice(slice(1, 3)) <- [1, 2, 3, 4]
Slice([0, 2]) <- [1, 2, 3, 4]
Slice(0) <- [1, 2, 3, 4]
Slice(None, [0]) <- [[1, 2], [3, 4]]
Slice(..., 0) <- [[[1, 2], [3, 4]]]
Slice(-1) <- [1, 2, 3]
Slice(0, 1) <- [[1, 2], [3, 4]]
Unique() <- [[3, 1], [3, 2]]
TypeCast(INT32) <- [1.7, -1.7, 2.5]
TypeCast(np.uint8) <- [1.7, -1.7, 300.0]
TypeCast(np.float16) <- [1.7, 2]
TypeCast(BOOL) <- [1.7, 0]
Compose([TypeCast(INT32), PadEnd([4])]) <- [1.5, 2.5]
RandomApply([OneHot(3)], 1.0) <- 2
RandomApply([OneHot(3)], 0.0) <- 2
RandomChoice([OneHot(3)]) <- 2
RandomOrder([OneHot(3)]) <- 2
"""


def apply(line: str, module, root) -> tuple:
    """What a case of TEXTS or TRANSFORMS gives, as arrays."""
    expression, _, given = line.partition(" <- ")
    names = {"np": np, **vars(module)}
    names |= {"INT32": root.int32, "INT64": root.int64, "FLOAT32": root.float32}
    names["BOOL"] = root.bool_
    if hasattr(module, "Vocab"):
        names["VOCAB"] = module.Vocab.from_list(VOCABULARY)
    columns = eval(f"({given},)", {"np": np})
    result = eval(expression, names)(*map(np.array, columns))
    return tuple(map(np.asarray, result if isinstance(result, tuple) else [result]))
