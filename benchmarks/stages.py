"""The project's own stages, one at a time in one process: what each of them costs on a workload's files.

Every function is a measurement to be run in a process of its own (`measure.in_child`).
"""

import functools
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from applier.apply.spec import KeyRange, UnitSpec
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit_outcome import finish, stops
from applier.binlog.events.table_map import TableMap
from applier.binlog.outline.outline import Outline
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.binlog.rows.layout import plan_columns
from applier.binlog.rows.same_bytes import SameBytes
from applier.columns.table_key import table_key
from applier.io.mapping import map_file
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import CreateTable
from applier.schema.definition import TableDefinition
from applier.snapshot.writer import TableTarget, TableWriter
from benchmarks.measure import Cost, best

Files = tuple[str, ...]
_ROWS = 4096


def outline(files: Files) -> Cost:
    """Headers, CRC32 of every event, event groups, tables, splits."""
    return best(lambda: [outline_file(file) for file in files])


def decode(files: Files) -> tuple[Cost, int]:
    """Both images of all rows copied into Arrow columns, CRC32 checked; and how many images there are."""
    outlines = [outline_file(file) for file in files]
    images = 0

    def take(batch: ChangeBatch) -> None:
        nonlocal images
        images += batch.n_before + batch.n_after

    def run() -> None:
        nonlocal images
        images = 0
        for file in outlines:
            _walk(file, functools.partial(_bind_all, take), verify=True)

    return best(run), images


def count_changes(files: Files) -> int:
    """Row changes of a log."""
    changes = 0

    def take(batch: ChangeBatch) -> None:
        nonlocal changes
        changes += batch.n

    for file in files:
        _walk(outline_file(file), functools.partial(_bind_all, take))
    return changes


def apply(files: Files) -> tuple[Cost, Cost, int]:
    """Applying all changes to tables that begin empty: (finding rows and moving pointers, gathering rows, changes).

    The first includes making keys out of the batches; decoding them is not in it.
    """
    outlines = [outline_file(file) for file in files]
    runs = [_apply_once(outlines) for _ in range(4)][1:]
    return *(Cost(min(run[part] for run in runs), 0) for part in (0, 1)), runs[0][2]


class AppliedTables:
    """Tables of a log, each one unit that begins empty; CPU seconds of applying, and how many changes were applied."""

    def __init__(self, outlines: list[Outline], only: str | None = None) -> None:
        self._outlines, self._only = outlines, only
        self._definitions = _definitions(outlines)
        self.walks: dict[str, TableWalk] = {}
        self.seconds, self.changes = 0.0, 0

    def apply(self) -> None:
        """Walk the log and apply all changes to the tables."""
        for file in self._outlines:
            mapped = _walk(file, self._bind)
            for walk in self.walks.values():
                walk.units[0].retain_buffer(mapped)

    def rows(self) -> list[pa.Table]:
        """What is left of all tables, in batches in the order of the keys. Raises the error of a change refused."""
        kept: list[pa.Table] = []
        with patch("applier.apply.output.unit_files.TableWriter", functools.partial(_Collector, kept)):
            for walk in self.walks.values():
                for stop in stops(walk.units[0]):
                    raise RuntimeError(f"a log of the benchmarks was refused: {stop}")
                finish(walk.units[0])
        return kept

    def _bind(self, table_map: TableMap) -> TableBinding | None:
        if self._only is not None and table_map.table != self._only:
            return None
        if table_map.name not in self.walks:
            place = TableTarget("", table_map.name)
            definition = self._definitions[table_map.name]
            key = table_key(definition)
            assert key is not None, "the tables that are measured have one"
            self.walks[table_map.name] = TableWalk(
                (UnitSpec(number=0, version=0, definition=definition, search=KeyRange(key), target=place),))
        walk = self.walks[table_map.name]
        binding = walk.bind(table_map)
        binding.take = functools.partial(self._take, binding.take)
        return binding

    def _take(self, take: Callable[[ChangeBatch], None], batch: ChangeBatch) -> None:
        began = time.process_time()
        take(batch)
        self.seconds += time.process_time() - began
        self.changes += batch.n


