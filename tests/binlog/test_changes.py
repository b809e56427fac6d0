"""Row events as columns: against a slow model that writes row images a value at a time."""

import datetime
import itertools
import zlib
from dataclasses import dataclass
from typing import Any

import pytest
import row_model as m
from hypothesis import given, settings
from hypothesis import strategies as st
from row_model import ABSENT, BY_NAME, DELETE, INSERT, UPDATE

from applier.binlog.changes import ChangeReader, TableBinding
from applier.binlog.changes_kernel import IMAGE_ID_SHIFT
from applier.binlog.layout import plan_columns
from applier.errors import ArchiveError

INT, TEXT, SHORT_TEXT = BY_NAME["int"], BY_NAME["varchar(60000)"], BY_NAME["varchar(255)"]


@dataclass
class Change:
    """What the model expects of one change: kind, place of its event, row in the event, both images."""

    kind: int
    place: int
    row: int
    before: tuple[Any, ...] | None
    after: tuple[Any, ...] | None


class Collector:
    """Takes batches and keeps what is in them, a row at a time."""

    def __init__(self, file, rows=4096, wanted_before=None, wanted_after=None):
        self.file, self.rows, self.changes, self.batches, self.zero_dates = file, rows, [], 0, 0
        self.wanted = wanted_before, wanted_after
        self.bindings = {}

    def bind(self, table_map):
        if table_map.table != "t":
            return None
        if table_map.name not in self.bindings:
            plans = plan_columns(table_map)
            before, after = ([plan if wanted is None or c in wanted else None for c, plan in enumerate(plans)]
                             for wanted in self.wanted)
            binding = TableBinding(plans, before, after, lambda batch: self.take(batch, binding), self.rows)
            self.bindings[table_map.name] = binding
        return self.bindings[table_map.name]

    def take(self, batch, binding):
        self.batches += 1
        self.zero_dates += batch.zero_dates
        assert 0 < batch.n <= self.rows
        before, after = self.rows_of(batch.before, batch.n_before), self.rows_of(batch.after, batch.n_after)
        for i in range(batch.n):
            b, a, pointer = int(batch.before_rows[i]), int(batch.after_rows[i]), int(batch.images[i])
            change = Change(int(batch.kinds[i]), int(batch.places[i]), int(batch.rows[i]),
                            before[b] if b >= 0 else None, after[a] if a >= 0 else None)
            self.changes.append(change)
            assert (pointer == -1) == (a < 0)
            if a >= 0:
                self.check_pointer(pointer, change, binding)

    def check_pointer(self, pointer, change, binding):
        """It leads into the change's event, and its upper bits to the layout of the after-image."""
        offset = (pointer & (1 << IMAGE_ID_SHIFT) - 1) - self.file.address
        size = int.from_bytes(self.file.array[change.place + 9:change.place + 13].tobytes(), "little")
        assert change.place < offset <= change.place + size
        present = binding.layouts.known[pointer >> IMAGE_ID_SHIFT].present
        here = tuple(c for c, value in enumerate(change.after) if value is not ABSENT)
        assert present == here or None in binding.after

    def rows_of(self, images, rows):
        columns = []
        for column in images.columns:
            if column is None:
                columns.append(["unwanted"] * rows)
                continue
            array = column.arrow(rows)
            array.validate(full=True)
            absent = column.absent_rows(rows)
            flags = [False] * rows if absent is None else absent.to_pylist()
            assert all(value is None for value, gone in zip(array.to_pylist(), flags, strict=True) if gone)
            columns.append([ABSENT if gone else value for value, gone in zip(array.to_pylist(), flags, strict=True)])
        return list(zip(*columns, strict=True))


def read(file, start=4, end=None, checksum=False, verify=False, **options):
    collector = Collector(file, **options)
    reader = ChangeReader(file, collector.bind, checksum=checksum, verify=verify)
    reader.walk(start, file.size if end is None else end)
    reader.flush()
    return collector


def full(kinds, *rows, operation=INSERT, table_id=7, version=2):
    """A rows event with full images; for updates each row is a pair."""
    present = [1] * len(kinds)
    data = b"".join(m.image(kinds, part) for row in rows for part in (row if operation == UPDATE else (row,)))
    return m.rows_event(operation, table_id, len(kinds), present if operation != INSERT else None,
                        present if operation != DELETE else None, data, version=version)


