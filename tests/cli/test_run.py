# SPDX-License-Identifier: Apache-2.0
"""`mycel run`: programs in MindSpore's words, unchanged and in the other mode, and manners of main.

Oracle of the texts: what the documents print; each was also printed by real MindSpore 2.10 (whose
compiled functions assign to a Parameter at their first call only, which CONTRACT settles).
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mycel.cli.run import CHILDREN
from support import prepared

SCRIPTS = Path(__file__).parents[1] / "scripts"
MODES = ("PYNATIVE_MODE", "GRAPH_MODE")

W = "Parameter (name=w, shape=(5, 3), dtype=Float32, requires_grad=True)"
B = "Parameter (name=b, shape=(3,), dtype=Float32, requires_grad=True)"
TUPLE = (
    "(Parameter (name={0}x, shape=(2, 3), dtype=Int64, requires_grad=True), "
    "Parameter (name={0}y, shape=(1, 2, 3), dtype=Float32, requires_grad=True), "
    "Parameter (name={0}z, shape=(), dtype=Float32, requires_grad=True))\n"
)
THRESHOLD = (
    "Tensor(shape=[3], dtype=Float32, value= [ 2.00000000e+01,  2.00000003e-01,  3.00000012e-01])\n"
)
INTEGERS = "(Tensor(shape=[], dtype=Int32, value= 2), Tensor(shape=[], dtype=Int32, value= 1))\n"
STRIDED = "[[27. 27. 18.]\n [27. 27. 18.]\n [18. 18. 12.]]\n"


PRINTED = {
    "add_function": str(np.full((3, 3), 3.0)) + "\n",
    "integer_gradients": INTEGERS * 3,
    "modify_parameter": "[ 1.   -0.25  0.75]\n[3. 4. 5.] Float32\n"
    + "[7. 8. 9.] [ 8.  9. 10.]\n" * 4,
    "parameter_tuple": TUPLE.format("")
    + TUPLE.format("params_copy.")
    + "True 3\n[[0 1 2]\n [3 4 5]]\n[[[1. 1. 1.]\n  [1. 1. 1.]]] 2.0\n",
    "parameters": f"{W}\n{B}\n[0. 1. 2.]\n[{W}, {B}]\n<class 'generator'>\n"
    "w (5, 3) Float32 True\nb (3,) Float32 True\n[[0. 1. 2.]\n [0. 1. 2.]]\n[]\n",
    "single_operator": "(1, 4, 5, 5) Float32\n[[12. 18. 18. 18. 12.]\n"
    + " [18. 27. 27. 27. 18.]\n" * 3
    + " [12. 18. 18. 18. 12.]]\n",
    "staged_construct": str(np.full((4, 4), 3.0)) + "\n",
    "staged_convolution": f"(2, 4, 3, 3)\n{STRIDED}"
    "[[54. 54. 36.]\n [54. 54. 36.]\n [36. 36. 24.]]\n",
    "staged_function": str(np.full((4, 4), 2.0)) + "\n",
    "threshold": THRESHOLD * 3,
    "train_state": "False\ntrain True\npredict False\nTrue\n[0.0, 2.0]\n"
    "[0. 0. 0. 0. 0. 0.]\n[0.1 0.1 0.1 0.1 0.1 0.1]\n",
}


def mycel_run(
    script, *arguments, command=("-m", "mycel", "run"), folder=None, fresh=False, **environment
):
    """Run a script in a process of its own, on the CPU whatever it asks for.

    Args:
        fresh: whether by a Python that is started for it.
    """
    whole = {**os.environ, "MYCEL_DEVICE": "CPU", "PYTHONIOENCODING": "utf-8", **environment}
    if command and not fresh:
        return prepared.run([*command, str(script), *arguments], env=whole, cwd=folder)
    return subprocess.run(
        [sys.executable, *command, str(script), *arguments],
        capture_output=True,
        text=True,
        env=whole,
        cwd=folder,
        timeout=300,
    )


def printed(script) -> str:
    """What a script that must succeed prints."""
    done = mycel_run(script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_mode(folder: Path, name: str, mode: str) -> Path:
    """The script, with its mode replaced."""
    text = (SCRIPTS / f"{name}.py").read_text("utf-8")
    assert "PYNATIVE_MODE" in text
    script = folder / f"{name}.py"
    script.write_text(text.replace("PYNATIVE_MODE", mode), "utf-8")
    return script


def written(folder: Path, text: str) -> Path:
    """A script of the given text."""
    script = folder / "script.py"
    script.write_text(text, "utf-8")
    return script


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", sorted(PRINTED))
def test_program_prints_what_the_documents_print(name, mode, tmp_path):
    assert printed(in_mode(tmp_path, name, mode)) == PRINTED[name]


def test_lenet_learns_alike_in_both_modes(tmp_path):
    """Oracle: a first loss near log 10 (documents: 2.305), a falling loss, and the other mode."""
    losses = [
        np.array(printed(in_mode(tmp_path, "train_lenet", mode)).split(), float) for mode in MODES
    ]
    assert abs(losses[0][0] - math.log(10)) < 0.05
    assert (np.diff(losses[0]) < 0).all()
    assert losses[0][-1] < 0.75 * losses[0][0]
    np.testing.assert_allclose(losses[1], losses[0], 2e-5)


def test_arguments_name_folder_and_neighbours(tmp_path):
    (tmp_path / "neighbour.py").write_text("there = 'found'\n")
    script = written(
        tmp_path,
        "import sys, neighbour\n"
        "print(__name__, sys.argv[1:], neighbour.there, sys.modules['__main__'].__file__)\n"
        "print(sys.argv[0] == __file__, 'mycel' not in sys.path[0])\n",
    )
    done = mycel_run(script, "--epochs", "3", "--help")
    assert done.stderr == ""
    assert done.stdout == f"__main__ ['--epochs', '3', '--help'] found {script}\nTrue True\n"


SPAWNS = """import multiprocessing
import sys
import mindspore
from .neighbour import there

