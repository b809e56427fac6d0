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


@pytest.mark.parametrize("master, cores, jobs", [
    ("local[2]", (2,), [2]),
    ("spark://head:7077", (2, 8, 8, 8), [2, 8]),
    ("yarn", (5000,), [1024]),
    ("sc://connect", (2,), []),
])
def test_workers_of_all_cores_are_started(master, cores, jobs, monkeypatch):
    """Those that register later, too. A session of Spark Connect does not say how many there are."""
    spark, started = SimpleNamespace(sparkContext=Registering(*cores)), []
    monkeypatch.setattr(session, "_check_installed", lambda master: None)
    monkeypatch.setattr(session, "start", lambda master, conf: spark)
    monkeypatch.setattr(session, "_warm", None)
    monkeypatch.setattr(stages, "map_tasks", lambda spark, function, items, name: started.append(len(items)))
    threads = []
    monkeypatch.setattr(session, "Thread", lambda **run: threads.append(run) or SimpleNamespace(start=run["target"]))
    assert session.start_in_background(master).result() is spark
    assert started == jobs and threads[0]["daemon"]
