# SPDX-License-Identifier: Apache-2.0
"""Operations that change texts, element by element."""

from __future__ import annotations

import enum
import re
import unicodedata

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import TensorOperation, as_array
from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside


def texts(array: np.ndarray) -> np.ndarray:
    """The array with str for elements; bytes are decoded as UTF-8.

    Raises:
        RuntimeError: the array holds numbers.
    """
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf8")
    if array.dtype.kind != "U":
        raise wrong(RuntimeError, "The input", "texts", f"an array of {array.dtype}")
    return array


class TextTensorOperation(TensorOperation):
    """The base class of operations on texts.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.CaseFold()("Deep Learning")
        array('deep learning', dtype='<U13')
    """

    _new = True

    def _arrays(self, array: np.ndarray):
        return self._texts(texts(array))

    def _texts(self, array: np.ndarray):
        return each(self._text, array)

    def _text(self, one: str) -> str:
        raise NotImplementedError(f"{type(self).__name__} does not say what it does to a text.")


def each(function, array: np.ndarray) -> np.ndarray:
    """The array with a function applied to each text."""
    return np.array([function(one) for one in array.ravel().tolist()], str).reshape(array.shape)


def to_bytes(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """An array of bytes from one of str.

    Raises:
        ValueError: the input is not an array.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.to_bytes(np.array(["a"]))
        array([b'a'], dtype='|S1')
    """
    return np.char.encode(_array(array, ValueError), encoding)


def to_str(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """An array of str from one of bytes; one of str stays.

    Raises:
        TypeError: the input is not an array.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.to_str(np.array([b"a"]))
        array(['a'], dtype='<U1')
    """
    array = _array(array, TypeError)
    # Elements of a dataset are str here already, where MindSpore's were bytes once.
    return array if array.dtype.kind == "U" else np.char.decode(array, encoding)


def _array(array, kind: type) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise wrong(kind, "The input", "an array", type(array).__name__)
    return array


class NormalizeForm(enum.IntEnum):
    """Which form of Unicode `NormalizeUTF8` makes.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.NormalizeForm.NFKC.value
        2
    """

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


def normalized(one: str, form: NormalizeForm) -> str:
    """A text in a form of Unicode."""
    return one if form is NormalizeForm.NONE else unicodedata.normalize(form.name, one)


# What Unicode calls default ignorable: soft hyphens, joiners, fillers, selectors of variants, tags.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


def case_folded(one: str) -> str:
    """A text with small letters and without ignorable characters, in NFKC: ICU's NFKC_Casefold."""
    folded = unicodedata.normalize("NFKC", one).casefold()
    return unicodedata.normalize("NFKC", _IGNORABLE.sub("", folded))


class CaseFold(TextTensorOperation):
    """Small letters, in every script, and no invisible characters; for comparing texts.

    Raises:
        RuntimeError: the input does not consist of texts.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.CaseFold()(np.array(["STRASSE", "Straße"]))
        array(['strasse', 'strasse'], dtype='<U7')
    """

    def _text(self, one):
        return case_folded(one)


class NormalizeUTF8(TextTensorOperation):
    """A form of Unicode in which equal texts are equal.

    Args:
        normalize_form: which one, a `NormalizeForm`.

    Raises:
        TypeError: `normalize_form` is not a `NormalizeForm`.
        RuntimeError: the input does not consist of texts.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.NormalizeUTF8(text.NormalizeForm.NFKC)(np.array("ﬁ"))
        array('fi', dtype='<U2')
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC):
        form = NormalizeForm.NFKC if normalize_form is None else normalize_form
        self.normalize_form = checks.enumeration(form, NormalizeForm, "normalize_form")

    def _text(self, one):
        return normalized(one, self.normalize_form)


def pattern_of(pattern: str, name: str) -> re.Pattern:
    """A regular expression.

    Raises:
        TypeError: the argument is not a str.
        RuntimeError: the regular expression is not valid.
    """
    try:
        return re.compile(checks.text(pattern, name))
    except re.error as error:
        shown = f"{pattern!r} ({error})"
        raise wrong(RuntimeError, name, "a regular expression", shown) from None


class RegexReplace(TextTensorOperation):
    """What matches a regular expression is replaced.

    Args:
        pattern: the expression, in the syntax of Python's `re`.
        replace: what comes in its place; `$1` is the first group.
        replace_all: whether all matches are replaced, or the first.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the pattern is not a regular expression, or the input does not consist of
            texts.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.RegexReplace("(l+)o", "<$1>")(np.array("hello"))
        array('he<ll>', dtype='<U6')
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True):
        self.pattern = pattern_of(pattern, "pattern")
        checks.text(replace, "replace")
        self.replace_all = checks.boolean(replace_all, "replace_all")
        # `$1` of ICU is `\g<1>` of Python.
        self.replace = re.sub(r"\$(\d)", r"\\g<\1>", replace.replace("\\", r"\\"))

    def _text(self, one):
        return self.pattern.sub(self.replace, one, 0 if self.replace_all else 1)


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class FilterWikipediaXML(TextTensorOperation):
    """Only small letters and single spaces of a dump of Wikipedia; digits become words.

    Tags with all that stands between them, redirections and entities are left out.

    Raises:
        RuntimeError: the input does not consist of texts.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.FilterWikipediaXML()(np.array("Welcome    to    <b>  China 7"))
        array('welcome to china seven', dtype='<U22')
    """

    def _text(self, one):
        one = re.sub("(?i)#redirect.*|<.*>", "", one)
        one = re.sub("&[^;]*;", " ", one).lower()
        for digit, word in enumerate(_DIGITS):
            one = one.replace(str(digit), f" {word} ")
        return " ".join(re.sub("[^a-z]", " ", one).split())


class ToNumber(TextTensorOperation):
    """Numbers out of texts.

    Args:
        data_type: the type of the numbers.

    Raises:
        TypeError: the type is not an element type.
        RuntimeError: the text is not a number of this type.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.ToNumber(ms.int32)(np.array(["1", "-2"]))
        array([ 1, -2], dtype=int32)
    """

    def __init__(self, data_type):
        self.data_type = numpy_dtype(data_type)
        if self.data_type.kind not in "iuf":
            raise wrong(TypeError, "data_type", "an integer or a float type", str(self.data_type))

    def _texts(self, array):
        read = float if self.data_type.kind == "f" else _integer
        try:
            numbers = [read(one) for one in array.ravel().tolist()]
            return np.array(numbers, self.data_type).reshape(array.shape)
        except (ValueError, OverflowError) as error:
            expected = f"a number of type {self.data_type}"
            raise wrong(RuntimeError, "A text for ToNumber", expected, str(error)) from None


def _integer(one: str) -> int:
    """The integer in a text; a fraction is cut off, as in MindSpore."""
    return int(float(one)) if "." in one else int(one)


class PythonTokenizer:
    """A tokenizer of your own.

    Args:
        tokenizer: a function of one str that returns a list of str.

    Raises:
        TypeError: the function cannot be called, or the input is not an array.
        RuntimeError: the function fails.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.PythonTokenizer(str.split)(np.array("deep learning"))
        array(['deep', 'learning'], dtype='<U8')
    """

    random = False

    def __init__(self, tokenizer):
        if not callable(tokenizer):
            raise wrong(TypeError, "tokenizer", "a function", type(tokenizer).__name__)
        self.tokenizer = tokenizer

    def __call__(self, in_array):
        """The tokens of a text."""
        array = texts(as_array(_array(in_array, TypeError)))
        try:
            rows = [self.tokenizer(one) for one in array.ravel().tolist()]
        except Exception as error:
            if came_from_outside(error):
                raise
            name = getattr(self.tokenizer, "__name__", repr(self.tokenizer))
            raise RuntimeError(f"The tokenizer {name} failed: {error}") from error
        return np.array(rows, str).reshape(*array.shape, -1)
