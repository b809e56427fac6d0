"""Full disks, broken ones, and files that may not be read or written: at each call of the operating system in turn."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import failing_calls
from tests.support.folders import ROOT

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """What a process has to preload."""
    return failing_calls.built(tmp_path_factory.mktemp("library"))


@pytest.mark.by_turns(one_in=6)
@pytest.mark.parametrize("job, where, least", [
    ("replay", "beside", 50), ("replay", "in-place", 50), ("snapshot-at", "beside", 60), ("import", "beside", 40),
    ("export", "beside", 30), ("index", "beside", 5)])
def test_each_call_fails_once(job, where, least, library, tmp_path):
    """An error that says what cannot be done, an output that is absent or complete, a base as it was, and a second run
    that does it. (A few are got around, such as a link where there is no link, and the job is done all the same.)"""
    run = subprocess.run([sys.executable, str(HERE / "failing_run.py"), job, where], cwd=ROOT, check=False, text=True,
                         capture_output=True, timeout=500,
                         env=os.environ | {"PYTHONPATH": str(ROOT), "LD_PRELOAD": str(library),
                                           "FAIL_BELOW": str(tmp_path / "work")})
    assert run.returncode == 0, run.stderr
    total, errors = map(int, run.stdout.split())
    assert total >= least and total - 5 <= errors <= total
