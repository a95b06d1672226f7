# SPDX-License-Identifier: Apache-2.0
"""The augmentations found by AutoAugment (Cubuk et al., 2019): name, probability and level.

Levels go from 0 to 9; augmentations without an amount have none that matters.
"""

from __future__ import annotations

from mycel.dataset.vision.names import AutoAugmentPolicy

_IMAGENET = """
Posterize 0.4 8, Rotate 0.6 9
Solarize 0.6 5, AutoContrast 0.6 0
Equalize 0.8 0, Equalize 0.6 0
Posterize 0.6 7, Posterize 0.6 6
Equalize 0.4 0, Solarize 0.2 4
Equalize 0.4 0, Rotate 0.8 8
Solarize 0.6 3, Equalize 0.6 0
Posterize 0.8 5, Equalize 1 9
Rotate 0.2 3, Solarize 0.6 8
Equalize 0.6 0, Posterize 0.4 6
Rotate 0.8 8, Color 0.4 0
Rotate 0.4 9, Equalize 0.6 0
Equalize 0 0, Equalize 0.8 0
Invert 0.6 0, Equalize 1 9
Color 0.6 4, Contrast 1 8
Rotate 0.8 8, Color 1 2
Color 0.8 8, Solarize 0.8 7
Sharpness 0.4 7, Invert 0.6 0
ShearX 0.6 5, Equalize 1 9
Color 0.4 0, Equalize 0.6 0
Equalize 0.4 0, Solarize 0.2 4
Solarize 0.6 5, AutoContrast 0.6 0
Invert 0.6 0, Equalize 1 9
Color 0.6 4, Contrast 1 8
Equalize 0.8 0, Equalize 0.6 0
"""
_CIFAR10 = """
Invert 0.1 0, Contrast 0.2 6
Rotate 0.7 2, TranslateX 0.3 9
Sharpness 0.8 1, Sharpness 0.9 3
ShearY 0.5 8, TranslateY 0.7 9
AutoContrast 0.5 0, Equalize 0.9 0
ShearY 0.2 7, Posterize 0.3 7
Color 0.4 3, Brightness 0.6 7
Sharpness 0.3 9, Brightness 0.7 9
Equalize 0.6 0, Equalize 0.5 0
Contrast 0.6 7, Sharpness 0.6 5
Color 0.7 7, TranslateX 0.5 8
Equalize 0.3 0, AutoContrast 0.4 0
TranslateY 0.4 3, Sharpness 0.2 6
Brightness 0.9 6, Color 0.2 8
Solarize 0.5 2, Invert 0 0
Equalize 0.2 0, AutoContrast 0.6 0
Equalize 0.2 0, Equalize 0.6 0
Color 0.9 9, Equalize 0.6 0
AutoContrast 0.8 0, Solarize 0.2 8
Brightness 0.1 3, Color 0.7 0
Solarize 0.4 5, AutoContrast 0.9 0
TranslateY 0.9 9, TranslateY 0.7 9
AutoContrast 0.9 0, Solarize 0.8 3
Equalize 0.8 0, Invert 0.1 0
TranslateY 0.7 9, AutoContrast 0.9 0
"""
_SVHN = """
ShearX 0.9 4, Invert 0.2 0
ShearY 0.9 8, Invert 0.7 0
Equalize 0.6 0, Solarize 0.6 6
Invert 0.9 0, Equalize 0.6 0
Equalize 0.6 0, Rotate 0.9 3
ShearX 0.9 4, AutoContrast 0.8 0
ShearY 0.9 8, Invert 0.4 0
ShearY 0.9 5, Solarize 0.2 6
Invert 0.9 0, AutoContrast 0.8 0
Equalize 0.6 0, Rotate 0.9 3
ShearX 0.9 4, Solarize 0.3 3
ShearY 0.8 8, Invert 0.7 0
Equalize 0.9 0, TranslateY 0.6 6
Invert 0.9 0, Equalize 0.6 0
Contrast 0.3 3, Rotate 0.8 4
Invert 0.8 0, TranslateY 0 2
ShearY 0.7 6, Solarize 0.4 8
Invert 0.6 0, Rotate 0.8 4
ShearY 0.3 7, TranslateX 0.9 3
ShearX 0.1 6, Invert 0.6 0
Solarize 0.7 2, TranslateY 0.6 7
ShearY 0.8 4, Invert 0.8 0
ShearX 0.7 9, TranslateY 0.8 3
ShearY 0.8 5, AutoContrast 0.7 0
ShearX 0.7 2, Invert 0.1 0
"""


def _read(text: str) -> list[tuple]:
    rows = []
    for row in text.strip().splitlines():
        words = [part.split() for part in row.split(",")]
        rows.append(tuple((name, float(prob), int(level)) for name, prob, level in words))
    return rows


POLICIES = {
    AutoAugmentPolicy.IMAGENET: _read(_IMAGENET),
    AutoAugmentPolicy.CIFAR10: _read(_CIFAR10),
    AutoAugmentPolicy.SVHN: _read(_SVHN),
}
