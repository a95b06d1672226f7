# SPDX-License-Identifier: Apache-2.0
"""`mycel launch -n 8 train.py`: one program as several processes, each with its rank.

Every process is told its rank by the variables that MindSpore's programs read, writes a log of its
own, and ends when another one fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from mycel.cli.job import Job, Plan
from mycel.cli.run import children_path
from mycel.kernel.base.processes import check_free

LOCAL = "127.0.0.1"
ABOUT = """\
Run a program as several processes that compute together. Each is told its place by RANK_ID,
RANK_SIZE, DEVICE_ID and MindSpore's own variables, and `mindspore.communication.init()` joins them.
What a process prints appears here behind its rank, and is kept in LOG_DIR/worker_RANK.log.

When one fails, that failure is shown and the others are ended: first by SIGTERM, so that they can
save what they have, later by SIGKILL. With --restarts all are then started again; the program goes
on from its last checkpoint, if it saves and loads one.

Several machines run the same command, with --hosts a,b: each starts its part.
"""
ABOUT_MSRUN = """\
MindSpore's launcher with its arguments. With --join=True it waits, ends the others when a process
fails, and gives that exit code; else it starts the processes and returns.
"""


def add_command(commands) -> None:
    """Add `launch` and `msrun` to the subcommands."""
    parser = commands.add_parser(
        "launch",
        help="run a program as several processes that compute together",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_arguments(parser)
    parser.set_defaults(execute=lambda options: _launch(parser, options))
    theirs = commands.add_parser(
        "msrun", help="the same with the arguments of MindSpore's msrun", description=ABOUT_MSRUN
    )
    _add_msrun_arguments(theirs)
    theirs.set_defaults(execute=lambda options: _msrun(theirs, options))


def msrun(argv: Sequence[str] | None = None) -> int:
    """The command `msrun`; returns the exit code of the process.

    Args:
        argv: the arguments after the command's name; by default those of the process.
    """
    parser = argparse.ArgumentParser(prog="msrun", description=ABOUT_MSRUN)
    _add_msrun_arguments(parser)
    return _msrun(parser, parser.parse_args(argv))


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-n", "--processes", type=_count, required=True, metavar="N", help="how many, in all")
    add(
        "--devices-per-process",
        type=_count,
        metavar="K",
        help="processors that each process on a CPU shows as devices; 1 by default",
    )
    add(
        "--hosts",
        type=lambda text: text.split(","),
        default=[LOCAL],
        metavar="A,B",
        help="the machines; the first coordinates. Run the command on each of them",
    )
    add(
        "--node-rank",
        type=int,
        metavar="I",
        help="which of --hosts this machine is; found by its name by default",
    )
    add(
        "--port",
        type=_port,
        default=0,
        help="of the first host; a free one by default, 8118 with several hosts",
    )
    add(
        "--restarts",
        type=lambda text: 0 if text == "0" else _count(text),
        default=0,
        metavar="R",
        help="how often all are started again after a failure; 0 by default",
    )
    add(
        "--here",
        action="store_true",
        help="on the CPU of this machine, whatever the program asks for",
    )
    add("--log-dir", default="launch_logs", help="launch_logs by default")
    add(
        "--show",
        type=_ranks,
        metavar="RANKS",
        help="whose lines appear here, as 0,3; all by default, none with -1",
    )
    add(
        "--grace",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="how long the others have to save when one failed; 10 by default",
    )
    _add_program(parser)


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("script", help="the Python file, or another command; with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="handed to the program")


def _add_msrun_arguments(parser: argparse.ArgumentParser) -> None:
    def add(name: str, kind, default, help: str) -> None:
        parser.add_argument(f"--{name}", type=kind, default=default, help=f"{help}; {default!r}")

    add("worker_num", _count, 8, "how many processes, in all")
    add("local_worker_num", _count, 8, "how many on this machine")
    add("master_addr", str, LOCAL, "the machine that coordinates")
    add("master_port", _port, 8118, "its port")
    add("node_rank", int, -1, "which machine this is; -1 where there is only one")
    add("log_dir", str, "", "the folder of logs")
    add("join", _boolean, False, "wait, and end all when one fails")
    add("cluster_time_out", int, 600, "seconds until all must have come together")
    add("bind_core", _boolean, False, "give each process cores of its own")
    add("worker_log_name", str, "", "names of logs in place of worker_RANK")
    add("tail_worker_log", _ranks, (-1,), "with --join: whose lines appear here; -1 for all")
    for name, reason in REFUSED.items():
        add(name, str, None, f"refused: {reason}")
    _add_program(parser)


REFUSED = {
    "bind_numa": "use numactl in front of msrun",
    "sim_level": "there is no dry run; --worker_num=1 runs the program alone",
    "sim_rank_id": "there is no dry run; --worker_num=1 runs the program alone",
    "rank_table_file": "the processes find each other by --master_addr and --master_port",
}


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, not {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds from 0 on, not {text!r}")
    return seconds


def _port(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"must be a port from 1 to 65535, not {text!r}")
    return int(text)


def _ranks(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be ranks as 0,3, not {text!r}") from None


def _boolean(text: str) -> bool:
    if text not in ("True", "False"):
        raise argparse.ArgumentTypeError(f"must be True or False, not {text!r}")
    return text == "True"


# -- from arguments to a plan ----------------------------------------------------------------------


def _start(parser: argparse.ArgumentParser, plan: Plan, start: Callable[[Job], int]) -> int:
    try:
        Path(plan.folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.exit(2, f"{parser.prog}: cannot write logs to {plan.folder}: {error.strerror}\n")
    try:
        if plan.port and plan.keeps():
            check_free(plan.port)
    except OSError as error:
        parser.exit(
            2,
            f"{parser.prog}: the processes cannot meet at port {plan.port} of {plan.host}: "
            f"{error.strerror}. Another program may run there; choose another port\n",
        )
    return start(Job(plan))


def _launch(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    hosts, total = options.hosts, options.processes
    if total % len(hosts):
        parser.error(f"-n {total} cannot be divided among {len(hosts)} hosts")
    local = total // len(hosts)
    node = _node(parser, options) if len(hosts) > 1 else 0
    environment = {"MYCEL_DEVICE": "CPU"} if options.here else {}
    if options.devices_per_process:
        environment["JAX_NUM_CPU_DEVICES"] = str(options.devices_per_process)
    shown = range(total) if options.show is None else options.show
    if not {-1, *range(total)}.issuperset(shown):
        parser.error(f"--show: the ranks are 0 to {total - 1}; -1 shows none")
    plan = Plan(
        command=_command(parser, options, environment),
        ranks=range(node * local, (node + 1) * local),
        total=total,
        node=node,
        host=hosts[0],
        port=options.port or (8118 if len(hosts) > 1 else None),
        folder=options.log_dir,
        shown=frozenset(shown),
        environment=environment,
        grace=options.grace,
    )
    return _start(parser, plan, lambda job: job.run(options.restarts))


def _node(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Which of the hosts this machine is."""
    hosts, node = options.hosts, options.node_rank
    if node is None:
        names = {socket.gethostname(), socket.getfqdn(), socket.gethostname().split(".")[0]}
        places = [index for index, host in enumerate(hosts) if host in names]
        if len(places) != 1:
            parser.error(
                f"which of --hosts {','.join(hosts)} is this machine, "
                f"{socket.gethostname()}? Say it with --node-rank"
            )
        return places[0]
    if not 0 <= node < len(hosts):
        parser.error(f"--node-rank must be from 0 to {len(hosts) - 1}, not {node}")
    return node


