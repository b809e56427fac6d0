"""Outlines of real files: the kernel's one pass finds what reading every event in Python finds.

Every mark that was recorded on a server is where the outline says it is.
"""

import json
import pickle
import struct
import zlib
from pathlib import Path

import pytest

from applier.binlog.compressed import events_within
from applier.binlog.events import parse_gtid, parse_rows_header, read_events
from applier.binlog.gtid import GtidSet
from applier.binlog.mapping import map_file
from applier.binlog.outline import Outline, outline_file
from applier.binlog.stop import StopCondition
from applier.binlog.table_map import parse_table_map
from applier.errors import ArchiveError, EncryptedBinlog, UsageError

CASES = Path(__file__).parent.parent / "cases"
FILES = sorted(CASES.glob("*/binlog.0*"))
ROWS = {*range(23, 26), *range(30, 33), 39}
COMPRESSED = {40, *range(165, 172)}


BACK = "groups-mariadb@back"
"""A MariaDB position with a number lower than one before it: it is reached at that one already."""


def marks() -> list:
    found = []
    for path in sorted(CASES.glob("*/case.json")):
        case = json.loads(path.read_text())
        for name, mark in case.get("marks", {}).items():
            file = path.parent / mark["file"]
            if file.exists():
                found.append(
                    pytest.param(file, mark["position"], mark["gtid_set"] or "", id=f"{path.parent.name}@{name}")
                )
    return found


def seal(event: bytes) -> bytes:
    """An event with its size, and a checksum that fits."""
    event = event[:9] + struct.pack("<I", len(event) + 4) + event[13:]
    return event + struct.pack("<I", zlib.crc32(event))


