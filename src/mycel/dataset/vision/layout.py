# SPDX-License-Identifier: Apache-2.0
"""The form of images: order of dimensions and channels, types, scales, arrays and PIL images."""

from __future__ import annotations

import colorsys
import copy
from collections.abc import Callable

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.arrays import TypeCast
from mycel.dataset.transforms.operations import Implementation, PyTensorOperation
from mycel.dataset.transforms.together import array_of
from mycel.dataset.vision import tones
from mycel.dataset.vision.names import ConvertMode
from mycel.dataset.vision.operation import ImageTensorOperation, check_image, saturate
from mycel.dataset.vision.pillow import from_array
from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.base.errors import wrong


class HWC2CHW(ImageTensorOperation):
    """From (H, W, C) to (C, H, W); (H, W) stays.

    Raises:
        TypeError, RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.HWC2CHW()(np.zeros((4, 5, 3), np.uint8)).shape
        (3, 4, 5)
    """

    def _array(self, image):
        check_image(image, "HWC2CHW")
        if image.ndim == 2:
            return image
        height, width, channels = image.shape
        # NumPy moves two dimensions faster than three.
        flat = np.ascontiguousarray(image.reshape(height * width, channels).T)
        return flat.reshape(channels, height, width)

    def _together(self, rows):
        images = check_image(array_of(rows), "HWC2CHW", 3, 4)
        return images if images.ndim == 3 else images.transpose(0, 3, 1, 2)


class ToTensor(ImageTensorOperation):
    """From (H, W, C), or (H, W), of 0 to 255 to (C, H, W) of 0 to 1.

    Args:
        output_type: the element type of the result, MindSpore's or NumPy's.

    Raises:
        TypeError: the type is not an element type, or the input not an image.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ToTensor()(np.full((1, 1, 3), 255, np.uint8)).ravel()
        array([1., 1., 1.], dtype=float32)
    """

    def __init__(self, output_type=np.float32):
        self.output_type = numpy_dtype(output_type)

    def _array(self, image):
        return self._scaled(np.atleast_3d(check_image(image, "ToTensor")))

    def _together(self, rows):
        images = check_image(array_of(rows), "ToTensor", 3, 4)
        return self._scaled(images[..., None] if images.ndim == 3 else images)

    def _scaled(self, images):
        scale = np.float64 if self.output_type == np.float64 else np.float32
        # Moved before there are more bytes to move.
        values = np.ascontiguousarray(np.moveaxis(images, -1, -3)).astype(scale)
        values /= scale(255)
        return values.astype(self.output_type, copy=False)


class ToPIL(ImageTensorOperation):
    """From an array to a PIL image.

    Raises:
        TypeError: the input is neither an array nor a PIL image, or PIL images do not have its
            element type.
        ValueError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ToPIL()(np.zeros((4, 5, 3), np.uint8)).size
        (5, 4)
    """

    implementation = Implementation.PY

    def _pillow(self, image):
        return image

    def _array(self, image):
        if image.ndim not in (2, 3):
            raise wrong(ValueError, "The input of ToPIL", "(H, W) or (H, W, C)", f"{image.shape}")
        channels = image.shape[2] if image.ndim == 3 else 1
        if channels > 4:
            raise wrong(ValueError, "The input of ToPIL", "of at most 4 channels", f"{channels}")
        if channels == 1:
            image = image.reshape(image.shape[:2])
            if image.dtype.kind not in "biuf" or image.dtype in (np.float16, np.int64, np.uint64):
                expected = "a bool, an int of up to 32 bits, float32 or float64"
                raise wrong(TypeError, "The type of a grey image", expected, str(image.dtype))
        elif image.dtype != np.uint8:
            raise wrong(TypeError, "The type of an image with colours", "uint8", str(image.dtype))
        if image.dtype in (np.uint32, np.int8, np.float64):
            # Pillow has no such images.
            image = image.astype(np.float32 if image.dtype == np.float64 else np.int32)
        return from_array(image, "ToPIL")


