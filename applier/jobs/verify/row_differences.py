"""All rows that differ between a server and a snapshot, with the values of both: the input of a repair.

Hashes show which rows may differ. The server's values of these are fetched and compared byte for byte, so that two rows
with equal hashes by chance are not confused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import ServerAnswerError
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE, Differences, Found, read_rows
from applier.jobs.verify.canonical import canonical_bytes, stored_values
from applier.jobs.verify.plan import ComparedTable
from applier.jobs.verify.result import DifferentTable, ServerComparison
from applier.jobs.verify.rows import different_rows, rows_here
from applier.jobs.verify.server import KnownRow, ServerRows, Values
from applier.jobs.verify.sums import TableSums
from applier.mysql.types import arrow_type


def row_differences(found: ServerComparison, sums: dict[str, TableSums], there: ServerRows) -> Compared:
    """Return the differences: the server's rows are before, and the snapshot's after. Raises as Server does, and
    SnapshotError as `read_batches` does."""
    folder = TemporaryDirectory(prefix="applier-verify-", ignore_cleanup_errors=True)
    tables = {}
    for number, table in enumerate(there.plan.tables):
        different, path = found.by_table.get(table.full_name), Path(folder.name) / str(number)
        tables[table.full_name] = _table(table, different, sums[table.full_name], there, path, folder)
    position = there.plan.snapshot.position
    return Compared(position, position, tables)


def _table(table: ComparedTable, different: DifferentTable | None, sums: TableSums, there: ServerRows, path: Path,
           folder: TemporaryDirectory[str]) -> TableDiff:
    """Return the differences of a table, in a file at `path`, which `folder` keeps as long as rows may be requested."""
    schema = pa.schema([pa.field(column.name, arrow_type(column.type)) for column in table.columns])
    differences = Differences(schema, table.full_name)
    counts: Counter[str] = Counter()
    if different is not None:
        with pa.ipc.new_stream(str(path), differences.schema) as sink:
            for part in different.ranges:
                found = _range(sums, part.number, there, differences, schema)
                sink.write_batch(found.batch)
                counts.update(added=found.added, removed=found.removed, changed=found.changed)
    entry = table.entry
    files = () if different is None else (path,)
    return TableDiff(entry.database, entry.name, entry.rows - counts["added"] + counts["removed"], entry.rows,
                     counts["removed"], counts["added"], counts["changed"], entry.key, differences.schema, (),
                     (entry.definition, entry.definition), partial(read_rows, files, folder), partial(iter, ()))


def _range(sums: TableSums, number: int, there: ServerRows, differences: Differences, schema: pa.Schema) -> Found:
    uri, table = there.plan.snapshot.root, sums.table
    keys = sorted({row.key for row in different_rows(uri, sums, number, there.hashes(table, number))})
    rows, hashes = rows_here(uri, sums, number)
    kept = pc.is_in(hashes.keys, value_set=pa.array(keys, pa.string()))
    here = pa.Table.from_batches([pa.RecordBatch.from_arrays(rows.columns, schema=schema)] if rows.num_columns else [],
                                 schema)
    [here] = here.filter(kept).combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema)]
    cells = [canonical_bytes(column, values).to_pylist()
             for column, values in zip(table.columns, here.columns, strict=True)]
    known_here = list(zip(hashes.keys.filter(kept).to_pylist(), zip(*cells, strict=True), strict=True))
    known_there = list(there.values(table, number, keys))
    match = _by_key(known_here, known_there) if table.key else _as_multisets(known_here, known_there)
    deleted, before = (_stored(table, schema, values) for values in (match.deleted, match.before))
    added, after = (here.take(pa.array(rows, pa.int64())) for rows in (match.added, match.after))
    batches = [deleted, before, added, after]
    kinds = np.repeat([DELETE, PREIMAGE, INSERT, POSTIMAGE], [batch.num_rows for batch in batches])
    changed = np.array([[old != new for old, new in zip(values, known_here[row][1], strict=True)]
                        for values, row in zip(match.before, match.after, strict=True)], bool)
    none = np.zeros((len(match.deleted), len(schema)), bool), np.zeros((len(match.added), len(schema)), bool)
    changed = changed.reshape(-1, len(schema))
    return differences.made(batches, kinds, np.concatenate([none[0], changed, none[1], changed]), None)


def _stored(table: ComparedTable, schema: pa.Schema, rows: Sequence[Values]) -> pa.RecordBatch:
    """Return the server's rows as a snapshot has them."""
    try:
        columns = [stored_values(column, table.definition, pa.array([row[number] for row in rows], pa.binary()))
                   for number, column in enumerate(table.columns)]
    except (ValueError, LookupError) as error:
        raise ServerAnswerError(f"the server has a value that does not fit its column: {error}", table=table.full_name,
                                hint="compare its definition of the table with the snapshot's: `applier status`"
                                ) from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass
class _Match:
    """Which rows are only there (`deleted`, by value), only here (`added`, by number), and which have other values
    there (`before`) than here (`after`)."""

    deleted: list[Values] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    before: list[Values] = field(default_factory=list)
    after: list[int] = field(default_factory=list)


def _by_key(here: Sequence[KnownRow], there: Sequence[KnownRow]) -> _Match:
    match, left = _Match(), dict(there)
    for number, (key, values) in enumerate(here):
        old = left.pop(key, None)
        if old is None:
            match.added.append(number)
        elif old != values:
            match.before.append(old)
            match.after.append(number)
    match.deleted += left.values()
    return match


def _as_multisets(here: Sequence[KnownRow], there: Sequence[KnownRow]) -> _Match:
    match, left = _Match(), Counter(values for _, values in there)
    for number, (_, values) in enumerate(here):
        if left[values]:
            left[values] -= 1
        else:
            match.added.append(number)
    match.deleted += left.elements()
    return match
