"""`applier publish --delta`: what tables of Delta have after snapshots that follow each other."""

import json
import os
import shutil
import sys
from decimal import Decimal
from unittest import mock

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

import applier
from applier import cli
from applier.jobs.publish.delta import publication
from applier.jobs.publish.delta import tables as delta_tables
from tests.support import delta_readers as readers
from tests.support.iceberg_readers import cells
from tests.support.published import changes


@pytest.fixture
def publish(tmp_path, replayed):
    return lambda: published(tmp_path, replayed())


def published(folder, number, **options):
    return applier.publish(folder / f"out{number}", delta=folder / "delta", **options)


def rows(folder, name):
    found = [cells(reader(readers.place(folder / "delta", "d", name))) for reader in readers.READERS]
    assert found[1:] == found[:1] * (len(found) - 1)
    return found[0]


def table(folder, name, version=None):
    return DeltaTable(readers.place(folder / "delta", "d", name), version=version)


def marker(folder):
    return json.loads((folder / "delta/_applier.json").read_text())


def test_only_what_changed_is_replaced(tmp_path, log, publish):
    """A table in which nothing changed gets no commit; files are those of the snapshot, by another name."""
    assert changes(publish()) == {"d.t": ("created", 1, 0), "d.u": ("created", 0, 0)}
    assert rows(tmp_path, "u") == []
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    assert changes(publish()) == {"d.t": ("unchanged", 0, 0), "d.u": ("changed", 1, 0)}
    assert changes(published(tmp_path, 1)) == {"d.t": ("unchanged", 0, 0), "d.u": ("unchanged", 0, 0)}
    assert (table(tmp_path, "t").version(), table(tmp_path, "u").version()) == (0, 1)
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["c"]})
    assert changes(publish()) == {"d.t": ("changed", 1, 1), "d.u": ("unchanged", 0, 0)}
    assert (rows(tmp_path, "t"), rows(tmp_path, "u")) == (["(1, 'c')", "(2, 'b')"], ["(7,)"])
    [file] = table(tmp_path, "t").file_uris()
    assert os.stat(file).st_nlink > 1
    assert cells(pa.table(table(tmp_path, "t", 0).to_pyarrow_table())) == ["(1, 'a')", "(2, 'b')"]


def test_where_it_stands(tmp_path, log, publish):
    """In the commit that brought it there, and of all tables in the marker."""
    first = publish()
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    second = publish()
    for name, position in (("t", first.position), ("u", second.position)):
        assert table(tmp_path, name).history(1)[0]["mysql.position"] == position
    assert (marker(tmp_path)["position"], marker(tmp_path)["complete"]) == (second.position, True)
    assert not second.together


def test_columns_change_by_one_commit(tmp_path, log, publish):
    """Names, types, order, and columns that come and go, also the first one that takes a feature of the format."""
    publish()
    log.query("ALTER TABLE t RENAME COLUMN v TO w, ADD COLUMN n TIME FIRST, MODIFY id BIGINT COMMENT 'who'", "d")
    [changed] = [table for table in publish().tables if table.change == "changed"]
    assert (changed.columns_changed, changed.files_added, changed.files_removed) == (True, 1, 1)
    assert rows(tmp_path, "t") == ["(None, 1, 'a')", "(None, 2, 'b')"] and table(tmp_path, "t").version() == 1
    fields = table(tmp_path, "t").schema().fields
    assert [(field.name, field.type.type, field.metadata) for field in fields] == [
        ("n", "long", {"comment": "TIME in microseconds", "mysql.ordinal": 1}),
        ("id", "long", {"comment": "who", "mysql.ordinal": 2}), ("w", "string", {"mysql.ordinal": 3})]
    log.query("ALTER TABLE t DROP COLUMN w, ADD COLUMN w DATETIME DEFAULT '2024-02-29 01:02:03'", "d")
    publish()
    assert rows(tmp_path, "t") == [f"(None, {n}, datetime.datetime(2024, 2, 29, 1, 2, 3))" for n in (1, 2)]
    assert changes(published(tmp_path, 2)) == {"d.t": ("unchanged", 0, 0), "d.u": ("unchanged", 0, 0)}


