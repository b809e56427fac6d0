"""Views over a snapshot's files: DuckDB runs them, whatever names and comments are."""

import datetime
from decimal import Decimal

import pytest

import applier
from applier import cli
from tests.support.diffs import snapshot_of
from tests.support.real_server import Case, replayed

CREATE = """CREATE TABLE d.`o'"r``d` (id INT PRIMARY KEY COMMENT 'it''s; -- \\\\ "', `a"b` TIME(3),
    `c``d` BIGINT UNSIGNED)"""
NAME = "`d`.`o'\"r``d`"


def test_duckdb(tmp_path, capsys):
    duckdb = pytest.importorskip("duckdb")
    place = tmp_path / "k=1 it's a [*?]{place}"
    place.mkdir()
    rows = [(number, f"-00:00:0{number}.5", 2**64 - number) for number in range(1, 4)]
    snapshot = snapshot_of(place / "now", CREATE, rows, NAME, file_bytes=30)
    connection = duckdb.connect()
    connection.execute(snapshot.views())
    assert connection.sql("""SELECT * FROM d."o'""r`d" ORDER BY id""").fetchall() == [
        (number, -datetime.timedelta(seconds=number, milliseconds=500), Decimal(2**64 - number))
        for number in range(1, 4)]
    comments = connection.sql("SELECT comment FROM duckdb_columns() WHERE schema_name = 'd' ORDER BY column_index")
    assert comments.fetchall() == [("it's; -- \\ \"",), (None,), (None,)]
    assert cli.main(["views", snapshot.uri]) == 0
    assert capsys.readouterr().out == snapshot.views()
    assert cli.main(["views", snapshot.uri, "--tables", "d.x"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_past_rows_of_a_versioned_table(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    replayed(Case("mariadb-system-versioned"), tmp_path / "out")
    snapshot, connection = applier.Snapshot(tmp_path / "out"), duckdb.connect()
    connection.execute(snapshot.views())
    [name] = [table.name for table in snapshot.tables.values() if table.name == "exp"]
    current, ever = (connection.sql(f"SELECT count(*) FROM sv.{view}").fetchall()[0][0]
                     for view in (name, f"{name}_history"))
    assert current == snapshot.tables["sv.exp"].rows < ever


def test_spark_sql(tmp_path):
    """A glob of the files' names; what means something in one is escaped in the folder."""
    (tmp_path / "a*{b}").mkdir()
    snapshot = snapshot_of(tmp_path / "a*{b}" / "now", CREATE.replace("`o'\"r``d`", "t"), [])
    [file] = snapshot.tables["d.t"].files
    folder, _, part = file.rpartition("/")
    escaped = folder.replace("*", "\\*").replace("{b}", "\\{b\\}")
    assert snapshot.views("spark").splitlines()[1:] == [
        "CREATE DATABASE IF NOT EXISTS `d`;",
        "CREATE OR REPLACE VIEW `d`.`t` (`id` COMMENT 'it\\'s; -- \\\\ \"', `a\"b`, `c``d`) AS",
        "  SELECT `id`, make_dt_interval(0, 0, 0, CAST(`a\"b` / 1000000BD AS DECIMAL(18, 6))) AS `a\"b`, `c``d` "
        f"FROM parquet.`{escaped}/{part}`;"]


def test_what_cannot_be_a_view(tmp_path):
    snapshot = snapshot_of(tmp_path / "now", "CREATE TABLE d.t (id INT);\nCREATE TABLE d.T (id INT)", [])
    for dialect in ("duckdb", "spark"):
        with pytest.raises(applier.UsageError, match=r"takes d\.T and d\.t for one view"):
            snapshot.views(dialect)
    odd = snapshot_of(tmp_path / "odd", CREATE, [], NAME)
    with pytest.raises(applier.UsageError, match="spark takes no view of this name"):
        odd.views("spark")
    with pytest.raises(applier.UsageError, match="'sqlite' is not a dialect"):
        snapshot.views("sqlite")
