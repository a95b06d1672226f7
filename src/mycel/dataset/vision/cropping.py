# SPDX-License-Identifier: Apache-2.0
"""Parts of images, and borders around them."""

from __future__ import annotations

import math

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.vision.names import Border, Inter, SliceMode
from mycel.dataset.vision.operation import (
    ImageTensorOperation,
    PillowOperation,
    check_image,
    extent,
)
from mycel.dataset.vision.pillow import from_array, is_pil, pillow
from mycel.dataset.vision.sampling import _fill_of
from mycel.kernel.base.errors import wrong


def parse_padding(padding, name: str = "padding") -> tuple[int, int, int, int]:
    """Left, top, right and bottom of an int, of (left and right, top and bottom), or of all four.

    Raises:
        TypeError: the numbers are not ints.
        ValueError: the number of values is wrong, or one is negative.
    """
    if not isinstance(padding, (list, tuple)):
        width = checks.integer(padding, name, 0)
        return width, width, width, width
    checks.sequence(padding, name, 2, 4, error=ValueError)
    for index, one in enumerate(padding):
        checks.integer(one, f"{name}[{index}]", 0)
    left, top = padding[:2]
    return (left, top, *padding[2:]) if len(padding) == 4 else (left, top, left, top)


def check_fill(value, name: str = "fill_value") -> tuple:
    """A fill value per channel, of an int or of a tuple of three.

    Raises:
        TypeError: the value is neither an int nor a tuple of three.
        ValueError: a value is not from 0 to 255.
    """
    if not isinstance(value, tuple):
        return (checks.integer(value, name, 0, 255),) * 3
    checks.sequence(value, name, 3)
    return tuple(checks.integer(one, f"{name}[{i}]", 0, 255) for i, one in enumerate(value))


def padded(image, padding, fill, mode: Border):
    """The image with a border; an array for an array, a PIL image for a PIL image."""
    left, top, right, bottom = padding
    if not any(padding):
        return image
    if is_pil(image):
        return _padded_pillow(image, padding, fill, mode)
    widths = ((top, bottom), (left, right)) + ((0, 0),) * (image.ndim - 2)
    if mode is not Border.CONSTANT:
        return np.pad(image, widths, mode.value)
    shape = [n + a + b for n, (a, b) in zip(image.shape, widths, strict=True)]
    made = np.empty(shape, image.dtype)
    made[...] = _fill_of(image, fill)
    made[top : top + image.shape[0], left : left + image.shape[1]] = image
    return made


def _padded_pillow(image, padding, fill, mode: Border):
    palette = image.getpalette() if image.mode == "P" else None
    if mode is Border.CONSTANT:
        bands = len(image.getbands())
        fill = fill[0] if bands == 1 else (*fill, *(255,) * (bands - 3))[:bands]
        made = pillow("ImageOps", "Pad").expand(image, border=tuple(padding), fill=fill)
    else:
        made = from_array(padded(np.asarray(image), padding, fill, mode))
    if palette is not None:
        made.putpalette(palette)
    return made


def cut(image, top: int, left: int, height: int, width: int):
    """A rectangle of the image."""
    if is_pil(image):
        return image.crop((left, top, left + width, top + height))
    return image[top : top + height, left : left + width].copy()


class Crop(ImageTensorOperation):
    """A rectangle at a fixed place.

    Args:
        coordinates: the place (y, x) of its upper left corner.
        size: (height, width), or an int for a square.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: it does not lie within the image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Crop((0, 1), 2)(np.zeros((4, 5, 3), np.uint8)).shape
        (2, 2, 3)
    """

    def __init__(self, coordinates, size):
        checks.sequence(coordinates, "coordinates", 2)
        for index, one in enumerate(coordinates):
            checks.integer(one, f"coordinates[{index}]", 0)
        self.coordinates, self.size = coordinates, checks.size(size)

    def _array(self, image):
        (top, left), (height, width) = self.coordinates, self.size
        check_image(image, "Crop")
        if top + height > image.shape[0] or left + width > image.shape[1]:
            place = f"rows {top}:{top + height}, columns {left}:{left + width}"
            raise wrong(RuntimeError, "Crop", f"within the image {image.shape[:2]}", place)
        return cut(image, top, left, height, width)


