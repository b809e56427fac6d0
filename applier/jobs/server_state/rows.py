"""Rows as a server has them where the log ends: the values of columns that no change of the log assigned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.table_key import table_key
from applier.errors import ServerAnswerError
from applier.jobs.exporting.cells import cells_of, literals_text
from applier.jobs.server.session import Row, text
from applier.jobs.verify.canonical import canonical_bytes, stored_values
from applier.jobs.verify.server import Server
from applier.jobs.verify.statements import key_text, values_text
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition

_MOST_KEYS = 1000
"""So many keys are in one statement."""


@dataclass(frozen=True)
class RowsOfServer:
    """The rows of a server's tables, in the state that it shows. Methods raise as Server's do."""

    server: Server

    def filled(self, definition: TableDefinition, rows: pa.Table, wanted: np.ndarray) -> tuple[pa.Table, np.ndarray]:
        """See RowsAtTheEnd. A row that the server does not have by its key, byte for byte, is not filled."""
        numbers = np.flatnonzero(wanted.any(axis=1))
        found = [known for at in range(0, len(numbers), _MOST_KEYS)
                 for known in self._values(definition, rows.take(pa.array(numbers[at:at + _MOST_KEYS])))]
        is_there = np.array([values is not None for values in found], bool)
        filled = np.zeros_like(wanted)
        filled[numbers[is_there]] = wanted[numbers[is_there]]
        values = [one for one in found if one is not None]
        for number in np.flatnonzero(filled.any(axis=0)).tolist():
            column = definition.stored_columns[number]
            try:
                stored = stored_values(column, definition, pa.array([one[number] for one in values], pa.binary()))
            except (ValueError, LookupError) as error:
                raise ServerAnswerError(f"the server has a value that does not fit its column: {error}",
                                        table=definition.full_name) from None
            answered = np.full(len(rows), -1)
            answered[numbers[is_there]] = np.arange(len(values))
            there = stored.take(pa.array(answered, mask=answered < 0))
            array = pc.if_else(pa.array(filled[:, number]), there, rows.column(number).combine_chunks())
            rows = rows.set_column(number, rows.schema.field(number), array)
        return rows, filled

    def _values(self, definition: TableDefinition, rows: pa.Table) -> list[Sequence[bytes | None] | None]:
        """Return the server's values of rows with the keys of these, as canonical bytes; None for a row that is not
        there."""
        key = table_key(definition)
        assert key is not None  # else no rows are known by their first images
        columns = [definition.column(name) for name in key.names]
        keys = [rows.column(name).combine_chunks() for name in key.names]
        words = ["(", *[","] * (len(keys) - 1), "),"]
        literals = bytes(literals_text(list(map(cells_of, columns, keys)), len(rows), words)).decode()
        names = ", ".join(quote_name(name) for name in key.names)
        answers = dict(self.server.rows(
            f"SELECT {key_text(columns)}, {values_text(definition.stored_columns)} "
            f"FROM {quote_name(definition.database)}.{quote_name(definition.name)} "
            f"WHERE ({names}) IN ({literals.rstrip(',')})", 1 + len(definition.stored_columns), _by_key))
        cells = [canonical_bytes(*one).to_pylist() for one in zip(columns, keys, strict=True)]
        return [answers.get(".".join(value.hex().upper() for value in row)) for row in zip(*cells, strict=True)]


def _by_key(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    return [(text(key), tuple(values)) for key, *values in rows]
