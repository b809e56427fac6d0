"""The stages (test_stages.py) on a real standalone cluster, through the death of executors."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.support import spark_servers


def on_cluster(master, directory, code):
    """Run `code` as a driver's program of its own, started outside the checkout; what it prints as JSON."""
    begin = f"from applier.engine.spark import session, stages\nspark = session.start({master!r})\n"
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
