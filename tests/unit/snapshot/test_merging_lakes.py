"""Lakes that merge on read: a round writes what changed, every reader merges, and damage is an error and no other row.
"""

import json
import os
import re
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import applier
from applier import cli
from applier.errors import AnotherRun, SnapshotError, UsageError
from applier.snapshot import lakes, manifest
from applier.snapshot.files import shards
from applier.snapshot.lake import compaction
from applier.snapshot.lake.lake_staging import open_lake
from applier.writer.writer import BinlogWriter
from tests.support.forked_runs import forked_runs
from tests.support.merging import merged_rows, merging
from tests.support.object_store import object_store
from tests.support.small_logs import commit, delete, insert, new_log, update

ROWS = [(n, n, "x" * 20) for n in range(20_000)]
SMALL = 4000
"""Bytes of a file: the table has several."""
TEXT = "x" * 20


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An archive, and the ends of its transactions: rows; some changed; some removed, and new ones before, between and
    behind the others; one changed again, and one moved to another key."""
    folder = tmp_path_factory.mktemp("merging")
    written = new_log(folder)
    few = [7, 4000, 9999, 15_000]
    ends = [commit(written, insert([row for row in ROWS if row[0] % 2 or row[0] in few]))[1],
            commit(written, update([(n, n, TEXT) for n in few], [(n, -n, "changed") for n in few]))[1],
            commit(written, delete([(n, n, TEXT) for n in (11, 12_001)]),
                   insert([(n, n, "new") for n in (-5, 500, 4002, 20_001, 20_002)]))[1],
            commit(written, update([(4000, -4000, "changed")], [(4000, 1, "again")]),
                   update([(500, 500, "new")], [(18_000, 500, "moved")]))[1]]
    written.close()
    return str(folder), [("binlog.000001", end) for end in ends]


@pytest.fixture
def versions(log, tmp_path):
    """A lake with a version for each of the ends, and snapshots at the same places."""
    lake = str(tmp_path / "lake")
    made = [applier.replay(log[0], lake=lake, merge_on_read=True, stop=end, target_file_size=SMALL).snapshot
            for end in log[1]]
    plain = [applier.replay(log[0], tmp_path / str(number), stop=end).snapshot for number, end in enumerate(log[1])]
    return lake, made, plain


def below(lake):
    return {os.path.relpath(os.path.join(place, name), lake) for place, _, names in os.walk(lake) for name in names}


def entry_of(snapshot):
    [entry] = manifest.load(str(getattr(snapshot, "uri", snapshot))).tables
    return entry


def rows_of(snapshot):
    return snapshot.tables["shop.item"].to_arrow()


# ---- what is written


def test_a_round_writes_what_changed(versions):
    """AP-SNAP: all files of rows stay; each version has a row file and a file of positions more."""
    lake, made, plain = versions
    first, *later = map(entry_of, made)
    assert len(first.files) > 4 and not first.row_files and not first.positions
    for number, entry in enumerate(later, 1):
        assert [file.path for file in entry.files] == [file.path for file in first.files]
        assert len(entry.row_files) == len(entry.positions) == number
        assert sum(file.bytes for file in (entry.row_files[-1], entry.positions[-1])) < first.bytes / 10
    for version, snapshot in zip(made, plain, strict=True):
        wanted, verified = rows_of(snapshot), version.verify()
        assert rows_of(version).equals(wanted) and version.tables["shop.item"].rows == wanted.num_rows
        assert not verified.damaged and verified.rows == wanted.num_rows
    assert applier.fsck(lake).damaged == applier.fsck(lake).strays == ()


def test_no_pattern_finds_a_table(versions):
    """Files of rows have no name that a pattern for Parquet files, a table or a database finds."""
    lake, made, _ = versions
    assert {path.split("/")[0] for path in below(lake)} == {"_data", "_versions", "_lake.json", "LATEST"}
    assert not [path for path in below(lake) if path.endswith(".parquet") or "shop" in path or "item" in path]
    with pytest.raises(UsageError, match="files alone are not the table"):
        _ = made[0].tables["shop.item"].files


def test_other_programs_refuse_it(versions):
    """An older program reads neither the lake nor a version: both have a format version of their own."""
    lake, made, _ = versions
    assert json.loads(Path(lake, "_lake.json").read_text()).keys() == {"format_version", "id"}
    assert json.loads(Path(lake, "_lake.json").read_text())["format_version"] == 2
    assert {json.loads(Path(version.uri, "_snapshot.json").read_text())["format_version"] for version in made} == {4}


def test_a_whole_lake_is_as_it_was(log, tmp_path):
    applier.replay(log[0], lake=tmp_path / "lake", stop=log[1][1])
    assert json.loads((tmp_path / "lake/_lake.json").read_text())["format_version"] == 1
    document = json.loads((tmp_path / "lake/_versions/0000000001/_snapshot.json").read_text())
    assert document["format_version"] == 3 and not {"folder", "row_files"} & document["tables"][0].keys()
    assert "footer" not in document["tables"][0]["files"][0]


def test_row_files_stay_few(tmp_path):
    """With many rounds: row files and positions are put together, and dead rows go from row files."""
    log, places, state = new_log(tmp_path), [], {row[0]: row for row in ROWS[:5000]}
    places.append(commit(log, insert(list(state.values())))[1])
    for number in range(40):
        keys = [number * 97 % 5000, 1234]
        changed = [(key, number, f"round {number}") for key in keys]
        places.append(commit(log, update([state[key] for key in keys], changed))[1])
        state |= {row[0]: row for row in changed}
    log.close()
    counts = []
    for place in places:
        version = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                                 stop=("binlog.000001", place)).snapshot
        counts.append(max(len(entry_of(version).row_files), len(entry_of(version).positions)))
    assert max(counts) <= compaction.FEW + 3 and counts[-1] > 0
    assert [tuple(row.values()) for row in merged_rows(tmp_path / "lake")["shop.item"]] == sorted(state.values())
    assert sum(file.rows for file in entry_of(version).row_files) < 50
    assert applier.fsck(tmp_path / "lake").strays == ()


def test_many_changes_write_files_anew(log, tmp_path):
    """Where changes are a large share of a file's rows, nothing is left to merge in its range."""
    with merging(share=0.0001, group_bytes=2 << 20):
        for end in log[1]:
            version = applier.replay(log[0], lake=tmp_path / "lake", merge_on_read=True, stop=end,
                                     target_file_size=SMALL).snapshot
    assert not entry_of(version).row_files and not entry_of(version).positions
    assert rows_of(version).equals(rows_of(applier.replay(log[0], tmp_path / "plain").snapshot))


