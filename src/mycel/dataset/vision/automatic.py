# SPDX-License-Identifier: Apache-2.0
"""Augmentations chosen among many, by chance or by a policy that was searched."""

from __future__ import annotations

import numpy as np

from mycel.dataset.transforms import checks, randomness
from mycel.dataset.transforms.chains import CompoundOperation
from mycel.dataset.vision import geometry, tones
from mycel.dataset.vision.cropping import check_fill, check_interpolation
from mycel.dataset.vision.names import AutoAugmentPolicy, Inter
from mycel.dataset.vision.operation import ImageTensorOperation
from mycel.dataset.vision.policies import POLICIES
from mycel.kernel.base.errors import wrong


class RandomSelectSubpolicy(ImageTensorOperation):
    """One of several lists of operations, chosen by chance; each of its operations by chance.

    Args:
        policy: lists of pairs (operation, probability).

    Raises:
        TypeError, ValueError: the policy has another structure, or is empty.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> choose = vision.RandomSelectSubpolicy([[(vision.HorizontalFlip(), 1.0)]])
        >>> choose(np.arange(3, dtype=np.uint8).reshape(1, 3))
        array([[2, 1, 0]], dtype=uint8)
    """

    random = True
    _new = False  # its operations may be of the program

    def __init__(self, policy: list):
        checks.instance(policy, list, "policy", "a list of lists of pairs")
        if not policy:
            raise wrong(ValueError, "policy", "a list with at least one list", "[]")
        for index, pairs in enumerate(policy):
            name = f"policy[{index}]"
            checks.instance(pairs, list, name, "a list of pairs")
            if not pairs:
                raise wrong(ValueError, name, "a list with at least one pair", "[]")
            for pair in pairs:
                if not isinstance(pair, tuple) or len(pair) != 2:
                    raise wrong(ValueError, name, "pairs (operation, probability)", repr(pair))
                checks.one_operation(pair[0], f"{name}: an operation")
                checks.probability(pair[1], f"{name}: a probability")
        self.policy = policy

    def __call__(self, *images):
        """The image after the operations chosen."""
        generator = randomness.current()
        chosen = self.policy[generator.integers(len(self.policy))]
        for operation, prob in chosen:
            if generator.random() < prob:
                result = operation(*images)
                images = result if isinstance(result, tuple) else (result,)
        return images[0] if len(images) == 1 else images