class CenterCrop(ImageTensorOperation):
    """The middle of an image; what the image lacks is black.

    Args:
        size: (height, width), or an int for a square.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.CenterCrop(2)(np.arange(16, dtype=np.uint8).reshape(4, 4))
        array([[ 5,  6],
               [ 9, 10]], dtype=uint8)
    """

    batched = True

    def __init__(self, size):
        self.size = checks.size(size)

    def _array(self, image):
        check_image(image, "CenterCrop")
        height, width = self.size
        more = [max(0, wanted - have) for wanted, have in zip(self.size, image.shape, strict=False)]
        # Where an odd pixel is over, it comes before the image.
        before = [(n + 1) // 2 for n in more]
        padding = (before[1], before[0], more[1] - before[1], more[0] - before[0])
        image = padded(image, padding, 0, Border.CONSTANT)
        return cut(
            image, (image.shape[0] - height) // 2, (image.shape[1] - width) // 2, height, width
        )

    def _pillow(self, image):
        return _center_of_pillow(image, *self.size)


def _center_of_pillow(image, height: int, width: int):
    top, left = round((image.height - height) / 2), round((image.width - width) / 2)
    return cut(image, top, left, height, width)


class Pad(ImageTensorOperation):
    """A border around the image.

    Args:
        padding: an int, (left and right, top and bottom), or (left, top, right, bottom).
        fill_value: the colour of a constant border, one number or three.
        padding_mode: what stands there, a `Border`.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Pad(1, fill_value=9)(np.zeros((1, 1), np.uint8))
        array([[9, 9, 9],
               [9, 0, 9],
               [9, 9, 9]], dtype=uint8)
    """

    def __init__(self, padding, fill_value=0, padding_mode: Border = Border.CONSTANT):
        self.padding = parse_padding(padding)
        self.fill_value = check_fill(fill_value)
        self.padding_mode = checks.enumeration(padding_mode, Border, "padding_mode")

    def _array(self, image):
        check_image(image, "Pad")
        return padded(image, self.padding, self.fill_value, self.padding_mode)

    def _pillow(self, image):
        return padded(image, self.padding, self.fill_value, self.padding_mode)


class PadToSize(ImageTensorOperation):
    """A border that brings the image to a size.

    Args:
        size: (height, width), or an int for a square.
        offset: (top, left) of the image in the result, or an int for both; None is the middle.
        fill_value: the colour of a constant border, one number or three.
        padding_mode: what stands there, a `Border`.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the image does not fit.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.PadToSize(3, offset=0)(np.ones((1, 2), np.uint8))
        array([[1, 1, 0],
               [0, 0, 0],
               [0, 0, 0]], dtype=uint8)
    """

    def __init__(self, size, offset=None, fill_value=0, padding_mode: Border = Border.CONSTANT):
        self.size = _pair(size, "size", 1)
        self.offset = None if offset is None or offset == [] else _pair(offset, "offset", 0)
        self.fill_value = check_fill(fill_value)
        self.padding_mode = checks.enumeration(padding_mode, Border, "padding_mode")

    def _array(self, image):
        check_image(image, "PadToSize")
        more = [wanted - have for wanted, have in zip(self.size, image.shape, strict=False)]
        top, left = self.offset or (more[0] // 2, more[1] // 2)
        padding = (left, top, more[1] - left, more[0] - top)
        if min(padding) < 0:
            expected = f"large enough for the image {image.shape[:2]} at {(top, left)}"
            raise wrong(RuntimeError, "PadToSize: size", expected, f"{self.size}")
        return padded(image, padding, self.fill_value, self.padding_mode)


def _pair(value, name: str, low: int) -> tuple[int, int]:
    if not isinstance(value, (list, tuple)):
        number = checks.integer(value, name, low)
        return number, number
    checks.sequence(value, name, 2, error=ValueError)
    first, second = (checks.integer(one, f"{name}[{i}]", low) for i, one in enumerate(value))
    return first, second


class RandomCrop(ImageTensorOperation):
    """A rectangle at a random place, perhaps of an image with a border.

    Args:
        size: (height, width), or an int for a square.
        padding: a border added first, as `Pad` takes it; None adds none.
        pad_if_needed: whether an image that is too small is padded on both sides.
        fill_value: the colour of a constant border, one number or three.
        padding_mode: what stands there, a `Border`.

    Raises:
        TypeError, ValueError: an argument is wrong, or the PIL image is too small.
        RuntimeError: the array is too small.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomCrop(3, padding=1)(np.zeros((4, 5, 3), np.uint8)).shape
        (3, 3, 3)
    """

    batched = random = True

    def __init__(
        self,
        size,
        padding=None,
        pad_if_needed: bool = False,
        fill_value: int | tuple[int, ...] = 0,
        padding_mode: Border = Border.CONSTANT,
    ):
        self.size = checks.size(size)
        self.padding = (0, 0, 0, 0) if padding is None else parse_padding(padding)
        self.pad_if_needed = checks.boolean(pad_if_needed, "pad_if_needed")
        self.fill_value = check_fill(fill_value)
        self.padding_mode = checks.enumeration(padding_mode, Border, "padding_mode")

    def _borders(self, image) -> tuple:
        """The whole border, and height and width with it."""
        left, top, right, bottom = self.padding
        height, width = extent(image, type(self).__name__)
        if self.pad_if_needed:
            down = max(0, self.size[0] - height - top - bottom)
            across = max(0, self.size[1] - width - left - right)
            left, top, right, bottom = left + across, top + down, right + across, bottom + down
        height, width = height + top + bottom, width + left + right
        if height < self.size[0] or width < self.size[1]:
            kind = ValueError if is_pil(image) else RuntimeError
            expected = f"at most the size {(height, width)} of the image with its border"
            raise wrong(kind, "RandomCrop: size", expected, f"{self.size}")
        return (left, top, right, bottom), height, width

    def _draw(self, image, generator):
        _, height, width = self._borders(image)
        top = generator.integers(height - self.size[0], endpoint=True)
        left = generator.integers(width - self.size[1], endpoint=True)
        return int(top), int(left)

    def _array(self, image, top, left):
        padding, _, _ = self._borders(image)
        image = padded(image, padding, self.fill_value, self.padding_mode)
        return cut(image, top, left, *self.size)

    _pillow = _array


class FiveCrop(PillowOperation):
    """The four corners of a PIL image and its middle.

    Args:
        size: (height, width) of each, or an int for squares.

    Raises:
        TypeError: an argument is wrong, or the input is not a PIL image.
        ValueError: the image is smaller.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> image = vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))
        >>> len(vision.FiveCrop(2)(image))
        5
    """

    def __init__(self, size):
        self.size = checks.size(size)

    def _pillow(self, image):
        height, width = self.size
        if height > image.height or width > image.width:
            expected = f"at most the size {extent(image, type(self).__name__)} of the image"
            raise wrong(ValueError, f"{type(self).__name__}: size", expected, f"{self.size}")
        low, right = image.height - height, image.width - width
        corners = [(0, 0), (0, right), (low, 0), (low, right)]
        crops = [cut(image, top, left, height, width) for top, left in corners]
        return (*crops, _center_of_pillow(image, height, width))


class TenCrop(FiveCrop):
    """`FiveCrop` of a PIL image and of the same image flipped.

    Args:
        size: (height, width) of each, or an int for squares.
        use_vertical_flip: whether it is flipped upside down rather than left to right.

    Raises:
        TypeError: an argument is wrong, or the input is not a PIL image.
        ValueError: the image is smaller.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> image = vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))
        >>> len(vision.TenCrop(2)(image))
        10
    """

    def __init__(self, size, use_vertical_flip: bool = False):
        super().__init__(size)
        self.use_vertical_flip = checks.boolean(use_vertical_flip, "use_vertical_flip")

    def _pillow(self, image):
        flip = pillow("Image", "TenCrop").Transpose
        way = flip.FLIP_TOP_BOTTOM if self.use_vertical_flip else flip.FLIP_LEFT_RIGHT
        return super()._pillow(image) + super()._pillow(image.transpose(way))


class SlicePatches(ImageTensorOperation):
    """An image divided into patches, row by row.

    Args:
        num_height, num_width: how many patches there are down and across.
        slice_mode: whether what cannot be divided evenly is padded or dropped.
        fill_value: what it is padded with.

    Output: a tuple of arrays, or the single one.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: there are more patches than pixels.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> patches = vision.SlicePatches(2, 3)(np.zeros((4, 5, 3), np.uint8))
        >>> len(patches), patches[0].shape
        (6, (2, 2, 3))
    """

    def __init__(
        self,
        num_height: int = 1,
        num_width: int = 1,
        slice_mode: SliceMode = SliceMode.PAD,
        fill_value: int = 0,
    ):
        self.num_height = checks.integer(num_height, "num_height", 1)
        self.num_width = checks.integer(num_width, "num_width", 1)
        self.slice_mode = checks.enumeration(slice_mode, SliceMode, "slice_mode")
        self.fill_value = checks.integer(fill_value, "fill_value", 0, 255)

    def _array(self, image):
        check_image(image, "SlicePatches")
        counts = (self.num_height, self.num_width)
        if any(count > have for count, have in zip(counts, image.shape, strict=False)):
            expected = f"at most the size {image.shape[:2]} of the image"
            raise wrong(RuntimeError, "SlicePatches: num_height, num_width", expected, f"{counts}")
        rounded = math.ceil if self.slice_mode is SliceMode.PAD else math.floor
        sizes = [rounded(have / count) for count, have in zip(counts, image.shape, strict=False)]
        more = [max(0, s * c - n) for s, c, n in zip(sizes, counts, image.shape, strict=False)]
        image = padded(image, (0, 0, more[1], more[0]), self.fill_value, Border.CONSTANT)
        (height, width), (down, across) = sizes, counts
        patches = tuple(
            cut(image, row * height, column * width, height, width)
            for row in range(down)
            for column in range(across)
        )
        return patches[0] if len(patches) == 1 else patches


def random_rectangle(
    size: tuple[int, int], scale, ratio, attempts: int, generator, to_even: bool = False
) -> tuple[int, int, int, int]:
    """Top, left, height and width of a rectangle of random area and proportions.

    Where `attempts` have not found one that fits, it is the largest in the middle.

    Args:
        size: height and width of the image.
        scale, ratio: limits of the area as a part of the image's, and of width / height.
        to_even: the middle is rounded to even, as for PIL images; halves are rounded up else.
    """
    height, width = size
    for _ in range(attempts):
        area = generator.uniform(*scale) * height * width
        proportion = math.exp(generator.uniform(math.log(ratio[0]), math.log(ratio[1])))
        wide, high = round(math.sqrt(area * proportion)), round(math.sqrt(area / proportion))
        if 0 < wide <= width and 0 < high <= height:
            top = int(generator.integers(height - high, endpoint=True))
            return top, int(generator.integers(width - wide, endpoint=True)), high, wide
    wide, high = width, height
    if width / height < ratio[0]:
        high = min(height, round(width / ratio[0]))
    elif width / height > ratio[1]:
        wide = min(width, round(height * ratio[1]))
    over = (height - high) / 2, (width - wide) / 2
    top, left = map(round, over) if to_even else (math.floor(one + 0.5) for one in over)
    return top, left, high, wide


def check_area(scale, ratio, attempts) -> None:
    """Raise unless these are arguments of `random_rectangle`."""
    checks.within(checks.ordered(scale, "scale", 0)[1], "scale[1]", 0, above=True)
    first, _ = checks.ordered(ratio, "ratio", 0)
    checks.within(first, "ratio[0]", 0, above=True)
    checks.integer(attempts, "max_attempts", 1)


def check_interpolation(interpolation: Inter, name: str = "interpolation") -> Inter:
    """An interpolation.

    Raises:
        TypeError: the value is not an `Inter`.
    """
    return checks.enumeration(interpolation, Inter, name)
