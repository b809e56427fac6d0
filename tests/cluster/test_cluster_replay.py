"""A replay on a standalone cluster or a Spark Connect server gives what it gives in one process, by both routes, and so
do an export and a history."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

from applier import cli
from applier.engine.spark import spark_private
from applier.snapshot import manifest
from tests.support import spark_servers
from tests.support.real_server import Case, differences, replayed

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
    """How to run a verb with these options: the exit code, and what was said. A driver is a process of its own, as this
    one has a local session; one for several runs, as its start takes longest. It is not started in the checkout."""
    process = subprocess.Popen([sys.executable, "-c", DRIVER], cwd=directory, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True,
                               env=os.environ | spark_servers.ENVIRONMENT | {"PYTHONPATH": spark_servers.PYTHONPATH})

    def run(verb, *options):
        print(json.dumps([verb, "--master", master, *map(str, options)]), file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())

    with process:
        yield run
    assert process.returncode == 0
    assert list(directory.iterdir()) == []


@pytest.fixture(scope="module")
def run_on_cluster(spark_cluster, tmp_path_factory):
    with driver(spark_cluster, tmp_path_factory.mktemp("driver")) as run:
        yield run


@pytest.mark.every_spark
def test_a_cluster_gives_what_one_machine_gives(run_on_cluster, tmp_path):
    """AP-SNAP: one route to a mark, and the other on from there."""
    case, base = Case("checksum-changes"), tmp_path / "base"
    [mark] = case.marks
    binlogs = ["--binlogs", *map(str, case.binlogs)]
    code, said = run_on_cluster("replay", *binlogs, "--output", base, "--route", "walk", "--stop-position", mark)
    assert code == 0, said
    assert differences(base, case.expected(mark)) == []
    code, said = run_on_cluster("replay", *binlogs, "--output", str(tmp_path / "end"), "--route", "shuffle", "--base",
                                   str(base))
    assert code == 0, said
    assert differences(tmp_path / "end", case.expected()) == []
    assert manifest.load(str(tmp_path / "end")).position.file == case.binlogs[-1].name


@pytest.mark.every_spark
def test_what_stops_a_replay_stops_it_there_too(run_on_cluster, tmp_path):
    """An error comes out as on one machine."""
    archive = str(Case("statement-mysql").folder)
    code, said = run_on_cluster("replay", "--binlogs", archive, "--output", str(tmp_path / "out"))
    assert code == 1 and "INSERT INTO t (v, d) VALUES ('insert id', 2)" in said and "binlog.000001:1409" in said, said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.every_spark
def test_an_export_and_a_history_are_those_of_one_machine(run_on_cluster, tmp_path):
    """The same files, byte by byte, some of which have random names."""
    replayed(case := Case("checksum-changes"), tmp_path / "snapshot")
    chosen = ["--binlogs", *case.binlogs, "--tables", "ck.t"]
    for verb, *options in (("export", tmp_path / "snapshot", "--format", "tsv"), ("history", *chosen)):
        here, there = tmp_path / f"{verb} here", tmp_path / f"{verb} there"
        code, said = run_on_cluster(verb, *options, "--output", there)
        assert code == 0, said
        assert cli.main([verb, *map(str, options), "--output", str(here), "--engine", "local"]) == 0
        found = [sorted(path.read_bytes() for path in folder.glob("*/*/*")) for folder in (here, there)]
        assert found[0] == found[1] != []


@pytest.mark.thorough
@pytest.mark.skipif(spark_private.is_before_4(), reason="pyspark 3 comes without the server")
def test_a_connect_server_gives_what_one_machine_gives(tmp_path, tmp_path_factory):
    """AP-SNAP: with the DataFrame API alone, by both stages of a shuffle; progress comes from the server."""
    case, output = Case("checksum-changes"), tmp_path / "out"
    with spark_servers.connect_server(tmp_path_factory.mktemp("connect")) as url, \
            driver(url, tmp_path_factory.mktemp("driver")) as run:
        code, said = run("replay", "--binlogs", *map(str, case.binlogs), "--output", str(output), "--route", "shuffle")
    assert code == 0, said
    assert differences(output, case.expected()) == []
    assert "outline: 3 files" in said