class UniformAugment(CompoundOperation):
    """Some of the operations, chosen by chance; each of them with a probability that is drawn too.

    Args:
        transforms: operations and functions.
        num_ops: how many are chosen.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> augment = vision.UniformAugment([vision.Invert(), vision.HorizontalFlip()], num_ops=1)
        >>> augment(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    random = True

    def __init__(self, transforms: list, num_ops: int = 2):
        super().__init__(transforms)
        self.num_ops = checks.integer(num_ops, "num_ops", 1)
        if num_ops > len(self.transforms):
            expected = f"at most the number of operations, {len(self.transforms)}"
            raise wrong(ValueError, "num_ops", expected, repr(num_ops))

    def __call__(self, img):
        """The image after the operations chosen."""
        generator = randomness.current()
        for index in generator.choice(len(self.transforms), self.num_ops, replace=False):
            if generator.random() < generator.random():
                img = self.transforms[index](img)
        return img


def _turned(image, degrees, interpolation, fill):
    return geometry.rotated(image, degrees, interpolation, False, None, fill)


def _sheared(image, shear, interpolation, fill):
    height, width = image.shape[:2]
    (a, b), center = shear, np.array([width / 2, height / 2])
    turned = np.array([[1, a], [b, 1]])
    matrix = np.column_stack([turned, center - turned @ center])
    return geometry.sampling.warp_affine(image, matrix, (height, width), interpolation, fill)


def _shifted(image, shift, interpolation, fill):
    matrix = np.array([[1, 0, -shift[0]], [0, 1, -shift[1]]], float)
    return geometry.sampling.warp_affine(image, matrix, image.shape[:2], interpolation, fill)


# What an augmentation does with an amount; the last two arguments are interpolation and fill.
_ACTIONS = {
    "Identity": lambda image, amount, *how: image,
    "ShearX": lambda image, amount, *how: _sheared(image, (amount, 0), *how),
    "ShearY": lambda image, amount, *how: _sheared(image, (0, amount), *how),
    "TranslateX": lambda image, amount, *how: _shifted(image, (int(amount), 0), *how),
    "TranslateY": lambda image, amount, *how: _shifted(image, (0, int(amount)), *how),
    "Rotate": _turned,
    "Brightness": lambda image, amount, *how: tones.brightened(image, 1 + amount),
    "Color": lambda image, amount, *how: tones.saturated(image, 1 + amount),
    "Contrast": lambda image, amount, *how: tones.contrasted(image, 1 + amount),
    "Sharpness": lambda image, amount, *how: tones.sharpened(image, 1 + amount),
    "Posterize": lambda image, amount, *how: tones.posterized(image, int(amount)),
    "Solarize": lambda image, amount, *how: tones.solarized(image, amount, 255),
    "AutoContrast": lambda image, amount, *how: tones.auto_contrasted(image, 0.0, ()),
    "Equalize": lambda image, amount, *how: tones.equalized(image),
    "Invert": lambda image, amount, *how: 255 - image,
}
# Augmentations whose amount goes both ways.
_SIGNED = {
    "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast",
    "Sharpness",
}  # fmt: skip
_USUAL = {
    "ShearX": 0.3, "ShearY": 0.3, "TranslateX": 150 / 331, "TranslateY": 150 / 331, "Rotate": 30.0,
    "Brightness": 0.9, "Color": 0.9, "Contrast": 0.9, "Sharpness": 0.9, "Posterize": 4,
}  # fmt: skip
_WIDE = {
    "ShearX": 0.99, "ShearY": 0.99, "TranslateX": 32.0, "TranslateY": 32.0, "Rotate": 135.0,
    "Brightness": 0.99, "Color": 0.99, "Contrast": 0.99, "Sharpness": 0.99, "Posterize": 6,
}  # fmt: skip
_AMONG = [name for name in _ACTIONS if name != "Invert"]


class _Automatic(ImageTensorOperation):
    """The common part of the three operations that follow."""

    random = True

    def __init__(self, interpolation: Inter, fill_value):
        self.interpolation = check_interpolation(interpolation)
        self.fill_value = check_fill(fill_value)

    def _array(self, image, plan):
        tones.bytes_image(tones.colour_image(image, type(self).__name__), type(self).__name__)
        for name, amount in plan:
            image = _ACTIONS[name](image, amount, self.interpolation, self.fill_value)
        return image


def _amount(name: str, level: int, levels: int, most: dict, image, generator) -> float:
    """How much of an augmentation one of so many levels is."""
    part = level / (levels - 1)
    if name == "Posterize":
        return 8 - round(part * most[name])
    if name == "Solarize":
        return 255 * (1 - part)
    amount = most.get(name, 0.0) * part
    if name in ("TranslateX", "TranslateY") and most is _USUAL:
        amount *= image.shape[1 if name == "TranslateX" else 0]
    return -amount if name in _SIGNED and generator.random() < 0.5 else amount


class AutoAugment(_Automatic):
    """Two augmentations, chosen out of a policy that was searched for a kind of data.

    Args:
        policy: for which data, an `AutoAugmentPolicy`.
        interpolation: how values between pixels are found, an `Inter`.
        fill_value: the colour of what lies outside, one number or three.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not (H, W, 3) of bytes.

    Source: Cubuk et al., AutoAugment: Learning Augmentation Policies from Data, 2019.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AutoAugment()(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value=0,
    ):
        super().__init__(interpolation, fill_value)
        self.policy = checks.enumeration(policy, AutoAugmentPolicy, "policy")

    def _draw(self, image, generator):
        pairs = POLICIES[self.policy]
        plan = []
        for name, prob, level in pairs[generator.integers(len(pairs))]:
            if generator.random() < prob:
                shaped = np.asarray(image)
                plan.append((name, _amount(name, level, 10, _USUAL, shaped, generator)))
        return (plan,)


class RandAugment(_Automatic):
    """Augmentations chosen by chance, all of one magnitude.

    Args:
        num_ops: how many follow each other.
        magnitude: how strong they are, an index below `num_magnitude_bins`.
        num_magnitude_bins: how many magnitudes there are.
        interpolation: how values between pixels are found, an `Inter`.
        fill_value: the colour of what lies outside, one number or three.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not (H, W, 3) of bytes.

    Source: Cubuk et al., RandAugment: Practical automated data augmentation, 2020.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandAugment(num_ops=1)(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value=0,
    ):
        super().__init__(interpolation, fill_value)
        self.num_ops = checks.integer(num_ops, "num_ops", 0)
        self.num_magnitude_bins = checks.integer(num_magnitude_bins, "num_magnitude_bins", 2)
        self.magnitude = checks.integer(magnitude, "magnitude", 0, num_magnitude_bins - 1)

    def _draw(self, image, generator):
        names = [_AMONG[index] for index in generator.integers(len(_AMONG), size=self.num_ops)]
        level, levels, shaped = self.magnitude, self.num_magnitude_bins, np.asarray(image)
        return (
            [(name, _amount(name, level, levels, _USUAL, shaped, generator)) for name in names],
        )


class TrivialAugmentWide(_Automatic):
    """One augmentation chosen by chance, of a magnitude chosen by chance.

    Args:
        num_magnitude_bins: how many magnitudes there are.
        interpolation: how values between pixels are found, an `Inter`.
        fill_value: the colour of what lies outside, one number or three.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not (H, W, 3) of bytes.

    Source: Mueller and Hutter, TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation,
    2021.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.TrivialAugmentWide()(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value=0,
    ):
        super().__init__(interpolation, fill_value)
        self.num_magnitude_bins = checks.integer(num_magnitude_bins, "num_magnitude_bins", 2)

    def _draw(self, image, generator):
        name = _AMONG[generator.integers(len(_AMONG))]
        level, levels = int(generator.integers(self.num_magnitude_bins)), self.num_magnitude_bins
        return ([(name, _amount(name, level, levels, _WIDE, np.asarray(image), generator))],)
