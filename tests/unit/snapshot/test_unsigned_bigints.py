"""--unsigned-bigint: what files have, and that everything that reads them has the same rows."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
import applier.binlog
from applier import cli
from applier.jobs.importing import sorted_rows
from tests.support.real_server import Case, Mark, replayed

CREATE = ("CREATE TABLE d.t (id BIGINT UNSIGNED PRIMARY KEY, n BIGINT UNSIGNED, b BIT(64), d DECIMAL(20,0), "
          "s BIGINT)")
MOST = 2**63 - 1


@pytest.fixture
def dump(tmp_path):
    def write(rows):
        values = ", ".join(f"({','.join('NULL' if value is None else str(value) for value in row)})" for row in rows)
        (tmp_path / "d.sql").write_text(f"CREATE DATABASE d;\n{CREATE};\nINSERT INTO d.t VALUES {values};\n")
        return tmp_path / "d.sql"

    return write


@pytest.mark.parametrize("choice, kind", [
    ("decimal", pa.decimal128(20, 0)), ("long", pa.int64()), ("uint64", pa.uint64())])
def test_files_have_the_type_that_was_asked_for(dump, tmp_path, choice, kind):
    """BIGINT UNSIGNED alone; rows are the same to all that reads them."""
    rows = [(0, None, 5, 7, -1), (3, MOST, 2**64 - 1, 9, 1), (MOST, 0, 0, 0, 0)]
    made = applier.import_dump(dump(rows), tmp_path / "made", flavour="mysql", unsigned_bigint=choice).snapshot
    exact = applier.import_dump(dump(rows), tmp_path / "exact", flavour="mysql").snapshot
    table = made.tables["d.t"]
    [file] = table.files
    types = dict(zip(pq.read_schema(file).names, pq.read_schema(file).types, strict=True))
    assert types == {"id": kind, "n": kind, "b": pa.decimal128(20, 0), "d": pa.decimal128(20, 0), "s": pa.int64()}
    assert table.schema.types == pq.read_schema(file).types and made.unsigned_bigint == choice
    assert [row["id"] for row in table.to_arrow().to_pylist()] == [0, 3, MOST]
    assert made.verify().damaged == () and applier.diff(exact, made).same
    for name, snapshot in (("a", made), ("b", exact)):
        applier.export(snapshot, tmp_path / name)
    assert (tmp_path / "a/d/t/0000.sql").read_bytes() == (tmp_path / "b/d/t/0000.sql").read_bytes()


def test_a_value_that_does_not_fit(dump, tmp_path, capsys):
    """It stops the run, and says which one; uint64 has it."""
    rows = [(1, MOST, 0, 0, 0), (2, MOST + 1, 0, 0, 0)]
    with pytest.raises(applier.ReplayStopped, match="does not fit into a signed BIGINT") as stopped:
        applier.import_dump(dump(rows), tmp_path / "out", flavour="mysql", unsigned_bigint="long")
    assert (stopped.value.table, stopped.value.key) == ("d.t", "id = 2") and "of column n" in stopped.value.message
    assert not (tmp_path / "out").exists()
    assert cli.main(["import", str(dump(rows)), "--flavour", "mysql", "--unsigned-bigint", "uint64", "--output",
                     str(tmp_path / "out")]) == 0
    assert applier.Snapshot(tmp_path / "out").tables["d.t"].to_arrow()["n"].to_pylist() == [MOST, MOST + 1]


def test_rows_of_a_dump_in_any_order(dump, tmp_path, monkeypatch):
    """Their files are read again, and merged."""
    monkeypatch.setitem(sorted_rows.SortedRows.__init__.__kwdefaults__, "chunk_bytes", 1)
    rows = [(number, number, 0, 0, 0) for number in (5, 6, 1, 2, 9, 3)]
    path = dump([])
    path.write_text(path.read_text().rpartition("INSERT")[0] + "".join(
        f"INSERT INTO d.t VALUES {row};\n" for row in rows))
    made = applier.import_dump(path, tmp_path / "out", flavour="mysql", unsigned_bigint="long").snapshot
    assert made.tables["d.t"].to_arrow()["id"].to_pylist() == [1, 2, 3, 5, 6, 9] and made.verify().damaged == ()


@pytest.mark.parametrize("choice, kind", [("long", pa.int64()), ("uint64", pa.uint64())])
def test_increments_have_what_their_base_has(tmp_path, choice, kind):
    """A recorded case in two steps; and no other choice on top of it."""
    case = Case("generated-columns-mysql")
    [log] = case.binlogs
    mark = Mark("middle", log.name, log.stat().st_size * 2 // 3, "")
    replayed(case, tmp_path / "base", mark=mark, unsigned_bigint=choice)
    replayed(case, tmp_path / "now", base=str(tmp_path / "base"))
    replayed(case, tmp_path / "exact")
    now, exact = applier.Snapshot(tmp_path / "now"), applier.Snapshot(tmp_path / "exact")
    assert now.unsigned_bigint == choice and applier.diff(exact, now).same and now.verify().damaged == ()
    wide = {(name, column) for name, table in exact.tables.items() for column in table.schema.names
            if table.schema.field(column).type != now.tables[name].schema.field(column).type}
    assert wide and all(now.tables[name].schema.field(column).type == kind for name, column in wide)
    for table in now.tables.values():
        assert all(pq.read_schema(file).types == table.schema.types for file in table.files)
    with pytest.raises(applier.UsageError, match=f"the base has BIGINT UNSIGNED as {choice}"):
        replayed(case, tmp_path / "other", base=str(tmp_path / "base"), unsigned_bigint="decimal")


def test_files_of_a_row_each(dump, tmp_path):
    """However small files are asked for."""
    made = applier.import_dump(dump([(1, 1, 1, 1, 1), (2, 2, 2, 2, 2)]), tmp_path / "out", flavour="mysql",
                               unsigned_bigint="long", target_file_size=1).snapshot
    assert len(made.tables["d.t"].files) == 2 and made.verify().damaged == ()


def test_changes(tmp_path):
    """What does not fit is named with its place in the log."""
    path = tmp_path / "binlog.000001"
    with applier.binlog.Writer(path) as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.t (id BIGINT UNSIGNED PRIMARY KEY, n BIGINT UNSIGNED)")
        for number in (1, 2):
            there = log.position
            with log.transaction():
                log.insert("d.t", {"id": [number], "n": [MOST - 1 + number]})
    for choice, kind in (("decimal", pa.decimal128(20, 0)), ("long", pa.int64()), ("uint64", pa.uint64())):
        changes = applier.changes(path, "d.t", stop=("binlog.000001", there[1]), unsigned_bigint=choice).to_arrow()
        assert changes.schema.types[:2] == [kind, kind] and changes["n"].to_pylist() == [MOST]
    assert applier.changes(path, "d.t", unsigned_bigint="uint64").to_arrow()["n"].to_pylist() == [MOST, MOST + 1]
    with pytest.raises(applier.ReplayStopped, match="does not fit") as stopped:
        applier.changes(path, "d.t", unsigned_bigint="long").to_arrow()
    assert (stopped.value.table, stopped.value.key, stopped.value.file) == ("d.t", "id = 2", "binlog.000001")
    assert stopped.value.position > there[1] and stopped.value.row == 0
