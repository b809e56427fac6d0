"""What all tests share: the marker that each has by its folder, and that none waits for the disk."""

import gc
import os
import shutil
import tempfile
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

import keysearch.memory  # noqa: F401  it names the cache of kernels: jsondiff's tests by themselves would have another
from applier.engine.room import memory_bytes
from applier.errors import wording
from tests.support.called_functions import CalledFunctions
from tests.support.costs import Costs
from tests.support.examples import MOST
from tests.support.turns import COLLECTED, mark_thorough
from tests.support.witnessing import StoppingWitness

os.environ.pop("COLUMNS", None)  # workers of xdist have it, and tables in pipes would be as wide
MEMORY, ROOM = Path("/dev/shm"), 4 << 30
"""Where temporary files are, of processes that tests start, too, and the bytes that have to be free there, a quarter of
the memory at most. Tests make and remove hundreds of thousands of small files: on a disk, that takes a third of the
time of replays in passes."""
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM and \
        memory_bytes() >= 4 * ROOM and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:  # tests run programs there
    os.environ["TMPDIR"], tempfile.tempdir = str(MEMORY), None
# How long an example takes is how busy the machine is.
for profile, n in (("day", MOST // 4), ("thorough", MOST)):
    settings.register_profile(profile, max_examples=n, deadline=None,
                              suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("day")


def pytest_addoption(parser):
    parser.addoption("--cost", nargs="?", const="show", choices=("show", "write"),
                     help="print CPU seconds by module, children included; write: keep them in tests/costs.tsv")
    parser.addoption("--calls", metavar="FOLDER", help="write there which functions each test module calls")


@pytest.fixture(autouse=True, scope="session")
def texts_of_the_command_line():
    """Errors name options as the command line does, but for tests below tests/unit/api."""
    with wording(of_command_line=True):
        yield


def pytest_configure(config):
    config.pluginmanager.register(StoppingWitness())
    if config.getoption("--cost"):
        config.pluginmanager.register(Costs(config.getoption("--cost") == "write"))
    if config.getoption("--calls"):
        config.pluginmanager.register(CalledFunctions(config.getoption("--calls")))


@contextmanager
def untraced():
    """With --cov, nothing is traced meanwhile. In a process of xdist two tracers run: below the one that pytest-cov
    starts there is the one that it started before it knew that the process is not the first."""
    stopped = []
    while (coverage := Coverage.current()) is not None:
        coverage.stop()
        stopped.append(coverage)
    try:
        yield
    finally:
        for coverage in reversed(stopped):
            coverage.start()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: no garbage is looked for in it, neither now nor while tests run. Then it is looked for
    less often than by default, which takes a tenth of the time of replays: few objects are in cycles. With --cov one
    process traces what all of them import, as that doubles the time."""
    gc.disable()
    try:
        with nullcontext() if os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0" else untraced():
            return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)


TRACED = pytest.StashKey[set[pytest.Item]]()
"""The tests that --cov traces, as tracing doubles their time: each unit test of a package that `make cover` runs, in
its first case, and no random ones."""
DEAR = {"slow", "thorough", "hypothesis"}
LONGEST = ("test_wheel.py", "test_cold_nodes.py")
"""Modules that take about a minute, for one fixture or one test. A process of xdist that is through takes tests from
the end of another one's: at the end these would be all that is left for one, or their fixture made twice."""


def pytest_collection_modifyitems(config, items):
    """A test below tests/unit is marked `unit`, and so on; tests that take turns are marked `thorough` when it is
    another one's; the longest modules come first."""
    kind = cache(lambda path: path.relative_to(Path(__file__).parent).parts[0])
    for item in items:
        item.add_marker(kind(item.path))
    mark_thorough(items)
    config.stash[COLLECTED] = [*items]
    first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
    config.stash[TRACED] = {item for item in first.values()
                            if kind(item.path) == "unit" and item.path.parent.name != "unit"
                            and not DEAR & {mark.name for mark in item.iter_markers()}}
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """With --cov a test that is not one of TRACED is not traced."""
    with nullcontext() if item in item.config.stash[TRACED] else untraced():
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk():
    """What is made durable, and that replays can be killed, other processes show and test_publish.py; here thousands of
    snapshots would wait for the disk, milliseconds a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield
