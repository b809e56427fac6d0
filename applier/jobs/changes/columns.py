"""Which columns of a table's versions are one in its feed, and the names that they have there."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from applier.mysql.types import arrow_type
from applier.schema.history.table_versions import TableVersion

Line = int
"""A column over all versions that it is in."""


def column_names(versions: Sequence[TableVersion]) -> dict[int, dict[int, str]]:
    """The names in the feed of each version's stored columns, by the version's id and the column's number.

    A column that an ALTER moves or renames stays the same one, and has its last name. One that is added, or is of a
    table that was made anew, goes on with an earlier one of its name and type.
    """
    lines: dict[int, dict[int, Line]] = {}
    last_name: dict[Line, str] = {}
    kinds: dict[Line, pa.DataType] = {}
    for version in sorted(versions, key=lambda version: version.id):
        lines[version.id] = own = _kept(version, lines)
        for number, column in enumerate(version.definition.columns):
            if column.generated == "virtual":
                own.pop(number, None)
                continue
            kind = arrow_type(column.type)
            if number not in own:
                earlier = (line for line, name in last_name.items()
                           if (name, kinds[line]) == (column.name, kind) and line not in own.values())
                own[number] = next(earlier, len(last_name))
            last_name[own[number]], kinds[own[number]] = column.name, kind
    return {version: {number: last_name[line] for number, line in sorted(own.items())}
            for version, own in lines.items()}


def _kept(version: TableVersion, lines: dict[int, dict[int, Line]]) -> dict[int, Line]:
    """The columns that a version has from the one before it, by number."""
    if len(version.sources) != 1 or version.sources[0].version not in lines:
        return {}
    before, sources = lines[version.sources[0].version], version.sources[0].conversion.sources
    return {number: before[source] for number, source in enumerate(sources) if source is not None and source in before}
