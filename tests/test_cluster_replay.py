"""A replay on a standalone cluster or a Spark Connect server gives what it gives in one process, by both routes."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest
from real_server import Case, differences

from applier.snapshot import manifest

ROOT = Path(__file__).parents[1]
PROGRAM = "import sys; from applier.cli import main; sys.exit(main(sys.argv[1:]))"


def on_cluster(master, directory, *options):
    """A driver is a process of its own, as this one has a local session; not started in the checkout."""
    run = subprocess.run([sys.executable, "-c", PROGRAM, "replay", "--master", master, *options], cwd=directory,
                         env=os.environ | {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"},
                         capture_output=True, text=True)
    return run.returncode, run.stderr


def test_a_cluster_gives_what_one_machine_gives(spark_cluster, tmp_path):
    """AP-SNAP: one route to a mark, and the other on from there."""
    case, base = Case("checksum-changes"), tmp_path / "base"
    [mark] = case.marks
    binlogs = ["--binlogs", *map(str, case.binlogs)]
    code, said = on_cluster(spark_cluster, tmp_path, *binlogs, "--output", str(base), "--route", "walk",
                            "--stop-position", str(mark))
    assert code == 0, said
    assert differences(base, case.expected(mark)) == []
    code, said = on_cluster(spark_cluster, tmp_path, *binlogs, "--output", str(tmp_path / "end"), "--route", "shuffle",
                            "--base", str(base))
    assert code == 0, said
    assert differences(tmp_path / "end", case.expected()) == []
    assert manifest.load(str(tmp_path / "end")).position.file == case.binlogs[-1].name


def test_what_stops_a_replay_stops_it_there_too(spark_cluster, tmp_path):
    """An error comes out as on one machine."""
    archive = str(Case("statement-mysql").folder)
    code, said = on_cluster(spark_cluster, tmp_path, "--binlogs", archive, "--output", str(tmp_path / "out"))
    assert code == 1 and "INSERT INTO t (v, d) VALUES ('insert id', 2)" in said and "binlog.000001:1409" in said, said
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def connect_server(tmp_path_factory):
    """The URL of a Spark Connect server, a process of its own with workers of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    directory = tmp_path_factory.mktemp("connect")
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]",
               "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
               "--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.ui.enabled=false",
               "--conf", f"spark.executorEnv.PYTHONPATH={ROOT}", "spark-internal"]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with open(directory / "log", "wb") as log:
        server = subprocess.Popen(command, cwd=directory, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 120
        while "Spark Connect server started" not in (said := (directory / "log").read_text()):
            assert server.poll() is None and time.monotonic() < deadline, said
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def test_a_connect_server_gives_what_one_machine_gives(connect_server, tmp_path):
    """AP-SNAP: with the DataFrame API alone, by both stages of a shuffle; progress comes from the server."""
    case, output = Case("checksum-changes"), tmp_path / "out"
    code, said = on_cluster(connect_server, tmp_path, "--binlogs", *map(str, case.binlogs), "--output", str(output),
                            "--route", "shuffle")
    assert code == 0, said
    assert differences(output, case.expected()) == []
    assert "outline: 3 files" in said