def test_a_range_written_anew_has_no_old_rows(log, tmp_path):
    """What row files have of a range dies with the files of it: it does not come back when the range changes again."""
    lake = tmp_path / "lake"
    for number, end in enumerate(log[1]):
        with merging(share=(100.0, 100.0, 0.0001, 100.0)[number]):
            version = applier.replay(log[0], lake=lake, merge_on_read=True, stop=end, target_file_size=SMALL).snapshot
        assert not version.verify().damaged
    assert entry_of(version).row_files
    assert rows_of(version).equals(rows_of(applier.replay(log[0], tmp_path / "plain").snapshot))


# ---- compaction


@pytest.fixture
def changed_ranges(tmp_path):
    """A lake of five versions: each of the last four has changed some rows of another file. Then the archive, whose
    last change is in a file that none has changed."""
    log = new_log(tmp_path)
    commit(log, insert(ROWS))
    log.flush()
    with merging():
        made = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                              target_file_size=SMALL).snapshot
        for number, file in enumerate(entry_of(made).files[:5]):
            keys = range(file.min_key, file.min_key + file.rows // 10)
            commit(log, update([(n, n, TEXT) for n in keys], [(n, -n, "changed") for n in keys]))
            log.flush()
            if number < 4:
                applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake")
    log.close()
    return tmp_path / "lake", tmp_path / "binlog.000001"


def changed_in(snapshot):
    """The version that changed each range last, of those in which something is merged."""
    return [file.changed.version for file in entry_of(snapshot).files if file.changed]


def test_the_oldest_ranges_are_written_anew(changed_ranges):
    """Those in which more than the share is merged: as many bytes as the budget allows, the oldest first."""
    lake, log = changed_ranges
    largest = max(file.bytes for file in entry_of(lake).files)
    assert changed_in(lake) == [2, 3, 4, 5] and len(entry_of(lake).files) > 5
    with merging(share=0.05):
        version = applier.replay(log, lake=lake, compact_budget=2 * largest).snapshot
    assert changed_in(version) == [4, 5]
    assert rows_of(version).equals(rows_of(applier.replay(log, lake.parent / "plain").snapshot))
    assert not version.verify().damaged and applier.fsck(lake).strays == ()


def test_a_range_that_is_larger_than_the_budget_is_written_anew(changed_ranges):
    """One file a version, whatever the budget: no range waits for ever."""
    lake, log = changed_ranges
    with merging(share=0.05):
        version = applier.replay(log, lake=lake, compact_budget=1).snapshot
    assert changed_in(version) == [3, 4, 5]


def test_compact(changed_ranges, capsys):
    """`compact`: at the same position nothing is merged any more, or less by the budget; then there is nothing to do.
    Readers and later rounds find the same rows."""
    lake, log = changed_ranges
    before, rows = manifest.load(entry_uri(lake)), rows_of(applier.Snapshot(lake))
    largest = max(file.bytes for file in entry_of(lake).files)
    made = applier.compact(lake, compact_budget=largest)
    assert (made.version, made.files, made.left) == (6, 1, 3) and changed_in(lake) == [3, 4, 5]
    assert cli.main(["compact", str(lake)]) == 0
    assert re.fullmatch(r"version 7: 3 files with 0\.0 MB rewritten, 0 left\n", capsys.readouterr().out)
    entry, now = entry_of(lake), manifest.load(entry_uri(lake))
    assert not entry.row_files and not entry.positions and now.position == before.position
    assert (now.lineage, now.last_column_id, now.databases) == (before.lineage, before.last_column_id, before.databases)
    assert rows_of(applier.Snapshot(lake)).equals(rows)
    assert applier.compact(lake) == replace(made, version=7, files=0, bytes=0, left=0)
    with merging():
        applier.replay(log, lake=lake)
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(applier.replay(log, lake.parent / "plain").snapshot))
    assert applier.fsck(lake).damaged == () == applier.fsck(lake).strays


