"""Computes the partition of each row of a table, over whole columns.

Source: MySQL manual, "Partitioning Types", "How MySQL Partitioning Handles NULL", "LINEAR HASH Partitioning". Judged by
real servers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.alter.key_hash import KeyColumn, key_hashes
from applier.columns.defaults import default_scalar
from applier.errors import NotComputable, SchemaError
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.exact_text import with_placeholders
from applier.mysql.session import Session
from applier.mysql.types import INTEGERS
from applier.mysql.values import zero_dates
from applier.schema.ddl.cursor import Cursor, StatementContext
from applier.schema.ddl.partition_grammar import parse_partitioning
from applier.schema.definition import TableDefinition, table_schema, without_rows
from applier.schema.key_infos import clustered_key, key_collation
from applier.schema.partitions import DEFAULT, MAXVALUE, SYSTEM_TIME, Partition, Partitioning, PartRows
from applier.schema.table_parts import Column, Default
from applier.schema.versioning import ENDS_OF_TIME
from applier.sql.casting.byte_strings import bytes_of_text
from applier.sql.evaluator import Typed, evaluate, no_columns
from applier.sql.tokens import tokenize
from keysearch.collation import equality_column, is_exact, is_ordered, levels_of
from keysearch.keybytes import KeyBytes, encode_keys, find_ranges

NOWHERE = -1
_COMPARED = {*INTEGERS, "date", "datetime", "char", "varchar", "binary", "varbinary"}


def partition_numbers(rows: pa.Table, definition: TableDefinition, partitioning: Partitioning) -> np.ndarray:
    """Return the number of each row's partition, int64[n]; NOWHERE if no partition accepts it.

    Raises NotComputable if the partitioning function, or the values of partitions, are unknown.
    """
    work = _Rows(rows, definition, partitioning)
    try:
        method = _METHODS[partitioning.method]
    except KeyError:
        raise NotComputable(f"PARTITION BY {partitioning.method or partitioning.other}") from None
    try:
        return method(work)
    except pa.ArrowException as error:
        raise NotComputable.because(error) from None


def place_numbers(rows: pa.Table, definition: TableDefinition, partitioning: Partitioning) -> np.ndarray:
    """Return the number of the place of each row among `Partitioning.places`; errors as in `partition_numbers`."""
    divide = subpartition_numbers if partitioning.subpartition_by else partition_numbers
    return divide(rows, definition, partitioning)


def subpartition_numbers(rows: pa.Table, definition: TableDefinition, partitioning: Partitioning) -> np.ndarray:
    """Return the number of each row's subpartition, counted through all partitions; errors as in
    `partition_numbers`."""
    cursor = Cursor(tokenize(partitioning.subpartition_by), StatementContext(definition.flavour))
    within = parse_partitioning(cursor)
    n = partitioning.n_subpartitions
    within = replace(within, partitions=tuple(Partition(f"p{number}") for number in range(n)))
    numbers = partition_numbers(rows, definition, partitioning)
    return np.where(numbers == NOWHERE, NOWHERE, numbers * n + partition_numbers(rows, definition, within))


def are_in(rows: pa.Table, definition: TableDefinition, part: PartRows) -> np.ndarray:
    """Return which rows are in these partitions: bool[n]; errors as in `partition_numbers`."""
    numbers = subpartition_numbers if part.of_subpartitions else partition_numbers
    found: np.ndarray = np.isin(numbers(rows, definition, part.partitioning), part.numbers)
    return found if part.inside else ~found


def range_bounds(definition: TableDefinition) -> list[int] | list[bytes] | list[float]:
    """Return the upper bounds of the partitions of RANGE, ascending, as values that compare; errors as above."""
    by = definition.partitioning
    assert by is not None
    work = _Rows(without_rows(table_schema(definition)), definition, by)
    if by.method == "RANGE":
        whole = work.bounds().tolist()
        return [*whole, *[math.inf] * (len(by.partitions) - len(whole))]
    return [_key_of(work, partition.values[0]) for partition in by.partitions]


class _Rows:
    """Rows with the partitioning that divides them."""

    def __init__(self, rows: pa.Table, definition: TableDefinition, partitioning: Partitioning):
        self.rows, self.definition, self.partitioning = rows, definition, partitioning
        self.n_partitions = len(partitioning.partitions)

    def column(self, name: str) -> Column:
        try:
            return self.definition.column(name)
        except KeyError:
            raise NotComputable(f"there is no column {name}") from None

    def values(self, name: str) -> Typed:
        found = self.definition.column(name)
        if found.generated == "virtual":
            raise NotComputable(f"column {name} is VIRTUAL")
        return self.rows.column(found.name), found.type

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of the expression (int64[n]), and which are NULL."""
        n, session = self.rows.num_rows, Session(self.definition.flavour)
        return _whole(evaluate(self.partitioning.expression or "", self.values, n, session).of_rows(n))

    def bounds(self) -> np.ndarray:
        """Return the bounds of RANGE, int64; without the last one if that is MAXVALUE."""
        texts = [partition.values[0][0] for partition in self.partitioning.partitions]
        return np.array([_constant(text) for text in texts if text != MAXVALUE], np.int64)


