"""`applier.history`: versions of rows, when they begin and end, and by what."""

import gc
import itertools
from collections import Counter
from datetime import UTC, datetime
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import applier
import applier.binlog
from applier import cli
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit import UnitApplier
from applier.plan import units
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folded_changes import rows_of
from tests.support.real_server import Case

pytestmark = pytest.mark.slow

OF_VERSIONS = ["_valid_from", "_valid_to", "_from_seq", "_to_seq", "_from_change", "_to_change", "_change_type",
               "_ended_by", "_from_gtid", "_to_gtid"]


def ints(*values):
    return pa.array(values, pa.int32())


@pytest.fixture
def log(tmp_path):
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        yield log


def table(log, sql):
    log.query(sql, "d")
    return parse_statement(sql, default_database="d", flavour=log.flavour)[0].definition


def write(log, *changes):
    with log.transaction():
        for change in changes:
            log.rows(change)


def versions(log, *columns, **options):
    log.close()
    rows = applier.history(str(log.path), "d.t", **options).to_arrow().to_pylist()
    return [(*(row[name] for name in columns), row["_change_type"], row["_ended_by"]) for row in rows]


def test_what_was_read_is_not_in_memory_any_more(log):
    """Without Python's collector, which seldom comes where there are few objects, however large they are."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY)")
    write(log, RowChanges(t, after={"id": ints(1, 2)}), RowChanges(t, before={"id": ints(2)}))
    log.close()
    gc.collect()
    gc.disable()
    try:
        for read in (applier.history, partial(applier.changes, complete=True)):
            read(str(log.path), "d.t").to_arrow()
            assert not [found for found in gc.get_objects() if isinstance(found, TableWalk | UnitApplier)], read
    finally:
        gc.enable()


def test_what_begins_and_ends_a_version(log):
    """By key, and of each row in the order of time; an update of the key is one row's next version, at its new key."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": ints(3, 1, 2), "v": ints(30, 10, 20)}))
    write(log, RowChanges(t, before={"id": ints(1)}, after={"v": ints(11)}))
    write(log, RowChanges(t, before={"id": ints(1)}, after={"id": ints(9)}))
    write(log, RowChanges(t, before={"id": ints(2)}))
    write(log, RowChanges(t, after={"id": ints(2), "v": ints(22)}))
    assert versions(log, "id", "v") == [
        (1, 10, "insert", "update"), (1, 11, "update", "update"), (2, 20, "insert", "delete"), (2, 22, "insert", None),
        (3, 30, "insert", None), (9, 11, "update", None)]