def entry_uri(lake):
    return applier.Snapshot(lake).uri


def test_compact_is_for_lakes_that_merge(log, tmp_path):
    applier.replay(log[0], lake=tmp_path / "whole")
    with pytest.raises(UsageError, match="whole files"):
        applier.compact(tmp_path / "whole")
    with pytest.raises(UsageError, match="has no version"):
        applier.compact(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("share", [0.2, 0.0001])
def test_a_row_that_moves_into_a_unit(share, tmp_path):
    """AP-SNAP: the only change of a unit is a row that an update moves there from another one: all its rows stay."""
    log = new_log(tmp_path)
    ends = [commit(log, insert([row for row in ROWS if row[0] % 2]))[1],
            commit(log, update([(501, 501, TEXT)], [(18_000, 1, "moved")]))[1]]
    log.close()
    with merging(share=share):
        for end in ends:
            version = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                                     stop=("binlog.000001", end), target_file_size=SMALL).snapshot
    assert len(entry_of(version).files) > 2 and not version.verify().damaged
    assert rows_of(version).equals(rows_of(applier.replay(tmp_path / "binlog.000001", tmp_path / "plain").snapshot))


def test_a_row_that_comes_and_goes(tmp_path):
    """The range that it has widened is still that of its file, which is verified."""
    log, rows = new_log(tmp_path), ROWS[10:3000]
    ends = [commit(log, insert(rows))[1], commit(log, insert([(1, 1, "y"), (9000, 1, "y")]))[1],
            commit(log, delete([(1, 1, "y"), (9000, 1, "y")]))[1]]
    log.close()
    with merging():
        for end in ends:
            version = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                                     stop=("binlog.000001", end), target_file_size=SMALL).snapshot
            assert not version.verify().damaged
    assert not applier.fsck(tmp_path / "lake").damaged and rows_of(version).num_rows == len(rows)


