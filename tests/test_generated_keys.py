"""Unique keys over generated columns that images lack, or the log: duplicates in them are met as on a replica.

What a MySQL 9.7 did with these logs: every kind of column, and both kinds of images, gave the same, since the engine
makes a generated column of the row that is there then (DEF-R2).
"""

import pyarrow as pa
import pytest
from small_pieces import rows_of

from applier.apply.executor import ThisProcess
from applier.binlog.row_encoder import RowChanges
from applier.binlog.writer import BinlogWriter
from applier.errors import ReplayStopped, SchemaError
from applier.importing.job import import_dump
from applier.options import ImportOptions, ReplayOptions
from applier.replay import replay_with
from applier.schema.ddl import parse_statement

KINDS = {
    "stored": ("g INT AS (a % 7) STORED", "UNIQUE KEY u (g)"),
    "virtual": ("g INT AS (a % 7) VIRTUAL", "UNIQUE KEY u (g)"),
    "stored text": ("g VARCHAR(9) AS (CONCAT('v', a % 7, 'w')) STORED", "UNIQUE KEY u (g(2))"),
    "virtual text": ("g VARCHAR(9) AS (CONCAT('v', a % 7, 'w')) VIRTUAL", "UNIQUE KEY u (g(2))"),
    "stored of two": ("g INT AS (a % 7) STORED", "UNIQUE KEY u (x, g)"),
    "virtual of two": ("g INT AS (a % 7) VIRTUAL", "UNIQUE KEY u (x, g)"),
}
PRIMARY = ("g INT AS (a % 7) STORED NOT NULL", "PRIMARY KEY (g)")
BASE = [(1, 0, 5), (2, 1, 5), (3, 2, 5)]
NAMES = ("id", "a", "x")


STEPS = {
    # changes in order (before, after, the columns that an update changes), and the rows in the end in idempotent mode,
    # or those that come to the base's or are gone; strict mode stops with 1062 where `stops`
    "insert like the base": ([(None, (10, 7, 5), "")], [(2, 1, 5), (3, 2, 5), (10, 7, 5)], True),
    "insert like one": ([(None, (11, 3, 5), ""), (None, (12, 10, 5), "")], [*BASE, (12, 10, 5)], True),
    "insert like updated": ([((2, 1, 5), (2, 4, 5), "a"), (None, (13, 8, 5), ""), (None, (14, 11, 5), "")],
                            [(1, 0, 5), (3, 2, 5), (13, 8, 5), (14, 11, 5)], True),
    "insert like one with another x": ([((3, 2, 5), (3, 2, 6), "x"), (None, (15, 9, 6), "")],
                                       [(1, 0, 5), (2, 1, 5), (15, 9, 6)], True),
    "update": ([((1, 0, 5), (1, 8, 5), "a")], BASE, True),
    "update to other": ([((1, 0, 5), (1, 11, 5), "a")], [(1, 11, 5), (2, 1, 5), (3, 2, 5)], False),
    "insert like one that was": ([((1, 0, 5), None, ""), (None, (16, 7, 5), "")], [(2, 1, 5), (3, 2, 5), (16, 7, 5)],
                                 False),
    "insert NULL": ([(None, (17, None, 5), ""), (None, (18, None, 5), "")],
                    [*BASE, (17, None, 5), (18, None, 5)], False),
}


def log_of(folder, work, *, minimal, logged, flavour):
    """A log of what changes in tables of d, without g; with `logged`, as if the source had a column g, which no image
    has."""
    columns = "id INT PRIMARY KEY, a INT, x INT" + ", g INT" * logged

    def image(row, names):
        return {name: pa.array([value], pa.int32()) for name, value in zip(NAMES, row, strict=True) if name in names}

    with BinlogWriter(folder / "binlog.000001", flavour=flavour, gtids="none") as log:
        for name, changes in work.items():
            [made] = parse_statement(f"CREATE TABLE d.{name} ({columns})", flavour=flavour)
            for before, after, changed in changes:
                with log.transaction():
                    log.rows(RowChanges(
                        made.definition, None if before is None else image(before, ["id"] if minimal else NAMES),
                        None if after is None else image(after, changed if minimal and changed else NAMES)))
    return str(log.path)