def test_keys_as_far_apart_as_they_can_be(log):
    """Versions are in key order, and those of a row in the order of time, whatever the keys are."""
    least, most = -(1 << 63), (1 << 63) - 1
    t = table(log, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": pa.array([most, 0, least]), "v": ints(1, 2, 3)}))
    write(log, RowChanges(t, before={"id": pa.array([most, least])}, after={"v": ints(4, 5)}))
    assert versions(log, "id", "v") == [
        (least, 3, "insert", "update"), (least, 5, "update", None), (0, 2, "insert", None),
        (most, 1, "insert", "update"), (most, 4, "update", None)]


@pytest.mark.parametrize("statements", [False, True])
def test_more_versions_than_there_was_room_for(log, tmp_path, statements):
    """Each ends where the next one of its row begins: of rows of a base, and of those that came later."""
    n = 9000
    t, ids = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)"), ints(*range(n))
    write(log, RowChanges(t, after={"id": ids, "v": ids}))
    place = f"binlog.000001:{log.position}"
    write(log, RowChanges(t, after={"id": pc.add(ids, n), "v": ids}))
    both, later = ints(*range(2 * n)), ints(*range(n, 2 * n))
    write(log, RowChanges(t, before={"id": both}, after={"v": both}))
    write(log, RowChanges(t, before={"id": later}))
    log.close()
    base = applier.replay(str(log.path), tmp_path / "base", stop=place).snapshot
    found = applier.history(str(log.path), "d.t", base=base, statements=statements).to_arrow()
    rows = found.select(["id", "v", "_change_type", "_ended_by"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        version for id in range(2 * n) for version in (
            (id, id % n, "base" if id < n else "insert", "update"),
            (id, id, "update", None if id < n else "delete"))]
    begins, ends = (found[name].to_pylist() for name in ("_from_seq", "_to_seq"))
    assert begins[1::2] == ends[::2] and len({*begins, *ends} - {None}) == 4



def test_when_a_version_is_valid(log):
    """GRP-1: from the transaction that made it to the one that ended it; never, if they are the same."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": ints(1), "v": ints(1)}),
          RowChanges(t, before={"id": ints(1)}, after={"v": ints(2)}))
    middle = log.position
    write(log, RowChanges(t, before={"id": ints(1)}, after={"v": ints(3)}))
    log.close()
    found = applier.history(str(log.path), "d.t").to_arrow()
    assert found.column_names == ["id", "v", *OF_VERSIONS]
    a, b, c = found.to_pylist()
    assert a["_from_seq"] == a["_to_seq"] == b["_from_seq"] == 1 << 40 | middle
    assert b["_to_seq"] == c["_from_seq"] == 1 << 40 | log.position and c["_to_seq"] is None
    assert (b["_from_gtid"], b["_to_gtid"], c["_to_gtid"]) == (a["_from_gtid"], c["_from_gtid"], None)
    assert b["_valid_to"] == c["_valid_from"] and c["_valid_to"] is None


def test_ddl(log):
    """Rows continue as new ones of another version of the table; TRUNCATE ends them."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY)")
    write(log, RowChanges(t, after={"id": ints(1, 2)}))
    log.query("ALTER TABLE t ADD COLUMN w INT NOT NULL DEFAULT 5", "d")
    log.query("TRUNCATE TABLE t", "d")
    assert versions(log, "id", "w") == [
        (1, None, "insert", "alter"), (1, 5, "alter", "truncate"), (2, None, "insert", "alter"),
        (2, 5, "alter", "truncate")]


def test_rows_that_foreign_keys_end(log):
    """AP-FK"""
    parent = table(log, "CREATE TABLE p (id INT PRIMARY KEY)")
    child = table(log, "CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE "
                       "ON UPDATE SET NULL)")
    write(log, RowChanges(parent, after={"id": ints(1, 2)}))
    write(log, RowChanges(child, after={"id": ints(10, 11), "p": ints(1, 2)}))
    write(log, RowChanges(parent, before={"id": ints(1)}))
    write(log, RowChanges(parent, before={"id": ints(2)}, after={"id": ints(3)}))
    assert versions(log, "id", "p") == [
        (10, 1, "insert", "delete"), (11, 2, "insert", "update"), (11, None, "update", None)]


def test_from_a_base(tmp_path):
    """Its rows are the first versions; the rest is as in the whole archive's history."""
    middle = applier.locate(ARCHIVE, time=datetime(2026, 3, 14, 10, 30, tzinfo=UTC))[0]
    base = applier.replay(ARCHIVE, tmp_path / "base", stop=f"{middle.file}:{middle.start}").snapshot
    now = applier.replay(ARCHIVE, tmp_path / "now").snapshot
    begun = int(middle.file[-6:]) << 40 | base.position.offset
    for name, held in base.tables.items():
        whole, after = (applier.history(ARCHIVE, name, base=from_).to_arrow() for from_ in (None, base))
        columns = held.schema.names
        first = after.filter(pc.field("_change_type") == "base")
        assert rows_of(first, columns) == rows_of(held.to_arrow(), columns), name
        assert set(first["_from_seq"].to_pylist()) <= {begun} and first["_valid_from"].null_count == len(first)
        later = [row for row in whole.to_pylist() if row["_from_seq"] > begun]
        assert [row for row in after.to_pylist() if row["_change_type"] != "base"] == later
        still = after.filter(pc.field("_to_seq").is_null())
        assert rows_of(still, columns) == rows_of(now.tables[name].to_arrow(), columns), name


