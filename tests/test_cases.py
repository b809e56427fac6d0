"""Logs of real servers, from the command line on: the snapshot holds what the server held, at the end and at each mark.

The marks were taken while the server ran, between two event groups; `real_server` says how snapshots are compared.
"""

import pytest
from real_server import Case, differences

from applier import cli
from applier.snapshot import manifest

pytestmark = pytest.mark.usefixtures("spark")

TYPES = ["mysql-types-number-time", "mysql-types-text", "mysql-types-json", "mysql-charsets", "mariadb-types",
         "mariadb-types-text", "mariadb-old-temporal"]
KEY_MOVES = ["key-moves-full", "key-moves-minimal"]
LARGE = ["large-statements-checksum-none", "large-statements-mariadb"]
ROW_IMAGES = [f"{server}row-image-{image}" for server in ("", "mariadb-") for image in ("full", "minimal", "noblob")]
BEFORE_XA = ["start", "savepoints", "myisam", "two_committed", "interleaved", "prepared"]
MARKED = [*KEY_MOVES, *LARGE, "checksum-changes"]

WITHOUT_A_KEY = dict.fromkeys(KEY_MOVES, ("moves.n",)) | dict.fromkeys(LARGE, ("big.nokey",)) | dict.fromkeys(
    ROW_IMAGES, ("img.uk_null", "img.k", "img.nokey"))
"""Tables that have no key to search by."""

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])


def replayed(case, output, *options, route="auto"):
    """Replay a case with the command line; its exit code."""
    left_out = WITHOUT_A_KEY.get(case.name)
    return cli.main(["replay", "--binlogs", *map(str, case.binlogs), "--output", str(output), "--master", "local[2]",
                     "--route", route, *options, *(["--ignore-tables", ",".join(left_out)] if left_out else [])])


def is_what_the_server_held(snapshot, case, mark=None):
    return differences(snapshot, case.expected(mark), WITHOUT_A_KEY.get(case.name, ())) == []


def holds_the_end(name, output, route):
    case = Case(name)
    assert replayed(case, output, route=route) == 0
    assert differences(output, case.expected(), WITHOUT_A_KEY.get(name, ())) == []


@both_routes
@pytest.mark.parametrize("name", TYPES)
def test_values_of_every_type(name, route, tmp_path):
    """AP-VAL, AP-POS: every column type of both servers, at its limits and NULL, by value and by Arrow type."""
    holds_the_end(name, tmp_path / "out", route)


@both_routes
@pytest.mark.parametrize("name", ["wide-tables-mysql", "wide-tables-mariadb"])
def test_tables_of_hundreds_of_columns(name, route, tmp_path):
    """IMG-W, IMG-U: bitmaps of many bytes, in full and minimal images."""
    holds_the_end(name, tmp_path / "out", route)


@both_routes
@pytest.mark.parametrize("name", ROW_IMAGES)
def test_row_images(name, route, tmp_path):
    """PKE, IMG-W, IMG-U, IMG-D, IMG-MIX, APP-R5, BLOB-R1 to R4, DEF-R1b, DEF-R2, FIND: the same workload in each image
    mode, on tables with a primary key or a unique key of NOT NULL columns."""
    holds_the_end(name, tmp_path / "out", route)


@pytest.mark.parametrize(("name", "route"), [("minimal-defaults", "walk"), ("mariadb-minimal-defaults", "shuffle")])
def test_defaults_of_columns_that_inserts_leave_out(name, route, tmp_path):
    """IMG-W, DEF-R1b: thousands of columns, with every kind of literal for every kind of column."""
    holds_the_end(name, tmp_path / "out", route)


@both_routes
@pytest.mark.parametrize("name", KEY_MOVES)
def test_keys_that_move(name, route, tmp_path):
    """AP-ORD, FIND-ROWS, PKE: chains, swaps and rotations of keys, within an event and over transactions."""
    holds_the_end(name, tmp_path / "out", route)


@both_routes
@pytest.mark.parametrize("name", [*LARGE, "checksum-changes"])
def test_events_of_one_statement_and_checksums_that_change(name, route, tmp_path):
    """GRP-1, FIND-ROWS: statements of many events, of several tables; each file's own checksum algorithm."""
    holds_the_end(name, tmp_path / "out", route)


MARKS = [pytest.param(name, mark.name, id=f"{name}@{mark.name}") for name in MARKED for mark in Case(name).marks]


