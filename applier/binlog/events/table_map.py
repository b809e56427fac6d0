"""TABLE_MAP events: the table and the column types of the rows events that follow.

    flags u16 | database: u8 length, bytes, 0 | table: u8 length, bytes, 0 | column count (packed integer)
    | a type byte a column | metadata: packed length, bytes | bitmap of nullable columns | optional metadata: (type u8,
    packed length, bytes)…

(MySQL source documentation, class Table_map_event.) A body is parsed once per distinct content, not once per event.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Literal

from applier.binlog.events.format import MOST_COLUMNS
from applier.errors import ArchiveError
from applier.mysql.wire_types import FORMS, Metadata, WireType

SIGNEDNESS = 1
"""Optional metadata: a bit for each numeric column, first column in the highest bit; set means unsigned."""
DEFAULT_CHARSET, COLUMN_CHARSET = 2, 3
"""Optional metadata: collations of the columns with characters or bytes: either the most frequent one and exceptions by
their number among these columns, or one for each."""
VECTOR_DIMENSIONS = 13
"""Optional metadata of MySQL: the largest dimension of each VECTOR column."""
_NUMERIC = {code for code, form in FORMS.items() if form.numeric}
_WITH_COLLATION = {flavour: {code for code, form in FORMS.items() if flavour in form.collation}
                   for flavour in ("mysql", "mariadb")}
"""The types that these two fields cover on each flavour, without ENUM and SET."""


@dataclasses.dataclass(frozen=True)
class TableMap:
    """One distinct TABLE_MAP body.

    `types` and `metadata` have one entry per column: the type without the one that STRING hides in its metadata (so
    ENUM and SET are themselves, not STRING), and the metadata as a number: VARCHAR and STRING the longest value in
    bytes, BLOB and its kin the bytes of the length prefix, NEWDECIMAL precision << 8 | scale, BIT bytes << 8 | bits
    over, ENUM and SET their bytes, fractional digits for the temporal types that have them. `body` is the parsed body.
    """

    flags: int
    database: str
    table: str
    types: tuple[int, ...]
    metadata: tuple[int, ...]
    nullable: tuple[bool, ...]
    optional: Mapping[int, bytes] = dataclasses.field(compare=False, repr=False)
    body: bytes = dataclasses.field(compare=False, repr=False)

    @property
    def name(self) -> str:
        return f"{self.database}.{self.table}"

    @functools.cached_property
    def unsigned(self) -> tuple[bool | None, ...]:
        """For each column whether it is unsigned: None if it is not a number or the log does not say."""
        bits = self.optional.get(SIGNEDNESS)
        if bits is None:
            return (None,) * len(self.types)
        answers: list[bool | None] = []
        seen = 0
        for wire_type in self.types:
            if wire_type not in _NUMERIC:
                answers.append(None)
                continue
            answers.append(bool(bits[seen >> 3] >> (7 - seen % 8) & 1) if seen >> 3 < len(bits) else None)
            seen += 1
        return tuple(answers)

    @functools.cached_property
    def dimensions(self) -> tuple[int | None, ...]:
        """For each column the largest dimension of a VECTOR: None if it is not a VECTOR or the log does not say. Raises
        ArchiveError (1610) for malformed metadata."""
        reader = _Reader(self.optional.get(VECTOR_DIMENSIONS, b""))
        return tuple(reader.packed() if wire_type == WireType.VECTOR and reader.at < len(reader.body) else None
                     for wire_type in self.types)

    def collations(self, flavour: str) -> tuple[int | None, ...]:
        """For each column the id of its collation: None if it has no characters or bytes, or the log does not say.

        Raises ArchiveError (1610) for malformed metadata.
        """
        counted = [column for column, wire_type in enumerate(self.types) if wire_type in _WITH_COLLATION[flavour]]
        found: list[int | None] = [None] * len(self.types)
        if COLUMN_CHARSET in self.optional:
            reader = _Reader(self.optional[COLUMN_CHARSET])
            for column in counted:
                found[column] = reader.packed()
        elif DEFAULT_CHARSET in self.optional:
            reader = _Reader(self.optional[DEFAULT_CHARSET])
            default = reader.packed()
            others = {}
            while reader.at < len(reader.body):
                number = reader.packed()
                others[number] = reader.packed()
            for number, column in enumerate(counted):
                found[column] = others.get(number, default)
        return tuple(found)


class _Reader:
    """Reads a body in order. A read past its end means that the event is corrupt."""

    def __init__(self, body: bytes):
        self.body, self.at = body, 0

    def take(self, length: int) -> bytes:
        if length < 0 or self.at + length > len(self.body):
            raise ArchiveError("a TABLE_MAP event ends in the middle of a field", errno=1610,
                               hint="the file is damaged; copy it again from the server")
        self.at += length
        return self.body[self.at - length:self.at]

    def number(self, length: int, order: Literal["little", "big"] = "little") -> int:
        return int.from_bytes(self.take(length), order)

    def packed(self) -> int:
        """A packed integer: 1 byte up to 250, else 0xFC, 0xFD or 0xFE and 2, 3 or 8 bytes."""
        first = self.number(1)
        if first < 251:
            return first
        if first in (251, 255):
            raise ArchiveError(f"a TABLE_MAP event has a length that starts with byte {first}", errno=1610)
        return self.number({252: 2, 253: 3, 254: 8}[first])

    def name(self) -> str:
        name = self.take(self.number(1)).decode("utf-8", "surrogateescape")
        self.take(1)
        return name


@functools.lru_cache(512)
def parse_table_map(body: bytes) -> TableMap:
    """Parse a TABLE_MAP event: `body` starts after the 6-byte table id and ends before the checksum. Results are
    cached: plans, readers of files and feeds of single tables request the same ones repeatedly.

    Raises ArchiveError (1610) if the body is malformed, or has a column type that no server writes.
    """
    reader = _Reader(body)
    flags, database, table = reader.number(2), reader.name(), reader.name()
    types = list(reader.take(reader.packed()))
    if len(types) > MOST_COLUMNS:
        raise ArchiveError(f"a TABLE_MAP event has {len(types)} columns", table=f"{database}.{table}", errno=1610,
                           hint="the file is damaged; copy it again from the server")
    fields = _Reader(reader.take(reader.packed()))
    metadata = []
    for column, wire_type in enumerate(types):
        real, meta = _metadata(fields, wire_type)
        if real == WireType.TYPED_ARRAY or real not in WireType._value2member_map_:
            raise ArchiveError(f"column @{column + 1} has the unknown type code {real}", table=f"{database}.{table}",
                               errno=1610, hint="the file is damaged, or newer than this program")
        types[column] = real
        metadata.append(meta)
    bitmap = int.from_bytes(reader.take((len(types) + 7) >> 3), "little")
    optional: dict[int, bytes] = {}
    while reader.at < len(body):
        kind = reader.number(1)
        optional[kind] = reader.take(reader.packed())
    nullable = tuple(bool(bitmap >> column & 1) for column in range(len(types)))
    return TableMap(flags, database, table, tuple(types), tuple(metadata), nullable, optional, bytes(body))


def _metadata(fields: _Reader, wire_type: int) -> tuple[int, int]:
    form = FORMS.get(wire_type)
    match form.metadata if form is not None else Metadata.NONE:
        case Metadata.NONE:
            return wire_type, 0
        case Metadata.BYTE:
            return wire_type, fields.number(1)
        case Metadata.TWO_BYTES:
            return wire_type, fields.number(2)
        case Metadata.DIGITS:
            return wire_type, fields.number(2, "big")
    first, second = fields.number(1), fields.number(1)
    if wire_type != WireType.STRING:
        return wire_type, second
    # CHAR longer than 255 bytes keeps two bits of its length, inverted, in its type byte (MySQL bug 37426)
    if first & 0x30 != 0x30:
        return first | 0x30, second | ((first & 0x30) ^ 0x30) << 4
    return first, second