def test_a_table_that_is_made_anew_on_a_base_of_several_files(log, tmp_path):
    """All versions of one key are beside each other, though ranges of keys are others afterwards."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(3000))")
    ids = list(range(2000))
    write(log, RowChanges(t, after={"id": ints(*ids), "v": pa.array([b"%04d" % n * 700 for n in ids])}))
    place = f"binlog.000001:{log.position}"
    log.query("TRUNCATE TABLE t", "d")
    write(log, RowChanges(t, after={"id": ints(5, 1999), "v": pa.array([b"a", b"b"])}))
    log.close()
    base = applier.replay(str(log.path), tmp_path / "base", stop=place, target_file_size="1M").snapshot
    found = applier.history(str(log.path), "d.t", columns=["id"], base=base).to_arrow()
    assert found["id"].to_pylist() == sorted([*ids, 5, 1999])
    assert found.filter(pc.field("id") == 1999)["_change_type"].to_pylist() == ["base", "insert"]


def test_a_base_of_another_server(tmp_path):
    """AP-SNAP: it begins where the archive has its transactions."""
    begun = []
    for number, name in enumerate(("binlog.000009", "other.000002")):
        with BinlogWriter(tmp_path / name) as log:
            log.query("CREATE DATABASE d")
            t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
            write(log, RowChanges(t, after={"id": ints(1), "v": ints(1)}))
            begun.append(log.position)
            if number:
                write(log, RowChanges(t, before={"id": ints(1)}, after={"v": ints(2)}))
    base = applier.replay(tmp_path / "binlog.000009", tmp_path / "base").snapshot
    first, last = applier.history(tmp_path / "other.000002", "d.t", base=base).to_arrow().to_pylist()
    assert (first["_from_seq"], first["_to_seq"]) == (2 << 40 | begun[1], last["_from_seq"])


def test_numbers_that_the_log_does_not_have(log, tmp_path):
    """AUTO_INCREMENT of a column that only the replica has."""
    t = parse_statement("CREATE TABLE d.t (id INT PRIMARY KEY)")[0].definition
    write(log, RowChanges(t, after={"id": ints(1)}))
    log.close()
    schema = tmp_path / "schema.sql"
    schema.write_text("CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL AUTO_INCREMENT, KEY (n));\n")
    for read in (applier.history, partial(applier.changes, complete=True)):
        with pytest.raises(applier.UnsupportedEvent, match="numbered by a column that the log does not have"):
            read(str(log.path), "d.t", schema=schema).to_arrow()


def test_columns_and_names(log):
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT, _to_seq INT)")
    write(log, RowChanges(t, after={"id": ints(1), "v": ints(2)}))
    log.close()
    assert applier.history(str(log.path), "d.t", columns=["v"]).schema.names == ["v", *OF_VERSIONS]
    with pytest.raises(applier.UsageError, match="column _to_seq has the name of one of the history's own columns"):
        applier.history(str(log.path), "d.t")


def test_what_is_refused():
    with pytest.raises(applier.UnsupportedEvent, match="system-versioned"):
        applier.history(Case("mariadb-system-versioned").binlogs, "sv.exp")


def test_unsigned_bigints(tmp_path):
    """As for changes: other types where they are asked for, and a value that does not fit is an error with its key."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (id INT PRIMARY KEY, big BIGINT UNSIGNED)", "d")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2], "big": [2**63 - 1, None]})
        middle = log.position[1]
        with log.transaction():
            log.update("d.t", {"id": [1]}, {"big": [2**64 - 1]})
    binlogs = tmp_path / "binlog.000001"
    for choice, kind in (("decimal", pa.decimal128(20, 0)), ("uint64", pa.uint64())):
        history = applier.history(binlogs, "d.t", unsigned_bigint=choice)
        assert history.schema.field("big").type == kind and history.to_arrow()["big"].to_pylist() == [
            2**63 - 1, 2**64 - 1, None]
    before = applier.history(binlogs, "d.t", unsigned_bigint="long", stop=("binlog.000001", middle)).to_arrow()
    assert before.schema.field("big").type == pa.int64() and before["big"].to_pylist() == [2**63 - 1, None]
    with pytest.raises(applier.ReplayStopped, match="does not fit into a signed BIGINT") as stopped:
        applier.history(binlogs, "d.t", unsigned_bigint="long").to_arrow()
    assert (stopped.value.table, stopped.value.key) == ("d.t", "id = 1")
    out = str(tmp_path / "h")
    assert cli.main(["history", "--binlogs", str(binlogs), "--table", "d.t", "--unsigned-bigint", "uint64", "--output",
                     out]) == 0
    assert {pq.read_schema(file).field("big").type for file in (tmp_path / "h").rglob("*.parquet")} == {pa.uint64()}


