"""A replay on a standalone cluster or a Spark Connect server gives what it gives in one process, by both routes."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

from applier.engine.spark import spark_private
from applier.snapshot import manifest
from tests.support import spark_servers
from tests.support.folders import ROOT
from tests.support.real_server import Case, differences

DRIVER = """
import contextlib, io, json, sys
from applier.cli import main
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = main(json.loads(line))
    print(json.dumps([code, said.getvalue()]), flush=True)
"""


@contextlib.contextmanager
def driver(master, directory):
    """How to replay with these options: the exit code, and what was said. A driver is a process of its own, as this one
    has a local session; one for several replays, as its start takes longest. It is not started in the checkout."""
    process = subprocess.Popen([sys.executable, "-c", DRIVER], cwd=directory, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True,
                               env=os.environ | spark_servers.ENVIRONMENT | {"PYTHONPATH": str(ROOT)})

    def replay(*options):
        print(json.dumps(["replay", "--master", master, *options]), file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())

    with process:
        yield replay
    assert process.returncode == 0
    assert list(directory.iterdir()) == []


@pytest.fixture(scope="module")
def replay_on_cluster(spark_cluster, tmp_path_factory):
    with driver(spark_cluster, tmp_path_factory.mktemp("driver")) as replay:
        yield replay


def test_a_cluster_gives_what_one_machine_gives(replay_on_cluster, tmp_path):
    """AP-SNAP: one route to a mark, and the other on from there."""
    case, base = Case("checksum-changes"), tmp_path / "base"
    [mark] = case.marks
    binlogs = ["--binlogs", *map(str, case.binlogs)]
    code, said = replay_on_cluster(*binlogs, "--output", str(base), "--route", "walk", "--stop-position", str(mark))
    assert code == 0, said
    assert differences(base, case.expected(mark)) == []
    code, said = replay_on_cluster(*binlogs, "--output", str(tmp_path / "end"), "--route", "shuffle", "--base",
                                   str(base))
    assert code == 0, said
    assert differences(tmp_path / "end", case.expected()) == []
    assert manifest.load(str(tmp_path / "end")).position.file == case.binlogs[-1].name


def test_what_stops_a_replay_stops_it_there_too(replay_on_cluster, tmp_path):
    """An error comes out as on one machine."""
    archive = str(Case("statement-mysql").folder)
    code, said = replay_on_cluster("--binlogs", archive, "--output", str(tmp_path / "out"))
    assert code == 1 and "INSERT INTO t (v, d) VALUES ('insert id', 2)" in said and "binlog.000001:1409" in said, said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
@pytest.mark.skipif(spark_private.is_before_4(), reason="pyspark 3 comes without the server")
def test_a_connect_server_gives_what_one_machine_gives(tmp_path, tmp_path_factory):
    """AP-SNAP: with the DataFrame API alone, by both stages of a shuffle; progress comes from the server."""
    case, output = Case("checksum-changes"), tmp_path / "out"
    with spark_servers.connect_server(tmp_path_factory.mktemp("connect")) as url, \
            driver(url, tmp_path_factory.mktemp("driver")) as replay:
        code, said = replay("--binlogs", *map(str, case.binlogs), "--output", str(output), "--route", "shuffle")
    assert code == 0, said
    assert differences(output, case.expected()) == []
    assert "outline: 3 files" in said
