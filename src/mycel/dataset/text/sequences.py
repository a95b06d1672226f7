# SPDX-License-Identifier: Apache-2.0
"""Sequences of tokens: cut, joined, counted off, looked up as vectors."""

from __future__ import annotations

import os

import numpy as np

from mycel.dataset.text.strings import TextTensorOperation
from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import TensorOperation, as_array
from mycel.kernel.base.errors import wrong


def _sequence(array: np.ndarray, name: str, *ranks: int) -> np.ndarray:
    if array.ndim not in (ranks or (1,)):
        expected = f"of {' or '.join(map(str, ranks or (1,)))} dimensions"
        raise wrong(RuntimeError, f"The input of {name}", expected, f"shape {array.shape}")
    return array


class Ngram(TextTensorOperation):
    """Tokens that follow each other, joined.

    Args:
        n: how many are joined, or a list of numbers; then all of them, one number after the other.
        left_pad, right_pad: (token, how often): what stands before and behind the tokens.
        separator: what stands between tokens that are joined.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input does not consist of texts, or does not have one dimension.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.Ngram(2, separator=" ")(np.array(["a", "b", "c"]))
        array(['a b', 'b c'], dtype='<U3')
    """

    def __init__(self, n, left_pad=("", 0), right_pad=("", 0), separator: str = " "):
        numbers = n if isinstance(n, list) else [n]
        if not numbers:
            raise wrong(ValueError, "n", "at least one number", "[]")
        self.numbers = [checks.integer(one, "n", 1) for one in numbers]
        for name, pad in (("left_pad", left_pad), ("right_pad", right_pad)):
            if not isinstance(pad, tuple) or len(pad) != 2:
                raise wrong(ValueError, name, "a pair (str, int)", repr(pad))
            checks.text(pad[0], name)
            checks.integer(pad[1], name, 0)
        self.left_pad, self.right_pad = left_pad, right_pad
        self.separator = checks.text(separator, "separator")

    def _texts(self, array):
        words = _sequence(array, "Ngram").tolist()
        (left, before), (right, behind) = self.left_pad, self.right_pad
        joined = []
        for n in self.numbers:
            padded = [left] * min(before, n - 1) + words + [right] * min(behind, n - 1)
            starts = range(len(padded) - n + 1)
            # As in MindSpore, too few tokens make one empty text.
            rows = [self.separator.join(padded[i : i + n]) for i in starts]
            joined += rows or [""]
        return np.array(joined, str)


class SlidingWindow(TensorOperation):
    """All runs of so many elements that follow each other, as rows.

    Args:
        width: how many elements a run has.
        axis: along which dimension; only 0, or -1 for one dimension.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has more dimensions.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.SlidingWindow(2)(np.array([1, 2, 3]))
        array([[1, 2],
               [2, 3]])
    """

    def __init__(self, width: int, axis: int = 0):
        self.width, self.axis = checks.integer(width, "width", 1), checks.integer(axis, "axis")

    def _arrays(self, array):
        _sequence(array, "SlidingWindow")
        if self.axis not in (0, -1):
            raise wrong(RuntimeError, "SlidingWindow: axis", "0 or -1", repr(self.axis))
        if len(array) < self.width:
            return np.empty(0, array.dtype)
        return np.lib.stride_tricks.sliding_window_view(array, self.width).copy()


class Truncate(TextTensorOperation):
    """Only so many tokens.

    Args:
        max_seq_len: how many.

    Input: tokens (L,), or (N, L).

    Raises:
        TypeError, ValueError: the number is wrong.
        RuntimeError: the input has more dimensions.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.Truncate(2)(np.array(["a", "b", "c"]))
        array(['a', 'b'], dtype='<U1')
    """

    def __init__(self, max_seq_len: int):
        self.max_seq_len = checks.integer(max_seq_len, "max_seq_len", 1)

    def _arrays(self, array):
        return _sequence(array, "Truncate", 1, 2)[..., : self.max_seq_len].copy()


