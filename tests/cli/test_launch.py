# SPDX-License-Identifier: Apache-2.0
"""`mycel launch` and `msrun`: ranks, logs, the first failure, restarts, signals.

Oracle: what each process writes about itself, and the exit codes of the operating system.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from mycel.cli.job import Job, Plan
from mycel.cli.main import main

RANK = """import os, sys, time, signal; rank = int(os.environ['RANK_ID'])
def has_written(k):
    log = f"{sys.path[0]}/worker_{k}.log"
    return os.path.exists(log) and os.path.getsize(log)
"""


@pytest.fixture
def job(tmp_path):
    """A job of n processes that run a text with `rank` in it."""

    def make(text: str, n: int = 3, **options):
        (tmp_path / "program.py").write_text(RANK + textwrap.dedent(text))
        command = [sys.executable, str(tmp_path / "program.py")]
        options = {"shown": frozenset(range(n)), "grace": 5.0, **options}
        return Job(Plan(command, range(n), n, 0, "127.0.0.1", None, str(tmp_path), **options))

    return make


def test_each_process_is_told_its_rank_and_has_a_log(job, capsys, tmp_path):
    text = """
        names = "RANK_SIZE", "DEVICE_ID", "MS_ROLE", "MS_WORKER_NUM", "MS_NODE_ID", "MS_SCHED_HOST"
        print(rank, *[os.environ[name] for name in names])
        print(os.environ["MYCEL_COORDINATOR"] == "127.0.0.1:" + os.environ["MS_SCHED_PORT"])
    """
    assert job(text).run() == 0
    lines = capsys.readouterr().out.splitlines()
    for rank in range(3):
        own = [f"{rank} 3 {rank} MS_WORKER 3 {rank} 127.0.0.1", "True"]
        assert (tmp_path / f"worker_{rank}.log").read_text().splitlines() == own
        assert [line for line in lines if line.startswith(f"[{rank}] ")] == [
            f"[{rank}] {line}" for line in own
        ]


def test_the_first_failure_is_shown_and_the_others_are_ended(job, capsys, tmp_path):
    text = """
        def train():
            raise ValueError("rank two has no data")
        if rank == 2:
            train()
        signal.signal(signal.SIGTERM, lambda *_: (print("saved"), sys.exit(0)))
        time.sleep(60)
    """
    begun = time.monotonic()
    assert job(text, shown=frozenset()).run() == 1
    assert time.monotonic() - begun < 30
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("mycel launch: rank 2 ended first, with exit code 1 after ")
    assert lines[1] == "    Traceback (most recent call last):"
    assert any("program.py" in line and "in train" in line for line in lines)
    assert lines[-2] == "    ValueError: rank two has no data"
    assert lines[-1] == "mycel launch: the others are ended"


def test_who_made_what_is_not_finite_is_waited_for(job, capsys):
    """The others, who were only given it, may be told of it before; it was ended meanwhile."""
    text = """
        from mycel.kernel.base.errors import NOT_FINITE_OF_ANOTHER
        if rank == 0:
            raise ValueError(NOT_FINITE_OF_ANOTHER)
        time.sleep(1)
        raise ValueError("log makes NaN")
    """
    assert job(text, 2, shown=frozenset()).run() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("mycel launch: rank 1 ended first, with exit code 1 after ")
    assert "    ValueError: log makes NaN" in lines


def test_the_others_may_save_before_they_end(job, tmp_path):
    text = """
        signal.signal(signal.SIGTERM, lambda *_: (print("saved"), sys.exit(0)))
        print("ready")
        if rank == 0:
            while not (has_written(1) and has_written(2)):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    """
    assert job(text).run() == 128 + signal.SIGKILL
    assert (tmp_path / "worker_1.log").read_text() == "ready\nsaved\n"
    assert (tmp_path / "worker_2.log").read_text() == "ready\nsaved\n"


def test_a_process_that_does_not_listen_is_killed(job, capsys, tmp_path):
    text = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid())
        if rank == 0:
            while not has_written(1):
                time.sleep(0.01)
            sys.exit(7)
        time.sleep(60)
    """
    assert job(text, 2, grace=0.2).run() == 7
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "worker_1.log").read_text()), 0)


