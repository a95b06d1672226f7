# SPDX-License-Identifier: Apache-2.0
"""Images flipped, turned, moved, sheared and seen from elsewhere."""

from __future__ import annotations

import math
import numbers

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import Implementation
from mycel.dataset.vision import sampling
from mycel.dataset.vision.cropping import check_fill, check_interpolation
from mycel.dataset.vision.names import Inter
from mycel.dataset.vision.operation import (
    ImageTensorOperation,
    PillowOperation,
    check_image,
    extent,
)
from mycel.dataset.vision.pillow import is_pil, pillow, resampling


class HorizontalFlip(ImageTensorOperation):
    """The image with left and right exchanged.

    Raises:
        TypeError, RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.HorizontalFlip()(np.arange(3, dtype=np.uint8).reshape(1, 3))
        array([[2, 1, 0]], dtype=uint8)
    """

    batched = True

    def _array(self, image, flip: bool = True):
        check_image(image, type(self).__name__)
        return image.take(np.arange(image.shape[1] - 1, -1, -1), 1) if flip else image


class VerticalFlip(ImageTensorOperation):
    """The image upside down.

    Raises:
        TypeError, RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.VerticalFlip()(np.arange(3, dtype=np.uint8).reshape(3, 1)).ravel()
        array([2, 1, 0], dtype=uint8)
    """

    batched = True

    def _array(self, image, flip: bool = True):
        check_image(image, type(self).__name__)
        return np.ascontiguousarray(image[::-1]) if flip else image


class RandomHorizontalFlip(HorizontalFlip):
    """The image with left and right exchanged, by chance.

    Args:
        prob: how probable that is.

    Raises:
        TypeError, ValueError: the probability is not a number from 0 to 1.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomHorizontalFlip(1.0)(np.arange(3, dtype=np.uint8).reshape(1, 3))
        array([[2, 1, 0]], dtype=uint8)
    """

    random = True

    def __init__(self, prob: float = 0.5):
        self.prob = checks.probability(prob)

    def _draw(self, image, generator):
        return (generator.random() < self.prob,)

    def _pillow(self, image, flip):
        way = pillow("Image", "a flip").Transpose.FLIP_LEFT_RIGHT
        return image.transpose(way) if flip else image


class RandomVerticalFlip(VerticalFlip):
    """The image upside down, by chance.

    Args:
        prob: how probable that is.

    Raises:
        TypeError, ValueError: the probability is not a number from 0 to 1.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomVerticalFlip(0)(np.arange(3, dtype=np.uint8).reshape(3, 1)).ravel()
        array([0, 1, 2], dtype=uint8)
    """

    random = True

    def __init__(self, prob: float = 0.5):
        self.prob = checks.probability(prob)

    def _draw(self, image, generator):
        return (generator.random() < self.prob,)

    def _pillow(self, image, flip):
        way = pillow("Image", "a flip").Transpose.FLIP_TOP_BOTTOM
        return image.transpose(way) if flip else image


def _check_center(center):
    if center is None:
        return None
    checks.instance(center, tuple, "center", "a tuple of 2 numbers")
    checks.sequence(center, "center", 2, error=ValueError)
    for one in center:
        checks.number(one, "center", -checks.INTEGER_MOST, checks.INTEGER_MOST)
    return center


def rotated(image: np.ndarray, degrees, resample, expand, center, fill) -> np.ndarray:
    """An array turned against the clock."""
    height, width = check_image(image, "a rotation").shape[:2]
    x, y = ((width - 1) / 2, (height - 1) / 2) if center is None else center
    radians = math.radians(degrees)
    a, b = math.cos(radians), math.sin(radians)
    forward = np.array([[a, b, (1 - a) * x - b * y], [-b, a, b * x + (1 - a) * y]])
    size = (height, width)
    if expand:
        wide, high = (height * abs(b) + width * abs(a)), (height * abs(a) + width * abs(b))
        forward[:, 2] += ((wide - width) / 2, (high - height) / 2)
        size = (round(high), round(wide))
    return sampling.warp_affine(image, _inverse(forward), size, resample, fill)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    return np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))[:2]


