# SPDX-License-Identifier: Apache-2.0
"""Images in files and in bytes; needs Pillow."""

from __future__ import annotations

import io
import os
import pathlib

import numpy as np

from mycel.dataset.transforms import checks, randomness
from mycel.dataset.transforms.operations import Implementation
from mycel.dataset.vision.cropping import cut
from mycel.dataset.vision.names import ImageReadMode, Inter
from mycel.dataset.vision.operation import ImageTensorOperation, extent
from mycel.dataset.vision.pillow import from_array, is_pil, pillow
from mycel.dataset.vision.resizing import RandomResizedCrop, resized
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.record.tensor import Tensor


def decoded(data: np.ndarray, kind: type, what: str):
    """The PIL image in encoded bytes, in its own mode.

    Raises:
        RuntimeError or ValueError, as `kind` says: they are no image.
    """
    image = pillow("Image", what)
    try:
        opened = image.open(io.BytesIO(data.tobytes()))
        opened.load()
    except Exception as error:
        # Pillow's readers raise whatever damaged bytes make them stumble over.
        if came_from_outside(error):
            raise
        raise wrong(kind, f"The input of {what}", "an encoded image", str(error)) from None
    return opened


def _check_encoded(data, what: str) -> np.ndarray:
    data = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
    if not isinstance(data, np.ndarray) or data.dtype.kind == "U" or data.ndim != 1:
        shown = f"shape {data.shape}" if isinstance(data, np.ndarray) else type(data).__name__
        expected = "encoded bytes, an array of one dimension"
        raise wrong(TypeError, f"The input of {what}", expected, shown)
    return data