def test_a_column_that_only_moves(tmp_path, log, publish):
    """It moves by one commit, and later publications find nothing to do."""
    publish()
    log.query("ALTER TABLE t MODIFY v VARCHAR(9) FIRST", "d")
    publish()
    assert rows(tmp_path, "t") == ["('a', 1)", "('b', 2)"]
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    assert changes(publish()) == {"d.t": ("unchanged", 0, 0), "d.u": ("changed", 1, 0)}


def test_renamed_dropped_and_made_anew(tmp_path, log, publish):
    """A table of Delta is its directory: the new name's gets the files, the old one's loses them and keeps history."""
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    publish()
    log.query("RENAME TABLE t TO x, u TO t, x TO u", "d")
    assert {(table.renamed_from, table.name, table.change) for table in publish().tables} == {
        ("d.u", "d.t", "changed"), ("d.t", "d.u", "changed")}
    assert (rows(tmp_path, "t"), rows(tmp_path, "u")) == (["(7,)"], ["(1, 'a')", "(2, 'b')"])
    log.query("RENAME TABLE u TO moved", "d")
    log.query("DROP TABLE t", "d")
    assert changes(publish()) == {"d.moved": ("created", 1, 0), "d.t": ("dropped", 0, 1), "d.u": ("dropped", 0, 1)}
    assert rows(tmp_path, "t") == [] and cells(pa.table(table(tmp_path, "t", 1).to_pyarrow_table())) == ["(7,)"]
    assert {entry["name"]: entry["dropped"] for entry in marker(tmp_path)["tables"].values()} == {
        "moved": False, "t": True, "u": True}
    log.query("CREATE TABLE t (id INT PRIMARY KEY)", "d")
    assert changes(publish()) == {"d.moved": ("unchanged", 0, 0), "d.t": ("created", 0, 0)}
    assert changes(published(tmp_path, 3)) == {"d.moved": ("unchanged", 0, 0), "d.t": ("unchanged", 0, 0)}


@pytest.mark.parametrize("stopped", [0, 1, 2, 3])
def test_a_stopped_publication_goes_on(tmp_path, log, publish, stopped):
    """Stopped before its n-th write to a table or the marker: each table has its state before or after, and the marker
    says that not all are where it stands."""
    publish()
    log.query("ALTER TABLE t ADD COLUMN n DATETIME", "d")
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    home, left = "applier.jobs.publish.delta.publication", [stopped]

    def unless_stopped(function):
        def run(*arguments):
            if not left[0]:
                raise OSError("stopped")
            left[0] -= 1
            return function(*arguments)
        return run

    from applier.jobs.publish.delta import publication

    with mock.patch(f"{home}.commit", unless_stopped(publication.commit)), \
            mock.patch(f"{home}.save_marker", unless_stopped(publication.save_marker)), \
            pytest.raises(applier.SnapshotError, match="stopped"):
        publish()
    assert marker(tmp_path)["complete"] is (stopped == 0)
    told = " ".join(applier.published(delta=tmp_path / "delta").notes)
    assert ("some tables may stand before it" in told) is (stopped > 0)
    assert rows(tmp_path, "u") in ([], ["(7,)"])
    assert {change for change, _, _ in changes(published(tmp_path, 1)).values()} <= {"changed", "unchanged"}
    assert marker(tmp_path)["complete"] is True
    assert (rows(tmp_path, "t"), rows(tmp_path, "u")) == (["(1, 'a', None)", "(2, 'b', None)"], ["(7,)"])


