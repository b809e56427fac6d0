"""The rows that a table has after its changes, one after another: what a change feed has to add up to."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain

import pyarrow as pa

import applier

Row = tuple[str, ...]


class CannotFold(Exception):
    """The feed does not say all that is needed: it has single images, and this is why they are not enough."""


def rows_of(table: pa.Table, columns: list[str]) -> list[Row]:
    """Return rows as texts of their cells. Values of a column from before its type changed for good are in NAME__1 and
    so on."""
    earlier = {name: [other for other in held if other != name] for name, held in by_stem(table, columns).items()}
    cells = [[next((text for text in texts if text != "None"), "None") for texts in
              zip(*(_cells(table[part]) for part in (name, *earlier[name])), strict=True)] if earlier[name]
             else _cells(table[name]) for name in columns]
    return list(zip(*cells, strict=True)) if columns else []


def by_stem(table: pa.Table, names: Iterable[str]) -> dict[str, list[str]]:
    """Of each name, the columns that are called so, or NAME__1 and so on."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for column in table.column_names:
        for name in {column, re.sub("__[0-9]+$", "", column)} & found.keys():
            found[name].append(column)
    return found


def fold(changes: pa.Table, columns: list[str], key: tuple[str, ...], begun: Iterable[Row] = (), *,
         complete: bool = False) -> Counter[Row]:
    """The rows that are left of those that it begins with, given the columns of the key: by it where there is one, else
    as a multiset. Each image that says what a row was before is compared with it. After an ALTER that converted values,
    changes that are `complete` have all rows."""
    kinds = changes["_change_type"].cast(pa.string()).to_pylist()
    if complete:
        kinds = ["truncate" if kind == "alter" else kind for kind in kinds]
    if "_diffs" in changes.column_names and changes["_diffs"].null_count < len(changes):
        raise CannotFold("JSON diffs instead of documents")
    present = [frozenset(columns if names is None else names) for names in changes["_present"].to_pylist()]
    images = chain((("insert", frozenset(columns), row) for row in begun),
                   zip(kinds, present, rows_of(changes, columns), strict=True))
    return _by_key(images, columns, key) if key else _as_multiset(images, columns)


def _by_key(images, columns, key):
    rows: dict[Row, dict[str, str]] = {}
    found = None
    for kind, present, values in images:
        image = {name: value for name, value in zip(columns, values, strict=True) if name in present}
        if kind == "alter":
            raise CannotFold("values were converted")
        if kind == "truncate":
            rows.clear()
        elif kind == "insert":
            if len(image) < len(columns):
                raise CannotFold("an insert without all columns")
            rows[tuple(image[name] for name in key)] = image
        elif kind == "update_postimage":
            found |= image
            rows[tuple(found[name] for name in key)] = found
        else:
            if not present.issuperset(key):
                raise CannotFold("a before-image without the key")
            of_key = tuple(image[name] for name in key)
            found = rows.pop(of_key)
            if "None" in of_key and {name: found[name] for name in image} != image:
                raise CannotFold("several keys have invalid dates, which are null")
            assert {name: found[name] for name in image} == image, kind
    return Counter(tuple(row[name] for name in columns) for row in rows.values())


def _as_multiset(images, columns):
    rows: Counter[Row] = Counter()
    for kind, present, values in images:
        if kind == "alter" or len(present) < len(columns):
            raise CannotFold("images of a table without a key")
        if kind == "truncate":
            rows.clear()
        else:
            rows[values] += 1 if kind in ("insert", "update_postimage") else -1
            assert rows[values] >= 0
    return +rows


def folded(snapshot: applier.Snapshot, name: str, changes: pa.Table, *, complete: bool = False,
           base: applier.Snapshot | None = None) -> bool:
    """Return whether a table's changes, to its rows in a base if there is one, add up to its rows in a snapshot. Raises
    CannotFold."""
    table = snapshot.tables[name]
    columns = table.schema.names
    begun: list[Row] = []
    if base is not None and name in base.tables:
        known = base.tables[name].to_arrow()
        if not set(columns) <= set(known.column_names):
            raise CannotFold("rows of the base lack columns")
        begun = rows_of(known, columns)
    rows = Counter(rows_of(table.to_arrow(), columns))
    found = fold(changes, columns, table.key, begun, complete=complete)
    if found != rows and any("None" in row for row in rows_of(table.to_arrow(), list(table.key))):
        raise CannotFold("several keys have invalid dates, which are null")
    return found == rows


def _cells(column: pa.ChunkedArray) -> list[str]:
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_decimal(column.type):  # a feed's number may have the wider type of a later definition
        return [str(value) if value is None else f"{value.normalize():f}" for value in column.to_pylist()]
    return [repr(value) for value in column.to_pylist()]
