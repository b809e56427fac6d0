"""Outlines of real files: the kernel's one pass finds what reading every event in Python finds.

Every mark that was recorded on a server is where the outline says it is.
"""

import json
import pickle
import struct

import pytest

from applier.binlog.events.compression.compressed import events_within
from applier.binlog.events.events import parse_gtid, parse_rows_header, read_events
from applier.binlog.events.gtid import GtidSet
from applier.binlog.events.table_map import parse_table_map
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.stop import StopCondition
from applier.errors import ArchiveError, UsageError
from applier.io.mapping import map_file
from tests.support.outline_logs import CASES, check_splits

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


def sample_of(mapped, event, checksum) -> bytes:
    """The beginning of an event, which may be from within a compressed one, as a sample has it, but for the bytes that
    it stands for."""
    in_file, size = mapped.array[event.position : event.position + 512].tobytes(), event.size
    if in_file[4] in COMPRESSED:
        header = (event.timestamp, event.type, event.server_id, event.size, event.end_log_pos, event.flags)
        in_file = (struct.pack("<IBIIIH", *header) + bytes(event.body))[:512]
    else:
        size -= 4 * checksum
    return in_file[:9] + size.to_bytes(4, "little") + in_file[17:size]


@pytest.mark.by_turns(one_in=2)
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
    for number, table in enumerate(outline.tables):
        rows = found.get(table.body, [])
        assert (table.n_events, table.n_bytes) == (len(rows), sum(event.size for event in rows))
        assert table.after_columns == columns.get(table.body, 0)
        assert table.has_diffs == (table.body in diffs)
        assert table.lacked_columns & (1 << len(parse_table_map(table.body).types)) - 1 == lacked.get(table.body, 0)
        kept = outline.samples.of(number)
        assert min(len(rows), 32) <= len(kept) <= 512
        samples = {sample_of(mapped, event, outline.format.checksum) for event in rows}
        assert {sample[:9] + sample[13:] for sample in kept} <= samples
    assert outline.n_row_events == sum(map(len, found.values()))
    assert outline.row_bytes == sum(event.size for rows in found.values() for event in rows)
    assert outline.gtids == executed
    assert outline.next_file == (path.name[:-1] + str(int(path.name[-1]) + 1) if events[-1].type == 4 else None)
    check_splits(outline)
    assert pickle.loads(pickle.dumps(outline)) == outline


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


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize(("path", "position", "gtids"), marks())
def test_a_replay_goes_on_from_any_mark(path, position, gtids):
    """The groups after a position, with those before it counted as executed."""
    whole, rest = outline_file(str(path)), outline_file(str(path), start=position)
    before = outline_file(str(path), stop=StopCondition(position=(path.name, position)))
    assert before.n_groups + rest.n_groups == whole.n_groups and rest.gtids == whole.gtids
    assert rest.start >= position and before.n_row_events + rest.n_row_events == whole.n_row_events
    assert [s.position for s in (*before.statements, *rest.statements)] == [s.position for s in whole.statements]
    check_splits(rest)
    if not before.n_groups:
        return
    with pytest.raises(ArchiveError) as caught:
        outline_file(str(path), start=position - 1)
    assert caught.value.mysql_errno == 1236


@pytest.mark.by_turns(one_in=2)
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
