"""Rows that lie in a partition to which they do not belong, as EXCHANGE PARTITION … WITHOUT VALIDATION leaves them.

A server looks for a row by its key in the partition to which the key belongs: no row event finds these rows, and no row
conflicts with them. So they are kept apart from the other rows of a unit, by the partition that they lie in, until they
are written. Judged by MySQL 9.7 and MariaDB 11.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from applier.columns.alter.partitions import NOWHERE, place_numbers
from applier.columns.alter.rows import RowConverter
from applier.errors import NotComputable
from applier.schema.history.conversion import RowConversion
from applier.schema.history.in_place import is_in_place
from applier.schema.partitions import Partitioning

Misplaced: TypeAlias = Mapping[str, pa.Table]
"""Rows by the place that they lie in (`Partitioning.places`)."""
_LIE = "rows lie in partitions to which they do not belong, and it is not known "


def over_statement(conversion: RowConversion, misplaced: Misplaced) -> tuple[list[pa.Table], dict[str, pa.Table]]:
    """Return the rows that a statement moves to where they belong, or that belong where they lie now, and those that
    stay misplaced. Raises SchemaError as RowConverter does, and if it is not known what the server does with them."""
    placed, stay = list[pa.Table](), dict[str, pa.Table]()
    by, removed = conversion.new.partitioning, conversion.removed
    for place, rows in misplaced.items():
        if removed is not None and removed.holds(place):
            continue
        moves = _moves(conversion, place)
        made = RowConverter(replace(conversion, removed=None, required=None)).convert(rows)
        if by is None:
            placed.append(made)
            continue
        numbers = _numbers(made, conversion, by)
        if moves and conversion.repairs and (numbers == NOWHERE).any():
            raise conversion.refusal(f"{_LIE}how many of them are moved before one that belongs to no partition")
        belong = numbers != NOWHERE if moves else numbers == by.number_of_place(place)
        placed.append(made.filter(pa.array(belong)))
        if not moves and not belong.all():
            stay[place] = made.filter(pa.array(~belong))
    return placed, stay


def _moves(conversion: RowConversion, place: str) -> bool:
    """True if the server writes all rows that lie in a partition anew. Those that belong to no partition are then lost,
    unless it copies the table: then it stops."""
    if conversion.removed is not None:
        return False
    if conversion.numbers_rows or conversion.ignores is not None:
        raise conversion.refusal(f"{_LIE}in which order the server copies rows")
    changes_key = conversion.old.primary_key != conversion.new.primary_key and conversion.new.flavour == "mariadb"
    if conversion.rewritten is None or (changes_key and is_in_place(conversion)):
        raise conversion.refusal(f"{_LIE}whether the server moves them")
    by = conversion.old.partitioning
    return (by is not None and by.rows_of(conversion.rewritten).holds(place)) or not is_in_place(conversion)


def _numbers(rows: pa.Table, conversion: RowConversion, by: Partitioning) -> np.ndarray:
    try:
        return place_numbers(rows, conversion.new, by)
    except NotComputable as error:
        raise conversion.refusal(f"which rows are in these partitions is not known: {error.message}") from None