def test_what_somebody_else_did_is_not_undone(tmp_path, publish):
    publish()
    place = readers.place(tmp_path / "delta", "d", "t")
    DeltaTable(place).optimize.compact()
    DeltaTable(place).create_checkpoint()
    assert changes(published(tmp_path, 0))["d.t"] == ("unchanged", 0, 0)
    deltalake.write_deltalake(place, pa.table({"id": pa.array([9], pa.int32()), "v": ["z"]}), mode="append")
    with pytest.raises(applier.SnapshotError, match=r"another writer committed to this table after version 0.*d\.t"):
        published(tmp_path, 0)
    DeltaTable(place).restore(0)
    assert changes(published(tmp_path, 0))["d.t"] == ("unchanged", 0, 0)


def test_what_was_not_published_from_here(tmp_path, log, publish):
    """A table that somebody made, and a directory with snapshots of another line."""
    place = readers.place(tmp_path / "delta", "d", "t")
    deltalake.write_deltalake(place, pa.table({"x": [1]}))
    with pytest.raises(applier.SnapshotError, match=r"that `applier publish` did not create.*d\.t"):
        publish()
    shutil.rmtree(place)
    published(tmp_path, 0)
    applier.replay(tmp_path / "binlog.000001", tmp_path / "out9")
    with pytest.raises(applier.SnapshotError, match="snapshots of another lineage are published there"):
        published(tmp_path, 9)


def found_by(place, condition):
    """Rows that readers find by a filter of SQL that pyarrow takes as a Python expression, too."""
    column, sign, value = condition
    dataset = DeltaTable(place).to_pyarrow_dataset()
    literal = pa.scalar(value).cast(dataset.schema.field(column).type)
    left = pc.field(column)
    wanted = {"=": left == literal, ">": left > literal, "<": left < literal}[sign]
    quoted = f"'{value}'" if isinstance(value, str) else value
    return (dataset.count_rows(filter=wanted),
            readers.with_duckdb(place, where=f'"{column}" {sign} {quoted}').num_rows)


def test_readers_pass_over_no_row(tmp_path, log, publish):
    """Statistics of keys: filters find what they should, by numbers, decimals, texts and dates; also by columns without
    bounds in the log, which are no part of the key or have values that the log cannot have."""
    key = {"a": [1, 2**64 - 1], "b": ["a", "é" * 40], "c": ["2024-02-29", "9999-12-31"], "d": [-5, 2**63 - 1]}
    log.query("CREATE TABLE k (a BIGINT UNSIGNED, b VARCHAR(40), c DATE, d BIGINT, v INT, PRIMARY KEY (a, b, c, d))",
              "d")
    log.query("CREATE TABLE `l.l` (id INT, at DATETIME(6), `n n` VARCHAR(9), PRIMARY KEY (id, at, `n n`))", "d")
    with log.transaction():
        log.insert("d.k", key | {"v": [3, None]})
        log.insert("d.l.l", {"id": [1, 2], "at": ["2024-02-29 12:00:00", "1999-12-31 23:59:59.999999"],
                             "n n": ["", "z"]})
    publish()
    k, l = (readers.place(tmp_path / "delta", "d", name) for name in ("k", "l.l"))
    for where in (("a", "=", 2**64 - 1), ("a", ">", 1), ("b", "=", "é" * 40), ("c", ">", "9999-12-30"),
                  ("d", "=", 2**63 - 1), ("v", "<", 4)):
        where = where if where[0] != "a" else (*where[:2], Decimal(where[2]))
        assert found_by(k, where) == (1, 1), where
    for where in (("id", ">", 1), ("at", "<", "2000-01-01 00:00:00"), ("n n", "=", "z")):
        assert found_by(l, where) == (1, 1), where
    actions = [pa.table(DeltaTable(place).get_add_actions(flatten=True)).to_pylist()[0] for place in (k, l)]
    assert actions[0]["num_records"] == 2 and actions[0]["null_count.a"] == 0 and actions[0]["max.c"] is None
    assert actions[1]["min.id"] == 1 and actions[1]["max.n n"] == "z"


