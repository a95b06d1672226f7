# SPDX-License-Identifier: Apache-2.0
"""Metrics of surfaces: how far the edges of two regions are apart."""

from __future__ import annotations

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.nn.checks import boolean, is_number, one_of
from mycel.train.metrics.base import Metric, rearrange_inputs

DISTANCES = ("euclidean", "chessboard", "taxicab")
# How many pairs of edge points are compared at once.
MOST_PAIRS = 1 << 20


class _Surface(Metric):
    """Keeps the edges of the regions with one label, in prediction and in truth."""

    distance_metric: str

    def clear(self):
        """Forget what was collected."""
        self._y_pred_edges = self._y_edges = np.zeros(0, bool)
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        """Take prediction, truth (of the same shape), and the label of the region.

        Raises:
            ValueError: there are not three inputs, their shapes differ, or the label is in none of
                them.
        """
        name = type(self).__name__
        self._check_count(inputs, 3, "prediction, truth and a label")
        y_pred, y, label = *map(self._convert_data, inputs[:2]), inputs[2]
        if not is_number(label):
            raise wrong(ValueError, f"{name}: the label", "a number", repr(label))
        if label not in y_pred and label not in y:
            raise wrong(ValueError, f"{name}: the label", "in prediction or truth", repr(label))
        if y_pred.size == 0 or y_pred.shape != y.shape:
            expected = f"of the shape {y.shape} of the truth, and not empty"
            raise wrong(ValueError, f"The prediction given to {name}", expected, y_pred.shape)
        regions = [a if a.dtype == bool else a == label for a in (y_pred, y)]
        self._y_pred_edges, self._y_edges = self._edges(*regions)
        self._is_update = True

    def _edges(self, y_pred, y) -> tuple[np.ndarray, np.ndarray]:
        return edge(y_pred), edge(y)

    def _both_ways(self) -> tuple[np.ndarray, np.ndarray]:
        """The distances of the points of each edge to the other."""
        self._check_begun(self._is_update)
        forth = distances(self._y_pred_edges, self._y_edges, self.distance_metric)
        return forth, distances(self._y_edges, self._y_pred_edges, self.distance_metric)


def edge(region: np.ndarray) -> np.ndarray:
    """The points of a region with a neighbour outside, along one axis; outside is outside.

    Example:
        >>> from mycel.train.metrics.surfaces import edge
        >>> print(edge(np.ones((3, 3), bool)).astype(int))
        [[1 1 1]
         [1 0 1]
         [1 1 1]]
    """
    padded = np.pad(region, 1)
    inner = region.copy()
    for axis in range(region.ndim):
        for start in (0, 2):
            window = [slice(1, -1)] * region.ndim
            window[axis] = slice(start, start + region.shape[axis])
            inner &= padded[tuple(window)]
    return region & ~inner


