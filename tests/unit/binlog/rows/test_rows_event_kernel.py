"""Events with impossible lengths and contradictions: refused with their place, never read past their end."""

import pytest

from applier.binlog.rows.changes import ChangeReader
from applier.errors import ArchiveError
from tests.support import row_model as m
from tests.support.change_collector import INT, SHORT_TEXT, full, read
from tests.support.row_model import INSERT

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
        refused(event, m.event(30, body[19:]), match="row 1 of a rows event contradicts",
                position=AFTER_TABLE + len(event))


@pytest.mark.parametrize("length", [2, 128, 255])
def test_a_string_that_is_longer_than_the_event(length):
    event = bytearray(full([INT, SHORT_TEXT], (1, b"a")))
    event[-2] = length
    refused(bytes(event), match="row 1 of a rows event contradicts")


def test_a_rows_event_without_a_table_map():
    refused(full([INT, SHORT_TEXT], (1, b"a"), table_id=8), match="without a table map")


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