def test_all_are_started_again(job, capsys, tmp_path):
    text = """
        attempt = int(os.environ["MYCEL_RESTART"])
        print("attempt", attempt)
        if rank == attempt:
            sys.exit(3)
        if attempt < 2:
            time.sleep(60)
    """
    assert job(text, 2).run(restarts=2) == 0
    assert "mycel launch: restart 2 of 2\n" in capsys.readouterr().out
    assert (tmp_path / "worker_1.log").read_text().splitlines()[-1] == "attempt 2"
    assert job(text, 2).run(restarts=1) == 3


def test_a_signal_to_the_launcher_ends_its_processes(tmp_path):
    (tmp_path / "program.py").write_text(f"{RANK}print(os.getpid())\ntime.sleep(60)")
    command = [sys.executable, "-m", "mycel", "launch", "-n", "2", "--restarts", "3"]
    command += ["--log-dir", str(tmp_path), sys.executable, str(tmp_path / "program.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        pids = [int(launcher.stdout.readline().split()[1]) for _ in range(2)]
        launcher.send_signal(signal.SIGTERM)
        assert "SIGTERM: the processes are ended" in launcher.stdout.read()
    assert launcher.returncode == 128 + signal.SIGTERM
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_signal_that_is_ignored_ends_nothing(tmp_path):
    """As where the terminal of a command behind nohup is closed."""
    (tmp_path / "program.py").write_text(f"{RANK}print('begun')\ntime.sleep(2)\nprint('done')")
    command = ["nohup", sys.executable, "-m", "mycel", "launch", "-n", "1"]
    command += ["--log-dir", str(tmp_path), sys.executable, str(tmp_path / "program.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None and "begun" in launcher.stdout.readline()
        launcher.send_signal(signal.SIGHUP)
        assert "done" in launcher.stdout.read()
    assert launcher.returncode == 0


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no zombie that nobody waits for."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


@pytest.mark.parametrize("joins", [True, False])
def test_processes_end_when_the_launcher_is_killed(joins, tmp_path):
    (tmp_path / "train.py").write_text(
        "import os, time\n"
        "import mindspore as ms\n"
        "from mindspore import ops\n"
        "from mindspore.communication import init\n"
        + ("init(); ops.AllReduce()(ms.Tensor([1.0]))\n" if joins else "")
        + "print('ready', os.getpid())\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-m", "mycel", "launch", "-n", "2", "--here"]
    command += ["--log-dir", str(tmp_path), str(tmp_path / "train.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        ready = (line for line in launcher.stdout if "ready" in line)
        pids = [int(next(ready).split()[2]) for _ in range(2)]
        launcher.kill()
    end = time.monotonic() + 20
    while time.monotonic() < end and any(map(is_alive, pids)):
        time.sleep(0.1)
    assert not any(map(is_alive, pids))


def test_ctrl_c_reaches_a_process_that_waits_for_another(tmp_path):
    (tmp_path / "train.py").write_text(
        "import time\n"
        "import mindspore as ms\n"
        "from mindspore import ops\n"
        "from mindspore.communication import get_rank, init\n"
        "init()\n"
        "step = ms.jit(lambda x: ops.AllReduce()(x) * 0.5)\n"
        "for _ in range(4):\n"
        "    step(ms.Tensor([1.0]))\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    if get_rank() == 1:\n"
        "        time.sleep(60)\n"
        "    step(ms.Tensor([1.0]))\n"
        "finally:\n"
        "    print('saved', flush=True)\n"
    )
    command = [sys.executable, "-m", "mycel", "launch", "-n", "2", "--here", "--grace", "20"]
    command += ["--log-dir", str(tmp_path), str(tmp_path / "train.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        ready = (line for line in launcher.stdout if "ready" in line)
        next(ready), next(ready)
        time.sleep(1)  # the first waits in the operator
        launcher.send_signal(signal.SIGINT)
        launcher.stdout.read()
    assert launcher.returncode == 128 + signal.SIGINT
    for rank in range(2):
        assert "saved\n" in (tmp_path / f"worker_{rank}.log").read_text()


def test_a_port_that_is_taken_is_told(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = f"launch -n 2 --port {port} --log-dir {tmp_path} {sys.executable} -c 1"
        with pytest.raises(SystemExit) as ended:
            main(command.split())
    assert ended.value.code == 2
    assert f"cannot meet at port {port} of 127.0.0.1: " in capsys.readouterr().err


def test_processes_go_on_when_nobody_reads(job, tmp_path, monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError

        flush = write

    monkeypatch.setattr(sys, "stdout", Closed())
    assert job("for k in range(20000): print(k)", 1).run() == 0
    assert (tmp_path / "worker_0.log").read_text().endswith("19999\n")


def test_a_mindspore_program_runs_as_ranks_of_msrun(tmp_path, capsys):
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys\nimport mindspore as ms\n"
        "print(ms.Tensor([1.0]) + int(os.environ['RANK_ID']), sys.argv[1:])\n"
    )
    options = ["--worker_num=2", "--local_worker_num=2", "--master_port=8119", "--join=True"]
    options += ["--bind_core=True", "--tail_worker_log=1", f"--log_dir={tmp_path}"]
    assert main(["msrun", *options, str(script), "--epochs", "3"]) == 0
    assert capsys.readouterr().out == "[1] [2.] ['--epochs', '3']\n"
    assert (tmp_path / "worker_0.log").read_text() == "[1.] ['--epochs', '3']\n"


def test_a_rank_that_fails_does_not_wait_for_those_that_wait_for_it(tmp_path, capsys):
    script = tmp_path / "train.py"
    script.write_text(
        "import pathlib, time\n"
        "import mindspore as ms\n"
        "from mindspore import ops\n"
        "from mindspore.communication import get_rank, init\n"
        "init()\n"
        "print(ops.AllReduce()(ms.Tensor([1.0 + get_rank()])))\n"
        f"printed = pathlib.Path({str(tmp_path / 'printed')!r})\n"
        "if get_rank() == 1:\n"
        "    while not printed.exists():\n"
        "        time.sleep(0.01)\n"
        "    raise SystemExit(3)\n"
        "printed.touch()\n"
        "ops.AllReduce()(ms.Tensor([1.0]))\n"
    )
    begun = time.monotonic()
    command = ["launch", "-n", "2", "--here", "--log-dir", str(tmp_path), str(script)]
    assert main(command) == 3
    # JAX alone waits for a hundred seconds.
    assert time.monotonic() - begun < 60
    assert "rank 1 ended first, with exit code 3" in capsys.readouterr().out
    text = (tmp_path / "worker_0.log").read_text()
    assert "[3.]" in text
    assert "train.py:13" in text or "Traceback" not in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("launch -n 0 x.py", "must be a positive integer, not '0'"),
        ("launch -n 3 --hosts a,b x.py", "-n 3 cannot be divided among 2 hosts"),
        ("launch -n 4 --hosts a,b x.py", "Say it with --node-rank"),
        ("launch -n 4 --hosts a,b --node-rank 2 x.py", "--node-rank must be from 0 to 1, not 2"),
        ("launch -n 2 nothing.py", "cannot open nothing.py: no such file"),
        ("launch -n 2 nothing", "nothing is neither a Python file nor a command"),
        ("launch -n 2 --show a x.py", "must be ranks as 0,3, not 'a'"),
        ("launch -n 2 --show 5 x.py", "--show: the ranks are 0 to 1; -1 shows none"),
        ("launch -n 2 --restarts -1 x.py", "must be a positive integer, not '-1'"),
        ("launch -n 2 --grace -1 x.py", "must be a number of seconds from 0 on, not '-1'"),
        ("launch -n 2 --log-dir /dev/null/logs python", "cannot write logs to /dev/null/logs"),
        ("msrun --worker_num=2 x.py", "--local_worker_num=8 is more than --worker_num=2"),
        ("msrun --local_worker_num=4 x.py", "--node_rank must say which machine this is"),
        ("msrun --local_worker_num=4 --node_rank=2 x.py", "is beyond 8"),
        ("msrun --master_port=0 x.py", "must be a port from 1 to 65535"),
        ("msrun --join=yes x.py", "must be True or False, not 'yes'"),
        ("msrun --sim_level=1 x.py", "--sim_level is not supported: there is no dry run"),
        ("msrun --rank_table_file=t.json x.py", "--rank_table_file is not supported"),
    ],
)
def test_wrong_arguments_are_explained(arguments, text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert text in told and f"mycel {arguments.partition(' ')[0]}: " in told
