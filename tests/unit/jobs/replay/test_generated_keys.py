"""Unique keys over generated columns that images lack, or the log: duplicates in them are found as on a replica.

What a MySQL 9.7 did with these logs: every kind of column, and both kinds of images, gave the same, since the engine
makes a generated column of the row of that time (DEF-R2).
"""

import random

import pyarrow as pa
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped, SchemaError
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ImportOptions, ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.small_parts import rows_of

pytestmark = pytest.mark.slow

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
    """A log of d.t, without g; with `logged`, as if the source had a column g, which no image has."""
    columns = "id INT PRIMARY KEY, a INT, x INT" + ", g INT" * logged
    [made] = parse_statement(f"CREATE TABLE d.t ({columns})", flavour=flavour)
    table = made.definition

    def image(row, names):
        return {name: pa.array([value], pa.int32()) for name, value in zip(NAMES, row, strict=True) if name in names}

    with BinlogWriter(folder / "binlog.000001", flavour=flavour, gtids="none") as log:
        for before, after, changed in work:
            with log.transaction():
                log.rows(RowChanges(table, None if before is None else image(before, ["id"] if minimal else NAMES),
                                    None if after is None else image(after, changed if minimal and changed else NAMES)))
    return str(log.path)


def dump_of(column, key):
    keys = f"{key}, KEY i (id)" if key.startswith("PRIMARY") else f"PRIMARY KEY (id), {key}"
    rows = ", ".join(map(str, BASE))
    return (f"CREATE DATABASE d;\nUSE d;\nCREATE TABLE t (id INT NOT NULL, a INT, x INT, {column}, {keys}) "
            f"ENGINE=InnoDB;\nINSERT INTO t (id, a, x) VALUES {rows};\n")


def replayed(folder, name, route, mode, column, key, *, minimal, logged=False, flavour="mysql", work=None):
    log = log_of(folder, work or STEPS[name][0], minimal=minimal, logged=logged, flavour=flavour)
    (folder / "target.sql").write_text(dump_of(column, key))
    import_dump(ImportOptions(str(folder / "target.sql"), str(folder / "base"), flavour=flavour))
    replay_with(ThisProcess(1), ReplayOptions((log,), str(folder / "out"), base=str(folder / "base"), route=route,
                                              exec_mode=mode))
    return rows_of(folder / "out")["d.t"]


def plain(rows):
    return sorted(tuple(row[name] for name in NAMES) for row in rows)


@pytest.mark.by_turns("route", "logged")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("logged", [False, True], ids=["not logged", "logged"])
@pytest.mark.parametrize("minimal", [False, True], ids=["full", "minimal"])
@pytest.mark.parametrize("kind", [*KINDS, "primary"])
def test_idempotent_mode_takes_rows_out_of_the_way(tmp_path, kind, minimal, logged, route):
    column, key = PRIMARY if kind == "primary" else KINDS[kind]
    if logged and "text" in kind:
        logged = False  # the log's g is an integer
    for number, (name, (_, expected, _)) in enumerate(STEPS.items()):
        if number % 2 == (route == "walk") or (kind == "primary" and "NULL" in name):
            continue  # half of the steps by either route
        (folder := tmp_path / str(number)).mkdir()
        rows = replayed(folder, name, route, "idempotent", column, key, minimal=minimal, logged=logged)
        assert plain(rows) == sorted(expected), name


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("kind", ["stored", "virtual", "primary"])
@pytest.mark.parametrize("name", [name for name, (*_, stops) in STEPS.items() if stops])
def test_strict_mode_stops(tmp_path, name, kind, route):
    column, key = PRIMARY if kind == "primary" else KINDS[kind]
    with pytest.raises(ReplayStopped) as stopped:
        replayed(tmp_path, name, route, "strict", column, key, minimal=route == "walk", logged=kind == "virtual")
    assert stopped.value.mysql_errno == 1062