def distances(from_edge: np.ndarray, to_edge: np.ndarray, metric: str) -> np.ndarray:
    """For each point of an edge how far the nearest point of another edge is; infinite for none.

    Example:
        >>> from mycel.train.metrics.surfaces import distances
        >>> one, other = np.array([[True, False, False]]), np.array([[False, False, True]])
        >>> print(distances(one, other, "euclidean"))
        [2.]
    """
    points, others = np.argwhere(from_edge), np.argwhere(to_edge)
    if not len(points) or not len(others):
        return np.full(len(points), np.inf)
    nearest = []
    rows = max(1, MOST_PAIRS // len(others))
    for start in range(0, len(points), rows):
        apart = np.abs(points[start : start + rows, np.newaxis] - others)
        if metric == "euclidean":
            apart = np.sqrt((apart**2).sum(axis=-1))
        else:
            apart = apart.max(axis=-1) if metric == "chessboard" else apart.sum(axis=-1)
        nearest.append(apart.min(axis=1))
    return np.concatenate(nearest)


class HausdorffDistance(_Surface):
    """The greatest distance of a point of one edge to the other edge.

    Args:
        distance_metric: 'euclidean', 'chessboard' or 'taxicab'.
        percentile: take this percentile of the distances, 0 to 100, in place of the greatest.
        directed: only from the prediction to the truth.
        crop: leave out what is outside both regions; points at their border become edges.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.HausdorffDistance`.

    Example:
        >>> y_pred, y = Tensor([[3, 0, 1], [1, 3, 0]]), Tensor([[0, 2, 1], [1, 0, 3]])
        >>> print(round(float(ms.train.HausdorffDistance()(y_pred, y, 3)), 4))
        2.2361
    """

    def __init__(self, distance_metric="euclidean", percentile=None, directed=False, crop=True):
        super().__init__()
        name = type(self).__name__
        self.distance_metric = one_of(distance_metric, f"{name}: distance_metric", DISTANCES)
        if percentile is not None and not isinstance(percentile, float):
            raise wrong(TypeError, f"{name}: percentile", "a float or None", repr(percentile))
        self.percentile = percentile
        self.directed = directed if directed is None else boolean(directed, f"{name}: directed")
        self.crop = crop if crop is None else boolean(crop, f"{name}: crop")
        self.clear()

    def _edges(self, y_pred, y):
        if self.crop and (y_pred | y).any():
            places = np.nonzero(y_pred | y)
            box = tuple(slice(axis.min(), axis.max() + 1) for axis in places)
            y_pred, y = np.squeeze(y_pred[box]), np.squeeze(y[box])
        return edge(y_pred), edge(y)

    def eval(self):
        """The distance; infinite if one of the regions is not there.

        Raises:
            RuntimeError: nothing was collected.
            ValueError: the percentile is out of range.
        """
        forth, back = map(self._greatest, self._both_ways())
        return forth if self.directed else max(forth, back)

    def _greatest(self, distances: np.ndarray):
        if not distances.size:
            return np.inf
        if not self.percentile:
            return distances.max()
        if not 0 <= self.percentile <= 100:
            what = "HausdorffDistance: percentile"
            raise wrong(ValueError, what, "from 0 to 100", self.percentile)
        return np.percentile(distances, self.percentile)


class _MeanSurface(_Surface):
    """A mean of the distances of the points of one edge to the other."""

    def __init__(self, symmetric=False, distance_metric="euclidean"):
        super().__init__()
        name = type(self).__name__
        self.distance_metric = one_of(distance_metric, f"{name}: distance_metric", DISTANCES)
        self.symmetric = boolean(symmetric, f"{name}: symmetric")
        self.clear()


class MeanSurfaceDistance(_MeanSurface):
    """The mean distance of the points of the predicted edge to the true one.

    Args:
        symmetric: take the mean of both ways.
        distance_metric: 'euclidean', 'chessboard' or 'taxicab'.

    Source: MindSpore's `mindspore.train.MeanSurfaceDistance`.

    Example:
        >>> y_pred, y = Tensor([[3, 0, 1], [1, 3, 0]]), Tensor([[0, 2, 1], [1, 0, 3]])
        >>> print(round(float(ms.train.MeanSurfaceDistance()(y_pred, y, 3)), 4))
        1.618
    """

    def eval(self):
        """The distance; infinite if one of the regions is not there.

        Raises:
            RuntimeError: nothing was collected.
        """
        forth, back = self._both_ways()
        if not forth.size or (self.symmetric and not back.size):
            return np.inf
        return np.mean((forth.mean(), back.mean())) if self.symmetric else forth.mean()


class RootMeanSquareDistance(_MeanSurface):
    """The mean square distance of the points of the predicted edge to the true one.

    As in MindSpore the root is taken only when `symmetric`.

    Args:
        symmetric: the root of the mean of both ways.
        distance_metric: 'euclidean', 'chessboard' or 'taxicab'.

    Source: MindSpore's `mindspore.train.RootMeanSquareDistance`.

    Example:
        >>> y_pred, y = Tensor([[3, 0, 1], [1, 3, 0]]), Tensor([[0, 2, 1], [1, 0, 3]])
        >>> print(round(float(ms.train.RootMeanSquareDistance()(y_pred, y, 3)), 4))
        3.0
    """

    def eval(self):
        """The distance; infinite if one of the regions is not there.

        Raises:
            RuntimeError: nothing was collected.
        """
        forth, back = self._both_ways()
        if not forth.size or (self.symmetric and not back.size):
            return np.inf
        squares = (forth**2).mean()
        return np.sqrt(np.mean((squares, (back**2).mean()))) if self.symmetric else squares
