# SPDX-License-Identifier: Apache-2.0
"""What stands in event files: histograms, tensors, images, graphs, and the file itself.

Oracles: NumPy, PIL for images, the Cells themselves, and what MindSpore 2.10 wrote for the same
calls (named where it is used).
"""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
import weakref

import numpy as np
import pytest
from PIL import Image
from tensorboardX.proto.graph_pb2 import GraphDef

import mycel as ms
from mycel import SummaryRecord, Tensor, nn, ops
from mycel.summary.events import EventFile, buckets
from mycel.summary.images import side_by_side
from support.event_reader import read, read_events

# -- histograms, tensors, images, graphs --------------------------------------------------------


HISTOGRAMS = {
    "normal": np.random.RandomState(0).randn(1000).astype(np.float32),
    "few": np.float32([0, 0, 0, 1, 2, 8, 8, 9, 9.5, 10, 10, 10]),
    "constant": np.full((2, 2), 3.0, np.float32),
    "integers": np.arange(-20, 90).reshape(10, 11),
    "bools": np.array([True, False, True]),
    "halves": np.float16([1, 2, 4, 5, 6, 7]),
    "close": np.float64([1.0, 1.0 + 2**-52] * 50),
    "huge": np.float64([1e20] * 3),
}


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms(tmp_path, name):
    """Oracle: numpy.histogram on the edges that are written, and the statistics."""
    values = HISTOGRAMS[name]
    with SummaryRecord(tmp_path) as record:
        ops.HistogramSummary()(name, Tensor(values))
        record.record(0)
    shown = read(record)[name][0]
    wide = values.astype(np.float64)
    assert (shown.min, shown.max, shown.num) == (wide.min(), wide.max(), wide.size)
    np.testing.assert_allclose([shown.sum, shown.sum_squares], [wide.sum(), np.square(wide).sum()])
    low, high = (wide.min(), wide.max()) if np.ptp(wide) else (wide.min() - 0.5, wide.max() + 0.5)
    edges = np.array([low, *shown.bucket_limit])
    assert edges[-1] == high
    assert list(shown.bucket) == np.histogram(wide, edges)[0].tolist()
    assert sum(shown.bucket) == wide.size
    if name not in ("close", "huge"):
        np.testing.assert_allclose(edges, np.linspace(low, high, len(edges)))


def test_the_number_of_buckets():
    """Oracle: how many MindSpore 2.10 wrote for so many values."""
    recorded = {1: 2, 5: 2, 6: 3, 10: 3, 11: 2, 100: 11, 880: 89, 881: 90, 5000: 90}
    assert {count: buckets(count) for count in recorded} == recorded


def test_the_counts_of_a_histogram_are_those_of_mindspore(tmp_path):
    """Recorded from MindSpore 2.10: (left, width, count) of each bucket."""
    with SummaryRecord(tmp_path) as record:
        record.add_value("histogram", "skew", Tensor(HISTOGRAMS["few"]))
        record.add_value("histogram", "same", Tensor(np.full(4, 3.0, np.float32)))
        record.record(0)
    found = read(record)
    assert list(found["skew"][0].bucket) == [5, 7]  # (0, 5, 5), (5, 5, 7)
    assert list(found["skew"][0].bucket_limit) == [5.0, 10.0]
    assert list(found["same"][0].bucket) == [0, 4]  # (2.5, 0.5, 0), (3, 0.5, 4)
    assert list(found["same"][0].bucket_limit) == [3.0, 3.5]


