"""A difference as JSON lines: for each table that differs one with counts, and then one for each row.

    {"table": "shop.orders", "removed": 1, "added": 0, "changed": 1, "rows_before": 9, "rows_after": 8, "notes": []}
    {"table": "shop.orders", "type": "delete", "before": {"id": 1, …}}
    {"table": "shop.orders", "type": "update", "changed": ["status"], "before": {"id": 2, …}, "after": {"id": 2, …}}

Numbers are numbers, of all their digits; JSON documents are what they are; bytes are hexadecimal digits; TIMESTAMPs are
in UTC. Rows come in ranges of keys, those of one type together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.diff.columns import AFTER, BEFORE, SharedColumn, SharedColumns
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE
from applier.jobs.exporting.cells import WRITERS, Cells, texts_of
from applier.jobs.exporting.text_kernel import BYTES, PLAIN, TEXT
from applier.jobs.exporting.texts import lines_text
from applier.mysql.byte_columns import value_bytes
from applier.mysql.type_registry import Family
from applier.mysql.types import arrow_type
from applier.schema.definition import Column


def json_lines(diff: Compared) -> Iterator[bytes]:
    """The lines, many at a time."""
    for table in diff.tables.values():
        if table.same and not table.notes:
            continue
        yield orjson.dumps({
            "table": table.full_name, "removed": table.removed, "added": table.added, "changed": table.changed,
            "rows_before": table.rows_before, "rows_after": table.rows_after, "notes": list(table.notes)}) + b"\n"
        columns = SharedColumns.of(*(side.shown if side else None for side in table.definitions)).columns
        for batch in table.differing_rows():
            yield from _lines(table, columns, batch)


def _lines(table: TableDiff, columns: Sequence[SharedColumn], batch: pa.RecordBatch) -> Iterator[bytes]:
    kinds = batch.column("_change_type").indices.to_numpy()
    for kind, name, side in ((DELETE, "delete", BEFORE), (INSERT, "insert", AFTER)):
        rows = batch.take(pa.array(np.flatnonzero(kinds == kind)))
        if rows.num_rows:
            start = f'{{"table":{_quoted(table.full_name)},"type":"{name}",'
            yield _text(_cells(columns, side, rows), rows.num_rows, [*_words(columns, side, start), "}}\n"])
    before, after = (batch.take(pa.array(np.flatnonzero(kinds == kind))) for kind in (PREIMAGE, POSTIMAGE))
    if before.num_rows:
        start = f'{{"table":{_quoted(table.full_name)},"type":"update","changed":'
        words = [start, *_words(columns, BEFORE, ","), *_words(columns, AFTER, "},"), "}}\n"]
        cells = [_names(before.column("_changed")), *_cells(columns, BEFORE, before), *_cells(columns, AFTER, after)]
        yield _text(cells, before.num_rows, words)


def _words(columns: Sequence[SharedColumn], side: int, start: str) -> list[str]:
    """What stands before the cells of one side: the names of columns that it has."""
    names = [column.name for column in columns if column.sides[side] is not None]
    first = f'{start}"{("before", "after")[side]}":{{'
    return [f"{first if not number else ','}{_quoted(name)}:" for number, name in enumerate(names)]


def _cells(columns: Sequence[SharedColumn], side: int, rows: pa.RecordBatch) -> list[Cells]:
    return [_column_cells(column, side, rows.column(column.name)) for column in columns
            if column.sides[side] is not None]


def _column_cells(column: SharedColumn, side: int, values: pa.Array) -> Cells:
    definition = column.sides[side]
    assert definition is not None
    if values.type != arrow_type(definition.type):
        mode, texts = (BYTES if pa.types.is_binary(values.type) else TEXT), values
    else:
        mode, texts = _json_of(definition, values)
    nulls = texts.is_null().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    return Cells(*value_bytes(texts), nulls, mode)


def _json_of(column: Column, values: pa.Array) -> tuple[int, pa.Array]:
    """The values as texts or bytes, and the mode in which the kernel makes JSON of them."""
    match family := column.type.entry.family:
        case Family.YEAR:
            return PLAIN, values.cast(pa.string())
        case Family.VECTOR:
            numbers = pc.binary_join(values.cast(pa.list_(pa.string())), ",")
            return PLAIN, pc.binary_join_element_wise("[", numbers, "]", "")
        case Family.DECIMAL | Family.FLOATING | Family.DOCUMENT:
            return PLAIN, texts_of(column, values)
        case _:
            return WRITERS[family][0], texts_of(column, values)


def _names(lists: pa.Array) -> Cells:
    """Lists of names as JSON."""
    flat, counts = lists.flatten(), lists.value_lengths()
    distinct = flat.dictionary_encode()
    quoted = pa.array([_quoted(name) for name in distinct.dictionary.to_pylist()], pa.string())
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts.to_numpy())]), pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, quoted.take(distinct.indices)), ",")
    texts = pc.binary_join_element_wise("[", joined, "]", "")
    return Cells(*value_bytes(texts), np.zeros(len(texts), np.uint8), PLAIN)


def _text(cells: Sequence[Cells], rows: int, words: Sequence[str]) -> bytes:
    return bytes(lines_text(cells, rows, False, words))


def _quoted(name: str) -> str:
    return orjson.dumps(name).decode()
