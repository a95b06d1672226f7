# SPDX-License-Identifier: Apache-2.0
"""Collections of texts in two languages."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from functools import partial

import numpy as np

from mycel.dataset.engine.dataset import TextBaseDataset
from mycel.dataset.engine.files import FilesDataset
from mycel.dataset.engine.images import NO_FILE, folder_of, one_of
from mycel.dataset.published.folders import UNREADABLE_LINE
from mycel.dataset.samplers import Shuffle
from mycel.dataset.transforms.operations import undefined
from mycel.kernel.base.errors import wrong


class _Translations(FilesDataset, TextBaseDataset):
    """Lines of two texts side by side; a file stands for itself and its translation."""

    # In the order in which "all" reads them.
    parts: tuple[str, ...] = ("train", "valid", "test")

    def _columns(self):
        return ["text", "translation"]

    def _open(self, dataset_dir, usage, language_pair, pairs, *common) -> None:
        what = type(self).__name__
        self.dataset_dir = folder_of(dataset_dir, what)
        usages = ("train", "valid", "test", "all")
        self.usage = one_of("all" if usage is None else usage, usages, f"{what}: usage")
        if not isinstance(language_pair, (list, tuple)):
            expected = "a list of two languages"
            raise wrong(TypeError, f"{what}: language_pair", expected, repr(language_pair))
        if tuple(language_pair) not in pairs:
            expected = f"one of {', '.join(map(str, pairs))}"
            raise wrong(ValueError, f"{what}: language_pair", expected, repr(language_pair))
        self.language_pair = tuple(language_pair)
        parts = self.parts if self.usage == "all" else (self.usage,)
        super().__init__([str(self._file(part, self.language_pair[0])) for part in parts], *common)

    def _file(self, part: str, language: str):
        """Where the texts of a language are."""
        raise undefined(self, "_file")

    def _other(self, path: str) -> str:
        """Where the translation of a file is."""
        first, second = self.language_pair
        for ending in ("", ".xml"):
            if path.endswith(f".{first}{ending}"):
                return path[: -len(f"{first}{ending}")] + second + ending
        raise undefined(self, f"the translation of {path}")

    def _sentences(self, path: str) -> list[str]:
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file if line.strip()]

    def _rows(self, path):
        other = self._other(path)
        try:
            texts, translations = self._sentences(path), self._sentences(other)
        except FileNotFoundError:
            missing = NO_FILE.format(dataset=self.name, name=other, folder=self.dataset_dir)
            raise RuntimeError(missing) from None
        if len(texts) != len(translations):
            raise RuntimeError(
                f"{self.name}: {path} has {len(texts)} sentences, but {other} has "
                f"{len(translations)}."
            )
        for text, translation in zip(texts, translations, strict=True):
            yield {"text": np.array(text), "translation": np.array(translation)}


class Multi30kDataset(_Translations):
    """Captions of pictures in two languages: `text` and `translation`.

    Args:
        dataset_dir: has `training/train.en`, `validation/val.en`, `mmt16_task1_test/test.en`, and
            the same in German, `.de`.
        usage: 'train', 'valid', 'test' or 'all', which None means too.
        language_pair: ['en', 'de'], which None means too, or ['de', 'en'].
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: there are more sentences in one language; the text names the files.

    Example:
        >>> folder = getfixture("tmp_path") / "training"
        >>> folder.mkdir()
        >>> for language, text in (("en", "a dog"), ("de", "ein Hund")):
        ...     _ = (folder / f"train.{language}").write_text(text)
        >>> data = ds.Multi30kDataset(folder.parent, "train", ["de", "en"])
        >>> [str(value) for value in next(iter(data))]
        ['ein Hund', 'a dog']
    """

    parts = ("test", "train", "valid")

    def __init__(
        self,
        dataset_dir,
        usage=None,
        language_pair=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        shuffle = Shuffle.GLOBAL if shuffle is None else shuffle
        pair = ("en", "de") if language_pair is None else language_pair
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, usage, pair, (("en", "de"), ("de", "en")), *common)

    def _file(self, part, language):
        folder, name = {
            "train": ("training", "train"),
            "valid": ("validation", "val"),
            "test": ("mmt16_task1_test", "test"),
        }[part]
        return self.dataset_dir / folder / f"{name}.{language}"


_SETS = ("dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014")


class IWSLT2016Dataset(_Translations):
    """Talks in two languages: `text` and `translation`.

    Args:
        dataset_dir: has `texts`, in which those from German to English are in `de/en/de-en`, and
            other pairs likewise.
        usage: 'train', 'valid', 'test' or 'all', which None means too.
        language_pair: the languages, one of them 'en'; None means ('de', 'en').
        valid_set: the set for validation, 'tst2013' if None.
        test_set: the set for tests, 'tst2014' if None.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: there are more sentences in one language; the text names the files.

    Example:
        >>> folder = getfixture("tmp_path") / "texts" / "de" / "en" / "de-en"
        >>> folder.mkdir(parents=True)
        >>> for language, text in (("en", "thank you"), ("de", "danke")):
        ...     path = folder / f"train.tags.de-en.{language}"
        ...     _ = path.write_text(f"<url>x</url>\\n{text}\\n")
        >>> data = ds.IWSLT2016Dataset(getfixture("tmp_path"), "train")
        >>> [str(value) for value in next(iter(data))]
        ['danke', 'thank you']
    """

    year = 16

    def __init__(
        self,
        dataset_dir,
        usage=None,
        language_pair=None,
        valid_set=None,
        test_set=None,
        num_samples=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        num_parallel_workers=None,
        cache=None,
    ):
        check = partial(one_of, known=_SETS)
        self.valid_set = check(valid_set or "tst2013", what="IWSLT2016Dataset: valid_set")
        self.test_set = check(test_set or "tst2014", what="IWSLT2016Dataset: test_set")
        pair = ("de", "en") if language_pair is None else language_pair
        pairs = [("en", other) for other in ("ar", "de", "fr", "cs")]
        pairs += [pair_[::-1] for pair_ in pairs]
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, usage, pair, pairs, *common)

    def _folder(self):
        first, second = self.language_pair
        return self.dataset_dir / "texts" / first / second / f"{first}-{second}"

    def _file(self, part, language):
        pair = "-".join(self.language_pair)
        if part == "train":
            return self._folder() / f"train.tags.{pair}.{language}"
        name = self.valid_set if part == "valid" else self.test_set
        return self._folder() / f"IWSLT{self.year}.TED.{name}.{pair}.{language}.xml"

    def _sentences(self, path):
        if not path.endswith(".xml"):
            return [line for line in super()._sentences(path) if not line.startswith("<")]
        try:
            return [(part.text or "").strip() for part in ElementTree.parse(path).iter("seg")]
        except ElementTree.ParseError as error:
            line = error.position[0]
            text = UNREADABLE_LINE.format(dataset=self.name, line=line, path=path, reason=error)
            raise RuntimeError(text) from None


class IWSLT2017Dataset(IWSLT2016Dataset):
    """Talks in two languages: `text` and `translation`.

    Args:
        dataset_dir: has the files in `texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo`.
        usage: 'train', 'valid', 'test' or 'all', which None means too.
        language_pair: two of 'de', 'en', 'it', 'nl' and 'ro'; None means ('de', 'en').
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: there are more sentences in one language; the text names the files.

    Example:
        >>> folder = getfixture("tmp_path") / "texts" / "DeEnItNlRo" / "DeEnItNlRo"
        >>> folder = folder / "DeEnItNlRo-DeEnItNlRo"
        >>> folder.mkdir(parents=True)
        >>> for language, text in (("it", "grazie"), ("de", "danke")):
        ...     _ = (folder / f"train.tags.it-de.{language}").write_text(text)
        >>> data = ds.IWSLT2017Dataset(getfixture("tmp_path"), "train", ("it", "de"))
        >>> [str(value) for value in next(iter(data))]
        ['grazie', 'danke']
    """

    year = 17

    def __init__(
        self,
        dataset_dir,
        usage=None,
        language_pair=None,
        num_samples=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        num_parallel_workers=None,
        cache=None,
    ):
        self.valid_set, self.test_set = "dev2010", "tst2010"
        pair = ("de", "en") if language_pair is None else language_pair
        known = ("de", "en", "it", "nl", "ro")
        pairs = [(first, second) for first in known for second in known if first != second]
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, usage, pair, pairs, *common)

    def _folder(self):
        name = "DeEnItNlRo"
        return self.dataset_dir / "texts" / name / name / f"{name}-{name}"
