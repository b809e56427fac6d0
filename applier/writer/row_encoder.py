"""Encodes row images and the bodies of rows events, vectorised: columns in, one binary value a row out.

An image is a bitmap of NULLs over the columns that are present, then their cells. Each event says once which columns
are present: full images have all, minimal ones some, and the caller decides by the columns that it gives (IMG-W, IMG-U,
IMG-D).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.events.format import EventType
from applier.mysql.wire_types import WireType
from applier.schema.definition import TableDefinition
from applier.writer.column_encoder import Cells, binary_array, encode_column
from applier.writer.wire_columns import packed_integer, wire_columns

Image: TypeAlias = Mapping[str, pa.Array]
"""Column name to raw values, for the columns that are present: at least one."""

STATEMENT_END = 1
_V2_TYPES = {"insert": 30, "update": 31, "delete": 32}  # MySQL 5.6 and newer
_V1_TYPES = {"insert": 23, "update": 24, "delete": 25}  # MariaDB


@dataclass(frozen=True)
class RowChanges:
    """Changes of one kind to one table, a row each: an insert has no before-image, a delete no after-image.

    `diffs` names JSON columns whose values in an update's after-image are diffs as the log has them (JD-WIRE, without
    the length in front; jsondiff.wire.encode): then it is a partial update (JD-TYPE), of MySQL only.
    """

    table: TableDefinition
    before: Image | None = None
    after: Image | None = None
    diffs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.diffs and (self.before is None or self.after is None or self.table.flavour != "mysql"
                           or any(self.after[name].null_count for name in self.diffs)):
            raise ValueError("JSON diffs are values of after-images of MySQL's updates, and never NULL")
        lengths = {len(values) for image in (self.before, self.after) if image for values in image.values()}
        if len(lengths) != 1:
            raise ValueError(f"images of {self.table.full_name} need columns of one length, not {sorted(lengths)}")

    def __len__(self) -> int:
        image = next(image for image in (self.before, self.after) if image)
        return len(next(iter(image.values())))

    @property
    def operation(self) -> str:
        return "insert" if self.before is None else "delete" if self.after is None else "update"

    @property
    def event_type(self) -> int:
        if self.diffs:
            return EventType.PARTIAL_UPDATE_ROWS
        return (_V1_TYPES if self.table.flavour == "mariadb" else _V2_TYPES)[self.operation]

    def header(self, table_id: int, flags: int = STATEMENT_END) -> bytes:
        """The body of a rows event up to its first row."""
        count = len(self.table.columns)
        extra = b"" if self.table.flavour == "mariadb" else (2).to_bytes(2, "little")
        bitmaps = (_bitmap(self.table, image) for image in (self.before, self.after) if image is not None)
        return b"".join(
            [table_id.to_bytes(6, "little"), flags.to_bytes(2, "little"), extra, packed_integer(count), *bitmaps]
        )

    def rows(self) -> pa.BinaryArray:
        """The bytes of each row: its before-image, then its after-image, and between them which values are diffs."""
        parts: list[Cells] = []
        for image in (self.before, self.after):
            if image is self.after and self.diffs:
                options = np.frombuffer(self._options(), np.uint8)
                parts.append(np.broadcast_to(options, (len(self), len(options))))
            if image is not None:
                parts += _image_parts(self.table, image)
        return join(parts, len(self))

    def _options(self) -> bytes:
        json = [column.name for column in wire_columns(self.table) if column.type == WireType.JSON]
        bits = sum(1 << bit for bit, name in enumerate(json) if name in self.diffs)
        return bytes((1,)) + bits.to_bytes((len(json) + 7) // 8, "little")


def join(parts: list[Cells], count: int) -> pa.BinaryArray:
    """The parts of each row, concatenated."""
    merged: list[Cells] = []
    for part in parts:
        if isinstance(part, np.ndarray) and merged and isinstance(merged[-1], np.ndarray):
            merged[-1] = np.hstack([merged[-1], part])
        else:
            merged.append(part)
    arrays = [
        binary_array(np.full(count, part.shape[1]), part) if isinstance(part, np.ndarray) else part for part in merged
    ]
    if len(arrays) == 1:
        return arrays[0]
    return pc.binary_join_element_wise(*arrays, pa.scalar(b"", pa.binary()))


def _bitmap(table: TableDefinition, image: Image) -> bytes:
    bits = sum(1 << index for index, column in enumerate(table.columns) if column.name in image)
    return bits.to_bytes((len(table.columns) + 7) // 8, "little")


def _image_parts(table: TableDefinition, image: Image) -> list[Cells]:
    columns = [column for column in wire_columns(table) if column.name in image]
    if len(columns) != len(image):
        raise ValueError(f"{table.full_name} has no column {sorted(set(image) - {column.name for column in columns})}")
    arrays = [_one_chunk(image[column.name]) for column in columns]
    # unused bits are 0 in MySQL's images and 1 in MariaDB's
    nulls = np.full((len(arrays[0]), -len(arrays) % 8 + len(arrays)), table.flavour == "mariadb")
    for index, values in enumerate(arrays):
        nulls[:, index] = False if values.null_count == 0 else np.asarray(values.is_null())
    parts: list[Cells] = [np.packbits(nulls, axis=1, bitorder="little")]
    for values, column in zip(arrays, columns, strict=True):
        parts += encode_column(values, column)
    return parts


def _one_chunk(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
