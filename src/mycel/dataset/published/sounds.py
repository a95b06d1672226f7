# SPDX-License-Identifier: Apache-2.0
"""Collections of sounds. Their waveforms are Float32 [channels, samples] from -1 to 1."""

from __future__ import annotations

import io
import pathlib
import wave

import numpy as np

from mycel.dataset.engine.dataset import AudioBaseDataset
from mycel.dataset.engine.images import one_of
from mycel.dataset.published.folders import UNREADABLE_LINE, AllOf, PartsOf, Published
from mycel.kernel.base.errors import wrong

NO_SOUNDFILE = (
    "{path} is no WAV file of integers, and 'soundfile', which reads other files, is missing: "
    "pip install soundfile."
)


def sound_of(path: pathlib.Path) -> tuple[np.ndarray, int]:
    """The waveform, Float32 [channels, samples], and the samples in a second of a file.

    Raises:
        ImportError: it is no WAV file of integers, and soundfile is missing.
        RuntimeError: it is no sound.
    """
    content = path.read_bytes()
    if content.startswith(b"NIST_1A"):
        return _sphere(content)
    try:
        with wave.open(io.BytesIO(content)) as file:
            data = file.readframes(file.getnframes())
            return _integers(data, file.getsampwidth(), file.getnchannels()), file.getframerate()
    except (wave.Error, EOFError):
        pass
    try:
        import soundfile  # pyright: ignore[reportMissingImports]  an extra
    except ImportError:
        raise ImportError(NO_SOUNDFILE.format(path=path)) from None
    sound, rate = soundfile.read(io.BytesIO(content), dtype="float32", always_2d=True)
    return sound.T.copy(), rate


def _integers(data: bytes, width: int, channels: int, order: str = "<") -> np.ndarray:
    """Samples of so many bytes, those of all channels after each other."""
    # As MindSpore has it, the largest number is 1.
    most = 2 ** (8 * width - 1) - 1
    if width == 3:
        # Three bytes are the upper ones of four.
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        samples = (wide.view("<i4")[:, 0] >> 8) / most
    elif width == 1:
        samples = (np.frombuffer(data, np.uint8) - 128.0) / most
    else:
        samples = np.frombuffer(data, f"{order}i{width}") / most
    return samples.reshape(-1, channels).T.astype(np.float32)


def _sphere(content: bytes) -> tuple[np.ndarray, int]:
    """A file of NIST's SPHERE format: a head of texts, then the samples."""
    size = int(content[8:16])
    fields = (line.split(None, 2) for line in content[16:size].decode().splitlines())
    head = {field[0]: field[2] for field in fields if len(field) == 3}
    if head.get("sample_coding", "pcm") != "pcm":
        raise RuntimeError(f"samples are coded as {head['sample_coding']}, not as pcm")
    width, channels = int(head.get("sample_n_bytes", 2)), int(head.get("channel_count", 1))
    order = "<" if head.get("sample_byte_format") == "01" else ">"
    count = int(head["sample_count"]) * width * channels
    sound = _integers(content[size : size + count], width, channels, order)
    return sound, int(head["sample_rate"])


class _Sounds(Published, AudioBaseDataset):
    # The type of the sample rate.
    rate_type: type = np.int32

    def _labels(self):
        return None

    def _heard(self, path: pathlib.Path) -> tuple:
        sound, rate = sound_of(path)
        return sound, self.rate_type(rate)


