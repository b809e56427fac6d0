"""What a log says of MariaDB's sequences before a statement that gives their numbers to rows.

The server logs a row of a sequence's table whenever it reserves numbers: also directly before an ALTER TABLE that adds
a column with NEXTVAL as its default. A replica goes on behind the reserved ones.
"""

from __future__ import annotations

import re
import struct

from applier.binlog.events.events import parse_rows_header
from applier.binlog.events.format import EventType
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.outline.outline import Outline, Statement
from applier.binlog.outline.outlined_file import OutlinedFile
from applier.mysql.sequences import SequenceState
from applier.mysql.wire_types import WireType

_ASKS = re.compile(r"\s*ALTER\b.*\b(NEXTVAL\s*\(|NEXT\s+VALUE\s+FOR\b)", re.IGNORECASE | re.DOTALL)
_TYPES = (*[WireType.LONGLONG] * 6, WireType.TINY, WireType.LONGLONG)
_ROW = struct.Struct("<x6qbq")
"""The next number that is not reserved, the smallest, the largest, the first, the step, how many are reserved at once,
whether it begins again, and how often it has."""


def states_before(statement: Statement, outline: Outline, file: OutlinedFile) -> tuple[SequenceState, ...]:
    """The sequences as the file's last rows of them before a statement say, if it asks for numbers."""
    if outline.format.flavour != "mariadb" or not isinstance(statement.sql, str) or not _ASKS.match(statement.sql):
        return ()
    shaped = {number for number, use in enumerate(outline.tables) if parse_table_map(use.body).types == _TYPES}
    found: dict[tuple[str, str], SequenceState] = {}
    for split in reversed(list(outline.splits)):
        if split.start < statement.position and shaped.intersection(split.tables) and not found:
            found = _last_rows(file, split.start, min(split.end, statement.position))
    return tuple(found.values())


def _last_rows(file: OutlinedFile, start: int, end: int) -> dict[tuple[str, str], SequenceState]:
    """The last row of each sequence in [start, end)."""
    maps: dict[int, TableMap] = {}
    found: dict[tuple[str, str], SequenceState] = {}
    position = start
    while position < end:
        kind, size = file.mapped.array[position + 4], file.size_at(position)
        if kind == EventType.TABLE_MAP:
            body = bytes(file.read(position).body)
            maps[int.from_bytes(body[:6], "little")] = parse_table_map(body[6:])
        elif kind == EventType.WRITE_ROWS_V1:
            body = bytes(file.read(position).body)
            header = parse_rows_header(kind, body)
            table = maps.get(header.table_id)
            rows = body[header.rows_offset:]
            if table is not None and table.types == _TYPES and header.after == b"\xff" and len(rows) % _ROW.size == 0:
                next_value, minimum, maximum, _, step, *_ = _ROW.unpack_from(rows, len(rows) - _ROW.size)
                found[table.database, table.table] = SequenceState(
                    table.database, table.table, position, next_value, minimum, maximum, step)
        position += size
    return found