def work(x):
    return float(mindspore.Tensor([x]) * 2)

if __name__ == "__main__":
    print(__package__, __spec__.name, sys.argv[1:], there, sys.argv[0] == __file__)
    for kind in ("spawn", "forkserver"):
        with multiprocessing.get_context(kind).Pool(1) as pool:
            print(pool.map(work, [1.0, 2.0]))
"""


def test_a_module_and_the_processes_it_spawns(tmp_path):
    """Oracle: `python -m package.program` sets these names; the numbers are doubled."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "neighbour.py").write_text("there = 'found'\n")
    (package / "program.py").write_text(SPAWNS)
    done = mycel_run(
        "package.program", "-m", "3", command=("-m", "mycel", "run", "-m"), folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "package package.program ['-m', '3'] found True\n[2.0, 4.0]\n[2.0, 4.0]\n"
    )


STARTS = """import os
import subprocess
import sys
if sys.argv[1:]:
    from mindspore.common.initializer import initializer, One
    import mindspore.nn as nn
    import mindspore
    print(mindspore.__version__[:2], float(initializer(One(), [1])), nn.ReLU.__module__)
    sys.exit(3)
print(subprocess.run([sys.executable, __file__, "child"]).returncode, flush=True)
print(os.system(f"{sys.executable} -c 'import mindspore as ms; print(ms.Tensor([1]))'"))
"""


def test_a_program_that_the_program_starts_imports_mindspore_too(tmp_path):
    """Oracle: the same imports in the program itself."""
    script = written(tmp_path, STARTS)
    assert printed(script).splitlines() == ["2. 1.0 mycel.nn.layers.activation", "3", "[1]", "0"]


