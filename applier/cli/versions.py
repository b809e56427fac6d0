"""The versions of one row on the terminal: a line for each step, with what changed from what to what."""

from __future__ import annotations

import pyarrow as pa
from rich.text import Text

from applier.cli.grids import add_row, new_grid, result_console
from applier.cli.terminal import assembled, words
from applier.cli.value_texts import value_texts
from applier.jobs.history.job import RowHistory


def print_versions(history: RowHistory, nothing: str) -> None:
    """Print the versions of a history of one row, or what to say if there are none."""
    versions = pa.Table.from_batches(history.batches(), history.schema)
    console = result_console()
    if not versions.num_rows:
        console.print(words(nothing))
        return
    grid, columns = new_grid("when", "transaction", "", "row"), history.columns
    cells = {name: value_texts(column, versions.column(name).combine_chunks()) for name, column in columns.items()}
    said = versions.drop_columns(list(columns)).to_pylist()
    shown: dict[str, str] = {}
    for row, version in enumerate(said):
        values = {name: texts[row] for name, texts in cells.items()}
        before = said[row - 1] if row else None
        follows = before is not None and before["_to_seq"] == version["_from_seq"] and shown != {}
        add_row(grid, _time(version["_valid_from"]), version["_from_gtid"] or "", version["_change_type"],
                _changed(shown, values) if follows else words(", ".join(f"{name}={text}"
                                                                         for name, text in values.items())))
        shown = values
        if version["_ended_by"] is not None and (
                row + 1 == len(said) or said[row + 1]["_from_seq"] != version["_to_seq"]):
            moved = version["_ended_by"] == "update"
            add_row(grid, _time(version["_valid_to"]), version["_to_gtid"] or "",
                    "update" if moved else version["_ended_by"], words("gets another key" if moved else "", "dim"))
            shown = {}
    console.print(grid)


def _time(value: object) -> str:
    return "" if value is None else f"{value:%Y-%m-%d %H:%M:%SZ}"


def _changed(before: dict[str, str], after: dict[str, str]) -> Text:
    parts: list[str | tuple[str, str]] = []
    for name, value in after.items():
        if before[name] != value:
            parts += [", " if parts else "", f"{name}: ", (before[name], "red"), " → ", (value, "green")]
    return assembled(*(parts or [("as it was", "dim")]))
