"""The tables of a file as the kernel prints them: the texts around their rows, and how each column is printed."""

from __future__ import annotations

import json

import numpy as np

from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.layout import plan_column
from applier.jobs.show.context import quoted
from applier.jobs.show.json_lines import table_fields
from applier.jobs.show.kernels import value_kernel as v
from applier.jobs.show.kernels import walk_records as r
from applier.jobs.show.type_texts import type_texts
from applier.mysql.wire_types import WireType
from keysearch.addresses import address_of

_NO_KEY = "# has_generated_invisible_primary_key="
_HAS_NO_KEY, _HAS_TRIGGERS = 1 << 2, 1 << 14
"""Flags of table maps: MySQL's of a table with a key that it made itself, and MariaDB's."""

_AFTER = 64
"""Bytes after a text that may be read."""

_KINDS: dict[int, int] = {
    **dict.fromkeys((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG), v.INTEGER),
    WireType.YEAR: v.YEAR, WireType.FLOAT: v.FLOAT, WireType.DOUBLE: v.DOUBLE, WireType.NEWDECIMAL: v.DECIMAL,
    WireType.BIT: v.BITS, WireType.SET: v.SET, WireType.ENUM: v.ENUM, WireType.DATE: v.DATE, WireType.NEWDATE: v.DATE,
    WireType.DATETIME2: v.DATETIME2, WireType.TIMESTAMP2: v.TIMESTAMP2, WireType.TIME2: v.TIME2,
    WireType.DATETIME: v.OLD_DATETIME, WireType.TIME: v.OLD_TIME, WireType.TIMESTAMP: v.OLD_TIMESTAMP,
    WireType.VECTOR: v.VECTOR, WireType.JSON: v.JSON,
    **dict.fromkeys(
        (WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.TINY_BLOB, WireType.MEDIUM_BLOB,
         WireType.LONG_BLOB, WireType.BLOB, WireType.GEOMETRY, WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED),
        v.STRING),
}  # fmt: skip
_OLD_TEMPORAL = {WireType.TIMESTAMP, WireType.DATETIME, WireType.TIME}
"""MariaDB's with mysql56_temporal_format=OFF: their length depends on their digits, which only the definition has."""
_LINES = "### INSERT INTO {}\n### SET\n", "### UPDATE {}\n### WHERE\n", "### DELETE FROM {}\n### WHERE\n"
_OBJECTS = (',"op":"insert","table":{},"before":null,"after":{{', ',"op":"update","table":{},"before":{{',
            ',"op":"delete","table":{},"before":{{')
"""The text before a row's first image."""


class PrintedTables:
    """The tables of a file as the kernel prints them: `records` (TABLE[n]) lead to the texts around their rows."""

    def __init__(self, flavour: str, is_json: bool) -> None:
        self._is_mysql, self._is_json = flavour == "mysql", is_json
        self._tables: list[tuple[TableMap, list[np.ndarray]]] = []
        self.records = np.zeros(16, r.TABLE)

    def __getitem__(self, number: int) -> TableMap:
        return self._tables[number][0]

    def add(self, table: TableMap) -> int:
        """Add a table's record, which may move `records`; return its number."""
        columns = _columns(table, b'"@%d":"' if self._is_json else b"###   @%d=")
        if self._is_mysql:
            behind = f"\n{_NO_KEY}{int(bool(table.flags & _HAS_NO_KEY))}\n"
        else:
            behind = f"{' (has triggers)' * bool(table.flags & _HAS_TRIGGERS)}\n"
        name = f"{quoted(table.database)}.{quoted(table.table)}"
        rows = [line.format(json.dumps(table.name, ensure_ascii=False) if self._is_json else name)
                for line in (_OBJECTS if self._is_json else _LINES)]
        shown = f"`{table.database}`.`{table.table}`" if self._is_mysql else name
        title = table_fields(table) if self._is_json else f"Table_map: {shown} mapped to number "
        texts = [text_bytes(text) for text in (*rows, title, behind)]
        is_unsure = not self._is_mysql and not _OLD_TEMPORAL.isdisjoint(table.types)
        record = (is_unsure, len(table.types), address_of(columns[0]), list(table.types).count(WireType.JSON),
                  *map(span_of, texts))
        self._tables.append((table, [*texts, *columns]))
        if len(self._tables) > len(self.records):
            self.records = np.concatenate([self.records, np.zeros_like(self.records)])
        self.records[len(self._tables) - 1] = record
        return len(self._tables) - 1


def encoded(text: str) -> bytes:
    """Return text as UTF-8, surrogates as the bytes that they stand for."""
    return text.encode("utf-8", "surrogateescape")


def text_bytes(text: str | bytes) -> np.ndarray:
    """Return a text at an address, with bytes after it that may be read."""
    return np.frombuffer((encoded(text) if isinstance(text, str) else text) + bytes(_AFTER), np.uint8)


def span_of(text: np.ndarray) -> tuple[int, int]:
    """Return the address and the length of a text of `text_bytes`."""
    return address_of(text), len(text) - _AFTER


def _columns(table: TableMap, prefix: bytes) -> list[np.ndarray]:
    """Return the records of a table's columns, the texts before their values, and those behind."""
    records = np.zeros(len(table.types), r.COLUMN)
    prefixes = np.zeros((len(table.types), 32), np.uint8)
    said = [text_bytes(text) for text in type_texts(table)]
    for number, (kind, metadata) in enumerate(zip(table.types, table.metadata)):
        plan, text = plan_column(kind, metadata), prefix % (number + 1)
        prefixes[number, :len(text)] = np.frombuffer(text, np.uint8)
        width = plan.need if plan.is_bytes else plan.width
        records[number] = (_KINDS[kind], metadata, width, (address_of(prefixes[number]), len(text)),
                           span_of(said[number]))
    return [records, prefixes, *said]