@both_routes
@pytest.mark.parametrize("name, mark", MARKS)
def test_marks_by_position(name, mark, route, tmp_path):
    """GRP-2, AP-SNAP: all tables stand at the mark, and the snapshot says so."""
    case, output = Case(name), tmp_path / "out"
    mark = case.mark(mark)
    assert replayed(case, output, "--stop-position", str(mark), route=route) == 0
    assert is_what_the_server_held(output, case, mark)
    position = manifest.load(str(output)).position
    assert (str(position), position.gtid_set, position.flavour) == (str(mark), mark.gtid_set, case.server)


@pytest.mark.parametrize("name, mark", MARKS)
def test_marks_by_gtid_set(name, mark, tmp_path):
    """GRP-2, AP-SNAP: the same place, named by what was executed."""
    case, output = Case(name), tmp_path / "out"
    mark = case.mark(mark)
    assert replayed(case, output, "--stop-gtid", mark.gtid_set) == 0
    assert is_what_the_server_held(output, case, mark)
    assert str(manifest.load(str(output)).position) == str(mark)


@pytest.mark.parametrize("name, reachable", [
    ("many-files-mysql", ["m7", "m19"]), ("many-files-mariadb", ["m7", "m19"]), ("ddl-mysql-partitions", ["rows"]),
    ("transactions-mysql", BEFORE_XA), ("transactions-mysql-nogtid", BEFORE_XA),
    ("transactions-mariadb", ["start", "savepoints"]),
    ("statement-mysql", ["rows_only"]), ("statement-mysql-mixed", ["rows_only"]), ("statement-mariadb", ["rows_only"]),
])
def test_marks_before_what_cannot_be_replayed(name, reachable, tmp_path):
    """GRP-1, GRP-2, AP-SNAP: rolled back and interleaved transactions, several files; what comes later is not read."""
    case = Case(name)
    for mark in map(case.mark, reachable):
        output = tmp_path / mark.name
        assert replayed(case, output, "--stop-position", str(mark)) == 0
        assert is_what_the_server_held(output, case, mark), mark


@pytest.mark.parametrize("name, code, says", [
    ("statement-mysql", 1, ["INSERT INTO t (v, d) VALUES ('insert id', 2)", "binlog.000001:1409", ":5", "st.t"]),
    ("statement-mysql-mixed", 1, ["UPDATE t SET v = 'statement'", "binlog.000001:1376", ":5", "st.t"]),
    ("statement-mariadb", 1, ["INSERT INTO t (v, d) VALUES ('insert id', 2)", "binlog.000001:1243", "-5", "st.t"]),
    ("ddl-mysql", 1, ["ALTER TABLE t ADD COLUMN c INT DEFAULT 5", "binlog.000001:1226", "d1.t"]),
    ("ddl-mysql-convert", 1, ["ALTER TABLE nums MODIFY i BIGINT", "binlog.000001:1141", "cv.nums"]),
    ("ddl-mysql-partitions", 1, ["ALTER TABLE r REORGANIZE PARTITION", "binlog.000001:4715", "pt.r"]),
    ("many-files-mysql", 1, ["ALTER TABLE t ADD COLUMN late", "binlog.000002:2175", ":17", "mf.t"]),
    ("transactions-mysql", 2, ["XA COMMIT X'7831',X'',1", "binlog.000003:1894", ":25"]),
    ("transactions-mysql-nogtid", 2, ["XA COMMIT X'7831',X'',1", "binlog.000003:"]),
    ("transactions-mariadb", 2, ["ROLLBACK TO SAVEPOINT", "binlog.000002:2863", "0-25306-19"]),
])
def test_what_cannot_be_replayed_stops_before_anything_is_published(name, code, says, tmp_path, capsys):
    """GRP-1, AP-SNAP: DML as text, DDL that cannot be followed yet, XA: named with place, GTID and table."""
    assert replayed(Case(name), tmp_path / "out") == code
    error = capsys.readouterr().err
    assert [part for part in [*says, "hint:", "--stop-position"] if part not in error] == []
    assert list(tmp_path.iterdir()) == []


def test_no_mark_after_an_xa_commit_is_reached_without_it(tmp_path):
    """GRP-1: rows that were prepared count once they are committed, so that cannot be passed over."""
    case = Case("transactions-mysql")
    assert replayed(case, tmp_path / "out", "--stop-position", str(case.mark("xa_committed"))) == 2
    assert list(tmp_path.iterdir()) == []
