# SPDX-License-Identifier: Apache-2.0
"""The ledger: every call that was not replayed, merged by cause; the table, the page and the file.

Oracles: what the ledger was told, counted by the test; the words a user should read.
"""

from __future__ import annotations

import html.parser
import json
import os
import random
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

import mycel as ms
from mycel import Tensor
from mycel.kernel.base.places import DEFINITION, NOWHERE, Place
from mycel.report import pages as report
from mycel.report.ledger import PATIENCE, Ledger
from support import prepared


def place_in(path: str, line: int = 1) -> Place:
    return Place(compile("0", path, "exec").replace(co_firstlineno=line), DEFINITION)


HERE, ELSEWHERE = place_in("a.py"), place_in("b.py")


def tell(ledger, what, times=1, kind="argument", name="step", place=HERE, **more):
    for _ in range(times):
        ledger.unreplayed(name, kind, what, place, **more)


# -- merging -------------------------------------------------------------------------------------


def test_a_cause_is_one_line_whatever_the_values():
    ledger = Ledger()
    for number in range(5):
        what = f"argument `t` went {number}.0 -> {number + 1}.0"
        ledger.unreplayed("step", "argument", what, HERE, "Net", "pass a Tensor", 0.25)
    (line,) = ledger.lines
    assert (line.count, line.seconds) == (5, 1.25)
    assert line.what == "argument `t` went 0.0 -> 1.0"
    assert line.last == "argument `t` went 4.0 -> 5.0"
    assert (line.name, line.kind, line.place) == ("step", "argument", "a.py:1")
    assert (line.cell, line.remedy) == ("Net", "pass a Tensor")
    assert ledger.counts.unreplayed == 5


@pytest.mark.parametrize(
    ("one", "two", "merged"),
    [
        ("argument `t` went 1.0 -> 2.0", "argument `t` went 2.0 -> -3e-05", True),
        ("argument `s` went 'a, `b' -> 'c'", "argument `s` went 'd' -> 'e'", True),
        ("`x` went (4,) -> (5,); `t` went 1 -> 2", "`x` went (5,) -> (7,); `t` went 2 -> 3", True),
        ("`x` went (4, 8) -> (5, 8)", "`x` went (5, 8) -> (6, 8)", True),
        ("`x` went Float32 -> Float16", "`x` went Float16 -> Float64", True),
        ("1 Tensor made inside", "7 Tensor made inside", True),
        ("<object at 0x7f12ab>", "<object at 0x7f99cd>", True),
        ("argument `t` went 1 -> 2", "argument `u` went 1 -> 2", False),
        ("argument `t` went 1 -> 2", "argument `t` went 1 -> 2; `x` went (1,) -> (2,)", False),
        ("attribute `Net.layers.1`", "attribute `Net.layers.2`", False),
        ("attribute `x[0]`", "attribute `x[1]`", False),
        ("attribute 'conv1' was set", "attribute 'conv2' was set", False),
        ("conv1 changed", "conv2 changed", False),
    ],
)
def test_what_is_merged(one, two, merged):
    ledger = Ledger()
    tell(ledger, one)
    tell(ledger, two)
    assert len(ledger.lines) == (1 if merged else 2)


def test_other_functions_kinds_and_places_are_other_lines():
    ledger = Ledger()
    tell(ledger, "a")
    tell(ledger, "a", name="other")
    tell(ledger, "a", kind="state")
    tell(ledger, "a", place=ELSEWHERE)
    tell(ledger, "a")
    assert [(line.name, line.kind, line.place, line.count) for line in ledger.lines] == [
        ("other", "argument", "a.py:1", 1),
        ("step", "state", "a.py:1", 1),
        ("step", "argument", "b.py:1", 1),
        ("step", "argument", "a.py:1", 2),  # what happened last is last
    ]


def test_lines_are_copies():
    ledger = Ledger()
    tell(ledger, "a")
    ledger.lines[0].count = 100
    ledger.lines.clear()
    assert ledger.lines[0].count == 1


