"""Event groups in made-up logs: what is taken back, savepoints, many tables and sources."""

import struct

import pytest

from applier.binlog.outline.outline_pass import outline_file
from tests.support.outline_logs import CASES, check_splits, query, seal, split_events, without_gtids, write


def test_a_log_without_gtid_events(tmp_path):
    """GRP-1: BEGIN … XID, and DDL alone."""
    real = outline_file(str(CASES / "many-files-mysql/binlog.000001"))
    outline = outline_file(write(tmp_path / "binlog.000001", without_gtids()))
    assert (outline.n_groups, outline.n_row_events) == (real.n_groups, real.n_row_events)
    assert outline.last_gtid is None and not outline.gtids and not outline.rolled_back
    assert [s.sql for s in outline.statements] == [s.sql for s in real.statements]
    assert outline.statements[0].group_start == outline.statements[0].position
    check_splits(outline)


def test_rollback_and_a_group_without_end_are_void(tmp_path):
    head, *events = without_gtids()
    rows = next(i for i, event in enumerate(events) if event[4] == 19)
    pair = events[rows : rows + 2]
    log = [
        head,
        query(b"BEGIN"),
        *pair,
        query(b"ROLLBACK"),
        query(b"BEGIN"),
        *pair,
        query(b"BEGIN"),
        *pair,
        query(b"COMMIT"),
    ]
    outline = outline_file(write(tmp_path / "binlog.000001", log))
    assert outline.n_groups == 3 and len(outline.rolled_back) == 2
    at = [4 + sum(map(len, log[:i])) for i in range(len(log) + 1)]
    assert outline.rolled_back == [(at[1], at[5]), (at[5], at[8])] and (outline.start, outline.end) == (at[1], at[12])


def test_an_unreplayable_event_in_what_may_be_taken_back_hides_no_later_one(tmp_path):
    """GRP-1: of two of a kind the second counts where the first was rolled back, or is only prepared."""
    head, *events = without_gtids()
    rows = next(i for i, event in enumerate(events) if event[4] == 19)
    pair = events[rows : rows + 2]
    unknown = seal(struct.pack("<IBIIIH", 7, 99, 1, 0, 0, 0) + b"?")
    prepared = seal(struct.pack("<IBIIIH", 7, 38, 1, 0, 0, 0) + struct.pack("<BIII", 0, 1, 1, 0) + b"x")
    inside = {
        "rolled back": [query(b"BEGIN"), unknown, *pair, query(b"ROLLBACK")],
        "to a savepoint": [query(b"BEGIN"), query(b"SAVEPOINT a"), unknown, *pair, query(b"ROLLBACK TO a")],
        "prepared": [query(b"XA START X'78',X'',1"), unknown, *pair, query(b"XA END X'78',X'',1"), prepared],
    }
    for number, (name, first) in enumerate(inside.items()):
        end = [] if name != "to a savepoint" else [query(b"COMMIT")]
        log = [head, *first, *end, query(b"BEGIN"), unknown, *pair, query(b"COMMIT")]
        outline = outline_file(write(tmp_path / f"binlog.{number + 1:06d}", log))
        taken_back = outline.rolled_back + [(group.start, group.end) for group in outline.prepared]
        counts = [b for b in outline.unreplayable if not any(start <= b.position < end for start, end in taken_back)]
        assert (len(outline.unreplayable), len(counts)) == (2, 1), name


def ranges_rolled_back(tmp_path, *script: str) -> list[tuple[int, int]]:
    """What is rolled back in a transaction of statements and "rows" (a pair of events), as numbers of its parts."""
    head, *events = without_gtids()
    rows = next(i for i, event in enumerate(events) if event[4] == 19)
    parts = [b"".join(events[rows : rows + 2]) if text == "rows" else query(text.encode()) for text in script]
    log = [head, query(b"BEGIN"), *parts, query(b"COMMIT")]
    at = [4 + sum(map(len, log[:i])) for i in range(len(log) + 1)]
    outline = outline_file(write(tmp_path / "binlog.000001", log))
    assert outline.unreplayable == [] and outline.n_groups == 1
    return [(at.index(start) - 2, at.index(end) - 2) for start, end in outline.rolled_back]