class Rotate(ImageTensorOperation):
    """The image turned against the clock.

    Args:
        degrees: by how much.
        resample: how values between pixels are found, an `Inter`.
        expand: whether the result is large enough for the whole image.
        center: the (x, y) it is turned around; None is the middle.
        fill_value: the colour of what lies outside, one number or three.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Rotate(90)(np.arange(9, dtype=np.uint8).reshape(3, 3))
        array([[2, 5, 8],
               [1, 4, 7],
               [0, 3, 6]], dtype=uint8)
    """

    def __init__(
        self, degrees, resample: Inter = Inter.NEAREST, expand=False, center=None, fill_value=0
    ):
        self.degrees = checks.number(degrees, "degrees") % 360
        self.resample = check_interpolation(resample, "resample")
        self.expand = checks.boolean(expand, "expand")
        self.center = _check_center(center)
        self.fill_value = check_fill(fill_value)

    def _array(self, image):
        return rotated(
            image, self.degrees, self.resample, self.expand, self.center, self.fill_value
        )


class RandomRotation(ImageTensorOperation):
    """The image turned against the clock by a random angle.

    Args:
        degrees: limits of the angle, or one number for both ways.
        resample: how values between pixels are found, an `Inter`.
        expand: whether the result is large enough for the whole image.
        center: the (x, y) it is turned around; None is the middle.
        fill_value: the colour of what lies outside, one number or three.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomRotation((90, 90))(np.arange(9, dtype=np.uint8).reshape(3, 3))[0]
        array([2, 5, 8], dtype=uint8)
    """

    random = True

    def __init__(
        self, degrees, resample: Inter = Inter.NEAREST, expand=False, center=None, fill_value=0
    ):
        self.degrees = check_degrees(degrees)
        self.resample = check_interpolation(resample, "resample")
        self.expand = checks.boolean(expand, "expand")
        self.center = _check_center(center)
        self.fill_value = check_fill(fill_value)
        if resample is Inter.ANTIALIAS:
            self.implementation = Implementation.PY

    def _draw(self, image, generator):
        return (generator.uniform(*self.degrees),)

    def _array(self, image, angle):
        return rotated(image, angle, self.resample, self.expand, self.center, self.fill_value)

    def _pillow(self, image, angle):
        way = resampling(self.resample, "RandomRotation")
        fill = self.fill_value[0] if len(image.getbands()) == 1 else self.fill_value
        return image.rotate(angle, way, self.expand, self.center, fillcolor=fill)


def check_degrees(degrees) -> tuple[float, float]:
    """Limits of an angle, of one number or a pair.

    Raises:
        TypeError, ValueError: the value is neither a number nor a pair, a number is negative, or
            the pair is not in order.
    """
    if isinstance(degrees, (list, tuple)):
        return checks.ordered(degrees, "degrees")
    checks.number(degrees, "degrees", 0)
    return -degrees, degrees


def affine_matrix(center, degrees, translation, scale, shear) -> np.ndarray:
    """From new places to old ones: turned, sheared, scaled and moved around a center."""
    angle, (x, y) = math.radians(degrees), (math.radians(s) for s in shear)
    both = math.cos(angle + x) * math.cos(angle + y) + math.sin(angle + x) * math.sin(angle + y)
    matrix = np.array(
        [
            [math.cos(angle + x), math.sin(angle + x)],
            [-math.sin(angle + y), math.cos(angle + y)],
        ]
    ) / (scale * both)
    moved = np.asarray(center) - matrix @ (np.asarray(center) + np.asarray(translation))
    return np.column_stack([matrix, moved])


class Affine(ImageTensorOperation):
    """The image turned, moved, scaled and sheared around its middle.

    Args:
        degrees: by how much it is turned with the clock, from -180 to 180.
        translate: by which parts of width and height it is moved.
        scale: by what it grows.
        shear: the angle by which it is sheared, of x or of (x, y).
        resample: how values between pixels are found, an `Inter`.
        fill_value: the colour of what lies outside, one number or three.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> image = np.arange(9, dtype=np.uint8).reshape(3, 3, 1)
        >>> vision.Affine(0, (1 / 3, 0), 1.0, 0)(image)[..., 0]
        array([[0, 0, 1],
               [0, 3, 4],
               [0, 6, 7]], dtype=uint8)
    """

    def __init__(
        self, degrees, translate, scale, shear, resample: Inter = Inter.NEAREST, fill_value=0
    ):
        self.degrees = checks.number(degrees, "degrees", -180, 180)
        for one in checks.sequence(translate, "translate", 2):
            checks.number(one, "translate", -1, 1)
        self.translate = translate
        self.scale = checks.number(scale, "scale", 0, above=True)
        self.shear = (shear, 0.0) if isinstance(shear, numbers.Number) else shear
        for one in checks.sequence(self.shear, "shear", 2):
            checks.number(one, "shear", -180, 180)
        self.resample = check_interpolation(resample, "resample")
        self.fill_value = check_fill(fill_value)

    def _array(self, image):
        height, width = check_image(image, "Affine").shape[:2]
        moved = (self.translate[0] * width, self.translate[1] * height)
        return _moved(
            image, self.degrees, moved, self.scale, self.shear, self.resample, self.fill_value
        )


