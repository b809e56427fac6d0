"""The job: every version of every row of a table, in the order of its key.

    archive → complete changes as steps of rows (jobs.changes) → versions, when the log is through → record batches

A step ends a version and begins the next one, so a version's row is read once, and what it was before is not read
again. Rows of a base begin with it; where DDL makes another version of the table, all rows end, and go on as new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.row_steps import Causes
from applier.apply.routes.task import steps, table_walks
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import ApplyTask
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.same_bytes import SameBytes
from applier.columns.table_key import table_key
from applier.errors import UnsupportedEvent, UsageError
from applier.jobs.changes.feed import OF_CHANGES
from applier.jobs.changes.job import ChangeLog
from applier.jobs.changes.log import FeedLog, ReadLog
from applier.jobs.changes.whole_rows import check
from applier.jobs.history.commits import NEVER, Commits
from applier.jobs.history.versions import ALTER, BASE, KINDS, NOTHING, TRUNCATE, Edge, UnitSteps, Versions
from applier.mysql.zero_dates import as_nulls
from applier.options import Keys
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import Column, TableDefinition
from applier.schema.history.table_versions import Position, TableVersion
from applier.snapshot.manifest import BinlogPosition
from keysearch.keybytes import KeyBytes

_KIND = pa.dictionary(pa.int8(), pa.string())
OF_VERSIONS = pa.schema([
    pa.field("_valid_from", pa.timestamp("us", tz="UTC")),
    pa.field("_valid_to", pa.timestamp("us", tz="UTC")),
    pa.field("_from_seq", pa.int64(), nullable=False),
    pa.field("_to_seq", pa.int64()),
    pa.field("_change_type", _KIND, nullable=False),
    pa.field("_ended_by", _KIND),
    pa.field("_from_gtid", pa.string()),
    pa.field("_to_gtid", pa.string()),
])
"""What a history says of a version: from when to before when, by the clock and by commit versions of the change feed
(null: still valid; of a base's rows it is not known since when), what began it (insert, update, alter, base) and what
ended it (update, delete, truncate, alter), and the transactions."""
_BATCH_ROWS = 1 << 15


@dataclass(frozen=True)
class RowHistory:
    """The versions of a table's rows: `schema` is that of the batches, `notes` are lines for people."""

    schema: pa.Schema
    notes: tuple[str, ...]
    _log: FeedLog
    _task: ApplyTask
    _base: BinlogPosition | None

    @property
    def columns(self) -> dict[str, Column]:
        """The table's columns in the history, by name."""
        return self._log.columns

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the columns of the table's key, where it has one."""
        return self._log.key

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The versions by key, and of a row in the order of their beginning; those of a table without a key as they
        began. Raises ArchiveError for damage, and ReplayStopped where a replica would stop."""
        for part in _Walk(self._log, self._task, self._base).parts(self.schema):
            yield from part.to_batches(_BATCH_ROWS)


def row_history(changes: ChangeLog, table: TableName, columns: tuple[str, ...] | None = None,
                keys: Keys | None = None) -> RowHistory:
    """Plan how the table's changes are applied, which are to be complete ones; of all rows, or of those with these
    keys. Raises what a feed of them raises."""
    log, task = changes.applied(table, columns, keys)
    for version in log.versions.values():
        if version.definition.versioning is not None:
            raise UnsupportedEvent("a system-versioned table keeps its past rows itself",
                                   table=version.definition.full_name, hint="replay these logs for the rows")
    fields = [field for field in log.schema if field.name not in OF_CHANGES.names]
    if taken := [field.name for field in fields if field.name in OF_VERSIONS.names]:
        raise UsageError(f"the table has a column {taken[0]}, as the history has", hint="ask for its other columns")
    return RowHistory(pa.schema([*fields, *OF_VERSIONS]), changes.notes, log, task, changes.begins_at)


class _Walk:
    """One way through the log."""

    def __init__(self, log: FeedLog, task: ApplyTask, base: BinlogPosition | None) -> None:
        self._log, self._task, self._base = log, task, base
        self._commits, self._read = Commits(), ReadLog(log)
        self._walks = table_walks(task, {})
        self._units = {version: [UnitSteps(unit, self._commits) for unit in self._walks[version].units]
                       for version in sorted(log.versions.keys() & self._walks.keys())}
        self._found: dict[int, list[Versions]] = {}
        self._file = 0

    def parts(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """The versions, a unit at a time in the order of their keys."""
        for version, units in self._units.items():
            self._walks[version].trace(partial(self._take, units))
        with SameBytes() as outlined:
            for segment in steps(self._task, self._walks, outlined):
                check(self._walks)
                self._finish((segment.file, segment.start))
                self._file = segment.file
        check(self._walks)
        self._finish(None)
        ranges = {len(found) for found in self._found.values()}
        if len(ranges) == 1:
            for unit in range(*ranges):
                yield self._table([(version, found[unit]) for version, found in self._found.items()], schema)
        elif ranges:  # a table was made anew: its units have other ranges
            yield self._table([(version, part) for version, found in self._found.items() for part in found], schema)

    def _take(self, units: Sequence[UnitSteps], _: Sequence[UnitApplier[Any]], batch: ChangeBatch | None,
              causes: Causes) -> None:
        for unit in units:
            unit.take(batch, causes, self._read.groups(self._file))

    def _finish(self, position: Position | None) -> None:
        """Versions of the table that end by a position (None: all) have had all their changes."""
        for number, units in self._units.items():
            version = self._log.versions[number]
            if number in self._found or (position is not None and (version.end is None or version.end > position)):
                continue
            first, last = self._first(version), self._last(version)
            self._found[number] = [unit.versions(first, last) for unit in units]
            check(self._walks)

    def _first(self, version: TableVersion) -> Edge:
        if version.sources:
            return Edge(self._commit(version.start), ALTER)
        if version.in_base is None or self._base is None:
            return Edge(NEVER, BASE)  # it begins without rows
        return Edge(self._commits.of_base(self._base.file, self._base.offset), BASE)

    def _last(self, version: TableVersion) -> Edge:
        if version.end is None:
            return Edge(NEVER, NOTHING)
        goes_on = any(source.version == version.id for other in self._log.versions.values()
                      for source in other.sources)
        return Edge(self._commit(version.end), ALTER if goes_on else TRUNCATE)

    def _commit(self, position: Position) -> int:
        """The commit of the statement that ends there."""
        file, end = position
        return int(self._commits.of(self._read.groups(file), np.array([end - 1]))[0])

    def _table(self, found: Sequence[tuple[int, Versions]], schema: pa.Schema) -> pa.Table:
        """The versions of units over all versions of the table, in order."""
        found = [(number, self._of_chosen(number, versions)) for number, versions in found]
        tables = [self._columns(number, versions, schema) for number, versions in found]
        found_keys = [_keys(versions.values, self._log.versions[number].definition)
                      for number, versions in found]
        keys = [key for key in found_keys if key is not None]
        places = np.concatenate([versions.order for _, versions in found])
        chains = np.concatenate([np.full(len(versions.order), number) for number, versions in found])
        order = pa.table({"chain": chains, "place": places})
        by = [("chain", "ascending"), ("place", "ascending")]
        if len(keys) == len(found) and len({key.type for key in keys}) == 1:
            order = order.append_column("key", pa.chunked_array(keys))
            by = [("key", "ascending"), *by]
        return pa.concat_tables(tables).take(pc.sort_indices(order, by))

    def _of_chosen(self, number: int, versions: Versions) -> Versions:
        """The versions of rows with the keys that are asked for."""
        if self._log.chosen is None:
            return versions
        chosen = self._log.chosen.get(number)
        return versions.part(np.zeros(len(versions.order), np.bool_) if chosen is None else chosen.of_rows(
            [versions.values.column(name) for name in chosen.key.names]))

    def _columns(self, number: int, versions: Versions, schema: pa.Schema) -> pa.Table:
        definition, names = self._log.versions[number].definition, self._log.names[number]
        own = {name: definition.columns[column].name for column, name in names.items()}
        rows = versions.values.num_rows
        arrays = [as_nulls(versions.values.column(own[field.name])) if field.name in own else pa.nulls(rows, field.type)
                  for field in schema if field.name not in OF_VERSIONS.names]
        begun, ended = self._commits.columns(versions.begins), self._commits.columns(versions.ends)
        arrays += [begun[0], ended[0], begun[1], ended[1], _kinds(versions.begun_by), _kinds(versions.ended_by),
                   begun[2], ended[2]]
        return pa.Table.from_arrays(arrays, schema=schema)


def _kinds(numbers: np.ndarray) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8(), mask=numbers == NOTHING), pa.array(KINDS))


def _keys(rows: pa.Table, definition: TableDefinition) -> pa.Array | None:
    """The keys of rows, which compare as the server orders them; None where the table has none."""
    key = table_key(definition)
    if key is None:
        return None
    encoded = key.of_rows(rows, definition.full_name)
    return encoded.to_arrow() if isinstance(encoded, KeyBytes) else pa.array(encoded)
