# SPDX-License-Identifier: Apache-2.0
"""Texts divided into tokens, with or without the places of these in UTF-8."""

from __future__ import annotations

import functools
import itertools
import re
import sys
import unicodedata

import numpy as np

from mycel.dataset.text.strings import (
    NormalizeForm,
    TextTensorOperation,
    case_folded,
    normalized,
    pattern_of,
    texts,
)
from mycel.dataset.text.vocabulary import Vocab
from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import undefined
from mycel.dataset.transforms.together import Ragged
from mycel.kernel.base.errors import wrong


class _Tokenizer(TextTensorOperation):
    """A text becomes tokens: `_parts` gives each with its place (in characters)."""

    with_offsets = False

    def _texts(self, array):
        if array.ndim:
            name, shown = f"The input of {type(self).__name__}", f"shape {array.shape}"
            raise wrong(RuntimeError, name, "a single text", shown)
        one = str(array)
        parts = [(token, start, end) for token, start, end in self._parts(one) if token]
        if not parts:
            parts = [("", 0, 0)]
        return _answer(one, parts, self.with_offsets)

    def _parts(self, one: str):
        raise undefined(self, "_parts")


def _answer(one: str, parts: list, with_offsets: bool):
    tokens = np.array([token for token, _, _ in parts], str)
    if not with_offsets:
        return tokens
    bytes_before = np.cumsum([0] + [len(character.encode()) for character in one])
    starts, ends = zip(*((start, end) for _, start, end in parts), strict=True)
    return (
        tokens,
        bytes_before[list(starts)].astype(np.uint32),
        bytes_before[list(ends)].astype(np.uint32),
    )


class UnicodeCharTokenizer(_Tokenizer):
    """Every character is a token.

    Args:
        with_offsets: whether the places where tokens begin and end come with them.

    Raises:
        TypeError: an argument is not a bool.
        RuntimeError: the input is not a single text.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.UnicodeCharTokenizer()(np.array("Hi!"))
        array(['H', 'i', '!'], dtype='<U1')
    """

    def __init__(self, with_offsets: bool = False):
        self.with_offsets = checks.boolean(with_offsets, "with_offsets")

    def _parts(self, one):
        return [(character, i, i + 1) for i, character in enumerate(one)]


# White space is that of Unicode; Python counts four separators of ASCII too.
_WORD = re.compile(r"[\S\x1c-\x1f]+")


class WhitespaceTokenizer(UnicodeCharTokenizer):
    """Tokens are what stands between white space.

    Args:
        with_offsets: whether the places where tokens begin and end come with them.

    Raises:
        TypeError: an argument is not a bool.
        RuntimeError: the input is not a single text.

    Example:
        >>> import mycel.dataset.text as text
        >>> tokens, starts, ends = text.WhitespaceTokenizer(True)(np.array("deep  learning"))
        >>> print(tokens, starts, ends)
        ['deep' 'learning'] [0 6] [ 4 14]
    """

    def _parts(self, one):
        return [(m.group(), m.start(), m.end()) for m in _WORD.finditer(one)]

    def _texts(self, array):
        if self.with_offsets or array.ndim:
            return super()._texts(array)
        return np.array(_WORD.findall(array.item()) or [""])

    def _together(self, rows):
        if self.with_offsets or not isinstance(rows, list):
            raise TypeError("with offsets, or not single texts")
        if any("\0" in one for one in rows):
            raise ValueError("NumPy cuts zeros off the end of a text")
        tokens = [_WORD.findall(one) or [""] for one in rows]
        return Ragged(list(itertools.chain.from_iterable(tokens)), list(map(len, tokens)))