# ---- against the model

@st.composite
def logs(draw):
    """A table, events of all kinds and images about it under several table ids, and what they say."""
    kinds = draw(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=12))
    bodies = [m.table_map_body(kinds), m.table_map_body(kinds, optional=b"\x05\x01x")]
    ids = draw(st.lists(st.integers(0, 2**48 - 1).filter(lambda n: n != 0xFFFFFF), min_size=1, max_size=3, unique=True))
    other = draw(st.integers(0, 2**48 - 1).filter(lambda n: n not in ids))
    pieces, at, expected = [], 4, []

    def put(piece):
        nonlocal at
        pieces.append(piece)
        at += len(piece)

    for _ in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            put(m.table_map_event(other, m.table_map_body([INT], table="other")))
            put(full([INT], (1,), table_id=other))
        table_id = draw(st.sampled_from(ids))
        put(m.table_map_event(table_id, draw(st.sampled_from(bodies))))
        operation, version = draw(st.integers(0, 2)), draw(st.sampled_from((1, 2)))
        present = [draw(bits(len(kinds))) if operation != gone else None for gone in (INSERT, DELETE)]
        spare, data = draw(st.integers(0, 1)), b""
        for row in range(draw(st.integers(1, 6))):
            images = [None if bits is None else tuple(
                draw(st.none() | kind.values) if bit else ABSENT for kind, bit in zip(kinds, bits, strict=True))
                for bits in present]
            size = len(data)
            data += b"".join(m.image(kinds, values, spare) for values in images if values is not None)
            if len(data) == size and row:
                break
            expected.append(Change(operation, at, row, *images))
            if len(data) == size:
                if operation != INSERT:
                    expected.pop()
                break
        put(m.rows_event(operation, table_id, len(kinds), *present, data, version=version, spare=spare,
                         extra=draw(st.binary(max_size=5)) if version == 2 else b""))
    return m.as_file(*pieces), expected, len(kinds)


def bits(n):
    """Which columns an image has: all, one, or any (full, minimal, noblob)."""
    return st.just([1] * n) | st.integers(0, n - 1).map(lambda i: [int(c == i) for c in range(n)]) \
        | st.lists(st.integers(0, 1), min_size=n, max_size=n)


@settings(max_examples=60, deadline=None)
@given(logs(), st.sampled_from((1, 2, 3, 5, 4096)))
def test_every_image_comes_out_as_it_was_written(log, rows):
    """IMG-W, IMG-U, IMG-D, IMG-MIX: each event's bitmaps say what its images hold; NULL and absent are two things.
    Batches of any size, full in the middle of an event too, and string buffers that start too small."""
    file, expected, _ = log
    assert read(file, rows=rows).changes == expected