@pytest.mark.parametrize("mode", ["strict", "idempotent"])
def test_what_cannot_be_known_is_refused(tmp_path, mode):
    """The key has a value that depends on a replica's faults."""
    with pytest.raises(SchemaError, match=r"column g is generated from .*names generated columns") as refused:
        replayed(tmp_path, "update to other", "walk", mode, "v INT AS (a + 7) VIRTUAL, g INT AS (v % 7) STORED",
                 "UNIQUE KEY u (g)", minimal=True)
    assert (refused.value.table, refused.value.key) == ("d.t", "u")
    assert refused.value.position


PARTLY_TOLD = ["g INT AS (a * 10 + x) STORED", "g INT AS (a * 10 + x) VIRTUAL",
               "y INT DEFAULT 3, g INT AS (a * 10 + x + y) STORED"]


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("column", PARTLY_TOLD)
def test_what_an_image_does_not_tell_is_the_row_s(tmp_path, column, route):
    """DEF-R2: an update's image that has some of what a key is made of gives the key that the row then has."""
    work = [((1, 0, 5), (1, 4, 5), "a"), ((1, 4, 5), (1, 4, 6), "x"), (None, (10, 0, 5), ""), (None, (11, 4, 5), "")]
    rows = replayed(tmp_path, "", route, "strict", column, "UNIQUE KEY u (g)", minimal=True, work=work)
    assert plain(rows) == [(1, 4, 6), (2, 1, 5), (3, 2, 5), (10, 0, 5), (11, 4, 5)]
    (again := tmp_path / "again").mkdir()
    with pytest.raises(ReplayStopped) as stopped:
        replayed(again, "", route, "strict", column, "UNIQUE KEY u (g)", minimal=True, work=[
            *work, ((11, 4, 5), (11, 4, 6), "x")])
    assert stopped.value.mysql_errno == 1062


@pytest.mark.parametrize("column", PARTLY_TOLD[:2])
def test_rows_that_change_again_and_again(tmp_path, column):
    """Values that wait for their rows are computed of what these are then, in whatever batches changes come."""
    pick = random.Random(3)
    rows = {key: [a, x] for key, a, x in BASE} | {key: [key, 0] for key in range(100, 140)}
    work = [(None, (key, *rows[key]), "") for key in range(100, 140)]
    for _ in range(600):
        key, place = pick.choice([1, 2, *range(100, 140)]), pick.choice([0, 1])
        after = list(rows[key])
        after[place] = pick.randrange(9)
        work.append(((key, *rows[key]), (key, *after), "ax"[place]))
        if not any(other != key and a * 10 + x == after[0] * 10 + after[1] for other, (a, x) in rows.items()):
            rows[key] = after
    held = replayed(tmp_path, "", "walk", "idempotent", column, "UNIQUE KEY u (g)", minimal=True, work=work)
    assert plain(held) == sorted((key, *row) for key, row in rows.items())


@pytest.mark.contradicted  # the column is another one on the source
@pytest.mark.parametrize("image", ["with what it is made of", "without", "given alone"])
def test_a_column_that_the_source_stores_is_computed_on_mysql(tmp_path, image):
    """Seen on MySQL 9.7 and MariaDB 10.11; a value given alone is kept in the first row of an event, not in others."""
    given = {"with what it is made of": {"a": 3, "g": 77}, "without": {"a": 3}, "given alone": {"g": 77}}[image]
    for flavour in ("mysql", "mariadb"):
        (folder := tmp_path / flavour).mkdir()
        [made] = parse_statement("CREATE TABLE d.t (id INT PRIMARY KEY, a INT, x INT, g INT)", flavour=flavour)
        with BinlogWriter(folder / "binlog.000001", flavour=flavour, gtids="none") as log, log.transaction():
            log.rows(RowChanges(made.definition, {"id": pa.array([1], pa.int32())},
                                {name: pa.array([value], pa.int32()) for name, value in given.items()}))
        (folder / "target.sql").write_text(dump_of("g INT AS (a % 7) STORED", "KEY k (x)"))
        import_dump(ImportOptions(str(folder / "target.sql"), str(folder / "base"), flavour=flavour))

        def replay(folder=folder, log=log):
            replay_with(ThisProcess(1), ReplayOptions((str(log.path),), str(folder / "out"),
                                                      base=str(folder / "base")))
            return [row["g"] for row in rows_of(folder / "out")["d.t"]]

        if flavour == "mariadb":
            assert replay() == [given.get("g", 0), 1, 2]
        elif image == "given alone":
            with pytest.raises(SchemaError, match="a replica's value of it cannot be determined"):
                replay()
        else:
            assert replay() == [3, 1, 2]