def test_no_count_is_lost_when_there_are_too_many_lines(monkeypatch):
    most = 512  # fewer than there are for users, as each line takes its time
    monkeypatch.setattr("mycel.report.ledger.MOST_LINES", most)
    monkeypatch.setattr("mycel.report.ledger.MOST_AT_ONCE", most // 4)
    ledger, told, begun = Ledger(), 0, 0
    dice = random.Random(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(3 * most):
            kind = dice.choice(["argument", "first", "state"])
            times = 3 if number % 100 == 0 else 1
            tell(ledger, f"attribute `a{number}`", times, kind, seconds=0.5)
            if kind == "first":
                begun += times
            else:
                told += times
    lines = ledger.lines
    assert len(lines) <= most
    assert sum(line.count for line in lines if line.kind in report.FAULTS) == told
    assert sum(line.count for line in lines if line.kind == "first") == begun
    assert (ledger.counts.unreplayed, ledger.counts.firsts) == (told, begun)
    assert sum(line.seconds for line in lines) == (told + begun) / 2
    assert {line.kind for line in lines if line.name == "others"} == {"other", "first"}
    # The frequent ones are all there, however old.
    assert sum(line.count == 3 for line in lines) == len(range(0, 3 * most, 100))


def test_a_kind_that_is_not_known_and_a_long_cause_are_shown_all_the_same():
    ledger = Ledger()
    tell(ledger, "x" * 10_000 + " went " * 1000, kind="something new")
    assert [line.kind for line in ledger.lines] == ["other"]
    assert "something new" not in report.FAULTS
    assert len(str(ledger)) < 2000


def test_threads_lose_nothing():
    ledger = Ledger()

    def work(number):
        for turn in range(200):
            tell(ledger, f"attribute `a{turn % 7}`", seconds=1.0, replays=10**6)
            if turn % 25 == number:
                str(ledger)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(line.count for line in ledger.lines) == ledger.counts.unreplayed == 1600
    assert sum(line.seconds for line in ledger.lines) == 1600


def test_compilations_are_merged_too():
    ledger = Ledger()
    with ledger.working_on("step"):
        for size in (3, 1, 3):
            ledger.compiled(size, 0.5)
    assert [(line.what, line.count, line.seconds) for line in ledger.lines] == [
        ("1 operator", 1, 0.5),
        ("3 operators", 2, 1.0),
    ]
    assert (ledger.counts.compilations, ledger.counts.compiling) == (3, 1.5)
    assert ledger.lines[0].place.startswith(f"{__file__}:")
    ledger.reset()
    assert (ledger.lines, ledger.counts.compilations) == ([], 0)


def test_a_place_that_is_none_or_ours_is_where_we_were_called():
    ledger = Ledger()
    ours = Place(ms.nn.Dense.construct.__code__, 0)
    for place in (NOWHERE, ours):
        ledger.unreplayed("step", "other", "a", place)
    assert {line.place.rpartition(":")[0] for line in ledger.lines} == {__file__}


def test_the_cell_of_a_place_is_told():
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = ms.nn.Dense(1, 1)

    net, ledger = Net(), Ledger()
    tell(ledger, "a", place=HERE._replace(called=(net.inner, (net, None))))
    assert (ledger.lines[0].place, ledger.lines[0].cell) == ("a.py:1", "Net.inner")


# -- warning -------------------------------------------------------------------------------------


class Function:
    """In place of a compiled function."""


def warnings_of(work) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [str(one.message) for one in caught]


def test_ten_calls_are_borne_and_one_warning_is_given():
    ledger, who = Ledger(), Function()
    told = {"remedy": "pass a Tensor", "who": who}
    assert warnings_of(lambda: tell(ledger, "argument `t` went 1 -> 2", PATIENCE, **told)) == []
    assert warnings_of(lambda: tell(ledger, "argument `t` went 5 -> 6", 100, **told)) == [
        "step is compiled but keeps running in PyNative: 11 calls were not replayed because "
        "argument `t` went 5 -> 6 (at a.py:1). Pass a Tensor. print(mycel.debug.ledger()) shows "
        "them all."
    ]
    # Not again, also when counting starts anew.
    ledger.reset()
    assert warnings_of(lambda: tell(ledger, "argument `t` went 5 -> 6", 100, **told)) == []


def test_the_warning_names_the_commonest_cause():
    ledger, who = Ledger(), Function()
    tell(ledger, "attribute `n`", 8, kind="state", who=who)
    (text,) = warnings_of(lambda: tell(ledger, "a Tensor read", 3, kind="read", who=who))
    assert "11 calls were not replayed, mostly because attribute `n` (at a.py:1)." in text


def test_first_recordings_are_not_warned_of():
    ledger = Ledger()
    assert warnings_of(lambda: tell(ledger, "recorded", 100, "first", who=Function())) == []
    assert (ledger.counts.firsts, ledger.counts.unreplayed) == (100, 0)


def test_a_function_that_is_mostly_replayed_is_not_warned_of():
    ledger, who = Ledger(), Function()

    def one_in(period, calls):
        for call in range(1, calls):
            if call % period == 0:
                tell(ledger, "a Tensor read", replays=call - call // period, who=who)

    assert warnings_of(lambda: one_in(50, 5000)) == []
    assert len(warnings_of(lambda: one_in(4, 5000))) == 1


def test_functions_of_one_name_are_told_apart():
    ledger = Ledger()
    several = [Function() for _ in range(20)]
    assert warnings_of(lambda: [tell(ledger, "a", who=who) for who in several * 10]) == []
    assert len(warnings_of(lambda: [tell(ledger, "a", who=who) for who in several])) == 20
    # Without it, the name must do.
    assert len(warnings_of(lambda: tell(ledger, "a", 50, name="lonely"))) == 1


def test_a_breakpoint_is_warned_of_alone():
    ledger, who = Ledger(), Function()
    (text,) = warnings_of(lambda: ledger.warn_stopped("step", HERE, who))
    assert text.startswith("step has a breakpoint (at a.py:1)")
    assert warnings_of(lambda: tell(ledger, "a breakpoint was reached", 50, who=who)) == []


def test_a_program_that_keeps_missing():
    """Whole: the warning, the line, the table."""

    @ms.jit
    def scaled(x, factor):
        return x * factor

    def work():
        for number in range(30):
            scaled(Tensor([1.0]), float(number))

    (text,) = warnings_of(work)
    assert "scaled is compiled but keeps running in PyNative: 11 calls" in text
    (line,) = [line for line in ms.debug.ledger().lines if line.kind == "argument"]
    assert line.count == 29
    assert line.seconds > 0
    assert line.last == "argument `factor` went 28.0 -> 29.0"
    assert "argument `factor` went 0.0 -> 1.0 (last" in str(ms.debug.ledger())


def test_last_smaller_batches_are_not_warned_of():
    """Ten epochs of ten batches, the last of them smaller: recorded, and then replayed."""
    double = ms.jit(lambda x: x * 2)
    sizes = ([8] * 9 + [5]) * 10
    assert warnings_of(lambda: [double(Tensor(np.ones(size))) for size in sizes]) == []
    told = [line for line in ms.debug.ledger().lines if line.kind == "argument"]
    assert [(line.what, line.count) for line in told] == [("`x` went (8,) -> (5,)", 1)]
    assert ms.debug.ledger().counts.replays == 96


# -- the table -----------------------------------------------------------------------------------

HOSTILE = "<script>alert('x')</script>&\"\x1b[31m\r\n\udce9" + "very_long" * 30


def filled(hostile: str = "") -> Ledger:
    """A ledger with something of everything."""
    ledger = Ledger()
    ledger.counts.replays = 40
    deep = "/home/somebody/a/quite/long/path/to/some/project/with/many/folders/train.py"
    where, more = place_in(deep, 1234), {"replays": 10**9}
    tell(ledger, "argument `t` went 1.0 -> 2.0", seconds=0.5, remedy="pass a Tensor", **more)
    tell(ledger, "argument `t` went 7.0 -> 8.0", seconds=0.25, remedy="pass a Tensor", **more)
    cell, name = "Network.backbone.layers.conv_block.normalisation" * 2, "n" * 90
    long = {"place": where, "cell": cell, "remedy": "write something else instead " * 9, **more}
    tell(ledger, "what " * 40 + "x" * 150, 3, "effect", name + hostile, seconds=20.5, **long)
    tell(ledger, "recorded" + hostile, 4, "first", cell=hostile)
    with ledger.working_on("step" + hostile):
        ledger.compiled(3, 0.5)
    return ledger


def test_the_table():
    ledger = filled()
    lines = str(ledger).splitlines()
    assert lines[0] == (
        "1 compilation in 0.500 s, 40 calls replayed, 5 run in PyNative, 4 first recordings"
    )
    assert lines[2] == "Calls that ran in PyNative"
    assert lines[3].split() == ["calls", "seconds", "function", "what", "where"]
    # The dearest comes first.
    assert lines[5].split()[:2] == ["3", "61.5"]
    (row,) = [line for line in lines if "argument `t`" in line]
    assert row.split()[:3] == ["2", "0.750", "step"]
    assert row.endswith("a.py:1")
    # Wrapped in its column, since the names of others are long; the remedy is below.
    below = [line.strip() for line in lines[lines.index(row) + 1 :][:2]]
    assert below == ["(last 7.0 -> 8.0)", "-> pass a Tensor"]
    assert "Compilations" in lines
    assert "First recordings, which are no fault" in lines
    assert repr(ledger) == str(ledger)


@pytest.mark.parametrize("hostile", ["", HOSTILE])
def test_the_table_fits_and_is_plain(hostile):
    text = str(filled(hostile))
    assert max(map(len, text.splitlines())) <= 100
    assert all(letter.isprintable() for letter in text.replace("\n", ""))
    assert "train.py:1234" in text, "the end of a path is what tells it"


def test_an_empty_ledger():
    assert str(Ledger()) == (
        "0 compilations, 0 calls replayed, 0 run in PyNative, 0 first recordings"
    )


def test_rows_beyond_the_first_are_counted():
    ledger = Ledger()
    for number in range(100):
        tell(ledger, f"attribute `a{number}`", seconds=1.0, replays=1000)
    lines = str(ledger).splitlines()
    assert lines[-1] == "and 60 lines more, 60 calls, 60.0 s: all are in mycel.debug.ledger().lines"
    assert len(lines) < 60


def test_places_are_as_people_know_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside = str(tmp_path / "package" / "train.py")
    assert report.short_place(f"{inside}:7") == os.path.join("package", "train.py:7")
    assert report.short_place("/elsewhere/train.py:7") == "/elsewhere/train.py:7"
    assert report.short_place("an unknown place") == "an unknown place"

    class Notebook:
        class compile:
            @staticmethod
            def format_code_name(name):
                return ("Cell", "In[5]") if "ipykernel" in name else None

    fake = type(sys)("IPython.core.interactiveshell")
    fake.InteractiveShell = type("InteractiveShell", (), {"_instance": Notebook()})
    monkeypatch.setitem(sys.modules, "IPython.core.interactiveshell", fake)
    assert report.short_place("/tmp/ipykernel_1/22.py:7") == "In[5]:7"
    assert report.short_place(f"{inside}:7") == os.path.join("package", "train.py:7")


# -- the page ------------------------------------------------------------------------------------


class Tags(html.parser.HTMLParser):
    """The tags of a page, and its text outside of styles."""

    EMPTY = ("meta",)

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.met: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.met.add(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


@pytest.mark.parametrize("hostile", ["", HOSTILE])
def test_the_page_is_whole_and_escaped(hostile):
    ledger = filled(hostile)
    notebook = ledger._repr_html_()
    page = report.page(ledger.counts, ledger.lines)
    assert notebook in page
    for found in (Tags(notebook), Tags(page)):
        assert found.open == []
        assert "script" not in found.met
        assert "argument `t` went 1.0 -> 2.0 (last 7.0 -> 8.0)" in found.text
        assert "pass a Tensor" in found.text
        if hostile:
            assert "<script>alert('x')</script>&\"" in found.text
    # It loads nothing, and takes its colours from what is around it.
    assert "http" not in page
    assert "src=" not in page
    assert "color-scheme" in page
    assert "color: #" not in page


# -- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["report.html", "report.HTM", "report.txt", "report", "a.json"])
def test_a_report_is_written_by_its_ending(tmp_path, name):
    ledger = filled(HOSTILE)
    ledger.write(tmp_path / name)
    contents = (tmp_path / name).read_text("utf-8")
    if name == "a.json":
        data = json.loads(contents)
        assert data["counts"]["replays"] == 40
        assert [line["count"] for line in data["lines"]] == [2, 3, 4, 1]
        assert data["lines"][0]["what"] == "argument `t` went 1.0 -> 2.0"
    elif "h" in name.lower().partition(".")[2]:
        assert contents.startswith("<!DOCTYPE html>")
    else:
        assert contents == f"{ledger}\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.txt"
    path.write_text("the last one")
    monkeypatch.setattr(report, "text", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        filled().write(path)
    assert path.read_text() == "the last one"
    assert [one.name for one in tmp_path.iterdir()] == ["report.txt"]


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "report.txt"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    filled().write(pipe)
    reader.join(30)
    assert received == [f"{filled()}\n"]
    assert pipe.is_fifo()


PROGRAM = """
    import os, subprocess, sys
    import mycel as ms
    double = ms.jit(lambda x, factor: x * factor)
    for number in range(3):
        double(ms.Tensor([1.0]), float(number)).asnumpy()
"""


def run(folder, wanted: str, program: str, **more) -> subprocess.CompletedProcess:
    kept = {key: value for key, value in os.environ.items() if key != "MYCEL_LEDGER_OWNER"}
    environment = {**kept, "MYCEL_LEDGER": wanted, "PYTHONPATH": os.pathsep.join(sys.path), **more}
    script = folder / "program.py"
    script.write_text(textwrap.dedent(PROGRAM) + textwrap.dedent(program))
    return prepared.run([str(script)], env=environment, cwd=folder)


def test_the_report_at_exit_and_the_programs_own_exception(tmp_path):
    program = "os.mkdir('other'); os.chdir('other')\nraise ValueError('mine')"
    done = run(tmp_path, "reports/report.html", program)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: mine")
    page = Tags((tmp_path / "reports" / "report.html").read_text())
    assert "argument `factor` went 0.0 -> 1.0 (last 1.0 -> 2.0)" in page.text
    assert "program.py:4" in page.text


def test_a_report_that_cannot_be_written_hides_nothing(tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = run(tmp_path, "taken/report.txt", "sys.exit(7)")
    assert done.returncode == 7
    assert "MYCEL_LEDGER=" in done.stderr
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    done = run(tmp_path, "taken/report.txt", "raise KeyError('mine')")
    assert done.returncode == 1
    assert "KeyError: 'mine'" in done.stderr


def test_processes_that_a_program_starts_write_beside_it(tmp_path):
    child = f"{textwrap.dedent(PROGRAM)}\nprint(os.getpid())"
    idle = "import mycel"
    program = f"""
    for code in ({child!r}, {idle!r}):
        made = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        print(made.stdout.decode().strip())
    """
    done = run(tmp_path, "report.json", program)
    assert done.returncode == 0, done.stderr
    number = done.stdout.split()[0]
    written = {path.name for path in tmp_path.glob("*.json")}
    assert written == {"report.json", f"report-{number}.json"}
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["counts"]["unreplayed"] == 2
    (line,) = [line for line in data["lines"] if line["kind"] == "argument"]
    assert line["place"].endswith("program.py:4")


def test_without_the_variable_nothing_is_written(tmp_path):
    assert run(tmp_path, "", "").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]
