"""TABLE_MAP bodies: by hand, as servers wrote them, and damaged."""


import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.events.events import read_events
from applier.binlog.events.format import EventType
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.errors import ArchiveError
from applier.io.mapping import map_file
from applier.mysql.wire_types import WireType
from tests.support import row_model as m
from tests.support.examples import examples
from tests.support.folders import CASES


def test_a_body_by_hand():
    body = (b"\1\0" b"\4shop\0" b"\4item\0" b"\6" + bytes((8, 15, 246, 254, 252, 18)) + b"\x08" b"\xa0\0" b"\x0a\2"
            b"\xfe\x28" b"\2" b"\6" + b"\x2a" + b"\1\1\x40" b"\x02\3\xfc\xff\0")
    table = parse_table_map(body)
    assert (table.name, table.flags) == ("shop.item", 1)
    assert table.types == (WireType.LONGLONG, WireType.VARCHAR, WireType.NEWDECIMAL, WireType.STRING, WireType.BLOB,
                           WireType.DATETIME2)
    assert table.metadata == (0, 160, 10 << 8 | 2, 40, 2, 6)
    assert table.nullable == (False, True, False, True, False, True)
    assert table.unsigned == (False, None, True, None, None, None)
    assert table.optional == {1: b"\x40", 2: b"\xfc\xff\0"}
    assert table.collations("mysql") == (None, 255, None, 255, 255, None)


@pytest.mark.parametrize(("optional", "expected"), [
    (b"", (None, None, None, None)), (b"\2\3\x2d\1\x3f", (None, 45, None, 63)), (b"\3\2\x21\x08", (None, 33, None, 8)),
    (b"\2\7\x2d\0\xfc\xff\0\1\x3f", (None, 255, None, 63)),
])
def test_collations_of_columns(optional, expected):
    """The most frequent one with the exceptions by number, or one for each; ENUM has its own field."""
    body = b"\1\0" b"\1d\0" b"\1t\0" b"\4" + bytes((3, 15, 254, 252)) + b"\x05" b"\x0a\0" b"\xf7\1" b"\2" + b"\0"
    assert parse_table_map(body + optional).collations("mysql") == expected


@pytest.mark.parametrize(("flavour", "expected"), [
    ("mysql", (None, 1, 2, 3)), ("mariadb", (1, None, 2, 3)),
])
def test_which_columns_have_a_collation_is_the_servers_own_idea(flavour, expected):
    """MySQL counts VECTOR and MariaDB geometries, as their logs show."""
    columns = bytes((255, 242, 15, 252)) + b"\x05" b"\4\4\x0a\0" b"\2" b"\0"
    body = b"\1\0" b"\1d\0" b"\1t\0" b"\4" + columns + b"\3\3\1\2\3"
    assert parse_table_map(body).collations(flavour) == expected


def test_collations_that_break_off():
    body = b"\1\0" b"\1d\0" b"\1t\0" b"\1" + bytes((252,)) + b"\1\2" + b"\0" + b"\3\1\xfc"
    with pytest.raises(ArchiveError, match="middle of a field"):
        parse_table_map(body).collations("mysql")


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_types_and_metadata_of_all_kinds(kinds, database, table):
    """ENUM and SET come out of CHAR's metadata; names are of any characters."""
    parsed = parse_table_map(m.table_map_body(kinds, database, table))
    assert (parsed.database, parsed.table) == (database, table)
    assert parsed.types == tuple(kind.wire_type for kind in kinds)
    assert parsed.metadata == tuple(kind.metadata for kind in kinds)
    assert parsed.nullable == (True,) * len(kinds)


@pytest.mark.parametrize("length", [0, 1, 255, 256, 511, 512, 767, 768, 1020])
def test_a_char_longer_than_255_bytes_hides_its_length_in_its_type(length):
    """MySQL bug 37426."""
    table = parse_table_map(b"\1\0\1d\0\1t\0\1\xfe\2" + m.string_metadata(length) + b"\1")
    assert (table.types, table.metadata) == ((WireType.STRING,), (length,))


@pytest.mark.parametrize("count", [250, 251, 300, 4096])
def test_many_columns(count):
    table = parse_table_map(m.table_map_body([m.BY_NAME["varchar(255)"]] * count))
    assert table.metadata == (255,) * count


def test_more_columns_than_a_table_may_have_are_damage():
    """The kernels have a bitmap for 4096."""
    with pytest.raises(ArchiveError, match="4097 columns"):
        parse_table_map(m.table_map_body([m.BY_NAME["int"]] * 4097))


def test_signedness_without_bits_for_all_columns():
    body = m.table_map_body([m.BY_NAME["int"]] * 9, optional=b"\1\1\xff")
    assert parse_table_map(body).unsigned == (True,) * 8 + (None,)


def test_equality_is_of_what_decoding_needs():
    """Optional metadata does not make another table of it."""
    kinds = [m.BY_NAME["int"]]
    assert parse_table_map(m.table_map_body(kinds)) == parse_table_map(m.table_map_body(kinds, optional=b"\1\1\x80"))


@settings(max_examples=examples(150))
@given(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=12), st.data())
def test_every_proper_prefix_is_an_error(kinds, data):
    """No field is optional but what comes after the bitmap of nullable columns."""
    body = m.table_map_body(kinds)
    with pytest.raises(ArchiveError, match="in the middle of a field") as error:
        parse_table_map(body[:data.draw(st.integers(0, len(body) - 1))])
    assert error.value.mysql_errno == 1610


@settings(max_examples=examples(300))
@given(st.binary(max_size=60) | st.binary(max_size=40).map(lambda tail: b"\1\0\1d\0\1t\0" + tail))
def test_any_bytes_give_a_table_or_an_archive_error(body):
    try:
        assert isinstance(parse_table_map(body), TableMap)
    except ArchiveError as error:
        assert error.mysql_errno == 1610


@pytest.mark.parametrize("length", [b"\xfb", b"\xff", b"\xfe" + b"\xff" * 8, b"\xfd\xff\xff\xff"])
def test_hostile_packed_lengths(length):
    with pytest.raises(ArchiveError):
        parse_table_map(b"\1\0\1d\0\1t\0" + length + b"\3")


@pytest.mark.parametrize("code", [20, 21, 128, 139, 142, 203, 241, 243, 244])
def test_type_codes_that_no_server_writes(code):
    with pytest.raises(ArchiveError, match=rf"@1 has the unknown type code {code}") as error:
        parse_table_map(b"\1\0\1d\0\1t\0\1" + bytes((code,)) + b"\4\0\0\0\0\1")
    assert error.value.table == "d.t"


@pytest.mark.parametrize("case", ["mysql-types-number-time", "mariadb-types"])
def test_table_maps_of_real_servers(case):
    """Each parses to its last byte, with as many columns as nullable bits."""
    seen = 0
    for path in sorted((CASES / case).glob("binlog.0*")):
        for event in read_events(map_file(str(path))):
            if event.type == EventType.TABLE_MAP:
                table = parse_table_map(bytes(event.body[6:]))
                assert len(table.types) == len(table.metadata) == len(table.nullable) == len(table.unsigned) > 0
                seen += 1
    assert seen > 3
