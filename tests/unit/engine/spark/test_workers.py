"""What is said where workers of a cluster lack something, or have another version of it."""

import pytest

from applier.engine.spark import java, spark_private, workers
from applier.errors import NotInstalled, UsageError


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