def split_events(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return [data[event.position : event.position + event.size] for event in read_events(map_file(str(path)))]


def write(path: Path, events: list[bytes]) -> str:
    path.write_bytes(b"\xfebin" + b"".join(events))
    return str(path)


def sample_of(mapped, event) -> bytes:
    """The beginning of an event, which may be from within a compressed one, as a sample has it."""
    in_file = mapped.array[event.position : event.position + 4096].tobytes()
    if in_file[4] not in COMPRESSED:
        return in_file[: event.size]
    header = (event.timestamp, event.type, event.server_id, event.size, event.end_log_pos, event.flags)
    return (struct.pack("<IBIIIH", *header) + bytes(event.body))[:4096]


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_it_finds_what_reading_every_event_finds(path):
    outline = outline_file(str(path), split_bytes=1000)
    mapped = map_file(str(path))
    in_file = list(read_events(mapped))
    events = [
        inner
        for event in in_file
        for inner in (events_within(mapped, event, outline.format) if event.type in COMPRESSED else [event])
    ]
    bodies, uses, found, executed = {}, [], {}, GtidSet()
    columns: dict[bytes, int] = {}
    diffs: set[bytes] = set()
    lacked: dict[bytes, int] = {}
    for event in events:
        if event.type == 19:
            table_id, body = int.from_bytes(event.body[:6], "little"), bytes(event.body[6:])
            bodies[table_id] = body
            if body not in uses:
                uses.append(body)
        elif event.type in ROWS:
            header = parse_rows_header(event.type, event.body)
            body = bodies[header.table_id]
            found.setdefault(body, []).append(event)
            full = [(1 << header.n_columns) - 1] * 2
            images = [
                int.from_bytes(image, "little") & full[0]
                for image in (header.before, header.after)
                if image is not None
            ]
            if header.before is not None and header.after is not None and images[1] != full[0]:
                columns[body] = columns.get(body, 0) | images[1]
            elif event.type == 39:
                diffs.add(body)
            if header.before is not None:
                lacked[body] = lacked.get(body, 0) | full[0] & ~images[0]
        elif event.type in (33, 42, 162):
            executed = executed.add(parse_gtid(event.type, event.body, event.server_id).text)
    assert (outline.n_events, outline.torn, outline.stopped) == (len(in_file), False, False)
    assert [table.body for table in outline.tables] == uses
    for table in outline.tables:
        rows = found.get(table.body, [])
        assert (table.n_events, table.n_bytes) == (len(rows), sum(event.size for event in rows))
        assert table.after_columns == columns.get(table.body, 0)
        assert table.has_diffs == (table.body in diffs)
        assert table.lacked_columns & (1 << len(parse_table_map(table.body).types)) - 1 == lacked.get(table.body, 0)
        assert len(table.samples) <= 64 and len(table.samples) >= min(len(rows), 32)
        samples = {sample_of(mapped, event) for event in rows}
        assert set(table.samples) <= samples
    assert outline.n_row_events == sum(map(len, found.values()))
    assert outline.row_bytes == sum(event.size for rows in found.values() for event in rows)
    assert outline.gtids == executed
    assert outline.next_file == (path.name[:-1] + str(int(path.name[-1]) + 1) if events[-1].type == 4 else None)
    check_splits(outline)
    assert pickle.loads(pickle.dumps(outline)) == outline


def check_splits(outline: Outline) -> None:
    """Splits cover the groups without a gap, and hold all bytes of rows events once."""
    if not outline.n_groups:
        assert outline.splits == []
        return
    assert outline.splits[0].start == outline.start and outline.splits[-1].end == outline.end
    for before, after in zip(outline.splits, outline.splits[1:], strict=False):
        assert before.end <= after.start
    for use, table in enumerate(outline.tables):
        assert sum(split.tables.get(use, 0) for split in outline.splits) == table.n_bytes


@pytest.mark.parametrize(("path", "position", "gtids"), marks())
def test_a_stop_position_is_a_groups_end(path, position, gtids):
    """GRP-2: at each recorded mark, at the byte before it, and at the byte after it."""
    at_mark = outline_file(str(path), stop=StopCondition(position=(path.name, position)))
    assert at_mark.stopped and not at_mark.torn and at_mark.end == position
    check_splits(at_mark)
    if gtids:
        assert at_mark.previous_gtids.union(at_mark.gtids) == GtidSet.parse(gtids)
    after = outline_file(str(path), stop=StopCondition(position=(path.name, min(position + 1, at_mark.size))))
    assert (after.end, after.n_groups, after.tables) == (position, at_mark.n_groups, at_mark.tables)
    if not at_mark.n_groups:  # the mark is the file's head
        return
    before = outline_file(str(path), stop=StopCondition(position=(path.name, position - 1)))
    assert before.end < position and before.n_groups == at_mark.n_groups - 1


@pytest.mark.parametrize(("path", "position", "gtids"), marks())
def test_a_replay_goes_on_from_any_mark(path, position, gtids):
    """The groups after a position, with those before it counted as executed."""
    whole, rest = outline_file(str(path)), outline_file(str(path), start=position)
    before = outline_file(str(path), stop=StopCondition(position=(path.name, position)))
    assert before.n_groups + rest.n_groups == whole.n_groups and rest.gtids == whole.gtids
    assert rest.start >= position and before.n_row_events + rest.n_row_events == whole.n_row_events
    assert [s.position for s in before.statements + rest.statements] == [s.position for s in whole.statements]
    check_splits(rest)
    if not before.n_groups:
        return
    with pytest.raises(ArchiveError) as caught:
        outline_file(str(path), start=position - 1)
    assert caught.value.mysql_errno == 1236


@pytest.mark.parametrize(("path", "position", "gtids"), [m for m in marks() if m.values[2] and m.id != BACK])
def test_a_stop_gtid_set_is_complete_at_its_mark(path, position, gtids):
    outline = outline_file(str(path), stop=StopCondition(gtid_set=GtidSet.parse(gtids)))
    assert outline.stopped and outline.end <= position
    assert outline.previous_gtids.union(outline.gtids) == GtidSet.parse(gtids)
    check_splits(outline)


def test_a_stop_set_of_tags_and_of_what_is_not_there():
    path = str(CASES / "gtid-tags/binlog.000002")
    whole = outline_file(path)
    assert str(whole.gtids).endswith("44722-44723:green:1-2,aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7:blue:5")
    blue = outline_file(path, stop=StopCondition(gtid_set=GtidSet.parse("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:blue:5")))
    assert blue.stopped and blue.n_groups == 3 and blue.last_gtid == "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:blue:5"
    never = outline_file(
        path, stop=StopCondition(gtid_set=GtidSet.parse("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:blue:6"))
    )
    assert not never.stopped and never.n_groups == whole.n_groups
    already = outline_file(path, stop=StopCondition(gtid_set=GtidSet.parse("762ab119-e549-11f1-83f8-02fc00000001:5")))
    assert already.stopped and already.n_groups == 0 and already.end == already.start


def test_a_stop_time_is_before_the_first_group_of_that_time_or_later():
    path = str(CASES / "ddl-mysql/binlog.000001")
    whole = outline_file(path)
    middle = (whole.first_timestamp + whole.last_timestamp + 1) // 2
    assert whole.first_timestamp < middle
    first = outline_file(path, stop=StopCondition(datetime=middle))
    assert first.stopped and first.last_timestamp < middle and 0 < first.n_groups < whole.n_groups
    rest = outline_file(path, start=first.end)
    assert rest.first_timestamp >= middle and rest.n_groups + first.n_groups == whole.n_groups
    none = outline_file(path, stop=StopCondition(datetime=whole.first_timestamp))
    assert none.stopped and none.n_groups == 0 and none.first_timestamp is None
    assert not outline_file(path, stop=StopCondition(datetime=whole.last_timestamp + 1)).stopped


def test_a_stop_position_past_the_end():
    with pytest.raises(UsageError):
        outline_file(
            str(CASES / "many-files-mysql/binlog.000001"), stop=StopCondition(position=("binlog.000001", 10**6))
        )


def test_statements_and_their_groups():
    """DDL is a group of its own, or within the group of CREATE … SELECT, whose rows follow it."""
    outline = outline_file(str(CASES / "ddl-mysql/binlog.000001"))
    texts = [statement.sql for statement in outline.statements]
    assert not any(text.upper() in ("BEGIN", "COMMIT", "ROLLBACK") for text in texts)
    select = next(s for s in outline.statements if s.sql.endswith("START TRANSACTION"))
    assert select.sql.startswith("CREATE TABLE `sel`") and select.group_start < select.position < select.end
    assert select.gtid and select.database and select.context["charset_client"] == 255 and select.kind == "query"
    mariadb = outline_file(str(CASES / "transactions-mariadb/binlog.000001"))
    assert all(s.gtid.startswith("0-") and s.group_start < s.position for s in mariadb.statements)
    compressed = outline_file(str(CASES / "compressed-mariadb/binlog.000001"))
    assert any(s.sql.startswith("CREATE TABLE") for s in compressed.statements)


@pytest.mark.parametrize("case", ["statement-mysql", "statement-mariadb"])
def test_load_data_is_a_statement(case):
    """EV-ALL: EXECUTE_LOAD_QUERY has the statement, the events before it the file."""
    statements = outline_file(str(CASES / case / "binlog.000001")).statements
    [load] = [statement for statement in statements if statement.sql.startswith("LOAD DATA")]
    assert "INTO TABLE `t`" in load.sql and load.sql.endswith("(`v`) SET `d`= 9")
    assert load.database == "st" and load.gtid and load.group_start < load.position < load.end


def test_blockers_name_what_cannot_be_applied():
    def what(case, number):
        return [b.what for b in outline_file(str(CASES / case / f"binlog.00000{number}")).blockers]

    assert what("transactions-mysql", 1) == []
    assert what("transactions-mysql", 3) == what("transactions-mariadb", 2) == []
    assert what("compressed-mysql", 1) == what("compressed-mariadb", 1) == []
    assert what("statement-mysql", 1) == what("statement-mariadb", 1) == []
    partial = outline_file(str(CASES / "json-partial-minimal/binlog.000001"))
    assert partial.blockers == []


# ---- made-up logs --------------------------------------------------------------------------------------------------


def without_gtids(case: str = "many-files-mysql") -> list[bytes]:
    """A real file as MySQL 5.5 writes it: no GTID events at all."""
    return [event for event in split_events(CASES / case / "binlog.000001") if event[4] not in (33, 34, 35)]


def test_a_log_without_gtid_events(tmp_path):
    """GRP-1: BEGIN … XID, and DDL alone."""
    real = outline_file(str(CASES / "many-files-mysql/binlog.000001"))
    outline = outline_file(write(tmp_path / "binlog.000001", without_gtids()))
    assert (outline.n_groups, outline.n_row_events) == (real.n_groups, real.n_row_events)
    assert outline.last_gtid is None and not outline.gtids and not outline.voids
    assert [s.sql for s in outline.statements] == [s.sql for s in real.statements]
    assert outline.statements[0].group_start == outline.statements[0].position
    check_splits(outline)


def query(text: bytes, flags: int = 0) -> bytes:
    return seal(struct.pack("<IBIIIH", 7, 2, 1, 0, 0, flags) + struct.pack("<IIBHH", 1, 0, 1, 0, 0) + b"d\0" + text)


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
    assert outline.n_groups == 3 and len(outline.voids) == 2
    at = [4 + sum(map(len, log[:i])) for i in range(len(log) + 1)]
    assert outline.voids == [(at[1], at[5]), (at[5], at[8])] and (outline.start, outline.end) == (at[1], at[12])


def test_a_blocker_in_what_may_be_taken_back_hides_no_later_one(tmp_path):
    """GRP-1: of two blockers of a kind the second counts where the first was rolled back, or is only prepared."""
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
        taken_back = outline.voids + [(group.start, group.end) for group in outline.prepared]
        counts = [b for b in outline.blockers if not any(start <= b.position < end for start, end in taken_back)]
        assert (len(outline.blockers), len(counts)) == (2, 1), name


def savepoint_voids(tmp_path, *script: str) -> list[tuple[int, int]]:
    """What is void in a transaction of statements and "rows" (a pair of events), as numbers of its parts."""
    head, *events = without_gtids()
    rows = next(i for i, event in enumerate(events) if event[4] == 19)
    parts = [b"".join(events[rows : rows + 2]) if text == "rows" else query(text.encode()) for text in script]
    log = [head, query(b"BEGIN"), *parts, query(b"COMMIT")]
    at = [4 + sum(map(len, log[:i])) for i in range(len(log) + 1)]
    outline = outline_file(write(tmp_path / "binlog.000001", log))
    assert outline.blockers == [] and outline.n_groups == 1
    return [(at.index(start) - 2, at.index(end) - 2) for start, end in outline.voids]


@pytest.mark.parametrize(
    ("script", "voids"),
    [
        (["SAVEPOINT `a`", "rows", "ROLLBACK TO `a`", "rows"], [(1, 2)]),
        (["savepoint A", "rows", "Rollback To Savepoint a"], [(1, 2)]),
        (["SAVEPOINT `a`", "ROLLBACK TO `a`", "rows"], []),
        (["SAVEPOINT `a`", "rows", "SAVEPOINT `b`", "rows", "ROLLBACK TO `b`", "rows"], [(3, 4)]),
        (["SAVEPOINT `a`", "rows", "SAVEPOINT `b`", "rows", "ROLLBACK TO `a`", "rows"], [(1, 4)]),
        (["SAVEPOINT `a`", "rows", "ROLLBACK TO `a`", "rows", "ROLLBACK TO `a`"], [(1, 2), (1, 4)]),
        (["SAVEPOINT `a`", "rows", "SAVEPOINT `b`", "rows", "SAVEPOINT `A`", "rows", "ROLLBACK TO `b`"], [(3, 6)]),
        (["SAVEPOINT `x ``y`", "rows", "ROLLBACK TO `X ``Y`"], [(1, 2)]),
        (["SAVEPOINT ``", "rows", "ROLLBACK TO ``"], [(1, 2)]),
        (["rows", *(f"SAVEPOINT `s{i}`" for i in range(9000)), "rows", "ROLLBACK TO `s8999`"], [(9001, 9002)]),
    ],
    ids=lambda value: " · ".join(value)[:60] if isinstance(value[0] if value else 0, str) else None,
)  # fmt: skip
def test_what_is_rolled_back_to_a_savepoint_is_void(script, voids, tmp_path):
    """GRP-1: names without regard to case, nested, set again, rolled back to twice."""
    assert savepoint_voids(tmp_path, *script) == voids


def test_a_savepoint_that_its_transaction_does_not_have(tmp_path):
    """It blocks where rows were logged: which of them are void cannot be told. That of another one does not count."""
    head, *events = without_gtids()
    rows = next(i for i, event in enumerate(events) if event[4] == 19)
    pair = events[rows : rows + 2]
    begin, commit, back = query(b"BEGIN"), query(b"COMMIT"), query(b"ROLLBACK TO `a`")
    log = [head, begin, query(b"SAVEPOINT `a`"), commit, begin, back, *pair, commit, begin, *pair, back, commit]
    [blocker] = outline_file(write(tmp_path / "binlog.000001", log)).blockers
    assert (blocker.errno, blocker.position) == (1305, 4 + sum(map(len, log[:12])))


def test_prepared_groups_and_what_became_of_them():
    """GRP-1: XA PREPARE, and XA COMMIT and XA ROLLBACK in later groups; ONE PHASE is neither."""
    for case, end in (("transactions-mysql", 2979), ("transactions-mariadb", 2636)):
        third, fourth = (outline_file(str(CASES / case / f"binlog.00000{n}")) for n in (3, 4))
        xids = ["X'7831',X'',1", "X'7832',X'6272616e6368',7", "X'6578',X'00ff',1"]
        assert [group.xid for group in third.prepared] == xids and third.prepared[-1].end == end
        assert all(group.gtid and group.start < group.end for group in third.prepared)
        assert [(d.xid, d.commits) for d in third.decisions] == [(xids[0], True), (xids[1], False)]
        assert [(d.xid, d.commits, bool(d.gtid)) for d in fourth.decisions] == [(xids[2], True, True)]
        assert third.voids == third.blockers == third.statements == []


def test_an_alter_in_two_phases_has_effect_when_it_is_committed():
    """GRP-1: START ALTER and ROLLBACK ALTER are groups that change nothing."""
    outline = outline_file(str(CASES / "groups-mariadb/binlog.000002"))
    alters = [(s.sql, s.context["gtid_flags_extra"]) for s in outline.statements]
    assert alters == [("ALTER TABLE al ADD COLUMN n INT DEFAULT 3", 4),
                      ("ALTER TABLE al DROP COLUMN n, ALGORITHM=COPY", 4)]  # fmt: skip


def test_an_unknown_event_is_passed_over_only_if_it_says_so(tmp_path):
    """EV-IGN"""
    events = split_events(CASES / "many-files-mysql/binlog.000001")
    for flags, blocked in ((0x80, []), (0, ["an event of type 99, which is not known and must not be passed over"])):
        unknown = seal(struct.pack("<IBIIIH", 7, 99, 1, 0, 0, flags) + b"?")
        path = write(tmp_path / f"binlog.{flags + 1:06d}", [*events[:2], unknown, unknown, *events[2:]])
        assert [b.what for b in outline_file(path).blockers] == blocked


def test_an_incident_blocks(tmp_path):
    """EV-INC"""
    events = split_events(CASES / "many-files-mysql/binlog.000001")
    incident = seal(struct.pack("<IBIIIH", 7, 26, 1, 0, 0, 0) + b"\1\0\0")
    blockers = outline_file(write(tmp_path / "binlog.000001", [*events[:2], incident, *events[2:]])).blockers
    assert [(b.errno, "INCIDENT" in b.what) for b in blockers] == [(1590, True)]


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


# ---- bad input -----------------------------------------------------------------------------------------------------


def test_a_flipped_bit_anywhere_is_found(tmp_path):
    data = (CASES / "many-files-mysql/binlog.000001").read_bytes()
    starts = [event.position for event in read_events(map_file(str(CASES / "many-files-mysql/binlog.000001")))]
    path = tmp_path / "binlog.000001"
    for at in range(4, len(data), 17):
        if at == 4 + 17:  # the in-use flag is no part of the checksum
            continue
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with pytest.raises(ArchiveError) as caught:
            outline_file(str(path))
        assert caught.value.file == str(path)
        assert caught.value.position == max(start for start in starts if start <= at) or at < starts[1]


def test_truncation_anywhere_is_torn_or_an_error(tmp_path):
    """A crash: whole groups count, and the outline says what is not whole. The in-use flag is set in such a file."""
    source = CASES / "many-files-mysql/binlog.000001"
    data = bytearray(source.read_bytes())
    data[4 + 17] |= 1
    whole = outline_file(str(source))
    ends = {split.end for split in outline_file(str(source), split_bytes=1).splits}
    for size in range(whole.start, len(data), 13):
        path = tmp_path / f"binlog.{size:06d}"
        path.write_bytes(data[:size])
        outline = outline_file(str(path))
        expected = max((end for end in ends if end <= size), default=whole.start)
        assert outline.end == (expected if outline.n_groups else outline.start)
        assert outline.torn == (size not in ends and size != whole.start and outline.torn_at is not None)
        if size not in ends and size > whole.start:
            assert outline.torn and outline.torn_at >= outline.end and outline.torn_what
        check_splits(outline)


def test_a_length_past_the_end_is_not_taken_for_a_crash(tmp_path):
    data = bytearray((CASES / "large-statements-checksum-none/binlog.000001").read_bytes())
    data[300:300] = b""
    event = list(read_events(map_file(str(CASES / "large-statements-checksum-none/binlog.000001"))))[10]
    data[event.position + 12] = 0x40
    (tmp_path / "binlog.000001").write_bytes(data)
    with pytest.raises(ArchiveError, match="past the end") as caught:
        outline_file(str(tmp_path / "binlog.000001"))
    assert (caught.value.position, caught.value.mysql_errno) == (event.position, 1610)


def test_impossible_lengths(tmp_path):
    events = split_events(CASES / "many-files-mysql/binlog.000001")
    for size in (0, 18, 22):
        broken = events[2][:9] + struct.pack("<I", size) + events[2][13:]
        with pytest.raises(ArchiveError, match=r"impossible|does not fit"):
            outline_file(write(tmp_path / f"binlog.{size:06d}", [*events[:2], broken, *events[3:]]))


def test_rows_without_a_table_map(tmp_path):
    events = [event for event in split_events(CASES / "many-files-mysql/binlog.000001") if event[4] != 19]
    with pytest.raises(ArchiveError, match="no table map"):
        outline_file(write(tmp_path / "binlog.000001", events))


def test_encrypted_files(tmp_path):
    (tmp_path / "binlog.000001").write_bytes(b"\xfdbin" + bytes(600))
    with pytest.raises(EncryptedBinlog):
        outline_file(str(tmp_path / "binlog.000001"))
    events = split_events(CASES / "many-files-mariadb/binlog.000001")
    start = seal(struct.pack("<IBIIIH", 7, 164, 1, 0, 0, 0) + b"\1" + bytes(16))
    with pytest.raises(EncryptedBinlog):
        outline_file(write(tmp_path / "binlog.000002", [events[0], start, bytes(500)]))
