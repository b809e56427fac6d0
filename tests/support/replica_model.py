"""Events of one table whose rows are tuples: what the reference replica (replica.py) and units make of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from applier.apply.spec import BeginsEmpty, FromBase, KeyRange, UnitSpec
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit_outcome import outcome
from applier.apply.tasks import Refused
from applier.apply.witnessed import STOP
from applier.binlog.rows.changes import ChangeReader
from applier.columns.table_key import table_key
from applier.plan.ranges import BaseFiles
from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import table_schema
from applier.snapshot.manifest import BinlogPosition, Snapshot
from applier.snapshot.writer import TableTarget, TableWriter
from tests.support import replica
from tests.support import row_model as m
from tests.support.row_model import ABSENT, BY_NAME, DELETE, INSERT, UPDATE


class Stop(Exception):
    """The replica's: the error number, the key, the number of the event, and that of the row in it."""

    def __init__(self, errno: int, key: tuple[Any, ...], event: int, row: int):
        super().__init__(errno, key, event, row)
        self.errno, self.key, self.event, self.row = errno, key, event, row


class Table:
    """A table by its statement, with what the replica has to know of it: kinds of its columns in the log, defaults, the
    columns of its key, and the VIRTUAL ones."""

    def __init__(self, sql: str, kinds: list[str], defaults: tuple[Any, ...], key: tuple[int, ...],
                 hidden: tuple[int, ...] = ()):
        [change] = parse_statement(f"CREATE TABLE d.t ({sql})", server_charset="utf8mb4")
        self.definition = change.definition
        self.kinds = [BY_NAME[name] for name in kinds]
        self.defaults, self.key, self.hidden = defaults, key, hidden
        self.body = m.table_map_body(self.kinds)

    def key_of(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(row[c] for c in self.key)

    def shown(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """As a snapshot has it: without VIRTUAL columns, text as text."""
        binary = {c for c, column in enumerate(self.definition.columns) if "binary" in column.type.base}
        return tuple(value.decode() if isinstance(value, bytes) and c not in binary else value
                     for c, value in enumerate(row) if c not in self.hidden)


@dataclass
class Event:
    """A rows event: which columns each image has, and rows of (before, after), with ABSENT where it has none."""

    operation: int
    before: tuple[int, ...] | None
    after: tuple[int, ...] | None
    rows: list[tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]]

    def encode(self, table: Table) -> bytes:
        data = b"".join(m.image(table.kinds, values) for row in self.rows for values in row if values is not None)
        return m.rows_event(self.operation, 7, len(table.kinds), self.before, self.after, data)


def model(table: Table, base: list[tuple[Any, ...]], events: list[Event]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The rows by key after the events. Raises Stop."""
    rows = [tuple(row[str(c)] for c in range(len(table.kinds))) for row in _reference(table, base, events).rows]
    return {table.key_of(row): row for row in rows}


def truly(table: Table, base: list[tuple[Any, ...]], events: list[Event], before: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the before-image that a source would log after these events. Raises Stop."""
    row = _reference(table, base, events).truly(_named(before))
    return tuple(row.get(str(c), ABSENT) for c in range(len(before)))


def _reference(table: Table, base: list[tuple[Any, ...]], events: list[Event]) -> replica.Table:
    columns = [replica.Column(str(c), "", c not in table.key, value) for c, value in enumerate(table.defaults)]
    reference = replica.Table("t", columns, [replica.Key("PRIMARY KEY", tuple(map(str, table.key)))],
                              rows=list(map(_named, base)))
    for number, event in enumerate(events):
        for row, (before, after) in enumerate(event.rows):
            try:
                reference.apply(None if before is None else _named(before), None if after is None else _named(after))
            except replica.Refused as refused:
                raise Stop(refused.errno, tuple(refused.row[str(c)] for c in table.key), number, row) from None
    return reference


def _named(row: tuple[Any, ...]) -> replica.Row:
    """A row or an image, by column."""
    return {str(c): value for c, value in enumerate(row) if value is not ABSENT}


@dataclass
class Outcome:
    """The result of the units: rows in the order of the files, the errors, and counts."""

    rows: list[tuple[Any, ...]]
    stopped: list[Any]
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    positions: list[int] = field(default_factory=list)


def apply(table: Table, events: list[Event], folder: Path, *, base: list[tuple[Any, ...]] = (), cuts: list[Any] = (),
          file_cuts: list[Any] | None = None, spread: int = 1) -> Outcome:
    """Replay events over units cut at the encoded keys `cuts`, the base's files cut there, too, or at others, the log
    spread over `spread` files."""
    specs = _specs(table, list(base), sorted(cuts), folder, sorted(cuts if file_cuts is None else file_cuts))
    walk = TableWalk(specs)
    chunks = [events[i * len(events) // spread:(i + 1) * len(events) // spread] for i in range(spread)]
    kept, positions = [], []
    for chunk in chunks:
        encoded = [event.encode(table) for event in chunk]
        start = m.table_map_event(7, table.body)
        file = m.as_file(start, *encoded)
        at = 4 + len(start)
        for part in encoded:
            positions.append(at)
            at += len(part)
        for unit in walk.units:
            unit.retain_buffer(file)
        reader = ChangeReader(file, walk.bind, checksum=False)
        reader.walk(4, file.size)
        reader.flush()
        kept.append(file)
    done = outcome(walk.units)
    if isinstance(done, Refused):
        return Outcome([], list(done.errors), positions=positions)
    results = done.results
    rows = []
    for unit, result in zip(walk.units, results, strict=True):
        for entry in result.files if result.files is not None else unit.spec.base_files:
            root = folder / ("new" if result.files is not None else "base")
            read = pq.read_table(root / entry.path)
            assert read.num_rows == entry.rows
            rows += [tuple(row.values()) for row in read.to_pylist()]
    return Outcome(rows, [], *(sum(getattr(result, name) for result in results)
                               for name in ("inserted", "updated", "deleted")), positions)


def _specs(table: Table, base: list[tuple[Any, ...]], cuts: list[Any], folder: Path,
           file_cuts: list[Any]) -> tuple[UnitSpec, ...]:
    """Units between the cuts, on a base with a file for the rows between other ones."""
    definition, key = table.definition, table_key(table.definition)
    for name in ("new", "base"):
        (folder / name / "t").mkdir(parents=True, exist_ok=True)
    rows = encoded_rows(table, base)
    keys = keys_of(table, rows)
    order = sorted(range(len(base)), key=keys.__getitem__)
    snapshot = Snapshot(BinlogPosition("b", 4, "", None, "mysql"), (), uri=str(folder / "base"))
    specs, files = [], []
    for number, (low, high) in enumerate(itertools.pairwise([None, *file_cuts, None])):
        inside = [i for i in order if (low is None or keys[i] >= low) and (high is None or keys[i] < high)]
        if inside:
            with TableWriter(TableTarget(str(folder / "base"), "t"), number, rows.schema, key=key.names,
                             key_kind=key.form, key_rules=key.rules) as writer:
                writer.write(rows.take(inside))
                files += writer.close()
    for number, (low, high) in enumerate(itertools.pairwise([None, *cuts, None])):
        own = BaseFiles(files).within(low, high)
        origin = FromBase(uri=snapshot.uri, files=own) if own else BeginsEmpty()
        specs.append(UnitSpec(number=number, version=0, definition=definition, origin=origin,
                              search=KeyRange(key, low, high),
                              target=TableTarget(str(folder / "new"), "t"), witness=STOP))
    return tuple(specs)


def encoded_rows(table: Table, rows: list[tuple[Any, ...]]) -> pa.Table:
    schema = table_schema(table.definition)
    columns = list(zip(*map(table.shown, rows), strict=True)) if rows else [()] * len(schema)
    return pa.Table.from_arrays([pa.array(column, type_.type) for column, type_ in zip(columns, schema, strict=True)],
                                schema=schema)


def keys_of(table: Table, rows: pa.Table) -> list[Any]:
    """The encoded keys, as plans have them."""
    key = table_key(table.definition)
    keys = key.encode([rows.column(name) for name in key.names])
    return [int(value) for value in keys] if key.form == "int" else [keys[i] for i in range(len(keys))]


__all__ = ["ABSENT", "DELETE", "INSERT", "UPDATE", "Event", "Outcome", "Stop", "Table", "apply", "encoded_rows",
           "keys_of", "model", "truly"]