def _whole(values: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    if not (pa.types.is_integer(values.type) or pa.types.is_decimal(values.type)):
        raise NotComputable("the partitioning expression is not a whole number")
    whole = values.cast(pa.int64())
    return np.asarray(whole.fill_null(0)), np.asarray(whole.is_null())


def _constant(sql: str) -> int:
    [value], [is_null] = _whole(evaluate(sql, no_columns, 1, Session()).values)
    if is_null:
        raise NotComputable(f"the bound {sql}")
    return int(value)


def _range(work: _Rows) -> np.ndarray:
    """Return the partition of each row by RANGE. NULL is below every bound."""
    bounds = work.bounds()
    values, nulls = work.numbers()
    numbers = np.searchsorted(bounds, values, side="right")
    numbers[nulls] = 0
    return np.where(numbers < work.n_partitions, numbers, NOWHERE)


def _list(work: _Rows) -> np.ndarray:
    values, nulls = work.numbers()
    numbers = np.full(len(values), _default_of(work.partitioning), np.int64)
    for number, partition in enumerate(work.partitioning.partitions):
        texts = [text for text, in partition.values]
        numbers[np.isin(values, [_constant(text) for text in texts if text not in ("NULL", DEFAULT)]) & ~nulls] = number
        if "NULL" in texts:
            numbers[nulls] = number
    return numbers


def _default_of(partitioning: Partitioning) -> int:
    return next((number for number, partition in enumerate(partitioning.partitions)
                 if (DEFAULT,) in partition.values), NOWHERE)


# ---- by columns


def _keys(work: _Rows, columns: list[pa.Array | pa.ChunkedArray]) -> KeyBytes:
    """Return values of the first columns of the partitioning, as bytes that compare as the values do."""
    named = [work.column(name) for name in work.partitioning.columns[:len(columns)]]
    collations = [key_collation(column, work.definition.flavour) for column in named]
    compared = [values if collation is None else _comparable(values, column.type.charset or "utf8mb4", collation)
                for values, collation, column in zip(columns, collations, named, strict=True)]
    last = pa.array(np.zeros(len(columns[0]), np.int8))  # the last column of a key is written in another way
    return encode_keys([*compared, last], [True] * len(compared) + [False])


def _comparable(values: pa.Array | pa.ChunkedArray, charset: str, collation: str) -> pa.Array | pa.ChunkedArray:
    """Return text as bytes that compare as it does in its collation."""
    if levels_of(collation) or charset in UTF8 or not is_exact(collation):
        return equality_column(values, collation)
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return bytes_of_text(whole if "nopad_" in collation else pc.utf8_rtrim(whole, " "), charset)


def _check_columns(work: _Rows, is_known: Callable[[str], bool]) -> None:
    for name in work.partitioning.columns:
        column = work.column(name)
        collation = key_collation(column, work.definition.flavour)
        if column.type.base not in _COMPARED or (collation is not None and not is_known(collation)):
            raise NotComputable(f"column {name}, {column.type.sql()}, as a partitioning column")
        values, _ = work.values(name)
        if zero_dates.has_any(values) and not (zero_dates.which(values) == zero_dates.are_zero(values)).all():
            raise NotComputable(f"column {name} has invalid dates")  # their order among other dates


def _key_of(work: _Rows, texts: tuple[str, ...]) -> bytes:
    """Return the key of a partition's values. MAXVALUE is greater than every value, whatever columns follow."""
    known = texts[:texts.index(MAXVALUE)] if MAXVALUE in texts else texts
    if not known:
        return _HIGHEST
    scalars = [_scalar(text, work.column(name), work.definition)
               for text, name in zip(known, work.partitioning.columns, strict=False)]
    key = _keys(work, [pa.repeat(scalar, 1) for scalar in scalars])[0]
    return key if len(known) == len(texts) else key[:-1] + _HIGHEST


_HIGHEST = b"\xff"


def _scalar(text: str, column: Column, definition: TableDefinition) -> pa.Scalar:
    """Return a literal as a value of the column. MariaDB cuts text that is longer, and its text has the bytes of UTF-8
    in a binary column, whatever the table's character set is."""
    if definition.flavour == "mariadb":
        definition = replace(definition, charset="utf8mb4")
    default = Default("null") if text == "NULL" else Default("expression", text)
    try:
        return default_scalar(replace(column, default=default, generated=None, expression=None), definition,
                              strict=definition.flavour == "mysql")
    except SchemaError as error:
        raise NotComputable(f"{text} for column {column.name}: {error.message}") from None


def _range_columns(work: _Rows) -> np.ndarray:
    _check_columns(work, is_ordered)
    for name in work.partitioning.columns:
        values, kind = work.values(name)
        if levels_of(kind.collation or "") and with_placeholders(values, kind.charset) is not None:
            raise NotComputable(f"column {name} has codes without a character, whose order is not known")
        if kind.base in ("char", "varchar") and pc.any(pc.match_substring_regex(values, r"[\x00-\x1f]")).as_py():
            raise NotComputable(f"column {name} has characters below the space, which pads shorter strings")
    keys = _keys(work, [work.values(name)[0] for name in work.partitioning.columns])
    bounds = [_key_of(work, partition.values[0]) for partition in work.partitioning.partitions]
    offsets = np.zeros(len(bounds) + 1, np.int64)
    np.cumsum([len(bound) for bound in bounds], out=offsets[1:])
    numbers = find_ranges(keys, KeyBytes(offsets, np.frombuffer(b"".join(bounds), np.uint8)))
    return np.where(numbers < work.n_partitions, numbers, NOWHERE)


def _list_columns(work: _Rows) -> np.ndarray:
    _check_columns(work, is_exact)
    keys = _keys(work, [work.values(name)[0] for name in work.partitioning.columns]).to_arrow()
    taken = [(_key_of(work, texts), number) for number, partition in enumerate(work.partitioning.partitions)
             for texts in partition.values if texts != (DEFAULT,)]
    found = pc.index_in(keys, value_set=pa.array([key for key, _ in taken], pa.large_binary()))
    numbers = np.array([*(number for _, number in taken), _default_of(work.partitioning)], np.int64)
    chosen: np.ndarray = numbers[np.asarray(found.fill_null(len(taken)))]
    return chosen


# ---- by a hash


def _hash(work: _Rows) -> np.ndarray:
    values, nulls = work.numbers()
    values = np.where(nulls, np.iinfo(np.int64).min, values)
    if work.partitioning.method.startswith("LINEAR"):
        return _linear(values, work.n_partitions)
    numbers: np.ndarray = np.abs(np.fmod(values, work.n_partitions))  # of the lowest, too, before its sign is lost
    return numbers


def _linear(values: np.ndarray, n: int) -> np.ndarray:
    mask = (1 << (n - 1).bit_length()) - 1
    numbers = values & mask
    return np.where(numbers >= n, values & (mask >> 1), numbers)


def _key(work: _Rows) -> np.ndarray:
    """Return the partition of each row by KEY, which hashes its columns in the table's order of columns."""
    unnamed = clustered_key(work.definition)
    names = work.partitioning.columns or tuple(
        part.column for part in (unnamed.parts if unnamed else ()) if part.column is not None)
    flavour = work.definition.flavour
    columns = [KeyColumn(name, *work.values(name), key_collation(work.column(name), flavour))
               for name in sorted(names, key=work.definition.column_index)]
    hashed = key_hashes(columns, work.rows.num_rows, flavour, by_weight=not work.partitioning.old_hash)
    numbers = (hashed & np.uint64(0xFFFFFFFF)).astype(np.int64)
    if work.partitioning.method.startswith("LINEAR"):
        return _linear(numbers, work.n_partitions)
    return numbers % work.n_partitions


def _system_time(work: _Rows) -> np.ndarray:
    """Return the partition of each row by SYSTEM_TIME. Current rows are in the last partition, a past row in the
    partition of its end's second; the first and the last of the other partitions also have everything before and
    after."""
    versioning, n_past = work.definition.versioning, work.n_partitions - 1
    if versioning is None:
        raise NotComputable("SYSTEM_TIME in a table that is not versioned")
    ends = np.asarray(work.rows.column(versioning.row_end).cast(pa.int64()))
    numbers = np.zeros(len(ends), np.int64)
    if n_past > 1:
        start, step = work.partitioning.start, work.partitioning.step
        if start is None or step is None:
            raise NotComputable(f"PARTITION BY SYSTEM_TIME {work.partitioning.expression}")
        numbers = np.clip((ends // 1_000_000 - start) // step, 0, n_past - 1)
    return np.where(np.isin(ends, ENDS_OF_TIME), n_past, numbers)


_METHODS = {"RANGE": _range, "LIST": _list, "RANGE COLUMNS": _range_columns, "LIST COLUMNS": _list_columns,
            "HASH": _hash, "LINEAR HASH": _hash, "KEY": _key, "LINEAR KEY": _key, SYSTEM_TIME: _system_time}