class TruncateSequencePair(TextTensorOperation):
    """Two sequences that together have only so many elements; the longer is cut first.

    Args:
        max_length: how many.

    Raises:
        TypeError, ValueError: the number is wrong.
        RuntimeError: there are not two columns of one dimension.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.TruncateSequencePair(3)(np.array([1, 2, 3]), np.array([4, 5]))
        (array([1, 2]), array([4]))
    """

    def __init__(self, max_length: int):
        self.max_length = checks.integer(max_length, "max_length", 0)

    def __call__(self, *columns):
        """Both sequences."""
        if len(columns) != 2:
            shown = f"{len(columns)}"
            raise wrong(RuntimeError, "TruncateSequencePair", "given two columns", shown)
        first, last = (_sequence(as_array(one), "TruncateSequencePair") for one in columns)
        keep = [len(first), len(last)]
        while sum(keep) > self.max_length:
            keep[0 if keep[0] > keep[1] else 1] -= 1
        return first[: keep[0]].copy(), last[: keep[1]].copy()


class AddToken(TextTensorOperation):
    """One more token.

    Args:
        token: the token.
        begin: whether it comes before the others, or behind them.

    Input: tokens (L,), or (N, L).

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the input does not consist of texts, or has more dimensions.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.AddToken("[CLS]")(np.array(["a", "b"]))
        array(['[CLS]', 'a', 'b'], dtype='<U5')
    """

    def __init__(self, token: str, begin: bool = True):
        self.token, self.begin = checks.text(token, "token"), checks.boolean(begin, "begin")

    def _texts(self, array):
        _sequence(array, "AddToken", 1, 2)
        added = np.full((*array.shape[:-1], 1), self.token)
        parts = [added, array] if self.begin else [array, added]
        return np.concatenate(parts, axis=-1)


class Vectors:
    """Words and their vectors, read from a file by `from_file`.

    Example:
        >>> import mycel.dataset.text as text, os
        >>> with open("vectors.txt", "w") as file:
        ...     _ = file.write("deep 1 2\\nlearning 3 4\\n")
        >>> text.ToVectors(text.Vectors.from_file("vectors.txt"))(np.array("learning"))
        array([3., 4.], dtype=float32)
        >>> os.remove("vectors.txt")
    """

    def __init__(self, vectors: dict[str, np.ndarray], dimension: int):
        self._vectors, self._dimension = vectors, dimension

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None):
        """The words and vectors of a file: a word and its numbers in a line.

        Args:
            file_path: the path of the file, in UTF-8; a first line of two numbers does not count.
            max_vectors: how many lines are read; None reads all.

        Raises:
            TypeError, ValueError: an argument is wrong.
            RuntimeError: the file does not exist, or does not hold vectors of one length.

        Example:
            >>> import mycel.dataset.text as text, os
            >>> with open("vectors.txt", "w") as file:
            ...     _ = file.write("deep 1 2\\n")
            >>> text.ToVectors(text.Vectors.from_file("vectors.txt"))(np.array("deep"))
            array([1., 2.], dtype=float32)
            >>> os.remove("vectors.txt")
        """
        if not os.path.isfile(checks.text(file_path, "file_path")):
            raise wrong(RuntimeError, "file_path", "the path of a file", repr(file_path))
        if max_vectors is not None:
            checks.integer(max_vectors, "max_vectors", 0)
        vectors, dimension = {}, None
        with open(file_path, encoding="utf-8") as file:
            for number, line in enumerate(file):
                word, *numbers = line.rstrip().split(" ")
                if number == 0 and len(numbers) == 1:
                    continue
                dimension = len(numbers) if dimension is None else dimension
                if not numbers or len(numbers) != dimension:
                    expected, shown = f"with {dimension} numbers", f"line {number + 1}"
                    raise wrong(RuntimeError, f"A line of {file_path}", expected, shown)
                try:
                    vector = np.array(numbers, np.float32)
                except ValueError:
                    expected, shown = "a word and numbers, with one space between", line.rstrip()
                    raise wrong(RuntimeError, f"A line of {file_path}", expected, shown) from None
                vectors.setdefault(word, vector)
                if max_vectors and len(vectors) >= max_vectors:
                    break
        if dimension is None:
            raise wrong(RuntimeError, "file_path", "a file with vectors", repr(file_path))
        return cls(vectors, dimension)

    def look_up(self, word: str) -> np.ndarray | None:
        """The vector of a word, or None.

        Example:
            >>> import mycel.dataset.text as text
            >>> text.Vectors({"a": np.zeros(2)}, 2).look_up("b") is None
            True
        """
        return self._vectors.get(word)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension


