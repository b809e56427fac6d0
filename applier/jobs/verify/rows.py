"""The rows that differ within a range.

A change feed names the last transactions that changed rows which differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.verify.answers import RowHashes
from applier.jobs.verify.canonical import canonical_bytes, values_of
from applier.jobs.verify.plan import ComparedTable
from applier.jobs.verify.result import DifferentRow, DifferentTable, LastChange
from applier.jobs.verify.sums import TableSums, hashes_of
from applier.mysql.types import arrow_type
from applier.mysql.values.byte_columns import hexadecimal
from applier.mysql.values.zero_dates import to_python
from applier.option_texts import KeyValue
from applier.schema.table_parts import Column
from applier.snapshot.reader import read_batches


def different_rows(uri: str, sums: TableSums, number: int, there: RowHashes) -> Iterator[DifferentRow]:
    """Yield the rows of a range that are not the same on the server: those that are here first, in their order."""
    batches, here = rows_here(uri, sums, number)
    codes = pa.concat_arrays([here.keys, there.keys]).dictionary_encode().indices.to_numpy()
    split, most = len(here.keys), int(codes.max(initial=-1)) + 1
    left, right = codes[:split], codes[split:]
    counts_here, counts_there = np.bincount(left, minlength=most), np.bincount(right, minlength=most)
    first_here, first_there = np.zeros(most, np.int64), np.zeros(most, np.int64)
    first_here[left[::-1]], first_there[right[::-1]] = np.arange(split)[::-1], np.arange(len(right))[::-1]
    surplus = counts_here - counts_there
    both = np.flatnonzero((counts_here > 0) & (counts_there > 0))
    unequal = here.hashes[:, first_here[both]] != there.hashes[:, first_there[both]]
    changed = dict(zip(both[unequal.any(axis=0)].tolist(), unequal[:, unequal.any(axis=0)].T, strict=True))
    wanted = np.union1d(np.flatnonzero(surplus), np.array(list(changed), np.int64))
    names = [column.name for column in sums.table.columns]
    for code in wanted.tolist():  # codes are in the order of the rows
        is_here, more = bool(counts_here[code]), int(surplus[code])
        kind: Literal["here", "there", "changed"] = "changed" if not more else "here" if more > 0 else "there"
        keys, index = (here.keys, first_here[code]) if is_here else (there.keys, first_there[code])
        columns = tuple(name for name, other in zip(names, changed.get(code, ()), strict=False) if other)
        yield DifferentRow(kind, number, keys[int(index)].as_py(), columns,
                           batches.slice(int(index), 1) if is_here else None, None, abs(more) or 1)


def rows_here(uri: str, sums: TableSums, number: int) -> tuple[pa.RecordBatch, RowHashes]:
    """Return the snapshot's rows of a range, and their hashes."""
    table, batches, keys, hashes = sums.table, [], [], []
    for file in sums.files_with(number):
        for batch in read_batches(uri, file, table.definition):
            made = hashes_of(table, batch)
            chosen = np.flatnonzero(table.ranges_of(batch, made) == number)
            if len(chosen):
                batches.append(batch.take(pa.array(chosen)))
                keys.append(_keys(table, batches[-1], made[:, chosen]))
                hashes.append(made[1:, chosen])
    if not batches:
        return pa.RecordBatch.from_arrays([], []), RowHashes.none(table)
    return pa.concat_batches(batches), RowHashes(pa.concat_arrays(keys), np.concatenate(hashes, axis=1))


def _keys(table: ComparedTable, batch: pa.RecordBatch, hashes: np.ndarray) -> pa.Array:
    """Return the keys, as `applier.jobs.verify.statements.row_key` does."""
    if not table.key:
        return pa.array(hashes[0]).cast(pa.string())
    return key_texts([table.columns[number] for number in table.key], [batch.column(number) for number in table.key])


def key_texts(columns: Sequence[Column], key: Sequence[pa.Array]) -> pa.Array:
    """Return the texts that identify rows with these values in the columns of their key."""
    parts = [pc.utf8_upper(hexadecimal(canonical_bytes(column, values)))
             for column, values in zip(columns, key, strict=True)]
    return pc.binary_join_element_wise(*parts, ".")


FEED = ("_change_type", "_commit_timestamp", "_gtid", "_file", "_pos")
"""The columns of the feed that are read, besides those of the key."""


def keys_of(table: DifferentTable) -> list[KeyValue | tuple[KeyValue, ...]]:
    """Return the keys of its rows that differ, as a change feed takes them."""
    return [_key(table.table, row) for row in table.rows]


def with_last_changes(table: DifferentTable, feed: pa.Table) -> DifferentTable:
    """Return the table, where each row that differs has the last change of it in a feed, in commit order. Where the key
    had other types in the log, nothing is known."""
    columns = [table.columns[number] for number in table.table.key]
    values = [feed.column(column.name).combine_chunks() for column in columns]
    if any(found.type != arrow_type(column.type) for found, column in zip(values, columns, strict=True)):
        return table
    complete = np.logical_and.reduce([np.asarray(found.is_valid()) for found in values])
    keys = key_texts(columns, [found.filter(pa.array(complete)) for found in values])
    feed = feed.filter(pa.array(complete)).select(list(FEED))
    backwards = pa.array(np.arange(len(keys))[::-1].copy())
    distinct, firsts = np.unique(keys.take(backwards).to_numpy(zero_copy_only=False), return_index=True)
    last = dict(zip(distinct.tolist(), feed.take(backwards).take(pa.array(firsts)).to_pylist(), strict=True))
    return replace(table, rows=tuple(
        replace(row, last_change=_change(last[row.key])) if row.key in last else row for row in table.rows))


def _change(found: dict[str, object]) -> LastChange:
    kind = str(found["_change_type"]).removesuffix("_preimage").removesuffix("_postimage")
    return LastChange(kind, *(found[name] for name in FEED[1:]))  # type: ignore[arg-type]  # as the feed has them


def _key(table: ComparedTable, row: DifferentRow) -> tuple[KeyValue, ...]:
    columns = [table.columns[number] for number in table.key]
    if row.here is not None:
        values = [row.here.column(number) for number in table.key]
    else:
        values = [values_of(column, pa.array([bytes.fromhex(part)], pa.binary()))
                  for column, part in zip(columns, row.key.split("."), strict=True)]
    return tuple(to_python(value)[0] for value in values)
