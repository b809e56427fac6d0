"""Values of STORED generated columns, made of those of other columns of the same rows.

Source: MySQL manual, "CREATE TABLE and Generated Columns".
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from applier.conversion.expressions import Typed, evaluate
from applier.conversion.values import convert_values
from applier.schema.conversion import RowConversion
from applier.schema.definition import Column, TableDefinition

_Values = pa.Array | pa.ChunkedArray


def generated_values(column: Column, definition: TableDefinition, values: Callable[[str], _Values], n: int,
                     conversion: RowConversion | None = None) -> pa.Array:
    """A generated column for n rows; `values` has their stored columns by name (KeyError for one that is not there),
    and `conversion` is the statement that makes it, if one does.

    Raises NotComputable where the expression, or its conversion to the column's type, is not known.
    """
    how = conversion or RowConversion(definition, definition, ())

    def known(name: str) -> Typed:
        found = definition.column(name)
        return (made(found) if found.generated == "virtual" else values(found.name)), found.type

    def made(wanted: Column) -> pa.Array:
        computed, found = evaluate(wanted.expression, known, n)
        whole = computed.combine_chunks() if isinstance(computed, pa.ChunkedArray) else computed
        return convert_values(whole, found, wanted.type, how)

    return made(column)