class CMUArcticDataset(_Sounds):
    """Sentences read by one person: `waveform`, `sample_rate`, `transcript` and `utterance_id`.

    Args:
        dataset_dir: has the folder `cmu_us_aew_arctic`, and others likewise.
        name: which person, of eighteen; None means 'aew'.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> import wave
        >>> folder = getfixture("tmp_path") / "cmu_us_aew_arctic"
        >>> (folder / "wav").mkdir(parents=True), (folder / "etc").mkdir()
        (None, None)
        >>> with wave.open(str(folder / "wav" / "arctic_a0001.wav"), "wb") as file:
        ...     file.setparams((1, 2, 16000, 0, "NONE", ""))
        ...     file.writeframes(bytes(8))
        >>> _ = (folder / "etc" / "txt.done.data").write_text('( arctic_a0001 "Author" )\\n')
        >>> data = ds.CMUArcticDataset(folder.parent)
        >>> [(x.shape, int(rate), str(text), str(name)) for x, rate, text, name in data]
        [((1, 4), 16000, 'Author', 'a0001')]
    """

    columns = ("waveform", "sample_rate", "transcript", "utterance_id")
    rate_type = np.uint32
    people = (
        *("aew", "ahw", "aup", "awb", "axb", "bdl", "clb", "eey", "fem"),
        *("gka", "jmk", "ksp", "ljm", "lnh", "rms", "rxr", "slp", "slt"),
    )

    def __init__(
        self,
        dataset_dir,
        name=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        self.person = one_of(name or "aew", self.people, "CMUArcticDataset: name")
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, None, *common)

    def _find(self):
        folder = f"cmu_us_{self.person}_arctic"
        path = self._path(folder, "etc", "txt.done.data")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.strip():
                continue
            name, quote, text = line.strip("() \t").partition('"')
            if not quote:
                place = {"dataset": self.name, "line": number, "path": path}
                raise RuntimeError(UNREADABLE_LINE.format(**place, reason="it has no text"))
            yield self.dataset_dir / folder / "wav" / f"{name.strip()}.wav", text.rpartition('"')[0]

    def _values(self, found):
        path, text = found
        return *self._heard(path), text, path.stem.removeprefix("arctic_")


# The numbers of the tracks in each part, by kind; repeated and distorted tracks are in none.
_TRACKS = {
    "train": {
        "blues": "29-49 73-97",
        "classical": "30-33 43-48 50-67 80-99",
        "country": "19-26 28-29 65-99",
        "disco": "5 15-20 22-37 39-45 47 49 53-54 56-57 59 61 70 73-74 89",
        "hiphop": "2-25 28-29 31-38 41-42 55-61 77-80",
        "jazz": "0-1 11-24 41 47-72",
        "metal": "2-3 5 21 24 35 46-57 59-66 69 71-72 79-80 84 86 89-99",
        "pop": "2-9 11-12 16-20 23-29 31-36 38-42 44 46 49-50 80 97-99",
        "reggae": "0-2 4 6 9 11-12 14-32 42-45 49-51 54-60 63 69",
        "rock": "0-9 16-26 57-70 91-99",
    },
    "valid": {
        "blues": "0-11 50-60",
        "classical": "0-10 68-76",
        "country": "0-7 9-18 27 41-42 45 49",
        "disco": "0 2-4 6-14 46 48 52 67-68 72 75 90 95",
        "hiphop": "81-98",
        "jazz": "2-10 25-32",
        "metal": "0-1 6-11 16-20 36-37 68 76-77 81-82",
        "pop": "10 53 55 58-62 81 83-86",
        "reggae": "61-62 70 72 74 76-78 85 92-99",
        "rock": "38 49-56 71-85",
    },
    "test": {
        "blues": "12-28 61-72 98-99",
        "classical": "11-29 34-41 49 77-79",
        "country": "30-40 43-44 46-48 50-51 53-64",
        "disco": "1 21 58 62-66 69 76-88 91-94 96-97 99",
        "hiphop": "0 26-27 30 40 43-45 51-54 62-75 99",
        "jazz": "73-99",
        "metal": "12-15 22-23 25-33 38-39 67 70 73-75 78 83 85 87-88",
        "pop": "0-1 13-14 43 63-66 69-79 82 88-96",
        "reggae": "34-40 46-48 52-53 64-68 71 79 82-84 87-90",
        "rock": "10-15 27-37 39-48 86-90",
    },
}


