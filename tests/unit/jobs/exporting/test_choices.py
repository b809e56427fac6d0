"""What of a snapshot is exported, under which names, and what happens to what is there."""

import pytest

import applier
from applier import cli
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.real_server import Case, replayed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return applier.replay(ARCHIVE, tmp_path_factory.mktemp("out") / "now").snapshot


def names_in(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("format", ["sql", "tsv"])
def test_definitions_alone_and_rows_alone(format, snapshot, tmp_path):
    loads = {"sql": set(), "tsv": {"_load.sql"}}[format]
    assert applier.export(snapshot, tmp_path / "empty", format=format, rows=False) == ()
    assert names_in(tmp_path / "empty") == {"_schema.sql", "_load.sh"}
    assert "./_schema.sql" in (tmp_path / "empty" / "_load.sh").read_text()
    applier.export(snapshot, tmp_path / "rows", format=format, definitions=False)
    assert names_in(tmp_path / "rows") == {"shop", "_load.sh"} | loads
    assert "_schema.sql" not in (tmp_path / "rows" / "_load.sh").read_text()
    both = applier.import_dump(tmp_path / "empty", tmp_path / "imported").snapshot
    assert both.tables.keys() == snapshot.tables.keys() and not both.tables["shop.orders"].to_arrow().num_rows


def test_nothing_to_write(snapshot, tmp_path, capsys):
    argv = ["export", snapshot.uri, "--output", str(tmp_path / "out"), "--no-data", "--data-only"]
    assert cli.main(argv) == 2 and "is empty" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["sql", "tsv"])
def test_what_is_there_stays_or_is_replaced(format, snapshot, tmp_path):
    options = ["--format", format, "--if-not-exists", "--replace", "--tables", "shop.orders"]
    assert cli.main(["export", snapshot.uri, "--output", str(tmp_path / "out"), *options]) == 0
    assert "CREATE TABLE IF NOT EXISTS `shop`.`orders`" in (tmp_path / "out" / "_schema.sql").read_text()
    if format == "sql":
        [text] = [path.read_text() for path in (tmp_path / "out").rglob("0000.sql")]
        assert "REPLACE INTO `shop`.`orders` (" in text and "INSERT" not in text
        back = applier.import_dump(tmp_path / "out", tmp_path / "back").snapshot
        assert back.tables["shop.orders"].to_arrow().equals(snapshot.tables["shop.orders"].to_arrow())
    else:
        assert "0000.tsv' REPLACE INTO TABLE `shop`.`orders`" in (tmp_path / "out" / "_load.sql").read_text()


@pytest.mark.parametrize("format", ["sql", "tsv"])
def test_databases_get_other_names(format, tmp_path):
    """Also where foreign keys name them, and in what is imported again."""
    replayed(Case("fk-cascade-mysql"), tmp_path / "now")
    snapshot = applier.Snapshot(tmp_path / "now")
    [database] = {table.database for table in snapshot.tables.values()}
    applier.export(snapshot, tmp_path / "out", format=format, rewrite_db={database: "it's `new`"})
    quoted = "`it's ``new```"
    schema = (tmp_path / "out" / "_schema.sql").read_text()
    assert f"CREATE DATABASE IF NOT EXISTS {quoted}" in schema and f"REFERENCES {quoted}." in schema
    assert f"`{database}`" not in schema
    back = applier.import_dump(tmp_path / "out", tmp_path / "back").snapshot
    assert {name.partition(".")[2] for name in snapshot.tables} == {table.name for table in back.tables.values()}
    for name, table in snapshot.tables.items():
        other = back.tables[f"it's `new`.{name.partition('.')[2]}"]
        assert other.to_arrow().equals(table.to_arrow())


@pytest.mark.parametrize("format", ["sql", "tsv"])
@pytest.mark.parametrize("where, is_wanted", [
    ("status = 'PAID' and id > 100", lambda row: row["status"] == "paid" and row["id"] > 100),
    ("ID between 3 and 5", lambda row: 3 <= row["id"] <= 5), ("1", lambda row: True), ("null", lambda row: False)])
def test_rows_that_an_expression_chooses(where, is_wanted, format, snapshot, tmp_path):
    """As a server compares: by the collation of the column."""
    wanted = [row["id"] for row in snapshot.tables["shop.orders"].to_arrow().to_pylist() if is_wanted(row)]
    files = applier.export(snapshot, tmp_path / "out", format=format, tables="shop.orders", where=where)
    assert sum(file.rows for file in files) == len(wanted)
    back = applier.import_dump(tmp_path / "out", tmp_path / "back").snapshot
    assert back.tables["shop.orders"].to_arrow()["id"].to_pylist() == wanted


@pytest.mark.parametrize("where, said", [
    ("nothing = 1", "cannot evaluate --where"), ("id = ", "cannot evaluate --where"), ("status", "is not a condition")])
def test_expressions_that_choose_nothing_that_is_known(where, said, snapshot, tmp_path, capsys):
    argv = ["export", snapshot.uri, "--output", str(tmp_path / "out"), "--tables", "shop.orders", "--where", where]
    assert cli.main(argv) == 2 and said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_two_tables_do_not_become_one(tmp_path):
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        for database in ("a", "b"):
            log.query(f"CREATE DATABASE {database}")
            log.query("CREATE TABLE t (id INT PRIMARY KEY)", database)
    snapshot = applier.replay(tmp_path / "binlog.000001", tmp_path / "now").snapshot
    with pytest.raises(applier.UsageError, match=r"two tables of the snapshot would get the same name \(table b\.t\)"):
        applier.export(snapshot, tmp_path / "out", rewrite_db={"a": "b"})
    assert not (tmp_path / "out").exists()
