"""A difference as JSON lines: for each table that differs one with counts, followed by one per row.

    {"table": "shop.orders", "removed": 1, "added": 0, "changed": 1, "rows_before": 9, "rows_after": 8, "notes": []}
    {"table": "shop.orders", "type": "delete", "before": {"id": 1, …}}
    {"table": "shop.orders", "type": "update", "changed": ["status"], "before": {"id": 2, …}, "after": {"id": 2, …}}

Numbers have all their digits; JSON documents are embedded; bytes are hexadecimal digits; TIMESTAMPs are
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
from applier.jobs.exporting.cells import WRITERS, texts_of
from applier.jobs.exporting.text_kernel import BYTES
from applier.jobs.exporting.text_kernel import PLAIN as AS_IT_IS
from applier.jobs.json_lines import steps as json_steps
from applier.jobs.json_lines.steps import LINE, PLAIN, QUOTED, Cells, Steps, cells_of, quoted
from applier.mysql.type_registry import Family
from applier.mysql.types import arrow_type
from applier.mysql.values.byte_columns import hexadecimal
from applier.schema.table_parts import Column

_SIDES = {BEFORE: ("before", json_steps.BEFORE), AFTER: ("after", json_steps.AFTER)}
"""A side's member of a line, and which of the line's rows is its row."""


def json_lines(diff: Compared) -> Iterator[bytes]:
    """Yield the lines, many at a time."""
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
    deletes, inserts, before, after = (batch.take(pa.array(np.flatnonzero(kinds == kind)))
                                       for kind in (DELETE, INSERT, PREIMAGE, POSTIMAGE))
    for name, images in (("delete", ((BEFORE, deletes),)), ("insert", ((AFTER, inserts),)),
                         ("update", ((BEFORE, before), (AFTER, after)))):
        steps, made = Steps().text(f'{{"table":{quoted(table.full_name)},"type":"{name}"'), list[Cells]()
        if name == "update":
            made.append(cells_of(PLAIN, _names(before.column("_changed"))))
            steps.text(",").value("changed", 0, PLAIN, last=True)
        for side, rows in images:
            names = {column.name: side_cells for column in columns if (side_cells := _cells(column, side, rows))}
            members = [(column, number, one.mode) for number, (column, one) in enumerate(names.items(), len(made))]
            member, row = _SIDES[side]
            steps.text(f',"{member}":').image(row, members)
            made += names.values()
        lines = np.zeros(images[0][1].num_rows, LINE)
        for field in ("row", "before", "after"):
            lines[field] = np.arange(len(lines))
        if len(lines):
            yield steps.text("}\n").write(lines, made)[0].tobytes()


def _cells(column: SharedColumn, side: int, rows: pa.RecordBatch) -> Cells | None:
    """Return a column's cells; None if this side does not have it."""
    definition, values = column.sides[side], rows.column(column.name)
    if definition is None:
        return None
    if values.type != arrow_type(definition.type):
        return cells_of(QUOTED, _digits(values) if pa.types.is_binary(values.type) else values)
    return cells_of(*_json_of(definition, values))


def _json_of(column: Column, values: pa.Array) -> tuple[int, pa.Array]:
    """Return the values as texts, and the mode in which the kernel makes JSON of them."""
    match family := column.type.entry.family:
        case Family.YEAR:
            return PLAIN, values.cast(pa.string())
        case Family.VECTOR:
            numbers = pc.binary_join(values.cast(pa.list_(pa.string())), ",")
            return PLAIN, pc.binary_join_element_wise("[", numbers, "]", "")
        case Family.DECIMAL | Family.FLOATING | Family.DOCUMENT:
            return PLAIN, texts_of(column, values)
        case _:
            mode, texts = WRITERS[family][0], texts_of(column, values)
            return (PLAIN if mode == AS_IT_IS else QUOTED), _digits(texts) if mode == BYTES else texts


def _digits(values: pa.Array) -> pa.Array:
    return pc.ascii_upper(hexadecimal(values))


def _names(lists: pa.Array) -> pa.Array:
    """Return lists of names as JSON."""
    flat, counts = lists.flatten(), lists.value_lengths()
    distinct = flat.dictionary_encode()
    names = pa.array(map(quoted, distinct.dictionary.to_pylist()), pa.string())
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts.to_numpy())]), pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, names.take(distinct.indices)), ",")
    return pc.binary_join_element_wise("[", joined, "]", "")