class GTZANDataset(PartsOf, _Sounds):
    """Music of ten kinds: `waveform`, `sample_rate` and `label`, the name of the kind.

    Args:
        dataset_dir: has a folder for each kind.
        usage: 'train', 'valid', 'test' or 'all', which None means too. The first three leave out
            repeated and distorted tracks: 443, 197 and 290 of the thousand remain.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: there are no sounds, or one cannot be read; the text names it.

    Example:
        >>> import wave
        >>> folder = getfixture("tmp_path") / "rock"
        >>> folder.mkdir()
        >>> with wave.open(str(folder / "rock.00000.wav"), "wb") as file:
        ...     file.setparams((1, 2, 22050, 0, "NONE", ""))
        ...     file.writeframes(bytes(8))
        >>> [(x.shape, int(rate), str(kind)) for x, rate, kind in ds.GTZANDataset(folder.parent)]
        [((1, 4), 22050, 'rock')]
    """

    columns = ("waveform", "sample_rate", "label")
    rate_type = np.uint32
    usages = ("train", "valid", "test", "all")

    def _find(self):
        for folder in self._folders():
            for path in sorted(folder.glob("*.wav")):
                number = path.stem.rpartition(".")[2]
                if self.usage == "all" or (number.isdigit() and self._chosen(folder.name, number)):
                    yield (path,)

    def _chosen(self, kind: str, number: str) -> bool:
        ranges = (part.split("-") for part in _TRACKS[self.usage].get(kind, "").split())
        return any(int(ends[0]) <= int(number) <= int(ends[-1]) for ends in ranges)

    def _values(self, found):
        (path,) = found
        return *self._heard(path), path.parent.name


class LibriTTSDataset(PartsOf, _Sounds):
    """Sentences read from books, by many persons.

    The columns are `waveform`, `sample_rate`, `original_text`, `normalized_text`, `speaker_id` and
    `chapter_id`, UInt32, and `utterance_id`.

    Args:
        dataset_dir: has folders for the usages, in these one for each speaker, in these one for
            each chapter.
        usage: 'dev-clean', 'dev-other', 'test-clean', 'test-other', 'train-clean-100',
            'train-clean-360', 'train-other-500' or 'all', which None means too.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> import wave
        >>> folder = getfixture("tmp_path") / "dev-clean" / "84" / "121123"
        >>> folder.mkdir(parents=True)
        >>> with wave.open(str(folder / "84_121123_000007_000001.wav"), "wb") as file:
        ...     file.setparams((1, 2, 24000, 0, "NONE", ""))
        ...     file.writeframes(bytes(8))
        >>> line = "84_121123_000007_000001\\tGo.\\tGo.\\n"
        >>> _ = (folder / "84_121123.trans.tsv").write_text(line)
        >>> data = ds.LibriTTSDataset(getfixture("tmp_path"), "dev-clean")
        >>> [(str(row[2]), int(row[4]), int(row[5])) for row in data]
        [('Go.', 84, 121123)]
    """

    columns = (
        *("waveform", "sample_rate", "original_text", "normalized_text"),
        *("speaker_id", "chapter_id", "utterance_id"),
    )
    rate_type = np.uint32
    usages = (
        *("dev-clean", "dev-other", "test-clean", "test-other"),
        *("train-clean-100", "train-clean-360", "train-other-500", "all"),
    )

    def _find(self):
        for part in self.usages[:-1] if self.usage == "all" else (self.usage,):
            folder = self.dataset_dir / part
            if self.usage != "all":
                folder = self._path(part)
            for path in sorted(folder.glob("*/*/*.trans.tsv")):
                for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                    fields = line.split("\t")
                    if len(fields) != 3:
                        place = {"dataset": self.name, "line": number, "path": path}
                        reason = f"it has {len(fields)} fields, not 3"
                        raise RuntimeError(UNREADABLE_LINE.format(**place, reason=reason))
                    yield path.parent / f"{fields[0]}.wav", *fields[1:]

    def _values(self, found):
        path, original, normalized = found
        numbers = (np.uint32(path.parents[1].name), np.uint32(path.parent.name))
        return *self._heard(path), original, normalized, *numbers, path.stem


