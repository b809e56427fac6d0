"""Logs of real servers, from the command line on: the snapshot holds what the server held at the end, on both engines.

`real_server` says how snapshots are compared; test_stop_at_marks.py has the places before the end.
"""

import pytest

from applier import cli
from tests.support.real_server import Case, differences
from tests.support.turns import by_route_and_engine

pytestmark = pytest.mark.usefixtures("spark")

TYPES = ["mysql-types-number-time", "mysql-types-text", "mysql-types-json", "mysql-charsets", "mariadb-types",
         "mariadb-types-text", "mariadb-old-temporal"]
KEY_MOVES = ["key-moves-full", "key-moves-minimal"]
LARGE = ["large-statements-checksum-none", "large-statements-mariadb"]
ROW_IMAGES = [f"{server}row-image-{image}" for server in ("", "mariadb-") for image in ("full", "minimal", "noblob")]
TRANSACTIONS = ["transactions-mysql", "transactions-mysql-nogtid", "transactions-mariadb", "groups-mariadb"]
COMPRESSED = ["compressed-mysql", "compressed-mariadb"]

DDL = ["ddl-mysql", "ddl-mariadb", "ddl-mysql-convert", "ddl-added-mysql", "ddl-added-mariadb", "mariadb-sequences",
       "online-change-ghost-mysql", "online-change-ptosc-mariadb", "ddl-mysql-names", "ddl-mysql-number-rows",
       "statement-only-ddl", "row-metadata-full", "row-metadata-full-mariadb", "generated-columns-mysql",
       "generated-columns-mariadb", "many-files-mysql", "many-files-mariadb"]

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])
ENGINES = {"local": ["--engine", "local"], "spark": ["--engine", "spark", "--master", "local[2]"]}


@pytest.fixture(params=ENGINES)
def engine(request):
    """Each engine in turn."""
    return request.param


def replayed(case, output, *options, engine, route="auto"):
    """Replay a case with the command line; its exit code."""
    return cli.main(["replay", "--binlogs", *map(str, case.binlogs), "--output", str(output), *ENGINES[engine],
                     "--route", route, *options])


def is_what_the_server_held(snapshot, case, mark=None):
    return differences(snapshot, case.expected(mark)) == []


def holds_the_end(name, output, engine, route):
    case = Case(name)
    assert replayed(case, output, engine=engine, route=route) == 0
    assert differences(output, case.expected()) == []


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(TYPES)
def test_values_of_every_type(name, engine, route, tmp_path):
    """AP-VAL, AP-POS: every column type of both servers, at its limits and NULL, by value and by Arrow type."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(["wide-tables-mysql", "wide-tables-mariadb"])
def test_tables_of_hundreds_of_columns(name, engine, route, tmp_path):
    """IMG-W, IMG-U: bitmaps of many bytes, in full and minimal images."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(ROW_IMAGES)
def test_row_images(name, engine, route, tmp_path):
    """PKE, IMG-W, IMG-U, IMG-D, IMG-MIX, APP-R5, BLOB-R1, BLOB-R2, BLOB-R3, BLOB-R4, DEF-R1b, DEF-R2, FIND: the same
    workload in each image mode, on tables with a primary key or a unique key of NOT NULL columns."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("engine")
@pytest.mark.parametrize(("name", "route"), [("minimal-defaults", "walk"), ("mariadb-minimal-defaults", "shuffle")])
def test_defaults_of_columns_that_inserts_leave_out(name, engine, route, tmp_path):
    """IMG-W, DEF-R1b: thousands of columns, with every kind of literal for every kind of column."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(KEY_MOVES)
def test_keys_that_move(name, engine, route, tmp_path):
    """AP-ORD, FIND-ROWS, PKE: chains, swaps and rotations of keys, within an event and over transactions."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine([*LARGE, "checksum-changes"])
def test_events_of_one_statement_and_checksums_that_change(name, engine, route, tmp_path):
    """GRP-1, FIND-ROWS: statements of many events, of several tables; each file's own checksum algorithm."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(TRANSACTIONS)
def test_groups_of_every_kind(name, engine, route, tmp_path):
    """GRP-1, AP-ORD: savepoints, ROLLBACK beside tables without transactions, XA over files, GTIDs of all kinds."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(COMPRESSED)
def test_compressed_logs(name, engine, route, tmp_path):
    """GRP-1, AP-SNAP: payloads of zstd, statements and rows of zlib, beside what was too short for it."""
    holds_the_end(name, tmp_path / "out", engine, route)


@pytest.mark.by_turns("route", one_in=3)
@both_routes
@pytest.mark.parametrize("name", DDL)
def test_rows_over_ddl(name, route, tmp_path):
    """AP-VAL, DEF-R1b, EV-CTX: on Spark; tests/recorded/replay has them in this process."""
    holds_the_end(name, tmp_path / "out", "spark", route)


@pytest.mark.by_turns("engine")
@pytest.mark.parametrize("name, reachable", [
    ("many-files-mysql", ["m7", "m19"]), ("many-files-mariadb", ["m7", "m19"]), ("ddl-mysql-partitions", ["rows"]),
    ("statement-mysql", ["rows_only"]), ("statement-mysql-mixed", ["rows_only"]), ("statement-mariadb", ["rows_only"]),
])
def test_marks_before_what_cannot_be_replayed(name, reachable, engine, tmp_path):
    """GRP-1, GRP-2, AP-SNAP: rolled back and interleaved transactions, several files; what comes later is not read."""
    case = Case(name)
    for mark in map(case.mark, reachable):
        output = tmp_path / mark.name
        assert replayed(case, output, "--stop-position", str(mark), engine=engine) == 0
        assert is_what_the_server_held(output, case, mark), mark


@pytest.mark.by_turns("engine")
@pytest.mark.parametrize("name, code, says", [
    ("statement-mysql", 1, ["INSERT INTO t (v, d) VALUES ('insert id', 2)", "binlog.000001:1409", ":5", "st.t"]),
    ("statement-mysql-mixed", 1, ["UPDATE t SET v = 'statement'", "binlog.000001:1376", ":5", "st.t"]),
    ("statement-mariadb", 1, ["INSERT INTO t (v, d) VALUES ('insert id', 2)", "binlog.000001:1243", "-5", "st.t"]),
])
def test_what_cannot_be_replayed_stops_before_anything_is_published(name, code, says, engine, tmp_path, capsys):
    """GRP-1, AP-SNAP: DML as text is named with its place, GTID and table."""
    assert replayed(Case(name), tmp_path / "out", engine=engine) == code
    error = capsys.readouterr().err
    assert [part for part in [*says, "hint:", "--stop-position"] if part not in error] == []
    assert list(tmp_path.iterdir()) == []
