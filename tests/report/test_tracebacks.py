# SPDX-License-Identifier: Apache-2.0
"""Tracebacks as they are printed. Oracles: what Python prints for the same program without mycel
in it, and the lines of the programs themselves."""

from __future__ import annotations

import concurrent.futures
import io
import logging
import os
import re
import subprocess
import sys
import threading
import traceback

import IPython
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import mycel as ms
from mycel import Tensor, nn
from mycel.report import tracebacks

PROGRAM = """\
import sys, threading
import numpy as np
import mycel as ms
from mycel import Tensor, nn

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(3, 4)

    def construct(self, x):
        return self.layer(x)

def run():
    return Net()(Tensor(np.ones((2, 5), np.float32)))

"""
PLAIN = "run()\n"
THREAD = "thread = threading.Thread(target=run)\nthread.start()\nthread.join()\n"
CAUSE = "try:\n    run()\nexcept ValueError as error:\n    raise RuntimeError('mine') from error\n"
FRAME = re.compile(r'  File "(.*)", line \d+, in (\S+)')


def printed(tmp_path, program, **environment) -> str:
    script = tmp_path / "program.py"
    script.write_text(program)
    environment = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment
    )
    return done.stderr


def frames(text: str) -> list[tuple[str, str]]:
    return [(os.path.basename(file), function) for file, function in FRAME.findall(text)]


OWN = [("program.py", "run"), ("program.py", "construct")]


def test_plain_python_ends_at_the_user_s_line(tmp_path):
    text = printed(tmp_path, PROGRAM + PLAIN)
    assert frames(text) == [("program.py", "<module>"), *OWN]
    assert text.splitlines()[-1] == "In Net.layer, Dense(3 → 4), called with Float32[2, 5]."


def test_all_frames_are_shown_when_asked_for(tmp_path):
    text = printed(tmp_path, PROGRAM + PLAIN, MYCEL_TRACEBACK="full")
    assert {file for file, _ in frames(text)} > {"program.py", "cell.py", "stream.py"}


def test_a_thread_shows_the_same(tmp_path):
    text = printed(tmp_path, PROGRAM + THREAD)
    assert [frame for frame in frames(text) if frame[0] != "threading.py"] == OWN


def test_causes_are_kept_and_shortened(tmp_path):
    text = printed(tmp_path, PROGRAM + CAUSE)
    module = ("program.py", "<module>")
    assert frames(text) == [module, *OWN, module]
    assert "The above exception was the direct cause" in text


def test_a_hook_that_was_there_is_still_called(tmp_path):
    show = "print('mine', len(traceback.extract_tb(trace)), file=sys.stderr)"
    hook = f"import sys, traceback\nsys.excepthook = lambda kind, error, trace: {show}\n"
    assert printed(tmp_path, hook + PROGRAM + PLAIN) == "mine 3\n"


@pytest.mark.parametrize("last", ["{}['key']", "undefined", "''.upperr()", "x = = 3"])
def test_what_is_none_of_ours_is_printed_as_ever(last, tmp_path):
    """Oracle: Python without mycel."""
    assert printed(tmp_path, f"import mycel\n{last}\n") == printed(
        tmp_path, f"import sys\n{last}\n"
    )


def broken():
    """An exception with frames of ours, and one of them that we do not raise."""
    try:
        nn.Dense(3, 4)(Tensor(np.ones((2, 5), np.float32)))
    except ValueError as error:
        return error
    raise AssertionError("it fits")


def test_the_exception_itself_keeps_everything():
    error = broken()
    before, notes = traceback.extract_tb(error.__traceback__), list(error.__notes__)
    with tracebacks.short(error):
        inside = traceback.extract_tb(error.__traceback__)
    assert len(inside) == 1 < len(before)
    assert len(frames(traceback.format_exc())) == 0
    assert len(frames("".join(traceback.format_exception(error)))) == 1
    assert traceback.extract_tb(error.__traceback__) == before and error.__notes__ == notes


# -- the module `traceback` and what stands on it -----------------------------------------------


def caught(function=broken):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        try:
            raise RuntimeError("mine") from pool.submit(function).result()
        except RuntimeError as error:
            return error
    raise AssertionError("nothing was raised")


