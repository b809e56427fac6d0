"""`applier.history(…).side_by_side()`: the changes of rows with old and new values, and their origins."""

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.real_server import Case

pytestmark = pytest.mark.slow


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


def side_by_side(log, **options):
    log.close()
    rows = applier.history(str(log.path), "d.t", **options).side_by_side().to_arrow().to_pylist()
    return [(row["_change_type"], row["old_id"], row["new_id"], row["old_v"], row["new_v"]) for row in rows]


def test_each_change_is_one_row(log):
    """By key, and in time order, also of a row that comes again; an update of the key ends one row and begins one."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": ints(3, 1), "v": ints(30, 10)}))
    write(log, RowChanges(t, before={"id": ints(1)}, after={"v": ints(11)}),
          RowChanges(t, before={"id": ints(1)}), RowChanges(t, after={"id": ints(1), "v": ints(12)}))
    write(log, RowChanges(t, before={"id": ints(3)}, after={"id": ints(7), "v": ints(31)}))
    assert side_by_side(log) == [
        ("insert", None, 1, None, 10), ("update", 1, 1, 10, 11), ("delete", 1, None, 11, None),
        ("insert", None, 1, None, 12), ("insert", None, 3, None, 30), ("update", 3, None, 30, None),
        ("update", None, 7, None, 31)]


def test_a_row_that_moves_to_the_next_key(log):
    """As one that moves further."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": ints(1), "v": ints(10)}))
    write(log, RowChanges(t, before={"id": ints(1)}, after={"id": ints(2)}))
    assert side_by_side(log) == [("insert", None, 1, None, 10), ("update", 1, None, 10, None),
                                 ("update", None, 2, None, 10)]


def test_ddl(log):
    """Each row continues with its own values, and not with those of the row that DDL changed before it."""
    t = table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    write(log, RowChanges(t, after={"id": ints(1, 2), "v": ints(10, 20)}))
    log.query("ALTER TABLE t ADD w INT DEFAULT 5", "d")
    log.query("TRUNCATE TABLE t", "d")
    assert side_by_side(log) == [
        ("insert", None, 1, None, 10), ("alter", 1, 1, 10, 10), ("truncate", 1, None, 10, None),
        ("insert", None, 2, None, 20), ("alter", 2, 2, 20, 20), ("truncate", 2, None, 20, None)]


@pytest.mark.parametrize("name", ["carts", "customers", "order_items", "orders", "products", "stock"])
def test_they_are_the_changes_of_the_feed(name):
    """Of more versions than a batch has: images, times, transactions, positions, and threads."""
    history = applier.history(ARCHIVE, f"shop.{name}", origins=True)
    found = history.side_by_side()
    table = found.to_arrow()
    assert table.schema == found.schema
    columns = [field.removeprefix("new_") for field in table.column_names if field.startswith("new_")]
    feed = applier.changes(ARCHIVE, f"shop.{name}", complete=True).to_arrow().to_pylist()
    threads = {one["_commit_version"]: one["_thread_id"] for one in feed} if "_thread_id" in feed[0] else {}

    def images(row, prefix):
        return tuple(repr(row[prefix + column]) for column in columns)

    expected, changes = Counter(), Counter()
    for row in feed:
        is_old = row["_change_type"] in ("delete", "update_preimage")
        expected[row["_commit_version"], row["_seq"], row["_gtid"], row["_file"], row["_pos"], is_old,
                 images(row, "")] += 1
    for row in table.to_pylist():
        what = row["_commit_version"], row["_seq"], row["_gtid"], row["_file"], row["_pos"]
        if row["_change_type"] != "insert" and row[f"old_{columns[0]}"] is not None:
            changes[(*what, True, images(row, "old_"))] += 1
        if row["_change_type"] != "delete" and row[f"new_{columns[0]}"] is not None:
            changes[(*what, False, images(row, "new_"))] += 1
        assert row["_thread"] == threads.get(row["_commit_version"], row["_thread"])
    assert changes == expected


@pytest.mark.parametrize("name, has_threads", [("row-image-full", True), ("mariadb-row-image-full", False)])
def test_origins(name, has_threads):
    """MariaDB before 11.5 does not log which thread changed a row. Statements may be asked for, too."""
    case = Case(name)
    files = sorted(map(str, case.folder.glob("binlog.0*")))
    rows = applier.history(files, "img.auto_inc", origins=True, statements=True).to_arrow().to_pylist()
    assert rows and all((row["_from_thread"] is not None) == has_threads for row in rows)
    assert all((row["_to_thread"] is None) == (row["_to_pos"] is None or not has_threads) for row in rows)
    for row in rows:
        assert any(event.position == row["_from_pos"] for event in applier.binlog.open(files[0]))
    changes = applier.history(files, "img.auto_inc", origins=True, statements=True).side_by_side().to_arrow()
    assert changes.column_names[:9] == ["_change_type", "_time", "_commit_version", "_seq", "_gtid", "_file", "_pos",
                                        "_thread", "_statement"]


def test_what_is_refused(log):
    t = table(log, "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id))")
    k = table(log, "CREATE TABLE k (v INT)")
    write(log, RowChanges(t, after={"id": ints(1), "v": ints(1)}), RowChanges(k, after={"v": ints(1)}))
    log.close()
    with pytest.raises(applier.UsageError, match="without the columns"):
        applier.history(str(log.path), "d.t", columns=["v"]).side_by_side()
    with pytest.raises(applier.UsageError, match="without the columns"):
        applier.history(str(log.path), "d.k").side_by_side()


def test_nothing_is_no_row(log):
    table(log, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    assert side_by_side(log) == []


def test_in_files(tmp_path):
    """With places and threads, as in memory."""
    history = applier.history(ARCHIVE, "shop.carts", origins=True)
    made = history.write(tmp_path / "out")
    names = history.schema.names
    files = [pq.read_table(tmp_path / "out" / file.file, partitioning=None) for file in made.files]
    assert all(file.column_names == names for file in files)
    threads = Counter(thread for file in files for thread in file.column("_from_thread").to_pylist())
    assert threads == Counter(history.to_arrow().column("_from_thread").to_pylist())
