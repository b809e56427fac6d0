"""The walk over events of many tables, ids, layouts and sizes: none is lost, and none is treated as another."""

import datetime
import itertools
import zlib

import pytest

from applier.binlog.rows.changes import ChangeReader
from applier.errors import ArchiveError
from tests.support import row_model as m
from tests.support.change_collector import INT, TEXT, Change, Collector, full, read
from tests.support.row_model import ABSENT, BY_NAME, DELETE, INSERT, UPDATE


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


@pytest.mark.parametrize(("operation", "images"), [(UPDATE, ([0], [0])), (DELETE, ([0], None))])
def test_an_event_without_columns_is_one_row(operation, images):
    """As a replica of MariaDB 11.8 takes the DELETE of a table whose columns are all generated."""
    table = m.table_map_event(7, m.table_map_body([INT]))
    [change] = read(m.as_file(table, m.rows_event(operation, 7, 1, *images, b""))).changes
    assert change.before == (ABSENT,)


def test_a_row_without_a_byte_among_bytes_is_corrupt():
    """An image of no columns takes no byte: a loop over it would never end."""
    table = m.table_map_event(7, m.table_map_body([INT]))
    for operation, images in ((INSERT, (None, [0])), (DELETE, ([0], None)), (UPDATE, ([0], [0]))):
        with pytest.raises(ArchiveError, match="row 1 of a rows event"):
            read(m.as_file(table, m.rows_event(operation, 7, 1, *images, b"\0\0")))


def test_many_table_ids_of_one_table():
    """A server that opens a table again gives it a new id; the same columns are bound once."""
    body, parts = m.table_map_body([INT]), []
    for number in range(2000):
        table_id = number * 0x10001 + 1
        parts += [m.table_map_event(table_id, body), full([INT], (number,), table_id=table_id)]
    file = m.as_file(*parts)
    calls = []
    collector = Collector(file)
    reader = ChangeReader(file, lambda table_map: calls.append(1) or collector.bind(table_map), checksum=False)
    reader.walk(4, file.size)
    reader.flush()
    assert [change.after for change in collector.changes] == [(number,) for number in range(2000)]
    assert len(calls) == 1


def test_a_table_id_that_comes_to_mean_another_table():
    """The newest table map of an id counts."""
    parts = [m.table_map_event(7, m.table_map_body([INT])), full([INT], (1,)),
              m.table_map_event(7, m.table_map_body([INT], table="other")), full([INT], (2,)),
              m.table_map_event(7, m.table_map_body([INT])), full([INT], (3,))]
    assert [change.after for change in read(m.as_file(*parts)).changes] == [(1,), (3,)]


def test_many_tables_and_many_layouts():
    """Records of tables and of layouts move when there are more of them; nobody keeps an old place."""
    kinds, parts, expected = [INT] * 9, [], []
    for number in range(300):
        parts.append(m.table_map_event(number, m.table_map_body(kinds, database=f"d{number % 40}")))
        values = tuple(number if number + c & 1 << c % 8 else ABSENT for c in range(9))
        if all(value is ABSENT for value in values):
            continue
        parts.append(m.rows_event(INSERT, number, 9, None, [value is not ABSENT for value in values],
                                   m.image(kinds, values)))
        expected.append(values)
    found = read(m.as_file(*parts), rows=1000).changes
    assert sorted(map(str, (change.after for change in found))) == sorted(map(str, expected))


def test_changes_of_one_table_stay_in_their_order_over_its_table_maps():
    """AP-ORD: two table maps of one table that share a binding share its batch."""
    plain, with_metadata = m.table_map_body([INT]), m.table_map_body([INT], optional=b"\x01\x01\x80")
    parts = []
    for number in range(6):
        parts += [m.table_map_event(number % 2 + 1, (plain, with_metadata)[number % 2]),
                   full([INT], (number,), table_id=number % 2 + 1)]
    assert [change.after for change in read(m.as_file(*parts), rows=2).changes] == [(number,) for number in range(6)]


def test_a_walk_in_parts_is_the_walk_as_a_whole():
    parts = [m.table_map_event(7, m.table_map_body([INT])), *(full([INT], (i,), (i + 10,)) for i in range(5))]
    file, cuts = m.as_file(*parts), [4]
    for part in parts:
        cuts.append(cuts[-1] + len(part))
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


def test_dates_that_no_calendar_has_are_counted():
    """Each is itself; a row that had to be read again counts once."""
    nought = "0000-00-00 00:00:00.000000"
    kinds = [BY_NAME["date"], BY_NAME["datetime(6)"], BY_NAME["timestamp(0)"], TEXT]
    day = datetime.date(2024, 2, 29)
    zero = b"\0" + bytes(3) + (1 << 39).to_bytes(5) + bytes(3) + bytes(4)
    invalid = b"\0" + (2023 << 9 | 2 << 5 | 30).to_bytes(3, "little") + bytes((0x80, 0, 0, 0, 0)) + bytes(3) + bytes(4)
    long = (5000).to_bytes(2, "little") + b"z" * 5000
    event = m.rows_event(INSERT, 7, 4, None, [1] * 4, zero + long + invalid + long + m.image(
        kinds, (day, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None, b"")))
    found = read(m.as_file(m.table_map_event(7, m.table_map_body(kinds)), event), rows=8)
    assert [change.after[:3] for change in found.changes] == [
        ("0000-00-00", nought, nought), ("2023-02-30", nought, nought),
        (day, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None)]
    assert found.zero_dates == 6


def test_checksums_are_passed_over():
    """They are compared where a digest is wanted (same_bytes), and otherwise they were."""
    def sealed(event):
        size = (len(event) + 4).to_bytes(4, "little")
        event = event[:9] + size + event[13:]
        return event + zlib.crc32(event).to_bytes(4, "little")

    table, rows = sealed(m.table_map_event(7, m.table_map_body([INT]))), sealed(full([INT], (5,)))
    file = m.as_file(table, rows)
    assert read(file, checksum=True).changes == [Change(INSERT, 4 + len(table), 0, None, (5,))]
    broken = m.as_file(table, rows[:-1] + bytes((rows[-1] ^ 1,)))
    assert len(read(broken, checksum=True).changes) == 1
