"""Logs on tables that were there before: cases with `target.sql`, imported as the base, as real replicas had them.

Where the case's replica stopped, so does the replay: with the server's error number, naming the table and the key; and
what its hint says leads to what the replica held. In idempotent mode what the replica skipped is counted.
"""

import json
import re
from collections import Counter

import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.snapshot import manifest
from tests.support.real_server import Case, differences
from tests.support.turns import by_route_and_engine

pytestmark = pytest.mark.usefixtures("spark")

ENGINES = {"spark": ["--master", "local[2]"], "local": ["--engine", "local"]}

STOPS = {
    "strict-delete-missing": (1032, "st.t", "PRIMARY (id) = 3"),
    "strict-insert-duplicate": (1062, "st.t", "PRIMARY (id) = 6"),
    "strict-insert-duplicate-unique": (1062, "st.t", "u (u) = 50"),
    "strict-nokey-differs": (1032, "st.t", "the row (2, 20, 'two')"),
    "strict-nokey-null": (1032, "st.t", "the row (2, 20, NULL)"),
    "strict-nullable-unique-differs": (1032, "ix.t", "the row (1, 'a', 1)"),
    "strict-plainkey-differs": (1032, "st.t", "the row (2, 20, 'two')"),
    "strict-table-missing": (1146, "st.other", ""),
    "strict-update-duplicate": (1062, "st.t", "u (u) = 50"),
    "strict-update-duplicate-key": (1062, "st.t", "PRIMARY (id) = 9"),
    "strict-update-missing": (1032, "st.t", "PRIMARY (id) = 3"),
    "mariadb-strict-delete-missing": (1032, "st.t", "PRIMARY (id) = 3"),
    "mariadb-strict-insert-duplicate": (1062, "st.t", "PRIMARY (id) = 6"),
    "mariadb-strict-update-missing": (1032, "st.t", "PRIMARY (id) = 3"),
    "target-key-missing": (1032, "ix.t", ""),
    "target-index-stricter": (1062, "ix.t", "PRIMARY (a) = 2"),
    "target-uk-stricter": (1062, "ix.t", "v (v) = 'c'"),
}
"""By case: the server's error number, the table, and the key."""

EQUAL = ["target-index-full", "target-index-minimal", "mariadb-target-index-full", "target-unique-differs",
         "target-key-missing-full", "target-key-partly-missing"]
OTHER_COLUMNS = ["row-image-empty", "target-columns-full", "target-columns-minimal", "mariadb-target-columns-full",
                 "mariadb-target-columns-minimal", "target-default-column-expr", "target-notnull-extra",
                 "target-notnull-extra-dates", "target-notnull-extra-json", "target-notnull-minimal",
                 "target-notnull-null", "json-target-columns-full", "json-target-columns-minimal"]


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """The snapshot of a case's tables; they are imported once."""
    made = {}

    def base(case):
        if case.name not in made:
            made[case.name] = tmp_path_factory.mktemp("bases") / case.name
            assert cli.main(["import", str(case.folder / "target.sql"), "--flavour", case.server,
                             "--output", str(made[case.name])]) == 0
        return made[case.name]

    return base


def replay(case, base, output, route, *options, engine="spark"):
    return cli.main(["replay", "--binlogs", *map(str, case.binlogs), "--base", str(base), "--output", str(output),
                     *ENGINES[engine], "--route", route, *options])


def server_error(case):
    return int(re.search(r"ERROR (\d+)", (case.folder / "expected_error.txt").read_text())[1])


def last_number(gtids):
    """The number of the last transaction of a GTID set, or of a GTID."""
    return int(re.search(r"\d+$", gtids)[0])


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(STOPS)
def test_a_replay_stops_where_the_replica_did(name, route, engine, bases, tmp_path, capsys):
    """FIND, IDX-R1, IDX-R2, APP-R5, APP-R6, AP-STRICT: 1032, 1062 on any unique key, 1146; the hint keeps the rest."""
    case, output = Case(name), tmp_path / "out"
    errno, table, key = STOPS[name]
    assert errno == server_error(case)
    base = bases(case)
    assert replay(case, base, output, route, engine=engine) == 1
    error = capsys.readouterr().err
    for part in (f"[MySQL error {errno}]", f"table {table}", f"key {key}" if key else ""):
        assert part in error
    assert not output.exists()
    stop = re.search(r"--stop-position (\S+:\d+)", error)[1]
    assert replay(case, base, output, route, "--stop-position", stop, engine=engine) == 0
    assert differences(output, case.expected()) == []
    position = manifest.load(str(output)).position
    assert str(position) == stop
    assert last_number(position.gtid_set) + 1 == last_number(re.search(r"GTID ([^\s,]+)", error)[1])


@pytest.mark.contradicted  # the replicas' rows are not the source's
@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(EQUAL)
def test_tables_with_other_keys_than_the_source_has(name, route, engine, bases, tmp_path):
    """FIND, IDX-R1 to R4, WL#5092 R6: rows are found by the replica's own keys."""
    case, output = Case(name), tmp_path / "out"
    assert replay(case, bases(case), output, route, engine=engine) == 0
    assert differences(output, case.expected()) == []


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(OTHER_COLUMNS)
def test_tables_with_more_and_fewer_columns_and_other_defaults(name, route, engine, bases, tmp_path):
    """AP-POS, IDX-R3, DEF-R1a, DEF-R1b, DEF-R2, JD-READ: columns go by position, and the replica's defaults count."""
    case, output = Case(name), tmp_path / "out"
    assert replay(case, bases(case), output, route, engine=engine) == 0
    assert differences(output, case.expected()) == []


