# SPDX-License-Identifier: Apache-2.0
"""Worker processes: the same rows as without them, and an error that names the operation when one
raises, dies or hangs. Oracle: NumPy, and the pipeline without workers.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mycel.dataset as ds


@pytest.fixture(autouse=True)
def settings():
    yield
    ds.config.set_multiprocessing_timeout_interval(300)
    ds.config.settings.seed = None


def numbers(count, operation, workers=2):
    data = ds.NumpySlicesDataset(np.arange(count), ["x"], shuffle=False)
    return data.map(
        operation, ["x"], num_parallel_workers=workers, python_multiprocessing=workers > 1
    )


def through(data):
    return [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_rows_come_in_order_and_from_other_processes():
    import os

    def where(x):
        return x * 2, np.int64(os.getpid())

    data = ds.NumpySlicesDataset(np.arange(9), ["x"], shuffle=False)
    data = data.map(where, ["x"], ["x", "pid"], num_parallel_workers=2, python_multiprocessing=True)
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    epochs = [[(int(x), int(pid)) for x, pid in iterator] for _ in range(2)]
    for rows in epochs:
        assert [x for x, _ in rows] == list(range(0, 18, 2))
    workers = {pid for rows in epochs for _, pid in rows}
    assert os.getpid() not in workers
    # The same processes serve every epoch.
    assert 1 <= len(workers) <= 2


def test_random_numbers_do_not_depend_on_workers():
    def crop(x):
        from mycel.dataset.transforms import randomness

        return np.array([x, randomness.current().integers(1000)])

    ds.config.set_seed(5)
    assert through(numbers(6, crop)) == through(numbers(6, crop, workers=1))


def test_numbers_of_numpy_do_not_depend_on_which_worker_gets_a_row():
    def noisy(x):
        import random

        return x * 1000 + np.random.randint(500) + random.randint(0, 400)

    ds.config.set_seed(5)
    first = through(numbers(6, noisy))
    assert first == through(numbers(6, noisy, workers=3))
    assert len({value % 1000 for value in first}) > 1


def slow_to_load():
    import time

    time.sleep(1.5)
    return np.negative


class SlowToLoad:
    """An operation whose modules take long to import."""

    def __reduce__(self):
        return slow_to_load, ()

    def __call__(self, x):
        raise AssertionError("not in a worker")


def test_the_time_to_start_is_not_that_of_a_row():
    ds.config.set_multiprocessing_timeout_interval(1)
    assert through(numbers(3, SlowToLoad())) == [0, -1, -2]


def test_a_source_is_read_in_processes():
    class Source:
        def __len__(self):
            return 4

        def __getitem__(self, index):
            if index == 3:
                raise LookupError("row three is broken")
            return np.full(3, index)

    data = ds.GeneratorDataset(Source(), ["x"], shuffle=False, num_parallel_workers=2)
    assert through(data.take(3)) == [[0] * 3, [1] * 3, [2] * 3]
    with pytest.raises(RuntimeError, match=r"(?s)GeneratorDataset.*LookupError: row three"):
        through(data)


def test_a_worker_that_raises():
    def broken(x):
        if x == 2:
            raise ValueError("two is too many")
        return x

    with pytest.raises(RuntimeError) as caught:
        through(numbers(5, broken))
    text = str(caught.value)
    assert text.startswith("map: test_a_worker_that_raises.broken on the column(s) ['x'] of MapD")
    assert "ValueError: two is too many" in text
    assert "if x == 2" in text or "in broken" in text


def test_a_worker_that_dies():
    def ending(x):
        import os

        if x == 2:
            os._exit(7)
        return x

    pattern = r"(?s)map: .*ending on the column.*died with exit code 7 while it worked on row 2"
    with pytest.raises(RuntimeError, match=pattern):
        through(numbers(5, ending))


def test_a_worker_that_hangs():
    def hanging(x):
        import time

        if x == 1:
            time.sleep(60)
        return x

    ds.config.set_multiprocessing_timeout_interval(2)
    pattern = r"(?s)map: .*hanging on the column.*worked on row 1 for more than 2 seconds"
    with pytest.raises(RuntimeError, match=pattern):
        through(numbers(3, hanging))


def test_what_cannot_be_sent_runs_here(caplog):
    import threading

    lock = threading.Lock()

    def locked(x):
        with lock:
            return x + 1

    with caplog.at_level("WARNING", logger="mycel"):
        assert through(numbers(3, locked)) == [1, 2, 3]
    assert "cannot be sent to a worker process" in caplog.text


def test_an_epoch_goes_on_with_workers():
    def double(x):
        return x * 2

    data = numbers(8, double).batch(2)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    first = next(iterator)[0].tolist()
    state = iterator.get_state()
    iterator.stop()
    other = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    other.set_state(state)
    rest = [row[0].tolist() for row in other]
    assert [first, *rest] == [[0, 2], [4, 6], [8, 10], [12, 14]]


def test_a_program_without_a_guard_that_imports_mindspore():
    program = pathlib.Path(__file__).parent / "program.py"
    command = [sys.executable, "-m", "mycel", "run", str(program)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    expected = ["2 4 1", "[[[0, 0], [1, 1]], [[2, 2], [3, 3]]]"]
    assert made.stdout.splitlines() == expected, made.stderr
    assert "cannot be sent" not in made.stderr


MODULE = """
import argparse
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--first", type=int, required=True)
options = parser.parse_args()

class Source:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return np.array(options.first + index)
"""
PROGRAM = """
import module
import mindspore.dataset as ds

data = ds.GeneratorDataset(module.Source(), ["x"], shuffle=False, num_parallel_workers=2)
print([int(row[0]) for row in data])
"""


def test_workers_have_the_command_line_of_the_program(tmp_path):
    """Oracle: MindSpore's workers, which are forks; a module may read sys.argv on its import."""
    (tmp_path / "module.py").write_text(MODULE, "utf-8")
    (tmp_path / "main.py").write_text(PROGRAM, "utf-8")
    command = [sys.executable, "-m", "mycel", "run", "main.py", "--first", "5"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert made.stdout.splitlines() == ["[5, 6, 7, 8]"], made.stderr