class _Collector:
    """Stands for the writer of a unit's files, and keeps the rows instead."""

    def __init__(self, kept: list[pa.Table], *_: Any, **__: Any) -> None:
        self._kept = kept
        self.zero_dates: dict[str, int] = {}

    def __enter__(self) -> "_Collector":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, rows: pa.Table) -> None:
        self._kept.append(rows)

    def close(self) -> list[Any]:
        return []


def _apply_once(outlines: list[Outline], only: str | None = None) -> tuple[float, float, int]:
    """(CPU seconds of applying, CPU seconds of gathering, changes)."""
    tables = AppliedTables(outlines, only)
    tables.apply()
    began = time.process_time()
    tables.rows()
    return tables.seconds, time.process_time() - began, tables.changes


def one_table(files: Files, table: str) -> tuple[Cost, int]:
    """One table's changes applied, and its rows gathered (which decodes them): (cost, changes)."""
    outlines = [outline_file(file) for file in files]
    runs = [_apply_once(outlines, table) for _ in range(4)][1:]
    return Cost(min(run[0] + run[1] for run in runs), 0), runs[0][2]


def decoded_changes(files: Files, table: str) -> pa.Table:
    """One table's changes as engines take them: `seq`, `kind`, and the columns of the after-image, or the before-image
    in a delete."""
    parts: list[pa.Table] = []
    outlines = [outline_file(file) for file in files]
    names = [column.name for column in _definitions(outlines)[f"bench.{table}"].columns]

    def take(batch: ChangeBatch) -> None:
        rows = pa.array(batch.after_rows + 0), pa.array(batch.before_rows + 0)
        deleted = pa.array(batch.after_rows < 0)
        columns: dict[str, Any] = {"kind": pa.array(batch.kinds.copy())}
        for name, before, after in zip(names, batch.before.columns.values(), batch.after.columns.values(), strict=True):
            old = before.arrow(batch.n_before).take(_or_null(rows[1]))
            columns[name] = pa.compute.if_else(deleted, old, after.arrow(batch.n_after).take(_or_null(rows[0])))
        parts.append(pa.table(columns))

    for file in outlines:
        _walk(file, lambda table_map: _bind_all(take, table_map) if table_map.table == table else None)
    whole = pa.concat_tables(parts).combine_chunks()
    return whole.append_column("seq", pa.array(range(len(whole)), pa.int64()))


def _or_null(rows: pa.Array) -> pa.Array:
    return pa.compute.if_else(pa.compute.less(rows, 0), pa.scalar(None, rows.type), rows)


def parquet(files: Files, table: str) -> tuple[Cost, Cost, int]:
    """One table's rows written by the snapshot's writer, and with pyarrow's defaults; and their bytes in Arrow."""
    outlines = [outline_file(file) for file in files]
    tables = AppliedTables(outlines, table)
    tables.apply()
    rows = pa.concat_tables(tables.rows()).combine_chunks()
    key = table_key(_definitions(outlines)[f"bench.{table}"])
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "t"))

        def ours() -> None:
            with TableWriter(TableTarget(folder, "t"), 0, rows.schema, key=key.names, key_kind=key.form,
                             key_rules=key.rules) as writer:
                writer.write(rows)
                writer.close()

        return best(ours, 3), best(lambda: pq.write_table(rows, os.path.join(folder, "plain.parquet")), 3), rows.nbytes


def _walk(file: Outline, bind: Callable[[TableMap], TableBinding | None], verify: bool = False) -> Any:
    mapped = map_file(file.uri)
    reader = ChangeReader(mapped, bind, checksum=file.format.checksum)
    mapped.checked.clear()
    with SameBytes() as outlined:
        for split in file.splits:
            if verify:
                outlined.walk(reader, split.outlined, split.start, split.end)
            else:
                reader.walk(split.start, split.end)
        reader.flush()
    return mapped


def _bind_all(take: Callable[[ChangeBatch], None], table_map: TableMap) -> TableBinding:
    plans = plan_columns(table_map)
    return TableBinding(plans, list(plans), list(plans), take, _ROWS)


def _definitions(outlines: list[Outline]) -> dict[str, TableDefinition]:
    """The tables that the log creates, by full name."""
    found = {}
    for file in outlines:
        for statement in file.statements:
            for change in parse_statement(
                statement.sql, default_database=statement.database or None, flavour=file.format.flavour
            ):
                if isinstance(change, CreateTable):
                    found[change.definition.full_name] = change.definition
    return found
