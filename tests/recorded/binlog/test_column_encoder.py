"""Row images that the encoder makes are, byte for byte, those that real servers made from the same values."""

import pathlib
import struct
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.mysql.wire_types import WireType
from applier.writer.column_encoder import encode_column, packed_integers
from applier.writer.row_encoder import join
from applier.writer.wire_columns import WireColumn, packed_integer
from tests.support.examples import examples
from tests.support.folders import CASES
from tests.support.raw_events import TABLE_MAP, read_events

INTEGERS = {WireType.TINY: 1, WireType.SHORT: 2, WireType.INT24: 3, WireType.LONG: 4, WireType.LONGLONG: 8}
DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4)


def rows_events(path: pathlib.Path) -> Iterator[tuple[TableMap, int, bytes]]:
    """(table map, type, body after the extra data) of each rows event of a file with checksums."""
    tables = {}
    for _, kind, body in read_events(path):
        if kind == TABLE_MAP:
            tables[body[:6]] = parse_table_map(body[6:])
        elif kind in (23, 24, 25, 30, 31, 32):
            yield tables[body[:6]], kind, body[8 if kind < 30 else 8 + struct.unpack_from("<H", body, 8)[0] :]


def cell_length(kind: int, metadata: int, data: bytes) -> int:
    """How long the value at the start of `data` is, by its wire type alone."""
    if kind in INTEGERS:
        return INTEGERS[kind]
    if kind in (WireType.FLOAT, WireType.DOUBLE, WireType.ENUM, WireType.SET):
        return metadata
    if kind == WireType.NEWDECIMAL:
        whole, fraction = (metadata >> 8) - (metadata & 0xFF), metadata & 0xFF
        return sum(digits // 9 * 4 + DIGIT_BYTES[digits % 9] for digits in (whole, fraction))
    if kind == WireType.BIT:
        return ((metadata >> 8) * 8 + (metadata & 0xFF) + 7) // 8
    if kind in (WireType.YEAR, WireType.DATE):
        return 1 if kind == WireType.YEAR else 3
    if kind in (WireType.DATETIME2, WireType.TIMESTAMP2, WireType.TIME2):
        return {WireType.DATETIME2: 5, WireType.TIMESTAMP2: 4, WireType.TIME2: 3}[kind] + (metadata + 1) // 2
    prefix = prefix_length(kind, metadata)
    return prefix + int.from_bytes(data[:prefix], "little")


def prefix_length(kind: int, metadata: int) -> int:
    if kind in (WireType.VARCHAR, WireType.STRING, WireType.VARCHAR_COMPRESSED):
        return 2 if metadata > 255 else 1
    return metadata


def cells_by_column(path: pathlib.Path) -> dict[tuple[str, int], tuple[TableMap, list[bytes | None]]]:
    """All cells of a file, of both images, by table and column: bytes as logged, None for NULL."""
    found: dict = {}
    for table, kind, body in rows_events(path):
        count = len(table.types)
        assert body[0] == count < 251
        size, at, images = (count + 7) // 8, 1, []
        for _ in range(2 if kind in (24, 31) else 1):
            bits = int.from_bytes(body[at : at + size], "little")
            images.append([column for column in range(count) if bits >> column & 1])
            at += size
        while at < len(body):
            for present in images:
                nulls = int.from_bytes(body[at : at + (len(present) + 7) // 8], "little")
                at += (len(present) + 7) // 8
                for index, column in enumerate(present):
                    length = (
                        0 if nulls >> index & 1 else cell_length(table.types[column], table.metadata[column], body[at:])
                    )
                    cell = None if nulls >> index & 1 else body[at : at + length]
                    found.setdefault((table.name, column), (table, []))[1].append(cell)
                    at += length
    return found


def from_cell(kind: int, metadata: int, cell: bytes) -> object:
    """A cell's value, in what its raw Arrow column is made of; None for what Arrow cannot hold (a zero date)."""
    if kind in (*INTEGERS, WireType.ENUM, WireType.SET):
        return int.from_bytes(cell, "little", signed=kind in INTEGERS)
    if kind in (WireType.FLOAT, WireType.DOUBLE):
        return struct.unpack("<f" if metadata == 4 else "<d", cell)[0]
    if kind == WireType.YEAR:
        return 1900 + cell[0] if cell[0] else 0
    if kind == WireType.BIT:
        return int.from_bytes(cell, "big")
    if kind == WireType.DATE:
        packed = int.from_bytes(cell, "little")
        return civil_day(packed >> 9, packed >> 5 & 15, packed & 31)
    if kind in (WireType.DATETIME2, WireType.TIMESTAMP2, WireType.TIME2):
        return microseconds(kind, metadata, cell)
    if kind == WireType.NEWDECIMAL:
        return decimal_digits(metadata, cell)
    return cell[prefix_length(kind, metadata) :]


def civil_day(year: int, month: int, day: int) -> int | None:
    return int(np.datetime64(f"{year:04}-{month:02}-{day:02}", "D").astype(int)) if month and day else None


def microseconds(kind: int, digits: int, cell: bytes) -> int | None:
    whole = {WireType.DATETIME2: 5, WireType.TIMESTAMP2: 4, WireType.TIME2: 3}[kind]
    scale = 10 ** (6 - 2 * ((digits + 1) // 2))
    if kind == WireType.TIME2:
        width = (digits + 1) // 2 * 8
        packed = int.from_bytes(cell, "big") - (0x800000 << width)
        sign, packed = (-1 if packed < 0 else 1), abs(packed)
        clock, fraction = packed >> width, packed & ((1 << width) - 1)
        return sign * (((clock >> 12) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63)) * 1_000_000 + fraction * scale)
    number, fraction = int.from_bytes(cell[:whole], "big"), int.from_bytes(cell[whole:], "big") * scale
    if kind == WireType.TIMESTAMP2:
        return number * 1_000_000 + fraction if number else None
    number -= 1 << 39
    months, clock = number >> 22, number & 0x1FFFF
    day = civil_day(months // 13, months % 13, number >> 17 & 31)
    seconds = (clock >> 12) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63)
    return None if day is None else (day * 86400 + seconds) * 1_000_000 + fraction


def decimal_digits(metadata: int, cell: bytes) -> str:
    """DECIMAL as text, with no arithmetic in common with the encoder."""
    scale, negative = metadata & 0xFF, not cell[0] & 0x80
    data = bytes((cell[0] ^ 0x80,)) + cell[1:]
    data = bytes(byte ^ 0xFF for byte in data) if negative else data
    text, at = "", 0
    whole = (metadata >> 8) - scale
    for digits in [whole % 9] + [9] * (whole // 9) + [9] * (scale // 9) + [scale % 9]:
        if digits:
            size = DIGIT_BYTES[digits] if digits < 9 else 4
            text += str(int.from_bytes(data[at : at + size], "big")).zfill(digits)
            at += size
    return "-" * negative + (text[:whole] or "0") + "." + text[whole:] if scale else "-" * negative + text


def arrow(kind: int, metadata: int, cells: list[bytes | None]) -> pa.Array:
    """Cells as the raw Arrow array of their wire type; what such an array cannot hold stays encoded."""
    values = [None if cell is None else from_cell(kind, metadata, cell) for cell in cells]
    undecoded = any((value is None) != (cell is None) for value, cell in zip(values, cells, strict=True))
    if undecoded or (kind == WireType.NEWDECIMAL and metadata >> 8 > 38):
        return pa.array(cells, pa.binary(max(len(cell) for cell in cells if cell is not None)))
    types = {
        WireType.TINY: pa.int8(),
        WireType.SHORT: pa.int16(),
        WireType.INT24: pa.int32(),
        WireType.LONG: pa.int32(),
        WireType.LONGLONG: pa.int64(),
        WireType.ENUM: pa.uint16(),
        WireType.SET: pa.uint64(),
        WireType.BIT: pa.uint64(),
        WireType.FLOAT: pa.float32(),
        WireType.DOUBLE: pa.float64(),
        WireType.YEAR: pa.int16(),
        WireType.DATE: pa.date32(),
        WireType.DATETIME2: pa.timestamp("us"),
        WireType.TIMESTAMP2: pa.timestamp("us", "UTC"),
        WireType.TIME2: pa.duration("us"),
    }
    if kind == WireType.NEWDECIMAL:
        return pa.array(values, pa.string()).cast(pa.decimal128(metadata >> 8, metadata & 0xFF))
    return pa.array(values, types.get(kind, pa.binary()))


@pytest.mark.parametrize("case", ["mysql-types-number-time", "mysql-types-text", "mariadb-types", "mariadb-types-text"])
def test_cells_are_those_of_a_real_server(case: str) -> None:
    """Every cell of every type in the recorded log is encoded to the server's own bytes."""
    columns = cells_by_column(CASES / case / "binlog.000001")
    assert len(columns) > 40
    for (name, column), (table, cells) in columns.items():
        wire = WireColumn("c", WireType(table.types[column]), table.metadata[column], True)
        values = arrow(wire.type, wire.metadata, cells)
        encoded = join(encode_column(values, wire), len(cells)).to_pylist()
        assert encoded == [cell or b"" for cell in cells], (name, column, wire)


def test_slices_of_arrays_are_encoded_from_where_they_start() -> None:
    values = pa.array(["1.50", "-2.25", None, "3.75"]).cast(pa.decimal128(5, 2)).slice(1)
    wire = WireColumn("c", WireType.NEWDECIMAL, 5 << 8 | 2, True)
    assert join(encode_column(values, wire), 3).to_pylist() == [b"\x7f\xfd\xe6", b"", b"\x80\x03\x4b"]


@settings(max_examples=examples(60))
@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), min_size=1), st.integers(0, 30))
def test_decimals_of_any_scale_read_back(numbers: list[int], scale: int) -> None:
    metadata = 38 << 8 | scale
    digits = [
        f"{'-' * (n < 0)}{abs(n) // 10**scale}" + (f".{abs(n) % 10**scale:0{scale}}" if scale else "") for n in numbers
    ]
    cells = encode_column(
        pa.array(digits).cast(pa.decimal128(38, scale)), WireColumn("c", WireType.NEWDECIMAL, metadata, True)
    )
    texts = [decimal_digits(metadata, cell) for cell in join(cells, len(numbers)).to_pylist()]
    assert [int(text.replace(".", "")) for text in texts] == numbers


@settings(max_examples=examples(60))
@given(st.lists(st.one_of(st.none(), st.integers(-3020399999999, 3020399999999)), min_size=1), st.integers(0, 6))
def test_times_of_any_precision_read_back(values: list[int | None], digits: int) -> None:
    """TIME goes from -838:59:59 to 838:59:59; below zero, whole part and fraction are one complement."""
    step = 10 ** (6 - digits)
    values = [None if value is None else int(value / step) * step for value in values]
    cells = join(
        encode_column(pa.array(values, pa.duration("us")), WireColumn("c", WireType.TIME2, digits, True)), len(values)
    )
    read = [microseconds(WireType.TIME2, digits, cell) if cell else None for cell in cells.to_pylist()]
    assert read == values


def test_a_value_over_its_length_prefix_is_an_error() -> None:
    with pytest.raises(ValueError, match="256 bytes"):
        encode_column(pa.array([b"x" * 256]), WireColumn("c", WireType.VARCHAR, 255, True))


def test_packed_integers_are_those_of_the_protocol() -> None:
    numbers = [0, 250, 251, 252, 65535, 65536, (1 << 24) - 1, 1 << 24, 1 << 40]
    assert packed_integers(np.array(numbers)).to_pylist() == [packed_integer(number) for number in numbers]