@pytest.mark.parametrize("ddl", ["RENAME TABLE item TO kept", "ALTER TABLE item ADD COLUMN more INT DEFAULT 7",
                                 "ALTER TABLE item ADD INDEX (n)", "ALTER TABLE item DROP PRIMARY KEY",
                                 "ALTER TABLE item MODIFY id BIGINT NOT NULL", "TRUNCATE TABLE item",
                                 "DROP TABLE item"])
@pytest.mark.parametrize("with_rows", [False, True])
def test_ddl_between_changes(ddl, with_rows, tmp_path):
    """A statement alone in its round, and with rows before it: a rename keeps the files, others may write them
    again."""
    log = new_log(tmp_path)
    ends = [commit(log, insert(ROWS[:3000]))[1], commit(log, update([ROWS[5]], [(5, 6, "y")]))[1]]
    if with_rows:
        commit(log, update([ROWS[1700]], [(1700, 6, "y")]), delete([ROWS[3]]))
    log.query(ddl, "shop")
    ends.append(log.position)
    log.close()
    for end in ends:
        version = applier.replay(str(tmp_path / "binlog.000001"), lake=tmp_path / "lake", merge_on_read=True,
                                 stop=("binlog.000001", end), target_file_size=2000).snapshot
        assert not version.verify().damaged
    plain = applier.replay(str(tmp_path / "binlog.000001"), tmp_path / "plain").snapshot
    assert applier.diff(plain, version).same and version.schema == plain.schema
    for name, table in plain.tables.items():
        ours, wanted = (sorted(map(str, one.to_arrow().to_pylist())) for one in (version.tables[name], table))
        assert ours == wanted
    if ddl.startswith("RENAME"):
        assert entry_of(version).folder == entry_of(f"{tmp_path}/lake/_versions/1").folder
        assert with_rows or entry_of(version).row_files