class ToNumpy(ImageTensorOperation):
    """From a PIL image, or from nested lists of numbers, to an array.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ToNumpy()(vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))).shape
        (4, 5, 3)
    """

    def __call__(self, *images):
        """The image, or all of them, as arrays."""
        lists = (list, tuple, int, float)
        return super().__call__(*[np.array(i) if isinstance(i, lists) else i for i in images])

    def _array(self, image):
        return np.array(image)


class ToType(TypeCast):
    """`TypeCast` by another name.

    Args:
        data_type: MindSpore's or NumPy's name of the type.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ToType(np.float32)(np.array([1, 2]))
        array([1., 2.], dtype=float32)
    """


class Rescale(ImageTensorOperation):
    """Every value times a factor, plus a shift, as float32.

    Args:
        rescale: the factor.
        shift: what is added.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Rescale(2.0, -1.0)(np.array([[1, 2]], np.uint8))
        array([[1., 3.]], dtype=float32)
    """

    def __init__(self, rescale: float, shift: float):
        self.rescale = checks.number(rescale, "rescale")
        self.shift = checks.number(shift, "shift")

    def _array(self, image):
        values = image.astype(np.float32)
        values *= np.float32(self.rescale)
        values += np.float32(self.shift)
        return values

    def _together(self, rows):
        return self._array(array_of(rows))


def check_statistics(mean, std, most=255) -> None:
    """Raise unless these are the mean and the standard deviation of channels.

    Raises:
        TypeError: the values are not lists or tuples of numbers.
        ValueError: the lengths differ, or a number is not from 0 to `most`.
    """
    if len(checks.sequence(mean, "mean")) != len(checks.sequence(std, "std")):
        expected = f"as long as mean, {len(mean)}"
        raise wrong(ValueError, "std", expected, f"{len(std)} numbers")
    for one in mean:
        checks.number(one, "mean", 0, most)
    for one in std:
        checks.number(one, "std", 0, most, above=True)


class Normalize(ImageTensorOperation):
    """Every value minus the mean of its channel, divided by the standard deviation, as float32.

    Args:
        mean, std: one number per channel, or one for all of them, from 0 to 255.
        is_hwc: whether channels are the last dimension; else they come before height and width.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the number of channels differs, or the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Normalize([1.0], [2.0])(np.array([[[1], [3]]], np.uint8)).ravel()
        array([0., 1.], dtype=float32)
    """

    def __init__(self, mean, std, is_hwc: bool = True):
        check_statistics(mean, std)
        self.mean, self.std = mean, std
        self.is_hwc = checks.boolean(is_hwc, "is_hwc")
        # Whether each channel of a result lies in memory by itself, as HWC2CHW wants it.
        self._apart = False

    def _before(self, following):
        """As it is, or with the channels of results lying apart."""
        if type(self) is not Normalize or type(following) is not HWC2CHW or not self.is_hwc:
            return self
        made = copy.copy(self)
        made._apart = True
        return made

    def _array(self, image):
        name = type(self).__name__
        if image.ndim < 2:
            raise wrong(RuntimeError, f"The input of {name}", "an image", f"{image.shape}")
        axis = -1 if self.is_hwc else -3
        channels = 1 if image.ndim == 2 else image.shape[axis]
        if len(self.mean) not in (1, channels):
            expected = f"given as many channels as mean has, {len(self.mean)}"
            raise wrong(RuntimeError, name, expected, f"{channels}")
        return self._normalized(image)

    def _together(self, rows):
        images = array_of(rows)
        self._array(images[0])
        return self._normalized(images)

    def _normalized(self, images) -> np.ndarray:
        mean, std = (np.array(one, np.float32) for one in (self.mean, self.std))
        if self._apart and images.ndim == 3:
            values = np.ascontiguousarray(images.transpose(2, 0, 1)).astype(np.float32)
            values -= mean[:, None, None]
            values /= std[:, None, None]
            return values.transpose(1, 2, 0)
        values = np.ascontiguousarray(images).astype(np.float32)
        if len(mean) == 1:
            flat = values
        elif self.is_hwc:
            # Whole lines of pixels: NumPy is slow where the last dimension is short.
            flat = values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1])
            mean, std = (np.tile(one, values.shape[-2]) for one in (mean, std))
        else:
            flat, mean, std = values, mean[:, None, None], std[:, None, None]
        flat -= mean
        flat /= std
        return values


