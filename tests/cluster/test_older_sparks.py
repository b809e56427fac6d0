"""Tests with the marker `every_spark` pass on the oldest versions of Spark, too: stages, a cluster, the data source."""

import os
import subprocess
import sys

import pytest

from tests.support.folders import ROOT
from tests.support.older_sparks import VERSIONS, folder_of

pytestmark = [pytest.mark.thorough, pytest.mark.slow]


@pytest.mark.parametrize("version", [pytest.param(version, marks=pytest.mark.skipif(
    not folder_of(version).is_dir(), reason=f"there is no Spark {version}")) for version in VERSIONS])
def test_what_runs_on_every_spark_runs_on_this_one(version):
    """In a run of pytest of its own, which is skipped where `make` could not install this version."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-m",
         "every_spark and not thorough", "tests/cluster"],
        cwd=ROOT, env=environment | {"PYTHONPATH": f"{folder_of(version)}:{ROOT}"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout.splitlines()[-1]