TABLES = {
    "unique keys": ("id INT PRIMARY KEY, n INT, s VARCHAR(20), UNIQUE (n)", True),
    "text key": ("id INT, n INT, s VARCHAR(20), PRIMARY KEY (s, id)", True),
    "text key, compared by a collation": ("id INT, n INT, s VARCHAR(20) COLLATE utf8mb4_general_ci, "
                                          "PRIMARY KEY (s(5), id)", True),
    "no key": ("id INT, n INT, s VARCHAR(20)", False),
    "a key that is not unique": ("id INT, n INT, s VARCHAR(20), KEY (id)", False),
    "a column that the log lacks": ("id INT PRIMARY KEY, n INT, s VARCHAR(20), g INT AS (n + 1) STORED", False),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_kinds_of_tables(kind, route, tmp_path):
    """FIND: tables whose rows are found by one key, by several, by none: those without a key, or with
    values that the log does not have, get whole files."""
    columns, merges = TABLES[kind]
    schema = tmp_path / "schema.sql"
    schema.write_text(f"CREATE DATABASE shop CHARSET utf8mb4; CREATE TABLE shop.item ({columns});")
    rows = [(n, n, f"text {n}") for n in range(2000)]
    log = BinlogWriter(tmp_path / "binlog.000001")
    ends = [commit(log, insert(rows))[1], commit(log, update([rows[5], rows[900]], [(5, -6, "y"), (900, -7, "z")]))[1],
            commit(log, delete([rows[7]]), insert([(3000, 3000, "zz")]), update([(5, -6, "y")], [(6000, -1, "a")]))[1]]
    log.close()
    with merging(group_bytes=5000):
        for number, end in enumerate(ends):
            version = applier.replay(str(tmp_path / "binlog.000001"), lake=tmp_path / "lake", merge_on_read=True,
                                     route=route, schema=None if number else schema, witness="stop",
                                     stop=("binlog.000001", end), target_file_size=5000).snapshot
    plain = applier.replay(str(tmp_path / "binlog.000001"), tmp_path / "plain", schema=schema).snapshot
    assert bool(entry_of(version).row_files) == merges
    ours, wanted = (one.tables["shop.item"].to_arrow() for one in (version, plain))
    assert ours.equals(wanted) if plain.tables["shop.item"].key else \
        sorted(map(str, ours.to_pylist())) == sorted(map(str, wanted.to_pylist()))
    assert applier.diff(plain, version).same and not version.verify().damaged


def test_invalid_dates_in_row_files(tmp_path):
    """A zero date is null to readers, in files and in row files, and comes back where an applier reads it."""
    dump = tmp_path / "d.sql"
    dump.write_text("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, d DATE NOT NULL); INSERT INTO t "
                    + "VALUES (1,'0000-00-00'),(2,'2024-02-03')" + "".join(f",({n},'2024-01-01')" for n in range(3, 99))
                    + ";")
    lake = tmp_path / "lake"
    made = applier.import_dump(dump, lake=lake, merge_on_read=True)
    assert made.snapshot.tables["d.t"].to_arrow().to_pylist()[0] == {"id": 1, "d": None}
    assert cli.main(["export", str(lake), "--output", str(tmp_path / "out"), "--engine", "local"]) == 0
    assert "'0000-00-00'" in "".join(path.read_text() for path in (tmp_path / "out").rglob("*.sql"))


def test_shards(log, tmp_path, monkeypatch):
    """Entries of many files stand in a shard, with what changes have made of their ranges."""
    monkeypatch.setattr(shards, "MOST_INLINE", 2)
    for number, end in enumerate(log[1]):
        version = applier.replay(log[0], lake=tmp_path / "lake", merge_on_read=True, stop=end,
                                 target_file_size=SMALL).snapshot
        plain = applier.replay(log[0], tmp_path / str(number), stop=end).snapshot
        assert not version.verify().damaged and rows_of(version).equals(rows_of(plain))
        assert applier.diff(plain, version).same
    assert entry_of(version).sharded and entry_of(version).row_files
    assert applier.fsck(tmp_path / "lake").damaged == ()


def test_a_new_lake_begins_with_a_base(log, tmp_path):
    """Of whole files, or of another lake that merges: its files come over, with what is merged with them."""
    base = applier.replay(log[0], tmp_path / "base", stop=log[1][0], target_file_size=SMALL).snapshot
    one = applier.replay(log[0], lake=tmp_path / "one", base=base, merge_on_read=True, stop=log[1][2],
                         target_file_size=SMALL).snapshot
    assert entry_of(one).row_files and not one.verify().damaged
    two = applier.replay(log[0], lake=tmp_path / "two", base=one, merge_on_read=True, target_file_size=SMALL).snapshot
    assert entry_of(two).folder != entry_of(one).folder or entry_of(two).row_files
    plain = applier.replay(log[0], tmp_path / "plain").snapshot
    shutil.rmtree(tmp_path / "one")
    assert rows_of(two).equals(rows_of(plain)) and not two.verify().damaged


@pytest.mark.parametrize("target", ["output", "lake"])
def test_a_merging_base_becomes_whole_files(log, versions, target, tmp_path):
    """A snapshot, or a lake of whole files, has no row files: ranges that have some are written again."""
    _, made, plain = versions
    into = {target: tmp_path / "whole"}
    whole = applier.replay(log[0], base=made[2], **into).snapshot
    assert rows_of(whole).equals(rows_of(plain[3])) and not whole.verify().damaged
    assert not entry_of(whole).row_files and not manifest.load(whole.uri).merges
    assert sum(map(os.path.exists, whole.tables["shop.item"].files)) == len(whole.tables["shop.item"].files)
    table = pa.concat_tables(pa.parquet.read_table(file) for file in whole.tables["shop.item"].files)
    assert table.num_rows == rows_of(plain[3]).num_rows


# ---- every reader


def test_readers_agree(versions, tmp_path, capsys):
    """Arrow, streams, queries, views in DuckDB, exports and diffs: at every version."""
    _, made, plain = versions
    for version, snapshot in zip(made, plain, strict=True):
        table, wanted = version.tables["shop.item"], rows_of(snapshot)
        assert pa.table(table).equals(wanted) and table.scan().to_table().equals(wanted)
        chosen = pc.field("n") < 0
        assert table.to_arrow(["s"], chosen).equals(wanted.filter(chosen).select(["s"]))
        rows = wanted.to_pylist()
        expected = sorted(tuple(row.values()) for row in rows)
        assert sorted(version.sql("SELECT * FROM shop.item").fetchall()) == expected
        connection = duckdb.connect()
        connection.execute(version.views())
        assert sorted(connection.sql("SELECT * FROM shop.item").fetchall()) == expected
        assert applier.diff(snapshot, version).same
    changes = applier.diff(made[1], made[3])
    assert not changes.same and changes.tables["shop.item"].changed == applier.diff(
        plain[1], plain[3]).tables["shop.item"].changed
    for number, place in enumerate((made[3].uri, plain[3].uri)):
        assert cli.main(["export", place, "--output", str(tmp_path / f"dump{number}"), "--engine", "local"]) == 0
    texts = ["".join(sorted(line for path in sorted(tmp_path.glob(f"dump{number}/shop/**/*.sql"))
                            for line in path.read_text().splitlines(keepends=True))) for number in (0, 1)]
    values = [sorted(text.replace("),(", ")\n(").replace(";", "").split("\n")) for text in texts]
    assert all("again" in text and "moved" in text for text in texts) and len(values[0]) > 0
    capsys.readouterr()


def test_verbs_take_it(log, versions, tmp_path, capsys):
    lake, made, _ = versions
    for words in (["status", lake], ["report", lake], ["views", lake], ["verify", lake], ["versions", lake],
                  ["diff", made[1].uri, lake, "--format", "json"], ["explain", "--base", lake, "--binlogs", log[0]],
                  ["changes", "--base", made[2].uri, "--binlogs", log[0], "--table", "shop.item", "--output", "-"],
                  ["history", "--base", made[1].uri, "--binlogs", log[0], "--table", "shop.item",
                   "--output", str(tmp_path / "history")]):
        assert cli.main(words) == 0, (words, capsys.readouterr())
    capsys.readouterr()


def test_what_does_not_merge_refuses_it(versions, tmp_path, capsys):
    lake, made, _ = versions
    with pytest.raises(UsageError, match="merges on read"):
        made[3].views("spark")
    with pytest.raises(UsageError, match="merges on read"):
        applier.publish(lake, iceberg=f"sqlite:///{tmp_path}/catalog.db")
    with pytest.raises(UsageError, match="merges on read"):
        applier.publish(lake, delta=tmp_path / "delta")


def test_a_lake_stays_what_it_is(log, tmp_path, capsys):
    applier.replay(log[0], lake=tmp_path / "whole", stop=log[1][0])
    with pytest.raises(UsageError, match="a lake stays what it was made as"):
        applier.replay(log[0], lake=tmp_path / "whole", merge_on_read=True)
    with pytest.raises(UsageError, match="--merge-on-read is for lakes"):
        applier.replay(log[0], tmp_path / "out", merge_on_read=True)
    with pytest.raises(UsageError, match="cannot be published"):
        next(applier.sync(log[0], tmp_path / "new", merge_on_read=True, delta=tmp_path / "delta"))
    applier.replay(log[0], lake=tmp_path / "merging", merge_on_read=True, stop=log[1][0])
    version = applier.replay(log[0], lake=tmp_path / "merging", stop=log[1][1]).snapshot
    assert entry_of(version).row_files
    assert not os.path.exists(tmp_path / "out") and not os.path.exists(tmp_path / "new")


# ---- damage


def flipped(path, place):
    with open(path, "r+b") as file:
        file.seek(place, os.SEEK_END if place < 0 else os.SEEK_SET)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


DAMAGE = {
    "missing": lambda path: path.unlink(),
    "shorter": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": lambda path: path.write_bytes(b""),
    "a byte of rows": lambda path: flipped(path, 20),
    "a byte of the footer": lambda path: flipped(path, -40),
    "its end": lambda path: flipped(path, -1),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("what", ["files", "row_files", "positions"])
def test_damage_is_an_error(what, damage, log, versions, tmp_path):
    """A row file or positions that are missing or damaged: no reader gives other rows, and no round continues."""
    lake = versions[0]
    copy = shutil.copytree(lake, tmp_path / "copy")
    entry = entry_of(copy)
    path = copy / getattr(entry, what)[0].path
    DAMAGE[damage](path)
    snapshot = applier.Snapshot(copy)
    table = snapshot.tables["shop.item"]
    for read in (lambda: table.to_arrow(), lambda: table.to_arrow(["id"]), lambda: pa.table(table),
                 lambda: applier.diff(tmp_path / "0", copy),
                 lambda: applier.replay(log[0], tmp_path / "onto", base=f"{copy}/_versions/3", stop=log[1][3])):
        with pytest.raises((SnapshotError, OSError)) as error:
            read()
        assert path.name in str(error.value)
    assert not os.path.exists(tmp_path / "onto")
    assert any(path.name in line for line in snapshot.verify().damaged)
    assert any(path.name in line for line in applier.fsck(copy).damaged)


def rewritten(version, change):
    """Change a manifest, and give it the digest that it has then."""
    path = Path(version, "_snapshot.json")
    document = json.loads(path.read_text())
    change(document["tables"][0])
    del document["digest"]
    document["digest"] = shards.own_digest(orjson.dumps(document))
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(("change", "what"), [
    (lambda table: table["files"][0].update(rows=table["files"][0]["rows"] + 1), "its manifest says"),
    (lambda table: table["row_files"].pop(), "its manifest says"),
    (lambda table: table["positions"].pop(), "its manifest says|two rows have one key"),
    (lambda table: [table.pop("row_files"), table.pop("positions")], "changes that nothing names"),
    (lambda table: table.update(key=[], key_kind=None, key_rules=[]), "no key|another kind"),
])
def test_a_manifest_that_does_not_agree(change, what, versions):
    """Counts of rows are compared with what is merged: a list of dead rows that is left out is no silent change."""
    lake, made, _ = versions
    rewritten(made[3].uri, change)
    with pytest.raises(SnapshotError, match=what):
        applier.Snapshot(lake).tables["shop.item"].to_arrow()


def test_files_to_merge_need_their_format_version(versions):
    made = versions[1]
    path = Path(made[3].uri, "_snapshot.json")
    document = json.loads(path.read_text()) | {"format_version": 3}
    del document["digest"]
    document["digest"] = shards.own_digest(orjson.dumps(document))
    path.write_text(json.dumps(document))
    with pytest.raises(SnapshotError, match="has files to merge, which format version 3 does not know"):
        applier.Snapshot(made[3].uri)


# ---- runs at once, kills, old versions


def test_of_two_runs_one_wins(versions):
    lake, made, _ = versions
    snapshot = manifest.load(lake)
    with open_lake(lake).begin() as first, \
            open_lake(lake).begin() as second:
        published = first.commit(snapshot, "", {})
        with pytest.raises(AnotherRun, match="another run has published this version"):
            second.commit(snapshot, "", {})
    assert manifest.load(lake).uri == published.uri
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(made[3]))


def test_rounds_at_once(log, tmp_path):
    """Of rounds onto one version, one publishes; the others do not change what it holds."""
    lake = tmp_path / "lake"
    applier.replay(log[0], lake=lake, merge_on_read=True, stop=log[1][0], target_file_size=SMALL)
    ended = []

    def run():
        try:
            ended.append(applier.replay(log[0], lake=lake, target_file_size=SMALL).snapshot.uri)
        except AnotherRun as error:
            ended.append(error.exit_code)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(ended) <= {75, f"{lake}/_versions/0000000002"} and len(set(ended) - {75}) == 1
    plain = applier.replay(log[0], tmp_path / "plain").snapshot
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain)) and not applier.fsck(lake).damaged