class LJSpeechDataset(AllOf, _Sounds):
    """Passages read by one person, with `transcription` and `normalized_transcription`.

    The columns before them are `waveform` and `sample_rate`, Int32.

    Args:
        dataset_dir: has `metadata.csv` and the folder `wavs`.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> import wave
        >>> folder = getfixture("tmp_path")
        >>> (folder / "wavs").mkdir()
        >>> with wave.open(str(folder / "wavs" / "LJ001-0001.wav"), "wb") as file:
        ...     file.setparams((1, 2, 22050, 0, "NONE", ""))
        ...     file.writeframes(bytes(8))
        >>> _ = (folder / "metadata.csv").write_text("LJ001-0001|In 1 day|In one day\\n")
        >>> [str(row[3]) for row in ds.LJSpeechDataset(folder)]
        ['In one day']
    """

    columns = ("waveform", "sample_rate", "transcription", "normalized_transcription")

    def _find(self):
        path = self._path("metadata.csv")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            fields = line.split("|")
            if len(fields) != 3:
                place = {"dataset": self.name, "line": number, "path": path}
                reason = f"it has {len(fields)} fields, not 3"
                raise RuntimeError(UNREADABLE_LINE.format(**place, reason=reason))
            yield self.dataset_dir / "wavs" / f"{fields[0]}.wav", *fields[1:]

    def _values(self, found):
        return *self._heard(found[0]), *found[1:]


class SpeechCommandsDataset(PartsOf, _Sounds):
    """Single words, spoken by many persons.

    The columns are `waveform`, `sample_rate`, Int32, `label`, the word, `speaker_id`, a text, and
    `utterance_number`, Int32.

    Args:
        dataset_dir: has a folder for each word, `testing_list.txt` and `validation_list.txt`.
        usage: 'train' (what is in none of the lists), 'test', 'valid' or 'all', which None means
            too.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> import wave
        >>> folder = getfixture("tmp_path") / "cat"
        >>> folder.mkdir()
        >>> with wave.open(str(folder / "b43_nohash_1.wav"), "wb") as file:
        ...     file.setparams((1, 2, 16000, 0, "NONE", ""))
        ...     file.writeframes(bytes(8))
        >>> data = ds.SpeechCommandsDataset(folder.parent)
        >>> [(str(word), str(name), int(number)) for _, _, word, name, number in data]
        [('cat', 'b43', 1)]
    """

    columns = ("waveform", "sample_rate", "label", "speaker_id", "utterance_number")
    usages = ("train", "test", "valid", "all")

    def _find(self):
        lists = {"test": ("testing",), "valid": ("validation",), "train": ("testing", "validation")}
        listed = {
            line.strip()
            for name in lists.get(self.usage, ())
            for line in self._lines(f"{name}_list.txt")
        }
        for folder in self._folders():
            # Noise is there to be mixed with the words.
            if folder.name == "_background_noise_":
                continue
            for path in sorted(folder.glob("*.wav")):
                inside = f"{folder.name}/{path.name}" in listed
                if self.usage == "all" or inside is (self.usage != "train"):
                    yield (path,)

    def _values(self, found):
        (path,) = found
        person, _, number = path.stem.partition("_nohash_")
        return *self._heard(path), path.parent.name, person, np.int32(number)


