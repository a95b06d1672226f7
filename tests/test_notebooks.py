# SPDX-License-Identifier: Apache-2.0
"""Notebooks: those of docs/tutorials are run again, and a kernel and IPython do what people do.

Oracles: what the stored notebooks show, facts of each that hold on any machine, and values by hand.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

DOCS = Path(__file__).parent.parent / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.ipynb"))
NUMBER = re.compile(r"-?\d+\.?\d*(e[+-]\d+)?%?|nan|inf")

# What a notebook must have found, whatever the last digits are: a pattern of what is printed, and
# the least and the most of each number in it.
FACTS = {
    "hunting_a_nan": [
        (r"step 20: loss (\S+)\nstep 30: loss nan", [(0.1, 0.7)]),
        (r"step 28: true_divide at In\[2\]:6 \(in Classifier.mean\) makes NaN", []),
        (r"input 1: Float32\[32, 1\] from 0 to 12", []),
        (r"28 true_divide forward Classifier.mean 5\nTrue", []),
        (r"words of the row: \[0 0 0 0 0 0 0 0 0 0 0 0\]\nrows with NaN: \[5\]", []),
        (r"step_28.mycel", []),
        (r"step 28: true_divide at In\[2\]:6 \(in Classifier.mean\) makes what is not finite", []),
        (r"the derivative of true_divide, whose forward is at In\[10\]:7", []),
        (r"epoch 5: loss (\S+)", [(0.0, 0.05)]),
    ],
    "why_it_does_not_learn": [
        (r"step 400: loss (\S+)\naccuracy (\S+)", [(0.69, 0.70), (0.3, 0.7)]),
        (r"  3 +ReLU .* 100% +- +- +dead", []),
        (r"relu at In\[2\]:14 \(in SequentialCell.3\): 100 % .* dead units pass nothing on", []),
        (r"layer 0: a step changes (\S+) of", [(0, 1e-5)]),
        (r"step 400: loss (\S+)\naccuracy (\S+)\n(?=.*requires_grad)", [(0, 0.1), (0.95, 1)]),
        (r"Parameter 0.weight has requires_grad=False: derivatives give zero for it", []),
        (r"step 400: loss (\S+)\naccuracy (\S+)\nfrozen: \[\]", [(0, 0.1), (0.95, 1)]),
    ],
    "activation_patching": [
        (r"step 300: loss (\S+)\nright: (\S+)%\n", [(0, 0.1), (97, 100)]),
        (r"step 300: loss (\S+)\nright: (\S+)%\nclean", [(0.3, 3), (20, 90)]),
        (r"compilations: 0\n", []),
        (r"embed: position 6 brings back (\S+), others (\S+)", [(0.9, 1.1), (-0.2, 0.2)]),
        (r"blocks.0: position 7 brings back (\S+), others (\S+)", [(0.8, 1.1), (-0.2, 0.3)]),
        (r"blocks.1: position 15 brings back (\S+), others (\S+)", [(0.9, 1.1), (-0.2, 0.2)]),
        (r"heads \[0, 1, 2, 3\]: (\S+) of (\S+)", [(-5, 7), (8, 20)]),
    ],
}


@pytest.fixture(scope="module")
def execute():
    """The module that runs the notebooks."""
    described = importlib.util.spec_from_file_location("execute", DOCS / "execute.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def printed(book) -> str:
    """What the cells of a notebook show, as text."""
    texts = []
    for cell in book["cells"]:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain") or ""
            texts.append("".join(text).rstrip("\n"))
    return "\n".join(texts) + "\n"


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_shows_what_it_showed(path, execute):
    stored = json.loads(path.read_text("utf-8"))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    again = execute.executed(path)
    for book in (stored, again):
        check_facts(path.stem, printed(book))
    assert kinds_of(stored["cells"]) == kinds_of(again.cells)
    texts = [NUMBER.sub("#", printed(book)).split() for book in (stored, again)]
    assert texts[0] == texts[1]


def kinds_of(cells) -> list:
    """Of each result of each cell, the forms in which it is shown."""
    return [
        [sorted(output.get("data", ["text"])) for output in cell.get("outputs", [])]
        for cell in cells
    ]


def check_facts(name: str, text: str) -> None:
    """What is printed has each fact, one behind the other, with numbers within their bounds."""
    place = 0
    for pattern, bounds in FACTS[name]:
        found = re.compile(pattern, re.S if "(?=" in pattern else 0).search(text, place)
        assert found, (pattern, text[place:])
        for number, (least, most) in zip(found.groups(), bounds, strict=True):
            assert least <= float(number) <= most, (found[0], least, most)
        place = found.end() - 1


# -- a kernel, as a notebook has one -------------------------------------------------------------

TRAIN = """
import numpy as np
import mycel as ms
from mycel import Tensor, nn