@settings(max_examples=25, deadline=None)
@given(logs(), st.data())
def test_columns_that_nobody_wants_change_nothing(log, data):
    """What is passed over is passed over exactly, whichever columns are wanted."""
    file, expected, n = log
    before, after = (data.draw(st.sets(st.integers(0, n - 1))) for _ in range(2))
    found = read(file, rows=3, wanted_before=before, wanted_after=after).changes
    for change in expected:
        change.before, change.after = (
            None if values is None else tuple(value if c in wanted else "unwanted" for c, value in enumerate(values))
            for values, wanted in ((change.before, before), (change.after, after)))
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=8), st.sampled_from((INSERT, UPDATE, DELETE)), st.data())
def test_a_row_that_is_cut_off_is_an_error_and_never_a_row(kinds, operation, data):
    """Images are self-delimiting, so no proper prefix of one is one: 1610, naming file, table and position."""
    def row():
        return tuple(data.draw(st.none() | kind.values) for kind in kinds)

    before, after = ([1] * len(kinds) if operation != gone else None for gone in (INSERT, DELETE))
    whole = b"".join(m.image(kinds, row()) for present in (before, after) if present)
    last = b"".join(m.image(kinds, row()) for present in (before, after) if present)
    cut = data.draw(st.integers(1, len(last) - 1)) if len(last) > 1 else 0
    if not cut:
        return
    table = m.table_map_event(7, m.table_map_body(kinds))
    file = m.as_file(table, m.rows_event(operation, 7, len(kinds), before, after, whole + last[:cut]))
    with pytest.raises(ArchiveError) as error:
        read(file)
    assert (error.value.mysql_errno, error.value.file, error.value.position, error.value.table) == \
        (1610, file.uri, 4 + len(table), "d.t")
    assert error.value.message.startswith("row 2 ")


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=6), st.data())
def test_damage_in_a_rows_event_gives_rows_or_an_archive_error(kinds, data):
    """Whatever bytes: an answer whose arrays are valid, or ArchiveError 1610 with the event's position."""
    values = [tuple(data.draw(st.none() | kind.values) for kind in kinds) for _ in range(3)]
    table = m.table_map_event(7, m.table_map_body(kinds))
    damaged = bytearray(full(kinds, *values))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(25, len(damaged) - 1))
        damaged[place] = data.draw(st.sampled_from((0, 255, 254, 252, 128, 127)) |
                                  st.integers(0, 255))
    file = m.as_file(table, bytes(damaged))
    try:
        read(file, rows=2)
    except ArchiveError as error:
        assert (error.mysql_errno, error.position) == (1610, 4 + len(table))


# ---- framing

def test_an_insert_of_no_column_at_all_is_one_row():
    """IMG-W: `INSERT INTO t () VALUES ()` under minimal images has an empty bitmap and no byte of image."""
    kinds = [INT, TEXT]
    for version in (1, 2):
        table = m.table_map_event(7, m.table_map_body(kinds))
        event = m.rows_event(INSERT, 7, 2, None, [0, 0], b"", version=version)
        found = read(m.as_file(table, event, event), rows=1)
        assert [(change.row, change.after) for change in found.changes] == [(0, (ABSENT, ABSENT))] * 2, version


@pytest.mark.parametrize("operation", [UPDATE, DELETE])
def test_a_change_without_any_row_is_none(operation):
    present = [1]
    table = m.table_map_event(7, m.table_map_body([INT]))
    event = m.rows_event(operation, 7, 1, present, present if operation == UPDATE else None, b"")
    assert read(m.as_file(table, event)).changes == []


def test_a_row_without_a_byte_among_bytes_is_corrupt():
    """An image of no columns takes no byte: a loop over it would never end."""
    table = m.table_map_event(7, m.table_map_body([INT]))
    for operation, images in ((INSERT, (None, [0])), (DELETE, ([0], None)), (UPDATE, ([0], [0]))):
        with pytest.raises(ArchiveError, match="row 1 of a rows event"):
            read(m.as_file(table, m.rows_event(operation, 7, 1, *images, b"\0\0")))


def test_many_table_ids_of_one_table():
    """A server that opens a table again gives it a new id; the same columns are bound once."""
    body, pieces = m.table_map_body([INT]), []
    for number in range(2000):
        table_id = number * 0x10001 + 1
        pieces += [m.table_map_event(table_id, body), full([INT], (number,), table_id=table_id)]
    file = m.as_file(*pieces)
    calls = []
    collector = Collector(file)
    reader = ChangeReader(file, lambda table_map: calls.append(1) or collector.bind(table_map), checksum=False)
    reader.walk(4, file.size)
    reader.flush()
    assert [change.after for change in collector.changes] == [(number,) for number in range(2000)]
    assert len(calls) == 1


def test_a_table_id_that_comes_to_mean_another_table():
    """The newest table map of an id counts."""
    pieces = [m.table_map_event(7, m.table_map_body([INT])), full([INT], (1,)),
              m.table_map_event(7, m.table_map_body([INT], table="other")), full([INT], (2,)),
              m.table_map_event(7, m.table_map_body([INT])), full([INT], (3,))]
    assert [change.after for change in read(m.as_file(*pieces)).changes] == [(1,), (3,)]


