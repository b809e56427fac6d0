"""The daemon that is forked off the driver: it serves, it is done without, and it never outlives its driver."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.folders import ROOT

START = """
import os, sys
from applier.engine.spark import prefork, session
session.boot("local[2]")
import pyarrow, pyspark.sql
started = prefork.start()
def facts(_):
    return os.getpid(), os.getppid(), os.environ["PYTHONHASHSEED"], "applier.apply.routes.task" in sys.modules
"""

RUN = START + """
from applier.engine.spark import stages
spark = session.start("local[2]")
"""


def program(code, temporary, **environment):
    """A driver that says what it has to say on stdout and then does what `code` does; TMPDIR is its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)} | environment
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def said(process):
    output = process.communicate()[0]
    assert process.returncode == 0, output
    return output.splitlines()


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def holds(pid, file):
    """Return whether a process has a file open."""
    def leads_to(link):
        try:
            return os.readlink(link)
        except OSError:  # it was closed meanwhile
            return None

    return is_alive(pid) and file in map(leads_to, Path(f"/proc/{pid}/fd").iterdir())


def assert_gone(pids):
    pids = list(pids)
    while any(map(is_alive, pids)):
        time.sleep(0.05)


def test_workers_are_forked_from_the_driver_and_replaced_when_killed(tmp_path):
    code = RUN + """
import signal
children = lambda: [int(pid) for pid in open(f"/proc/self/task/{os.getpid()}/children").read().split()]
[(worker, daemon_pid, seed, loaded)] = stages.map_tasks(spark, facts, [0])
print(started, daemon_pid in children(), seed, loaded)
os.kill(worker, signal.SIGKILL)
[(other, parent, *_)] = stages.map_tasks(spark, facts, [0])
print(other != worker, parent == daemon_pid)
print(os.listdir(os.environ["TMPDIR"]))
print(daemon_pid, worker, other)
"""
    first, second, left, pids = said(program(code, tmp_path))
    assert first == "True True 0 True"
    assert second == "True True"
    assert "applier-" not in left
    assert_gone(map(int, pids.split()))


A_THREAD = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"


@pytest.mark.parametrize("before, told", [("", "True False True"), (A_THREAD, "False False False")])
def test_a_process_is_forked_once_and_never_with_threads(before, told, tmp_path):
    code = before + START + "print(started, prefork.start(), bool(prefork.settings()))"
    assert said(program(code, tmp_path)) == [told]


def test_without_a_preforked_daemon_the_daemon_loads_everything_itself(tmp_path):
    code = START + """
import signal
[daemon_pid] = [int(pid) for pid in open(f"/proc/self/task/{os.getpid()}/children").read().split()
                 if open(f"/proc/{pid}/comm").read().startswith("python")]
os.kill(daemon_pid, signal.SIGKILL)
from applier.engine.spark import stages
[(_, parent, _, loaded)] = stages.map_tasks(session.start("local[2]"), facts, [0])
print(parent != daemon_pid, loaded)
"""
    assert said(program(code, tmp_path)) == ["True True"]


@pytest.mark.parametrize("serving", [False, True])
def test_it_ends_with_a_driver_that_is_killed(serving, tmp_path):
    """And its pipes are the driver's alone: a reader of the driver's output sees its end at once."""
    code = (RUN + "print(*stages.map_tasks(spark, facts, [0])[0][:2], flush=True)\n" if serving else START)
    code += """
for pid in open(f"/proc/self/task/{os.getpid()}/children").read().split(): print(pid, flush=True)
print("end", flush=True)
import time; time.sleep(100)
"""
    process = program(code, tmp_path)
    pids = [int(pid) for line in iter(process.stdout.readline, "end\n") for pid in line.split()]
    assert len(pids) >= 2
    output = os.readlink(f"/proc/{process.pid}/fd/1")
    while any(holds(pid, output) for pid in pids):  # until the forked process has let go of what it inherited
        time.sleep(0.05)
    process.kill()
    assert process.communicate()[0] == ""
    assert_gone(pids)
    assert not list(tmp_path.glob("applier-*/prefork"))


def test_a_driver_that_ends_before_java_is_up_leaves_no_process(tmp_path):
    code = START + "print(*open(f'/proc/self/task/{os.getpid()}/children').read().split())"
    code = code.replace("import pyarrow, pyspark.sql\n", "")  # to be quicker than Java
    [pids] = said(program(code, tmp_path))
    assert len(pids.split()) == 2
    assert_gone(map(int, pids.split()))
    assert list(tmp_path.glob("applier-*/gateway")) == []


def test_a_place_whose_name_is_too_long_for_a_socket(tmp_path):
    directory = tmp_path / ("d" * 100)
    directory.mkdir()
    code = "from applier.engine.spark import prefork; print(prefork.start(), prefork.settings())"
    assert said(program(code, directory)) == ["False {}"]
    assert list(directory.iterdir()) == []