rows = [tuple(np.ones((2, 8, 3), np.float32)) for _ in range(10)]
net = nn.Dense(3, 3, "zeros", "zeros")
model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), {"mse"})
class Stop(ms.train.Callback):
    def on_train_step_end(self, context):
        if context.original_args().cur_step_num == 4:
            raise KeyboardInterrupt
"""
STOP = """
class Net(nn.Cell):
    def construct(self, x):
        y = x * 2
        if stop:
            breakpoint()
        return y.sum()
run = ms.jit(Net())
stop = False
results = [float(run(Tensor([1.0, number]))) for number in range(5)]
stop = True
"""


class Kernel:
    """Runs cells; `answers` are typed where one asks."""

    def __init__(self, client):
        self.client = client

    def run(self, code: str, *answers: str) -> tuple[dict, list]:
        """The reply to a cell, and the messages of what it shows."""
        messages, waiting = [], list(answers)
        reply = self.client.execute_interactive(
            code,
            allow_stdin=True,
            timeout=120,
            output_hook=messages.append,
            stdin_hook=lambda _: self.client.input(waiting.pop(0)),
        )
        assert not waiting
        return reply["content"], messages


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    manager, client = start_new_kernel(kernel_name="python3", cwd=tmp_path_factory.mktemp("kernel"))
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def contents(messages, kind: str) -> list:
    return [message["content"] for message in messages if message["msg_type"] == kind]


def test_a_bar_in_a_notebook_is_one_display_that_changes(kernel):
    assert kernel.run(TRAIN)[0]["status"] == "ok"
    reply, messages = kernel.run("model.fit(3, rows, rows)")
    assert reply["status"] == "ok"
    (first,) = contents(messages, "display_data")
    updates = contents(messages, "update_display_data")
    names = {shown["transient"]["display_id"] for shown in (first, *updates)}
    assert len(names) == 1 and updates
    assert contents(messages, "stream") == []
    last = updates[-1]["data"]
    assert re.search(r"epoch 3/3: loss \S+, mse \S+, eval_loss \S+ \(10 steps", last["text/plain"])
    assert "30/30" in last["text/plain"]
    value = last["text/html"]
    assert "<progress value='30' max='30'>" in value and value.count("<tr>") == 4
    assert all(name in value for name in ("loss", "mse", "eval_loss", "epoch 2/3"))


def test_an_interrupted_bar_in_a_notebook_stays_as_it_was(kernel):
    reply, messages = kernel.run("model.train(2, rows, callbacks=[Stop()])")
    assert reply["ename"] == "KeyboardInterrupt"
    last = contents(messages, "update_display_data")[-1]["data"]["text/plain"]
    assert re.match(r"epoch 1/2 3/20 \S+ loss \S+", last)


@pytest.mark.parametrize(
    ("shown", "text", "html"),
    [
        ("Tensor([[1.0, 2.0]])", "Tensor(shape=[1, 2], dtype=Float32, value=\n", "mean 1.5"),
        ("net.bias", "Parameter (name=bias, shape=(3,), ", "Parameter bias"),
        ("net", "Dense(input_channels=3, ", "12 elements"),
        ("ms.ParameterTuple(net.trainable_params())", "(Parameter (name=weight", "12 elements"),
        ("ms.debug.ledger()", "compilation", "mycel-ledger"),
        ("ms.debug.summary(net, Tensor(rows[0][0]))", "Cell ", "FLOPs"),
    ],
)
def test_a_notebook_shows(kernel, shown, text, html):
    _, messages = kernel.run(shown)
    ((result,),) = [contents(messages, "execute_result")]
    assert text in result["data"]["text/plain"] and html in result["data"]["text/html"]
    assert contents(messages, "stream") == []


@pytest.mark.parametrize("threshold", [700, 1])
def test_a_breakpoint_in_a_notebook(threshold, kernel):
    """Also where Python collects garbage at any moment, of which JAX and mycel are told."""
    assert kernel.run(f"import gc; gc.set_threshold({threshold})\n{STOP}")[0]["status"] == "ok"
    typed = ["p y", "p y.asnumpy().tolist()", "n", "u", "p type(args)", "c"]
    reply, messages = kernel.run("float(run(Tensor([1.0, 2.0])))", *typed)
    assert reply["status"] == "ok"
    told = "".join(part["text"] for part in contents(messages, "stream"))
    assert "Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  4.00000000e+00])" in told
    assert "[2.0, 4.0]" in told and "<class 'tuple'>" in told
    assert "has a breakpoint (at In[" in told
    assert contents(messages, "execute_result")[0]["data"]["text/plain"] == "6.0"


def test_post_mortem_in_a_notebook(kernel):
    code = "def fail(x):\n    y = x * 3\n    raise ValueError('no')\nms.jit(fail)(Tensor([1.0]))"
    assert kernel.run(code)[0]["ename"] == "ValueError"
    _, messages = kernel.run("%debug", "p y", "p x.asnumpy().tolist()", "q")
    told = "".join(part["text"] for part in contents(messages, "stream"))
    assert "Tensor(shape=[1], dtype=Float32, value= [ 3.00000000e+00])" in told
    assert "[1.0]" in told


def test_places_are_cells_of_the_notebook(kernel):
    _, messages = kernel.run("Tensor([1.0, 2.0]) @ Tensor([1.0, 2.0, 3.0])")
    text = contents(messages, "error")[0]["evalue"]
    assert re.search(r"In\[\d+\]:1\b", text)


# -- IPython on a terminal ------------------------------------------------------------------------

SESSION = """\
import mycel as ms
from mycel import Tensor, nn
class Net(nn.Cell):
    def construct(self, x, stop):
        y = x * 2
        if stop == 1: breakpoint()
        if stop == 2: raise ValueError("for the debugger")
        return y.sum()

