"""INET4, INET6, UUID and compressed columns, against what MariaDB 10.11 showed and wrote."""

import ipaddress
import json
import pathlib
import uuid
import zlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.columns import values
from applier.columns.values import inflate
from applier.errors import ArchiveError
from applier.mysql.values.addresses import network_text
from tests.support.examples import examples

INET6 = json.loads(pathlib.Path(__file__).with_name("inet6_of_mariadb.json").read_text())


def test_inet6_as_the_server_shows_it():
    """Recorded: SELECT CAST(UNHEX(…) AS INET6), on addresses with runs of zeros of every length and place."""
    raw = pa.array([bytes.fromhex(address) for address in INET6], pa.binary())
    assert network_text(raw, "inet6").to_pylist() == list(INET6.values())


@settings(max_examples=examples(80))
@given(st.lists(st.none() | st.binary(max_size=16), max_size=6))
def test_addresses_read_back(values):
    """A row image drops zero bytes at a value's end."""
    padded = [None if value is None else value.ljust(16, b"\0") for value in values]
    texts = network_text(pa.array(values, pa.binary()), "inet6").to_pylist()
    assert [None if text is None else ipaddress.IPv6Address(text).packed for text in texts] == padded
    texts = network_text(pa.array(values, pa.binary()), "uuid").to_pylist()
    assert texts == [None if value is None else str(uuid.UUID(bytes=value)) for value in padded]
    four = [None if value is None else value[:4] for value in values]
    texts = network_text(pa.array(four, pa.binary()), "inet4").to_pylist()
    assert texts == [None if v is None else str(ipaddress.IPv4Address(v.ljust(4, b"\0"))) for v in four]


def test_slices_and_nulls():
    raw = pa.array([b"\x0a", None, b"\x7f\0\0\x01", b""], pa.binary())
    assert network_text(raw[1:], "inet4").to_pylist() == [None, "127.0.0.1", "0.0.0.0"]


def test_an_address_that_is_too_long():
    with pytest.raises(ValueError, match="5 bytes where 4"):
        network_text(pa.array([b"12345"], pa.binary()), "inet4")


def test_compressed_values_that_a_server_wrote():
    """Without zlib's header (the default), with it (column_compression_zlib_wrap), not compressed, and empty."""
    raw = pa.array([bytes.fromhex(value) for value in (
        "89c84b4c4a1c161000", "820190789c4b4c4a1c858308020059119859", "00616263", "")] + [None], pa.binary())
    assert inflate(raw).to_pylist() == [b"ab" * 100, b"ab" * 200, b"abc", b"", None]


@settings(max_examples=examples(60))
@given(st.binary(max_size=2000).map(lambda value: value * 3), st.booleans(), st.integers(2, 4))
def test_compressed_values_inflate(value, header, length_bytes):
    deflate = zlib.compressobj(wbits=zlib.MAX_WBITS if header else -zlib.MAX_WBITS)
    stream = deflate.compress(value) + deflate.flush()
    stored = bytes([0x80 | (0 if header else 8) | length_bytes]) + len(value).to_bytes(length_bytes) + stream
    assert inflate(pa.array([stored], pa.binary())).to_pylist() == [value]


@pytest.mark.parametrize("stored, message", [
    ("19c84b4c4a1c161000", "unknown method 1"),
    ("89c94b4c4a1c161000", "not have the 201 bytes"),
    ("89054b4c4a1c161000", "not have the 5 bytes"),
    ("89c84b4c4a1c16", "not have the 200 bytes"),
    ("89c8ffffff", "damaged"),
    ("8c", "not have the 0 bytes"),
])
def test_damaged_compressed_values(stored, message):
    with pytest.raises(ArchiveError, match=message) as error:
        inflate(pa.array([b"", bytes.fromhex(stored)], pa.binary()))
    assert error.value.mysql_errno == 1610 and "row 1" in str(error.value)


def test_a_bomb_is_cut_at_the_length_it_says():
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    stream = deflate.compress(bytes(10_000_000)) + deflate.flush()
    with pytest.raises(ArchiveError, match="not have the 1 bytes"):
        inflate(pa.array([b"\x89\x01" + stream], pa.binary()))


def _bomb(size):
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return b"\x8c" + size.to_bytes(4) + deflate.compress(bytes(size)) + deflate.flush()


def test_values_that_claim_more_than_a_server_takes():
    with pytest.raises(ArchiveError, match="more than a server accepts"):
        inflate(pa.array([b"\x8f" + b"\xff" * 7 + b"\x03\x00"], pa.binary()))


def test_many_bombs_are_not_inflated_together(monkeypatch):
    """Each of them is what a server may have written; the caller takes fewer rows, one by one in the end."""
    monkeypatch.setattr(values, "MOST_INFLATED", 1 << 20)
    bombs = pa.array([_bomb(1 << 19)] * 100, pa.binary())
    with pytest.raises(pa.ArrowCapacityError, match="fewer rows"):
        inflate(bombs)
    assert inflate(bombs.slice(0, 2)).to_pylist() == [bytes(1 << 19)] * 2
    assert inflate(pa.array([_bomb(1 << 21)], pa.binary())).to_pylist() == [bytes(1 << 21)]