def test_bounds_of_an_older_version(tmp_path, log, publish):
    """It wrote bounds of some columns of the key, and did not say of which: deltalake then skipped files by the
    others."""
    log.query("CREATE TABLE k (id INT, b VARCHAR(90), v INT, PRIMARY KEY (id, b))", "d")
    with log.transaction():
        log.insert("d.k", {"id": [1, 2], "b": ["a", "b" * 40], "v": [5, 6]})
    bounds = {"numRecords": 2, "minValues": {"id": 1}, "maxValues": {"id": 2}, "nullCount": {"id": 0}}
    with mock.patch.object(delta_tables, "property_of", lambda _: {}), \
            mock.patch.object(publication, "statistics", lambda *_: json.dumps(bounds)):
        publish()
    place = readers.place(tmp_path / "delta", "d", "k")
    assert found_by(place, ("v", ">", 5))[0] == 0
    assert changes(publish())["d.k"] == ("unchanged", 0, 0)
    assert [found_by(place, where) for where in (("v", ">", 5), ("b", ">", "a"), ("id", "=", 2))] == [(1, 1)] * 3
    version = readers.version(place)
    assert changes(publish())["d.k"] == ("unchanged", 0, 0) and readers.version(place) == version


def test_the_key_becomes_another_one(tmp_path, log, publish):
    """And with it the columns by which readers skip files: at each version filters find what they should."""
    publish()
    steps = ("ALTER TABLE t RENAME COLUMN id TO `i,d`", "ALTER TABLE t DROP PRIMARY KEY", "ALTER TABLE t ADD n INT",
             "ALTER TABLE t ADD PRIMARY KEY (v)")
    for number, step in enumerate(steps, 3):
        log.query(step, "d")
        publish()
        with log.transaction():
            log.insert("d.t", {"i,d": [number], "v": [f"v{number}"]})
        publish()
    place = readers.place(tmp_path / "delta", "d", "t")
    for version in range(readers.version(place) + 1):
        whole = DeltaTable(place, version=version)
        for column in whole.schema().fields:
            rows = pa.table(whole.to_pyarrow_table())
            for value in rows.column(column.name).drop_null().unique():
                found = whole.to_pyarrow_dataset().to_table(filter=pc.field(column.name) == value)
                assert found.num_rows == rows.filter(pc.field(column.name) == value).num_rows > 0, (version, column)
    assert table(tmp_path, "t").metadata().configuration["delta.dataSkippingStatsColumns"] == "v"


def test_some_tables_only(tmp_path, log, publish):
    """The marker says that not all of them stand where the last ones do."""
    first = publish()
    with log.transaction():
        log.insert("d.u", {"id": [7]})
        log.insert("d.t", {"id": [3], "v": ["c"]})
    publish()
    shutil.rmtree(tmp_path / "delta")
    published(tmp_path, 0)
    second = published(tmp_path, 1, tables="d.u")
    assert changes(second) == {"d.u": ("changed", 1, 0)} and not marker(tmp_path)["complete"]
    assert {name: entry["position"] for name, entry in marker(tmp_path)["tables"].items()} == {
        "d/t": first.position, "d/u": second.position}
    assert changes(published(tmp_path, 1)) == {"d.t": ("changed", 1, 1), "d.u": ("unchanged", 0, 0)}
    assert marker(tmp_path)["complete"]


def test_who_comes_second_stops(tmp_path, log, publish):
    """Somebody else's commit between the look at a table and the commit is not overwritten."""
    publish()
    with log.transaction():
        log.insert("d.t", {"id": [3], "v": ["c"]})
    place = readers.place(tmp_path / "delta", "d", "t")
    home = "applier.jobs.publish.delta.publication.save_marker"
    more = pa.table({"id": pa.array([9], pa.int32()), "v": ["z"]})
    with mock.patch(home, lambda *_: deltalake.write_deltalake(place, more, mode="append")), \
            pytest.raises(applier.AnotherRun, match="somebody else writes to this table"):
        publish()
    assert rows(tmp_path, "t") == ["(1, 'a')", "(2, 'b')", "(9, 'z')"]


