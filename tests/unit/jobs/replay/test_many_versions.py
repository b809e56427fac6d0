"""Tables with thousands of versions: cost and depth are not those of all versions before."""

import sys
import time
import tracemalloc

import pyarrow.parquet as pq
import pytest

import applier
from applier.schema.history.history import SchemaHistory
from applier.snapshot import manifest

pytestmark = pytest.mark.slow

FRAMES, N = 320, 350
"""Python's frames in these tests, and more versions than that."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """What a replay needs is imported."""
    folder = tmp_path_factory.mktemp("imported")
    with applier.binlog.Writer(str(folder / "log.000001")) as log:
        log.query("CREATE DATABASE d")
        _columns(log, 1)
    for route in ("walk", "shuffle"):
        applier.replay(str(folder / "log.000001"), str(folder / route), route=route)


@pytest.fixture(autouse=True)
def few_frames(imported):
    """So that fewer versions show what 1,200 do with Python's 1,000 frames."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(FRAMES)
    yield
    sys.setrecursionlimit(before)


def _partitions(log, n, statement):
    parts = ", ".join(f"PARTITION p{i} VALUES LESS THAN ({10 * i + 10})" for i in range(n))
    log.query(f"CREATE TABLE d.p (id INT PRIMARY KEY, v INT) PARTITION BY RANGE (id) ({parts})")
    with log.transaction():
        log.insert("d.p", {"id": [10 * i for i in range(n)], "v": [1] * n})
    for i in range(N // 2):
        for sql in statement(i):
            log.query(sql)
        with log.transaction():
            log.insert("d.p", {"id": [10 * (n + i) + 3], "v": [2]})


def _swaps(log):
    log.query("CREATE TABLE d.p (id INT PRIMARY KEY, v INT)")
    log.query("CREATE TABLE d.q (id INT PRIMARY KEY, v INT)")
    for i in range(N // 3):
        with log.transaction():
            log.insert("d.p", {"id": [i], "v": [i]})
        log.query("RENAME TABLE d.p TO d.x, d.q TO d.p, d.x TO d.q")


def _columns(log, n=N // 2):
    log.query("CREATE TABLE d.p (id INT PRIMARY KEY, v INT)")
    for i in range(n):
        with log.transaction():
            log.insert("d.p", {"id": [i], "v": [i]})
        log.query(f"ALTER TABLE d.p ADD COLUMN z INT DEFAULT {i}")
        log.query("ALTER TABLE d.p DROP COLUMN z")


def _types_without_changes_between(log):
    log.query("CREATE TABLE d.p (id INT PRIMARY KEY, v INT)")
    with log.transaction():
        log.insert("d.p", {"id": [1], "v": [1]})
    for i in range(N):
        log.query("ALTER TABLE d.p MODIFY v " + ("INT", "BIGINT")[i % 2])


def _rotation(log):
    added = "ALTER TABLE d.p ADD PARTITION (PARTITION p{} VALUES LESS THAN ({}))"
    _partitions(log, 10, lambda i: (added.format(10 + i, 10 * i + 110), f"ALTER TABLE d.p DROP PARTITION p{i}"))


@pytest.mark.by_turns("route", one_in=2)
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize(("history", "rows"), [(_swaps, N // 3), (_columns, N // 2), (_rotation, 10),
                                               (_types_without_changes_between, 1)])
def test_versions_without_recursion(history, rows, route, tmp_path):
    with applier.binlog.Writer(str(tmp_path / "log.000001")) as log:
        log.query("CREATE DATABASE d")
        history(log)
    applier.replay(str(tmp_path / "log.000001"), str(tmp_path / "out"), route=route)
    tables = manifest.load(str(tmp_path / "out")).tables
    found = [pq.read_table(tmp_path / "out" / file.path) for table in tables for file in table.files]
    assert sum(table.num_rows for table in found) == rows


def test_a_version_holds_no_memory_of_a_batch(tmp_path):
    """What a version's changes were read into goes when its log ends, and a table that is small stays one unit."""
    with applier.binlog.Writer(str(tmp_path / "log.000001")) as log:
        log.query("CREATE DATABASE d")
        _columns(log)
    tracemalloc.start()
    try:
        applier.replay(str(tmp_path / "log.000001"), str(tmp_path / "out"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < N // 2 * (100 << 10)
    [table] = manifest.load(str(tmp_path / "out")).tables
    assert len(table.files) == 1


def test_a_history_costs_as_much_as_it_has_versions():
    """RENAMEs, which look for foreign keys of other tables, and groups of tables that exchanged rows."""
    def seconds(n):
        began = time.process_time()
        history = SchemaHistory("mysql")
        for sql in ["CREATE TABLE d.p (id INT)", "CREATE TABLE d.q (id INT)",
                    *["RENAME TABLE d.p TO d.x, d.q TO d.p, d.x TO d.q"] * n]:
            history.load_statement(sql, database=None, sql_mode="", time_zone="+00:00")
        assert history.exchanged() == []
        return time.process_time() - began

    few, many = (min(seconds(n) for _ in range(3)) for n in (200, 2000))
    assert many < 30 * few
