# SPDX-License-Identifier: Apache-2.0
"""Every test starts in PyNative mode with an empty ledger."""

from __future__ import annotations

import gc
import itertools
import os
import signal

import jax
import pytest

# The tests compile thousands of tiny programs, each of them once: XLA is told to take less trouble,
# which is four times as fast, and not to divide a program among threads, for the tests themselves
# keep all processors busy. `XLA_FLAGS= python -m pytest` compiles as users do (see README.md here);
# so do the tests that count what XLA makes. A flag that another version of XLA does not know would
# end the process.
if jax.__version_info__[:2] == (0, 10):
    quick = (
        "--xla_backend_optimization_level=0",
        "--xla_cpu_use_fusion_emitters=false",
        "--xla_cpu_parallel_codegen_split_count=1",
    )
    os.environ.setdefault("XLA_FLAGS", " ".join(quick))

# A shell ignores Ctrl-C for what it starts in the background; tests and documents send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import mycel as ms
from mycel.kernel.execute.compile import executables
from support.contexts import share_contexts

share_contexts()

# Each program keeps some hundred KiB, and few are used again: dropped after so many tests, a
# process stays near 3 GiB; kept, they had taken 4 GiB at half of the tests.
TESTS_BETWEEN = 1000

_tests = itertools.count(1)


@pytest.fixture(autouse=True)
def bounded_memory():
    """What was compiled is dropped now and then."""
    yield
    if next(_tests) % TESTS_BETWEEN == 0:
        executables.clear()
        jax.clear_caches()
        gc.collect()


@pytest.fixture(autouse=True)
def fresh_ledger():
    """Counts start at nothing; whatever a test set is set back."""
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)
    ms.flush()
    ms.debug.ledger().reset()
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Here the library itself is tested: its own lines are shown (see mycel.report.tracebacks)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYCEL_TRACEBACK", "full")
        return (yield)


def pytest_collection_modifyitems(items):
    """Networks that are trained for half a minute come first: as the last they would let all other
    processes wait. The rest stays as it is."""
    items.sort(key=lambda item: "tests/zoo/" not in item.nodeid)


def pytest_collection_finish(session):
    """The collector of garbage need not look at what is there to stay: 750,000 objects."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config, specs):
    """Something to read before the first tests have ended."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    reporter.write_line(f"{len(specs)} processes collect the tests, which takes half a minute")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node, ids):
    """As above: one line for each process."""
    reporter = node.config.pluginmanager.getplugin("terminalreporter")
    reporter.write_line(f"{node.gateway.id} has collected {len(ids):,} tests")


def pytest_terminal_summary(terminalreporter):
    """How many calls of tests/natural were replayed; the rest ran in PyNative."""
    reports = [r for rows in terminalreporter.stats.values() for r in rows]
    counted = [
        value
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "natural_calls" and report.when == "call"
    ]
    if counted:
        replayed, calls = map(sum, zip(*counted, strict=True))
        terminalreporter.write_line(f"natural programs: {replayed} of {calls} calls replayed")


@pytest.fixture
def xla():
    """What XLA compiles, as a list of seconds that grows."""
    compiled: list = []

    def note(event: str, duration_secs: float, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield compiled
    jax.monitoring.unregister_event_duration_listener(note)