net = ms.jit(Net())
x = Tensor([1.0, 2.0])
[float(net(x, 0)) for _ in range(4)]
float(net(x, 1))
p y
n
u
p type(args)
c
net(x, 2)
%debug
p y.asnumpy().tolist()
u
q
net(x, 0)
exit
"""


def test_ipython_on_a_terminal(tmp_path):
    options = ["--simple-prompt", "--colors=NoColor", "--no-banner", "--no-confirm-exit"]
    ran = subprocess.run(
        [sys.executable, "-m", "IPython", *options, "--HistoryManager.enabled=False"],
        input=SESSION,
        env=os.environ | {"IPYTHONDIR": str(tmp_path), "PYTHONBREAKPOINT": "pdb.set_trace"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    told = ran.stdout
    assert "[6.0, 6.0, 6.0, 6.0]" in told
    assert (
        "(Pdb) Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  4.00000000e+00])" in told
    )
    assert "(Pdb) <class 'tuple'>" in told
    assert "ipdb> [2.0, 4.0]" in told
    assert told.rstrip().splitlines()[-3:][0].endswith("Tensor(shape=[], dtype=Float32, value= 6)")


def test_the_notebooks_are_those_that_jupyter_writes():
    for path in TUTORIALS:
        nbformat.validate(nbformat.read(path, as_version=4))
        assert "/tmp" not in path.read_text("utf-8")
