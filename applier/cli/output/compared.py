"""Print the differences between a snapshot and a server: ranges of rows first, then rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pyarrow as pa
from rich.text import Text

from applier.cli.output.grids import Grid
from applier.cli.output.results import Result
from applier.cli.output.value_texts import ValueText, value_texts
from applier.cli.terminal import ResultConsole, assembled, words
from applier.jobs.verify.canonical import values_of
from applier.jobs.verify.result import DifferentRow, DifferentTable, ServerComparison

MOST_RANGES = 20
"""The most ranges to show of a table."""


def _print(console: ResultConsole, found: ServerComparison, rows: int) -> None:
    """Print the differences: ranges of each table, and at most `rows` rows of each."""
    if found.server_position is not None and found.server_position != found.position:
        console.say((f"the server stands at {found.server_position or 'no GTID set'}, the snapshot at "
                    f"{found.position}", "yellow"))
    if found.same:
        console.say(f"{found.tables:,} tables with {found.rows:,} rows are the same on the server")
        return
    grid = Grid("table", "range", "rows here", "rows there", "columns that differ")
    for table in found.different:
        if not table.answered:
            grid.add(table.full_name, "", "", "", "the server did not report it")
        for part in table.ranges[:MOST_RANGES]:
            grid.add(table.full_name, part.condition or "all rows", part.rows_here, part.rows_there,
                    ", ".join(part.columns) or "none: values are in other rows")
        if len(table.ranges) > MOST_RANGES:
            grid.add(table.full_name, f"… and {len(table.ranges) - MOST_RANGES:,} more", "", "", "")
    grid.print(console)
    for table in found.different:
        if table.rows:
            console.say((table.full_name, "bold"))
            for line in _lines(table, rows):
                console.print(line, soft_wrap=True)


def _lines(table: DifferentTable, most: int) -> Iterator[Text]:
    for row in table.rows[:most]:
        here, there = _values_here(table, row), _values_there(table, row)
        if row.kind == "changed":
            yield _changed(table, row, here, there)
            continue
        sign, style, side = ("- ", "red", "the server lacks it") if row.kind == "here" else \
            ("+ ", "green", "only the server has it")
        times = f" ({row.count} times)" if row.count > 1 else ""
        shown = here or there
        text = ", ".join(f"{name}={value}" for name, value in shown.items()) or _key(table, row)
        yield assembled((sign, style), (text, style), (f"  {side}{times}{_last_change(row)}", "dim"))
    if len(table.rows) == most:
        yield words("there may be more rows: --rows shows more of them", "dim")


def _changed(table: DifferentTable, row: DifferentRow, here: dict[str, ValueText],
             there: dict[str, ValueText]) -> Text:
    names = [table.columns[number].name for number in table.table.key]
    parts: list[str | tuple[str, str]] = [("~ ", "yellow"), ", ".join(f"{name}={here[name]}" for name in names), "  "]
    for count, name in enumerate(row.columns):
        old, new = here[name].beside(there[name]) if there else (str(here[name]), "")
        parts += [", " if count else "", f"{name}: ", (old, "red")]
        parts += [" → ", (new, "green")] if there else []
    parts.append((_last_change(row).replace(";", " ", 1), "dim"))
    return assembled(*parts)


def _last_change(row: DifferentRow) -> str:
    change = row.last_change
    if change is None:
        return ""
    who = change.gtid or f"{change.file}:{change.position}"
    when = "" if change.time is None else f" at {change.time:%Y-%m-%d %H:%M:%S} UTC"
    return f"; last {change.kind}: {who}{when}"


def _values_here(table: DifferentTable, row: DifferentRow) -> dict[str, ValueText]:
    """Return a row's values in the snapshot; none if it is missing there, or unknown."""
    if row.here is None:
        return {}
    return {column.name: value_texts(column, values)[0]
            for column, values in zip(table.columns, row.here.columns, strict=True)}


def _values_there(table: DifferentTable, row: DifferentRow) -> dict[str, ValueText]:
    """Return a row's values on the server, likewise."""
    if row.there is None:
        return {}
    return {column.name: value_texts(column, values_of(column, pa.array([value], pa.binary())))[0]
            for column, value in zip(table.columns, row.there, strict=True)}


def _key(table: DifferentTable, row: DifferentRow) -> str:
    """Return the known part of a row that is only on the server: its key."""
    if not table.table.key:
        return f"a row with the hash {row.key}"
    return ", ".join(f"{name}={value}" for name, value in _key_values(table, row).items())


def _key_values(table: DifferentTable, row: DifferentRow) -> dict[str, ValueText]:
    """Return the columns of a row's key; none if the table has no key."""
    columns = [table.columns[number] for number in table.table.key]
    return {column.name: value_texts(column, values_of(column, pa.array([bytes.fromhex(part)], pa.binary())))[0]
            for column, part in zip(columns, row.key.split(".") if columns else [], strict=True)}


def _document(found: ServerComparison, rows: int) -> dict[str, object]:
    """The comparison of a snapshot with a server, with at most `rows` rows of each table that differs."""
    return {"same": found.same, "tables": found.tables, "rows": found.rows, "ranges": found.ranges,
            "position": found.position, "server_position": found.server_position,
            "different": [_different(table, rows) for table in found.different]}


def _different(table: DifferentTable, most: int) -> dict[str, object]:
    return {"table": table.full_name, "answered": table.answered,
            "ranges": [asdict(part) for part in table.ranges],
            "rows": [_row(table, row) for row in table.rows[:most]]}


def _row(table: DifferentTable, row: DifferentRow) -> dict[str, Any]:
    key, here, there = ({name: value.whole for name, value in values(table, row).items()}
                        for values in (_key_values, _values_here, _values_there))
    return {"kind": row.kind, "key": key, "columns": list(row.columns), "here": here or None, "there": there or None,
            "count": row.count,
            "last_change": None if row.last_change is None else asdict(row.last_change)}


COMPARISON = Result(_print, _document)
"""The comparison of a snapshot with a server, with at most `rows` rows of each table that differs."""