def _msrun(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    for name, reason in REFUSED.items():
        if getattr(options, name) is not None:
            parser.error(f"--{name} is not supported: {reason}")
    total, local, node = options.worker_num, options.local_worker_num, options.node_rank
    if local > total:
        parser.error(f"--local_worker_num={local} is more than --worker_num={total}")
    if node == -1 and local < total:
        parser.error(
            "--node_rank must say which machine this is (0, 1, …), "
            f"as it starts {local} of {total} processes"
        )
    first = max(node, 0) * local
    if first + local > total:
        parser.error(f"--node_rank={node} with {local} processes each is beyond {total}")
    everyone = not options.join or -1 in options.tail_worker_log
    environment = {"MYCEL_TIMEOUT": str(options.cluster_time_out)}
    plan = Plan(
        command=_command(parser, options, environment),
        ranks=range(first, first + local),
        total=total,
        node=max(node, 0),
        host=options.master_addr,
        port=options.master_port,
        folder=options.log_dir or ".",
        log=options.worker_log_name,
        shown=frozenset(range(total) if everyone else options.tail_worker_log),
        environment=environment,
        binds=options.bind_core,
    )
    return _start(parser, plan, Job.run if options.join else Job.leave)


def _command(
    parser: argparse.ArgumentParser, options: argparse.Namespace, environment: dict
) -> list[str]:
    """What each process runs. A command that is no Python file finds `mindspore` by its path."""
    program = [options.script, *options.arguments]
    if options.module:
        return [sys.executable, "-m", "mycel", "run", "-m", *program]
    if options.script.endswith(".py"):
        if not os.path.isfile(options.script):
            parser.exit(2, f"{parser.prog}: cannot open {options.script}: no such file\n")
        return [sys.executable, "-m", "mycel", "run", *program]
    if shutil.which(options.script) is None:
        parser.exit(2, f"{parser.prog}: {options.script} is neither a Python file nor a command\n")
    environment.update(children_path())
    return program