KILLED = """
import threading
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
def run(ends_at):
    calls = 0
    def at_call(frame, event, argument):
        nonlocal calls
        if event == "call" and frame.f_code.co_filename.rpartition("/")[2] in (
                "staging.py", "lake_staging.py", "lakes.py", "durable.py", "merging.py", "merged_unit.py"):
            calls += 1
            if calls == ends_at:
                os.kill(os.getpid(), 9)
    threading.setprofile(at_call)
    sys.setprofile(at_call)
    replay_with(ThisProcess(1), ReplayOptions((sys.argv[1],), lake=sys.argv[2], file_bytes=20000))
    return calls
"""


@pytest.mark.thorough
def test_killed_on_its_way(log, tmp_path):
    """At calls of the code that writes changes and versions: the version is absent or complete, and the next run makes
    it."""
    lake = str(tmp_path / "lake")
    first = applier.replay(log[0], lake=lake, merge_on_read=True, stop=log[1][1], target_file_size=SMALL).snapshot
    rows, plain, states = rows_of(first), applier.replay(log[0], tmp_path / "plain").snapshot, set()
    with forked_runs(KILLED, log[0], lake) as run:
        calls = run(0)
        for place in sorted({1 + place * (calls - 1) // 20 for place in range(21)}):
            shutil.rmtree(f"{lake}/_versions/0000000002", ignore_errors=True)
            assert run(place) is None
            there = os.path.exists(f"{lake}/_versions/0000000002")
            states.add(there)
            now = applier.Snapshot(lake)
            assert now.uri.endswith("2" if there else "1") and not now.verify().damaged
            assert rows_of(now).equals(rows_of(plain) if there else rows)
        assert states == {True, False}
        shutil.rmtree(f"{lake}/_versions/0000000002", ignore_errors=True)
        assert run(0)
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain)) and rows_of(first).equals(rows)
    assert not applier.fsck(lake).damaged


