"""Servers that tests start do not outlive them."""

import signal
import subprocess
import sys
import time

import pytest

from tests.support.folders import ROOT

PROGRAM = """
import sys, time
from pathlib import Path
from tests.support.spark_servers import started

with started(Path(sys.argv[1]), "sh", "-c", "exec sleep 600") as server:
    print(server.pid, flush=True)
    time.sleep(600)
"""


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_the_process_that_started_it(tmp_path, how):
    tests = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path / "log")], cwd=ROOT, stdout=subprocess.PIPE)
    with tests:
        pid = int(tests.stdout.readline())
        assert is_there(pid)
        tests.send_signal(how)
    until = time.monotonic() + 60
    while is_there(pid):
        assert time.monotonic() < until, "it is still there a minute later"
        time.sleep(0.01)
