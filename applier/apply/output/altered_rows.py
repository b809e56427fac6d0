"""The rows of a table across DDL: converted a chunk at a time, and sorted by a new key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.counted_rows import CountedRows
from applier.apply.output.ignored_rows import left_by_ignore
from applier.apply.output.misplaced_rows import Misplaced, over_statement
from applier.columns.alter.rows import RowConverter
from applier.columns.alter.scan_order import follows_arrival, scan_order
from applier.columns.table_key import TableKey, leads_elsewhere, table_key
from applier.errors import DUPLICATE_KEY, NotComputable, ReplayStopped, SchemaError
from applier.mysql.values.zero_dates import to_python
from applier.schema.definition import table_schema, without_rows
from applier.schema.history.conversion import RowConversion
from applier.snapshot.files.value_marks import PARTITION
from keysearch.keybytes import KeyBytes

_RANK = "\0rank"
"""A column beside those of a table, which has no name like this."""


@dataclass(frozen=True)
class RowsBefore:
    """The rows of a unit before the first change, in the order of its key if they come from another version, and,
    apart, misplaced ones. `ranks` as in RowsOfSource. is_unordered: the rows lost their key, and are not in the order
    in which the server has them. `counter` as in RowsOfSource, before the changes. have_asked: some got numbers in a
    column that was there before the statement."""

    rows: pa.Table
    misplaced: Misplaced = field(default_factory=dict)
    ranks: np.ndarray | None = None
    is_unordered: bool = False
    counter: int | None = 1
    have_asked: bool = False


def altered_rows(conversion: RowConversion, before: CountedRows, sort_by: TableKey | None) -> RowsBefore:
    """Return the rows after the ALTER, except misplaced ones, given those before it and the new key if it differs.

    Raises SchemaError if values cannot be converted as the server converts them, or if it is unknown which rows it
    kept; ReplayStopped if two rows would have the same key.
    """
    new_key, is_unordered, ranks, have_asked = table_key(conversion.new), False, None, False
    if conversion.numbers_rows or conversion.ignores is not None or follows_arrival(conversion.new) or (
            new_key is None and table_key(conversion.old) is not None) or leads_elsewhere(conversion):
        rows, is_unordered, have_asked = _copied(conversion, before)
        if new_key is not None and not is_unordered and _keeps_order(conversion):
            ranks = np.arange(rows.num_rows)
        sort_by = new_key
    else:
        rows = _converted(conversion, before.rows())
    if sort_by is not None and ranks is not None:
        rows = _sorted(rows.append_column(_RANK, pa.array(ranks)), sort_by, conversion)
        rows, ranks = rows.drop_columns(_RANK), np.asarray(rows.column(_RANK))
    elif sort_by is not None:
        rows = _sorted(rows, sort_by, conversion)
    return RowsBefore(rows, ranks=ranks, is_unordered=is_unordered and new_key is None, have_asked=have_asked)


def _keeps_order(conversion: RowConversion) -> bool:
    """Return whether a table has its rows in the order in which a statement copies or leaves them."""
    old, new = conversion.old, conversion.new
    return follows_arrival(new) and not conversion.sorts_rows and not any(
        definition.partitioning or definition.versioning for definition in (old, new))


def _copied(conversion: RowConversion, before: CountedRows) -> tuple[pa.Table, bool, bool]:
    """Return the rows in the order in which the server copies them, and whether that is unknown: it numbers them in
    this order, or drops a duplicate that comes later. And whether some asked for numbers."""
    arrivals = before.arrivals
    rows = pa.concat_tables([without_rows(table_schema(conversion.old)), *before.rows()])
    unknown = ""
    try:
        order = scan_order(rows, conversion.old, arrivals, before.ranks)
        rows = rows if order is None else rows.take(order)
    except NotComputable as error:
        unknown = error.message
    converter = RowConverter(conversion, unknown, before.counter)
    made = _by(converter, iter([rows]))
    if conversion.ignores is not None:
        n_copied = made.num_rows
        counting = replace(conversion, first_number=conversion.first_number or before.counter or 0)
        made = left_by_ignore(made, counting, conversion.ignores, unknown)
        if converter.numbers.draws and made.num_rows < n_copied:  # what a row that is left out takes is not known
            raise conversion.refusal(f"column {converter.numbers.draws} numbers the rows, and some of them are removed")
    return made, bool(unknown) and rows.num_rows > 1, converter.numbers.have_asked


def exchanged_rows(own: RowConversion, kept: Iterator[pa.Table], other: RowConversion, moved: Iterator[pa.Table],
                   sort_by: TableKey | None) -> tuple[pa.Table, Misplaced]:
    """Return the rows that a table keeps, and those that move into a partition of it, in the order of its key if it has
    one; and, apart, those that move there but belong elsewhere. Errors as in `altered_rows`."""
    converter = RowConverter(other)
    rows = pa.concat_tables([_converted(own, kept), _by(converter, moved)])
    misplaced: Misplaced = {}
    if converter.misplaced and other.required is not None:
        [place] = filter(other.required.holds, other.required.partitioning.places)
        misplaced = {place: pa.concat_tables(converter.misplaced)}
    return (_sorted(rows, sort_by, own) if sort_by is not None else rows), misplaced


def with_placed(rows: pa.Table, conversion: RowConversion, misplaced: Misplaced,
                sort_by: TableKey | None) -> tuple[pa.Table, Misplaced]:
    """Return the rows after a statement, with the misplaced ones that it puts, or finds, in their places; and, apart,
    those that stay misplaced. Errors as in `altered_rows`."""
    placed, stay = over_statement(conversion, misplaced)
    if any(part.num_rows for part in placed):
        rows = pa.concat_tables([rows, *placed])
        rows = _sorted(rows, sort_by, conversion) if sort_by is not None else rows
    return rows, stay


def with_misplaced(rows: pa.Table, misplaced: Misplaced, key: TableKey | None, table: str) -> pa.Table:
    """Return all rows of a table, in the order of its key if it has one, with the column PARTITION. Raises SchemaError
    if two have the same key."""
    parts = [(None, rows), *misplaced.items()]
    rows = pa.concat_tables([part.append_column(PARTITION, pa.repeat(pa.scalar(name, pa.string()), part.num_rows))
                             for name, part in parts])
    if key is None:
        return rows
    rows, again = _by_key(rows, key, table)
    if again is not None:
        raise SchemaError("two rows have the same key, and one of them lies in a partition to which it does not "
                          f"belong: {_key_text(again, key)}", table=table,
                          hint="a snapshot has one row for each key; stop before the EXCHANGE PARTITION with "
                               "--stop-position, or leave the table out with --ignore-tables")
    return rows


def _converted(conversion: RowConversion, chunks: Iterator[pa.Table]) -> pa.Table:
    return _by(RowConverter(conversion), chunks)


def _by(converter: RowConverter, chunks: Iterator[pa.Table]) -> pa.Table:
    batches = [batch for chunk in chunks for batch in converter.convert(chunk).to_batches()]
    return pa.Table.from_batches(batches, converter.schema)


def _sorted(rows: pa.Table, sort_by: TableKey, conversion: RowConversion) -> pa.Table:
    try:
        rows, again = _by_key(rows, sort_by, conversion.new.full_name)
    except ReplayStopped as error:
        raise error.at(file=conversion.file, position=conversion.position, gtid=conversion.gtid) from None
    if again is not None:
        raise _there_twice(again, sort_by, conversion)
    return rows


def _by_key(rows: pa.Table, key: TableKey, table: str) -> tuple[pa.Table, pa.Table | None]:
    """Return the rows in the order of the key, and one whose key another has, None if there is none."""
    if not rows.num_rows:
        return rows, None
    keys = _comparable(key.of_rows(rows, table))
    order = pc.sort_indices(keys)
    in_order, rows = keys.take(order), rows.take(order)
    if pc.any(again := pc.equal(in_order[1:], in_order[:-1])).as_py():
        return rows, rows.slice(pc.index(again, True).as_py(), 1)
    return rows, None


def _comparable(keys: np.ndarray | KeyBytes) -> pa.Array:
    """Return keys as an array that Arrow can sort."""
    if isinstance(keys, np.ndarray):
        return pa.array(keys)
    offsets, data = pa.py_buffer(keys.offsets), pa.py_buffer(keys.data)
    return pa.Array.from_buffers(pa.large_binary(), len(keys), [None, offsets, data])


def _there_twice(row: pa.Table, key: TableKey, conversion: RowConversion) -> ReplayStopped:
    """Return the error for a statement that gives two rows one key, which are distinct on the source, in both exec
    modes."""
    return ReplayStopped("two rows have the same key after this statement", file=conversion.file,
                         position=conversion.position, gtid=conversion.gtid, table=conversion.new.full_name,
                         key=_key_text(row, key), errno=DUPLICATE_KEY,
                         hint="the rows differ from those of the source; stop before the statement with "
                              "--stop-position, or leave the table out with --ignore-tables")


def _key_text(row: pa.Table, key: TableKey) -> str:
    return f"{key} = {', '.join(str(to_python(row.column(name).combine_chunks())[0]) for name in key.names)}"
