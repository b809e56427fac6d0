"""The versions of one row on the terminal: a line for each step, with what changed from what to what."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from rich.text import Text

from applier.cli.grids import add_row, new_grid, result_console
from applier.cli.terminal import assembled, words
from applier.cli.value_texts import value_texts
from applier.errors import UsageError
from applier.jobs.exporting.cells import texts_of
from applier.jobs.history.job import RowHistory


def print_versions(history: RowHistory, key: Sequence[str]) -> None:
    """Print the versions of the row with this key. Raises UsageError where the table has no such key."""
    names = history.key
    if len(names) != len(key):
        known = f"its key is {', '.join(names)}" if names else "it has no key, or --columns leaves it out"
        raise UsageError(f"the table has no key of {len(key)} columns", hint=f"{known}; give a value for each column")
    versions = pa.Table.from_batches((_with_key(batch, history, key) for batch in history.batches()), history.schema)
    console = result_console()
    if not versions.num_rows:
        console.print(words(f"no version of a row with {', '.join(names)} = {', '.join(key)}"))
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


def _with_key(batch: pa.RecordBatch, history: RowHistory, key: Sequence[str]) -> pa.RecordBatch:
    """The versions with this key, given as text."""
    mask = None
    for name, value in zip(history.key, key, strict=True):
        texts = texts_of(history.columns[name], batch.column(name))
        if pa.types.is_binary(texts.type) or pa.types.is_large_binary(texts.type):
            equal = pc.equal(texts, value.encode())
        else:
            equal = pc.equal(texts.cast(pa.string()), value)
        mask = equal if mask is None else pc.and_(mask, equal)
    return batch.filter(mask)


def _time(value: object) -> str:
    return "" if value is None else f"{value:%Y-%m-%d %H:%M:%SZ}"


def _changed(before: dict[str, str], after: dict[str, str]) -> Text:
    parts: list[str | tuple[str, str]] = []
    for name, value in after.items():
        if before[name] != value:
            parts += [", " if parts else "", f"{name}: ", (before[name], "red"), " → ", (value, "green")]
    return assembled(*(parts or [("as it was", "dim")]))
