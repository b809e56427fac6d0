"""Connects table maps with the consumers of tables' changes, for all readers of a log by definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from applier.apply.tasks import LogSegment
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.io.mapping import MappedFile

BATCH_ROWS = 1 << 13


class LogTable(Protocol):
    """A consumer of the changes of a version of a table."""

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """Return the columns to read after a table map; `bound` is the binding of an earlier table map in the same
        reader."""


class TableMaps:
    """Returns to a reader the binding for a table map, by the version that each name (database, table) means.

    Table maps of one version share a binding, so that their changes stay in order. Tables that are not in `tables` are
    skipped.
    """

    def __init__(self, names: Mapping[tuple[str, str], int], tables: Mapping[int, LogTable]):
        self._names, self._tables = names, tables
        self._bindings: dict[int, TableBinding] = {}

    def __call__(self, table_map: TableMap) -> TableBinding | None:
        version = self._names.get((table_map.database, table_map.table))
        if version is None or version not in self._tables:
            return None
        self._bindings[version] = self._tables[version].bind(table_map, self._bindings.get(version))
        return self._bindings[version]


def segment_reader(segment: LogSegment, file: MappedFile, tables: Mapping[int, LogTable],
                   keep: Callable[[MappedFile], None] | None = None) -> ChangeReader:
    """Return a reader of a range of a file for these versions of tables, by id."""
    return ChangeReader(file, TableMaps(segment.tables, tables), checksum=segment.checksum,
                        header_length=segment.header_length, keep=keep, left_out=segment.left_out,
                        computes_omitted=segment.computes_omitted)