def test_an_update_of_other_columns_leaves_it(tmp_path):
    work = [((3, 2, 5), (3, 2, 6), "x")]
    rows = replayed(tmp_path, "", "walk", "strict", "y INT DEFAULT 3, g INT AS (a + y) STORED", "UNIQUE KEY u (g)",
                    minimal=True, work=work)
    assert [row["g"] for row in rows] == [3, 4, 5]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_what_waits_for_its_row_in_tables_that_foreign_keys_tie(tmp_path, route):
    """AP-FK: a parent's delete takes a row, and its key, between updates that tell a part of keys."""
    names = {"p": ("id",), "c": ("id", "r", "a", "x"), "e": ("id", "f")}
    tables = {}
    for name, columns in names.items():
        [made] = parse_statement(f"CREATE TABLE d.{name} ({', '.join(f'{one} INT' for one in columns)}, "
                                 "PRIMARY KEY (id))", flavour="mysql")
        tables[name] = made.definition
    work = [("c", (1,), {"a": 4}), ("c", (1,), {"x": 6}), ("c", (2,), {"a": 7}), ("p", (1,), None),
            ("c", None, {"id": 8, "r": 2, "a": 4, "x": 6}), ("c", (2,), {"x": 9}), ("c", (3,), {"a": 7})]
    with BinlogWriter(tmp_path / "binlog.000001", flavour="mysql", gtids="none") as log:
        for name, before, after in work:
            def image(values):
                return {column: pa.array([value], pa.int32()) for column, value in values.items()}

            with log.transaction():
                log.rows(RowChanges(tables[name], None if before is None else image({"id": before[0]}),
                                    None if after is None else image(after)))
    (tmp_path / "target.sql").write_text("""CREATE DATABASE d; USE d; CREATE TABLE p (id INT PRIMARY KEY) ENGINE=InnoDB;
        CREATE TABLE c (id INT PRIMARY KEY, r INT, a INT, x INT, g INT AS (a * 10 + x) STORED, UNIQUE KEY u (g),
            KEY (r), FOREIGN KEY (r) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB;
        CREATE TABLE e (id INT PRIMARY KEY, f INT, KEY (f), FOREIGN KEY (f) REFERENCES c (id) ON DELETE SET NULL)
            ENGINE=InnoDB;
        INSERT INTO p VALUES (1), (2);
        INSERT INTO c (id, r, a, x) VALUES (1, 1, 0, 5), (2, 2, 1, 5), (3, 2, 2, 5);
        INSERT INTO e VALUES (1, 1), (2, 2);
        """)
    import_dump(ImportOptions(str(tmp_path / "target.sql"), str(tmp_path / "base"), flavour="mysql"))
    replay_with(ThisProcess(1), ReplayOptions((str(log.path),), str(tmp_path / "out"), base=str(tmp_path / "base"),
                                              route=route))
    held = rows_of(tmp_path / "out")
    assert [tuple(row.values()) for row in held["d.c"]] == [(2, 2, 7, 9, 79), (3, 2, 7, 5, 75), (8, 2, 4, 6, 46)]
    assert [tuple(row.values()) for row in held["d.e"]] == [(1, None), (2, 2)]