@pytest.mark.parametrize("name", ["mariadb-row-image-full", "row-metadata-full", "groups-mariadb"])
def test_the_statements_that_began_versions(name):
    """They are those of the changes, also where the log has none; of a base's rows and of DDL it knows none."""
    case, table = Case(name), {"row-metadata-full": "md.t", "groups-mariadb": "g.al"}.get(name, "img.auto_inc")
    options = {"statements": True, "columns": None}
    changes = applier.changes(case.binlogs, table, complete=True, **options).to_arrow().to_pylist()
    history = applier.history(case.binlogs, table, **options).to_arrow()
    assert history.schema.names[-1] == "_statement"
    began = [(row["_from_seq"], row["_statement"]) for row in history.to_pylist()
             if row["_change_type"] in ("insert", "update")]
    told = [(row["_commit_version"], row["_statement"]) for row in changes
            if row["_change_type"] in ("insert", "update_postimage")]
    assert began and set(began) <= set(told)


def test_files_by_ranges_of_the_key(log, tmp_path, monkeypatch):
    """Each file is in key order, and those of one kind have ranges of their own; rows that an update moves to
    another range have their versions in both."""
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1)
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    ids = [number * 37 % 1000 for number in range(1000)]
    write(log, RowChanges(t, after={"id": ints(*ids), "v": ints(*ids)}))
    write(log, RowChanges(t, before={"id": ints(*range(100)), "v": ints(*range(100))},
                          after={"id": ints(*range(1500, 1400, -1)), "v": ints(*range(100))}))
    write(log, RowChanges(t, before={"id": ints(*range(500, 900)), "v": ints(*range(500, 900))}))
    log.close()
    history = applier.history(str(log.path), "d.t")
    made = history.write(tmp_path / "out")
    whole, parts = history.to_arrow(), []
    for is_open in (False, True):
        files = [pq.read_table(tmp_path / "out" / file.file) for file in made.files if file.is_open is is_open]
        assert [file.num_rows for file in files] == [file.rows for file in made.files if file.is_open is is_open]
        found = [file["id"].to_pylist() for file in files]
        assert len(found) > 2 and all(ids == sorted(ids) for ids in found)
        ends = sorted((ids[0], ids[-1]) for ids in found if ids)
        assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))
        assert all((file["_to_seq"].null_count == file.num_rows) is is_open for file in files if file.num_rows)
        parts += files
    names = ["id", "v", "_from_seq", "_to_seq"]
    assert made.rows == 1100 and Counter(rows_of(pa.concat_tables(parts), names)) == Counter(rows_of(whole, names))
    assert made.position == str(applier.replay(str(log.path), tmp_path / "now").snapshot.position)


def test_files_of_a_table_without_rows(log, tmp_path):
    """They are there, with its columns."""
    table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    log.close()
    made = applier.history(str(log.path), "d.t").write(tmp_path / "out")
    assert [(file.rows, file.is_open) for file in made.files] == [(0, False), (0, True)]
    assert pq.read_table(tmp_path / "out" / made.files[0].file).column_names == ["id", "v", *OF_VERSIONS]