def test_many_tables_and_many_layouts():
    """Records of tables and of layouts move when there are more of them; nobody keeps an old place."""
    kinds, pieces, expected = [INT] * 9, [], []
    for number in range(300):
        pieces.append(m.table_map_event(number, m.table_map_body(kinds, database=f"d{number % 40}")))
        values = tuple(number if number + c & 1 << c % 8 else ABSENT for c in range(9))
        if all(value is ABSENT for value in values):
            continue
        pieces.append(m.rows_event(INSERT, number, 9, None, [value is not ABSENT for value in values],
                                   m.image(kinds, values)))
        expected.append(values)
    found = read(m.as_file(*pieces), rows=1000).changes
    assert sorted(map(str, (change.after for change in found))) == sorted(map(str, expected))


def test_changes_of_one_table_stay_in_their_order_over_its_table_maps():
    """AP-ORD: two table maps of one table that share a binding share its batch."""
    plain, with_metadata = m.table_map_body([INT]), m.table_map_body([INT], optional=b"\x01\x01\x80")
    pieces = []
    for number in range(6):
        pieces += [m.table_map_event(number % 2 + 1, (plain, with_metadata)[number % 2]),
                   full([INT], (number,), table_id=number % 2 + 1)]
    assert [change.after for change in read(m.as_file(*pieces), rows=2).changes] == [(number,) for number in range(6)]


def test_a_walk_in_pieces_is_the_walk_as_a_whole():
    pieces = [m.table_map_event(7, m.table_map_body([INT])), *(full([INT], (i,), (i + 10,)) for i in range(5))]
    file, cuts = m.as_file(*pieces), [4]
    for piece in pieces:
        cuts.append(cuts[-1] + len(piece))
    collector = Collector(file, rows=3)
    reader = ChangeReader(file, collector.bind, checksum=False)
    for start, end in itertools.pairwise(cuts):
        reader.walk(start, end)
    reader.flush()
    assert collector.changes == read(file).changes


def test_a_value_longer_than_all_buffers():
    """A row that does not fit makes room for itself and what comes after it in its event."""
    values = [(i, bytes((i,)) * (1 << 14)) for i in range(5)] + [(9, b"y" * 60000)]
    file = m.as_file(m.table_map_event(7, m.table_map_body([INT, TEXT])), full([INT, TEXT], *values),
                     full([INT, TEXT], *((row, row) for row in values), operation=UPDATE))
    found = read(file, rows=64).changes
    assert [change.after for change in found] == values * 2
    assert [change.before for change in found] == [None] * 6 + values


def test_zero_dates_are_null_and_counted():
    """A date that no calendar has is NULL; a row that had to be read again counts once."""
    kinds = [BY_NAME["date"], BY_NAME["datetime(6)"], BY_NAME["timestamp(0)"], TEXT]
    day = datetime.date(2024, 2, 29)
    zero = b"\0" + bytes(3) + (1 << 39).to_bytes(5) + bytes(3) + bytes(4)
    no_day = b"\0" + (2023 << 9 | 2 << 5 | 30).to_bytes(3, "little") + bytes((0x80, 0, 0, 0, 0)) + bytes(3) + bytes(4)
    long = (5000).to_bytes(2, "little") + b"z" * 5000
    event = m.rows_event(INSERT, 7, 4, None, [1] * 4, zero + long + no_day + long + m.image(
        kinds, (day, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None, b"")))
    found = read(m.as_file(m.table_map_event(7, m.table_map_body(kinds)), event), rows=8)
    assert [change.after[:3] for change in found.changes] == [
        (None, None, None), (None, None, None), (day, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None)]
    assert found.zero_dates == 6


def test_checksums_are_compared_where_asked():
    def sealed(event):
        size = (len(event) + 4).to_bytes(4, "little")
        event = event[:9] + size + event[13:]
        return event + zlib.crc32(event).to_bytes(4, "little")

    table, rows = sealed(m.table_map_event(7, m.table_map_body([INT]))), sealed(full([INT], (5,)))
    file = m.as_file(table, rows)
    assert read(file, checksum=True, verify=True).changes == [Change(INSERT, 4 + len(table), 0, None, (5,))]
    broken = m.as_file(table, rows[:-1] + bytes((rows[-1] ^ 1,)))
    assert len(read(broken, checksum=True).changes) == 1
    with pytest.raises(ArchiveError, match="checksum") as error:
        read(broken, checksum=True, verify=True)
    assert (error.value.position, error.value.mysql_errno) == (4 + len(table), 1610)


