"""Python workers start while the caller plans, here and on a cluster, whose executors register one by one."""

from types import SimpleNamespace

import pytest

from applier.engine.spark import session, stages


class Registering:
    """A Spark context whose executors register while jobs run: how many cores there are, each time it is asked."""

    def __init__(self, *cores):
        self._cores = [*cores]

    @property
    def defaultParallelism(self):
        return self._cores.pop(0) if len(self._cores) > 1 else self._cores[0]


@pytest.mark.parametrize("cores, jobs", [((2,), [2]), ((2, 8, 8, 8), [2, 8]), ((5000,), [1024])])
def test_workers_of_all_cores_are_started(cores, jobs, monkeypatch):
    """Those that register later, too; once a session."""
    spark, started = SimpleNamespace(sparkContext=Registering(*cores)), []
    monkeypatch.setattr(stages, "map_tasks", lambda spark, function, items, name: started.append(len(items)))
    for _ in range(2):
        session.warm_up(spark)
    assert started == jobs
