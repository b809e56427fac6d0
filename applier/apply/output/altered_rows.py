"""The rows of a table across DDL: converted a chunk at a time, and sorted by a new key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.ignored_rows import left_by_ignore
from applier.columns.alter.rows import RowConverter
from applier.columns.alter.scan_order import Arrivals, scan_order
from applier.columns.table_key import TableKey, table_key
from applier.errors import DUPLICATE_KEY, NotComputable, ReplayStopped
from applier.mysql.values.zero_dates import to_python
from applier.schema.definition import table_schema, without_rows
from applier.schema.history.conversion import RowConversion
from keysearch.keybytes import KeyBytes


def altered_rows(conversion: RowConversion, chunks: Iterator[pa.Table], sort_by: TableKey | None,
                 arrivals: Arrivals) -> pa.Table:
    """Yield the rows after the ALTER, given those before it in the order of their key, and the new key if it differs.
    `arrivals` is what is known about their order of arrival.

    Raises SchemaError if values cannot be converted as the server converts them, or if it is unknown which rows it
    kept; ReplayStopped if two rows would have the same key.
    """
    new_key = table_key(conversion.new)
    if conversion.numbers_rows or conversion.ignores is not None or (
            new_key is None and table_key(conversion.old) is not None):
        rows, sort_by = _copied(conversion, chunks, arrivals), new_key
    else:
        rows = _converted(conversion, chunks)
    return _sorted(rows, sort_by, conversion) if sort_by is not None else rows


def _copied(conversion: RowConversion, chunks: Iterator[pa.Table], arrivals: Arrivals) -> pa.Table:
    """Yield the rows in the order in which the server copies them: it numbers them in this order, or drops a duplicate
    that comes later."""
    rows = pa.concat_tables([without_rows(table_schema(conversion.old)), *chunks])
    unknown, conversion = "", _numbering_on(conversion, rows, arrivals)
    try:
        order = scan_order(rows, conversion.old, arrivals)
        rows = rows if order is None else rows.take(order)
    except NotComputable as error:
        unknown = error.message
    made = _converted(conversion, iter([rows]), unknown)
    return made if conversion.ignores is None else left_by_ignore(made, conversion, conversion.ignores, unknown)


def _numbering_on(conversion: RowConversion, rows: pa.Table, arrivals: Arrivals) -> RowConversion:
    """The statement with the number at which an added AUTO_INCREMENT column continues those of another one, which
    stays, if that is known: it is the table's next one."""
    if conversion.first_number or not arrivals.counted or not conversion.continues_numbers:
        return conversion
    counting = next(column.name for column in conversion.old.columns if column.auto_increment)
    highest = pc.max(rows.column(counting)).as_py()
    if not isinstance(highest, int | Decimal):
        return conversion
    return replace(conversion, first_number=max(conversion.old.first_number, int(highest) + 1, 1))


def exchanged_rows(sources: list[tuple[RowConversion, Iterator[pa.Table]]], sort_by: TableKey | None) -> pa.Table:
    """Yield the rows of several tables as those of one, in the order of its key if it has one. Errors as in
    `altered_rows`."""
    rows = pa.concat_tables([_converted(conversion, chunks) for conversion, chunks in sources])
    return _sorted(rows, sort_by, sources[0][0]) if sort_by is not None else rows


def _converted(conversion: RowConversion, chunks: Iterator[pa.Table], unordered: str = "") -> pa.Table:
    converter = RowConverter(conversion, unordered)
    batches = [batch for chunk in chunks for batch in converter.convert(chunk).to_batches()]
    return pa.Table.from_batches(batches, table_schema(conversion.new))


def _sorted(rows: pa.Table, sort_by: TableKey, conversion: RowConversion) -> pa.Table:
    if not rows.num_rows:
        return rows
    try:
        keys = _comparable(sort_by.of_rows(rows, conversion.new.full_name))
    except ReplayStopped as error:
        raise error.at(file=conversion.file, position=conversion.position, gtid=conversion.gtid) from None
    order = pc.sort_indices(keys)
    in_order, rows = keys.take(order), rows.take(order)
    if pc.any(again := pc.equal(in_order[1:], in_order[:-1])).as_py():
        raise _there_twice(rows.slice(pc.index(again, True).as_py(), 1), sort_by, conversion)
    return rows


def _comparable(keys: np.ndarray | KeyBytes) -> pa.Array:
    """Return keys as an array that Arrow can sort."""
    if isinstance(keys, np.ndarray):
        return pa.array(keys)
    offsets, data = pa.py_buffer(keys.offsets), pa.py_buffer(keys.data)
    return pa.Array.from_buffers(pa.large_binary(), len(keys), [None, offsets, data])


def _there_twice(row: pa.Table, key: TableKey, conversion: RowConversion) -> ReplayStopped:
    """Return the error for a statement that gives two rows one key, which are distinct on the source, in both exec
    modes."""
    values = ", ".join(str(to_python(row.column(name).combine_chunks())[0]) for name in key.names)
    return ReplayStopped("two rows have the same key after this statement", file=conversion.file,
                         position=conversion.position, gtid=conversion.gtid, table=conversion.new.full_name,
                         key=f"{key} = {values}", errno=DUPLICATE_KEY,
                         hint="the rows differ from those of the source; stop before the statement with "
                              "--stop-position, or leave the table out with --ignore-tables")
