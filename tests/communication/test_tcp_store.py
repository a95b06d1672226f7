# SPDX-License-Identifier: Apache-2.0
"""Values that processes share. Oracle: MindSpore 2.10's answers to the same calls; the texts."""

from __future__ import annotations

import datetime
import subprocess
import sys
import threading

import pytest

from mycel.mint.distributed import TCPStore

SHORT = datetime.timedelta(seconds=0.3)


@pytest.fixture
def store():
    made = TCPStore("127.0.0.1", 0, is_master=True, timeout=datetime.timedelta(seconds=20))
    yield made
    made.close()


def test_values_as_in_mindspore(store):
    assert (store.add("a", 1), store.add("a", 5), store.get("a")) == (1, 6, b"6")
    assert store.set("b", "text") is None and store.get("b") == b"text"
    store.set("c", b"\x00\xff\n")
    assert store.get("c") == b"\x00\xff\n"
    assert (store.delete_key("b"), store.delete_key("b")) == (True, False)


def test_what_is_refused(store):
    for call, word in (
        (lambda: store.set("d", 3), "text or bytes"),
        (lambda: store.set(3, "x"), "key"),
        (lambda: store.add("d", "x"), "an integer"),
        (lambda: store.get(3), "key"),
    ):
        with pytest.raises(TypeError, match=word):
            call()
    store.set("word", "x")
    with pytest.raises(RuntimeError, match="which is no number"):
        store.add("word", 1)
    with pytest.raises(RuntimeError, match="is not reached"):
        TCPStore("127.0.0.1", 1, timeout=SHORT)
    with pytest.raises(RuntimeError, match=f"127.0.0.1:{store.port}"):
        TCPStore("127.0.0.1", store.port, is_master=True)


def test_a_value_is_waited_for(store):
    with TCPStoreOf(store, SHORT) as other:
        with pytest.raises(RuntimeError, match=r"Nobody set 'late' within 0\.3 seconds"):
            other.get("late")
        later = threading.Timer(0.05, store.set, ("late", "now"))
        later.start()
        assert other.get("late") == b"now"
        later.join()


class TCPStoreOf:
    """A second user of a store."""

    def __init__(self, store, timeout):
        self.made = TCPStore("127.0.0.1", store.port, timeout=timeout)

    def __enter__(self):
        return self.made

    def __exit__(self, *error):
        self.made.close()


def test_another_process_counts_as_well(store):
    code = (
        "from mycel.communication.tcp_store import TCPStore\n"
        f"store = TCPStore('127.0.0.1', {store.port})\n"
        "print([store.add('n', 1) for _ in range(50)][-1] >= 50, store.get('word'))\n"
    )
    store.set("word", "shared")
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    for _ in range(50):
        store.add("n", 1)
    assert other.communicate(timeout=120)[0] == "True b'shared'\n"
    assert store.get("n") == b"100"