# ---- hostile bytes

TABLE = m.table_map_event(7, m.table_map_body([INT, SHORT_TEXT]))


AFTER_TABLE = 4 + len(TABLE)


def refused(*events, match, position=AFTER_TABLE):
    with pytest.raises(ArchiveError, match=match) as error:
        read(m.as_file(TABLE, *events))
    assert (error.value.mysql_errno, error.value.position, error.value.file) == (1610, position, "binlog.000001")


@pytest.mark.parametrize("size", [0, 1, 18, 1 << 20, 2**31, 2**32 - 1])
def test_an_event_with_an_impossible_length(size):
    event = full([INT, SHORT_TEXT], (1, b"a"))
    refused(event[:9] + size.to_bytes(4, "little") + event[13:], match="impossible length")


@pytest.mark.parametrize("kept", [0, 1, 5, 18])
def test_a_file_that_ends_within_a_header(kept):
    """Bytes that are not a header are no event, however few they are."""
    if kept:
        refused(full([INT, SHORT_TEXT], (1, b"a"))[:kept], match="impossible length")


@pytest.mark.parametrize("kept", range(19, 31))
def test_a_rows_event_that_ends_within_its_own_header(kept):
    event = full([INT, SHORT_TEXT], (1, b"a"))[:kept]
    refused(event[:9] + kept.to_bytes(4, "little") + event[13:], match="impossible length|contradicts|table map")


@pytest.mark.parametrize("extra", [0, 1, 200, 65535])
def test_extra_data_that_is_longer_than_the_event(extra):
    event = bytearray(full([INT, SHORT_TEXT], (1, b"a")))
    event[27:29] = extra.to_bytes(2, "little")
    refused(bytes(event), match="impossible length")


@pytest.mark.parametrize("columns", [
    b"\0", b"\1", b"\3", b"\xfb", b"\xfc\2\0", b"\xfc\xff\xff", b"\xfd", b"\xfe", b"\xff"])
def test_another_number_of_columns_than_the_table_map_has(columns):
    event = full([INT, SHORT_TEXT], (1, b"a"))
    body = event[:29] + columns + event[30:]
    if columns == b"\xfc\2\0":
        assert len(read(m.as_file(TABLE, m.event(30, body[19:]))).changes) == 1  # two columns, written the long way
    else:
        refused(m.event(30, body[19:]), match="contradicts")


@pytest.mark.parametrize("length", [2, 128, 255])
def test_a_string_that_is_longer_than_the_event(length):
    event = bytearray(full([INT, SHORT_TEXT], (1, b"a")))
    event[-2] = length
    refused(bytes(event), match="row 1 of a rows event contradicts")


def test_a_rows_event_without_a_table_map():
    refused(full([INT, SHORT_TEXT], (1, b"a"), table_id=8), match="table map is not there")


def test_the_event_that_only_ends_a_statement():
    """Servers close a statement whose tables are all filtered out with rows of the id 0xFFFFFF and no table map."""
    assert read(m.as_file(TABLE, m.rows_event(INSERT, 0xFFFFFF, 0, None, [], b""))).changes == []


@pytest.mark.parametrize("body, what", [
    (b"", "impossible length"), (b"\1\0\xff", "in the middle of a field"),
    (b"\1\0\1d\0\1t\0\2\3\3\0", "middle of a field"),
    (b"\1\0\1d\0\1t\0\1\x0b\0", "middle of a field"), (b"\1\0\1d\0\1t\0\1\x50\0\1", "unknown type code 80")])
def test_a_table_map_that_makes_no_sense(body, what):
    refused(m.event(19, b"\7\0\0\0\0\0"[:6 if body else 5] + body), match=what)


def test_a_range_that_is_not_in_the_file():
    file = m.as_file(TABLE)
    for start, end in ((-1, 4), (4, file.size + 1), (8, 4)):
        with pytest.raises(ArchiveError, match="not in the file"):
            ChangeReader(file, lambda _: None, checksum=False).walk(start, end)
