"""Attempts of tasks that a cluster has given up, and that continue: a snapshot has the rows of the others only."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from pyarrow import fs

from applier.snapshot import manifest
from tests.support import spark_servers
from tests.support.object_store import object_store
from tests.support.small_logs import commit, insert, new_log

ROWS = [(n, n, "x" * 20) for n in range(3000)]
HOOK = """
import os, sys, time
def wait_once():
    unit = sys.modules.get("applier.apply.tables.unit")
    if unit is None:
        return
    write_unit = unit.write_unit
    def written(*arguments):
        try:
            os.mkdir("FOLDER/at")
        except FileExistsError:
            return write_unit(*arguments)
        done = write_unit(*arguments) if "WHEN" == "after" else None
        with open("FOLDER/pid.new", "w") as file:
            file.write(str(os.getpid()))
        os.rename("FOLDER/pid.new", "FOLDER/pid")
        while not os.path.exists("FOLDER/go"):
            time.sleep(0.01)
        done = done or write_unit(*arguments)
        open("FOLDER/written", "w").close()
        return done
    unit.write_unit = written
os.register_at_fork(after_in_child=wait_once)
"""
"""Of workers (sitecustomize): the first attempt of all that is about to write a unit's files waits, or has written them
and waits; until when it may continue, the test says."""
DRIVER = """
import sys
from applier.cli import console
from applier.plan import units
units.UNIT_BYTES, units.LEAST_UNIT_BYTES = 20_000, 1
console()
"""


@pytest.fixture
def logs(tmp_path):
    (tmp_path / "logs").mkdir()
    with new_log(tmp_path / "logs") as log:
        commit(log, insert(ROWS))
    return str(tmp_path / "logs")


@contextlib.contextmanager
def replaying(tmp_path, master, logs, output, when, **settings):
    """A replay on a cluster, of which an attempt waits in the end: the driver, and the id of the attempt's process."""
    (tmp_path / "hook").mkdir()
    hook = HOOK.replace("FOLDER", str(tmp_path / "hook")).replace("WHEN", when)
    (tmp_path / "hook" / "sitecustomize.py").write_text(hook)
    settings["executorEnv.PYTHONPATH"] = f"{tmp_path}/hook:{spark_servers.PYTHONPATH}"
    words = [word for name, value in settings.items() for word in ("--conf", f"spark.{name}={value}")]
    run = subprocess.Popen([sys.executable, "-c", DRIVER, "replay", "--binlogs", logs, "--output", output,
                            "--master", master, "--route", "walk", *words], cwd=tmp_path, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True,
                           env=os.environ | spark_servers.ENVIRONMENT | {"PYTHONPATH": spark_servers.PYTHONPATH})
    try:
        while not (tmp_path / "hook" / "pid").exists():
            assert run.poll() is None, run.communicate()[0]
            time.sleep(0.05)
        yield run, int((tmp_path / "hook" / "pid").read_text())
    finally:
        run.kill()
        run.wait()


def parent(pid):
    with open(f"/proc/{pid}/stat") as status:
        return int(status.read().rsplit(")", 1)[1].split()[1])


def objects(uri):
    store, path = fs.FileSystem.from_uri(uri)
    infos = store.get_file_info(fs.FileSelector(path, recursive=True))
    return {info.path.removeprefix(f"{path}/") for info in infos if info.type == fs.FileType.File}


@pytest.mark.thorough
@pytest.mark.every_spark
def test_an_executor_that_is_cut_off_goes_on(logs, tmp_path, tmp_path_factory):
    """The driver hears nothing more of a node, tries its task on another one, and publishes; then the node's Python
    worker writes its rows."""
    with object_store("lake"), spark_servers.cluster(tmp_path_factory.mktemp("cluster")) as master, replaying(
            tmp_path, master, logs, "s3://lake/out", "before", **{
                "network.timeout": "6s", "network.timeoutInterval": "1s", "executor.heartbeatInterval": "1s"}) \
            as (run, worker):
        executor = parent(parent(worker))  # its parent is the daemon, whose parent is the executor
        node = [executor, parent(executor)]
        for process in node:
            os.kill(process, signal.SIGSTOP)
        try:
            said = run.communicate()[0]
            assert run.returncode == 0, said
            before = objects("s3://lake/out")
            (tmp_path / "hook" / "go").touch()
            while not (tmp_path / "hook" / "written").exists():
                os.kill(worker, 0)
                time.sleep(0.05)
            after = objects("s3://lake/out")
        finally:
            for process in node:
                os.kill(process, signal.SIGCONT)
        [table] = manifest.load("s3://lake/out").tables
        assert table.rows == len(ROWS) and len(table.files) > 1
        assert {path for path in after if path.startswith("shop/")} == {file.path for file in table.files}
        late = after - before
        assert late and all(path.startswith("_staging/") and not path.endswith(".parquet") for path in late)


@pytest.mark.thorough
@pytest.mark.every_spark
def test_speculation(logs, tmp_path, tmp_path_factory):
    """Two attempts of a task have written all of its files."""
    output = tmp_path / "out"
    nodes = {"SPARK_LOCAL_IP": "127.0.0.1"}, {"SPARK_LOCAL_IP": "127.0.0.2"}  # as no host tries a task twice
    with spark_servers.cluster(tmp_path_factory.mktemp("cluster"), *nodes) as master, replaying(
            tmp_path, master, logs, str(output), "after", **{
                "speculation": "true", "speculation.interval": "100ms", "speculation.quantile": "0.1",
                "speculation.multiplier": "1", "speculation.minTaskRuntime": "1ms"}) as (run, _):
        said = run.communicate()[0]
        assert run.returncode == 0, said
    [table] = manifest.load(str(output)).tables
    assert table.rows == len(ROWS) and len(table.files) > 1
    assert {str(path.relative_to(output)) for path in output.rglob("*") if path.is_file()} == {
        *(file.path for file in table.files), "_snapshot.json", "_schema.sql", "_report.json"}
