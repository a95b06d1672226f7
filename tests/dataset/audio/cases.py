# SPDX-License-Identifier: Apache-2.0
"""Operations on sound whose results real MindSpore 2.10 gave; read by record.py and by the tests.

A case is an expression that makes the operation, and behind "@" the name of its input ("wave"
without it). What begins with a small letter is a function that is called without an input.
"""

from __future__ import annotations

import numpy as np


def inputs() -> dict:
    """Small sounds and spectrograms of every element type."""
    numbers = np.random.default_rng(11)
    time = np.arange(48)
    wave = 0.6 * np.sin(0.7 * time) + 0.3 * np.sin(0.11 * time**1.5)
    wave = np.stack([wave, numbers.uniform(-1, 1, 48)]).astype(np.float32)
    spectrum = numbers.uniform(0, 4, (2, 9, 7)).astype(np.float32)
    tone = np.sin(2 * np.pi * 200 * np.arange(1200) / 8000).astype(np.float32)
    return {
        "wave": wave,
        "double": wave.astype(np.float64),
        "half": wave.astype(np.float16),
        "one": wave[1],
        "three": np.stack([wave, -0.5 * wave]),
        "whole": numbers.integers(-9, 10, (2, 12)).astype(np.int32),
        "small": numbers.integers(-100, 100, (2, 12)).astype(np.int8),
        "codes": numbers.integers(0, 256, (2, 12)).astype(np.int32),
        "spectrum": spectrum,
        "flat": spectrum[0],
        "four": spectrum[None] * np.float32(2),
        "levels": (10 * spectrum - 20).astype(np.float32),
        "double_spectrum": spectrum.astype(np.float64),
        "pairs": numbers.standard_normal((2, 9, 7, 2)).astype(np.float32),
        "double_pairs": numbers.standard_normal((2, 9, 7, 2)),
        "one_pair": spectrum[0, :, :, None] * np.ones(2, np.float32),
        "four_pairs": spectrum[None, :, :, :, None] * np.ones(2, np.float32),
        "tone": tone,
        "text": np.array(["a", "b"]),
    }


