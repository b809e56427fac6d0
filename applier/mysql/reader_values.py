"""Values as readers of a snapshot see them: without invalid dates, and without placeholders in text."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow as pa

from applier.mysql.character_sets.exact_text import is_lossy, shown
from applier.mysql.types import TEXT, ColumnType
from applier.mysql.values import doubles
from applier.mysql.values.zero_dates import as_nulls

_Values: TypeAlias = pa.Array | pa.ChunkedArray


def lossy_charset(kind: ColumnType) -> str | None:
    """Return the character set of a column whose text may have placeholders, None for any other column."""
    return kind.charset if kind.base in TEXT and is_lossy(kind.charset) else None


def as_shown(values: _Values, kind: ColumnType) -> _Values:
    """The values of a column of this type as a SELECT shows them; invalid dates are null."""
    if doubles.has_two_forms(kind):
        whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return doubles.as_shown(whole, kind)
    return shown(as_nulls(values), lossy_charset(kind))
