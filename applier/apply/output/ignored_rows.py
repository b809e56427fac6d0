"""The rows that ALTER IGNORE keeps: of rows with the same value in a unique key the first one, and no row without a
partition.

A server copies the rows one by one and skips rows with errors. In MariaDB 10.11.19 and 11.8.9 InnoDB removes more if
the clustered index already has the value: also the row that it wrote last, whichever that is. MariaDB 10.5 does not;
the behaviour of other versions is unknown.
"""

from __future__ import annotations

import functools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.ignored_rows_kernel import CLUSTERED, HASHED, NO_VALUE, PLAIN, copy_rows
from applier.columns.alter.numbers import added
from applier.columns.alter.partitions import NOWHERE, partition_numbers
from applier.columns.defaults import generated_values, passes
from applier.errors import NotComputable
from applier.mysql.types import arrow_type
from applier.schema.ddl.alter_actions import IgnoreConflicts
from applier.schema.history.conversion import RowConversion
from applier.schema.history.in_place import computes_the_same, is_in_place
from applier.schema.key_infos import clustered_key, is_hashed, is_innodb, key_collation
from applier.schema.table_parts import Column, Key
from keysearch.collation import is_exact
from keysearch.keybytes import encode_keys
from keysearch.keyrules import encode_by_rules, key_rule

_UNDOES = ("10.11.19", "11.8.9")
"""The versions of MariaDB whose InnoDB was seen to remove the previous row."""
_KEEPS = "10.5."
"""The version whose InnoDB was seen to keep it."""


def left_by_ignore(rows: pa.Table, conversion: RowConversion, ignores: IgnoreConflicts,
                   unknown_order: str) -> pa.Table:
    """Return the rows that a statement with IGNORE keeps of those that it converts, given in the order in which the
    server copies them; `unknown_order`: why that order is unknown. An added AUTO_INCREMENT column counts the rows that
    are written. Raises SchemaError if it cannot be known which rows are kept."""
    if not rows.num_rows:
        return rows
    try:
        return _left(rows, conversion, ignores, unknown_order)
    except NotComputable as error:
        raise conversion.refusal(f"which rows IGNORE leaves is not known: {error.message}") from None


def _left(rows: pa.Table, conversion: RowConversion, ignores: IgnoreConflicts, unknown_order: str) -> pa.Table:
    new = conversion.new
    unique = [key for key in new.row_keys if key.kind in ("primary", "unique") and _may_repeat(key, conversion)]
    if ignores.checks:
        rows = _passing(rows, conversion, copies=bool(unique) or not is_in_place(conversion))
    if new.partitioning is not None and new.partitioning != conversion.old.partitioning:
        rows = rows.filter(pa.array(partition_numbers(rows, new, new.partitioning) != NOWHERE))
    clustered = clustered_key(new) if is_innodb(new) else None
    if clustered is None and ignores.sorts and not unknown_order:
        unknown_order = "by ORDER BY"
    keys = [(_kind(key, clustered, conversion), key) for key in unique]
    if not keys or not rows.num_rows:
        return rows
    keys.sort(key=lambda item: [HASHED, CLUSTERED, PLAIN].index(item[0]))
    groups = np.stack([_groups(rows, key, conversion) for _, key in keys])
    kept, numbers = np.empty(rows.num_rows, np.bool_), np.empty(rows.num_rows, np.int64)
    in_clustered = copy_rows(groups, np.array([kind for kind, _ in keys], np.uint8),
                             np.full((len(keys), int(groups.max()) + 1), -1, np.int64),
                             conversion.server_version.startswith(_UNDOES), kept, numbers)
    if in_clustered and new.flavour == "mariadb" and not conversion.server_version.startswith((*_UNDOES, _KEEPS)):
        raise NotComputable("in some versions of MariaDB a duplicate in the clustered index takes the row before it "
                            f"along; it is known of {_KEEPS}x, {' and '.join(_UNDOES)} only")
    if unknown_order and not kept.all() and (in_clustered or not _are_alike(rows, groups)):
        raise NotComputable(f"rows lie {unknown_order}, and the first one is left")
    return _numbered(rows, numbers, conversion).filter(pa.array(kept))


