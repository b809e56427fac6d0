"""`applier.changes(…, complete=True)`: whole rows before and after each change, as a replica would have them."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest

import applier
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from applier.schema.ddl.ddl import parse_statement
from applier.schema.table_filter import EVERYTHING
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folded_changes import folded
from tests.support.real_server import Case

pytestmark = pytest.mark.slow


def ints(*values):
    return pa.array(values, pa.int32())


def table(log, sql):
    log.query(sql, "d")
    return parse_statement(sql, default_database="d", flavour=log.flavour)[0].definition


def write(log, *changes):
    """A transaction each."""
    for change in changes:
        with log.transaction():
            log.rows(change)


def rows(file, *columns, **options):
    """Change type, what is asked for of the row, and whether foreign keys made the change."""
    changes = applier.changes(file, "d.t", complete=True, **options).to_arrow()
    assert changes["_present"].null_count == len(changes)
    return [(row["_change_type"], *(row[name] for name in columns), *(["fk"] if row["_cascaded"] else []))
            for row in changes.to_pylist()]


@pytest.fixture
def log(tmp_path):
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        yield log


def closed(log):
    log.close()
    return str(log.path)


def test_partial_images_are_whole_rows(log):
    """DEF-R2, DEF-R1b: what an update leaves out stays, what an insert leaves out is its default; a row that gets
    another key is one row; of one batch, each step has the row as it was then."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, a INT DEFAULT 4, b INT)")
    write(log, RowChanges(t, after={"id": ints(1, 2)}),
          RowChanges(t, before={"id": ints(1, 1)}, after={"b": ints(5, 6)}),
          RowChanges(t, before={"id": ints(1)}, after={"id": ints(3)}),
          RowChanges(t, before={"id": ints(3, 2)}))
    assert rows(closed(log), "id", "a", "b") == [
        ("insert", 1, 4, None), ("insert", 2, 4, None),
        ("update_preimage", 1, 4, None), ("update_postimage", 1, 4, 5),
        ("update_preimage", 1, 4, 5), ("update_postimage", 1, 4, 6),
        ("update_preimage", 1, 4, 6), ("update_postimage", 3, 4, 6),
        ("delete", 3, 4, 6), ("delete", 2, 4, None)]


def test_rows_of_a_base_and_of_several_of_its_files(log, tmp_path):
    """A row that goes from the range of one file of the base to that of another is one update."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(3000))")
    ids = list(range(3000))
    write(log, RowChanges(t, after={"id": ints(*ids), "v": pa.array([b"%04d" % n * 700 for n in ids])}))
    place = f"binlog.000001:{log.position}"
    write(log, RowChanges(t, before={"id": ints(5)}, after={"id": ints(9000)}),
          RowChanges(t, before={"id": ints(2999)}))
    file = closed(log)
    base = applier.replay(file, tmp_path / "base", stop=place, target_file_size="1M").snapshot
    changed = applier.changes(file, "d.t", complete=True, base=base)
    found = [(row["_change_type"], row["id"], row["v"][:4]) for row in changed.to_arrow().to_pylist()]
    assert found == [("update_preimage", 5, "0005"), ("update_postimage", 9000, "0005"), ("delete", 2999, "2999")]


def test_a_change_that_cannot_be_applied_stops_after_those_before_it(log):
    """FIND: 1032, with the place of the change and its key."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": ints(1), "v": ints(1)}))
    place = log.position
    write(log, RowChanges(t, before={"id": ints(2)}, after={"v": ints(3)}))
    batches, found = iter(applier.changes(closed(log), "d.t", complete=True)), 0
    with pytest.raises(applier.ReplayStopped, match="can't find record: the row to update or "
                                                    "delete does not exist") as caught:
        for batch in batches:
            found += batch.num_rows
    assert found == 1
    assert (caught.value.mysql_errno, caught.value.position > place, caught.value.key) == (1032, True,
                                                                                          "PRIMARY (id) = 2")


def test_an_alter_that_converts_values_restates_the_rows(log):
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": ints(1, 2), "v": ints(7, 8)}))
    log.query("ALTER TABLE t ADD COLUMN w INT NOT NULL DEFAULT 5", "d")
    assert rows(closed(log), "id", "v", "w") == [
        ("insert", 1, 7, None), ("insert", 2, 8, None), ("alter", None, None, None),
        ("insert", 1, 7, 5), ("insert", 2, 8, 5)]


