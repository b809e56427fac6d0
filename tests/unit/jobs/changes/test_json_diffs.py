"""JSON diffs of updates in `changes`: as SQL, beside the other columns (JD-SHOW)."""

import json

import duckdb
import pyarrow as pa
import pytest

import applier
from applier import cli
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from jsondiff.encode import encode

pytestmark = pytest.mark.slow

SQL = "CREATE TABLE t (id INT PRIMARY KEY, `j ``\"` JSON, n INT, k JSON)"
NAME = 'j `"'
[_created] = parse_statement(SQL, default_database="d", flavour="mysql")
LONG = {"name": "x" * 100, "list": [1, 2]}
DIFF = "JSON_REPLACE(`j ``\"`, '$.name', 'short')"


def image(*rows):
    ids, j, n, k = zip(*rows, strict=True)
    j, k = (pa.array([None if one is None else encode(one) for one in column], pa.binary()) for column in (j, k))
    return {"id": pa.array(ids, pa.int32()), NAME: j, "n": pa.array(n, pa.int32()), "k": k}


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "compressed"])
def log(request, tmp_path_factory):
    """An insert of three rows, and an update of them: a diff, two diffs, and a whole document."""
    folder = tmp_path_factory.mktemp("diffs")
    (folder / "whole").mkdir()
    before = (1, LONG, 0, None), (2, LONG, 0, LONG), (3, [1], 0, None)
    after = ((1, LONG | {"name": "short"}, 1, None), (2, LONG | {"name": "short"}, 1, LONG | {"new": [True]}),
             (3, [2], 1, None))
    with BinlogWriter(folder / "whole" / "binlog.000001") as writer:
        writer.query("CREATE DATABASE d")
        writer.query(SQL, "d")
        for change in (RowChanges(_created.definition, after=image(*before)),
                       RowChanges(_created.definition, before=image(*before), after=image(*after))):
            with writer.transaction():
                writer.rows(change)
    applier.rewrite(folder / "whole", folder / "out", partial_json=True, compress=request.param)
    return folder


def test_a_diff_is_the_sql_that_changes_the_document(log):
    rows = applier.changes(log / "out", "d.t").to_arrow().to_pylist()
    updated = [row for row in rows if row["_change_type"] == "update_postimage"]
    assert [row["_diffs"] and json.loads(row["_diffs"]) for row in updated] == [
        {NAME: DIFF}, {NAME: DIFF, "k": "JSON_INSERT(`k`, '$.new', CAST('[true]' AS JSON))"}, None]
    assert [(row[NAME], row["k"], row["n"], row["_present"]) for row in updated] == [
        (None, None, 1, ["id", "n", "k"]), (None, None, 1, ["id", "n"]), ("[2]", None, 1, None)]
    others = [row for row in rows if row["_change_type"] != "update_postimage"]
    assert {(row["_diffs"], row["_present"]) for row in others} == {(None, None)}


def test_complete_changes_and_other_columns_have_no_diffs(log):
    assert applier.changes(log / "out", "d.t", complete=True).to_arrow()["_diffs"].null_count == 9
    assert applier.changes(log / "out", "d.t", columns=["id", "n"]).to_arrow()["_diffs"].null_count == 9


def test_chosen_rows_have_their_diffs(log):
    rows = applier.changes(log / "out", "d.t", key=2).to_arrow().to_pylist()
    assert [(row["id"], sorted(json.loads(row["_diffs"] or "{}"))) for row in rows] == [
        (2, []), (2, []), (2, [NAME, "k"])]


def test_formats_have_diffs(log, capfd, tmp_path):
    """JSON lines as an object behind the images; CSV and Parquet as text."""
    assert cli.main(["changes", "--binlogs", str(log / "out")]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line.get("diffs", {}).get(NAME) for line in lines] == [None, None, None, DIFF, DIFF, None]
    assert lines[3]["after"] == {"id": 1, "n": 1, "k": None}
    assert list(lines[3])[-1] == "diffs" and "diffs" not in lines[5]
    for format in ("csv", "parquet", "arrow"):
        assert cli.main(["changes", "--binlogs", str(log / "out"), "--format", format, "--output",
                         str(tmp_path / format)]) == 0
    for file in ("csv/d/t/changes.csv", "parquet/d/t/changes.parquet"):
        found = duckdb.sql(f"SELECT _diffs FROM '{tmp_path / file}' WHERE _diffs IS NOT NULL ORDER BY id").fetchall()
        assert [json.loads(text)[NAME] for [text] in found] == [DIFF, DIFF]


def test_debezium_refuses_diffs(log, capfd):
    assert cli.main(["changes", "--binlogs", str(log / "out"), "--format", "debezium"]) == 2
    error = capfd.readouterr().err
    assert "this update contains a JSON diff, not the whole document" in error and "--complete" in error
