"""System-versioned tables of dumps: the rows that hold where readers find them, and all with their times beside them.

versioned/ has what mariadb-dump 10.11 wrote with --dump-history of tables with hidden and named times, with keys and
without, the server's log of before and after that, and what it held in the end: expected/ what a SELECT shows, past/
what it does FOR SYSTEM_TIME ALL, as recorded cases have it (see real_server).
"""

import json
from pathlib import Path

import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.jobs.exporting.job import export_snapshot
from applier.jobs.replay.job import replay_with
from applier.options import ExportOptions, ReplayOptions
from applier.snapshot import manifest
from tests.support.real_server import differences_of, rows_of

RECORDED = Path(__file__).parent / "versioned"
SQL = """SET time_zone = '+00:00'; CREATE DATABASE d; USE d; CREATE TABLE h (a INT PRIMARY KEY) WITH SYSTEM VERSIONING;
CREATE TABLE n (a INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END,
PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING;
"""
HISTORY = "SET @old = @@session.system_versioning_insert_history, @@session.system_versioning_insert_history=1;\n"


def recorded(what):
    """Columns and rows of tables."""
    tables = {}
    for file in (RECORDED / what).glob("*.jsonl"):
        columns, *rows = map(json.loads, file.read_text().splitlines())
        tables[file.stem] = columns, rows_of(rows)
    return tables


def imported(sql, folder):
    """The exit code."""
    dump = folder / "dump.sql"
    dump.write_text(sql)
    return cli.main(["import", str(dump), "--flavour", "mariadb", "--output", str(folder / "out")])


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_replay_goes_on_from_a_dump_with_the_past(route, tmp_path):
    """AP-SNAP, PKE: updates and deletes end rows of the dump, DELETE HISTORY and TRUNCATE PARTITION take those of the
    past away; what is exported then is a dump with the past, too."""
    base, out = tmp_path / "base", tmp_path / "out"
    assert cli.main(["import", str(RECORDED / "dump.sql"), "--output", str(base)]) == 0
    assert manifest.load(str(base)).table("sv", "never").history == ()
    replay_with(ThisProcess(), ReplayOptions((str(RECORDED / "binlog.000001"),), str(out), base=str(base), route=route))
    assert differences_of(out, recorded("expected"), past=recorded("past")) == []
    form = {"walk": "sql", "shuffle": "tsv"}[route]
    export_snapshot(ExportOptions(str(out), str(tmp_path / "export"), form))
    assert cli.main(["import", str(tmp_path / "export"), "--output", str(tmp_path / "again")]) == 0
    assert differences_of(tmp_path / "again", recorded("expected"), past=recorded("past")) == []


@pytest.mark.parametrize("rows", [
    "INSERT INTO h VALUES (1);",
    HISTORY + "INSERT INTO h VALUES (1);",
    HISTORY + "INSERT INTO h (a, row_end) VALUES (1, '2038-01-19 03:14:07.999999');",
    "INSERT INTO n VALUES (1, '2026-11-21 18:28:06.357837', '2038-01-19 03:14:07.999999');",
    HISTORY + "SET system_versioning_insert_history=@old;\n"
    "INSERT INTO n VALUES (1, '2026-11-21 18:28:06.357837', '2038-01-19 03:14:07.999999');"])
def test_a_dump_without_the_past(rows, tmp_path, capsys):
    """Of named times mariadb-dump writes those of the rows that hold without --dump-history, too."""
    assert imported(SQL + rows, tmp_path) == 1
    error = capsys.readouterr().err
    assert "system-versioned" in error and "--dump-history" in error
    assert [path.name for path in tmp_path.iterdir()] == ["dump.sql"]


@pytest.mark.parametrize("end, rows", [
    ("2038-01-19 03:14:07.999999", 1), ("2106-02-07 06:28:15.999999", 1), ("2026-11-22 00:00:00.000000", 0)])
def test_rows_that_hold(end, rows, tmp_path):
    """Those that end at the end of time, before MariaDB 11.5 or from then on."""
    sql = f"{SQL}{HISTORY}INSERT INTO h (a, row_start, row_end) VALUES (1, '2026-11-21 18:28:06.357837', '{end}');"
    assert imported(sql, tmp_path) == 0
    table = manifest.load(str(tmp_path / "out")).table("d", "h")
    assert (table.rows, sum(file.rows for file in table.history)) == (rows, 1)


@pytest.mark.parametrize("end", ["2038-01-19 08:14:07.999999", "2038-01-18 22:14:07.999999"])
def test_times_of_another_zone(end, tmp_path, capsys):
    """Times of servers at +05:00 and -05:00, read as of +00:00."""
    sql = f"{SQL}{HISTORY}INSERT INTO n VALUES (1, '2026-11-21 18:28:06.357837', '{end}');"
    assert imported(sql, tmp_path) == 1
    assert "d.n" in (error := capsys.readouterr().err) and "another time zone" in error
