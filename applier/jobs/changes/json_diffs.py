"""JSON diffs of updates (PARTIAL_UPDATE_ROWS) as SQL, for rows of a feed whose images have them instead of documents.

    {"settings": "JSON_REPLACE(`settings`, '$.theme', 'dark')"}

The text of a row is a JSON object: for each column with a diff, the expression that computes its new document from its
old one, as `applier show` prints it (JD-SHOW). Diffs are formatted in Python, one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.rows.changes import ImageLayouts
from applier.errors import CORRUPT_EVENT, ArchiveError
from applier.mysql.types import quote_name
from jsondiff import wire
from jsondiff.diff import DiffError
from jsondiff.sql import to_sql
from jsondiff.values import DocumentError


class JsonDiffs:
    """The diffs of rows. `names` are those of the feed's columns, by their number in the table, `layouts` those of the
    rows' images; `positions` and `rows` locate each row: the offset of its event, and its number in it."""

    def __init__(self, names: Mapping[int, str], layouts: ImageLayouts, numbers: np.ndarray, positions: np.ndarray,
                 rows: np.ndarray) -> None:
        self._names, self._positions, self._rows = names, positions, rows
        self._found: dict[int, dict[str, str]] = {}
        self._masks = {
            column: np.isin(numbers, [number for number, layout in enumerate(layouts.known) if column in layout.diffs])
            for column in {column for layout in layouts.known for column in layout.diffs} if column in names}

    def without(self, column: int, values: pa.Array) -> pa.Array:
        """Return a column's values with null for each diff, and keep the diffs. Raises ArchiveError for a malformed
        one."""
        mask = self._masks.get(column)
        if mask is None or not mask.any():
            return values
        name = self._names[column]
        for row in np.flatnonzero(mask).tolist():
            try:
                self._found.setdefault(row, {})[name] = _as_sql(values[row].as_py(), name)
            except ArchiveError as error:
                raise error.at(position=int(self._positions[row]), row=int(self._rows[row])) from None
        return pc.if_else(pa.array(mask), pa.scalar(None, values.type), values)

    def texts(self) -> pa.Array:
        """Return the texts of all rows, after `without` for each column; null for a row without a diff."""
        if not self._found:
            return pa.nulls(len(self._rows), pa.string())
        return pa.array([orjson.dumps(self._found[row]).decode() if row in self._found else None
                         for row in range(len(self._rows))], pa.string())


def _as_sql(diffs: bytes | None, name: str) -> str:
    if diffs is None:
        raise ArchiveError(f"column {name}: a NULL that is marked as a JSON diff", errno=CORRUPT_EVENT)
    try:
        return to_sql(wire.decode(diffs), quote_name(name))
    except (DiffError, DocumentError) as error:
        raise ArchiveError(f"column {name}: {error.what}", errno=error.errno,
                           hint="the file is damaged; copy it again from the server") from None
