"""The engine that auto takes when it has planned: Spark starts in the middle of a run."""

import os
import subprocess
import sys

import pytest

from tests.recorded.archives.demo_digest import ARCHIVE, expected, held
from tests.support.folders import ROOT

MUCH_WORK = """
from applier.cli import console
from applier.engine import choice
choice.SPARK_STARTS_SECONDS = -1.0
console()
"""


@pytest.mark.thorough
def test_spark_starts_where_much_work_is_planned(tmp_path):
    """In a program of its own, which has threads by then and has done without pandas."""
    run = subprocess.run([sys.executable, "-c", MUCH_WORK, "replay", "--binlogs", str(ARCHIVE), "--output",
                          str(tmp_path / "out")], cwd=ROOT, capture_output=True, text=True, env=dict(os.environ))
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("engine: spark, as the work takes about 0.1 core seconds") == 1
    assert held(tmp_path / "out") == expected("end")
