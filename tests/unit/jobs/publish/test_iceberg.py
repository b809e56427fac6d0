"""`applier publish --iceberg`: what a catalog has after snapshots that follow each other."""

import os
import re
import shutil
import sys
import time
from dataclasses import replace
from unittest import mock

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import applier
from applier import cli
from applier.jobs.publish.iceberg import commits as own
from applier.jobs.publish.iceberg.publication import sort_order
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot.table_entry import TableEntry
from tests.support import iceberg_readers as readers
from tests.support.published import changes


@pytest.fixture
def publish(tmp_path, replayed):
    return lambda: published(tmp_path, replayed())


def published(folder, number, **options):
    return applier.publish(folder / f"out{number}", iceberg=f"sqlite:///{folder}/catalog.db", **options)


def rows(folder, name):
    return readers.cells(readers.with_pyiceberg(readers.catalog(folder).load_table(tuple(name.split(".")))))


def test_only_what_changed_is_replaced(tmp_path, log, publish):
    assert changes(publish()) == {"d.t": ("created", 1, 0), "d.u": ("created", 0, 0)}
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    changed = publish()
    assert changes(changed) == {"d.t": ("unchanged", 0, 0), "d.u": ("changed", 1, 0)}
    assert {table.renamed_from for table in changed.tables} == {None}
    assert changes(published(tmp_path, 1)) == {"d.t": ("unchanged", 0, 0), "d.u": ("unchanged", 0, 0)}
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["c"]})
    assert changes(publish()) == {"d.t": ("changed", 1, 1), "d.u": ("unchanged", 0, 0)}
    assert rows(tmp_path, "d.t") == ["(1, 'c')", "(2, 'b')"]


def test_columns_keep_what_they_are(tmp_path, log, publish):
    """Over names and places: the rows of earlier snapshots are read with the names of then."""
    publish()
    log.query("ALTER TABLE t RENAME COLUMN v TO w, ADD COLUMN n INT FIRST, MODIFY id BIGINT COMMENT 'who'", "d")
    log.query("RENAME TABLE t TO moved", "d")
    [table] = [table for table in publish().tables if table.renamed_from]
    assert (table.name, table.renamed_from, table.columns_changed) == ("d.moved", "d.t", True)
    made = readers.catalog(tmp_path).load_table(("d", "moved"))
    assert [(field.field_id, field.name, str(field.field_type), field.required) for field in made.schema().fields] == [
        (4, "n", "int", False), (1, "id", "long", True), (2, "w", "string", False)]
    assert made.schema().find_field("id").doc == "who" and made.schema().identifier_field_names() == {"id"}
    first = made.scan(snapshot_id=made.history()[0].snapshot_id).to_arrow()
    assert readers.cells(first) == ["(1, 'a')", "(2, 'b')"]
    assert rows(tmp_path, "d.moved") == ["(None, 1, 'a')", "(None, 2, 'b')"]


def test_a_clock_that_was_put_back(tmp_path, log, publish, monkeypatch):
    """No time in metadata is before one that was written earlier: Java's readers (TableMetadata) refuse them."""
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time", lambda now=time.time: now() + 86400)
        publish()
    with log.transaction():
        log.delete("d.t", {"id": [1], "v": ["a"]})
    publish()
    log.query("RENAME TABLE t TO x", "d")
    publish()
    made = readers.catalog(tmp_path).load_table(("d", "x")).metadata
    snapshots = [entry.timestamp_ms for entry in made.snapshot_log]
    written = [*(entry.timestamp_ms for entry in made.metadata_log), made.last_updated_ms]
    assert len(snapshots) == 2 and snapshots == sorted(snapshots) and snapshots[-1] <= made.last_updated_ms
    assert len(written) == 3 and written == sorted(written)


def test_names_are_swapped_and_made_anew(tmp_path, log, publish):
    """At once: a name goes from one table to the other, and a table that is made again is another one."""
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    publish()
    log.query("RENAME TABLE t TO x, u TO t, x TO u", "d")
    assert {(table.renamed_from, table.name) for table in publish().tables} == {("d.u", "d.t"), ("d.t", "d.u")}
    assert (rows(tmp_path, "d.t"), rows(tmp_path, "d.u")) == (["(7,)"], ["(1, 'a')", "(2, 'b')"])
    uuid = readers.catalog(tmp_path).load_table(("d", "t")).metadata.table_uuid
    log.query("DROP TABLE t", "d")
    log.query("CREATE TABLE t (id INT PRIMARY KEY)", "d")
    assert [(table.name, table.change) for table in publish().tables] == [
        ("d.t", "created"), ("d.u", "unchanged"), ("d.t", "dropped")]
    assert readers.catalog(tmp_path).load_table(("d", "t")).metadata.table_uuid != uuid
    log.query("DROP TABLE u", "d")
    assert changes(publish())["d.u"] == ("dropped", 0, 0) and readers.names(tmp_path) == {"d.t"}