def test_a_python_without_mycel_gets_its_own_mindspore(tmp_path):
    """Oracle: what `import mindspore` finds without `mycel run`: a file of this test."""
    there = tmp_path / "installed"
    there.mkdir()
    (there / "mindspore.py").write_text("print('their own')\n")
    environment = {"PYTHONPATH": os.pathsep.join([CHILDREN, str(there)])}
    done = subprocess.run(
        [sys.executable, "-S", "-c", "import mindspore, sys; print(mindspore.__file__)"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.stderr, done.stdout) == ("", f"their own\n{there / 'mindspore.py'}\n")


def test_a_module_that_is_not_there(tmp_path):
    done = mycel_run("absent.program", command=("-m", "mycel", "run", "-m"), folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "mycel run: No module named 'absent'\n"


def test_classes_of_the_script_can_be_pickled(tmp_path):
    script = written(
        tmp_path,
        "import pickle\nclass Thing:\n    size = 3\n"
        "print(pickle.loads(pickle.dumps(Thing())).size)\n",
    )
    assert printed(script) == "3\n"


@pytest.mark.parametrize(
    ("last", "code", "text"),
    [
        ("pass", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("raise SystemExit('stopped here')", 1, "stopped here\n"),
        ("import os; os._exit(5)", 5, ""),
    ],
)
def test_exit_code_is_the_script_s(last, code, text, tmp_path):
    done = mycel_run(written(tmp_path, last))
    assert (done.returncode, done.stderr, done.stdout) == (code, text, "")


def test_traceback_shows_the_script_only(tmp_path):
    """Oracle: what Python itself prints for the same script."""
    script = written(
        tmp_path,
        "def inner():\n    return {}['key']\n\ntry:\n    inner()\n"
        "except KeyError:\n    raise RuntimeError('outer')\n",
    )
    done, plain = mycel_run(script), mycel_run(script, command=())
    assert done.returncode == plain.returncode == 1
    assert done.stderr == plain.stderr


def test_traceback_of_an_operator_ends_at_the_user_s_line(tmp_path):
    script = written(
        tmp_path,
        "from mindspore import Tensor\n\n\ndef add():\n"
        "    return Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])\n\n\nadd()\n",
    )
    short, full = mycel_run(script), mycel_run(script, MYCEL_TRACEBACK="full")
    assert short.returncode == full.returncode == 1
    lines = [line for line in short.stderr.splitlines() if line.startswith("  File")]
    assert lines == [
        f'  File "{script}", line 8, in <module>',
        f'  File "{script}", line 5, in add',
    ]
    assert "run.py" in full.stderr


def test_an_unknown_keyword_names_the_nearest(tmp_path):
    """At the top of a script too, where nothing of ours runs when it is raised."""
    script = written(
        tmp_path, "from mindspore import Tensor, ops\n\nops.sum(Tensor([1.0]), axis=0)\n"
    )
    last = mycel_run(script).stderr.splitlines()[-1]
    assert last == (
        f"TypeError: ops.sum() has no keyword 'axis' (at {script}:3); "
        "it takes input, dim, keepdim, dtype; nearest: dim."
    )


@pytest.mark.parametrize(
    ("last", "told"),
    [("Tensor(1.0).reshap(1)", "; nearest: reshape"), ("Tensro(1.0)", "Did you mean: 'Tensor'")],
)
def test_a_wrong_name_is_shown_as_python_shows_it(last, told, tmp_path):
    """Oracle: Python itself."""
    script = written(tmp_path, f"from mycel import Tensor\n\n{last}\n")
    done, plain = mycel_run(script), mycel_run(script, command=())
    assert told in done.stderr
    assert done.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]


def test_a_script_that_is_no_python(tmp_path):
    """Oracle: what Python itself prints for the same script."""
    script = written(tmp_path, "x = = 3\n")
    done, plain = mycel_run(script), mycel_run(script, command=())
    assert done.returncode == 1
    assert done.stderr == plain.stderr


def test_a_script_that_is_not_there(tmp_path):
    done = mycel_run(tmp_path / "absent.py")
    assert done.returncode == 2
    assert done.stderr.startswith("mycel run: cannot open")


def test_the_device_variable_overrides_what_a_script_asks_for(tmp_path):
    script = written(
        tmp_path,
        "from mindspore import context\ncontext.set_context(device_target='Ascend')\n"
        "print(context.get_context('device_target'))\n",
    )
    assert printed(script) == "CPU\n"
    without = mycel_run(script, MYCEL_DEVICE="")
    assert without.returncode == 1
    assert "MYCEL_DEVICE" in without.stderr
