# SPDX-License-Identifier: Apache-2.0
"""Collections of texts, which are read line by line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator

import numpy as np

from mycel.dataset.engine.dataset import TextBaseDataset
from mycel.dataset.engine.files import CSV_WIDTH, FilesDataset
from mycel.dataset.engine.images import folder_of, one_of
from mycel.dataset.engine.machinery import Row
from mycel.dataset.published.folders import UNREADABLE_LINE, PartsOf
from mycel.dataset.samplers import Shuffle
from mycel.kernel.base.errors import wrong


class _Parts(FilesDataset, TextBaseDataset):
    """The lines of files in a folder, one file for each usage."""

    columns: tuple[str, ...]
    # The file of each usage, in the order in which "all" reads them.
    files: dict[str, str]

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, "all" if usage is None else usage, *common)

    def _open(self, dataset_dir, usage, *common) -> None:
        what = type(self).__name__
        self.dataset_dir = folder_of(dataset_dir, what)
        self.usage = one_of(usage, [*self._usages(), "all"], f"{what}: usage")
        self._set_files(*common)

    def _usages(self) -> list[str]:
        return list(self.files)

    def _set_files(self, *common) -> None:
        usages = self._usages() if self.usage == "all" else [self.usage]
        super().__init__([self._file(usage) for usage in usages], *common)

    def _file(self, usage: str) -> str:
        return str(self.dataset_dir / self.files[usage])

    def _columns(self) -> list[str]:
        return list(self.columns)

    def _unreadable(self, path: str, line: int, reason) -> RuntimeError:
        text = UNREADABLE_LINE.format(dataset=self.name, line=line, path=path, reason=reason)
        return RuntimeError(text)


class _OtherOrder(_Parts):
    """The same with the arguments in the other order that MindSpore has."""

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        num_parallel_workers=None,
        cache=None,
    ):
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, "all" if usage is None else usage, *common)


_CSV = {"test": "test.csv", "train": "train.csv"}


def _table(dataset: _Parts, path: str) -> Iterator[Row]:
    """The lines of a CSV file without a head, all of texts."""
    names = dataset._columns()
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        for fields in lines:
            if not fields:
                continue
            if len(fields) != len(names):
                found = {"actual": len(fields), "expected": len(names)}
                place = {"dataset": dataset.name, "line": lines.line_num, "path": path}
                raise RuntimeError(CSV_WIDTH.format(**place, **found))
            yield dict(zip(names, map(np.array, fields), strict=True))


class _Table(_Parts):
    files = _CSV

    def _rows(self, path):
        return _table(self, path)


class _TableOtherOrder(_OtherOrder):
    files = _CSV

    def _rows(self, path):
        return _table(self, path)


_TABLE_DOC = """{about}: {columns}, all texts.

    Args:
        dataset_dir: has `train.csv` and `test.csv`, without a head.
        usage: 'train', 'test' or 'all', which None means too.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: a line has another number of fields; the text names file and line.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "test.csv").write_text('{line}\\n')
        >>> data = ds.{name}(folder, "test")
        >>> [str(value) for value in next(iter(data))]
        {shown}
    """


# By name: what it is about, the columns, and which order of arguments MindSpore has.
_TABLES = {
    "AGNewsDataset": ("Headlines of news in four classes", "index title description", _Table),
    "AmazonReviewDataset": ("Reviews of goods", "label title content", _Table),
    "DBpediaDataset": ("Articles in fourteen classes", "class title content", _Table),
    "SogouNewsDataset": ("News in five classes", "index title content", _TableOtherOrder),
    "YahooAnswersDataset": ("Questions in ten classes", "class title content answer", _Table),
    "YelpReviewDataset": ("Reviews of businesses", "label text", _TableOtherOrder),
}


def _make_table(name: str, about: str, columns: str, base: type) -> type:
    names = columns.split()
    line = ",".join(f'"{text}"' for text in "1abc"[: len(names)])
    doc = _TABLE_DOC.format(
        about=about,
        columns=", ".join(f"`{column}`" for column in names),
        line=line,
        name=name,
        shown=list("1abc"[: len(names)]),
    )
    return type(name, (base,), {"columns": tuple(names), "__doc__": doc, "__module__": __name__})


_made = {name: _make_table(name, *row) for name, row in _TABLES.items()}


AGNewsDataset = _made["AGNewsDataset"]


AmazonReviewDataset = _made["AmazonReviewDataset"]


DBpediaDataset = _made["DBpediaDataset"]


SogouNewsDataset = _made["SogouNewsDataset"]


YahooAnswersDataset = _made["YahooAnswersDataset"]


YelpReviewDataset = _made["YelpReviewDataset"]


class PennTreebankDataset(_Parts):
    """Sentences of a newspaper, `text`: the lines that are not empty.

    Args:
        dataset_dir: has `ptb.train.txt`, `ptb.test.txt` and `ptb.valid.txt`.
        usage: 'train', 'test', 'valid' or 'all', which None means too.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "ptb.valid.txt").write_text(" no it was n't \\n")
        >>> [str(row[0]) for row in ds.PennTreebankDataset(folder, "valid")]
        [" no it was n't "]
    """

    columns = ("text",)
    files = {part: f"ptb.{part}.txt" for part in ("test", "train", "valid")}
    empty_lines = False

    def _rows(self, path):
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                text = line.rstrip("\n").rstrip("\r")
                if text or self.empty_lines:
                    yield {"text": np.array(text)}


class WikiTextDataset(PennTreebankDataset):
    """Lines of encyclopaedia articles, `text`: those that are not empty.

    Args:
        dataset_dir: has `wiki.train.tokens`, `wiki.test.tokens` and `wiki.valid.tokens`.
        usage: 'train', 'test', 'valid' or 'all', which None means too.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "wiki.test.tokens").write_text(" = Title = \\n\\n")
        >>> [str(row[0]) for row in ds.WikiTextDataset(folder, "test")]
        [' = Title = ']
    """

    files = {part: f"wiki.{part}.tokens" for part in ("test", "train", "valid")}


class EnWik9Dataset(PennTreebankDataset):
    """The lines of an encyclopaedia, `text`, with the empty ones.

    Args:
        dataset_dir: has the file `enwik9`.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or the file does not exist.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "enwik9").write_text("<page>\\n\\n")
        >>> [str(row[0]) for row in ds.EnWik9Dataset(folder, shuffle=False)]
        ['<page>', '']
    """

    files = {"all": "enwik9"}
    empty_lines = True

    def __init__(
        self,
        dataset_dir,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=True,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, "all", *common)


class CoNLL2000Dataset(_OtherOrder):
    """Sentences, word by word: `word`, `pos_tag` and `chunk_tag`, arrays of texts.

    Args:
        dataset_dir: has `train.txt` and `test.txt`: a line for each word, an empty one behind each
            sentence.
        usage: 'train', 'test' or 'all', which None means too.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: a line does not have three fields; the text names file and line.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "test.txt").write_text("the DT B-NP\\npound NN I-NP\\n\\n")
        >>> words, tags, chunks = next(iter(ds.CoNLL2000Dataset(folder, "test")))
        >>> words.tolist(), tags.tolist(), chunks.tolist()
        (['the', 'pound'], ['DT', 'NN'], ['B-NP', 'I-NP'])
    """

    columns = ("word", "pos_tag", "chunk_tag")
    files = {"test": "test.txt", "train": "train.txt"}
    separator = " "

    def _rows(self, path):
        words: list[list[str]] = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                fields = line.strip().split(self.separator)
                if fields == [""]:
                    yield from self._sentence(words)
                    words = []
                elif len(fields) != 3:
                    raise self._unreadable(path, number, f"it has {len(fields)} fields, not 3")
                else:
                    words.append(fields)
        yield from self._sentence(words)

    def _sentence(self, words: list) -> Iterator[Row]:
        if words:
            yield dict(zip(self.columns, map(np.array, zip(*words, strict=True)), strict=True))


class UDPOSDataset(CoNLL2000Dataset):
    """Sentences, word by word: `word`, `universal` and `stanford`, arrays of texts.

    Args:
        dataset_dir: has `en-ud-tag.v2.train.txt`, and `dev` and `test` likewise: a line for each
            word with tabs between fields, an empty line behind each sentence.
        usage: 'train', 'test', 'valid' or 'all', which None means too.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: a line does not have three fields; the text names file and line.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "en-ud-tag.v2.dev.txt").write_text("the\\tDET\\tDT\\n\\n")
        >>> [values.tolist() for values in next(iter(ds.UDPOSDataset(folder, "valid")))]
        [['the'], ['DET'], ['DT']]
    """

    columns = ("word", "universal", "stanford")
    files = {
        "valid": "en-ud-tag.v2.dev.txt",
        "test": "en-ud-tag.v2.test.txt",
        "train": "en-ud-tag.v2.train.txt",
    }
    separator = "\t"


class SST2Dataset(_Parts):
    """Sentences of film reviews: `sentence`, and `label` where it is known; both texts.

    Args:
        dataset_dir: has `train.tsv`, `test.tsv` and `dev.tsv`, each with a head.
        usage: 'train', which None means too, 'test' or 'dev'.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: a line does not have two fields; the text names file and line.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "dev.tsv").write_text("sentence\\tlabel\\na fine film\\t1\\n")
        >>> [str(value) for value in next(iter(ds.SST2Dataset(folder, "dev")))]
        ['a fine film', '1']
    """

    files = {part: f"{part}.tsv" for part in ("train", "test", "dev")}

    def _open(self, dataset_dir, usage, *common):
        what = type(self).__name__
        self.dataset_dir = folder_of(dataset_dir, what)
        usage = "train" if usage == "all" else usage
        self.usage = one_of(usage, list(self.files), f"{what}: usage")
        self._set_files(*common)

    def _columns(self):
        return ["sentence"] if self.usage == "test" else ["sentence", "label"]

    def _rows(self, path):
        with open(path, encoding="utf-8") as file:
            next(file, None)
            for number, line in enumerate(file, 2):
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 2:
                    raise self._unreadable(path, number, f"it has {len(fields)} fields, not 2")
                if self.usage == "test":
                    fields = fields[1:]
                yield dict(zip(self._columns(), map(np.array, fields), strict=True))


class SQuADDataset(_Parts):
    """Questions about passages: `context`, `question`, `text` and `answer_start`.

    The last two are arrays with an element for each answer, UInt32 for where it begins. A question
    without an answer has an empty text, which begins at 0.

    Args:
        dataset_dir: has `train-v1.1.json` and `dev-v1.1.json`, or those of version 2.0.
        usage: 'train', 'dev' or 'all', which None means too.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: a file has another form; the text names it.

    Example:
        >>> import json
        >>> asked = [{"question": "What?", "answers": [{"text": "river", "answer_start": 2}]}]
        >>> content = {"data": [{"paragraphs": [{"context": "A river.", "qas": asked}]}]}
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "dev-v1.1.json").write_text(json.dumps(content))
        >>> context, question, text, start = next(iter(ds.SQuADDataset(folder, "dev")))
        >>> print(context, question, text, start)
        A river. What? ['river'] [2]
    """

    columns = ("context", "question", "text", "answer_start")
    files = {"train": "train-v*.json", "dev": "dev-v*.json"}

    def _file(self, usage):
        found = sorted(self.dataset_dir.glob(self.files[usage]))
        if not found:
            name = self.files[usage]
            raise wrong(ValueError, f"{type(self).__name__}: dataset_dir", f"with {name}", "none")
        return str(found[0])

    def _rows(self, path):
        with open(path, encoding="utf-8") as file:
            try:
                content = json.load(file)["data"]
            except (ValueError, KeyError, TypeError) as error:
                raise self._unreadable(path, 1, error) from None
        for number, article in enumerate(content):
            try:
                yield from self._asked(article)
            except (KeyError, TypeError) as error:
                reason = f"article {number} has another form ({error!r})"
                raise self._unreadable(path, 1, reason) from None

    def _asked(self, article: dict) -> Iterator[Row]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answers = asked["answers"] or [{"text": "", "answer_start": 0}]
                yield {
                    "context": np.array(paragraph["context"]),
                    "question": np.array(asked["question"]),
                    "text": np.array([answer["text"] for answer in answers]),
                    "answer_start": np.array([a["answer_start"] for a in answers], np.uint32),
                }


# By task: the columns of the parts with labels, and those of the part without.
_CLUE = {
    "AFQMC": ("label sentence1 sentence2", "id sentence1 sentence2"),
    "TNEWS": ("keywords label label_desc sentence", "id keywords sentence"),
    "IFLYTEK": ("label label_des sentence", "id sentence"),
    "CMNLI": ("label sentence1 sentence2", "id sentence1 sentence2"),
    "WSC": (
        "idx label span1_index span1_text span2_index span2_text text",
        "idx span1_index span1_text span2_index span2_text text",
    ),
    "CSL": ("abst id keyword label", "abst id keyword"),
}


_CLUE_NUMBERS = {"id", "idx", "span1_index", "span2_index"}


class CLUEDataset(FilesDataset, TextBaseDataset):
    """Tasks for Chinese texts, one JSON object in each line; the columns are those of the task.

    Args:
        dataset_files: paths, also with `*`.
        task: 'AFQMC', 'TNEWS', 'IFLYTEK', 'CMNLI', 'WSC' or 'CSL'.
        usage: 'train', 'test' or 'eval'.
        others: as in TextFileDataset.

    Raises:
        TypeError, ValueError: an argument is wrong, or a file does not exist.
        RuntimeError: a line has another form; the text names file and line.

    Example:
        >>> path = getfixture("tmp_path") / "train.json"
        >>> _ = path.write_text('{"sentence1": "a", "sentence2": "b", "label": "0"}\\n')
        >>> data = ds.CLUEDataset(str(path))
        >>> data.get_col_names(), [str(value) for value in next(iter(data))]
        (['label', 'sentence1', 'sentence2'], ['0', 'a', 'b'])
    """

    def __init__(
        self,
        dataset_files,
        task="AFQMC",
        usage="train",
        num_samples=None,
        num_parallel_workers=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "CLUEDataset"
        self.task = one_of("AFQMC" if task is None else task, list(_CLUE), f"{what}: task")
        usages = ("train", "test", "eval")
        self.usage = one_of("train" if usage is None else usage, usages, f"{what}: usage")
        common = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        super().__init__(dataset_files, *common)

    def _columns(self):
        return _CLUE[self.task][self.usage == "test"].split()

    def _rows(self, path):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    told = json.loads(line)
                    told = {**told, **told.get("target", {})}
                    yield {name: self._value(name, told[name]) for name in self._columns()}
                except (ValueError, KeyError, TypeError) as error:
                    reason = f"{type(error).__name__}: {error}"
                    place = {"dataset": self.name, "line": number, "path": path}
                    raise RuntimeError(UNREADABLE_LINE.format(**place, reason=reason)) from None

    def _value(self, name: str, value) -> np.ndarray:
        if name in _CLUE_NUMBERS:
            return np.array(value, np.uint32)
        return np.array([str(each) for each in value] if isinstance(value, list) else str(value))


class IMDBDataset(PartsOf, TextBaseDataset):
    """Film reviews: `text`, and `label`, Int32, 1 for a good one.

    Args:
        dataset_dir: has `train` and `test`, each with the folders `pos` and `neg`.
        usage: 'train', 'test' or 'all', which None means too.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a folder is missing, or a file cannot be read; the text names it.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> for kind in ("pos", "neg"):
        ...     (folder / "test" / kind).mkdir(parents=True)
        ...     _ = (folder / "test" / kind / "0_9.txt").write_text(f"a {kind} review")
        >>> data = ds.IMDBDataset(folder, "test", shuffle=False)
        >>> [(str(text), int(label)) for text, label in data]
        [('a pos review', 1), ('a neg review', 0)]
    """

    columns = ("text", "label")
    usages = ("train", "test", "all")

    def _find(self):
        for part in ("train", "test") if self.usage == "all" else (self.usage,):
            for kind, label in (("pos", 1), ("neg", 0)):
                paths = sorted(self._path(part, kind).glob("*.txt"))
                yield from ((path, label) for path in paths)

    def _values(self, found):
        path, label = found
        return path.read_text("utf-8"), np.int32(label)
