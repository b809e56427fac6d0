"""Values of a snapshot as the log has them: of rows that come from a base, from defaults, or from what a replica
computes.

Some are not known to the byte, since more than one value of the log is the same in a snapshot: documents, whose numbers
and texts are of several types there; members of an ENUM or SET that has an empty one; text with a character that has
several codes in its set, as the one for codes that have none. Nor are those that nothing here writes (writer.values).
"""

from __future__ import annotations

import functools
import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.events.table_map import TableMap
from applier.mysql.charsets import to_utf8
from applier.mysql.type_registry import Family
from applier.mysql.wire_types import FORMS, WireType
from applier.schema.definition import Column
from applier.sql.casting.texts import SINGLE_BYTE
from applier.writer.column_encoder import ENCODERS, PREFIXES, encode_column
from applier.writer.row_encoder import join
from applier.writer.values import image_values
from applier.writer.wire_columns import WireColumn
from keysearch.addresses import address_of

NULL = -1


class Cells:
    """Values of a column in memory: of each its address, its length (NULL), and whether it is known. They are valid as
    long as this object is."""

    def __init__(self, values: pa.Array, column: Column, table_map: TableMap, number: int) -> None:
        kind, metadata = WireType(table_map.types[number]), table_map.metadata[number]
        n = len(values)
        nulls = np.asarray(values.is_null())
        self.addresses, self.lengths, self.known = np.zeros(n, np.int64), np.full(n, NULL, np.int64), nulls
        if nulls.all() or not _is_exact(column, kind):
            return
        wire = WireColumn(column.name, kind, metadata, column.nullable, column.type.unsigned)
        try:
            cells = join(encode_column(image_values(values, column, wire), wire), n)
        except ValueError:
            return
        self._data = np.frombuffer(cells.buffers()[2], np.uint8)
        offsets = np.frombuffer(cells.buffers()[1], np.int32)[cells.offset:cells.offset + n + 1]
        self.addresses = address_of(self._data) + offsets[:-1].astype(np.int64)
        self.lengths = np.where(nulls, NULL, np.asarray(pc.binary_length(cells), np.int64))
        self.known = np.ones(n, np.bool_)
        if column.type.entry.family is Family.TEXT and (several := _with_several_codes(column.type.charset)):
            self.known &= ~np.asarray(pc.match_substring_regex(values, several).fill_null(False))


@functools.cache
def _with_several_codes(charset: str | None) -> str:
    """A pattern for the characters of a single-byte set that more than one code stands for; nothing if there are none.
    """
    if charset not in SINGLE_BYTE:
        return ""
    codes = Counter(to_utf8(pa.array([bytes([code]) for code in range(256)], pa.binary()), charset).to_pylist())
    several = "".join(re.escape(character) for character, n in codes.items() if n > 1)
    return f"[{several}]" if several else ""


def _is_exact(column: Column, kind: WireType) -> bool:
    """Whether a snapshot's value tells the log's, and can be written."""
    shape = FORMS[kind].shape
    if kind == WireType.JSON or (shape not in ENCODERS and shape not in PREFIXES):
        return False
    return column.type.entry.family is not Family.MEMBERS or "" not in column.type.members