CASES = """
AllpassBiquad(8000, 1000.0)
AllpassBiquad(8000, 1000.0)@double
AllpassBiquad(8000, 1000.0)@half
AllpassBiquad(8000, 1000.0)@one
AllpassBiquad(8000, 1000.0)@three
AllpassBiquad(8000, 700, 0.3)
BandBiquad(8000, 1000.0)
BandBiquad(8000, 1000.0, 0.5, True)
BandpassBiquad(8000, 1000.0)
BandpassBiquad(8000, 1000.0, 0.5, True)@double
BandrejectBiquad(8000, 1000.0)
BassBiquad(8000, 6.0)
BassBiquad(8000, -6.0, 300.0, 0.4)
Biquad(0.1, 0.2, 0.3, 1.5, 0.2, 0.1)
Biquad(0.1, 0.2, 0.3, 1.5, 0.2, 0.1)@half
Biquad(2.0, 1.0, 0.5, 1.0, -0.5, 0.2)
DeemphBiquad(44100)
DeemphBiquad(48000)@double
EqualizerBiquad(8000, 1000.0, 5.0)
EqualizerBiquad(8000, 1000.0, -5.0, 0.3)@double
HighpassBiquad(8000, 1000.0)
LowpassBiquad(8000, 1000.0, 0.4)
RiaaBiquad(44100)
RiaaBiquad(48000)
RiaaBiquad(88200)
RiaaBiquad(96000)@double
TrebleBiquad(8000, 6.0)
TrebleBiquad(8000, -6.0, 900.0, 0.4)
LFilter([1.0, 0.2, 0.1], [0.3, 0.2, 0.9])
LFilter([2.0, 0.2, 0.1], [3.0, 2.0, 0.9])
LFilter([2.0, 0.2, 0.1], [3.0, 2.0, 0.9], False)
LFilter([2.0, 0.2], [3.0, 2.0])@double
LFilter([2.0, 0.2], [3.0, 2.0])@half
Filtfilt([1.0, 0.2, 0.1], [0.3, 0.2, 0.9])
Filtfilt([1.0, 0.2, 0.1], [0.3, 0.2, 0.9], False)@double
Filtfilt([1.0, 0.2, 0.1], [3.0, 0.2, 0.9])
Contrast()
Contrast(0)@double
Contrast(20)@half
Contrast(20)@whole
DCShift(0.5)
DCShift(0.5)@double
DCShift(0.5, 0.02)
DCShift(-0.5)
DCShift(-0.5)@half
DCShift(1.7, 0.05)
Overdrive()
Overdrive(5.0, 70.0)@double
Overdrive()@half
Overdrive()@one
Overdrive()@three
Phaser(8000)
Phaser(8000, 0.7, 0.6, 2.0, 0.8, 1.0, False)
Phaser(8000, 0.7, 0.6, 2.0, 0.8, 1.0, False)@double
Phaser(8000)@one
Flanger(8000)
Flanger(8000)@double
Flanger(8000, 1.0, 3.0, 50.0, 80.0, 9.0, 30.0, Modulation.TRIANGULAR, Interpolation.QUADRATIC)
Flanger(8000, 0.0, 3.0, -50.0, 80.0, 9.0, 30.0, Modulation.TRIANGULAR)@three
Flanger(8000, 0.5, 1.0, 0.0, 71.0, 5.0, 50.0, Modulation.SINUSOIDAL, Interpolation.QUADRATIC)
Gain()
Gain(-3.5)@double
Gain(-3.5)@half
Gain(6.0)@whole
Vol(0.5)
Vol(3.0)@double
Vol(3.0, GainType.POWER)
Vol(-3.0, GainType.DB)@half
Vol(2)@whole
Fade(10, 5)
Fade(10, 5)@double
Fade(10, 5)@half
Fade(3, 12)@small
Fade(10, 5, FadeShape.EXPONENTIAL)
Fade(10, 5, FadeShape.LOGARITHMIC)
Fade(10, 5, FadeShape.QUARTER_SINE)
Fade(10, 5, FadeShape.HALF_SINE)
Fade(1, 1)@one
MuLawEncoding()
MuLawEncoding(16)@double
MuLawEncoding()@half
MuLawEncoding()@whole
MuLawDecoding()@codes
MuLawDecoding(16)@wave
MuLawDecoding()@double
AmplitudeToDB()@spectrum
AmplitudeToDB()@double_spectrum
AmplitudeToDB(ScaleType.MAGNITUDE, 2.0, 0.01, 3.0)@spectrum
AmplitudeToDB(ScaleType.POWER, 1.0, 1e-10, 3.0)@four
AmplitudeToDB(ScaleType.POWER, 1.0, 1e-10, 3.0)@flat
DBToAmplitude(1.0, 1.0)@levels
DBToAmplitude(2.0, 0.5)@double
DBToAmplitude(2.0, 0.5)@half
DBToAmplitude(2.0, 0.5)@small
ComplexNorm()@pairs
ComplexNorm(3)@double_pairs
ComplexNorm(0)@pairs
Angle()@pairs
Angle()@double_pairs
Magphase()@pairs
Magphase(2.0)@double_pairs
ComputeDeltas()@spectrum
ComputeDeltas(7, BorderType.REFLECT)@spectrum
ComputeDeltas(5, BorderType.SYMMETRIC)@double_spectrum
ComputeDeltas(5, BorderType.CONSTANT)@flat
ComputeDeltas(4)@four
SlidingWindowCmn()@spectrum
SlidingWindowCmn(4, 2)@spectrum
SlidingWindowCmn(4, 2, True, True)@spectrum
SlidingWindowCmn(4, 2, False, True)@double_spectrum
SlidingWindowCmn(3, 1, True)@flat
SlidingWindowCmn(5, 3, False, True)@four
MaskAlongAxis(1, 3, 9.0, 1)@spectrum
MaskAlongAxis(2, 3, 0.5, 2)@flat
MaskAlongAxis(5, 2, 0.5, 2)@four
MaskAlongAxis(0, 7, 0.5, 2)@double_spectrum
FrequencyMasking(False, 3, 2, 0.5)@spectrum
TimeMasking(False, 3, 2, 0.5)@spectrum
TimeMasking(False, 3, 2, 0.5)@double_spectrum
TimeMasking(False, 0, 2, 0.5)@flat
MelScale(4, 8000, 0.0, None, 9)@spectrum
MelScale(4, 8000, 100.0, 3000.0, 9, NormType.SLANEY, MelType.SLANEY)@double_spectrum
MelScale(4, 8000, 0.0, None, 9)@flat
MelScale(4, 8000, 0.0, None, 9, NormType.NONE, MelType.SLANEY)@four
Spectrogram(16)
Spectrogram(16)@one
Spectrogram(120, 16, 48)
Spectrogram(16, 16, 8, 0, WindowType.HANN, 2.0, False, True, BorderType.SYMMETRIC)@whole
Spectrogram(16)@three
Spectrogram(16)@double
Spectrogram(16)@half
Spectrogram(16, 12, 5, 3, WindowType.HAMMING, 1.0)
Spectrogram(15, 10, 5, 0, WindowType.BLACKMAN, 3.0, True)
Spectrogram(16, 16, 8, 0, WindowType.BARTLETT, 2.0, False, False)
Spectrogram(16, 16, 8, 0, WindowType.KAISER, 2.0, False, True, BorderType.CONSTANT)
Spectrogram(16, 16, 8, 0, WindowType.HANN, 2.0, False, True, BorderType.EDGE, False)
Spectrogram(16, 16, 8, 0, WindowType.HANN, 2.0, False, True, BorderType.SYMMETRIC)
Spectrogram(16, 16, 8, 0, WindowType.HANN, 0.0)
Spectrogram(16, 10, 4, 0, WindowType.HANN, 0.0, True)@double
Spectrogram(15, 15, 5, 0, WindowType.HANN, 1.0, False, True, BorderType.REFLECT, False)
InverseSpectrogram(None, 16, 16, 8)@pairs
InverseSpectrogram(20, 16, 16, 4)@pairs
InverseSpectrogram(60, 16, 12, 6, 2, WindowType.HAMMING, True)@double_pairs
InverseSpectrogram(20, 16, 16, 8)@double_pairs
InverseSpectrogram(40, 16, 16, 8, 0, WindowType.HAMMING, False, False)@pairs
GriffinLim(16, 4, 16, 8, WindowType.HANN, 2.0, 0.99, None, False)@spectrum
GriffinLim(16, 3, 16, 8, WindowType.HANN, 1.0, 0.0, None, False)@spectrum
GriffinLim(16, 2, 12, 4, WindowType.HAMMING, 2.0, 0.5, 26, False)@flat
GriffinLim(16, 2, 16, 8, WindowType.HANN, 2.0, 0.99, None, False)@double_spectrum
SpectralCentroid(8000, 16)
SpectralCentroid(8000, 16, 12, 5, 2, WindowType.HAMMING)@double
SpectralCentroid(8000, 16)@one
SpectralCentroid(8000, 16)@three
PhaseVocoder(1.3, np.linspace(0, 25, 9)[:, None].astype(np.float32))@pairs
PhaseVocoder(0.6, np.linspace(0, 25, 9)[:, None])@double_pairs
PhaseVocoder(1.0, np.linspace(0, 25, 9)[:, None].astype(np.float32))@pairs
TimeStretch(8, 9, 1.5)@pairs
TimeStretch(None, 9, 0.7)@double_pairs
TimeStretch(8, 9)@pairs
TimeStretch(8, 9)@one_pair
TimeStretch(8, 9, 1.0)@four_pairs
PitchShift(8000, 3, 12, 16)
PitchShift(8000, -4, 12, 16, 12, 4, WindowType.HAMMING)@double
PitchShift(8000, 3, 12, 16)@one
Resample(8000, 4000)
Resample(8000, 12000)@double
Resample(8, 3, ResampleMethod.KAISER_WINDOW)
Resample(8, 3, ResampleMethod.KAISER_WINDOW, 4, 0.8, 5.0)
Resample(3, 8, ResampleMethod.SINC_INTERPOLATION, 10, 0.9)@one
Resample(8000, 8000)@three
Resample(8, 3)@half
MelSpectrogram(8000, 16, None, None, 0.0, None, 0, 4)
MelSpectrogram(8000, 16, 12, 5, 100.0, 3000.0, 2, 4, WindowType.HAMMING, 1.0, True)@one
MFCC(8000, 3, 2, NormMode.ORTHO, False, MEL)
MFCC(8000, 4, 2, NormMode.NONE, True, MEL)
LFCC(8000, 5, 3, 0.0, None, 2, NormMode.ORTHO, False, SPECTRUM)
LFCC(8000, 5, 3, 0.0, 3000.0, 2, NormMode.NONE, True, SPECTRUM)@one
DetectPitchFrequency(8000, 0.01, 5)@tone
DetectPitchFrequency(8000, 0.02, 3, 100, 1000)@tone
DetectPitchFrequency(8000, 0.001, 3, 500, 2000)
DetectPitchFrequency(8000, 0.001, 4, 500, 2000)@double
create_dct(3, 5)
create_dct(4, 4, NormMode.ORTHO)
linear_fbanks(9, 100.0, 3000.0, 4, 8000)
melscale_fbanks(9, 0.0, 4000.0, 4, 8000)
melscale_fbanks(9, 0.0, 4000.0, 4, 8000, NormType.SLANEY, MelType.SLANEY)
"""