def test_restated_rows_are_told_apart_and_have_a_place(log):
    """Each by its number in the event group of the ALTER; it has number 0."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY)")
    write(log, RowChanges(t, after={"id": ints(1, 2)}))
    begin = log.position
    log.query("ALTER TABLE t ADD COLUMN w INT NOT NULL DEFAULT 5", "d")
    changes = applier.changes(closed(log), "d.t", complete=True).to_arrow().to_pylist()
    assert [(row["_pos"], row["_row"]) for row in changes[2:]] == [(begin, 0), (begin, 1), (begin, 2)]


def test_a_table_that_only_foreign_keys_change_is_one_of_those_that_change(log, tmp_path):
    """AP-FK: the log has no change of it; nor has its feed, where foreign keys are ignored."""
    parent = table(log, "CREATE TABLE p (id INT PRIMARY KEY)")
    child = table(log, "CREATE TABLE t (id INT PRIMARY KEY, up INT, KEY (up), FOREIGN KEY (up) REFERENCES t (id) ON "
                       "DELETE CASCADE, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE)")
    write(log, RowChanges(parent, after={"id": ints(1)}),
          RowChanges(child, after={"id": ints(10, 11), "p": ints(1, 1), "up": pa.array([None, 10], pa.int32())}))
    place = f"binlog.000001:{log.position}"
    write(log, RowChanges(parent, before={"id": ints(1)}))
    file = closed(log)
    base = applier.replay(file, tmp_path / "base", stop=place).snapshot.uri
    for ignored, tables in ((False, [("d", "p"), ("d", "t")]), (True, [("d", "p")])):
        options = ChangesOptions((file,), base=base, complete=True, ignore_foreign_keys=ignored)
        assert ChangeLog(options).tables(EVERYTHING) == tables
    assert rows(file, "id", base=base) == [("delete", 10, "fk"), ("delete", 11, "fk")]
    assert rows(file, "id", base=base, ignore_foreign_keys=True) == []


def test_rows_that_foreign_keys_change_are_marked(log):
    """AP-FK: in the place of the change that they follow; without them where they are to be ignored."""
    parent = table(log, "CREATE TABLE p (id INT PRIMARY KEY)")
    child = table(log, "CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE "
                       "ON UPDATE SET NULL)")
    write(log, RowChanges(parent, after={"id": ints(1, 2)}),
          RowChanges(child, after={"id": ints(10, 11, 12), "p": ints(1, 2, 2)}),
          RowChanges(parent, before={"id": ints(1)}),
          RowChanges(child, before={"id": ints(11)}),
          RowChanges(parent, before={"id": ints(2)}, after={"id": ints(3)}))
    file = closed(log)
    assert rows(file, "id", "p") == [
        ("insert", 10, 1), ("insert", 11, 2), ("insert", 12, 2), ("delete", 10, 1, "fk"), ("delete", 11, 2),
        ("update_preimage", 12, 2, "fk"), ("update_postimage", 12, None, "fk")]
    changes = applier.changes(file, "d.t", complete=True).to_arrow().to_pylist()
    versions = [change["_commit_version"] for change in changes]
    assert versions == sorted(versions) and len(set(versions)) == 4
    assert rows(file, "id", "p", ignore_foreign_keys=True)[3] == ("delete", 11, 2)


def test_documents_instead_of_diffs():
    """JD-TYPE, JD-*: each document as it was after the change."""
    changes = applier.changes(Case("json-partial-full").binlogs, "js.small", complete=True).to_arrow()
    after = [row for row in changes.to_pylist() if row["_change_type"] == "update_postimage"]
    documents = [value for row in after for name, value in row.items() if isinstance(value, str) and value[:1] in "[{"
                 and not name.startswith("_")]
    assert documents and all(json.loads(document) is not None for document in documents)


def test_a_table_without_a_key(log):
    """FIND: equal rows are one as good as another."""
    t = table(log, "CREATE TABLE t (a INT, b INT)")
    write(log, RowChanges(t, after={"a": ints(1, 1, 2), "b": ints(1, 1, 2)}),
          RowChanges(t, before={"a": ints(1), "b": ints(1)}, after={"a": ints(1), "b": ints(3)}),
          RowChanges(t, before={"a": ints(1), "b": ints(1)}))
    assert rows(closed(log), "a", "b") == [
        ("insert", 1, 1), ("insert", 1, 1), ("insert", 2, 2), ("update_preimage", 1, 1), ("update_postimage", 1, 3),
        ("delete", 1, 1)]


def test_the_demo_archive(tmp_path):
    """Its images are minimal, and it has JSON diffs: every table's changes from a base on add up to its rows."""
    middle = applier.locate(ARCHIVE, time=datetime(2026, 3, 14, 10, 30, tzinfo=UTC))[0]
    base = applier.replay(ARCHIVE, tmp_path / "base", stop=f"{middle.file}:{middle.start}").snapshot
    snapshot = applier.replay(ARCHIVE, tmp_path / "out").snapshot
    for name in snapshot.tables:
        changes = applier.changes(ARCHIVE, name, base=base, complete=True)
        assert folded(snapshot, name, changes.to_arrow(), complete=True, base=base), name


def test_system_versioned_tables_are_refused():
    with pytest.raises(applier.UnsupportedEvent, match="system-versioned"):
        applier.changes(Case("mariadb-system-versioned").binlogs, "sv.exp", complete=True)
