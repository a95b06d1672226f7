# SPDX-License-Identifier: Apache-2.0
"""Tokenizers of other libraries: SentencePiece, where it is installed, and Jieba, which is not."""

from __future__ import annotations

import enum
import importlib
import os

import numpy as np

from mycel.dataset.text.strings import TextTensorOperation
from mycel.dataset.transforms import checks
from mycel.kernel.base.errors import wrong

NO_JIEBA = (
    "JiebaTokenizer needs the C++ library cppjieba, which mycel does not have. "
    "Write PythonTokenizer(jieba.lcut), with the package jieba: pip install jieba."
)
NO_SENTENCEPIECE = (
    "SentencePieceTokenizer needs the package sentencepiece: pip install sentencepiece."
)
NO_TRAINING = (
    "mycel does not train models of SentencePiece. Train one with the package sentencepiece "
    "and give SentencePieceTokenizer the path of its .model file."
)


class JiebaMode(enum.IntEnum):
    """How `JiebaTokenizer` divides texts.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.JiebaMode.HMM.value
        2
    """

    MIX = 0
    MP = 1
    HMM = 2


class SentencePieceModel(enum.IntEnum):
    """Kinds of models of SentencePiece.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.SentencePieceModel.BPE.value
        1
    """

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerOutType(enum.IntEnum):
    """What comes out of `SentencePieceTokenizer`: pieces or their numbers.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.SPieceTokenizerOutType.INT.value
        1
    """

    STRING = 0
    INT = 1


class SPieceTokenizerLoadType(enum.IntEnum):
    """Where `SentencePieceTokenizer` has its model from.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.SPieceTokenizerLoadType.MODEL.value
        1
    """

    FILE = 0
    MODEL = 1


class JiebaTokenizer(TextTensorOperation):
    """Chinese words by the dictionaries of Jieba, which cannot run here.

    Raises:
        NotImplementedError: always; the text says what to write instead.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.JiebaTokenizer("hmm.utf8", "mp.utf8")
        Traceback (most recent call last):
        NotImplementedError: ...
    """

    def __init__(self, hmm_path, mp_path, mode=JiebaMode.MIX, with_offsets: bool = False):
        raise NotImplementedError(NO_JIEBA)


class SentencePieceVocab:
    """A model of SentencePiece made in the program, which cannot be made here.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.SentencePieceVocab.from_file(["words.txt"], 100, 0.99, 0, {})
        Traceback (most recent call last):
        NotImplementedError: ...
    """

    @classmethod
    def from_dataset(cls, dataset, col_names, vocab_size, character_coverage, model_type, params):
        """Raises NotImplementedError, and says what to write instead."""
        raise NotImplementedError(NO_TRAINING)

    @classmethod
    def from_file(cls, file_path, vocab_size, character_coverage, model_type, params):
        """Raises NotImplementedError, and says what to write instead."""
        raise NotImplementedError(NO_TRAINING)


class SentencePieceTokenizer(TextTensorOperation):
    """Pieces of words by a model of SentencePiece; needs the package sentencepiece.

    Args:
        mode: the path of a model.
        out_type: whether pieces or their numbers come out.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input is not a single text.
        ImportError: sentencepiece is not installed.

    Example:
        >>> import mycel.dataset.text as text
        >>> text.SentencePieceTokenizer("missing.model", text.SPieceTokenizerOutType.INT)
        Traceback (most recent call last):
        ValueError: ...
    """

    def __init__(self, mode, out_type: SPieceTokenizerOutType):
        self.out_type = checks.enumeration(out_type, SPieceTokenizerOutType, "out_type")
        if not os.path.isfile(checks.text(mode, "mode")):
            raise wrong(ValueError, "mode", "the path of a model of SentencePiece", repr(mode))
        self.mode = mode
        self._processor = _processor(mode)

    def __reduce__(self):
        return type(self), (self.mode, self.out_type)

    def _texts(self, array):
        if array.ndim:
            expected = "a single text"
            raise wrong(RuntimeError, "The input of SentencePieceTokenizer", expected, "several")
        if self.out_type is SPieceTokenizerOutType.INT:
            return np.array(self._processor.encode(str(array), out_type=int), np.int32)
        return np.array(self._processor.encode(str(array), out_type=str), str)


def _processor(path: str):
    try:
        library = importlib.import_module("sentencepiece")
    except ImportError:
        raise ImportError(NO_SENTENCEPIECE) from None
    return library.SentencePieceProcessor(model_file=path)
