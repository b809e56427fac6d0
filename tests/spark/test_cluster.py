"""The same stages on a real standalone cluster, through the death of an executor."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]


def on_cluster(master, directory, code):
    """Run `code` as a driver's program of its own, started outside the checkout; what it prints as JSON."""
    program = f"from applier.spark import session, stages\nspark = session.start({master!r})\n" + textwrap.dedent(code)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"}
    run = subprocess.run([sys.executable, "-c", program], cwd=directory, env=environment, capture_output=True, text=True,
                         timeout=200)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


# A worker's parent is the daemon, whose parent is the executor.
DIE_ONCE = """
    import json, os, signal, time
    def die_once():
        if not os.path.exists("DIRECTORY/died"):
            open("DIRECTORY/died", "w").close()
            with open(f"/proc/{os.getppid()}/stat") as status:
                executor = int(status.read().rsplit(")", 1)[1].split()[1])
            os.kill(executor, signal.SIGKILL)
            time.sleep(60)
"""


def test_tasks_run_on_both_workers_and_survive_an_executor(spark_cluster, tmp_path):
    code = DIE_ONCE.replace("DIRECTORY", str(tmp_path)) + """
    def task(item):
        import applier.spark.daemon, sys
        from pyspark import TaskContext
        time.sleep(0.2)
        if item == 5:
            die_once()
        return item, os.environ.get("SPARK_EXECUTOR_DIRS", os.getcwd()), "pyarrow.parquet" in sys.modules
    print(json.dumps(stages.map_tasks(spark, task, range(8))))
    """
    results = on_cluster(spark_cluster, tmp_path, code)
    assert (tmp_path / "died").exists()
    assert [item for item, _, _ in results] == list(range(8))
    assert len({place for _, place, _ in results}) >= 2
    assert all(preloaded for _, _, preloaded in results)


def test_shuffle_survives_the_executor_that_held_its_payloads(spark_cluster, tmp_path):
    code = DIE_ONCE.replace("DIRECTORY", str(tmp_path)) + """
    def give(item):
        for unit in range(3):
            yield unit, item, bytes([unit, item]) * 1000
    def take(unit, payloads):
        if unit == 1:
            die_once()
        return [(split, payload.size, *bytes(payload.slice(0, 2))) for split, payload in payloads]
    print(json.dumps(stages.shuffle_tasks(spark, give, [3, 1, 2, 0], take, 3)))
    """
    expected = [[[split, 2000, unit, split] for split in range(4)] for unit in range(3)]
    assert on_cluster(spark_cluster, tmp_path, code) == expected
    assert (tmp_path / "died").exists()


def test_an_error_of_a_task_arrives_as_it_was_raised(spark_cluster, tmp_path):
    code = """
    from applier.errors import ApplierError, ReplayStopped
    def task(item):
        raise ReplayStopped("no such row", key="(7)", errno=1032)
    try:
        stages.map_tasks(spark, task, [1])
    except ApplierError as error:
        print(f'"{type(error).__name__}: {error}"')
    """
    assert on_cluster(spark_cluster, tmp_path, code) == "ReplayStopped: no such row (key (7)) [MySQL error 1032]."