def uncaught_text(error, monkeypatch) -> str:
    """What Python prints of an exception that nothing caught: the oracle of what others print."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    sys.excepthook(type(error), error, error.__traceback__)
    monkeypatch.undo()
    return out.getvalue()


def test_the_module_prints_what_an_uncaught_exception_shows(monkeypatch):
    for error in (broken(), caught()):
        expected = uncaught_text(error, monkeypatch)
        assert 0 < len(frames(expected)) < 3
        assert "".join(traceback.format_exception(error)) == expected
        out = io.StringIO()
        traceback.print_exception(error, file=out)
        logged = logging.Formatter().formatException((type(error), error, error.__traceback__))
        assert out.getvalue() == expected == logged + "\n"
    monkeypatch.setenv("MYCEL_TRACEBACK", "full")
    full = frames("".join(traceback.format_exception(error)))
    assert {"cell.py", "stream.py"} < {file for file, _ in full}


def test_groups_and_what_was_handled_within_the_library(monkeypatch):
    """Oracle: the frames of the parts, one by one."""
    error = broken()
    group = ExceptionGroup("several", [error, KeyError(1)])
    text = "".join(traceback.format_exception(group)).replace("    | ", "")
    assert frames(text) == frames("".join(traceback.format_exception(error)))
    monkeypatch.setattr("mycel.nn.layers.linear.affine", None)
    with pytest.raises(TypeError) as found:
        nn.Dense(3, 4)(Tensor(np.ones((2, 3), np.float32)))
    text = "".join(traceback.format_exception(found.value))
    assert text.endswith(f"{tracebacks.HIDDEN}\n") and text.count(tracebacks.HIDDEN) == 1
    assert tracebacks.HIDDEN not in found.value.__notes__


def test_without_frames_of_the_user_all_are_kept():
    try:
        Tensor(np.ones(3)).reshape(2)
    except ValueError as error:
        trace = error.__traceback__.tb_next
        assert trace is not None and tracebacks.shortened(trace) is None
        told = traceback.TracebackException(type(error), error, trace)
        assert len(told.stack) == len(traceback.extract_tb(trace))
        # So where a part of it is asked for.
        assert len(traceback.TracebackException.from_exception(error, limit=1).stack) == 1


def test_pytest_leaves_out_the_same_frames(monkeypatch):
    """Oracle: `shortened`. Packages that are loaded later are marked too."""
    for error in (broken(), caught_in_training()):
        info = pytest.ExceptionInfo.from_exception(error)
        monkeypatch.delenv("MYCEL_TRACEBACK", raising=False)
        short = traceback.extract_tb(tracebacks.shortened(error.__traceback__))
        shown = info.traceback.filter(info)
        assert [entry.lineno + 1 for entry in shown] == [frame.lineno for frame in short]
        monkeypatch.setenv("MYCEL_TRACEBACK", "full")
        assert len(info.traceback.filter(info)) == len(info.traceback) > len(shown)


def caught_in_training():
    try:
        ms.Model(nn.Dense(3, 4)).train("many", None)
    except (TypeError, ValueError) as error:
        return error
    raise AssertionError("it trains")


PROCESSES = """
import concurrent.futures, logging, multiprocessing
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            pool.submit(run).result()
        except ValueError:
            logging.exception("in a process")
"""


def test_processes_of_a_pool_tell_the_same(tmp_path):
    """Oracle: the same program in one thread."""
    text = printed(tmp_path, PROGRAM + PROCESSES)
    ours = [frame for frame in frames(text) if frame[0] == "program.py"]
    assert ours == [*OWN, ("program.py", "<module>")]
    assert not {"cell.py", "stream.py"} & {file for file, _ in frames(text)}


def test_what_is_not_raised_on_purpose_says_that_lines_are_left_out(monkeypatch):
    monkeypatch.setattr("mycel.nn.layers.linear.affine", None)
    with pytest.raises(TypeError, match="not callable") as caught:
        nn.Dense(3, 4)(Tensor(np.ones((2, 3), np.float32)))
    (note,) = caught.value.__notes__
    with tracebacks.short(caught.value):
        assert caught.value.__notes__ == [note, tracebacks.HIDDEN]
    assert caught.value.__notes__ == [note]


def test_a_thread_s_hook_gets_the_short_traceback(monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    tracebacks.show_short_tracebacks()
    error = broken()
    threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, None)))
    assert len(traceback.extract_tb(seen[0].exc_traceback)) == 1


class Formatter:
    """What an IPython calls to format exceptions: older ones know no notes."""

    def structured_traceback(self, kind, error, trace, tb_offset=None):
        return [frame.name for frame in traceback.extract_tb(trace)] + [str(error)]


def test_ipython_is_given_the_short_traceback(monkeypatch):
    shell = type(sys)("shell")
    shell.InteractiveTB = Formatter()
    module = type(sys)("IPython.core.interactiveshell")
    module.InteractiveShell = type("InteractiveShell", (), {"_instance": shell})
    monkeypatch.setitem(sys.modules, "IPython.core.interactiveshell", module)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    tracebacks.show_short_tracebacks()
    error = broken()
    shown = shell.InteractiveTB.structured_traceback(
        type(error), error, error.__traceback__, tb_offset=1
    )
    assert shown == ["broken", str(error), *error.__notes__]


def test_a_real_ipython():
    plain = "nocolor" if IPython.version_info[0] >= 9 else "NoColor"
    shell = InteractiveShell.instance(colors=plain)
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        shell.run_cell("from mycel.report.tracebacks import show_short_tracebacks as show\nshow()")
        shell.run_cell(PROGRAM + PLAIN)
    text = out.getvalue()
    assert "Net.layer, Dense(3 → 4), called with Float32[2, 5]." in text
    assert "stream.py" not in text and "cell.py" not in text
