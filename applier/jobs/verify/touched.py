"""The last transactions that changed rows which differ, out of a change feed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from applier.jobs.verify.canonical import values_of
from applier.jobs.verify.plan import ComparedTable
from applier.jobs.verify.result import DifferentRow, DifferentTable, LastChange
from applier.jobs.verify.rows import key_texts
from applier.mysql.types import arrow_type
from applier.option_texts import KeyValue

FEED = ("_change_type", "_commit_timestamp", "_gtid", "_file", "_pos")
"""What is asked of the feed beside the columns of the key."""


def keys_of(table: DifferentTable) -> list[KeyValue | tuple[KeyValue, ...]]:
    """The keys of its rows that differ, as a change feed takes them."""
    return [_key(table.table, row) for row in table.rows]


def with_last_changes(table: DifferentTable, feed: pa.Table) -> DifferentTable:
    """The table, where each row that differs has the last change of it in a feed, in commit order. Where the key had
    other types in the log, nothing is known."""
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
        return tuple(row.here.column(number)[0].as_py() for number in table.key)
    return tuple(values_of(column, pa.array([bytes.fromhex(part)], pa.binary()))[0].as_py()
                 for column, part in zip(columns, row.key.split("."), strict=True))
