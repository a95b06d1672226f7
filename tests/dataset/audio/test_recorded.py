# SPDX-License-Identifier: Apache-2.0
"""Operations on sound; the oracle is real MindSpore 2.10 (see record.py)."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import logging
import pathlib
import pickle

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel.dataset import audio

HERE = pathlib.Path(__file__).parent


def load(name: str):
    described = importlib.util.spec_from_file_location(f"audio_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


cases = load("cases")
LINES = cases.CASES.strip().splitlines()
with np.load(HERE / "recorded.npz") as file:
    RECORDED = dict(file)
GIVEN = {key[3:]: array for key, array in RECORDED.items() if key.startswith("in:")}
# MindSpore takes the difference of two large Float32 numbers for a variance.
ROUGH = {"SlidingWindowCmn(5, 3, False, True)@four": 1e-4}


@pytest.mark.parametrize("line", LINES)
def test_sounds(line):
    expected = [array for key, array in RECORDED.items() if key.startswith(f"out:{line}:")]
    result = cases.run(line, audio, GIVEN)
    assert len(result) == len(expected) > 0
    for own, theirs in zip(result, expected, strict=True):
        assert (own.shape, own.dtype) == (theirs.shape, theirs.dtype)
        limit = 2e-3 if own.dtype == np.float16 else ROUGH.get(line, 2e-5)
        np.testing.assert_allclose(own, theirs, limit, limit)


@pytest.mark.parametrize("name", ["MFCC", "LFCC"])
def test_cepstra_are_float32(name):
    """Oracle: MindSpore's answers for the same sound in Float32; its own examples say the type."""
    line = next(line for line in LINES if line.startswith(f"{name}(") and "@" not in line)
    [result] = cases.run(f"{line}@double", audio, GIVEN)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, RECORDED[f"out:{line}:0"], 2e-5, 2e-5)


@pytest.mark.parametrize("line", cases.REFUSED.strip().splitlines())
def test_what_is_refused(line):
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        cases.run(line, audio, GIVEN)
    assert caught.type.__name__ == str(RECORDED[f"refused:{line}"])


def test_operations_leave_what_they_are_given():
    """Oracle: the inputs as they were recorded."""
    for line in LINES:
        given = {name: array.copy() for name, array in GIVEN.items()}
        cases.run(line, audio, given)
        for name, array in given.items():
            np.testing.assert_array_equal(array, GIVEN[name], err_msg=line)


def test_operations_can_be_sent_to_other_processes():
    """Oracle: the operation itself."""
    for made in (
        audio.MFCC(8000, 3, melkwargs={"n_fft": 16, "n_mels": 4}),
        audio.RiaaBiquad(44100),
        audio.Vad(8000),
    ):
        again = pickle.loads(pickle.dumps(made))
        np.testing.assert_array_equal(again(GIVEN["wave"]), made(GIVEN["wave"]))


def test_in_a_pipeline():
    """Oracle: the operation called directly; Magphase makes two columns of one."""
    data = ds.NumpySlicesDataset({"sound": GIVEN["wave"]}, shuffle=False)
    data = data.map([audio.Gain(-3.0), audio.Spectrogram(16, power=0.0)], "sound")
    data = data.map(audio.Magphase(), "sound", ["loudness", "phase"])
    rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    for row, sound in zip(rows, GIVEN["wave"], strict=True):
        pairs = audio.Spectrogram(16, power=0.0)(audio.Gain(-3.0)(sound))
        loudness, phase = audio.Magphase()(pairs)
        np.testing.assert_array_equal(row["loudness"], loudness)
        np.testing.assert_array_equal(row["phase"], phase)


PUBLIC = [*audio.operations.__all__, "AudioTensorOperation"]


@pytest.mark.parametrize("name", PUBLIC)
def test_examples(name):
    """Oracle: what the examples say; every public name has one."""
    item = getattr(audio, name, None) or audio.operation.AudioTensorOperation
    known = {"np": np, "ms": ms, "ds": ds}
    parsed = doctest.DocTestParser().get_doctest(inspect.getdoc(item), known, name, None, 0)
    assert parsed.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(parsed).failed == 0


def test_paths_of_mindspore(caplog):
    """Oracle: where MindSpore 2.10 has these names."""
    with caplog.at_level(logging.WARNING):
        from mycel.dataset.audio import transforms, utils
    assert transforms.Spectrogram is audio.Spectrogram and utils.create_dct is audio.create_dct
    assert issubclass(audio.Gain, transforms.AudioTensorOperation)
    assert not caplog.records