class GloVe(Vectors):
    """Words and their vectors, read from a file of GloVe.

    Example:
        >>> import mycel.dataset.text as text
        >>> issubclass(text.GloVe, text.Vectors)
        True
    """


class FastText(Vectors):
    """Words and their vectors, read from a file of FastText.

    Example:
        >>> import mycel.dataset.text as text
        >>> issubclass(text.FastText, text.Vectors)
        True
    """


class CharNGram(Vectors):
    """Vectors of words from those of their runs of two to four characters.

    Example:
        >>> import mycel.dataset.text as text
        >>> runs = text.CharNGram({"2gram-ab": np.ones(2, np.float32)}, 2)
        >>> runs.look_up("ab")
        array([1., 1.], dtype=float32)
    """

    def look_up(self, word: str) -> np.ndarray | None:
        """The mean of the vectors of its runs, or None where there are none.

        Example:
            >>> import mycel.dataset.text as text
            >>> text.CharNGram({}, 2).look_up("ab") is None
            True
        """
        characters = ["#BEGIN#", *word, "#END#"]
        found = []
        for n in (2, 3, 4):
            for start in range(len(characters) - n + 1):
                run = f"{n}gram-{''.join(characters[start : start + n])}"
                if run in self._vectors:
                    found.append(self._vectors[run])
        return np.asarray(found).mean(0, dtype=np.float32) if found else None


class ToVectors(TextTensorOperation):
    """The vectors of words.

    Args:
        vectors: the words and their vectors.
        unk_init: the vector of words that are not there; None means zeros.
        lower_case_backup: whether a word that is not there is looked up in small letters.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input does not consist of texts.

    Example:
        >>> import mycel.dataset.text as text
        >>> vectors = text.Vectors({"deep": np.ones(2, np.float32)}, 2)
        >>> text.ToVectors(vectors, lower_case_backup=True)(np.array(["Deep", "sea"]))
        array([[1., 1.],
               [0., 0.]], dtype=float32)
    """

    def __init__(self, vectors: Vectors, unk_init=None, lower_case_backup: bool = False):
        self.vectors = checks.instance(vectors, Vectors, "vectors", "Vectors")
        unknown = np.zeros(vectors.dimension) if unk_init is None else unk_init
        checks.instance(unknown, (list, tuple, np.ndarray), "unk_init", "a list of numbers")
        if len(unknown) != vectors.dimension:
            expected = f"as long as a vector, {vectors.dimension}"
            raise wrong(ValueError, "unk_init", expected, f"{len(unknown)}")
        self.unknown = np.asarray(unknown, np.float32)
        self.lower_case_backup = checks.boolean(lower_case_backup, "lower_case_backup")

    def _texts(self, array):
        _sequence(array, "ToVectors", 0, 1)
        rows = [self._vector(word) for word in array.ravel().tolist()]
        return np.stack(rows).reshape(*array.shape, -1)

    def _vector(self, word: str) -> np.ndarray:
        found = self.vectors.look_up(word)
        if found is None and self.lower_case_backup:
            found = self.vectors.look_up(word.lower())
        return self.unknown if found is None else found