def test_a_damaged_log(tmp_path, publish):
    publish()
    for path, words in (("d/t/_delta_log/00000000000000000000.json", r"the table cannot be read.*d\.t"),
                        ("_applier.json", "_applier.json is damaged")):
        (tmp_path / "delta" / path).write_text("{")
        with pytest.raises(applier.SnapshotError, match=words):
            published(tmp_path, 0)


def test_versions_of_a_lake(tmp_path, log):
    """Of which one after the other is published, without a snapshot between them; an earlier one leads back."""
    lake, files = tmp_path / "lake", [tmp_path / "binlog.000001", tmp_path / "binlog.000002"]
    log.rotate(files[1])
    first = applier.replay(files[:1], lake=lake).snapshot
    assert changes(applier.publish(lake, delta=tmp_path / "delta"))["d.t"] == ("created", 1, 0)
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["c"]})
    log.rotate(tmp_path / "binlog.000003")
    applier.replay(files, lake=lake)
    for version, expected in ((lake, ["(1, 'c')", "(2, 'b')"]), (first, ["(1, 'a')", "(2, 'b')"])):
        assert changes(applier.publish(version, delta=tmp_path / "delta"))["d.t"] == ("changed", 1, 1)
        assert rows(tmp_path, "t") == expected


def test_names_that_paths_cannot_hold(tmp_path, log, publish):
    log.query("CREATE TABLE `a b/é%2F~` (`x y` INT PRIMARY KEY)", "d")
    with log.transaction():
        log.insert("d.a b/é%2F~", {"x y": [1]})
    publish()
    assert rows(tmp_path, "a b/é%2F~") == ["(1,)"]


def test_the_command(tmp_path, publish, capsys):
    publish()
    place = str(tmp_path / "delta")
    assert cli.main(["publish", str(tmp_path / "out0"), "--delta", place]) == 0
    said = capsys.readouterr().out
    assert "one table after the other" in " ".join(said.split())
    assert any(line.split()[:2] == ["d.t", "unchanged"] for line in said.splitlines())
    assert cli.main(["publish", str(tmp_path / "out0"), "--delta", f"{tmp_path}/100%"]) == 2
    assert "choose a directory without %" in " ".join(capsys.readouterr().err.split())
    for given in ([], ["--delta", place, "--iceberg", "sqlite:////x.db"], ["--delta", place, "--warehouse", "w"]):
        assert cli.main(["publish", str(tmp_path / "out0"), *given]) == 2
        assert "give --iceberg" in " ".join(capsys.readouterr().err.split())


def test_without_deltalake(publish):
    with mock.patch.dict(sys.modules, {"deltalake": None}), \
            pytest.raises(applier.UsageError, match=r"it takes deltalake.*mysql-binlog-applier\[lake\]"):
        publish()


def test_a_module_of_ours_that_cannot_be_imported_is_not_taken_for_it(publish):
    with mock.patch.dict(sys.modules, {"applier.jobs.publish.delta.publication": None}), \
            pytest.raises(ImportError, match=r"delta\.publication") as raised:
        publish()
    assert not isinstance(raised.value, applier.ApplierError)


def test_what_delta_lacks(tmp_path):
    (tmp_path / "s.sql").write_text("CREATE TABLE d.t (id BIGINT UNSIGNED PRIMARY KEY)")
    made = applier.import_dump(tmp_path / "s.sql", tmp_path / "out", unsigned_bigint="uint64").snapshot
    with pytest.raises(applier.UsageError, match=r"no unsigned integers, and column id is unsigned"):
        applier.publish(made, delta=tmp_path / "delta")