def test_names_with_any_characters(tmp_path, log, publish):
    """Names that pyiceberg would divide, or that mean something in paths: each table has its own rows, place and state,
    and changes with later publications."""
    names = [(database, table) for database in ("a.b", "a", "..", "a#x", 'q"q') for table in ("t", "b.t", "c?")]
    for number, (database, table) in enumerate(names):
        if table == "t":
            log.query(f"CREATE DATABASE `{database}`")
        log.query(f"CREATE TABLE `{table}` (id INT PRIMARY KEY)", database)
        if (database, table) != ("a", "b.t"):  # the log's writer takes it for `a.b`.`t`
            with log.transaction():
                log.insert(f"{database}.{table}", {"id": [number]})
    publish()
    for number, (database, table) in enumerate(names):
        log.query(f"ALTER TABLE `{table}` ADD c{number} INT", database)
    assert {change for change, *_ in changes(publish()).values()} == {"changed", "unchanged"}
    found = readers.catalog(tmp_path)
    made = [found.load_table(name) for name in names]
    for number, (name, table) in enumerate(zip(names, made, strict=True)):
        assert [field.name for field in table.schema().fields] == ["id", f"c{number}"]
        rows = [] if name == ("a", "b.t") else [f"({number}, None)"]
        assert [readers.cells(reader(table)) for reader in readers.READERS] == [rows] * len(readers.READERS), name
    assert len({table.location() for table in made}) == len(names)
    state = applier.published(iceberg=f"sqlite:///{tmp_path}/catalog.db")
    assert not state.notes and {table.name for table in state.tables} >= {"...c?", "a.b.b.t"}
    log.query("DROP DATABASE `a.b`", "d")
    assert [table.change for table in publish().tables].count("dropped") == 3


def test_where_it_stands(tmp_path, log, publish):
    """In the namespace, and of each table where it last changed: in its properties and its snapshot's summary."""
    first = publish()
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    second = publish()
    catalog = readers.catalog(tmp_path)
    assert catalog.load_namespace_properties("d")["mysql.position"] == second.position != first.position
    for name, position in (("t", first.position), ("u", second.position)):
        table = catalog.load_table(("d", name))
        assert table.properties["mysql.position"] == position
        assert table.current_snapshot().summary["mysql.position"] == position


def test_all_tables_or_none(tmp_path, log, publish):
    """A table that moves between the look at the catalog and the commit: nothing of the publication is there."""
    publish()
    with log.transaction():
        log.insert("d.t", {"id": [3], "v": ["c"]})
        log.insert("d.u", {"id": [7]})
    commit = own.commit

    def after_another(*arguments):
        with readers.catalog(tmp_path).load_table(("d", "u")).transaction() as transaction:
            transaction.set_properties(somebody="else")
        return commit(*arguments)

    with mock.patch("applier.jobs.publish.iceberg.publication.commit", after_another), \
            pytest.raises(applier.SnapshotError, match=r"the catalog has changed meanwhile: d\.u"):
        publish()
    assert (rows(tmp_path, "d.t"), rows(tmp_path, "d.u")) == (["(1, 'a')", "(2, 'b')"], [])
    assert changes(published(tmp_path, 1)) == {"d.t": ("changed", 1, 1), "d.u": ("changed", 1, 0)}
    assert (rows(tmp_path, "d.t"), rows(tmp_path, "d.u")) == (["(1, 'a')", "(2, 'b')", "(3, 'c')"], ["(7,)"])


def test_what_somebody_else_did_is_not_undone(tmp_path, publish):
    publish()
    table = readers.catalog(tmp_path).load_table(("d", "t"))
    table.append(pa.table({"id": pa.array([9], pa.int32()), "v": ["z"]}, schema=table.schema().as_arrow()))
    with pytest.raises(applier.SnapshotError, match=r"another writer committed to this table of the catalog.*d\.t"):
        published(tmp_path, 0)


def test_a_table_of_the_same_name_that_was_not_published(tmp_path, publish):
    catalog = SqlCatalog("default", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"{tmp_path}/warehouse")
    catalog.create_namespace("d")
    catalog.create_table(("d", "t"), pa.schema({"x": pa.int32()}))
    with pytest.raises(applier.SnapshotError, match=r"that `applier publish` did not create.*d\.t"):
        publish()
    assert readers.names(tmp_path) == {"d.t"}
    assert [table.name for table in published(tmp_path, 0, ignore_tables="d.t").tables] == ["d.u"]


