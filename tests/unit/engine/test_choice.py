"""Which engine `auto` takes, and that it says why (docs/ARCHITECTURE.md, "Where is it decided")."""

import pytest

from applier.engine.by_work import ByWork
from applier.engine.choice import SPARK_STARTS_SECONDS, choose
from applier.engine.executor import ThisProcess
from applier.errors import UsageError
from applier.options import ExportOptions, ReplayOptions


@pytest.mark.parametrize(("asked", "engine", "why"), [
    ({"engine": "local"}, "local", ""),
    ({"engine": "spark"}, "spark", ""),
    ({}, "auto", ""),
    ({"base": "file:///lake/base"}, "auto", ""),
    ({"engine": "local", "binlogs": ("s3://lake/binlog.000001",)}, "local", ""),
    ({"master": "local[2]"}, "spark", "--master is local[2]"),
    ({"binlogs": ("/logs", "s3://lake/logs")}, "spark", "s3://lake/logs is not on this machine"),
    ({"base": "gs://lake/base"}, "spark", "gs://lake/base is not on this machine"),
    ({"output": "hdfs://host/out"}, "spark", "hdfs://host/out is not on this machine"),
])
def test_what_is_known_before_work_is_planned(asked, engine, why):
    assert choose(ReplayOptions(**{"binlogs": ("/logs",), "output": "/out"} | asked)) == (engine, why)


def test_exports_choose_by_their_places():
    assert choose(ExportOptions("/snapshot", "/out")).engine == "auto"
    assert choose(ExportOptions("s3://lake/snapshot", "/out")).engine == "spark"
    assert choose(ExportOptions("/snapshot", "s3://lake/out")).engine == "spark"


@pytest.mark.parametrize("options", [lambda **asked: ReplayOptions(("a",), "out", **asked),
                                     lambda **asked: ExportOptions("a", "out", **asked)])
def test_options_that_contradict_each_other(options):
    with pytest.raises(UsageError, match=r"--engine cannot be 'java'.*auto, local, spark"):
        options(engine="java")
    with pytest.raises(UsageError, match=r"--engine local runs in this process, and --master local\[2\] names"):
        options(engine="local", master="local[2]")


def test_much_work_goes_to_spark_which_is_started_once():
    """And stays there; each choice is said in one line with its reason, once."""
    started, said = [], []

    class Elsewhere(ThisProcess):
        def __init__(self):
            super().__init__(7)
            started.append(self)

    executor = ByWork(2, Elsewhere, said.append)
    for seconds in (0.0, 0.5, SPARK_STARTS_SECONDS):
        executor.expect(seconds)
        assert not started and executor.cores == 2
    for seconds in (SPARK_STARTS_SECONDS + 1, 100.0, 0.5):
        executor.expect(seconds)
        assert len(started) == 1 and executor.cores == 7
    assert said == ["engine: local, as the work takes about 0.1 core seconds, and Spark's start 6",
                    "engine: spark, as the work takes about 7.0 core seconds, and Spark's start 6"]
