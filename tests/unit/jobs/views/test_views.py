"""Views over files of snapshots, changes and histories: DuckDB runs them, whatever names and comments are."""

import datetime
from decimal import Decimal

import pytest

import applier
import applier.binlog
from applier import cli
from applier.jobs.views.job import views
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
    with pytest.raises(applier.UsageError, match="`dialect` cannot be 'sqlite'"):
        snapshot.views("sqlite")


OF_LOG = CREATE.replace("d.", "").replace("UNSIGNED)", "UNSIGNED, seq INT COMMENT 'its ''place')")


@pytest.fixture
def log(tmp_path):
    """A folder with a log of one table, whose columns are named as nothing should be."""
    place = tmp_path / "k=1 it's a [*?]{place}"
    place.mkdir()
    table = "d.o'\"r`d"
    with applier.binlog.Writer(place / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(OF_LOG, "d")
        with log.transaction():
            log.insert(table, {"id": [1, 2], 'a"b': [datetime.timedelta(seconds=-1.5), None], "c`d": [2**64 - 1, 7],
                               "seq": [10, 20]})
        with log.transaction():
            log.update(table, {"id": [1]}, {"seq": [11]})
            log.delete(table, {"id": [2]})
    return place


def test_a_history_and_the_rows_as_of_each_commit(log, tmp_path, capsys):
    """They are those of the snapshot there."""
    duckdb = pytest.importorskip("duckdb")
    folder = str(log / "history")
    arguments = ["--binlogs", str(log / "binlog.000001"), "--table", NAME]
    assert cli.main(["history", *arguments, "--output", folder]) == 0
    [one, *_] = sorted(map(str, (log / "history").rglob("*.parquet")))
    assert cli.main(["views", one]) == 2 and "name the directory" in capsys.readouterr().err
    assert cli.main(["views", folder]) == 0
    connection = duckdb.connect()
    connection.execute(capsys.readouterr().out)
    made = applier.changes(log / "binlog.000001", NAME).to_arrow()
    commits = sorted(set(made["_commit_version"].to_pylist()))
    places = [("binlog.000001", commit & ((1 << 40) - 1)) for commit in commits]
    snapshots = applier.replay(log / "binlog.000001", tmp_path / "out", snapshot_at=places).snapshots
    for commit, snapshot in zip(commits, snapshots, strict=True):
        [table] = snapshot.tables.values()
        found = connection.sql(f"""SELECT * FROM d."o'""r`d_as_of"({commit}) ORDER BY id""")
        assert found.columns == table.schema.names
        assert found.fetchall() == [tuple(row.values()) for row in table.to_arrow().to_pylist()]
    assert len(commits) == 2 and connection.sql(f"""FROM d."o'""r`d_as_of"({commits[0] - 1})""").fetchall() == []
    comments = connection.sql("SELECT column_name, comment FROM duckdb_columns() WHERE comment IS NOT NULL")
    assert sorted(comments.fetchall()) == [("id", "it's; -- \\ \""), ("seq", "its 'place")]


def test_changes(log, tmp_path, capsys):
    """Of a directory, or of one of its files."""
    duckdb = pytest.importorskip("duckdb")
    binlogs = str(log / "binlog.000001")
    for format in ("parquet", "csv"):
        assert cli.main(["changes", "--binlogs", binlogs, "--format", format, "--output", str(log / format)]) == 0
    [file] = (log / "parquet").rglob("*.parquet")
    rows = applier.changes(binlogs, NAME).to_arrow().select(['a"b', "seq", "_change_type", "_present"]).to_pylist()
    for place in (log / "parquet", file):
        capsys.readouterr()
        assert cli.main(["views", str(place)]) == 0
        connection = duckdb.connect()
        connection.execute(capsys.readouterr().out)
        found = connection.sql("""SELECT "a""b", seq, _change_type, _present FROM d."o'""r`d_changes\"""").fetchall()
        assert sorted(found, key=repr) == sorted((tuple(row.values()) for row in rows), key=repr) and len(found) == 5
    with pytest.raises(applier.UsageError, match="files of csv"):
        "".join(views(str(log / "csv"), "duckdb"))
    with pytest.raises(applier.UsageError, match="of which table its rows are"):
        "".join(views(binlogs, "duckdb"))
    with pytest.raises(applier.SnapshotError):
        "".join(views(str(log), "duckdb"))