def test_a_base_may_go_where_files_were_carried_over(tmp_path, log, publish):
    """A file that is no more where the catalog has it is registered where the snapshot has it."""
    publish()
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    publish()
    shutil.rmtree(tmp_path / "out0")
    assert changes(published(tmp_path, 1)) == {"d.t": ("changed", 1, 1), "d.u": ("unchanged", 0, 0)}
    assert rows(tmp_path, "d.t") == ["(1, 'a')", "(2, 'b')"]


def test_the_command(tmp_path, publish, capsys):
    publish()
    place = f"sqlite:///{tmp_path}/catalog.db"
    assert cli.main(["publish", str(tmp_path / "out0"), "--iceberg", place]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1].startswith(f"{place} stands at binlog.000001:") and "all tables at once" in said[-1]
    assert any(line.split()[:2] == ["d.t", "unchanged"] for line in said)
    for given, words in ((["--iceberg", "postgresql://me:secret@host/c"], "the catalog's address contains a password"),
                         (["--iceberg", "nobody's"], "the catalog cannot be opened"),
                         (["--iceberg", "sqlite:////nowhere/at/all.db"], "the catalog cannot be opened")):
        assert cli.main(["publish", str(tmp_path / "out0"), *given]) == 2
        said = capsys.readouterr().err
        assert words in " ".join(said.split()) and "secret" not in said


def test_a_catalog_that_has_lost_files(tmp_path, publish):
    """Nothing is published, and the error says which file."""
    publish()
    lost = readers.catalog(tmp_path).load_table(("d", "t")).metadata_location
    os.unlink(lost.removeprefix("file://"))
    with pytest.raises(applier.SnapshotError, match=f"the catalog returned an error:.*{os.path.basename(lost)}"):
        published(tmp_path, 0)


def test_without_pyiceberg(publish):
    with mock.patch.dict(sys.modules, {"pyiceberg": None}), \
            pytest.raises(applier.UsageError, match=r"it takes pyiceberg.*mysql-binlog-applier\[lake\]"):
        publish()


def test_what_iceberg_lacks(tmp_path):
    (tmp_path / "s.sql").write_text("CREATE TABLE d.t (id BIGINT UNSIGNED PRIMARY KEY)")
    made = applier.import_dump(tmp_path / "s.sql", tmp_path / "out", unsigned_bigint="uint64").snapshot
    with pytest.raises(applier.UsageError, match=r"no unsigned integers, and column id is unsigned"):
        applier.publish(made, iceberg=f"sqlite:///{tmp_path}/catalog.db")


DAMAGES = {
    "cut": lambda data: data[:len(data) // 2],
    "empty": lambda data: b"",
    "brackets": lambda data: b"[" * 200_000,
    "other bytes": lambda data: b"\xff\x00" + data[2:],
    "an object": lambda data: b"{}",
    "a header": lambda data: data.replace(b'"type"', b'"9ype"'),
    "sizes": lambda data: data[:6] + b"\xff" * 90,
}


@pytest.mark.parametrize("kind", ["*.metadata.json", "snap-*.avro", "*-m0.avro"])
def test_damaged_metadata(tmp_path, log, replayed, kind):
    """Whatever pyiceberg raises for it is one error, which says that it is damage."""
    published(tmp_path, replayed())
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["c"]})
    number = replayed()
    whole = {file: file.read_bytes() for file in [tmp_path / "catalog.db", *(tmp_path / "warehouse").rglob("*.*")]}
    files, ended = [file for file in whole if file.match(kind)], set()
    for name, damage in DAMAGES.items():
        for file, data in whole.items():
            file.write_bytes(damage(data) if file in files else data)
        try:
            published(tmp_path, number)
        except applier.SnapshotError as error:
            assert error.file.endswith("catalog.db") and error.hint
            assert re.search(r"are damaged|the catalog returned an error", error.message)
            ended.add(name)
    assert ended >= {"cut", "empty", "brackets", "an object"}, "pyiceberg reads what it can"


def test_defects_are_not_taken_for_damage(tmp_path, publish):
    with mock.patch("applier.jobs.publish.iceberg.publication.tables_of", side_effect=KeyError("a defect")), \
            pytest.raises(KeyError):
        publish()


def test_the_sort_order_ends_with_the_first_dates():
    """As the files' own: invalid dates are null to readers."""
    definition = parse_statement("CREATE TABLE d.o (a INT, b DATETIME, c INT, PRIMARY KEY (a, b, c))",
                                 server_charset="utf8mb4")[0].definition
    columns = tuple(replace(column, id=number) for number, column in enumerate(definition.columns, 1))
    entry = TableEntry("d", "o", replace(definition, columns=columns), ("a", "b", "c"), "bytes")
    assert [field.source_id for field in sort_order(entry).fields] == [1, 2]
