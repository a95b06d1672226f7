# SPDX-License-Identifier: Apache-2.0
"""Operations on sound that draw numbers, and those whose answers in MindSpore are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from mycel.dataset import audio
from mycel.dataset.transforms import randomness

STEP = 2.0**-15


def drawn(operation, array, seed=3):
    with randomness.use(np.random.default_rng(seed)):
        return operation(array)


@pytest.mark.parametrize(
    ("kind", "variance"),
    [("TPDF", 1 / 6), ("RPDF", 1 / 12), ("GPDF", 1 / 4)],
)
def test_noise_of_a_dither(kind, variance):
    """Oracle: rounding adds 1/12 of a squared step to the variance of the noise, and no mean."""
    sound = np.linspace(-0.5, 0.5, 200_000)
    made = drawn(audio.Dither(audio.DensityFunction[kind]), sound)
    steps = made / STEP
    np.testing.assert_array_equal(steps, np.round(steps))
    errors = steps - sound * (2**15 - 1)
    assert abs(errors.mean()) < 0.01
    assert abs(errors.var() - (variance + 1 / 12)) < 0.01


def test_shaped_noise_carries_errors_on():
    """Oracle: the definition, from the same draws."""
    sound = np.linspace(-0.5, 0.5, 50)
    plain, shaped = (drawn(audio.Dither(noise_shaping=shape), sound) for shape in (False, True))
    expected = plain.copy()
    expected[1:] += (plain - sound)[:-1]
    np.testing.assert_allclose(shaped, expected, 0, 1e-12)


@pytest.mark.parametrize("axis", [1, 2])
def test_masks_by_chance(axis):
    """Oracle: the rule: up to so many rows or columns next to each other; every place occurs."""
    array = np.ones((2, 8, 8))
    operation = audio.MaskAlongAxisIID(4, 0.0, axis)
    lines = {}
    for seed in range(300):
        made = drawn(operation, array, seed)
        hidden = np.moveaxis(made == 0, axis, 0).reshape(8, -1)
        assert (hidden.all(1) | ~hidden.any(1)).all()
        places = np.flatnonzero(hidden.all(1))
        assert len(places) < 5 and (np.diff(places) == 1).all()
        lines[tuple(places.tolist())] = True
    assert {place for line in lines for place in line} == set(range(8))
    assert {len(line) for line in lines} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("kind", [audio.FrequencyMasking, audio.TimeMasking])
def test_iid_masks_are_drawn(kind):
    """Oracle: MaskAlongAxisIID on the same axis with the same numbers."""
    axis = 1 if kind is audio.FrequencyMasking else 2
    array = np.random.default_rng(0).random((2, 8, 8))
    for seed in range(20):
        own = drawn(kind(True, 4, mask_value=0.5), array, seed)
        np.testing.assert_array_equal(own, drawn(audio.MaskAlongAxisIID(4, 0.5, axis), array, seed))
    assert kind(True, 4).random and not kind(False, 4).random


def test_mel_bands_of_a_spectrogram_found_back():
    """Oracle: the bands of what is found are the given ones, and nothing is negative."""
    scale = audio.MelScale(6, 8000, n_stft=33)
    bands = scale(np.random.default_rng(0).random((2, 33, 5)))
    found = drawn(audio.InverseMelScale(33, 6, 8000), bands)
    assert found.shape == (2, 33, 5) and found.min() >= 0
    np.testing.assert_allclose(scale(found), bands, 0, 0.05)


def test_slower_descent_stops_earlier():
    """Oracle: one step from random values is further away than many."""
    scale = audio.MelScale(6, 8000, n_stft=33)
    bands = scale(np.random.default_rng(0).random((33, 5)))
    few, many = (drawn(audio.InverseMelScale(33, 6, 8000, max_iter=n), bands) for n in (1, 500))
    assert many.shape == (1, 33, 5)  # oracle: MindSpore 2.10
    assert np.abs(scale(many) - bands).max() < np.abs(scale(few) - bands).max() / 2


def test_sounds_of_loudness_alone():
    """Oracle: the loudness of what is found, whose error falls with the iterations."""
    sound = np.sin(0.3 * np.arange(256)) + np.sin(0.11 * np.arange(256))
    spectrogram = audio.Spectrogram(32, hop_length=8, power=1.0)
    loudness = spectrogram(sound)
    errors = []
    for count in (1, 30):
        operation = audio.GriffinLim(32, count, hop_length=8, power=1.0, length=256)
        found = drawn(operation, loudness)
        assert found.shape == (256,)
        errors.append(np.linalg.norm(spectrogram(found) - loudness) / np.linalg.norm(loudness))
    assert errors[1] < 0.75 * errors[0]


def test_both_sides_of_a_spectrum():
    """Oracle: the sound itself; MindSpore 2.10 refuses such a spectrogram."""
    sound = np.random.default_rng(0).standard_normal((2, 60))
    rest = {"window": audio.WindowType.HAMMING, "onesided": False}
    pairs = audio.Spectrogram(15, hop_length=5, power=0.0, **rest)(sound)
    made = audio.InverseSpectrogram(60, 15, hop_length=5, **rest)(pairs)
    np.testing.assert_allclose(made, sound, 0, 1e-6)


def test_the_whole_sound_of_frames_that_are_not_centered():
    """Oracle: the sound itself; MindSpore 2.10 drops its end."""
    sound = np.random.default_rng(0).standard_normal(64)
    rest = {"window": audio.WindowType.HAMMING, "center": False}
    pairs = audio.Spectrogram(16, power=0.0, **rest)(sound)
    made = audio.InverseSpectrogram(n_fft=16, **rest)(pairs)
    np.testing.assert_allclose(made, sound, 0, 1e-6)


def test_a_shift_down_is_limited_as_one_up():
    """Oracle: the opposite of the opposite; MindSpore 2.10 limits downward shifts to the wrong
    side of zero."""
    sound = np.linspace(-1, 1, 41)
    for shift, limiter in ((0.5, 0.02), (0.3, 0.05)):
        up = audio.DCShift(shift, limiter)(sound)
        np.testing.assert_allclose(audio.DCShift(-shift, limiter)(-sound), -up, 0, 1e-12)


# -- speech; MindSpore 2.10 answers alike whatever the levels are -------------------------------


def speech(before=1.0, after=0.5, rate=8000):
    """Noise, a voice of 200 Hz from `before` on for a second, and noise."""
    numbers = np.random.default_rng(0)
    time = np.arange(rate) / rate
    voice = sum(np.sin(2 * np.pi * 200 * k * time) / k for k in range(1, 9)) * 0.2
    quiet = (numbers.normal(0, 1e-3, int(rate * length)) for length in (before, after))
    return np.insert(np.concatenate(list(quiet)), int(rate * before), voice)


@pytest.mark.parametrize("before", [1.0, 1.7, 2.4])
def test_silence_before_speech_is_cut_off(before):
    """Oracle: where the voice begins; a quarter of a second of silence may stay."""
    sound = speech(before)
    made = audio.Vad(8000)(sound)
    np.testing.assert_array_equal(made, sound[-len(made) :])
    begins = (len(sound) - len(made)) / 8000
    assert before - 0.25 <= begins <= before


def test_more_before_speech_can_be_kept():
    """Oracle: the rule: so many seconds more, as far as the sound reaches."""
    sound = speech()
    plain = audio.Vad(8000)(sound)
    longer = audio.Vad(8000, pre_trigger_time=0.1)(sound)
    assert len(longer) == len(plain) + 800
    assert len(audio.Vad(8000, pre_trigger_time=9.0)(sound)) == len(sound)


def test_no_speech_is_an_empty_sound():
    """Oracle: the rule."""
    assert audio.Vad(8000)(np.zeros((2, 9000), np.float32)).shape == (2, 0)
    assert audio.Vad(8000, trigger_level=30.0)(speech()).shape == (0,)


def test_any_channel_counts():
    """Oracle: the channel alone."""
    sound = speech()
    both = np.stack([np.zeros_like(sound), sound])
    alone = audio.Vad(8000)(sound)
    made = audio.Vad(8000)(both)
    np.testing.assert_array_equal(made[1], alone)


def test_pitches_of_tones():
    """Oracle: the frequency of the tone, as near as whole shifts allow."""
    for hertz in (110.0, 200.0, 333.0):
        tone = np.sin(2 * np.pi * hertz * np.arange(4000) / 8000)
        found = audio.DetectPitchFrequency(8000, win_length=5)(tone)[2:-8]
        np.testing.assert_allclose(found, hertz, 0.03)
