"""What the end of Java looks like to py4j; how many tasks executors run that are there, or are still to come."""

from types import SimpleNamespace

import pytest
from py4j.protocol import ERROR, Py4JError, get_return_value

from applier.engine.spark import running


def test_a_connection_that_breaks_while_it_waits_means_that_java_is_gone():
    """py4j's error is bare then; one of Java's own has a trace."""
    with pytest.raises(Py4JError) as broken:
        get_return_value(ERROR, None, "o102", "getResult")
    assert running.is_silence(broken.value)
    assert not running.is_silence(Py4JError("An error occurred while calling o102.getResult. Trace:\njava.lang.Error"))


@pytest.mark.parametrize("settings, tasks", [
    ({}, 2),
    ({"spark.executor.instances": "20", "spark.executor.cores": "8"}, 160),
    ({"spark.executor.instances": "20", "spark.executor.cores": "8", "spark.task.cpus": "2"}, 80),
    ({"spark.cores.max": "48"}, 48),
    ({"spark.dynamicAllocation.enabled": "true"}, running.DYNAMIC_CORES),
    ({"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "2147483647"},
     running.DYNAMIC_CORES),
    ({"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "50",
      "spark.executor.cores": "4"}, 200)])
def test_executors_that_are_still_to_come_count(settings, tasks):
    """defaultParallelism is 2 before executors register."""
    session = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2), conf=settings)
    assert running.parallelism(session) == tasks
