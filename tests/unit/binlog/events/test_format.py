"""Format descriptions: what real servers write, what old ones wrote, and what is refused."""

import struct

import pytest

from applier.binlog.events.events import read_format
from applier.binlog.events.format import EventType, check_magic, event_name, parse_format_description
from applier.errors import ArchiveError, EncryptedBinlog
from applier.io.mapping import map_file
from tests.support.folders import CASES

POST_HEADERS = bytes([56, 13, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0, 92, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0])


def description(
    version: str, *, tail: bytes = b"", binlog_version: int = 4, header_length: int = 19, lengths=POST_HEADERS
) -> bytes:
    body = struct.pack("<H50sIB", binlog_version, version.encode(), 0, header_length) + lengths + tail
    return struct.pack("<IBIIIH", 0, 15, 1, 19 + len(body), 23 + len(body), 0) + body


def test_event_types_have_names():
    """EV-ALL: every type of both flavours; a type without a name shows its number."""
    assert (
        event_name(39) == "PARTIAL_UPDATE_ROWS"
        and event_name(162) == "MARIADB_GTID"
        and event_name(200) == "UNKNOWN(200)"
    )
    assert {*range(43), *range(160, 172)} == {int(kind) for kind in EventType}


def test_real_files():
    mysql = read_format(map_file(str(CASES / "many-files-mysql/binlog.000001")))
    assert (mysql.flavour, mysql.checksum, mysql.header_length) == ("mysql", True, 19)
    assert mysql.server_version.startswith("9.7")
    mariadb = read_format(map_file(str(CASES / "many-files-mariadb/binlog.000001")))
    assert (mariadb.flavour, mariadb.checksum) == ("mariadb", True)
    plain = read_format(map_file(str(CASES / "large-statements-checksum-none/binlog.000001")))
    assert not plain.checksum and plain.checksum_length == 0


@pytest.mark.parametrize(
    ("version", "tail", "checksum"),
    [
        ("5.1.73-log", b"", False),
        ("5.5.62", b"", False),
        ("5.6.51", b"\x01\0\0\0\0", True),
        ("5.7.44-log", b"\0\0\0\0\0", False),
        ("5.2.14-MariaDB", b"", False),
        ("5.5.68-MariaDB", b"\x01\0\0\0\0", True),
        ("11.4.2-MariaDB-log", b"\x01\0\0\0\0", True),
    ],
)
def test_checksums_came_with_5_6_1_and_mariadb_5_3(version, tail, checksum):
    read = parse_format_description(description(version, tail=tail))
    assert read.checksum == checksum and read.post_header_lengths == POST_HEADERS
    assert read.flavour == ("mariadb" if "MariaDB" in version else "mysql")


@pytest.mark.parametrize(("version", "computes"), [
    ("5.6.51", True), ("9.7.4", True), ("10.5.23-MariaDB", False), ("10.11.19-MariaDB-log", False),
    ("11.0.2-MariaDB", False), ("11.1.6-MariaDB", False), ("11.2.1-MariaDB", True), ("11.8.9-MariaDB", True)])
def test_whose_replica_computes_what_images_lack(version, computes):
    """MariaDB 11.2 came with replicas that compute generated columns (MDEV-29021)."""
    assert parse_format_description(description(version, tail=b"\0\0\0\0\0")).computes_omitted == computes


def test_google_headers_of_27_bytes():
    """GRP-3"""
    assert parse_format_description(description("5.1.52", header_length=27)).header_length == 27


@pytest.mark.parametrize(("event", "reason"), [
    (b"", "begins with nothing"),
    (description("5.5.1")[:40], "begins with FORMAT_DESCRIPTION"),
    (description("5.5.1", binlog_version=3), "version 3 is not supported"),
    (description("5.5.1", header_length=13), "headers of 13 bytes are not supported"),
    (description("5.6.51", tail=b"\x07\0\0\0\0"), "unknown checksum algorithm 7"),
    (description("5.6.51", lengths=b""), "the format description is cut short"),
    (description("5.5.1", lengths=POST_HEADERS[:10]), "gives TABLE_MAP events an unknown layout"),
    (description("5.5.1", lengths=POST_HEADERS[:18] + b"\6" + POST_HEADERS[19:]), "TABLE_MAP events an unknown"),
    (b"\0\0\0\0\2" + bytes(100), "begins with QUERY")])
def test_what_is_no_format_description(event, reason):
    with pytest.raises(ArchiveError, match=reason):
        parse_format_description(event)


def test_magic():
    check_magic(b"\xfebin")
    with pytest.raises(EncryptedBinlog):
        check_magic(b"\xfdbin")
    for packed, head in (("gzip", b"\x1f\x8b\x08\x00"), ("zstd", b"\x28\xb5\x2f\xfd")):
        with pytest.raises(ArchiveError) as caught:
            check_magic(head)
        assert f"it is packed with {packed}: give it a name that says so" in caught.value.hint
    with pytest.raises(ArchiveError, match="compressed with bzip2: decompress it first"):
        check_magic(b"BZh9")
    with pytest.raises(ArchiveError):
        check_magic(b"PAR1")