class UnicodeScriptTokenizer(_Tokenizer):
    """A token ends where the script changes, or at white space.

    Args:
        keep_whitespace: whether white space is a token too.
        with_offsets: whether the places where tokens begin and end come with them.

    The script is taken from the names of characters in Unicode.

    Raises:
        TypeError: an argument is not a bool.
        RuntimeError: the input is not a single text.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.UnicodeScriptTokenizer()(np.array("Hi你好!"))
        array(['Hi', '你好', '!'], dtype='<U2')
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False):
        self.keep_whitespace = checks.boolean(bool(keep_whitespace), "keep_whitespace")
        self.with_offsets = checks.boolean(bool(with_offsets), "with_offsets")

    def _parts(self, one):
        start = 0
        for script, characters in itertools.groupby(one, _script):
            token = "".join(characters)
            if script != "space" or self.keep_whitespace:
                yield token, start, start + len(token)
            start += len(token)


def _script(character: str) -> str:
    if not _WORD.match(character):
        return "space"
    if not character.isalpha() and not unicodedata.category(character).startswith("M"):
        return "common"
    return unicodedata.name(character, "unknown").split()[0]


class RegexTokenizer(_Tokenizer):
    """Tokens are what stands between matches of a regular expression.

    Args:
        delim_pattern: what stands between tokens, in the syntax of Python's `re`.
        keep_delim_pattern: matches that this one matches too are tokens themselves.
        with_offsets: whether the places where tokens begin and end come with them.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: a pattern is not a regular expression, or the input is not a single text.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.RegexTokenizer("[ ,]", ",")(np.array("one, two"))
        array(['one', ',', 'two'], dtype='<U3')
    """

    def __init__(self, delim_pattern, keep_delim_pattern: str = "", with_offsets: bool = False):
        self.delim_pattern = pattern_of(delim_pattern, "delim_pattern")
        self.keep_delim_pattern = pattern_of(keep_delim_pattern, "keep_delim_pattern")
        self.with_offsets = checks.boolean(with_offsets, "with_offsets")

    def _parts(self, one):
        return _split(one, self.delim_pattern, self.keep_delim_pattern)


def _split(one: str, between: re.Pattern, kept: re.Pattern):
    start = 0
    for match in between.finditer(one):
        yield one[start : match.start()], start, match.start()
        if kept.pattern and kept.fullmatch(match.group()):
            yield match.group(), match.start(), match.end()
        start = match.end()
    yield one[start:], start, len(one)


_CHINESE = (
    "[\u4e00-\u9fff]|[\u3400-\u4dbf]|[\U00020000-\U0002a6df]|[\U0002a700-\U0002b73f]"
    "|[\U0002b740-\U0002b81f]|[\U0002b820-\U0002ceaf]|[\uf900-\ufaff]|[\U0002f800-\U0002fa1f]"
)
_UNUSED = r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]|"


@functools.cache
def _alone() -> str:
    """The characters that stand alone in BERT's texts: punctuation, symbols of ASCII, Chinese."""
    every = map(chr, range(0x80, sys.maxunicode + 1))
    marks = "".join(c for c in every if unicodedata.category(c).startswith("P"))
    return f"[!-/]|[:-@]|[\\[-`]|[{{-~]|[{marks}]|{_CHINESE}"


