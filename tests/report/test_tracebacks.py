# SPDX-License-Identifier: Apache-2.0
"""Tracebacks as they are printed. Oracles: what Python prints for the same program without mycel
in it, and the lines of the programs themselves."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

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
    before = traceback.format_exception(error)
    with tracebacks.short(error):
        inside = traceback.format_exception(error)
    assert traceback.format_exception(error) == before
    assert len(frames("".join(inside))) == 1 < len(frames("".join(before)))


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
    module = type(sys)("IPython")
    module.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    tracebacks.show_short_tracebacks()
    error = broken()
    shown = shell.InteractiveTB.structured_traceback(
        type(error), error, error.__traceback__, tb_offset=1
    )
    assert shown == ["broken", str(error), *error.__notes__]


def test_a_real_ipython():
    """Runs where IPython is installed, as the extra `test` does."""
    core = pytest.importorskip("IPython.core.interactiveshell")
    plain = "nocolor" if pytest.importorskip("IPython").version_info[0] >= 9 else "NoColor"
    shell = core.InteractiveShell.instance(colors=plain)
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        shell.run_cell("from mycel.report.tracebacks import show_short_tracebacks as show\nshow()")
        shell.run_cell(PROGRAM + PLAIN)
    text = out.getvalue()
    assert "Net.layer, Dense(3 → 4), called with Float32[2, 5]." in text
    assert "stream.py" not in text and "cell.py" not in text