def test_another_number_of_columns_is_told(bases, tmp_path):
    """AP-POS: a definition of another time than the log's looks the same."""
    case = Case("target-columns-full")
    assert replay(case, bases(case), tmp_path / "out", "walk") == 0
    notes = json.loads((tmp_path / "out" / "_report.json").read_text())["notes"]
    assert "tc.fewer: the log's rows have 6 columns, the table has 2: the others are left out" in notes
    assert "tc.wl1: the log's rows have 2 columns, the table has 3: inserts give the others their default" in notes
    assert not [note for note in notes if note.startswith(("tc.wl2:", "tc.defaults:", "tc.names:"))]


SUPPRESSED = [
    (1, 1, "t", "insert", "duplicate key", "PRIMARY", "4"), (1, 2, "t", "insert", "duplicate key", "PRIMARY", "5"),
    (1, 3, "t", "insert", "duplicate key", "PRIMARY", "6"), (2, 1, "t", "insert", "duplicate key", "u", "80"),
    (3, 1, "t", "insert", "duplicate key", "PRIMARY", "9"), (3, 1, "t", "insert", "duplicate key", "u", "90"),
    (4, 1, "uu", "insert", "duplicate key", "PRIMARY", "1"), (4, 2, "uu", "insert", "duplicate key", "a", "12"),
    (4, 2, "uu", "insert", "duplicate key", "b", "'b'"), (4, 3, "uu", "insert", "duplicate key", "PRIMARY", "3"),
    (5, 1, "uk", "insert", "duplicate key", "k", "1"), (6, 1, "uknull", "insert", "duplicate key", "k", "1"),
    (9, 1, "more", "insert", "duplicate key", "PRIMARY", "1"),
    (10, 1, "more", "insert", "duplicate key", "PRIMARY", "3"),
    (11, 1, "mixed", "insert", "duplicate key", "PRIMARY", "1"),
    (12, 1, "mixed", "insert", "duplicate key", "u", "20"),
    (13, 1, "mixed", "insert", "duplicate key", "PRIMARY", "3"),
    (13, 1, "mixed", "insert", "duplicate key", "u", "40"),
    (14, 1, "mixed", "insert", "duplicate key", "PRIMARY", "6"),
    (15, 2, "mixed", "insert", "duplicate key", "u", "80"),
    (16, 2, "t", "update", "row not found", "PRIMARY", "20"), (16, 3, "t", "update", "row not found", "PRIMARY", "21"),
    (16, 4, "t", "update", "row not found", "PRIMARY", "22"), (17, 2, "uk", "update", "row not found", "k", "30"),
    (18, 2, "plain", "update", "row not found", "", "5, 'five'"),
    (19, 1, "nokey", "update", "row not found", "", "5, 'five'"),
    (21, 1, "t", "update", "duplicate key", "u", "1000"), (22, 1, "t", "update", "duplicate key", "PRIMARY", "1001"),
    (23, 1, "uu", "update", "duplicate key", "a", "100"), (24, 1, "t", "update", "row not found", "PRIMARY", "22"),
    (25, 1, "t", "update", "row not found", "PRIMARY", "30"), (26, 1, "t", "delete", "row not found", "PRIMARY", "30"),
    (27, 2, "t", "delete", "row not found", "PRIMARY", "20"), (27, 3, "t", "delete", "row not found", "PRIMARY", "21"),
    (28, 1, "uk", "delete", "row not found", "k", "30"), (29, 1, "plain", "delete", "row not found", "", "5, 'upd'"),
    (30, 1, "nokey", "delete", "row not found", "", "5, 'upd'"),
]
"""What the statements of the idempotent cases meet, told by their comments and what `target.sql` puts in their way: the
number of the transaction, the row of its event, the table, and the rest as the listing has it."""

FOUND = {"mixed": {}, "more": {}, "nokey": {"scan": 1}, "plain": {"key": 1}, "t": {"primary": 6},
         "uk": {"unique": 1}, "uknull": {"key": 2}, "uu": {"primary": 2}}
"""How the rows are found that are there; an update that is skipped since its new key is taken has found its row."""


@pytest.mark.by_turns("route", "engine")
@by_route_and_engine(["idempotent-full", "idempotent-minimal", "mariadb-idempotent",
                      "mariadb-idempotent-minimal"])
def test_idempotent_recovery(name, route, engine, bases, tmp_path, capsys):
    """APP-R7, AP-IDEM: the tables are as the replica's, and all that it skipped is counted and listed."""
    case, output = Case(name), tmp_path / "out"
    assert replay(case, bases(case), output, route, "--exec-mode", "idempotent", engine=engine) == 0
    assert differences(output, case.expected()) == []
    listing = pq.read_table(output / "_conflicts.parquet")
    assert [(last_number(row["gtid"]), row["row"], row["table"].removeprefix("id."), row["operation"], row["conflict"],
             row["key"], row["values"]) for row in listing.to_pylist()] == SUPPRESSED
    assert f"{len(SUPPRESSED)} conflicts were suppressed" in capsys.readouterr().out
    tables = {table["name"]: table for table in json.loads((output / "_report.json").read_text())["tables"]}
    assert {name: table["found"] for name, table in tables.items() if table["units"]} == FOUND
    for name, table in tables.items():
        kinds = Counter(row[4] for row in SUPPRESSED if row[2] == name)
        assert table["conflicts"] == kinds