class BasicTokenizer(_Tokenizer):
    """Words, punctuation and Chinese characters, as BERT takes them.

    Args:
        lower_case: whether letters become small and lose their accents.
        keep_whitespace: whether white space is a token too.
        normalization_form: a form of Unicode, where letters keep their case.
        preserve_unused_token: whether "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]" stay whole.
        with_offsets: whether the places where tokens begin and end come with them.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the input is not a single text.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.BasicTokenizer(lower_case=True)(np.array("Café, 你好!"))
        array(['cafe', ',', '你', '好', '!'], dtype='<U4')
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ):
        self.lower_case = checks.boolean(lower_case, "lower_case")
        self.keep_whitespace = checks.boolean(keep_whitespace, "keep_whitespace")
        self.normalization_form = checks.enumeration(
            normalization_form, NormalizeForm, "normalization_form"
        )
        self.preserve_unused_token = checks.boolean(preserve_unused_token, "preserve_unused_token")
        self.with_offsets = checks.boolean(with_offsets, "with_offsets")
        whole = _UNUSED if preserve_unused_token else ""
        self._between = re.compile(rf"{whole}\s+|{_alone()}")
        space = r"\s+|" if keep_whitespace else ""
        self._kept = re.compile(f"{whole}{space}{_alone()}")

    def _texts(self, array):
        return super()._texts(np.array(self._prepared(str(array)) if not array.ndim else array))

    def _prepared(self, one: str) -> str:
        if self.lower_case:
            whole = rf"({_UNUSED[:-1]})" if self.preserve_unused_token else r"(\0)"
            pieces = re.split(whole, one)
            one = "".join(p if i % 2 else _small(p) for i, p in enumerate(pieces))
        else:
            one = normalized(one, self.normalization_form)
        # Control characters and those that only format stand for spaces, tabulators as well.
        return "".join(" " if unicodedata.category(c) in ("Cc", "Cf") else c for c in one)

    def _parts(self, one):
        return _split(one, self._between, self._kept)


def _small(one: str) -> str:
    apart = unicodedata.normalize("NFD", case_folded(one))
    return "".join(c for c in apart if unicodedata.category(c) != "Mn")


class WordpieceTokenizer(TextTensorOperation):
    """Words divided into the longest pieces that a vocabulary has.

    Args:
        vocab: the pieces, a `Vocab`.
        suffix_indicator: how pieces begin that do not begin a word.
        max_bytes_per_token: longer words are unknown.
        unknown_token: what stands for unknown words; the empty text keeps the word.
        with_offsets: whether the places where pieces begin and end come with them.

    Input: words, of at most one dimension.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has more dimensions.

    Example:
        >>> import mycel.dataset.text as text
        >>> vocab = text.Vocab.from_list(["my", "favor", "##ite"])
        >>> text.WordpieceTokenizer(vocab)(np.array(["my", "favorite", "book"]))
        array(['my', 'favor', '##ite', '[UNK]'], dtype='<U5')
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ):
        self.vocab = checks.instance(vocab, Vocab, "vocab", "a Vocab")
        self.suffix_indicator = checks.text(suffix_indicator, "suffix_indicator")
        self.max_bytes_per_token = checks.integer(max_bytes_per_token, "max_bytes_per_token", 0)
        self.unknown_token = checks.text(unknown_token, "unknown_token")
        self.with_offsets = checks.boolean(with_offsets, "with_offsets")

    def _texts(self, array):
        return self.pieces(array, np.zeros(array.size, int))

    def pieces(self, array: np.ndarray, starts: np.ndarray):
        """The pieces of words that begin at these places."""
        if array.ndim > 1:
            expected = "of at most one dimension"
            raise wrong(RuntimeError, "The input of WordpieceTokenizer", expected, f"{array.shape}")
        found = []
        for word, start in zip(array.ravel().tolist(), starts.tolist(), strict=True):
            found += [(piece, start + a, start + b) for piece, a, b in self._pieces(word)]
        found = found or [("", 0, 0)]
        tokens = np.array([piece for piece, _, _ in found], str)
        if not self.with_offsets:
            return tokens
        first, last = (np.array([part[i] for part in found], np.uint32) for i in (1, 2))
        return tokens, first, last

    def _pieces(self, word: str) -> list:
        length = len(word.encode())
        unknown = [(self.unknown_token or word, 0, length)]
        if length > self.max_bytes_per_token:
            return unknown
        numbers, found, start, place = self.vocab._numbers, [], 0, 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = (self.suffix_indicator if start else "") + word[start:end]
                if piece in numbers:
                    break
            else:
                return unknown
            behind = place + len(word[start:end].encode())
            found.append((piece, place, behind))
            start, place = end, behind
        return found


class BertTokenizer(BasicTokenizer):
    """`BasicTokenizer`, and `WordpieceTokenizer` on what it gives.

    Args:
        vocab: the pieces, a `Vocab`.
        suffix_indicator: how pieces begin that do not begin a word.
        max_bytes_per_token: longer words are unknown.
        unknown_token: what stands for unknown words; the empty text keeps the word.
        lower_case: whether letters become small and lose their accents.
        keep_whitespace: whether white space is a token too.
        normalization_form: a form of Unicode, where letters keep their case.
        preserve_unused_token: whether "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]" stay whole.
        with_offsets: whether the places where pieces begin and end come with them.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input is not a single text.

    Example:
        >>> import mycel.dataset.text as text
        >>> vocab = text.Vocab.from_list(["my", "favor", "##ite", "!"])
        >>> text.BertTokenizer(vocab, lower_case=True)(np.array("My favorite!"))
        array(['my', 'favor', '##ite', '!'], dtype='<U5')
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ):
        super().__init__(
            lower_case, keep_whitespace, normalization_form, preserve_unused_token, True
        )
        self._pieces = WordpieceTokenizer(
            vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets
        )

    def _texts(self, array):
        tokens, starts, _ = super()._texts(array)
        return self._pieces.pieces(texts(tokens), starts)