def in_colours(image):
    """A PIL image in red, green and blue; transparency is left out, and 16 bits become 8."""
    if image.mode.startswith("I"):
        image = from_array((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGB")


def pixels_of(image) -> np.ndarray:
    """A PIL image in red, green and blue as an array, in memory of its own."""
    return np.array(_shown(image))


def _shown(image) -> np.ndarray:
    """The same, in memory that cannot be written to."""
    return np.asarray(image if image.mode == "RGB" else in_colours(image))


class Decode(ImageTensorOperation):
    """From the bytes of an encoded image to its pixels in red, green and blue.

    Args:
        to_pil: whether the result is a PIL image rather than an array.

    Input: an array of bytes (L,), or bytes: JPEG, PNG, BMP, TIFF or whatever else Pillow reads.

    Raises:
        TypeError: other input. RuntimeError, or ValueError with `to_pil`: bytes of no image.
        ImportError: Pillow is not installed.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> file = vision.encode_png(np.zeros((4, 5, 3), np.uint8))
        >>> vision.Decode()(file).shape
        (4, 5, 3)
    """

    def __init__(self, to_pil: bool = False):
        self.to_pil = checks.boolean(to_pil, "to_pil")
        if self.to_pil:
            self.implementation = Implementation.PY

    def __call__(self, img):
        """The image in these bytes."""
        data = _check_encoded(img, "Decode")
        image = decoded(data, ValueError if self.to_pil else RuntimeError, "Decode")
        return in_colours(image) if self.to_pil else pixels_of(image)


class RandomCropDecodeResize(RandomResizedCrop):
    """`Decode`, and then `RandomResizedCrop`.

    Args:
        size: (height, width) of the result, or an int for a square.
        scale: limits of the area, as a part of the image's.
        ratio: limits of width / height.
        interpolation: how values between pixels are found, an `Inter`.
        max_attempts: how often a rectangle is drawn that does not fit, before the middle is taken.

    Raises:
        TypeError, ValueError: an argument is wrong, or the input is not bytes.
        RuntimeError: the bytes are not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> file = vision.encode_png(np.zeros((8, 8, 3), np.uint8))
        >>> vision.RandomCropDecodeResize((3, 4))(file).shape
        (3, 4, 3)
    """

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ):
        super().__init__(size, scale, ratio, interpolation, max_attempts)
        self.implementation = Implementation.C

    def __call__(self, img):
        """A part of the image in these bytes."""
        image = decoded(_check_encoded(img, "RandomCropDecodeResize"), RuntimeError, "Decode")
        place = self._rectangle(extent(image, type(self).__name__), randomness.current())
        # Pixels that are not looked at are never copied.
        part = _shown(cut(image, *place))
        return resized(part, self.size, self.interpolation, type(self).__name__)


def _check_path(filename) -> pathlib.Path:
    checks.text(filename, "filename")
    if not os.path.isfile(filename):
        raise wrong(RuntimeError, "filename", "the path of a file", repr(filename))
    return pathlib.Path(filename)


def read_file(filename: str) -> np.ndarray:
    """The bytes of a file.

    Raises:
        TypeError: the argument is not a str.
        RuntimeError: there is no such file.

    Example:
        >>> import mycel.dataset.vision as vision, os
        >>> vision.write_file("three.bin", np.arange(3, dtype=np.uint8))
        >>> vision.read_file("three.bin")
        array([0, 1, 2], dtype=uint8)
        >>> os.remove("three.bin")
    """
    return np.frombuffer(_check_path(filename).read_bytes(), np.uint8).copy()


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """The pixels of the image in a file, (H, W, C).

    Args:
        filename: its path.
        mode: as it is stored (transparency is left out), in grey, or in red, green and blue.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: there is no such file, or it is not an image.
        ImportError: Pillow is not installed.

    Example:
        >>> import mycel.dataset.vision as vision, os
        >>> vision.write_png("black.png", np.zeros((4, 5, 3), np.uint8))
        >>> vision.read_image("black.png", vision.ImageReadMode.GRAYSCALE).shape
        (4, 5, 1)
        >>> os.remove("black.png")
    """
    path = _check_path(filename)
    checks.enumeration(mode, ImageReadMode, "mode")
    image = decoded(np.frombuffer(path.read_bytes(), np.uint8), RuntimeError, "read_image")
    in_grey = mode is ImageReadMode.GRAYSCALE
    if mode is ImageReadMode.UNCHANGED and image.mode in ("L", "1"):
        return np.atleast_3d(np.array(image.convert("L")))
    if mode is ImageReadMode.UNCHANGED and image.mode.startswith("I"):
        return np.atleast_3d(np.array(image).astype(np.uint16))
    return np.atleast_3d(np.array(in_colours(image).convert("L") if in_grey else in_colours(image)))


def write_file(filename: str, data) -> None:
    """Write bytes to a file.

    Args:
        filename: its path.
        data: an array or a Tensor of uint8, of one dimension.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the data is of another type, or the file cannot be written.

    Example:
        >>> import mycel.dataset.vision as vision, os
        >>> vision.write_file("three.bin", np.arange(3, dtype=np.uint8))
        >>> os.remove("three.bin")
    """
    checks.text(filename, "filename")
    array = _as_array(data, "data")
    if array.dtype != np.uint8 or array.ndim != 1:
        actual = f"{array.dtype} of shape {array.shape}"
        raise wrong(RuntimeError, "data", "uint8, of one dimension", actual)
    try:
        pathlib.Path(filename).write_bytes(array.tobytes())
    except OSError as error:
        raise wrong(RuntimeError, "filename", "a path to write to", str(error)) from None


def _as_array(value, name: str) -> np.ndarray:
    if isinstance(value, Tensor):
        return value.asnumpy()
    return checks.instance(value, np.ndarray, name, "an array or a Tensor")


def _encoded(image, kind: str, **options) -> np.ndarray:
    array = _as_array(image, "image")
    channels = array.shape[2] if array.ndim == 3 else 1
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or channels not in (1, 3):
        actual = f"{array.dtype} of shape {array.shape}"
        raise wrong(RuntimeError, "image", "uint8, (H, W), (H, W, 1) or (H, W, 3)", actual)
    file = io.BytesIO()
    picture = from_array(array.reshape(array.shape[:2]) if channels == 1 else array, kind)
    picture.save(file, kind, **options)
    return np.frombuffer(file.getvalue(), np.uint8).copy()


def _setting(value, name: str, low: int, high: int) -> int:
    checks.integer(value, name, None, None)
    if not low <= value <= high:
        raise wrong(RuntimeError, name, f"in [{low}, {high}]", repr(value))
    return value


def encode_jpeg(image, quality: int = 75) -> np.ndarray:
    """The bytes of a JPEG file.

    Args:
        image: an array or a Tensor of uint8, (H, W), (H, W, 1) or (H, W, 3).
        quality: from 1 to 100.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the image or the quality is wrong.
        ImportError: Pillow is not installed.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.encode_jpeg(np.zeros((4, 5, 3), np.uint8))[:2].tolist()
        [255, 216]
    """
    return _encoded(image, "jpeg", quality=_setting(quality, "quality", 1, 100))


def encode_png(image, compression_level: int = 6) -> np.ndarray:
    """The bytes of a PNG file.

    Args:
        image: an array or a Tensor of uint8, (H, W), (H, W, 1) or (H, W, 3).
        compression_level: from 0, fast, to 9, small.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the image or the level is wrong.
        ImportError: Pillow is not installed.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> bytes(vision.encode_png(np.zeros((4, 5), np.uint8))[1:4])
        b'PNG'
    """
    level = _setting(compression_level, "compression_level", 0, 9)
    return _encoded(image, "png", compress_level=level)


def write_jpeg(filename: str, image, quality: int = 75) -> None:
    """Write an image to a JPEG file.

    Args:
        filename: its path.
        image: as `encode_jpeg` takes it.
        quality: from 1 to 100.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the image, the quality or the path is wrong.

    Example:
        >>> import mycel.dataset.vision as vision, os
        >>> vision.write_jpeg("black.jpg", np.zeros((4, 5, 3), np.uint8))
        >>> os.remove("black.jpg")
    """
    checks.text(filename, "filename")
    write_file(filename, encode_jpeg(image, quality))


def write_png(filename: str, image, compression_level: int = 6) -> None:
    """Write an image to a PNG file.

    Args:
        filename: its path.
        image: as `encode_png` takes it.
        compression_level: from 0, fast, to 9, small.

    Raises:
        TypeError: an argument is wrong.
        RuntimeError: the image, the level or the path is wrong.

    Example:
        >>> import mycel.dataset.vision as vision, os
        >>> vision.write_png("black.png", np.zeros((4, 5, 3), np.uint8))
        >>> os.remove("black.png")
    """
    checks.text(filename, "filename")
    write_file(filename, encode_png(image, compression_level))


def get_image_size(image) -> list[int]:
    """Height and width of an array (H, W, ...) or of a PIL image.

    Raises:
        TypeError: the input is neither an array nor a PIL image.
        RuntimeError: the array has one dimension.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.get_image_size(np.zeros((4, 5, 3)))
        [4, 5]
    """
    _check_shown(image)
    return list(extent(image, "get_image_size"))


def get_image_num_channels(image) -> int:
    """How many channels an array (H, W) or (H, W, C) or a PIL image has.

    Raises:
        TypeError: the input is neither an array nor a PIL image.
        RuntimeError: the array has one dimension.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.get_image_num_channels(np.zeros((4, 5, 3)))
        3
    """
    _check_shown(image)
    if is_pil(image):
        return len(image.getbands())
    return 1 if image.ndim == 2 else image.shape[-1]


def _check_shown(image) -> None:
    if is_pil(image):
        return
    checks.instance(image, np.ndarray, "image", "an array or a PIL image")
    if image.ndim < 2:
        raise wrong(RuntimeError, "image", "of at least two dimensions", f"{image.shape}")