def _moved(image, degrees, translation, scale, shear, resample, fill) -> np.ndarray:
    height, width = image.shape[:2]
    middle = np.array([(width - 1) / 2, (height - 1) / 2])
    angle, x, y = math.radians(degrees), math.radians(shear[0]), -math.radians(shear[1])
    cosine, sine = math.cos(angle + y) / math.cos(y), math.sin(angle + y) / math.cos(y)
    turned = scale * np.array(
        [
            [cosine, -cosine * math.tan(x) - math.sin(angle)],
            [sine, -sine * math.tan(x) + math.cos(angle)],
        ]
    )
    forward = np.column_stack([turned, middle - turned @ middle + np.asarray(translation)])
    return sampling.warp_affine(image, _inverse(forward), (height, width), resample, fill)


class RandomAffine(ImageTensorOperation):
    """The image turned, moved, scaled and sheared by chance.

    Args:
        degrees: limits of the angle, or one number for both ways.
        translate: (x, y), the largest parts of width and height it is moved by either way, or the
            limits (least x, most x, least y, most y); None does not move it.
        scale: limits of its growth; None leaves its size.
        shear: limits of the angle it is sheared by, of x or of x and y, or one number for x both
            ways; None does not shear it.
        resample: how values between pixels are found, an `Inter`.
        fill_value: the colour of what lies outside, one number or three.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> turn = vision.RandomAffine(15, translate=(0.1, 0.1), scale=(0.9, 1.1))
        >>> turn(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    random = True

    def __init__(
        self,
        degrees,
        translate=None,
        scale=None,
        shear=None,
        resample: Inter = Inter.NEAREST,
        fill_value=0,
    ):
        self.degrees = check_degrees(degrees)
        self.translate = (0.0,) * 4 if translate is None else _translations(translate)
        self.scale = (1.0, 1.0) if scale is None else checks.ordered(scale, "scale", 0)
        checks.within(self.scale[1], "scale[1]", 0, above=True)
        self.shear = (0.0, 0.0, 0.0, 0.0) if shear is None else _shears(shear)
        self.resample = check_interpolation(resample, "resample")
        self.fill_value = check_fill(fill_value)
        if resample is Inter.ANTIALIAS:
            self.implementation = Implementation.PY

    def _draw(self, image, generator):
        height, width = extent(image, type(self).__name__)
        left, right, up, down = self.translate
        moved = (
            generator.uniform(left * width, right * width),
            generator.uniform(up * height, down * height),
        )
        degrees, scale = generator.uniform(*self.degrees), generator.uniform(*self.scale)
        shear = (generator.uniform(*self.shear[:2]), generator.uniform(*self.shear[2:]))
        return degrees, moved, scale, shear

    def _array(self, image, degrees, moved, scale, shear):
        check_image(image, "RandomAffine")
        return _moved(image, degrees, moved, scale, shear, self.resample, self.fill_value)

    def _pillow(self, image, degrees, moved, scale, shear):
        center = (image.width * 0.5 + 0.5, image.height * 0.5 + 0.5)
        matrix = affine_matrix(center, degrees, np.rint(moved), scale, shear)
        how = pillow("Image", "RandomAffine").Transform.AFFINE
        way = resampling(self.resample, "RandomAffine")
        fill = self.fill_value[0] if len(image.getbands()) == 1 else self.fill_value
        return image.transform(image.size, how, matrix.ravel().tolist(), way, fillcolor=fill)


def _translations(translate) -> tuple:
    for one in checks.sequence(translate, "translate", 2, 4):
        checks.number(one, "translate", -1, 1)
    if len(translate) == 4:
        return tuple(translate)
    x, y = translate
    return -x, x, -y, y


def _shears(shear) -> tuple[float, float, float, float]:
    if isinstance(shear, numbers.Number):
        limit = checks.number(shear, "shear", 0, above=True)
        return -limit, limit, 0.0, 0.0
    checks.sequence(shear, "shear", 2, 4)
    if len(shear) == 2:
        return (*checks.ordered(shear, "shear"), 0.0, 0.0)
    return (*checks.ordered(shear[:2], "shear"), *checks.ordered(shear[2:], "shear"))


def _check_points(points, name: str) -> list:
    for index, point in enumerate(checks.sequence(points, name, 4)):
        for one in checks.sequence(point, f"{name}[{index}]", 2):
            checks.integer(one, f"{name}[{index}]", -checks.INTEGER_MOST)
    return list(points)


def _homography(start, end) -> np.ndarray:
    """The 3x3 matrix that takes four points of the new image to those of the old one."""
    rows, values = [], []
    for (x, y), (u, v) in zip(end, start, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    found = np.linalg.lstsq(np.array(rows, float), np.array(values, float), rcond=None)[0]
    return np.append(found, 1.0).reshape(3, 3)


def _perspective(image, start, end, interpolation: Inter):
    matrix = _homography(start, end)
    if is_pil(image):
        how = pillow("Image", "Perspective").Transform.PERSPECTIVE
        way = resampling(interpolation, "Perspective")
        return image.transform(image.size, how, matrix.ravel()[:8].tolist(), way)
    size = check_image(image, "Perspective").shape[:2]
    return sampling.warp_perspective(image, matrix, size, interpolation, 0)


class Perspective(ImageTensorOperation):
    """The image seen from elsewhere: four of its points are moved to four others.

    Args:
        start_points: four points (x, y) of the image.
        end_points: where they are in the result.
        interpolation: how values between pixels are found, an `Inter`.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> corners = [(0, 0), (2, 0), (2, 2), (0, 2)]
        >>> turned = corners[1:] + corners[:1]
        >>> vision.Perspective(corners, turned)(np.arange(9, dtype=np.uint8).reshape(3, 3))[0]
        array([6, 3, 0], dtype=uint8)
    """

    def __init__(self, start_points, end_points, interpolation: Inter = Inter.BILINEAR):
        self.start_points = _check_points(start_points, "start_points")
        self.end_points = _check_points(end_points, "end_points")
        self.interpolation = check_interpolation(interpolation)
        if interpolation is Inter.ANTIALIAS:
            self.implementation = Implementation.PY

    def _array(self, image):
        return _perspective(image, self.start_points, self.end_points, self.interpolation)

    _pillow = _array


class RandomPerspective(PillowOperation):
    """A PIL image seen from elsewhere, by chance.

    Args:
        distortion_scale: how far its corners may move, from 0 to 1.
        prob: how probable it is that they move.
        interpolation: how values between pixels are found, an `Inter`.

    Raises:
        TypeError, ValueError: an argument is wrong, or the input is not a PIL image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> image = vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))
        >>> vision.RandomPerspective(prob=1.0)(image).size
        (5, 4)
    """

    random = True

    def __init__(
        self,
        distortion_scale: float = 0.5,
        prob: float = 0.5,
        interpolation: Inter = Inter.BICUBIC,
    ):
        self.distortion_scale = checks.number(distortion_scale, "distortion_scale", 0, 1)
        self.prob = checks.probability(prob)
        self.interpolation = check_interpolation(interpolation)

    def _draw(self, image, generator):
        if not generator.random() < self.prob:
            return (None, None)
        height, width = extent(image, type(self).__name__)
        x, y = (int(n / 2 * self.distortion_scale) for n in (width, height))
        right, low = width - 1, height - 1
        corners = [(0, 0), (right, 0), (right, low), (0, low)]
        inwards = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
        moved = [
            (
                column + way[0] * int(generator.integers(x, endpoint=True)),
                row + way[1] * int(generator.integers(y, endpoint=True)),
            )
            for (column, row), way in zip(corners, inwards, strict=True)
        ]
        return corners, moved

    def _pillow(self, image, start, end):
        return image if start is None else _perspective(image, start, end, self.interpolation)
