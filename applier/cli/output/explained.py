"""Print how rows would be found: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.text import Text

from applier.cli.output.grids import Grid
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, words
from applier.jobs.explain.definitions import TableHistory
from applier.jobs.explain.searches import SearchExplained, TableExplained

_STATEMENT = 200
"""The most characters of a statement to show."""
_COSTS = {"one row": "one row", "candidates": "each row with the same key values", "all rows": "the whole table",
          "none": "nothing"}


def _print(console: ResultConsole, tables: Sequence[TableExplained], definitions: Sequence[TableHistory]) -> None:
    if console.is_terminal:
        _print_grid(console, tables)
    else:
        for table in tables:
            for line in _lines(table):
                console.say(line, soft_wrap=True)
        if not tables:
            console.say("the log changes no rows of these tables")
    for history in definitions:
        for line in _history_lines(history):
            console.say(line, soft_wrap=True)


def _history_lines(history: TableHistory) -> list[str]:
    lines = [f"{history.name}: its definitions in this log"]
    for step in history.steps:
        statement, place = " ".join(step.statement.split()), step.place or "before it"
        if statement:
            lines.append(f"  {place}: {statement[:_STATEMENT]}{'…' * (len(statement) > _STATEMENT)}")
            lines += [f"    {change}" for change in step.changes]
        else:
            lines += [f"  {place}: {change}" for change in step.changes]
    return lines


def _lines(table: TableExplained) -> list[str]:
    lines = [f"{_title(table)}: {table.n_events:,} rows events, {table.n_bytes:,} bytes"]
    for search in table.searches:
        lines.append(f"  {_images(table, search)}: {_found_by(search)}; reads {_COSTS[search.choice.cost]}")
        lines.append(f"    because: {search.choice.reason}")
        lines += [f"    warning: {warning}" for warning in search.warnings]
    if not table.searches:
        lines.append("  rows are only inserted: no row is searched for")
    lines.append(f"  duplicates are looked for in: {', '.join(table.duplicates) or 'no key'}")
    return lines + [f"  warning: {warning}" for warning in table.warnings]


def _print_grid(console: ResultConsole, tables: Sequence[TableExplained]) -> None:
    if not tables:
        console.print("the log changes no rows of these tables")
        return
    grid = Grid("table", "before-images", "found by", "reads", "why, and warnings", less=("reads",), names=())
    for table in tables:
        since = f"\nsince {table.since}" if table.since else ""
        title = words(f"{table.definition.full_name}{since}\n{table.n_events:,} rows events", keep="\n")
        for search in table.searches:
            why = words(search.choice.reason)
            for warning in search.warnings:
                why.append("\n").append(words(warning, "yellow"))
            grid.add(title, words(_images(table, search)), words(_found_by(search)),
                         words(_COSTS[search.choice.cost]), why)
            title = Text()
        notes = words(f"duplicates are looked for in {', '.join(table.duplicates) or 'no key'}", "dim")
        for warning in table.warnings:
            notes.append("\n").append(words(warning, "yellow"))
        nothing = "" if table.searches else "none: rows are only inserted"
        grid.add(title, words(nothing), Text(), Text(), notes)
    grid.print(console)


def _title(table: TableExplained) -> str:
    return table.definition.full_name + (f" since {table.since}" if table.since else "")


def _images(table: TableExplained, search: SearchExplained) -> str:
    columns = table.definition.columns
    present = sorted(column for column in search.images.present if column < len(columns))
    if len(present) == len(columns):
        what = "all columns"
    elif len(present) <= len(columns) // 2:
        what = f"only {table.names(tuple(present))}" if present else "no column"
    else:
        what = "all but " + table.names(tuple(c for c in range(len(columns)) if c not in search.images.present))
    total = sum(other.images.samples for other in table.searches)
    if not search.images.samples:
        return f"maybe {what} (in no sample)"
    return f"{what} ({100 * search.images.samples / total:.0f} % of {total} samples)"


def _found_by(search: SearchExplained) -> str:
    choice = search.choice
    return choice.name or ("comparing rows" if choice.columns else "nothing")


def _document(tables: Sequence[TableExplained], definitions: Sequence[TableHistory]) -> dict[str, object]:
    """The keys by which rows are found, and where definitions come from."""
    return {"tables": [_table(table) for table in tables], "definitions": [asdict(one) for one in definitions]}


def _table(table: TableExplained) -> dict[str, object]:
    return {"table": table.definition.full_name, "since": table.since or None, "rows_events": table.n_events,
            "bytes": table.n_bytes, "searches": [_search(table, search) for search in table.searches],
            "duplicates": list(table.duplicates), "warnings": list(table.warnings)}


def _search(table: TableExplained, search: SearchExplained) -> dict[str, object]:
    columns, choice = table.definition.columns, search.choice
    return {"images": [columns[number].name for number in sorted(search.images.present) if number < len(columns)],
            "samples": search.images.samples, "by": choice.kind, "key": choice.name or None,
            "columns": [columns[number].name for number in choice.columns], "reads": choice.cost,
            "reason": choice.reason, "passed_over": list(choice.passed_over), "warnings": list(search.warnings)}


EXPLAINED = Result(_print, _document)
"""The keys by which rows are found, and where definitions come from."""