class TedliumDataset(_Sounds):
    """Talks, sentence by sentence.

    The columns are `waveform`, `sample_rate`, Int32, and the texts `transcript`, `talk_id`,
    `speaker_id` and `identifier`.

    Args:
        dataset_dir: has `train`, `test` and `dev` (of release 3, `data`), each with the folders
            `sph` and `stm`.
        release: 'release1', 'release2' or 'release3'.
        usage: 'train', 'test', 'dev' or 'all', which None means too; of release 3 only 'all'.
        extensions: the ending of the sounds; None means '.sph'.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a file is missing or cannot be read; the text names it.

    Example:
        >>> folder = getfixture("tmp_path") / "dev"
        >>> (folder / "sph").mkdir(parents=True), (folder / "stm").mkdir()
        (None, None)
        >>> head = "NIST_1A\\n   1024\\nsample_count -i 16\\nsample_rate -i 8\\nend_head\\n"
        >>> _ = (folder / "sph" / "A.sph").write_bytes(head.ljust(1024).encode() + bytes(32))
        >>> _ = (folder / "stm" / "A.stm").write_text("A 1 Al 0.5 1.5 <o,f0,male> thank you\\n")
        >>> data = ds.TedliumDataset(folder.parent, "release1", "dev")
        >>> [(row[0].shape, str(row[2])) for row in data]
        [((1, 8), 'thank you')]
    """

    columns = (
        *("waveform", "sample_rate", "transcript"),
        *("talk_id", "speaker_id", "identifier"),
    )

    def __init__(
        self,
        dataset_dir,
        release,
        usage=None,
        extensions=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = "TedliumDataset"
        known = ("release1", "release2", "release3")
        self.release = one_of(release, known, f"{what}: release")
        self.usages = ("all",) if release == "release3" else ("train", "test", "dev", "all")
        if extensions is not None and not isinstance(extensions, str):
            raise wrong(TypeError, f"{what}: extensions", "an ending such as '.sph'", extensions)
        self.extension = ".sph" if extensions is None else extensions
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, usage, *common)

    def _find(self):
        parts = (self.usage,) if self.usage != "all" else ("train", "test", "dev")
        for part in ("data",) if self.release == "release3" else parts:
            if self.usage == "all" and not (self.dataset_dir / part).is_dir():
                continue
            for path in sorted(self._path(part, "stm").glob("*.stm")):
                sound = path.parents[1] / "sph" / f"{path.stem}{self.extension}"
                for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                    fields = line.split(None, 6)
                    if len(fields) < 6:
                        place = {"dataset": self.name, "line": number, "path": path}
                        reason = f"it has {len(fields)} fields, not 7"
                        raise RuntimeError(UNREADABLE_LINE.format(**place, reason=reason))
                    yield sound, fields

    def _values(self, found):
        path, (talk, _, speaker, start, end, identifier, *text) = found
        sound, rate = self._heard(path)
        sound = sound[:, int(float(start) * rate) : int(float(end) * rate)]
        return sound, rate, "".join(text), talk, speaker, identifier


class YesNoDataset(AllOf, _Sounds):
    """Eight words in a row, each yes or no in Hebrew: `waveform`, `sample_rate` and `label`.

    The last two are Int32; `label` has eight elements, 1 for yes.

    Args:
        dataset_dir: has files such as `1_1_0_0_1_1_0_0.wav`.
        others: as in GeneratorDataset.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: there are no sounds, or one cannot be read; the text names it.

    Example:
        >>> import wave
        >>> folder = getfixture("tmp_path")
        >>> with wave.open(str(folder / "1_0_0_0_1_1_0_0.wav"), "wb") as file:
        ...     file.setparams((1, 2, 8000, 0, "NONE", ""))
        ...     file.writeframes(bytes(8))
        >>> [label.asnumpy().tolist() for _, _, label in ds.YesNoDataset(folder)]
        [[1, 0, 0, 0, 1, 1, 0, 0]]
    """

    columns = ("waveform", "sample_rate", "label")

    def _find(self):
        yield from ((path,) for path in sorted(self.dataset_dir.glob("*.wav")))

    def _values(self, found):
        (path,) = found
        return *self._heard(path), np.array(path.stem.split("_"), np.int32)
