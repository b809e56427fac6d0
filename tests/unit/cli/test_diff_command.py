"""`applier diff`: what people see, and the files that it writes."""

import json

import pyarrow.parquet as pq
import pytest

from applier import cli
from tests.support.diffs import snapshot_of

CREATE = ("CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(200), b BLOB, price DECIMAL(5,2), j JSON, "
          "UNIQUE KEY (name))")
BEFORE = [(1, "a", b"\1", 1.5, None), (2, "it's", None, None, '{"x": [1]}'), (3, 'c"\n', None, 2, None)]
AFTER = [(2, "it's", b"\xff", None, '{"x": [1]}'), (3, "x" * 100, None, 2.25, None), (4, None, None, 0, "null")]


@pytest.fixture
def sides(tmp_path):
    return [snapshot_of(tmp_path / name, CREATE, rows).uri for name, rows in (("before", BEFORE), ("after", AFTER))]


def test_counts_come_first(sides, capsys):
    assert cli.main(["diff", *sides]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    [counts] = [number for number, line in enumerate(lines) if line.split() == ["d.t", "3", "3", "1", "1", "2"]]
    assert lines[counts:][-5:] == [
        "d.t by id", "- id=1, name='a', b=x'01', price=1.50, j=NULL", "~ id=2  b: NULL → x'ff'",
        f"~ id=3  name: 'c\"\\x0a' → '{'x' * 59}…', price: 2.00 → 2.25",
        "+ id=4, name=NULL, b=NULL, price=0.00, j='null'"]


def test_some_rows(sides, capsys):
    assert cli.main(["diff", *sides, "--rows", "1"]) == 0
    assert capsys.readouterr().out.endswith(
        "\n- id=1, name='a', b=x'01', price=1.50, j=NULL\n"
        "… and 3 more: --rows shows more of them, --format json all\n")
    assert cli.main(["diff", sides[0], sides[0]]) == 0
    assert "no row differs" in capsys.readouterr().out


def test_json_lines(sides, capsys, tmp_path):
    assert cli.main(["diff", *sides, "--format", "json"]) == 0
    shown = capsys.readouterr().out
    first, *rows = map(json.loads, shown.splitlines())
    assert first == {"table": "d.t", "removed": 1, "added": 1, "changed": 2, "rows_before": 3, "rows_after": 3,
                     "notes": []}
    long = {"id": 3, "name": "x" * 100, "b": None, "price": 2.25, "j": None}
    assert rows == [
        {"table": "d.t", "type": "delete", "before": {"id": 1, "name": "a", "b": "01", "price": 1.5, "j": None}},
        {"table": "d.t", "type": "update", "changed": ["b"],
         "before": {"id": 2, "name": "it's", "b": None, "price": None, "j": {"x": [1]}},
         "after": {"id": 2, "name": "it's", "b": "FF", "price": None, "j": {"x": [1]}}},
        {"table": "d.t", "type": "update", "changed": ["name", "price"],
         "before": {"id": 3, "name": 'c"\n', "b": None, "price": 2.0, "j": None}, "after": long},
        {"table": "d.t", "type": "insert", "after": {"id": 4, "name": None, "b": None, "price": 0.0, "j": None}}]
    assert cli.main(["diff", *sides, "--format", "json", "--output", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text() == shown
    assert cli.main(["diff", *sides, "--format", "json", "--output", str(tmp_path / "out")]) == 2


def test_parquet(sides, capsys, tmp_path):
    command = ["diff", *sides, "--format", "parquet"]
    assert cli.main([*command, "--output", str(tmp_path / "out")]) == 0
    rows = pq.read_table(tmp_path / "out" / "d" / "t.parquet")
    assert rows["_change_type"].to_pylist() == [
        "delete", "update_preimage", "update_postimage", "update_preimage", "update_postimage", "insert"]
    assert rows["_changed"].to_pylist() == [None, ["b"], ["b"], ["name", "price"], ["name", "price"], None]
    assert cli.main([*command, "--output", str(tmp_path / "out")]) == 2
    assert "the output already exists" in capsys.readouterr().err
    assert cli.main(command) == 2
    assert "--format parquet goes to a directory" in capsys.readouterr().err
    assert cli.main(["diff", *sides, "--output", "out"]) == 2
    assert "--format table goes to the terminal" in capsys.readouterr().err


def test_statements(sides, capsys, tmp_path):
    """Rows whose other unique key changes are deleted and inserted; each statement is checked."""
    assert cli.main(["diff", *sides, "--format", "sql"]) == 0
    shown = capsys.readouterr().out
    text = "HEX(CONVERT({0} USING utf8mb4)) <=> HEX({1})".format
    old = [f"`id` = {number} AND `id` <=> {number} AND {text('`name`', name)} AND HEX(`b`) <=> HEX({data}) AND `price` "
           f"<=> {price} AND `j` <=> CAST({document} AS JSON)" for number, name, data, price, document in
           ((1, "'a'", "x'01'", "1.50", "NULL"), (3, "'c\"\\n'", "NULL", "2.00", "NULL"),
            (2, "'it''s'", "NULL", "NULL", """'{\"x\": [1]}'"""))]
    lines = shown[shown.index("START"):].splitlines()
    counted = "SET @rows = @rows + (~0 + (ROW_COUNT() <> 1) = ~0);"
    assert [line for line in lines if line != counted][:-5] == [
        "START TRANSACTION;", f"DELETE FROM `d`.`t` WHERE {old[0]};", f"DELETE FROM `d`.`t` WHERE {old[1]};",
        "INSERT INTO `d`.`t` (`id`,`name`,`b`,`price`,`j`) VALUES", f"(3,'{'x' * 100}',NULL,'2.25',NULL);",
        "INSERT INTO `d`.`t` (`id`,`name`,`b`,`price`,`j`) VALUES", "(4,NULL,NULL,'0.00','null');",
        f"UPDATE `d`.`t` SET `b` = x'FF' WHERE {old[2]};"]
    assert lines.count(counted) == 5 and "IF(@rows = 5, 'COMMIT'" in lines[-4]
    assert cli.main(["diff", *sides, "--format", "sql", "--output", str(tmp_path / "repair.sql")]) == 0
    assert (tmp_path / "repair.sql").read_text() == shown
    said = capsys.readouterr().out
    assert "changes rows of 1 table" in said and ["d.t", "1", "1", "2"] in map(str.split, said.splitlines())


def test_what_means_nothing(sides, capsys):
    assert cli.main(["diff", sides[0]]) == 2
    assert "give either another snapshot, or --binlogs" in capsys.readouterr().err
    assert cli.main(["diff", *sides, "--stop-gtid", "x", "--stop-position", "a.1:4"]) == 2
    assert "more than one place to stop" in capsys.readouterr().err