def dump_of(tables, column, key):
    keys = f"{key}, KEY i (id)" if key.startswith("PRIMARY") else f"PRIMARY KEY (id), {key}"
    rows = ", ".join(map(str, BASE))
    return "CREATE DATABASE d;\nUSE d;\n" + "".join(
        f"CREATE TABLE {name} (id INT NOT NULL, a INT, x INT, {column}, {keys}) ENGINE=InnoDB;\n"
        f"INSERT INTO {name} (id, a, x) VALUES {rows};\n" for name in tables)


def replayed(folder, work, route, mode, column, key, *, minimal, logged=False, flavour="mysql"):
    """The rows of each table, whose name is in `work` with its changes."""
    folder.mkdir(exist_ok=True)
    log = log_of(folder, work, minimal=minimal, logged=logged, flavour=flavour)
    (folder / "target.sql").write_text(dump_of(work, column, key))
    import_dump(ImportOptions(str(folder / "target.sql"), str(folder / "base"), flavour=flavour))
    replay_with(ThisProcess(1), ReplayOptions((log,), str(folder / "out"), base=str(folder / "base"), route=route,
                                              exec_mode=mode))
    return {name.removeprefix("d."): rows for name, rows in rows_of(folder / "out").items()}


def plain(rows):
    return sorted(tuple(row[name] for name in NAMES) for row in rows)


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("logged", [False, True], ids=["not logged", "logged"])
@pytest.mark.parametrize("minimal", [False, True], ids=["full", "minimal"])
@pytest.mark.parametrize("kind", [*KINDS, "primary"])
def test_idempotent_mode_takes_rows_out_of_the_way(tmp_path, kind, minimal, logged, route):
    column, key = PRIMARY if kind == "primary" else KINDS[kind]
    if logged and "text" in kind:
        logged = False  # the log's g is an integer
    work, expected = {}, {}
    for number, (name, (changes, rows, _)) in enumerate(STEPS.items()):
        if number % 2 == (route == "walk") or (kind == "primary" and "NULL" in name):
            continue  # half of the steps by either route
        if logged and "STORED" in column and any(
                before and after and ("a" in changed or not minimal) for before, after, changed in changes):
            with pytest.raises(SchemaError, match="a replica computes it anew"):
                replayed(tmp_path / str(number), {"t": changes}, route, "idempotent", column, key, minimal=minimal,
                         logged=logged)
            continue
        work[f"`{name}`"], expected[name] = changes, sorted(rows)
    held = replayed(tmp_path / "all", work, route, "idempotent", column, key, minimal=minimal, logged=logged)
    assert {name: plain(rows) for name, rows in held.items()} == expected


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("kind", ["stored", "virtual", "primary"])
@pytest.mark.parametrize("name", [name for name, (*_, stops) in STEPS.items() if stops])
def test_strict_mode_stops(tmp_path, name, kind, route):
    column, key = PRIMARY if kind == "primary" else KINDS[kind]
    with pytest.raises(ReplayStopped) as stopped:
        replayed(tmp_path, {"t": STEPS[name][0]}, route, "strict", column, key, minimal=route == "walk",
                 logged=kind == "virtual")
    assert stopped.value.mysql_errno == 1062


@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("column, names", [
    ("g INT AS (a + x) STORED", "not x,"), ("g INT AS (a + x) VIRTUAL", "not x,"),
    ("y INT DEFAULT 3, g INT AS (a + y) VIRTUAL", "not y,"),
    ("v INT AS (a + 7) VIRTUAL, g INT AS (v % 7) STORED", "names generated columns")])
def test_what_cannot_be_known_is_refused(tmp_path, column, names, mode):
    """The key has a value that depends on what the image does not tell of the row, or on a replica's faults."""
    with pytest.raises(SchemaError, match=rf"column g is generated from .*{names}") as refused:
        replayed(tmp_path, {"t": STEPS["update to other"][0]}, "walk", mode, column, "UNIQUE KEY u (g)", minimal=True)
    assert (refused.value.table, refused.value.key) == ("d.t", "u")
    assert refused.value.position


def test_an_update_of_other_columns_leaves_it(tmp_path):
    work = [((3, 2, 5), (3, 2, 6), "x")]
    held = replayed(tmp_path, {"t": work}, "walk", "strict", "y INT DEFAULT 3, g INT AS (a + y) STORED",
                    "UNIQUE KEY u (g)", minimal=True)
    assert [row["g"] for row in held["t"]] == [3, 4, 5]
