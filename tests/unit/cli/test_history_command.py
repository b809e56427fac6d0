"""`applier history`: one row's versions on the terminal, and all of them in files."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
from applier import cli
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.folders import CASES

pytestmark = pytest.mark.slow


def ints(*values):
    return pa.array(values, pa.int32())


@pytest.fixture
def log(tmp_path):
    sql = "CREATE TABLE t (id INT, name VARCHAR(20), v INT, PRIMARY KEY (name, id))"
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(sql, "d")
        table = parse_statement(sql, default_database="d")[0].definition

        def write(**images):
            with log.transaction():
                log.rows(RowChanges(table, **images))

        a, b = pa.array([b"a"]), pa.array([b"it's [b]\x1b"])
        key = {"id": ints(1), "name": a}
        write(after={**key, "v": ints(7)})
        write(after={"id": ints(2), "name": b, "v": pa.nulls(1, pa.int32())})
        write(before=key, after={"v": ints(8)})
        write(before=key)
        write(after={**key, "v": ints(9)})
        write(before={"id": ints(2), "name": b}, after={"id": ints(3)})
    return str(log.path)


def test_one_row(log, capsys):
    """Values change from what to what; a row that is gone, and one that comes again."""
    assert cli.main(["history", "--binlogs", log, "--table", "d.t", "--key", "a,1"]) == 0
    lines = [line.split(maxsplit=5)[5].strip() for line in capsys.readouterr().out.splitlines() if "Z " in line]
    assert [" ".join(line.split()) for line in lines] == [
        "insert id=1, name='a', v=7", "update v: 7 → 8", "delete", "insert id=1, name='a', v=9"]


@pytest.mark.parametrize("name, thread, statement", [
    ("row-image-minimal", "10", None),
    ("mariadb-row-image-full", "", "INSERT INTO auto_inc (v) VALUES ('a'), ('b'), ('c')")])
def test_by_whom_a_row_was_changed(name, thread, statement, capsys):
    """The event, the thread that MySQL's BEGIN has, and the statement where the log has it."""
    files = sorted(map(str, (CASES / name).glob("binlog.0*")))
    assert cli.main(["history", "--binlogs", *files, "--table", "img.auto_inc", "--key", "1"]) == 0
    [change] = applier.changes(files, "img.auto_inc", statements=True, key=1).to_arrow().to_pylist()
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    [line] = [number for number, line in enumerate(lines) if f"{change['_file']}:{change['_pos']} " in line]
    assert lines[line].split(f":{change['_pos']}")[1].split("insert")[0].strip() == thread
    assert lines[line + 1].strip() == (statement or "") == (change["_statement"] or "")


def test_some_columns_of_one_row(log, capsys):
    """The key need not be among them."""
    assert cli.main(["history", "--binlogs", log, "--table", "d.t", "--key", '"a", 1', "--columns", "v"]) == 0
    out = capsys.readouterr().out
    assert "v: 7 → 8" in out and "name=" not in out


def test_a_key_that_changed(log, capsys):
    """Its versions end there; what a log says is printable, and no markup."""
    assert cli.main(["history", "--binlogs", log, "--table", "d.t", "--key", "it's [b]\x1b,2"]) == 0
    out = capsys.readouterr().out
    assert "id=2, name='it's [b]\\x1b', v=NULL" in out and "gets another key" in out


def test_a_row_that_never_was(log, capsys):
    assert cli.main(["history", "--binlogs", log, "--table", "d.t", "--key", "a,5"]) == 0
    assert capsys.readouterr().out == "no version of a row with the key a,5\n"


def test_files_of_all_versions(log, capsys, tmp_path):
    """Those that have ended apart from those that are still valid."""
    output = tmp_path / "out"
    argv = ["history", "--binlogs", log, "--table", "d.t", "--output", str(output), "--columns", "v"]
    assert cli.main(argv) == 0
    position = applier.replay(log, tmp_path / "now").snapshot.position
    assert capsys.readouterr().out == f"{output}: 5 versions until {position}\n"
    closed, still_valid = (pq.read_table(*output.glob(f"d/t/{kind}-*.parquet")) for kind in ("closed", "open"))
    assert closed.column_names[:2] == ["v", "_valid_from"]
    assert closed["v"].to_pylist() == [7, 8, None] and still_valid["v"].to_pylist() == [9, None]
    listed = json.loads((output / "_history.json").read_text())
    assert (listed["table"], listed["position"]) == ("d.t", str(position))
    assert [(file["rows"], file["is_open"]) for file in listed["files"]] == [(3, False), (2, True)]
    assert cli.main(argv) == 2 and "the output exists" in capsys.readouterr().err


def test_no_files_are_left_where_it_stops(log, capsys, tmp_path):
    """A log that lacks its beginning: a row to update is not there."""
    with BinlogWriter(tmp_path / "binlog.000002") as other:
        sql = "CREATE TABLE t (id INT PRIMARY KEY, v INT)"
        other.query("CREATE DATABASE e")
        other.query(sql, "e")
        with other.transaction():
            other.rows(RowChanges(parse_statement(sql, default_database="e")[0].definition,
                                  before={"id": ints(1), "v": ints(2)}))
    argv = ["history", "--binlogs", str(other.path), "--table", "e.t", "--output", str(tmp_path / "out")]
    assert cli.main(argv) == 1 and "binlog.000002" in capsys.readouterr().err
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize("argv, message", [
    (["--key", "a"], "'a' is not a key of the table"),
    (["--key", "a,b"], "'a', 'b' is not a key of the table: 'b' is not a number"),
    ([], "neither one row nor an output is given"),
    (["--key", "a,1", "--output", "x"], "neither one row nor an output is given"),
])
def test_bad_usage(log, argv, message, capsys):
    assert cli.main(["history", "--binlogs", log, "--table", "d.t", *argv]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("statement, ended", [
    ("TRUNCATE TABLE d.t", "truncate"), ("DROP TABLE d.t", "drop"), ("DROP DATABASE d", "drop")])
def test_a_table_that_goes_is_dropped_not_emptied(tmp_path, statement, ended):
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        table = parse_statement("CREATE TABLE d.t (id INT PRIMARY KEY)")[0].definition
        with log.transaction():
            log.rows(RowChanges(table, after={"id": ints(1)}))
        log.query(statement)
    history = applier.history(tmp_path / "binlog.000001", "d.t").to_arrow()
    assert history["_ended_by"].to_pylist() == [ended]


@pytest.mark.parametrize("columns, is_narrow", [("80", True), ("160", False), ("", False)])
def test_places_and_threads_stay_on_narrow_screens(log, columns, is_narrow, monkeypatch, capsys):
    """In a pipe a table is as wide as COLUMNS says, or as it needs."""
    monkeypatch.setenv("COLUMNS", columns)
    assert cli.main(["-q", "history", "--binlogs", log, "--tables", "d.t", "--key", "a,1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not columns or max(map(len, lines)) <= int(columns)
    assert sum("binlog.000001:" in line for line in lines) == 4
    assert any("when and where" in line for line in lines) is is_narrow
    assert any("thread" in line for line in lines)