def _passing(rows: pa.Table, conversion: RowConversion, *, copies: bool) -> pa.Table:
    """Return the rows that pass the table's CHECK constraints. A server that does not copy rows does not check them."""
    new, n = conversion.new, rows.num_rows
    adds_virtual = any(column.generated == "virtual" and source is None
                       for column, source in zip(new.columns, conversion.sources, strict=True))
    if not copies and not adds_virtual:
        return rows
    of_table = (check.expression for check in new.checks if check.enforced)
    for check in (*of_table, *(column.check for column in new.columns if column.check is not None)):
        try:
            are_good = passes(check, new, rows.column, n, conversion.session)
        except NotComputable as error:
            raise NotComputable(f"rows go that fail CHECK ({check}): {error.message}") from None
        if not copies and not are_good.all():
            raise NotComputable(f"rows fail CHECK ({check}), and it is not known whether the server looks at it")
        rows, n = rows.filter(pa.array(are_good)), int(are_good.sum())
    return rows


def _kind(key: Key, clustered: Key | None, conversion: RowConversion) -> int:
    return HASHED if is_hashed(conversion.new, key) else CLUSTERED if key == clustered else PLAIN


def _may_repeat(key: Key, conversion: RowConversion) -> bool:
    """Return whether rows may have the same value in a key: the key is new, its columns were changed, or a server that
    copies the rows computes them anew."""
    old, new = conversion.old, conversion.new
    columns = [new.column_index(part.column) for part in key.parts if part.column is not None]
    if len(columns) < len(key.parts):
        return True  # one is an expression
    sources = [conversion.sources[column] for column in columns]
    for column, source in zip(columns, sources, strict=True):
        was, is_now = old.columns[source] if source is not None else None, new.columns[column]
        if was is None or was.type != is_now.type or (was.nullable and not is_now.nullable):
            return True
        if is_now.generated and not (computes_the_same(was, is_now, conversion) and is_in_place(conversion)):
            return True
    parts = [(source, part.length) for source, part in zip(sources, key.parts, strict=True)]
    return not any([(None if part.column is None else old.column_index(part.column), part.length)
                    for part in before.parts] == parts
                   for before in old.row_keys if before.kind in ("primary", "unique"))


def _groups(rows: pa.Table, key: Key, conversion: RowConversion) -> np.ndarray:
    """Return which rows have the same value in a key: the number of a group for each, int64[n], NO_VALUE for rows with
    a NULL in the key."""
    columns, rules = [], []
    for part in key.parts:
        if part.column is None:
            raise NotComputable(f"what {part.sql()} of key {key.name} is")
        column = conversion.new.column(part.column)
        collation = key_collation(column, conversion.new.flavour)
        if collation is not None and not is_exact(collation):
            raise NotComputable(f"which strings of {column.name} are the same by {collation}")
        columns.append(_values(rows, column, conversion))
        rules.append(key_rule(collation, part.length))
    valid = functools.reduce(pc.and_, [pc.is_valid(values) for values in columns])
    keys = encode_by_rules([values.filter(valid) for values in columns], rules).to_arrow()
    groups = np.full(rows.num_rows, NO_VALUE, np.int64)
    groups[np.asarray(valid)] = np.asarray(keys.dictionary_encode().indices)
    return groups


def _values(rows: pa.Table, column: Column, conversion: RowConversion) -> pa.Array | pa.ChunkedArray:
    if column.generated == "virtual":
        return generated_values(column, conversion.new, rows.column, rows.num_rows, conversion.session)
    return rows.column(column.name)


def _are_alike(rows: pa.Table, groups: np.ndarray) -> bool:
    """Return whether rows with the same value in a key are equal in all columns, so that it does not matter which one
    is dropped."""
    whole = encode_keys(rows.columns, [True] * rows.num_columns).to_arrow()
    same = np.asarray(whole.dictionary_encode().indices).astype(np.int64)
    for of_key in groups:
        has_value = of_key != NO_VALUE
        pairs = np.unique(np.stack([of_key[has_value], same[has_value]]), axis=1)
        if pairs.shape[1] != len(np.unique(of_key[has_value])):
            return False
    return True


def _numbered(rows: pa.Table, numbers: np.ndarray, conversion: RowConversion) -> pa.Table:
    """Return the rows with the numbers of an added AUTO_INCREMENT column, which counts the rows that were written."""
    for column, source in zip(conversion.new.columns, conversion.sources, strict=True):
        if source is None and column.auto_increment:
            first = added(range(1), conversion.first_number, conversion.numbering, in_place=False)
            values = pa.array(first + conversion.numbering[0] * numbers).cast(arrow_type(column.type))
            rows = rows.set_column(rows.schema.get_field_index(column.name), rows.schema.field(column.name), values)
    return rows