# What MindSpore refuses; the kinds of its errors are recorded.
REFUSED = """
AllpassBiquad(44100.5, 200.0)
AllpassBiquad(0, 200.0)
AllpassBiquad(8000, "200")
AllpassBiquad(8000, 200.0, 0)
AllpassBiquad(8000, 200.0, 1.5)
AllpassBiquad(8000, 200.0)@text
BandBiquad(8000, 200.0, 0.7, 1)
BandpassBiquad(8000, 200.0, 0.7, None)
BassBiquad(8000, None)
Biquad(0.1, 0.2, 0.3, 0, 0.2, 0.1)
Biquad("0.1", 0.2, 0.3, 1, 0.2, 0.1)
DeemphBiquad(16000)
DeemphBiquad(44100.0)
RiaaBiquad(8000)
EqualizerBiquad(8000, 200.0, "5")
LFilter([1.0, 0.2], [1.0])
LFilter(1.0, [1.0])
LFilter([1.0], [1.0], 1)
Filtfilt([1.0, "a"], [1.0, 2.0])
Contrast(-1)
Contrast(101)
Contrast("1")
DCShift(2.5)
DCShift(0.5, "a")
Overdrive(101)
Overdrive(1, -1)
Phaser(8000, 1.5)
Phaser(8000, 0.4, 0.7, 6)
Phaser(8000, 0.4, 0.7, 3, 1)
Phaser(8000, 0.4, 0.7, 3, 0.4, 3)
Phaser(8000, 0.4, 0.7, 3, 0.4, 1, 1)
Flanger(0)
Flanger(8000, 31)
Flanger(8000, 1, 11)
Flanger(8000, 1, 1, 96)
Flanger(8000, modulation="sinusoidal")
Flanger(8000)@one
Gain("1")
Vol(-1.0)
Vol(0, GainType.POWER)
Vol(1, "db")
Fade(-1)
Fade(60)
Fade(0, 60)
Fade(0, 0, "linear")
Dither("TPDF")
Dither(DensityFunction.TPDF, 1)
MuLawEncoding(0)
MuLawDecoding(2.5)
AmplitudeToDB("power")
AmplitudeToDB(ScaleType.POWER, 0)
AmplitudeToDB(ScaleType.POWER, 1, 0)
AmplitudeToDB(ScaleType.POWER, 1, 1, -1)
AmplitudeToDB()@one
DBToAmplitude("1", 1)
ComplexNorm(-1)
ComplexNorm()@wave
Angle()@wave
Magphase(-1)
Magphase()@wave
ComputeDeltas(2)
ComputeDeltas(5, "edge")
SlidingWindowCmn(-1)
SlidingWindowCmn(5, 2, 1)
MaskAlongAxis(-1, 1, 0.0, 1)
MaskAlongAxis(1, 0, 0.0, 1)
MaskAlongAxis(1, 1, 0.0, 3)
MaskAlongAxis(8, 2, 0.0, 1)@spectrum
MaskAlongAxisIID(-1, 0.0, 1)
MaskAlongAxisIID(1, 0.0, 0)
MaskAlongAxisIID(10, 0.0, 1)@spectrum
FrequencyMasking(1)
FrequencyMasking(False, -1)
FrequencyMasking(False, 10)@spectrum
TimeMasking(False, 1, -1)
TimeMasking(False, 1, 1, -1)
TimeMasking(False, 8)@spectrum
MelScale(0)
MelScale(4, 8000, 300.0, 200.0)
MelScale(4, 8000, 4000.0)
MelScale(4, 8000, 0.0, None, 9, "none")
MelScale(4, 8000, 0.0, None, 8)@spectrum
InverseMelScale(0)
InverseMelScale(9, 4, 8000, max_iter=0)
InverseMelScale(9, 4, 8000, tolerance_loss=0)
Spectrogram(0)
Spectrogram(16, 17)
Spectrogram(16, 16, 0)
Spectrogram(16, 16, 8, -1)
Spectrogram(16, 16, 8, 0, "hann")
Spectrogram(16, 16, 8, 0, WindowType.HANN, -1)
InverseSpectrogram(-1)
InverseSpectrogram(None, 16, 17)
InverseSpectrogram(None, 14, 14, 8)@pairs
GriffinLim(0)
GriffinLim(16, 0)
GriffinLim(16, 4, 17)
GriffinLim(16, 4, 16, 8, WindowType.HANN, 0)
GriffinLim(14)@spectrum
SpectralCentroid(-1)
SpectralCentroid(8000, 0)
PhaseVocoder(0, np.zeros((9, 1)))
PhaseVocoder(1.5, [1])
PhaseVocoder(1.5, np.zeros((8, 1), np.float32))@pairs
TimeStretch(0)
TimeStretch(8, 0)
TimeStretch(8, 9, 0)
PitchShift(-1, 1)
PitchShift(8000, 1, 0)
PitchShift(8000, 1.5)
Resample(0)
Resample(8000, -1)
Resample(8, 4, "sinc_interpolation")
Resample(8, 4, ResampleMethod.SINC_INTERPOLATION, 0)
Resample(8, 4, ResampleMethod.SINC_INTERPOLATION, 6, 1.5)
Resample(8, 4, ResampleMethod.SINC_INTERPOLATION, 6, 1)
MelSpectrogram(8000, 16, f_min=5000.0)
MelSpectrogram(8000, 16, f_min=500.0, f_max=200.0)
MelSpectrogram(8000, 16, power=0.0)
MFCC(-1)
MFCC(8000, 4, 1)
MFCC(8000, 6, 2, NormMode.ORTHO, False, MEL)
LFCC(8000, 0)
LFCC(8000, 5, 3, 5000.0)
LFCC(8000, 5, 3, dct_type=3)
LFCC(8000, 5, 17, 0.0, None, 2, NormMode.ORTHO, False, SPECTRUM)
DetectPitchFrequency(0)
DetectPitchFrequency(8000, 0)
DetectPitchFrequency(8000, 0.01, 0)
DetectPitchFrequency(8000, 0.01, 30, 0)
Vad(0)
Vad(8000, "7")
Vad(8000, noise_up_time=0.01, noise_down_time=0.1)
create_dct(0, 4)
create_dct(4, 4, "ortho")
linear_fbanks(9, 300.0, 200.0, 4, 8000)
linear_fbanks(-1, 0.0, 200.0, 4, 8000)
melscale_fbanks(9, 0.0, 4000.0, 0, 8000)
melscale_fbanks(9, 0.0, 4000.0, 4, 8000, "slaney")
"""


def run(line: str, audio, given: dict) -> list[np.ndarray]:
    """The results of a case."""
    mel = {
        "n_fft": 16,
        "win_length": 16,
        "hop_length": 8,
        "f_min": 0.0,
        "f_max": 4000.0,
        "pad": 0,
        "n_mels": 5,
        "window": audio.WindowType.HANN,
        "power": 2.0,
        "normalized": False,
        "center": True,
        "pad_mode": audio.BorderType.REFLECT,
        "onesided": True,
        "norm": audio.NormType.NONE,
        "mel_scale": audio.MelType.HTK,
    }
    others = ("f_min", "f_max", "n_mels", "norm", "mel_scale")
    spectrum = {key: value for key, value in mel.items() if key not in others}
    expression, _, name = line.partition("@")
    made = eval(expression, {**vars(audio), "np": np, "MEL": mel, "SPECTRUM": spectrum})
    if not callable(made):
        return [made]
    # A copy: some operations of MindSpore write into what they are given.
    found = made(given[name or "wave"].copy())
    return list(found) if isinstance(found, tuple) else [found]