def test_expire(log, versions):
    """What versions that stay need stays: files, row files and positions that are in several."""
    lake, _, plain = versions
    (Path(lake) / "_data" / entry_of(lake).folder.rpartition("/")[2] / "part-000000-0123456789ab-0000.data").touch()
    os.utime(next(Path(lake).rglob("part-000000-0123456789ab-0000.data")), (0, 0))
    assert applier.fsck(lake).strays
    assert applier.expire(lake, 2).versions == (1, 2) and applier.fsck(lake).strays == ()
    assert not applier.fsck(lake).damaged
    for number in (2, 3):
        assert rows_of(applier.Snapshot(f"{lake}/_versions/{number + 1}")).equals(rows_of(plain[number]))
    assert applier.expire(lake, 1).versions == (3,)
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain[3]))
    named = {file.path for files in entry_of(lake).lists for file in files}
    assert {path for path in below(lake) if path.startswith("_data")} == named


def test_on_an_object_store(log, tmp_path):
    """Rounds, readers and `compact` on s3://."""
    plain = [applier.replay(log[0], tmp_path / str(number), stop=end).snapshot for number, end in enumerate(log[1])]
    with object_store("merging"):
        lake = "s3://merging/lake"
        for end, snapshot in zip(log[1], plain, strict=True):
            version = applier.replay(log[0], lake=lake, merge_on_read=True, stop=end, target_file_size=SMALL,
                                     engine="local").snapshot
            assert rows_of(version).equals(rows_of(snapshot))
        assert entry_of(version).row_files and not version.verify().damaged
        with pytest.raises(UsageError, match="cannot be queried"):
            version.sql("SELECT 1")
        assert applier.expire(lake, 1).versions == (1, 2, 3) and not applier.fsck(lake).damaged
        assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain[3]))
        assert applier.compact(lake).left == 0 and not entry_of(lake).row_files and not applier.fsck(lake).damaged
        assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain[3]))


def test_as_of(log, versions):
    lake, made, plain = versions
    assert rows_of(applier.Snapshot(lake, as_of=log[1][2])).equals(rows_of(plain[2]))
    assert lakes.number_of(applier.Snapshot(lake, as_of=log[1][2]).uri) == 3
    assert replace(entry_of(made[2]), files=()).layer is not None