class NormalizePad(Normalize):
    """`Normalize`, and behind the channels one more of zeros.

    Args:
        mean, std: one number per channel, from 0 to 255.
        dtype: "float32" or "float16", the type of the result.
        is_hwc: whether channels are the last dimension; else they are the first.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the number of channels differs.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.NormalizePad([1.0], [2.0])(np.array([[[1], [3]]], np.uint8)).shape
        (1, 2, 2)
    """

    def __init__(self, mean, std, dtype: str = "float32", is_hwc: bool = True):
        super().__init__(mean, std, is_hwc)
        if checks.text(dtype, "dtype") not in ("float32", "float16"):
            raise wrong(ValueError, "dtype", "'float32' or 'float16'", repr(dtype))
        self.dtype = dtype

    def _array(self, image):
        values = super()._array(check_image(image, "NormalizePad", 3))
        axis = 2 if self.is_hwc else 0
        zeros = np.zeros_like(np.take(values, [0], axis))
        return np.concatenate([values, zeros], axis).astype(self.dtype)


class LinearTransformation(ImageTensorOperation, PyTensorOperation):
    """All values of an image as one vector, minus a mean, times a matrix.

    Args:
        transformation_matrix: (D, D), where D is the number of values of an image.
        mean_vector: (D,).

    Raises:
        TypeError: an argument is not an array.
        ValueError: the shapes do not fit together.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> whiten = vision.LinearTransformation(2 * np.eye(4), np.ones(4))
        >>> whiten(np.array([[[1.0, 2.0], [3.0, 4.0]]]))
        array([[[0., 2.],
                [4., 6.]]])
    """

    implementation = Implementation.PY

    def __init__(self, transformation_matrix: np.ndarray, mean_vector: np.ndarray):
        matrix, mean = transformation_matrix, mean_vector
        checks.instance(matrix, np.ndarray, "transformation_matrix", "an array")
        checks.instance(mean, np.ndarray, "mean_vector", "an array")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise wrong(ValueError, "transformation_matrix", "square", f"{matrix.shape}")
        if mean.shape[0] != matrix.shape[0]:
            raise wrong(ValueError, "mean_vector", f"{matrix.shape[0]} long", f"{mean.shape}")
        self.transformation_matrix, self.mean_vector = matrix, mean

    def _array(self, image):
        if image.size != self.mean_vector.size:
            expected = f"an array of {self.mean_vector.size} values"
            raise wrong(ValueError, "The input of LinearTransformation", expected, f"{image.shape}")
        centered = image.reshape(1, -1) - self.mean_vector
        return (centered @ self.transformation_matrix).reshape(image.shape)


class _Colours(ImageTensorOperation, PyTensorOperation):
    """A function of three numbers at every pixel of an image or of a batch of them."""

    implementation = Implementation.PY
    _convert: Callable[..., tuple[float, float, float]]

    def __init__(self, is_hwc: bool = False):
        self.is_hwc = checks.boolean(is_hwc, "is_hwc")

    def _array(self, image):
        name = f"The input of {type(self).__name__}"
        axis = -1 if self.is_hwc else -3
        if image.ndim not in (3, 4) or image.shape[axis] != 3:
            expected = "(H, W, 3) or (N, H, W, 3)" if self.is_hwc else "(3, H, W) or (N, 3, H, W)"
            raise wrong(TypeError, name, expected, f"{image.shape}")
        converted = np.vectorize(self._convert, otypes=[float] * 3)(*np.moveaxis(image, axis, 0))
        return np.stack(converted, axis)


