# SPDX-License-Identifier: Apache-2.0
"""Words and their numbers."""

from __future__ import annotations

import collections
import os
import pathlib

import numpy as np

from mycel.dataset.text.strings import TextTensorOperation, texts
from mycel.dataset.transforms import checks
from mycel.dataset.transforms.together import Ragged
from mycel.kernel.base.dtypes import int32, numpy_dtype
from mycel.kernel.base.errors import wrong


class Vocab:
    """Words and their numbers; made by `from_list`, `from_dict`, `from_file` or `from_dataset`.

    Example:
        >>> import mycel.dataset.text as text
        >>> vocab = text.Vocab.from_list(["deep", "learning"], special_tokens=["<unk>"])
        >>> vocab.vocab()
        {'<unk>': 0, 'deep': 1, 'learning': 2}
    """

    def __init__(self):
        self._numbers: dict[str, int] = {}
        self._words: dict[int, str] = {}

    @classmethod
    def _of(cls, numbers: dict[str, int]):
        made = cls()
        made._numbers = numbers
        made._words = {number: word for word, number in numbers.items()}
        return made

    @classmethod
    def from_list(cls, word_list: list, special_tokens: list | None = None, special_first=True):
        """Words numbered in the order of a list.

        Args:
            word_list: the words, all different.
            special_tokens: more words, such as "<pad>".
            special_first: whether those come first.

        Raises:
            TypeError: the arguments are not lists of str.
            ValueError: a word is there twice.

        Example:
            >>> import mycel.dataset.text as text
            >>> text.Vocab.from_list(["a", "b"]).vocab()
            {'a': 0, 'b': 1}
        """
        checks.instance(word_list, list, "word_list", "a list of str")
        checks.boolean(special_first, "special_first")
        special = _special(special_tokens)
        for word in word_list:
            checks.text(word, "word_list: a word")
        words = [*special, *word_list] if special_first else [*word_list, *special]
        twice = [word for word, number in collections.Counter(words).items() if number > 1]
        if twice:
            raise wrong(ValueError, "A word of a Vocab", "there once", f"{twice[0]!r} more often")
        return cls._of({word: number for number, word in enumerate(words)})

    @classmethod
    def from_dict(cls, word_dict: dict):
        """Words and numbers as a dict has them.

        Raises:
            TypeError: the argument is not a dict of str to int.
            ValueError: a number is negative.

        Example:
            >>> import mycel.dataset.text as text
            >>> text.Vocab.from_dict({"a": 3}).tokens_to_ids("a")
            3
        """
        checks.instance(word_dict, dict, "word_dict", "a dict of str to int")
        for word, number in word_dict.items():
            checks.text(word, "word_dict: a word")
            checks.integer(number, f"word_dict[{word!r}]", 0)
        return cls._of(dict(word_dict))

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list | None = None,
        special_first: bool = True,
    ):
        """Words out of a file, one in a line.

        Args:
            file_path: the path of the file, in UTF-8.
            delimiter: what ends a word in its line; the rest does not count.
            vocab_size: how many lines are read; None reads all.
            special_tokens: more words, such as "<pad>".
            special_first: whether those come first.

        Raises:
            TypeError, ValueError: an argument is wrong, or a word is there twice.
            RuntimeError: the file does not exist.

        Example:
            >>> import mycel.dataset.text as text, os
            >>> with open("words.txt", "w") as file:
            ...     _ = file.write("a,1\\nb,2\\n")
            >>> text.Vocab.from_file("words.txt", delimiter=",").vocab()
            {'a': 0, 'b': 1}
            >>> os.remove("words.txt")
        """
        if not os.path.isfile(checks.text(file_path, "file_path")):
            raise wrong(RuntimeError, "file_path", "the path of a file", repr(file_path))
        checks.text(delimiter, "delimiter")
        if vocab_size is not None:
            checks.integer(vocab_size, "vocab_size", 1)
        lines = pathlib.Path(file_path).read_text("utf-8").splitlines()
        words = [line.split(delimiter)[0] if delimiter else line for line in lines]
        return cls.from_list(words[:vocab_size], special_tokens, special_first)

    @classmethod
    def from_dataset(
        cls,
        dataset,
        columns=None,
        freq_range: tuple | None = None,
        top_k: int | None = None,
        special_tokens: list | None = None,
        special_first: bool = True,
    ):
        """The words of a dataset, the most frequent first.

        Args:
            dataset: the dataset.
            columns: a column or a list of them; None takes all that are texts.
            freq_range: (least, most): how often a word must come; None is no limit.
            top_k: how many words are taken; None takes all.
            special_tokens: more words, such as "<pad>".
            special_first: whether those come first.

        Raises:
            TypeError, ValueError: an argument is wrong, or a column is missing or does not hold
                texts.

        Example:
            >>> import mycel.dataset.text as text
            >>> class Words:
            ...     def create_dict_iterator(self, num_epochs, output_numpy):
            ...         yield {"word": np.array(["b", "a", "b"])}
            >>> text.Vocab.from_dataset(Words(), "word").vocab()
            {'b': 0, 'a': 1}
        """
        if top_k is not None:
            checks.integer(top_k, "top_k", 1)
        least, most = _frequencies(freq_range)
        counts: collections.Counter = collections.Counter()
        wanted = [columns] if isinstance(columns, str) else columns
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            counts.update(_words_of(row, wanted))
        within = [(word, n) for word, n in counts.items() if least <= n <= most]
        # Words of one frequency come in the order of the alphabet.
        words = [word for word, _ in sorted(within, key=lambda pair: (-pair[1], pair[0]))]
        special = _special(special_tokens)
        both = [word for word in special if word in counts]
        if both:
            expected = "no words of the dataset"
            raise wrong(ValueError, "special_tokens", expected, repr(both[0]))
        return cls.from_list(words[:top_k], special, special_first)

    def vocab(self) -> dict[str, int]:
        """All words and their numbers.

        Example:
            >>> import mycel.dataset.text as text
            >>> text.Vocab.from_list(["a"]).vocab()
            {'a': 0}
        """
        return dict(self._numbers)

    def tokens_to_ids(self, tokens):
        """The number of a word, or those of several; -1 for a word that is not there.

        Args:
            tokens: a str, a list of them, or an array.

        Raises:
            TypeError: something else.

        Example:
            >>> import mycel.dataset.text as text
            >>> text.Vocab.from_list(["a", "b"]).tokens_to_ids(["b", "c"])
            [1, -1]
        """
        if isinstance(tokens, str):
            return self._numbers.get(tokens, -1)
        tokens = tokens.tolist() if isinstance(tokens, np.ndarray) else tokens
        if isinstance(tokens, str):
            return self._numbers.get(tokens, -1)
        checks.instance(tokens, list, "tokens", "a str, a list of str or an array")
        found = [self._numbers.get(checks.text(token, "tokens"), -1) for token in tokens]
        return found[0] if len(found) == 1 else found

    def ids_to_tokens(self, ids):
        """The word of a number, or those of several; the empty text for one that is not there.

        Args:
            ids: an int, a list of them, or an array.

        Raises:
            TypeError: something else.
            ValueError: a negative number.

        Example:
            >>> import mycel.dataset.text as text
            >>> text.Vocab.from_list(["a", "b"]).ids_to_tokens([1, 0])
            ['b', 'a']
        """
        ids = ids.tolist() if isinstance(ids, np.ndarray) else ids
        if not isinstance(ids, list):
            return self._words.get(checks.integer(ids, "ids", 0), "")
        found = [self._words.get(checks.integer(one, "ids", 0), "") for one in ids]
        return found[0] if len(found) == 1 else found