def test_a_histogram_leaves_out_what_is_not_finite(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("histogram", "some", Tensor([1.0, np.nan, 2.0, np.inf, -np.inf]))
        record.add_value("histogram", "none", Tensor([np.nan, np.nan]))
        with pytest.warns(UserWarning, match="'(some|none)' was given NaN or infinite") as caught:
            record.record(0)
        record.add_value("histogram", "empty", Tensor(np.zeros((0, 3), np.float32)))
        record.record(1)
    assert len(caught) == 2
    assert {warning.filename for warning in caught} == {__file__}
    found = read(record)
    assert (found["some"][0].num, list(found["some"][0].bucket)) == (2, [1, 1])
    assert (found["none"][0].num, list(found["none"][0].bucket)) == (0, [])
    assert (found["empty"][1].num, list(found["empty"][1].bucket)) == (0, [])


@pytest.mark.parametrize("dtype", ms.kernel.base.dtypes.ALL, ids=str)
def test_tensors_of_every_type(tmp_path, dtype):
    """Oracle: the NumPy array; BFloat16 is written as Float32."""
    array = np.arange(6).reshape(2, 3).astype(dtype.numpy)
    with SummaryRecord(tmp_path) as record:
        ops.TensorSummary()("t", Tensor(array))
        record.record(0)
    shown = read(record)["t"][0]
    expected = array.astype(np.float32) if dtype is ms.bfloat16 else array
    assert shown.dtype == expected.dtype
    np.testing.assert_array_equal(shown, expected)


def decoded(record, tag="i") -> np.ndarray:
    shown = read(record)[tag][0]
    pixels = np.asarray(Image.open(io.BytesIO(shown.encoded_image_string)))
    assert pixels.shape[:2] == (shown.height, shown.width)
    assert (1 if pixels.ndim == 2 else pixels.shape[2]) == shown.colorspace
    return pixels


def write_image(tmp_path, array) -> np.ndarray:
    with SummaryRecord(tmp_path) as record:
        ops.ImageSummary()("i", Tensor(array))
        record.record(0)
    return decoded(record)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("number", [1, 3, 8, 11])
def test_images_are_decoded_to_the_same_pixels(tmp_path, channels, number):
    """Bytes are written as they are, eight images in a row. Oracle: PIL and a loop."""
    images = np.random.RandomState(number).randint(0, 256, (number, channels, 5, 4), np.uint8)
    pixels = write_image(tmp_path, images)
    columns = min(number, 8)
    assert pixels.shape[:2] == (5 * -(-number // columns), 4 * columns)
    for index in range(number):
        top, left = 5 * (index // columns), 4 * (index % columns)
        part = pixels[top : top + 5, left : left + 4]
        part = part[None] if channels == 1 else part.transpose(2, 0, 1)
        np.testing.assert_array_equal(part, images[index])
    unused = number % columns and pixels[-5:, 4 * (number % columns) :]
    assert not np.any(unused)


def test_numbers_become_pixels(tmp_path):
    """0 to 1 is black to white; another range is stretched; NaN is black. Oracle: by hand."""
    ramp = np.float32([[[[0.0, 0.2], [0.5, 1.0]]]])
    np.testing.assert_array_equal(write_image(tmp_path, ramp), [[0, 51], [128, 255]])
    np.testing.assert_array_equal(write_image(tmp_path, ramp * 20 - 7), [[0, 51], [128, 255]])
    np.testing.assert_array_equal(
        write_image(tmp_path, np.float32([[[[np.nan, np.inf], [-1.0, 3.0]]]])),
        [[0, 255], [0, 255]],
    )
    np.testing.assert_array_equal(write_image(tmp_path, ramp > 0.4), [[0, 0], [255, 255]])
    np.testing.assert_array_equal(write_image(tmp_path, np.full((1, 1, 1, 2), 7)), [[0, 0]])


def test_images_are_placed_as_in_mindspore():
    """Recorded from MindSpore 2.10: two images of 2 x 2 stand beside each other."""
    images = np.arange(8).reshape(2, 1, 2, 2)
    assert side_by_side(images)[..., 0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]


def test_the_structure_of_a_network(tmp_path):
    """A box for each Cell; oracle: the Cells and Parameters themselves."""
    net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
    nodes = {
        "SequentialCell/0/weight": ("Parameter", []),
        "SequentialCell/0/bias": ("Parameter", []),
        "SequentialCell/0/Dense": (
            "Dense",
            ["SequentialCell/0/weight", "SequentialCell/0/bias"],
        ),
        "SequentialCell/1/ReLU": ("ReLU", []),
    }
    with SummaryRecord(tmp_path, network=net) as record:
        record.record(0)
        record.record(1, train_network=net)
    with SummaryRecord(tmp_path) as later:
        later.record(0)
        later.record(1, train_network=net)
    with SummaryRecord(tmp_path) as added:
        added.add_value("graph", "net", net)
        added.record(1)
    for each in (record, later, added):
        (event,) = [event for event in read_events(each.log_dir) if event.graph_def]
        graph = GraphDef.FromString(event.graph_def)
        assert {node.name: (node.op, list(node.input)) for node in graph.node} == nodes
        assert graph.node[0].attr["shape"].s == b"(3, 2)"
        assert event.step == (each is not record)


def test_tensors_are_exported(tmp_path):
    with SummaryRecord(tmp_path, export_options={"tensor_format": "npy"}) as record:
        ops.TensorSummary()("layer/out", Tensor([[1.0, 2.0]]))
        ops.ScalarSummary()("x", Tensor(1.0))
        record.record(7)
    (path,) = tmp_path.glob("export_*/tensor/*.npy")
    assert path.name == "layer%2Fout_7.npy"
    np.testing.assert_array_equal(np.load(path), np.float32([[1.0, 2.0]]))


# -- the file -----------------------------------------------------------------------------------


def test_the_file(tmp_path):
    """TensorBoard finds a file by `tfevents` and reads the format's number in the first event."""
    record = SummaryRecord(tmp_path / "a" / "b", file_prefix="run", file_suffix=".first")
    path = record.log_dir
    assert path.startswith(str(tmp_path / "a" / "b" / "run.out.tfevents."))
    assert path.endswith(".first")
    assert [event.file_version for event in read_events(path)] == ["brain.Event:2"]
    record.add_value("scalar", "x", Tensor(1.0))
    record.record(-1)
    # Recorded is written: another program can look at it now.
    assert read(record) == {"x": {-1: 1.0}}
    record.flush()
    record.close()
    record.close()


def test_a_closed_record(tmp_path):
    """As in MindSpore, recording gives False; nothing is written, and nothing kept."""
    with SummaryRecord(tmp_path) as record:
        pass
    value = Tensor(1.0)
    known = weakref.ref(value._value)
    ops.ScalarSummary()("x", value)
    del value
    assert known() is None
    line = sys._getframe().f_lineno + 2
    with pytest.warns(UserWarning, match="what record was given") as caught:
        assert record.record(1) is False
    assert f"{__file__}:{line}" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="what add_value was given"):
        record.add_value("scalar", "x", Tensor(1.0))
    with pytest.warns(UserWarning, match="what flush was given"):
        record.flush()
    with pytest.raises(ValueError, match="closed"), record:
        pass
    assert read(record) == {}


def test_a_record_that_is_dropped_is_closed(tmp_path):
    record = SummaryRecord(tmp_path)
    ops.ScalarSummary()("x", Tensor(1.0))
    record.record(0)
    file, path = record._file._file, record.log_dir
    del record
    gc.collect()
    assert file.closed
    assert len(read_events(path)) == 2
    ops.ScalarSummary()("x", Tensor(1.0))


def test_a_file_may_have_a_largest_size(tmp_path):
    """It ends before the event that would make it longer, with one warning."""
    with SummaryRecord(tmp_path / "free") as record:
        sizes = [os.path.getsize(record.log_dir)]
        for step in range(3):
            record.add_value("scalar", "x", Tensor(1.0))
            record.record(step)
            sizes.append(os.path.getsize(record.log_dir))
    with SummaryRecord(tmp_path / "limited", max_file_size=sizes[3] - 1) as record:
        results = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for step in range(5):
                record.add_value("scalar", "x", Tensor(1.0))
                results.append(record.record(step))
    assert results == [True, True, False, False, False]
    assert [str(warning.message)[:44] for warning in caught] == [
        "The file of this SummaryRecord has reached m"
    ]
    assert caught[0].filename == __file__
    assert set(read(record)["x"]) == {0, 1}
    assert os.path.getsize(record.log_dir) == sizes[2]


def test_a_file_too_short_for_its_first_event_stays_empty(tmp_path):
    """What is smaller than the event that says the format is not written without it."""
    with SummaryRecord(tmp_path / "free") as record:
        size = os.path.getsize(record.log_dir)
    with SummaryRecord(tmp_path / "limited", max_file_size=size - 1) as record:
        record.add_value("scalar", "x", Tensor(1.0))
        with pytest.warns(UserWarning, match="has reached max_file_size"):
            assert record.record(0) is False
    assert os.path.getsize(record.log_dir) == 0


class Full:
    """A disk that is full from the second event on."""

    def __init__(self, monkeypatch):
        write = EventFile.write

        def failing(file, event):
            if event.summary.value:
                raise OSError(28, "No space left on device")
            return write(file, event)

        monkeypatch.setattr(EventFile, "write", failing)


def test_a_full_disk_is_a_warning(tmp_path, monkeypatch):
    Full(monkeypatch)
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "x", Tensor(1.0))
        with pytest.warns(UserWarning, match="No space left on device") as caught:
            assert record.record(0) is False
        assert caught[0].filename == __file__
        record.add_value("scalar", "x", Tensor(1.0))
        assert record.record(1) is False


def test_a_full_disk_is_an_error_if_asked_for(tmp_path, monkeypatch):
    Full(monkeypatch)
    with SummaryRecord(tmp_path, raise_exception=True) as record:
        record.add_value("scalar", "x", Tensor(1.0))
        with pytest.raises(OSError, match="No space left on device"):
            record.record(0)