class RgbToHsv(_Colours):
    """From red, green and blue to hue, saturation and value.

    Args:
        is_hwc: whether channels are the last dimension; else they come before height and width.

    Raises:
        TypeError: an argument is wrong, or the array is not such an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RgbToHsv(is_hwc=True)(np.array([[[0.0, 0.5, 0.0]]]))[0, 0].tolist()
        [0.3333333333333333, 1.0, 0.5]
    """

    _convert = staticmethod(colorsys.rgb_to_hsv)


class HsvToRgb(_Colours):
    """From hue, saturation and value to red, green and blue.

    Args:
        is_hwc: whether channels are the last dimension; else they come before height and width.

    Raises:
        TypeError: an argument is wrong, or the array is not such an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.HsvToRgb(is_hwc=True)(np.array([[[0.0, 1.0, 0.5]]]))[0, 0].tolist()
        [0.5, 0.0, 0.0]
    """

    _convert = staticmethod(colorsys.hsv_to_rgb)


# Per mode: channels needed, and the channels taken; "a" is full opacity.
_TAKEN = {
    ConvertMode.COLOR_BGR2BGRA: (3, (0, 1, 2, "a")),
    ConvertMode.COLOR_BGRA2BGR: (4, (0, 1, 2)),
    ConvertMode.COLOR_BGR2RGBA: (3, (2, 1, 0, "a")),
    ConvertMode.COLOR_RGBA2BGR: (4, (2, 1, 0)),
    ConvertMode.COLOR_BGR2RGB: (3, (2, 1, 0)),
    ConvertMode.COLOR_BGRA2RGBA: (4, (2, 1, 0, 3)),
    ConvertMode.COLOR_GRAY2BGR: (1, (0, 0, 0)),
    ConvertMode.COLOR_GRAY2BGRA: (1, (0, 0, 0, "a")),
}
_TO_GREY = {
    ConvertMode.COLOR_BGR2GRAY: (3, (2, 1, 0)),
    ConvertMode.COLOR_RGB2GRAY: (3, (0, 1, 2)),
    ConvertMode.COLOR_BGRA2GRAY: (4, (2, 1, 0)),
    ConvertMode.COLOR_RGBA2GRAY: (4, (0, 1, 2)),
}


class ConvertColor(ImageTensorOperation):
    """Other channels, or the same in another order.

    Args:
        convert_mode: from which to which, a `ConvertMode`.

    Output: (H, W, C); grey is (H, W).

    Raises:
        TypeError: the value is not a `ConvertMode`.
        RuntimeError: the number of channels differs.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> swap = vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR)
        >>> swap(np.array([[[1, 2, 3]]], np.uint8))
        array([[[3, 2, 1]]], dtype=uint8)
    """

    def __init__(self, convert_mode: ConvertMode):
        self.convert_mode = checks.enumeration(convert_mode, ConvertMode, "convert_mode")

    def _array(self, image):
        mode = self.convert_mode
        needed, taken = _TO_GREY[mode] if mode in _TO_GREY else _TAKEN[mode]
        image = np.atleast_3d(check_image(image, "ConvertColor"))
        if image.shape[2] != needed:
            expected = f"given {needed} channels for {mode.name}"
            raise wrong(RuntimeError, "ConvertColor", expected, f"{image.shape[2]}")
        if mode in _TO_GREY:
            return tones.grey(image[..., list(taken)])
        most = np.iinfo(image.dtype).max if image.dtype.kind in "iu" else 1
        opaque = saturate(np.full(image.shape[:2], most), image.dtype)
        return np.stack([opaque if one == "a" else image[..., one] for one in taken], -1)