def _special(tokens) -> list:
    if tokens is None:
        return []
    checks.instance(tokens, list, "special_tokens", "a list of str")
    for token in tokens:
        checks.text(token, "special_tokens: a token")
    if len(set(tokens)) != len(tokens):
        raise wrong(ValueError, "special_tokens", "all different", repr(tokens))
    return tokens


def _frequencies(freq_range) -> tuple[float, float]:
    if freq_range is None:
        return 0, float("inf")
    checks.instance(freq_range, tuple, "freq_range", "a tuple (least, most)")
    checks.sequence(freq_range, "freq_range", 2, error=ValueError)
    least, most = freq_range
    least, most = 0 if least is None else least, float("inf") if most is None else most
    if least > most:
        raise wrong(ValueError, "freq_range", "in the order (least, most)", repr(freq_range))
    return least, most


def _words_of(row: dict, columns) -> list[str]:
    words = []
    for name in row if columns is None else columns:
        if name not in row:
            raise wrong(ValueError, "columns", f"among {', '.join(row)}", repr(name))
        array = np.asarray(row[name])
        if array.dtype.kind in "US":
            words += texts(array).ravel().tolist()
        elif columns is not None:
            raise wrong(ValueError, f"The column {name!r}", "of texts", str(array.dtype))
    return words


class Lookup(TextTensorOperation):
    """The numbers of words.

    Args:
        vocab: the words and their numbers, a `Vocab`.
        unknown_token: the word whose number stands for words that are not there; None raises.
        data_type: the type of the numbers.

    Raises:
        TypeError, ValueError: an argument is wrong, or the unknown token is not in the vocabulary.
        RuntimeError: a word is not in the vocabulary.

    Example:
        >>> import mycel.dataset.text as text
        >>> lookup = text.Lookup(text.Vocab.from_list(["a", "b"]), unknown_token="a")
        >>> lookup(np.array(["b", "c"]))
        array([1, 0], dtype=int32)
    """

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type=int32):
        self.vocab = checks.instance(vocab, Vocab, "vocab", "a Vocab")
        self.unknown_token = unknown_token
        self.data_type = numpy_dtype(data_type)
        self._unknown = None
        if unknown_token is not None:
            self._unknown = vocab._numbers.get(checks.text(unknown_token, "unknown_token"))

    def _texts(self, array):
        return self._found(array.ravel().tolist()).reshape(array.shape)

    def _together(self, rows):
        if isinstance(rows, np.ndarray):
            return self._texts(texts(rows))
        if isinstance(rows, Ragged):
            if isinstance(rows.values, np.ndarray):
                raise TypeError("numbers, not texts")
            return rows._replace(values=self._found(rows.values))
        # As NumPy does with a single text.
        return self._found([one.rstrip("\0") for one in rows])

    def _found(self, words) -> np.ndarray:
        if self.unknown_token is not None and self._unknown is None:
            expected = "a word of the vocabulary"
            raise wrong(RuntimeError, "unknown_token", expected, repr(self.unknown_token))
        numbers = self.vocab._numbers
        if self._unknown is None:
            found = list(map(numbers.get, words))
        else:
            found = [numbers.get(word, self._unknown) for word in words]
        if None in found:
            expected = "in the vocabulary; give Lookup an unknown_token"
            raise wrong(RuntimeError, "A word", expected, repr(str(words[found.index(None)])))
        return np.array(found, self.data_type)
