"""What is said where workers of a cluster lack something, or have another version of it."""

import io
import os
import struct
import subprocess
import sys
from importlib import import_module

import pytest

from applier.engine.spark import java, spark_private, workers
from applier.errors import NotInstalled, UsageError
from tests.support.folders import ROOT


def test_workers_with_other_versions_are_refused():
    workers.check(workers.versions())
    with pytest.raises(UsageError, match=r"workers have applier .*, and the driver has 0\.0\.1"):
        workers.check((("applier", "0.0.1"),))
    with pytest.raises(UsageError, match="workers have numpy 2, and the driver has 1"):
        workers.check((("numpy", "1"),))


@pytest.mark.parametrize("text, says", [
    ("PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different version (3, 10) than that in "
     "driver 3.11", "another version of Python"),
    ("Error from python worker:\n  /usr/bin/python3: Error while finding module specification for "
     "'applier.engine.spark.daemon' (ModuleNotFoundError: No module named 'applier')", "applier is not installed"),
    ("ModuleNotFoundError: No module named 'numba'", "a package is missing on Spark's workers: numba"),
    ("AttributeError: Can't get attribute 'Split' on <module 'applier.binlog.outline.outline' from '/x.py'>",
     "another version of applier")])
def test_what_spark_says_is_explained(text, says):
    assert says in workers.explanation(text).message and workers.explanation(text).hint


def test_another_failure_is_not():
    assert workers.explanation("ValueError: unit 3 of 2") is None


def test_an_old_pyspark_is_refused(tmp_path, monkeypatch):
    (tmp_path / "version.py").write_text('__version__: str = "3.4.2"\n')
    monkeypatch.setattr(spark_private, "home", lambda: tmp_path)
    with pytest.raises(NotInstalled, match=r"pyspark is 3\.4, and 3\.5 or newer is needed"):
        java.spark_home()


MISSING = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "PACKAGE":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Finder())
"""
"""Of a node's Python (sitecustomize): it does not have a package."""


@pytest.mark.slow
@pytest.mark.parametrize("package", ["numba", "pyarrow", "applier"])
def test_a_node_without_a_package(package, tmp_path):
    """What the process that forks workers says there is explained."""
    (tmp_path / "sitecustomize.py").write_text(MISSING.replace("PACKAGE", package))
    done = subprocess.run([sys.executable, "-m", "applier.engine.spark.daemon"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace",  # it answers in bytes
                          env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    says = "applier is not installed" if package == "applier" else f"missing on Spark's workers: {package}"
    assert says in workers.explanation(done.stderr).message


def test_a_node_with_another_python():
    from pyspark import worker_util  # of Spark 4; Spark 3 says the same elsewhere

    version = struct.pack("!i", 3) + b"3.9"
    with pytest.raises(Exception, match="PYTHON_VERSION_MISMATCH") as error:
        worker_util.check_python_version(io.BytesIO(version))
    assert "another version of Python" in workers.explanation(f"PySparkRuntimeError: {error.value}").message


def test_the_data_source_needs_spark_4(monkeypatch):
    """Spark 3.5 has no module for data sources in Python."""
    for name in [name for name in sys.modules if name.startswith(("applier.spark", "applier.jobs.spark_source"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark.sql.datasource", None)
    monkeypatch.setattr("pyspark.__version__", "3.5.9")
    with pytest.raises(NotInstalled, match=r"needs Spark 4\.0"):
        import_module("applier.spark")