@pytest.mark.parametrize(
    ("script", "ranges"),
    [
        (["SAVEPOINT `a`", "rows", "ROLLBACK TO `a`", "rows"], [(1, 2)]),
        (["savepoint A", "rows", "Rollback To Savepoint a"], [(1, 2)]),
        (["SAVEPOINT `a`", "ROLLBACK TO `a`", "rows"], []),
        (["SAVEPOINT `a`", "rows", "SAVEPOINT `b`", "rows", "ROLLBACK TO `b`", "rows"], [(3, 4)]),
        (["SAVEPOINT `a`", "rows", "SAVEPOINT `b`", "rows", "ROLLBACK TO `a`", "rows"], [(1, 4)]),
        (["SAVEPOINT `a`", "rows", "ROLLBACK TO `a`", "rows", "ROLLBACK TO `a`"], [(1, 2), (1, 4)]),
        (["SAVEPOINT `a`", "rows", "SAVEPOINT `b`", "rows", "SAVEPOINT `A`", "rows", "ROLLBACK TO `b`"], [(3, 6)]),
        (["SAVEPOINT `a`", "rows", "SAVEPOINT `b`", "rows", "SAVEPOINT `c`", "rows", "SAVEPOINT `b`", "rows",
          "ROLLBACK TO `c`"], [(5, 8)]),
        (["SAVEPOINT `x ``y`", "rows", "ROLLBACK TO `X ``Y`"], [(1, 2)]),
        (["SAVEPOINT ``", "rows", "ROLLBACK TO ``"], [(1, 2)]),
        (["rows", *(f"SAVEPOINT `s{i}`" for i in range(9000)), "rows", "ROLLBACK TO `s8999`"], [(9001, 9002)]),
    ],
    ids=lambda value: " · ".join(value)[:60] if isinstance(value[0] if value else 0, str) else None,
)  # fmt: skip
def test_what_is_rolled_back_to_a_savepoint(script, ranges, tmp_path):
    """GRP-1: names without regard to case, nested, set again, rolled back to twice."""
    assert ranges_rolled_back(tmp_path, *script) == ranges


def test_a_savepoint_that_its_transaction_does_not_have(tmp_path):
    """It blocks where rows were logged: which are rolled back cannot be told. That of another one does not count."""
    head, *events = without_gtids()
    rows = next(i for i, event in enumerate(events) if event[4] == 19)
    pair = events[rows : rows + 2]
    begin, commit, back = query(b"BEGIN"), query(b"COMMIT"), query(b"ROLLBACK TO `a`")
    log = [head, begin, query(b"SAVEPOINT `a`"), commit, begin, back, *pair, commit, begin, *pair, back, commit]
    [event] = outline_file(write(tmp_path / "binlog.000001", log)).unreplayable
    assert (event.errno, event.position) == (1305, 4 + sum(map(len, log[:12])))


def test_many_tables_and_sources_make_room(tmp_path):
    """More distinct table maps, table ids and GTID sources than the first arrays hold."""
    events = split_events(CASES / "many-files-mysql/binlog.000001")
    first = next(i for i, event in enumerate(events) if event[4] == 19)
    gtid, begin, table_map, rows, xid = (event[:-4] for event in events[first - 2 : first + 3])
    assert [event[4] for event in (gtid, begin, table_map, rows, xid)][::2] == [33, 19, 16]
    log = events[:2]
    for i in range(3000):
        number = struct.pack("<I", i)
        table_id = struct.pack("<Q", i + 1)[:6]
        length = table_map[27]
        name = number.hex()[:length].encode().ljust(length, b"_") if length >= 8 else None
        body = table_map[28 : 28 + length] if name is None else name
        log += [
            seal(gtid[:20] + number + gtid[24:]),
            seal(begin),
            seal(
                table_map[:19]
                + table_id
                + struct.pack("<H", i & 0xFFFF)
                + table_map[27:28]
                + body
                + table_map[28 + length :]
            ),
            seal(rows[:19] + table_id + rows[25:]),
            seal(xid),
        ]
    outline = outline_file(write(tmp_path / "binlog.000001", log))
    assert (outline.n_groups, len(outline.tables), len(outline.gtids.intervals)) == (3000, 3000, 3000)
    assert all(table.n_events == 1 for table in outline.tables)
