"""Rows that a user's SQL expression selects, as the project's evaluator computes it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable, UsageError
from applier.mysql.names import folded
from applier.mysql.reader_values import as_shown
from applier.mysql.session import Session
from applier.schema.definition import TableDefinition
from applier.sql.evaluator import Typed, evaluate


def are_true(definition: TableDefinition, rows: pa.Table, where: str) -> np.ndarray:
    """Return for which rows of a table an expression is true: bool[n]; invalid dates are null. Raises UsageError if the
    expression cannot be evaluated."""
    columns = {folded(column.name): column for column in definition.stored_columns}

    def column(name: str) -> Typed:
        known = columns[folded(name)]
        return as_shown(rows.column(known.name), known.type), known.type

    session = Session(flavour=definition.flavour, time_zone="+00:00")
    try:
        values = evaluate(where, column, rows.num_rows, session).of_rows(rows.num_rows)
    except NotComputable as error:
        raise UsageError(f"cannot evaluate --where: {error.message}", table=definition.full_name,
                         hint="name columns of this table, and choose it with --tables if there are others") from None
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = whole.type
    if not (pa.types.is_decimal(kind) or pa.types.is_primitive(kind) or pa.types.is_null(kind)):
        raise UsageError("--where is not a condition", hint="compare columns with values, as in n = 5")
    are: np.ndarray = np.asarray(pc.not_equal(whole.cast(pa.float64()), 0.0).fill_null(False))
    return are
