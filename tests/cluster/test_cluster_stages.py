"""The stages (test_stages.py) on a real standalone cluster, through the death of executors; units in parts there."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

import applier
import applier.binlog
from tests.support import spark_servers
from tests.support.folders import ROOT
from tests.support.small_parts import rows_of


def on_cluster(master, directory, code, **conf):
    """Run `code` as a driver's program of its own, started outside the checkout; what it prints as JSON."""
    begin = ("from applier.engine.spark import session, stages\n"
             f"spark = session.start({master!r}, conf={tuple(conf.items())!r})\n")
    program = begin + textwrap.dedent(code)
    environment = os.environ | spark_servers.ENVIRONMENT | {"PYTHONPATH": spark_servers.PYTHONPATH}
    run = subprocess.run([sys.executable, "-c", program], cwd=directory, env=environment, capture_output=True,
                         text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.thorough
def test_stages_use_both_workers_and_survive_the_death_of_their_executors(spark_cluster, tmp_path):
    code = """
    import json, os, signal, sys, time
    import numpy as np
    import pyarrow as pa

    def die_once(mark):
        if not os.path.exists(mark):
            open(mark, "w").close()
            with open(f"/proc/{os.getppid()}/stat") as status:  # our parent is the daemon, whose parent is the executor
                executor = int(status.read().rsplit(")", 1)[1].split()[1])
            os.kill(executor, signal.SIGKILL)
            time.sleep(60)

    def task(item):
        time.sleep(0.3)
        if item == 5:
            die_once("DIRECTORY/task")
        return item, os.getcwd(), "pyarrow.parquet" in sys.modules

    def give(item):
        yield np.arange(3), pa.array([bytes([unit, item]) * 1000 for unit in range(3)])

    def take(unit, payloads):
        if unit == 1:
            die_once("DIRECTORY/unit")
        return [(payload.size, *bytes(payload.slice(0, 2))) for payload in payloads]

    mapped = stages.map_tasks(spark, task, range(8))
    print(json.dumps([mapped, stages.shuffle_tasks(spark, give, [3, 1, 2, 0], take, 3)]))
    """
    mapped, shuffled = on_cluster(spark_cluster, tmp_path, code.replace("DIRECTORY", str(tmp_path)))
    assert (tmp_path / "task").exists() and (tmp_path / "unit").exists()
    assert [item for item, _, _ in mapped] == list(range(8))
    assert len({directory for _, directory, _ in mapped}) >= 2
    assert all(preloaded for _, _, preloaded in mapped)
    assert shuffled == [[[2000, unit, item] for item in (3, 1, 2, 0)] for unit in range(3)]


PARTS = """
import os
def few_bytes():
    from applier.apply.routes import parts
    parts.LARGE_BYTES, parts.PART_BYTES = 20_000, 10_000
os.register_at_fork(after_in_child=few_bytes)
"""
"""Of workers (sitecustomize): a unit with more changes than this is applied in parts."""


@pytest.mark.thorough
def test_a_unit_in_parts_has_the_rows_of_a_walk(spark_cluster, tmp_path):
    """First of a log that begins with the table, then onto a base. Each part writes files of its own, in key order."""
    def rows(ids, text):
        return {"id": [*ids], "v": [f"{text} {number * 7919 % 3000:>40}" for number in ids]}

    with applier.binlog.Writer(tmp_path / "log.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(60))")
        with log.transaction():
            log.insert("d.t", rows(range(3000), "new"))
        middle = f"log.000001:{log.position[1]}"
        with log.transaction():
            log.update("d.t", rows(range(0, 3000, 2), "new"), rows(range(0, 3000, 2), "other"))
            log.update("d.t", rows(range(1, 3000, 2), "new"), rows(range(5999, 3000, -2), "moved"))
            log.delete("d.t", rows(range(0, 3000, 6), "other"))
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(PARTS)
    on_cluster(spark_cluster, tmp_path, f"""
    import json
    import applier
    for stop, base, output in (({middle!r}, None, "base"), (None, "base", "end")):
        applier.replay("log.000001", output, base=base, stop=stop, route="shuffle", engine="spark")
    print(json.dumps(None))
    """, **{"spark.executorEnv.PYTHONPATH": f"{tmp_path}/hook{os.pathsep}{ROOT}"})
    for name, stop in (("base", middle), ("end", None)):
        walked = applier.replay(tmp_path / "log.000001", tmp_path / f"{name} here", stop=stop, route="walk").snapshot
        assert rows_of(tmp_path / name) == rows_of(tmp_path / f"{name} here")
        files = len(applier.Snapshot(tmp_path / name).tables["d.t"].files)
        assert files >= 3 > len(walked.tables["d.t"].files) == 1
