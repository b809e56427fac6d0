"""Row changes as a binlog file of one transaction with full images, for mysqlbinlog or mariadb-binlog."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from applier.errors import UsageError
from applier.jobs.diff.merging import unequal_columns
from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE
from applier.mysql.type_registry import Family
from applier.schema.definition import TableDefinition
from applier.writer.row_encoder import RowChanges
from applier.writer.values import image_values
from applier.writer.wire_columns import wire_columns
from applier.writer.writer import BinlogWriter

_AS_WRITTEN = "SET NAMES utf8mb4", "SET time_zone = '+00:00'"
"""How the literals of probes are read."""
_SQL_MODE = 1 << 22 | 1 << 19 | 1 << 25
"""STRICT_ALL_TABLES, NO_AUTO_VALUE_ON_ZERO, ALLOW_INVALID_DATES: exporting.statements.STRICT. With the
default mode, a server compares no column with an invalid date [1525]."""


class ChangedRows(Protocol):
    """A table with differences of its rows (jobs.diff.rows)."""

    @property
    def definition(self) -> TableDefinition: ...
    def batches(self) -> Iterator[pa.RecordBatch]: ...


def write_log(tables: Sequence[ChangedRows], first: Iterable[str], flavour: str, path: str, *, checks_off: bool,
              probes: Iterable[str] = ()) -> None:
    """Write the file: statements, and then a transaction of probes, which are errors where rows are not as expected,
    and the rows; tables are in order, those that others refer to first. Raises UsageError for values that are not
    written as events."""
    for table in tables:
        if table.definition.versioning is not None:
            raise UsageError("events of a system-versioned table have the times of its rows, which a difference does "
                             "not tell", table=table.definition.full_name,
                             hint="write SQL: the server then gives the rows their times")
    with BinlogWriter(path, flavour=flavour, gtids="none", timestamp=int(time.time()),
                      foreign_key_checks=not checks_off) as log:
        for statement in first:
            log.query(statement, sql_mode=_SQL_MODE)
        with log.transaction():
            for number, probe in enumerate(probes):
                for statement in (*(_AS_WRITTEN if number == 0 else ()), probe):
                    log.query(statement, sql_mode=_SQL_MODE)
            for table in tables[::-1]:
                _write(log, table, (DELETE,))
            for table in tables:
                _write(log, table, (INSERT,))
                _write(log, table, (PREIMAGE, POSTIMAGE))


def _write(log: BinlogWriter, table: ChangedRows, kinds: tuple[int, ...]) -> None:
    for changes in _changes(table, kinds):
        log.rows(changes)


def _changes(table: ChangedRows, kinds: tuple[int, ...]) -> Iterator[RowChanges]:
    definition = table.definition
    for batch in table.batches():
        of_batch = batch.column("_change_type").indices.to_numpy()
        images = [batch.take(pa.array(np.flatnonzero(of_batch == kind))) for kind in kinds]
        for rows, same in _with_same_documents(definition, images):
            yield RowChanges(definition, before=None if kinds == (INSERT,) else _image(definition, rows[0]),
                             after=None if kinds == (DELETE,) else _image(definition, rows[-1], same))


def _with_same_documents(definition: TableDefinition, images: list[pa.RecordBatch]
                         ) -> Iterator[tuple[list[pa.RecordBatch], set[str]]]:
    """Yield rows of updates by the documents that they do not change, which images after them leave out: text does not
    hold all numbers that documents may have."""
    n = images[0].num_rows
    documents = [column.name for column in definition.stored_columns if column.type.entry.family is Family.DOCUMENT]
    if len(images) == 1 or not documents:
        if n:
            yield images, set()
        return
    before, after = (rows.select(documents) for rows in images)
    patterns, of_row = np.unique(unequal_columns(before, np.arange(n), after, np.arange(n)), axis=0,
                                 return_inverse=True)
    for number, changed in enumerate(patterns):
        which = pa.array(np.flatnonzero(of_row.reshape(-1) == number))
        yield ([rows.take(which) for rows in images],
               {name for name, is_changed in zip(documents, changed, strict=True) if not is_changed})


def _image(definition: TableDefinition, rows: pa.RecordBatch, without: Collection[str] = ()) -> dict[str, pa.Array]:
    stored = {column.name for column in definition.stored_columns if column.name not in without}
    try:
        return {column.name: image_values(rows.column(column.name), column, wire)
                for column, wire in zip(definition.columns, wire_columns(definition), strict=True)
                if column.name in stored}
    except (ValueError, KeyError) as error:
        raise UsageError(f"rows cannot be written as events: {error}", table=definition.full_name,
                         hint="--format sql writes all values") from None
